"""Pages on a phone and on paper: nothing runs out of the screen, letters of pictures can be read, no heading ends a sheet."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from noisygd_delete_compliance.checking_page import checking_html

from noisygd_delete.evidence import new_key, sign_document
from noisygd_delete.records import EditCounts
from noisygd_delete.reports import certificate_html, store_report
from tests.reports.histories import releases, usual_plan
from tests.reports.test_certificate_languages import PAPERS

from .browser import in_a_browser, run
from .test_register_page import LINES, REPORTS, register_page

PHONE = 390  # pixels; Chromium makes no window below 500, so the page stands in a frame of this width
AUDIT = ({"name": "membership: likelihood ratio", "measured_lower_bound": 0.02, "claimed_advantage": 0.4},)
pytestmark = in_a_browser


def a_report() -> str:
    plan = usual_plan()
    events = releases(plan, *(EditCounts(deleted=1 + k % 3) for k in range(24)))
    times = [f"2026-05-{1 + k:02d}T10:00:00+00:00" for k in range(len(events))]
    return store_report(plan=plan, events=events, times=times, audit=AUDIT)


def signed(paper: dict) -> dict:
    """By a key that is kept nowhere."""
    with TemporaryDirectory() as folder:
        new_key(f"{folder}/key.pem")
        return sign_document(paper, f"{folder}/key.pem")


PAGES = {
    "certificate": lambda: checking_html(signed(PAPERS["several, corrected too, by a solver"]())),
    "Bescheinigung": lambda: certificate_html(PAPERS["one record"](), code="de"),
    "report": a_report,
    "Bericht": lambda: REPORTS["everything"]("de"),
    "register": lambda: register_page([(None, line) for line in LINES * 3], here="/register"),
    "Register": lambda: register_page([("kunden", line) for line in LINES], code="de"),
}


@pytest.mark.parametrize("kind", PAGES)
def test_nothing_runs_out_of_a_phone(kind: str, tmp_path: Path) -> None:
    (tmp_path / "inner.html").write_text(PAGES[kind](), encoding="utf-8")
    probe = f"""<!doctype html><meta charset="utf-8"><body><iframe src="inner.html" style="width: {PHONE}px; height: 3000px; border: 0"></iframe>
<script>addEventListener("load", () => {{
  const inner = document.querySelector("iframe").contentDocument, root = inner.documentElement;
  const wide = [...inner.querySelectorAll("main *")].filter((e) => !e.closest("svg") && e.scrollWidth > e.clientWidth + 1 && e.clientWidth && getComputedStyle(e).display !== "inline");
  const letters = [...inner.querySelectorAll("svg text, svg tspan")].map((e) => e.getBoundingClientRect().height).filter((h) => h);
  document.body.dataset.found = JSON.stringify({{page: root.scrollWidth, wide: wide.map((e) => e.className || e.tagName), letters: Math.min(99, ...letters)}});
}});</script></body>"""
    (tmp_path / "page.html").write_text(probe, encoding="utf-8")
    shown = run(tmp_path / "page.html", tmp_path, "--allow-file-access-from-files", "--dump-dom")
    found = re.search(r'data-found="([^"]*)"', shown)
    assert found is not None, shown[-1000:]
    measured = json.loads(found[1].replace("&quot;", '"'))
    assert measured["page"] <= PHONE
    assert measured["wide"] == []
    assert measured["letters"] >= 9  # pixels, the smallest letters of any picture


@pytest.mark.skipif(
    shutil.which("pdftotext") is None, reason="pdftotext is not installed (apt-get install poppler-utils)"
)
@pytest.mark.parametrize("kind", PAGES)
def test_no_heading_is_the_last_line_of_a_sheet(kind: str, tmp_path: Path) -> None:
    page = PAGES[kind]()
    headings = {
        _plain(text)
        for text in re.findall(r"<h2>(.*?)</h2>|<p class=\"heading\">(.*?)</p>", page)
        for text in text
        if text
    }
    assert len(headings) > 3 or "requests" in page  # a register is one table
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    run(
        tmp_path / "page.html",
        tmp_path,
        "--virtual-time-budget=3600000",
        "--no-pdf-header-footer",
        f"--print-to-pdf={tmp_path}/page.pdf",
    )
    text = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "page.pdf", "-"], check=True, capture_output=True, text=True
    ).stdout
    sheets = [[line.strip() for line in sheet.splitlines() if line.strip()] for sheet in text.split("\f")]
    sheets = [sheet for sheet in sheets if sheet]
    assert len(sheets) > 1
    assert [sheet[-1] for sheet in sheets if sheet[-1] in headings] == []
    if kind in ("certificate", "Bescheinigung"):  # nor is a sheet left half empty before the last
        assert min(map(len, sheets[:-1])) > max(map(len, sheets)) / 2


def _plain(text: str) -> str:
    return re.sub("<[^>]+>", "", text).strip()
