"""Files that a person, a bad disk or another program has touched: one clear error each, and nothing lost by it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import EditRequest, Records, Schema
from noisygd_delete.cli import main
from noisygd_delete.errors import InvalidParameter, InvalidRecords, StoreCorrupt, StoreError
from noisygd_delete.store import Store, budget, status, tokens, verify, verify_absence
from noisygd_delete.store.journal import add_checksum
from noisygd_delete.store.layout import Layout

from .conftest import SCHEMA, SLOTS, found, name, patch, plan, records, sql, traces


def rechained(path: Path, change: Callable[[dict], None]) -> None:
    """Change the last entry and mend the hash chain, as somebody who knows the format could."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT number, body, digest FROM entries ORDER BY number").fetchall()
        fields = json.loads(rows[-1][1])
        change(fields)
        body = json.dumps(fields)
        before = rows[-2][2]
        digest = hashlib.sha256(f"{before}{body}".encode()).hexdigest()
        connection.execute("UPDATE entries SET body = ?, digest = ? WHERE number = ?", (body, digest, rows[-1][0]))
        connection.commit()


Change = Callable[[Path], object]


def gone(file: str) -> Change:
    return lambda p: (p / file).unlink()


def cut(file: str, size: int) -> Change:
    return lambda p: (p / file).write_bytes((p / file).read_bytes()[:size])


def holding(file: str, content: str | bytes) -> Change:
    return lambda p: (p / file).write_bytes(content.encode() if isinstance(content, str) else content)


def cell(at: int, data: bytes, file: str = "ids.names") -> Change:
    """Bytes of the first cell of a file of names, of 24 bytes behind a head of 64."""
    return lambda p: patch(p / "records" / file, 64 + at, data)


def statement(text: str) -> Change:
    return lambda p: sql(p / "ledger.sqlite", text)


def entry(**changed: object) -> Change:
    return lambda p: rechained(p / "ledger.sqlite", lambda fields: fields.update(changed))


def event(**changed: object) -> Change:
    return lambda p: rechained(p / "ledger.sqlite", lambda fields: fields["event"].update(changed))


def model_bit(path: Path) -> None:
    data = (path / "model-1.safetensors").read_bytes()
    (path / "model-1.safetensors").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def plan_edited(path: Path) -> None:
    (path / "plan.json").write_text((path / "plan.json").read_text().replace('"dp": 2.0', '"dp": 9.0'))


def plan_linked(path: Path) -> None:
    (path / "plan.json").unlink()
    (path / "plan.json").symlink_to("/etc/hostname")


PENDING = """UPDATE entries SET body = replace(body, '"pending": 0', '"pending": 9')"""
OTHER_SEAL = json.dumps({"entries": 2, "sha256": "0" * 64})
IDS, NOT_NAMES = "records/ids.names", "not the names of this table"
BY_HAND: dict[str, tuple[Change, str]] = {
    "model bit": (model_bit, "not the model that was published"),
    "model gone": (gone("model-1.safetensors"), "cannot be read"),
    "ledger entry changed": (statement(PENDING), "hash chain"),
    "ledger middle removed": (statement("DELETE FROM entries WHERE number = 1"), "hash chain"),
    "ledger end removed": (statement("DELETE FROM entries WHERE number = 2"), "end was cut off"),
    "seal removed": (gone("seal.json"), "seal.json: missing"),
    "seal garbage": (holding("seal.json", '{"entries": 2, "entries": 1}'), "not a seal"),
    "seal of another ledger": (holding("seal.json", OTHER_SEAL), "not the ledger that seal.json was made for"),
    "ledger emptied": (statement("DELETE FROM entries"), "ledger is empty"),
    "ledger columns": (statement("ALTER TABLE entries DROP COLUMN digest"), "no such column"),
    "ledger cut": (cut("ledger.sqlite", 5000), "ledger.sqlite"),
    "ledger overwritten": (holding("ledger.sqlite", b"x" * 8192), "not a database"),
    "another version": (entry(format=99), "has format 99, and this version reads format 1"),
    "unknown field": (entry(extra=1), "not a ledger entry"),
    "unknown kind": (entry(kind="x"), "not a ledger entry"),
    "impossible history": (event(kind="unlearn"), "contradict one another"),
    "impossible event": (event(steps=-1), "contradict one another"),
    "plan edited": (plan_edited, "plan.json: differs from the ledger"),
    "plan not JSON": (holding("plan.json", "{"), "plan.json: differs from the ledger"),
    "schema edited": (holding("schema.json", "{}"), "schema.json: differs from the ledger"),
    "features cut": (cut("records/features.f32", 100), "features.f32: missing, or not as long"),
    "labels gone": (gone("records/labels.f64"), "labels.f64: missing"),
    "ids gone": (gone(IDS), "ids.names: missing"),
    "ids overwritten": (holding(IDS, b"x" * 4096), "ids.names: missing, or not as long"),
    "ids cut": (cut(IDS, 100), "ids.names: missing, or not"),
    "an id without its subject": (cell(0, bytes(24), "subjects.names"), "does not belong to this table"),
    "an id without its length": (cell(23, b"\0"), NOT_NAMES),
    "journal garbage": (holding("journal/request.json", "[]"), "not a request"),
    "journal of another version": (holding("journal/request.json", add_checksum(b'{"format": 2}')), "not a request"),
    "a link": (plan_linked, "a link inside"),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_a_file_changed_by_hand_is_named_and_nothing_is_lost(path: Path, case: str, capsys) -> None:
    change, expected = BY_HAND[case]
    change(path)
    kept = {file.name: file.read_bytes() for file in path.rglob("*") if file.is_file() and file.suffix == ".f32"}

    def use() -> None:
        with Store.open(path) as store:
            store.serve(EditRequest.delete([name(0)]))

    with pytest.raises(StoreCorrupt) as caught:
        use()
    assert expected in str(caught.value)
    assert main(["delete", str(path), name(1)]) == 5
    assert capsys.readouterr().err.count("\n") == 1
    for file, content in kept.items():
        assert next(path.rglob(file)).read_bytes() == content
    if case != "a link":
        assert main(["verify", str(path)]) == 5
    capsys.readouterr()


@pytest.mark.parametrize("later", [True, False])
@pytest.mark.parametrize("cut", [1, 2])
def test_a_release_that_is_owed_does_not_vanish_with_the_end_of_the_ledger(path: Path, later: bool, cut: int) -> None:
    """Whatever the last entries were: an edit without its release, one with it, a withheld one, a fresh learn."""
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(0)]), publish=not later)
        store.relearn()
        store.serve(EditRequest.delete([name(1)]), publish=False)
        entries = len(store.ledger.entries)
    sql(path / "ledger.sqlite", f"DELETE FROM entries WHERE number > {entries - cut}")
    assert not verify(path).passed
    for refused in (lambda: Store.open(path), lambda: budget(path), lambda: status(path)):
        with pytest.raises(StoreCorrupt, match="end was cut off"):
            refused()


