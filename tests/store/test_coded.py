"""A store that keeps codes: death at every change, what an edit leaves behind, what was written by whom, damaged codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import EditRequest, Records, Schema
from noisygd_delete.errors import InvalidRecords, InvalidRequest, StoreCorrupt
from noisygd_delete.features.schema import RecordFile
from noisygd_delete.records import CodedRows
from noisygd_delete.store import Store, file_footer, journal, verify
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.layout import Layout

from . import conftest
from .conftest import ROWS, SLOTS, found, name, person
from .operations import check_deaths, make_operations

COLUMNS = [f"c{k}" for k in range(16)]  # enough for the codes of a row to be a trace that nothing else leaves
SCHEMA = Schema.from_dict(
    {
        "id": "id",
        "subject": "person",
        "label": {"column": "y", "classes": ["no", "yes"]},
        "columns": {column: {"bounds": [-1, 1]} for column in COLUMNS},
        "map": {"kind": "additive", "levels": 3},
    }
)
CODEC = SCHEMA.codec


def cells(k: int) -> np.ndarray:
    return np.random.default_rng(2000 + k).uniform(-1, 1, len(COLUMNS))


def row(k: int) -> np.ndarray:
    assert SCHEMA.map is not None
    return SCHEMA.map.rows([cells(k)])[0]


def codes(k: int) -> np.ndarray:
    assert CODEC is not None
    return CODEC.encode(row(k)[None])[0]


def traces(k: int) -> list[bytes]:
    return [name(k).encode(), codes(k).tobytes()]


def plan(slots: int = SLOTS, **changes):
    return conftest.plan(slots, features=SCHEMA.features, **changes).of_map(SCHEMA.feature_map)


def records() -> Records:
    numbers = range(ROWS)
    labels = [1.0 - 2 * (k % 2) for k in numbers]
    names, persons = [name(k) for k in numbers], [person(k) for k in numbers]
    return Records([row(k) for k in numbers], labels, names, persons, slots=SLOTS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Store.create(tmp_path / "store", records(), SCHEMA, plan()) as store:
        store.learn()
    return tmp_path / "store"


OPERATIONS = {one.name: one for one in make_operations(row, traces, plan)}


@pytest.mark.parametrize("name", ["delete", "replace", "insert", "relearn"])
def test_a_crash_anywhere_leaves_before_or_after(path: Path, name: str) -> None:
    operation = OPERATIONS[name]
    assert not operation.erased or found(path, operation.erased)
    check_deaths(path, operation, step=3)


def test_the_crash_test_sees_codes_that_are_not_overwritten(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: an edit leaves the old codes in the file."""
    overwrite = Disk.overwrite

    def keep(self: Disk, file: Path, pieces) -> None:
        overwrite(self, file, pieces[1:] if file.name == "rows.codes" else pieces)

    monkeypatch.setattr(Disk, "overwrite", keep)
    with pytest.raises(AssertionError):
        check_deaths(path, OPERATIONS["delete"])


def test_a_file_and_records_make_the_same_table(tmp_path: Path) -> None:
    lines = [",".join(["id", "person", "y", *COLUMNS])]
    for k in range(ROWS):
        lines.append(
            ",".join(
                [name(k), person(k), "yn"[k % 2].replace("y", "yes").replace("n", "no"), *map(repr, cells(k).tolist())]
            )
        )
    (tmp_path / "t.csv").write_text("\n".join(lines))
    Store.create(tmp_path / "one", records(), SCHEMA, plan()).close()
    Store.create_from(tmp_path / "other", RecordFile(SCHEMA, tmp_path / "t.csv"), SCHEMA, lambda rows: plan()).close()
    for file in Layout(tmp_path / "one").holding_rows():
        other, length = tmp_path / "other" / "records" / file.name, file_footer.length_of(file)
        assert other.read_bytes()[:length] == file.read_bytes()[:length]
    with Store.open(tmp_path / "other") as store:
        assert np.array_equal(np.asarray(store.records.features)[:ROWS], [row(k) for k in range(ROWS)])
        assert not np.asarray(store.records.features)[ROWS:].any()
        assert (tmp_path / "other" / "records" / "rows.codes").stat().st_size == SLOTS * 16 + file_footer.SIZE
    assert not (tmp_path / "other" / "records" / "features.f32").exists()


def test_rows_of_no_map_are_refused_before_anything_is_written(tmp_path: Path, path: Path) -> None:
    wrong = np.roll(row(3), 1)
    table = Records([wrong], [1.0], [name(0)], [person(0)], slots=SLOTS)
    with pytest.raises(InvalidRecords):
        Store.create(tmp_path / "new", table, SCHEMA, plan())
    assert not (tmp_path / "new").exists()
    with Store.open(path) as store:
        for request in (
            EditRequest.insert([name(99)], [wrong], [1.0], subjects=["new"]),
            EditRequest.replace({name(3): (wrong, 1.0)}),
        ):
            with pytest.raises(InvalidRequest):
                store.serve(request)
        assert store.pending_edits == 0
    assert verify(path).passed


@pytest.mark.parametrize(("slot", "value"), [(0, 9), (0, 0), (ROWS, 1)], ids=["beyond", "in part null", "free"])
def test_damaged_codes_are_found(path: Path, slot: int, value: int) -> None:
    with Layout(path).codes.open("r+b") as file:
        file.seek(slot * len(COLUMNS) + 2)
        file.write(bytes([value]))
    assert not verify(path).passed
    with Store.open(path) as store, pytest.raises(InvalidRecords):
        store.publish(force=True)


def test_a_journal_of_other_rows_is_refused(path: Path) -> None:
    """Codes that are none of the map, another number of them, and a row of features."""
    with Store.open(path) as store:
        codec, edits = store.ledger.codec, store.records.resolve(INSERT)
        change = journal.InFlight(store.ledger.length, edits, True, None, (None,), store.ledger.digest)
    whole = journal.InFlight.from_bytes(change.to_bytes(), codec=codec)
    assert isinstance(whole.edits.rows, CodedRows)
    assert np.array_equal(whole.edits.rows.codes, edits.rows.codes)
    body = json.loads(journal.strip_checksum(change.to_bytes()))
    for fault in ({"rows": body["rows"][:4] + "//" + body["rows"][6:]}, {"width": 8}):
        Layout(path).request.write_bytes(journal.add_checksum(json.dumps(body | fault).encode()))
        with pytest.raises(StoreCorrupt):
            journal.read_in_flight(Layout(path), codec)


INSERT = EditRequest.insert([name(99)], [row(99)], [1.0], subjects=["new"])


def test_codes_are_read_by_the_version_that_wrote_them_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from noisygd_delete.errors import InvalidSchema
    from noisygd_delete.features.maps import Additive

    monkeypatch.setattr(Additive, "version", 2)
    with pytest.raises(InvalidSchema), Store.open(path) as store:
        store.serve(EditRequest.delete([name(3)]))
