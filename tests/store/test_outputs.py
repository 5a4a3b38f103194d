"""Planted tokens after every operation: not in the store's bytes, not in what was printed, logged or raised.

A token is an id, a person or a cell of the record that goes. Only the caller's own words (the id in the command that asks
for the erasure) may be said back, and only in the refusal of that very command.
"""

from __future__ import annotations

import json
import logging
import os
import traceback
from pathlib import Path

import pytest

from noisygd_delete import EditRequest
from noisygd_delete.store import Store, verify_absence
from noisygd_delete.store.disk import Disk
from tests.cli.planned import main

from .conftest import Crash, CrashAt, found, name, person, row, traces

GONE = 3
CELLS = ["0.314159265", "-0.271828182", "0.161803398"]
SCHEMA = (
    'rows = "clip"\nradius = 1.0\nintercept = false\nid = "id"\nsubject = "person"\n[label]\ncolumn = "y"\nclasses = ["no", "yes"]\n'
    + "".join(f"[columns.{letter}]\nbounds = [-1, 1]\n" for letter in "abc")
)


def line(k: int, cells: list[str] | None = None) -> str:
    shown = cells or [f"{value:.9f}" for value in row(k)]
    return ",".join([name(k), person(k), *shown, "yes" if k % 2 else "no"])


@pytest.fixture
def said(tmp_path: Path, capfd, caplog, monkeypatch):
    """Runs a command and returns everything it printed or logged."""
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.DEBUG)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    rows = [line(k, CELLS if k == GONE else None) for k in range(9)]
    (tmp_path / "data.csv").write_text("\n".join(["id,person,a,b,c,y", *rows, ""]))
    (tmp_path / "tokens.txt").write_text("\n".join(tokens()))

    def run(*words: str, status: int = 0) -> str:
        capfd.readouterr()
        caplog.clear()
        assert main(list(words)) == status, capfd.readouterr()
        printed = capfd.readouterr()
        return printed.out + printed.err + caplog.text

    making = "--method noisy-gd --order 4 --dp 2 --deletion 0.5 --regularization 0.5 --rows-per-subject 2 --slots 14"
    run("init", "store", "--data", "data.csv", "--schema", "schema.toml", *making.split(), "--no-utility")
    return run


def tokens() -> list[str]:
    return [name(GONE), *CELLS]


def clean(text: str, *allowed: str) -> bool:
    return not [token for token in {*tokens(), person(GONE)} - {*allowed} if token in text]


def test_what_was_erased_is_in_no_file_and_no_output(said, tmp_path: Path) -> None:
    shared = person(GONE)  # the person has another row, which stays
    store = tmp_path / "store"
    assert clean(said("learn", "store", "--json"))
    assert found(store, [name(GONE).encode()]) == ["ids.names"]
    assert clean(said("delete", "store", name(GONE), "--request-id", "r", "--dry-run"))
    assert clean(said("delete", "store", name(GONE), "--request-id", "r", "--json"))
    (tmp_path / "new.csv").write_text(f"id,person,a,b,c,y\n{line(20)}\n")
    (tmp_path / "more.jsonl").write_text(json.dumps({"request_id": "s", "delete": [name(5)]}))
    for command in (
        ["status", "store"], ["status", "store", "--json"], ["budget", "store"], ["budget", "store", "--json"],
        ["verify", "store"], ["verify", "store", "--json"], ["verify", "store", "--absent", "tokens.txt"],
        ["delete", "store", name(GONE), "--request-id", "r", "--json"], ["keygen", "key.pem"],
        ["certificate", "store", "--request-id", "r", "--key", "key.pem", "--out", "paper.json", "--html", "paper.html"],
        ["insert", "store", "--data", "new.csv"], ["delete", "store", name(4), "--no-publish"], ["publish", "store", "--json"],
        ["stream", "store", "more.jsonl", "--json"], ["relearn", "store"], ["verify", "store", "--certificate", "paper.json"],
    ):  # fmt: skip
        assert clean(said(*command)), command
        assert verify_absence(store, tokens()) == [], command
    for paper in ("paper.json", "paper.html", "key.pem.pub"):
        assert clean((tmp_path / paper).read_text())
    assert clean(said("delete", "store", name(GONE), status=2), name(GONE)), (
        "the refusal says the id back, nothing more"
    )
    assert shared.encode() not in (store / "ledger.sqlite").read_bytes()


