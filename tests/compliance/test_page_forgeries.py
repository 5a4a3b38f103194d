"""Documents around the page's own scripts, both digests intact: whatever stands in them, the page shows what it checked and nothing else."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from noisygd_delete_compliance import translator
from noisygd_delete_compliance.checking_page import LOADER, checking_html, page_script

from noisygd_delete.evidence import sign_document
from tests.reports.certificate_mutations import dumped
from tests.reports.test_certificate_mutations import papers

from .browser import dom, in_a_browser, run
from .test_page_checks_itself import _typing, page_of, shown_of

pytestmark = in_a_browser
FALSE = "The model has forgotten you completely; it is anonymous."
GREEN = f'<section id="check" class="box check right"><p id="state">Everything agrees.</p></section><p>{FALSE}</p>'
TAGS = ("form", "img", "embed", "object", "iframe")  # whose names are properties of their document


@pytest.fixture(scope="module")
def paper(key: Path) -> dict:
    return sign_document(json.loads(dumped(papers("published", "noisy-gd"))), key)


def names(text: str) -> list[str]:
    """Every word of a script, and so every global name and every property that it uses."""
    return sorted(set(re.findall(r"[A-Za-z_$][\w$]*", text)))


OF_PAGE = names(LOADER.read_text() + (Path(translator.__file__).parent / "runtime" / "page.js").read_text())


def clobbered(tag: str, *, ids: bool = False) -> str:
    """An element of every name. A frame is a document of its own, so there are frames of the page's own words alone."""
    every = OF_PAGE if tag == "iframe" else names(LOADER.read_text() + page_script())
    return "".join(f'<{tag} name="{name}"{f" id={name}" if ids else ""}></{tag}>' for name in every)


def script_of(page: str) -> str:
    found = re.search(r"<script>.*?</script>", page, re.DOTALL)
    assert found is not None
    return found[0]


def unpacked_first(page: str) -> str:
    """The checker itself at the top of the document, a filled field for the key below it."""
    return page.replace(
        "<main>", f'<main><script>{page_script()}</script>{GREEN}<textarea id="key">a key</textarea>', 1
    )


def shadow(page: str) -> str:
    return page.replace(
        "<main>",
        f'<main>{GREEN}<div><template shadowrootmode="open"><script>{page_script()}</script></template></div>',
        1,
    )


def packed(content: bytes) -> Callable[[str], str]:
    return lambda page: page.replace(
        "<main>", f'<main>{GREEN}<pre id="packed">{base64.b64encode(content).decode()}</pre>', 1
    )


FORGERIES: dict[str, Callable[[str], str]] = {
    **{f"{tag}, before": lambda page, tag=tag: page.replace("<main>", f"<main>{GREEN}{clobbered(tag)}", 1) for tag in TAGS},
    **{f"{tag}, after": lambda page, tag=tag: page.replace("<script>", f"{GREEN}{clobbered(tag, ids=True)}<script>", 1) for tag in TAGS},
    **{f"language {name}": lambda page, name=name: page.replace('lang="en"', f'lang="{name}"', 1).replace("<main>", f"<main>{GREEN}", 1)
       for name in ("constructor", "__proto__", "toString", "hasOwnProperty")},
    "form around all": lambda page: page.replace("<main>", f'<form name="body"><input name="textContent"><main>{GREEN}', 1),
    "fields of a form": lambda page: page.replace("<main>", f'<main>{GREEN}<form id="signed"><input name="textContent"></form>', 1),
    "junk to unpack": packed(b"junk"),
    "another script to unpack": packed(gzip.compress(b"document.body.append('1')")),
    "no file": lambda page: re.sub(r'(?s)<pre id="signed".*?</pre>', "", page).replace('<article id="paper">', f'<article id="paper">{GREEN}', 1),
    "text after the scripts": lambda page: page.replace("</main>", f"</main>{GREEN}<!-- {FALSE} -->", 1) + GREEN,
    "checker before the document": unpacked_first,
    "checker in a shadow tree": shadow,
    "scripts twice": lambda page: page.replace("</main>", f"{GREEN}{script_of(page)}<script>{page_script()}</script></main>", 1),
    "refresh": lambda page: page.replace("<head>", '<head><meta http-equiv="refresh" content="2;url=other.html">', 1).replace("<main>", f"<main>{GREEN}", 1),
    "a digest of its own": lambda page: page.replace("<main>", f"<main>{GREEN}<code data-digest>{FALSE}</code>", 1),
}  # fmt: skip