def test_verify_finds_what_opening_does_not_look_for(path: Path) -> None:
    assert verify(path).passed
    layout = Layout(path)
    row = np.memmap(layout.features, "<f4", shape=(SLOTS, 3))
    row[11] = [0, -0.0, 0]  # a free slot: even a negative zero is somebody's
    row.flush()
    assert any("slot 11 has no id" in fault for fault in verify(path).faults)
    row[11], row[2] = 0, 5.0
    row.flush()
    assert any("a row is too long" in fault for fault in verify(path).faults)
    assert name(2) not in str(verify(path).faults)
    (path / "notes.txt").write_text("hello")
    (path / "plan.json.tmp").write_text("")
    (path / "model-7.safetensors").write_bytes(b"")
    text = "\n".join(verify(path).faults)
    for expected in ("notes.txt: does not belong", "plan.json.tmp", "model-7.safetensors: the ledger does not name"):
        assert expected in text
    sql(layout.ledger, "CREATE TABLE t (x)", f"INSERT INTO t VALUES ('{'x' * 20000}')", "DROP TABLE t")
    assert any("free pages" in fault for fault in verify(path).faults)
    layout.long.write_bytes(bytes(4000) + name(3).encode().ljust(96, b"\0"))
    assert any("long.names: a free piece is not zero" in fault for fault in verify(path).faults)
    data = layout.ids.read_bytes()
    patch(layout.ids, 64, data[64 + 24 : 64 + 48])
    assert any("two slots have one id" in fault for fault in verify(path).faults)


def test_absent_finds_a_token_in_any_coding_and_across_chunks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verify_absence(path, ["Zoë-token"]) == []
    for content in ("Zoë-token".encode(), "Zoë-token".encode("utf-16-le"), json.dumps("Zoë-token").encode()):
        (path / "journal" / "x").write_bytes(b"." * 4096 + content)
        assert len(verify_absence(path, ["other", "Zoë-token"])) == 1
        monkeypatch.setattr("noisygd_delete.store.verification._CHUNK", 4099)
        assert verify_absence(path, ["Zoë-token"]) == [f"{path}/journal/x: token 1"]
    (path / "journal" / "x").rename(path / "journal" / "my-token")
    assert any("name of a file" in hit for hit in verify_absence(path, ["my-token"]))
    with pytest.raises(StoreError):
        verify_absence(path / "none", ["token"])
    assert tokens("f", "long enough\n\n  \n  other one \n") == ["long enough", "other one"]
    with pytest.raises(InvalidParameter, match="line 2: shorter"):
        tokens("f", "long enough\n17\n")
    with pytest.raises(InvalidParameter, match="no tokens"):
        tokens("f", "\n")


def test_a_leftover_of_a_crash_is_swept_by_the_next_command(path: Path) -> None:
    for leftover in ("model-9.safetensors", "plan.json.tmp", "journal/request.json.tmp"):
        (path / leftover).write_bytes(b"".join(traces(3)))
    (path / "plan.json").unlink()
    Store.open(path).close()
    assert set(found(path, traces(3))) == {"ids.names", "features.f32"}
    assert verify(path).passed


def test_bad_tables_make_no_store(tmp_path: Path) -> None:
    good = records()
    numbered = Records(good.features[:9], good.labels[:9], subjects=range(9), slots=12)
    with pytest.raises(InvalidParameter, match="as text"):
        Store.create(tmp_path / "store", numbered, SCHEMA, plan())
    labels = np.array(good.labels)
    labels[0] = 0.5
    mislabelled = Records.from_slots(good.features, labels, good.ids_by_slot, None)
    with pytest.raises(InvalidRecords):
        Store.create(tmp_path / "store", mislabelled, SCHEMA, plan())
    assert not (tmp_path / "store").exists()
    with pytest.raises(InvalidParameter, match="schema does not make"):
        Store.create(tmp_path / "store", records(), Schema.from_dict({**SCHEMA.to_dict(), "intercept": True}), plan())
    with pytest.raises(StoreError):
        status(tmp_path / "store")