@pytest.mark.parametrize(
    ("cells", "complaint"),
    [(["0.5", "secret-cell", "0.5"], "column 'b'"), (["0.5", "0.5"], "cells where the header has")],
)
def test_a_row_that_cannot_be_read_is_not_quoted(said, tmp_path: Path, cells: list[str], complaint: str) -> None:
    (tmp_path / "bad.csv").write_text(f"id,person,a,b,c,y\n{line(GONE + 40, cells)}\n")
    printed = said("insert", "store", "--data", "bad.csv", status=2)
    assert complaint in printed
    assert "secret-cell" not in printed
    assert name(GONE + 40) not in printed


@pytest.mark.parametrize("words", [["delete", "store", "identifier-token-0003"], ["relearn", "store"]])
def test_a_traceback_of_a_crash_quotes_no_one(said, tmp_path: Path, words: list[str], monkeypatch) -> None:
    """Death at every change, as the log of a supervisor would show it; and after the recovery the bytes are gone."""
    said("learn", "store")
    reached, told = [], []

    def dies(self: Disk, operation: str, path: Path) -> None:
        reached.append(operation)
        if len(reached) % 13 == 0:
            raise Crash(f"{operation} {path.name}")

    for _ in range(12):
        with monkeypatch.context() as patched:
            patched.setattr(Disk, "reached", dies)
            patched.setattr(Disk, "fsync", lambda self, descriptor: None)
            try:
                main(words)
            except Crash as error:
                told += traceback.format_exception(error)
    assert clean("".join(told))
    assert "Crash: " in "".join(told)
    said("status", "store")
    if words[0] == "delete":
        with Store.open(tmp_path / "store") as store:
            if name(GONE) in store.records:
                store.serve(EditRequest.delete([name(GONE)]))
        assert verify_absence(tmp_path / "store", tokens()) == []


def test_between_a_crash_and_the_next_command_verify_says_where_the_tokens_are(path: Path) -> None:
    """An interrupted erasure is not silently called done: the scan finds what is left, and the next opening removes it."""
    with Store.open(path, disk=CrashAt(8)) as store, pytest.raises(Crash):
        store.serve(EditRequest.delete([name(GONE)]))
    assert (path / "journal" / "request.json").exists()
    assert found(path, traces(GONE)) != []
    assert verify_absence(path, [name(GONE)]) != []
    Store.open(path).close()
    assert verify_absence(path, [name(GONE)]) == found(path, traces(GONE)) == []


@pytest.mark.skipif(os.name == "nt", reason="POSIX links and permissions")
def test_names_that_look_like_paths_and_links_lead_nowhere(said, tmp_path: Path) -> None:
    """Ids and request ids never become file names; a link in the place of a file, or of the store's parts, is refused."""
    said("learn", "store")
    outside = tmp_path / "outside"
    outside.mkdir()
    before = sorted(tmp_path.rglob("*"))
    evil = "../../outside/evil"
    (tmp_path / "new.csv").write_text(f"id,person,a,b,c,y\n{evil},/etc/passwd,0.1,0.1,0.1,yes\n")
    said("insert", "store", "--data", "new.csv", "--request-id", evil)
    said("delete", "store", evil, "--request-id", f"{evil}-2")
    after = [path for path in sorted(tmp_path.rglob("*")) if path not in before]
    assert {path.name for path in after} == {
        "new.csv",
        "model-3.safetensors",
        "register.sqlite",
        "register.sqlite-journal",
    }
    for part in ("journal", "records/labels.f64", "lock"):
        file = tmp_path / "store" / part
        kept = file.rename(outside / "kept")
        file.symlink_to(outside / "kept")
        content = sorted((p, p.read_bytes()) for p in outside.rglob("*") if p.is_file())
        assert "a link inside the store" in said("delete", "store", name(1), status=5)
        assert sorted((p, p.read_bytes()) for p in outside.rglob("*") if p.is_file()) == content
        file.unlink()
        kept.rename(file)
    said("delete", "store", name(1))
