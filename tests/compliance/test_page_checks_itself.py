"""The page that checks itself judges every certificate as `verify_certificate` does, and says so to its reader."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from noisygd_delete_compliance import checking_page as checking
from noisygd_delete_compliance.checking_page import checking_html, page_script
from noisygd_delete_compliance.translator import checker

from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence import new_key, sign_document, verify_certificate
from noisygd_delete.records import limited_io
from noisygd_delete.reports.html import file_text
from noisygd_delete.reports.texts import language_codes, load_language
from tests.reports.certificate_mutations import dumped, mutants, with_value
from tests.reports.test_certificate_mutations import KINDS, papers, remembered, verifier

from ..evidence.reading_papers import at
from .browser import dom, in_a_browser, judged

__all__ = ["remembered"]  # a fixture
pytestmark = in_a_browser


def several(key: Path, count: int, seed: int, status: str, method: str) -> list[str]:
    """A certificate and mutants of it, signed again where they can be."""
    paper = sign_document(json.loads(dumped(papers(status, method))), key)
    return [
        dumped(paper),
        *(text for text, _, _ in mutants(paper, lambda changed: sign_document(changed, key), count, seed)),
    ]


def disagreements(texts: list[str], key: Path, script: str, folder: Path, timeout: float = 120) -> list[str]:
    """The files that the page and Python judge differently."""
    verify: Callable[[str], bool] = verifier(key)
    page = judged(texts, Path(f"{key}.pub").read_text(), script, folder, timeout=timeout)
    return [text for text, there in zip(texts, page, strict=True) if verify(text) is not there]


def one_check_each(key: Path) -> list[str]:
    """Certificates that one check alone refuses: of a claim, of a bound, of the plan's budget, of the signature, of names that stand twice."""
    paper = sign_document(json.loads(dumped(papers("published", "noisy-gd"))), key)
    over = ("public_facts", "plan", "problem", "budget", "dp"), 0.5  # a smaller budget than the noise keeps
    wrong = [
        (at(paper, "erased.all", "values", "of_hundred"), 50),
        (at(paper, "present.all", "values", "epsilon"), 0.001),
        over,
    ]
    return [
        *(dumped(sign_document(with_value(paper, place, value), key)) for place, value in wrong),
        dumped(with_value(paper, ("identity", "controller"), "Another Ltd")),
        dumped(paper).replace('"format":', '"format": "x", "format":', 1),
    ]


def test_the_page_and_python_judge_mutants_alike(key: Path, tmp_path: Path) -> None:
    texts = several(key, 40, 3, "published", "noisy-gd") + several(key, 4, 4, "published", "objective-perturbation")
    texts += several(key, 6, 5, "published", "staged")
    verify, refused = verifier(key), one_check_each(key)
    expected = [*(verify(text) for text in texts), *[False] * len(refused)]
    assert 2 < sum(expected) < len(texts) / 2  # neither refuses nor passes everything
    assert judged([*texts, *refused], Path(f"{key}.pub").read_text(), checker(), tmp_path) == expected


@pytest.mark.long
def test_the_page_and_python_judge_ten_thousand_mutants_alike(
    key: Path, tmp_path: Path, record_property: Callable[[str, str], None]
) -> None:
    wrong = []
    for number, ((status, method), count) in enumerate(KINDS.items()):
        texts = several(key, count - 1, 2000 + number, status, method)
        for first in range(0, count, 100):  # a page of a thousand may be dumped by the browser before it is done
            wrong += disagreements(texts[first : first + 100], key, checker(), tmp_path, timeout=3600)
    record_property(
        "evidence",
        f"10,000 mutants of {len(KINDS)} certificates: {len(wrong)} judged differently by the page and by Python",
    )
    assert wrong == []


def page_of(paper: dict, *, before: str = "", after: str = "", code: str = "en") -> str:
    """The page of a certificate, as a reader with these hands sees it: scripts that run before its own, and after it has begun."""
    driven = f"{before}\n{page_script()}\n(async () => {{ {after} }})();"
    with patch.object(checking, "page_script", lambda: driven):
        return checking_html(paper, code=code)


