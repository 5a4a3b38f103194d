"""Kinds of sources join by entry points; without their distribution the engine still verifies, and names what to install."""

from __future__ import annotations

import json
import os
import re
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
from .tables import in_duckdb
from .test_commands import PLAN, ROOT, folder

__all__ = ["folder"]  # fixtures

ENGINE_ALONE = """
import importlib.metadata, json, sys
sys.modules["noisygd_delete_sources"] = None
importlib.metadata.entry_points = lambda **wanted: importlib.metadata.EntryPoints()
from noisygd_delete.cli import main
for line in sys.stdin:
    print(">", main(json.loads(line)), flush=True)
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


def run_engine_alone(*commands: list[str]) -> list[tuple[int, str]]:
    """Run commands where no other distribution is installed; return the exit status of each and what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", ENGINE_ALONE], input="".join(json.dumps(command) + "\n" for command in commands),
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True, timeout=120,
    )  # fmt: skip
    parts = re.split(r"^> (\d+)\n", done.stdout, flags=re.MULTILINE)
    return [(int(status), said) for said, status in zip(parts[::2], parts[1::2], strict=False)]


def failed_checks(*files: str) -> list[set[str]]:
    """Return the checks of each certificate that fail where only the engine is installed."""
    answers = run_engine_alone(*(["verify-certificate", file, "--json"] for file in files))
    return [{check["name"] for check in json.loads(said)["checks"] if not check["passed"]} for _, said in answers]


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
    assert [status for status, _ in run_engine_alone(certify, ["verify", "store", "--absent", "gone.txt"])] == [0, 0]
    faults = {hide_residue: "claims", drop_claim: "claims", read_earlier: "facts"}
    for fault in faults:
        certificate = json.loads(Path("certificate.json").read_text())
        fault(certificate)
        Path(f"{fault.__name__}.json").write_text(json.dumps(certificate))
    honest, *altered = failed_checks("certificate.json", *(f"{fault.__name__}.json" for fault in faults))
    assert honest == {"signature"}, "it is not signed"
    assert all(check in failed for check, failed in zip(faults.values(), altered, strict=True))
    refused = run_engine_alone(
        ["delete", "store", name(4)],
        ["residue", "left", "--tokens", "gone.txt"],
        ["watch", "store"],
        ["init", "other", *where],
    )
    assert [status for status, _ in refused] == [2] * 4
    assert all("noisygd-delete[sources]" in said for _, said in refused)


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
