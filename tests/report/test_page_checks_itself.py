"""The page that checks itself judges every certificate as `verify_certificate` does, and says so to its reader."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from noisygd_delete.bounds import conversion
from noisygd_delete.records import bounded
from noisygd_delete.report import certificate_html, new_key, sign, verify_certificate
from noisygd_delete.report.checker import page_script, policy
from noisygd_delete.report.page import file_text, stylesheet
from tools.page import checker

from ..evidence.reading_papers import at
from .browser import dom, in_a_browser, judged, judged_by
from .certificate_mutations import dumped, mutants, with_value
from .test_certificate_mutations import KINDS, papers, verifier

SAMPLES = Path(__file__).parents[1] / "samples"
pytestmark = in_a_browser


@pytest.fixture
def key(tmp_path: Path) -> Path:
    new_key(tmp_path / "controller.pem")
    return tmp_path / "controller.pem"


@pytest.fixture(autouse=True)
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gdp_epsilon", "rate_epsilon", "rate_advantage"):
        monkeypatch.setattr(conversion, name, cache(getattr(conversion, name)))


def several(key: Path, count: int, seed: int, status: str, method: str) -> list[str]:
    """A certificate and mutants of it, signed again where they can be."""
    paper = sign(json.loads(dumped(papers(status, method))), key)
    return [dumped(paper), *(text for text, _, _ in mutants(paper, lambda changed: sign(changed, key), count, seed))]


def disagreements(texts: list[str], key: Path, script: str, folder: Path, timeout: float = 120) -> list[str]:
    """The files that the page and Python judge differently."""
    verify: Callable[[str], bool] = verifier(key)
    page = judged(texts, Path(f"{key}.pub").read_text(), script, folder, timeout=timeout)
    return [text for text, there in zip(texts, page, strict=True) if verify(text) is not there]


def test_the_page_and_python_judge_mutants_alike(key: Path, tmp_path: Path) -> None:
    texts = several(key, 40, 3, "published", "sharp") + several(key, 4, 4, "published", "perturbed")
    texts += several(key, 6, 5, "published", "ladder") + several(key, 6, 6, "published", "interleaved")
    verify = verifier(key)
    expected = [verify(text) for text in texts]
    assert 2 < sum(expected) < len(texts) / 2  # neither refuses nor passes everything
    assert judged(texts, Path(f"{key}.pub").read_text(), checker(), tmp_path) == expected


@pytest.mark.long
def test_the_page_and_python_judge_ten_thousand_mutants_alike(
    key: Path, tmp_path: Path, record_property: Callable[[str, str], None]
) -> None:
    wrong = []
    for number, ((status, method), count) in enumerate(KINDS.items()):
        texts = several(key, count - 1, 2000 + number, status, method)
        wrong += disagreements(texts, key, checker(), tmp_path, timeout=3600)
    record_property(
        "evidence",
        f"10,000 mutants of {len(KINDS)} certificates: {len(wrong)} judged differently by the page and by Python",
    )
    assert wrong == []


FAULTS = {
    "claims are not compared": ("claims_fault([said, proven])", "null"),
    "facts are not checked": ("check_facts([erasure, plan, history]);", ""),
    "the signature is not asked about": ("if ($.answers.get(name) !== true) throw", "if (false) throw"),
    "a name may stand twice": ("if (named.has(name)) fail", "if (false) fail"),
}


def test_a_page_with_a_check_less_is_caught(key: Path, tmp_path: Path) -> None:
    paper = sign(json.loads(dumped(papers("published", "sharp"))), key)
    texts = [
        dumped(paper),
        dumped(sign(with_value(paper, at(paper, "erased.all", "values", "of_hundred"), 50), key)),
        dumped(sign(with_value(paper, ("evidence", "ledger_entries"), 2), key)),
        dumped(with_value(paper, ("identity", "controller"), "Another Ltd")),
        dumped(paper).replace('"format":', '"format": "x", "format":', 1),
    ]
    scripts = [checker()]
    for there, put in FAULTS.values():
        assert checker().count(there) == 1
        scripts.append(checker().replace(there, put))
    honest, *broken = judged_by(scripts, texts, Path(f"{key}.pub").read_text(), tmp_path)
    verify = verifier(key)
    assert honest == [verify(text) for text in texts] == [True, False, False, False, False]
    assert [fault for fault, found in zip(FAULTS, broken, strict=True) if found == honest] == []


def test_samples_of_every_format_hold(tmp_path: Path) -> None:
    files = sorted(SAMPLES.glob("version-*/certificates/*.json"))
    assert len(files) > 5
    assert judged([file.read_text() for file in files], None, checker(), tmp_path) == [True] * len(files)


def page_of(paper: dict, *, before: str = "", after: str = "") -> str:
    """The page of a certificate, as a reader with these hands sees it: scripts that run before its own, and after."""
    page, script = certificate_html(paper, checking=True), page_script()
    driven = f"{before}\n{script}\n{after}"
    return page.replace(script, driven).replace(
        _attribute(policy(script, stylesheet())), _attribute(policy(driven, stylesheet()))
    )


def _attribute(text: str) -> str:
    return text.replace("'", "&#39;")


def _typing(*keys: str) -> str:
    """A reader who gives these keys one after the other, and notes what the box says of itself each time."""
    return f"""(async () => {{
  const box = document.getElementById("check"), key = document.getElementById("key"), found = [];
  for (const given of {json.dumps(keys)}) {{
    if (given) {{ key.value = given; key.dispatchEvent(new Event("input")); }}
    do await new Promise((then) => setTimeout(then, 50)); while (box.className.endsWith("unchecked"));
    found.push(box.className.split(" ").at(-1));
  }}
  document.body.dataset.states = found.join(" ");
}})();"""


def state(page: str, folder: Path) -> tuple[str, str]:
    """(what the box says of itself, its words) when the check is done."""
    shown = dom(page, folder)
    found = re.search(r'id="check" class="box check (\w+)"', shown)
    words = re.search(r'id="state"[^>]*>([^<]*)<', shown)
    assert found is not None
    assert words is not None
    return found[1], html.unescape(words[1])


def test_the_page_is_green_for_the_key_that_its_reader_gives_and_for_no_other(key: Path, tmp_path: Path) -> None:
    paper = sign(json.loads(dumped(papers("published", "sharp"))), key)
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
    paper = sign(json.loads(dumped(papers("published", "sharp"))), key)
    typed = _typing(paper["signature"]["key_id"])
    unsigned = {name: part for name, part in paper.items() if name != "signature"}
    assert state(page_of(unsigned, after=typed), tmp_path)[0] == "wrong"
    old = 'crypto.subtle.importKey = async () => { throw new DOMException("no such algorithm", "NotSupportedError"); };'
    assert state(page_of(paper, before=old), tmp_path)[0] == "unchecked"
    assert 'class="box check unchecked"' in page_of(paper, after=typed)  # as it stands where no script runs


def test_the_page_holds_the_signed_file_and_loads_nothing(key: Path, tmp_path: Path) -> None:
    paper = sign(json.loads(dumped(papers("withheld", "sharp"))), key)
    paper["identity"]["controller"] = "</pre><script>alert(1)</script>"
    page = certificate_html(paper, checking=True)
    held = re.search(r'<pre id="signed" hidden>(.*?)</pre>', page, re.DOTALL)
    assert held is not None
    assert html.unescape(held[1]) == file_text(paper)
    assert page.count("<script") == 1
    assert "default-src &#39;none&#39;" in page
    assert not re.search(r'(src|href)="', page)
    assert verify_certificate(bounded.parsed(html.unescape(held[1]))).checks[1].passed is False