DONE = 'do await new Promise((then) => setTimeout(then, 50)); while (document.getElementById("check").className.endsWith("unchecked"));'


def _typing(*keys: str) -> str:
    """A reader who gives these keys one after the other, and notes what the box says of itself each time."""
    return f"""(async () => {{
  const found = [];
  for (const given of {json.dumps(keys)}) {{
    const key = document.getElementById("key");
    if (given) {{ key.value = given; key.dispatchEvent(new Event("input")); }}
    {DONE}
    found.push(document.getElementById("check").className.split(" ").at(-1));
  }}
  document.body.dataset.states = found.join(" ");
}})();"""


def _handing(content: bytes) -> str:
    """A reader who checks another file with the page once it is done with its own."""
    return f"""(async () => {{
  {DONE}
  const other = document.getElementById("other"), files = new DataTransfer();
  files.items.add(new File([new Uint8Array({list(content)})], "other.json"));
  other.files = files.files;
  other.dispatchEvent(new Event("change"));
  document.body.dataset.meanwhile = document.getElementById("paper").textContent;
  await new Promise((then) => setTimeout(then, 100));
  {DONE}
}})();"""


def shown_of(page: str, folder: Path) -> tuple[str, str, str]:
    """(what the box says of itself, its words, the text of the paper) when the check is done."""
    return read_shown(dom(page, folder))


def read_shown(there: str) -> tuple[str, str, str]:
    """The same of a page as it stands when its scripts are done."""
    found = re.search(r'class="box check (\w+)"', there)
    words = re.search(r'id="state"[^>]*>([^<]*)<', there)
    paper = re.search(r'<article id="paper">(.*?)</article>', there, re.DOTALL)
    assert found is not None
    assert words is not None
    assert paper is not None
    return found[1], html.unescape(words[1]), html.unescape(re.sub("<[^>]+>", "|", paper[1]))


def state(page: str, folder: Path) -> str:
    return shown_of(page, folder)[0]


def test_the_page_is_green_for_the_key_that_its_reader_gives_and_for_no_other(key: Path, tmp_path: Path) -> None:
    paper = sign_document(json.loads(dumped(papers("published", "noisy-gd"))), key)
    new_key(tmp_path / "other.pem")
    own, other = (Path(f"{path}.pub").read_text() for path in (key, tmp_path / "other.pem"))
    shown = dom(
        page_of(paper, after=_typing("", paper["signature"]["key_id"], own, other, "0123456789abcdef")), tmp_path
    )
    states = re.search(r'data-states="([^"]*)"', shown)
    assert states is not None
    assert states[1].split() == [
        "half",
        "right",
        "right",
        "wrong",
        "wrong",
    ]  # the key that it carries it does not trust


def test_the_page_is_never_green_for_what_was_not_checked(key: Path, tmp_path: Path) -> None:
    paper = sign_document(json.loads(dumped(papers("published", "noisy-gd"))), key)
    typed = _typing(paper["signature"]["key_id"])
    unsigned = {name: part for name, part in paper.items() if name != "signature"}
    assert state(page_of(unsigned, after=typed), tmp_path) == "wrong"
    old = 'crypto.subtle.importKey = async () => { throw new DOMException("no such algorithm", "NotSupportedError"); };'
    said, _, text = shown_of(page_of(paper, before=old), tmp_path)
    assert said == "unchecked"
    assert paper["identity"]["certificate_id"] in text  # what was printed can still be read


