"""The page recomputes certificates of every method, not of the frequent ones alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

from noisygd_delete_compliance import translator
from noisygd_delete_compliance.checking_page import page_script
from noisygd_delete_compliance.translator import checker, script, verifier
from noisygd_delete_compliance.translator.__main__ import add_digest

from noisygd_delete.evidence import Erasure, erasure_certificate, sign_document, verify_certificate
from noisygd_delete.records import EditCounts, limited_io
from tests.reports.histories import releases

from ..bank import FURTHER, PROBLEMS, plan_by
from .browser import dom, in_a_browser, judged

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


def test_a_source_checkout_builds_the_script_once_for_each_state_of_its_sources(monkeypatch, tmp_path: Path) -> None:
    sources, folder = tmp_path / "package" / "translator", tmp_path / "kept"
    sources.mkdir(parents=True)
    built: list[str] = []
    monkeypatch.setattr(translator, "_HERE", sources)
    monkeypatch.setattr(translator, "_CACHE", folder)
    monkeypatch.setattr(translator, "script", lambda: built.append("") or f"script {len(built)}")
    assert [translator.build_cached() for _ in range(2)] == ["script 1", "script 1"]
    (sources / "runtime.js").write_text("changed")
    assert [translator.build_cached() for _ in range(2)] == ["script 2", "script 2"]
    assert len(list(folder.iterdir())) == 1


def test_the_script_of_a_checkout_is_what_its_sources_make() -> None:
    assert page_script() == script()


def test_earlier_versions_keep_their_line_in_the_list_of_digests() -> None:
    before = "| version | digest |\n|---|---|\n| 0.0.9 | `sha256-old` |\n"
    once = add_digest(before, "1.0.0", "one", "loader")
    again = add_digest(once, "1.0.0", "two", "loader")
    assert once.startswith(before)
    assert again.startswith(before)
    assert again != once
    assert again.count("\n") == once.count("\n") == 4