@pytest.mark.parametrize("way", FORGERIES)
def test_no_document_around_the_scripts_is_shown(paper: dict, tmp_path: Path, way: str) -> None:
    page = checking_html(paper)
    forged = FORGERIES[way](page)
    assert forged != page
    (tmp_path / "other.html").write_text(GREEN)
    there = dom(forged, tmp_path).split("<script")[0]
    assert FALSE not in there
    assert "Everything agrees" not in there
    assert re.search(r'class="[^"]*\bright\b', there) is None


GENUINE = (
    "form, before", "img, before", "object, after", "language __proto__", "form around all", "refresh", "text after the scripts",
    "a digest of its own",
)  # fmt: skip


@pytest.fixture(scope="module")
def honest(paper: dict, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    """What a reader who gives the key sees of the page as it was written."""
    shown = shown_of(page_of(paper, after=_typing(paper["signature"]["key_id"])), tmp_path_factory.mktemp("honest"))
    assert shown[0] == "right"
    return shown


@pytest.mark.parametrize("way", GENUINE)
def test_a_reader_who_gives_the_key_sees_the_checked_paper_alone(
    paper: dict, honest: tuple[str, str, str], tmp_path: Path, way: str
) -> None:
    (tmp_path / "other.html").write_text(GREEN)
    assert shown_of(FORGERIES[way](page_of(paper, after=_typing(paper["signature"]["key_id"]))), tmp_path) == honest


@pytest.mark.parametrize("place", ["before", "after"])
def test_no_style_sheet_beside_the_root_is_applied(paper: dict, tmp_path: Path, place: str) -> None:
    """The page as XHTML, where an instruction outside the root names a style sheet, which can write text of its own."""
    page = checking_html(paper)
    held = "".join(re.findall(r'(?s)<pre id="(?:signed|packed)" hidden>.*?</pre>', page)).replace(
        " hidden>", ' hidden="">'
    )
    (tmp_path / "forged.css").write_text(f"html::before {{ content: '{FALSE}' }}")
    count = "setTimeout(() => { document.body.dataset.sheets = document.styleSheets.length; }, 3000);"
    sheet = '<?xml-stylesheet href="forged.css" type="text/css"?>'
    root = f"""<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><head><title>A</title></head><body>{held}
<script>{count}</script><script><![CDATA[{LOADER.read_text()}]]></script></body></html>"""
    file = tmp_path / "page.xhtml"
    file.write_text(sheet + root if place == "before" else root + sheet, encoding="utf-8")
    there = run(file, tmp_path, "--virtual-time-budget=3600000", "--dump-dom")
    assert 'class="box check half"' in there  # the check ran
    assert 'data-sheets="0"' in there


def test_a_page_inside_another_one_is_never_green(paper: dict, tmp_path: Path) -> None:
    inner = html.escape(page_of(paper, after=_typing(paper["signature"]["key_id"])))
    look = """setTimeout(() => { document.body.dataset.inner = document.querySelector("iframe").contentDocument.body.innerHTML; }, 3000);"""
    there = dom(f'<body>{FALSE}<iframe srcdoc="{inner}"></iframe><script>{look}</script>', tmp_path)
    found = re.search(r'data-inner="([^"]*)"', there)
    assert found is not None
    assert 'class="box check unchecked"' in html.unescape(found[1])
    assert paper["identity"]["certificate_id"] not in found[1]


def test_the_page_states_the_digest_of_the_script_that_runs(paper: dict, tmp_path: Path) -> None:
    import hashlib

    own = f"sha256-{base64.b64encode(hashlib.sha256(page_script().encode()).digest()).decode()}"
    page = checking_html(paper)
    assert re.findall(r"<code>(sha256-[^<]*)</code>", dom(page, tmp_path)) == [own]
    forged = re.sub(r"<code data-digest>[^<]*</code>", f"<code data-digest>sha256-{'A' * 43}=</code>", page)
    assert forged != page
    assert re.findall(r"<code>(sha256-[^<]*)</code>", dom(forged, tmp_path)) == [own]


def test_the_colour_of_a_certificate_that_holds_is_in_no_page_without_its_script(paper: dict) -> None:
    assert ".right" not in re.sub(r"(?s)<script>.*?</script>", "", checking_html(paper))
