"""Kinds of sources join by entry points; without their distribution the engine still verifies, and names what to install."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from noisygd_delete.errors import MissingDependency, StoreCorrupt
from noisygd_delete.store import Store
from noisygd_delete.store.source_kinds import source_from
from tests.cli.planned import main

from .conftest import ROWS, name
from .test_commands import PLAN, ROOT, folder
from .test_lake import in_duckdb

__all__ = ["folder"]  # fixtures

ENGINE_ALONE = """
import importlib.metadata, sys
sys.modules["noisygd_delete_sources"] = None
importlib.metadata.entry_points = lambda **wanted: importlib.metadata.EntryPoints()
from noisygd_delete.cli import main
sys.exit(main(sys.argv[1:]))
"""
ACME = """
from dataclasses import dataclass
from typing import ClassVar
from noisygd_delete_sources.duckdb_tables import DuckdbFile

@dataclass(frozen=True)
class AcmeTable(DuckdbFile):
    kind: ClassVar[str] = "acme"

    @classmethod
    def recognises(cls, address):
        return str(address).endswith(".acme")
"""


def run_engine_alone(*arguments: str) -> tuple[int, str]:
    """Run a command where no other distribution is installed; return its exit status and what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", ENGINE_ALONE, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def failed_checks(file: str) -> set[str]:
    """Return the checks of a certificate that fail where only the engine is installed."""
    _, answer = run_engine_alone("verify-certificate", file, "--json")
    return {check["name"] for check in json.loads(answer)["checks"] if not check["passed"]}


def hide_residue(certificate: dict[str, Any]) -> None:
    for place in certificate["evidence"]["residue"]:
        place.update(verdict="ERASED", found=0)


def drop_claim(certificate: dict[str, Any]) -> None:
    certificate["claims"] = [claim for claim in certificate["claims"] if claim["key"] != "residue.found"]


def read_earlier(certificate: dict[str, Any]) -> None:
    certificate["evidence"]["read_at"] = "version:0"


def test_the_engine_alone_verifies_and_says_what_to_install(folder: Path, as_json) -> None:
    where = ["--source", in_duckdb(folder)["address"], "--table", "people", "--schema", "schema.toml"]
    as_json("init", "store", *where, *PLAN, "--slots", "240")
    assert main(["learn", "store"]) == main(["delete", "store", name(3), "--request-id", "r"]) == 0
    Path("gone.txt").write_text(f"{name(3)}\n")
    (folder / "left").mkdir()
    (folder / "left" / "copy.csv").write_text(name(3))
    report = as_json("residue", "left", "--tokens", "gone.txt", status=5)
    Path("residue.json").write_text(json.dumps(report))

    certify = ["certificate", "store", "--request-id", "r", "--residue", "residue.json", "--out", "certificate.json"]
    for command in (certify, ["verify", "store", "--absent", "gone.txt"]):
        status, answer = run_engine_alone(*command)
        assert status == 0, answer
    assert failed_checks("certificate.json") == {"signature"}, "it is not signed"
    for fault, check in ((hide_residue, "claims"), (drop_claim, "claims"), (read_earlier, "facts")):
        certificate = json.loads(Path("certificate.json").read_text())
        fault(certificate)
        Path("altered.json").write_text(json.dumps(certificate))
        assert check in failed_checks("altered.json"), fault.__name__
    for command in (
        ["delete", "store", name(4)],
        ["residue", "left", "--tokens", "gone.txt"],
        ["watch", "store"],
        ["init", "other", *where],
    ):
        status, answer = run_engine_alone(*command)
        assert status == 2
        assert "noisygd-delete[sources]" in answer


def test_a_ledger_of_an_unknown_kind_or_with_unknown_facts_is_refused() -> None:
    described = {"kind": "duckdb", "address": "/x.duckdb", "id": "id", "table": "people"}
    assert source_from(described).to_dict()["kind"] == "duckdb"
    with pytest.raises(MissingDependency):
        source_from({**described, "kind": "acme"})
    for broken in ({**described, "password": "x"}, {"kind": "duckdb", "address": "/x.duckdb"}, {}, None):
        with pytest.raises(StoreCorrupt):
            source_from(broken)


def test_a_kind_of_another_distribution_joins_by_its_entry_point(folder: Path, as_json, monkeypatch) -> None:
    shutil.copy(in_duckdb(folder)["address"], folder / "people.acme")
    installed = folder / "installed"
    (installed / "acme-1.0.dist-info").mkdir(parents=True)
    (installed / "acme-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    points = "[noisygd_delete.sources]\nacme = acme_table:AcmeTable\n"
    (installed / "acme-1.0.dist-info" / "entry_points.txt").write_text(points)
    (installed / "acme_table.py").write_text(ACME)
    where = ["--source", str(folder / "people.acme"), "--table", "people", "--schema", "schema.toml"]
    assert main(["init", "store", *where, *PLAN, "--slots", "240"]) == 2, "not installed yet"
    monkeypatch.syspath_prepend(installed)
    assert as_json("init", "store", *where, *PLAN, "--slots", "240")["records"] == ROWS
    assert main(["learn", "store"]) == main(["delete", "store", name(3), "--request-id", "r"]) == 0
    with Store.open("store") as store:
        assert store.ledger.source is not None
        assert store.ledger.source["kind"] == "acme"
        assert store.table.find_names([name(3), name(4)]) == {name(4)}