@pytest.mark.parametrize("code", language_codes())
def test_the_page_shows_what_it_checked_whatever_else_stood_in_it(key: Path, tmp_path: Path, code: str) -> None:
    paper = sign_document(json.loads(dumped(papers("published", "noisy-gd"))), key)
    number = paper["signature"]["key_id"]
    page = page_of(paper, after=_typing(number), code=code)
    right = shown_of(page, tmp_path)
    assert right[0] == "right"
    assert right[2] == html.unescape(re.sub("<[^>]+>", "|", _article(page)))  # as it was printed
    forged = (
        page.replace("<h2>", "<h2>It is anonymous. ")
        .replace("<li>", "<li>It is anonymous. ")
        .replace("<td", "<td title='anonymous'")
    )
    forged = forged.replace(
        '<article id="paper">', '<p>It is anonymous.</p><article id="paper"><p>It is anonymous.</p>'
    )
    forged = forged.replace("</body>", "<p>It is anonymous.</p></body>").replace("<small>", "<small>It is anonymous.")
    forged = re.sub(r'(id="state"[^>]*>)', r"\\1It is anonymous. ", forged)
    forged = forged.replace("</head>", "<style>body::after { content: 'It is anonymous.' }</style></head>")
    assert forged.count("It is anonymous.") > 10
    there = dom(forged, tmp_path)
    assert "It is anonymous." not in there.split("<script")[0]
    assert read_shown(there) == right


def _article(page: str) -> str:
    found = re.search(r'<article id="paper">(.*?)</article>', page, re.DOTALL)
    assert found is not None
    return found[1]


def test_a_page_whose_script_was_cut_out_says_that_nothing_was_checked(key: Path, tmp_path: Path) -> None:
    paper = sign_document(json.loads(dumped(papers("published", "noisy-gd"))), key)
    for code in language_codes():
        page = checking_html(paper, code=code)
        said, words, _ = shown_of(re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL), tmp_path)
        assert (said, words) == ("unchecked", load_language(code).say("check.off"))
        assert page.index('id="state"') < page.index("<h1>")  # the first that is read


@pytest.mark.parametrize("fault", ["none", "altered", "a raw byte", "Arabic digits"])
def test_another_file_is_shown_in_its_own_words_or_not_at_all(key: Path, tmp_path: Path, fault: str) -> None:
    own = sign_document(json.loads(dumped(papers("published", "noisy-gd"))), key)
    other = json.loads(dumped(papers("withheld", "noisy-gd")))
    other["identity"]["controller"] = "Somebody else"
    if fault == "Arabic digits":
        other["identity"]["version"] = "٠.٢.٠"
    content = dumped(sign_document(other, key)).encode()
    if fault == "a raw byte":
        content = content.replace(b"Somebody", b"Some\xffbody")
    if fault == "altered":
        content = content.replace(b"Somebody", b"Nobody")
    there = dom(page_of(own, after=_handing(content)), tmp_path)
    said, _, text = read_shown(there)
    meanwhile = re.search(r'data-meanwhile="([^"]*)"', there)
    assert meanwhile is not None
    number = own["identity"]["certificate_id"]
    assert number not in meanwhile[1]  # the old paper's words never stand under another file's state
    assert number not in text
    file = tmp_path / "other.json"
    file.write_bytes(content)
    assert (said == "half") == (fault == "none") == _python_reads(file)
    assert ("Somebody" in text) == (fault == "none")


def _python_reads(file: Path) -> bool:
    try:
        return verify_certificate(limited_io.parse_json(limited_io.read_text(file, limited_io.DOCUMENT))).passed
    except (InvalidParameter, ValueError):
        return False


def test_the_page_holds_the_signed_file_and_loads_nothing(key: Path, tmp_path: Path) -> None:
    paper = sign_document(json.loads(dumped(papers("withheld", "noisy-gd"))), key)
    paper["identity"]["controller"] = "</pre><script>alert(1)</script>"
    page = checking_html(paper)
    held = re.search(r'<pre id="signed" hidden>(.*?)</pre>', page, re.DOTALL)
    assert held is not None
    assert html.unescape(held[1]) == file_text(paper)
    assert page.count("<script") == 1
    assert "default-src &#39;none&#39;" in page
    assert not re.search(r'(src|href)="', page)
    assert verify_certificate(limited_io.parse_json(html.unescape(held[1]))).checks[1].passed is False


@pytest.mark.parametrize("kind", [("published", "staged"), ("published", "mixed"), ("pending", "staged with a head")])
def test_a_page_fits_a_letter_s_attachment(key: Path, kind: tuple[str, str]) -> None:
    """With its paper, the signed file and the script: at most 250 kB, in the longer language."""
    page = checking_html(sign_document(json.loads(dumped(papers(*kind))), key), code="de")
    assert len(page.encode()) <= 250_000
