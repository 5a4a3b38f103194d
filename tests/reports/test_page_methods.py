"""The page recomputes certificates of every method, not of the frequent ones alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

from noisygd_delete.evidence import Erasure, erasure_certificate, sign_document, verify_certificate
from noisygd_delete.records import EditCounts, limited_io
from noisygd_delete.reports.html import page_script
from tools.page import checker, script, verifier
from tools.page.__main__ import DIGESTS, listed

from ..bank import FURTHER, PROBLEMS, plan_by
from .browser import dom, in_a_browser, judged
from .histories import releases

PLACES = ({"kind": "s3", "release": 2, "oldest": 1}, {"kind": "folder", "release": None, "oldest": None})


@in_a_browser
def test_a_certificate_of_every_method_holds_in_the_page(key: Path, tmp_path: Path) -> None:
    texts, names = [], (*PROBLEMS, *FURTHER)
    for name in names:
        plan = plan_by(name)
        events = releases(plan, EditCounts(deleted=1, replaced=1))
        erasure = Erasure(rows=2, replaced=1, release=2, publishers=PLACES)
        paper = erasure_certificate(erasure, plan=plan, events=events)
        texts.append(json.dumps(sign_document(paper, key), indent=2))
    assert [verify_certificate(limited_io.parse_json(text)).passed for text in texts] == [True] * len(names)
    found = judged(texts, None, checker(), tmp_path)
    assert [name for name, held in zip(names, found, strict=True) if not held] == []


@in_a_browser
def test_the_runtime_brings_whatever_the_translated_modules_ask_it_for(tmp_path: Path) -> None:
    """But for arrays of records, keys that sign and files, of which a page has none."""
    text = verifier()
    asked = {tuple(found) for found in re.findall(r'\$\.libraries\["([\w.]+)"\]\.(\w+)', text)}
    asked |= {tuple(found) for found in re.findall(r'\$\.libraries\["([\w.]+)"\]\["(\w+)"\]', text)}
    asked = {
        (library, name)
        for library, name in asked
        if not library.startswith(("numpy", "cryptography", "typing", "records"))
    }
    builtins = set(re.findall(r"\$\.b\.(\w+)", text))
    assert len(asked) > 40
    assert len(builtins) > 30
    script = f"""{checker()}
document.body.dataset.found = [
  ...{json.dumps(sorted(asked))}.filter(([library, name]) => $.libraries[library]?.[name] === undefined).map((pair) => pair.join(".")),
  ...{json.dumps(sorted(builtins))}.filter((name) => $.b[name] === undefined),
].join(" ");"""
    shown = dom(f'<!doctype html><meta charset="utf-8"><body><script>{script}</script></body>', tmp_path)
    found = re.search(r'data-found="([^"]*)"', shown)
    assert found is not None
    assert set(found[1].split()) <= {
        "scipy.special.ndtri",
        "functools.cached_property",
    }  # of tests alone; read as a decorator


def test_the_script_in_the_package_is_what_its_sources_make_today() -> None:
    """After a change of anything that the page recomputes: python -m tools.page."""
    made = script()
    assert page_script() == made, "run python -m tools.page"
    assert listed(DIGESTS.read_text(encoding="utf-8"), made) == DIGESTS.read_text(encoding="utf-8")


def test_versions_before_keep_their_line_in_the_list_of_digests() -> None:
    before = "| version | digest |\n|---|---|\n| 0.0.9 | `sha256-old` |\n"
    once = listed(before, "one")
    assert once.startswith(before)
    assert listed(once, "two").startswith(before)
    assert listed(once, "two").count("\n") == once.count("\n") == 4
    assert listed(once, "two") != once
