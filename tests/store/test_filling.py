"""A store made of a file as it is read: the same bytes as of the whole file in memory, nothing left of what was refused, and no more
memory for a longer file."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from noisygd_delete import Budget, Records, Schema, losses, make_plan
from noisygd_delete.errors import InvalidParameter, InvalidRecords, InvalidSchema, NoisyGDDeleteError, StoreError
from noisygd_delete.features.schema import RecordFile, files, plain_csv, read_table
from noisygd_delete.features.schema import encoded as encodings
from noisygd_delete.features.schema import schema as schemas
from noisygd_delete.features.schema.schema import describe_faults
from noisygd_delete.planner.defaults import default_slots
from noisygd_delete.records import Names
from noisygd_delete.store import Store, Tombstones, file_footer, verify
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.store import DryRun

from .conftest import Crash, CrashAt, memory_folder

ROOT = Path(__file__).parents[2]
FIELDS = {
    "id": "id",
    "subject": "who",
    "label": {"column": "y", "classes": ["no", "yes"]},
    "columns": {"a": {"bounds": [-1, 1]}, "b": {"categories": ["u", "v", "w"], "unknown": "refuse"}},
}
SCHEMA = Schema.from_dict(FIELDS)
dry_run = partial(Store.create_from, dry_run=True)


def plan_for(rows: int, **changes):
    arguments = {"regularization": 0.5, "budget": Budget(order=4, dp=2.0, deletion=0.5), "method": "noisy-gd"}
    arguments |= {"rows_per_subject": 2, "utility": False, "records": default_slots(rows), "features": 5} | changes
    return make_plan(losses.Logistic(radius=1.0), **arguments)


def table(folder: Path, ids: list[str], *, owners: Callable[[int], str] = lambda k: f"person {k // 2}") -> Path:
    lines = [
        f"{name},{owners(k)},{k % 19 / 10 - 0.9},{'uvw'[k % 3]},{'yes' if k % 2 else 'no'}"
        for k, name in enumerate(ids)
    ]
    file = folder / "t.csv"
    file.write_text("\n".join(["id,who,a,b,y", *lines]) + "\n")
    return file


def whole(path: Path, file: Path, schema: Schema, **changes) -> None:
    """The store of a file that is read as a whole."""
    encoded = schema.encode_file(file)
    plan = plan_for(len(encoded.rows), **changes)
    rows = Records(encoded.rows, encoded.labels, encoded.ids, encoded.subjects, slots=plan.problem.records)
    Store.create(path, rows, schema, plan).close()


def content(path: Path) -> dict[str, bytes]:
    files = [
        file for file in path.rglob("*") if file.is_file() and file.suffix != ".sqlite" and file.name != "seal.json"
    ]
    """All but the stamps, which are random."""
    ties = {file: file_footer.length_of(file) for file in file_footer.files(Layout(path))}
    return {file.relative_to(path).as_posix(): file.read_bytes()[: ties.get(file)] for file in files}


IDS = {
    "short": [f"p{k}" for k in range(50)],
    "longer and longer": [f"p{k:0{k * 9 + 1}d}" for k in range(50)],
    "too long for any cell": [f"{'é' * (150 if k % 7 == 3 else 2)}{k}" for k in range(50)],
    "one that a later block's cells can hold": [
        *(f"s{k}" for k in range(2999)),
        "x" * 30,
        *(f"y{k:029d}" for k in range(3000)),
    ],
}


@pytest.mark.parametrize("block", [3000, 7])
@pytest.mark.parametrize("ids", IDS)
def test_the_bytes_are_those_of_the_whole_file(ids: str, block: int, tmp_path: Path, monkeypatch) -> None:
    if len(IDS[ids]) > 100 and block == 7:
        pytest.skip("many blocks of many rows show nothing more")
    monkeypatch.setattr("noisygd_delete.features.schema.schema.BLOCK_ROWS", block)
    file = table(tmp_path, IDS[ids])
    whole(tmp_path / "whole", file, SCHEMA)
    Store.create_from(tmp_path / "filled", RecordFile(SCHEMA, file), SCHEMA, plan_for).close()
    assert content(tmp_path / "filled") == content(tmp_path / "whole")
    assert verify(tmp_path / "filled").faults == ()
    with Store.open(tmp_path / "filled") as store:
        assert store.records.ids == IDS[ids]
    Store.create_from(tmp_path / "read", RecordFile(SCHEMA, read_table(file)), SCHEMA, plan_for).close()
    assert content(tmp_path / "read") == content(tmp_path / "whole")


def test_so_are_those_of_parquet_and_gzip_of_capped_persons_and_of_a_map(tmp_path: Path, monkeypatch) -> None:
    parquet, pyarrow_csv = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.csv")
    monkeypatch.setattr("noisygd_delete.features.schema.schema.BLOCK_ROWS", 7)
    file = table(tmp_path, IDS["short"], owners=lambda k: f"person {k // 4}")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(file.read_bytes()))
    parquet.write_table(pyarrow_csv.read_csv(file), tmp_path / "t.parquet")
    capped = Schema.from_dict({**FIELDS, "rows_per_subject": 2})
    made = []
    for number, name in enumerate(("t.csv", "t.csv.gz", "t.parquet")):
        whole(tmp_path / f"whole-{number}", tmp_path / name, capped)
        reading = RecordFile(capped, tmp_path / name)
        Store.create_from(tmp_path / f"filled-{number}", reading, capped, plan_for).close()
        assert (reading.rows, reading.dropped) == (26, 24)
        made += [content(tmp_path / f"whole-{number}"), content(tmp_path / f"filled-{number}")]
    assert all(each == made[0] for each in made[1:])
    mapped = Schema.from_dict({**FIELDS, "map": {"kind": "bins", "bins": 4, "buckets": 16}})
    changes = {"features": mapped.features, "rows_per_subject": 4}
    digest = mapped.feature_map
    Store.create_from(
        tmp_path / "mapped", RecordFile(mapped, file), mapped, lambda rows: plan_for(rows, **changes).of_map(digest)
    ).close()
    encoded = mapped.encode_file(file)
    with Store.open(tmp_path / "mapped") as store:
        np.testing.assert_array_equal(store.records.features[: len(encoded.rows)], encoded.rows)


def test_records_that_no_column_names_are_numbered(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("noisygd_delete.features.schema.schema.BLOCK_ROWS", 7)
    file = table(tmp_path, IDS["short"])
    unnamed = Schema.from_dict({key: value for key, value in FIELDS.items() if key not in ("id", "subject")})
    reading = RecordFile(unnamed, file, numbered=True)
    with Store.create_from(tmp_path / "s", reading, unnamed.with_columns(id="record"), plan_for) as store:
        assert store.records.ids == [str(k) for k in range(1, 51)]


def _bad_cell(lines: list[str]) -> None:
    lines[-2] = lines[-2].replace(",v,", ",secret,").replace(",u,", ",secret,").replace(",w,", ",secret,")


def _ragged(lines: list[str]) -> None:
    lines[-2] += ",1"


def _same_id(lines: list[str]) -> None:
    lines[-1] = ",".join(["p3", *lines[-1].split(",")[1:]])


def _same_id_then_a_bad_cell(lines: list[str]) -> None:
    lines[30] = ",".join(["p3", *lines[30].split(",")[1:]])
    _bad_cell(lines)


FAULTS = {
    "a bad cell": (_bad_cell, "line 51, column 'b'"),
    "a ragged line": (_ragged, "line 51"),
    "the same id": (_same_id, r"line 52, column 'id': the same id as line 6"),
    "the same id before a bad cell": (_same_id_then_a_bad_cell, r"line 31, column 'id': the same id as line 6"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_refused_is_told_by_its_line_and_leaves_nothing(fault: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("noisygd_delete.features.schema.schema.BLOCK_ROWS", 7)
    spoil, told = FAULTS[fault]
    lines = table(tmp_path, IDS["short"]).read_text().splitlines()
    lines.insert(1, "")  # lines are not rows
    spoil(lines)
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "empty").mkdir()
    before = sorted(tmp_path.rglob("*"))
    said = set()
    for path in ("new", "empty"):
        for attempt in (Store.create_from, dry_run):
            with pytest.raises(InvalidSchema, match=told) as caught:
                attempt(tmp_path / path, RecordFile(SCHEMA, tmp_path / "t.csv"), SCHEMA, plan_for)
            said.add(str(caught.value))
    with pytest.raises(InvalidSchema, match=told):
        SCHEMA.encode_file(tmp_path / "t.csv")
    assert len(said) == 1
    assert "secret" not in said.pop()
    assert sorted(tmp_path.rglob("*")) == before


def _refused_plan(rows: int):
    raise InvalidParameter("no plan for these")


@pytest.mark.parametrize(
    "refuse",
    [_refused_plan, lambda rows: plan_for(rows, rows_per_subject=1), lambda rows: plan_for(rows, records=49), lambda rows: plan_for(rows, features=6)],
    ids=["no plan", "rows of a person", "slots", "features"],
)  # fmt: skip
def test_so_does_what_the_plan_does_not_fit(refuse, tmp_path: Path) -> None:
    file = table(tmp_path, IDS["short"])
    before, said = sorted(tmp_path.rglob("*")), []
    for attempt in (Store.create_from, dry_run):
        with pytest.raises(NoisyGDDeleteError) as caught:
            attempt(tmp_path / "new", RecordFile(SCHEMA, file), SCHEMA, refuse)
        said.append((type(caught.value), str(caught.value)))
    assert said[0] == said[1]
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("short", ["ids", "subjects", "labels"])
def test_a_block_with_names_or_labels_for_other_rows_is_refused(short: str, tmp_path: Path) -> None:
    """One too few would be taken for the rows before it: a deletion would then erase somebody else's row."""

    class Shifted(RecordFile):
        def blocks(self, **how):
            for block in super().blocks(**how):
                cut = list(getattr(block, short))[:-1]
                yield replace(block, **{short: np.array(cut) if short == "labels" else Names.of(cut)})

    file = table(tmp_path, IDS["short"])
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidRecords):
        Store.create_from(tmp_path / "new", Shifted(SCHEMA, file), SCHEMA, plan_for)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(("plan", "error"), [(_refused_plan, InvalidParameter), (plan_for, DryRun)])
def test_what_was_written_of_rows_that_do_not_stay_is_overwritten(plan, error, tmp_path: Path) -> None:
    """Not merely removed: every byte that went to a file of rows or ids is zero when its name goes."""
    held: dict[str, bytes] = {}

    class Watching(Disk):
        def reached(self, operation: str, path: Path) -> None:
            if operation == "remove":
                held[path.name] = path.read_bytes()

    reading = RecordFile(SCHEMA, table(tmp_path, IDS["short"]))
    with pytest.raises(error):
        Store.create_from(tmp_path / "new", reading, SCHEMA, plan, disk=Watching(), dry_run=error is DryRun)
    assert not (tmp_path / "new").exists()
    assert {"features.f32", "labels.f64", "ids.names", "subjects.names"} <= held.keys()
    assert len(held["features.f32"]) >= 50 * 5 * 4
    assert not any(map(any, held.values()))


def test_names_are_overwritten_before_a_file_with_wider_names_takes_their_place(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("noisygd_delete.features.schema.schema.BLOCK_ROWS", 7)
    replaced = []

    class Watching(Disk):
        def reached(self, operation: str, path: Path) -> None:
            if operation == "rename" and path.name == "ids.names":
                replaced.append(path.exists() and any(path.read_bytes()))

    file = table(tmp_path, IDS["longer and longer"])
    Store.create_from(tmp_path / "new", RecordFile(SCHEMA, file), SCHEMA, plan_for, disk=Watching()).close()
    assert replaced
    assert not any(replaced)


def test_a_reading_that_is_interrupted_leaves_nothing_of_the_rows_and_spares_other_files(tmp_path: Path) -> None:
    file = table(tmp_path, IDS["short"])

    def interrupted(rows: int):
        (tmp_path / "new" / "notes.txt").write_text("mine")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Store.create_from(tmp_path / "new", RecordFile(SCHEMA, file), SCHEMA, interrupted)
    assert [path.name for path in (tmp_path / "new").rglob("*") if path.is_file()] == ["notes.txt"]


def test_a_place_that_is_taken_is_refused_before_the_file_is_read(tmp_path: Path) -> None:
    file = table(tmp_path, IDS["short"])
    Store.create_from(tmp_path / "s", RecordFile(SCHEMA, file), SCHEMA, plan_for).close()
    held = content(tmp_path / "s")
    file.unlink()
    with pytest.raises(StoreError, match="there is a store already"):
        Store.create_from(tmp_path / "s", RecordFile(SCHEMA, file), SCHEMA, plan_for)
    assert content(tmp_path / "s") == held


def test_an_erased_id_in_the_file_is_refused(tmp_path: Path) -> None:
    tombstones = Tombstones.create(tmp_path / "list", tmp_path / "key")
    tombstones.add(["p41"], Disk())
    for attempt in (Store.create_from, dry_run):
        with pytest.raises(NoisyGDDeleteError, match=r"1 of the 50 records .*in order of the file: 42"):
            attempt(
                tmp_path / "s",
                RecordFile(SCHEMA, table(tmp_path, IDS["short"])),
                SCHEMA,
                plan_for,
                tombstones=tombstones,
            )
        assert not (tmp_path / "s").exists()


def test_a_crash_on_the_way_is_cleared_by_beginning_again(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("noisygd_delete.features.schema.schema.BLOCK_ROWS", 7)
    file, disk = table(tmp_path, IDS["longer and longer"][:20]), CrashAt()
    Store.create_from(tmp_path / "whole", RecordFile(SCHEMA, file), SCHEMA, plan_for, disk=disk).close()
    assert ("rename", "ids.names") in disk.points  # wider cells were needed on the way
    for at in range(len(disk.points)):
        path = tmp_path / f"store-{at}"
        with pytest.raises(Crash):
            Store.create_from(path, RecordFile(SCHEMA, file), SCHEMA, plan_for, disk=CrashAt(at))
        if path.exists():
            with pytest.raises(StoreError, match="init"):
                Store.open(path)
        Store.create_from(path, RecordFile(SCHEMA, file), SCHEMA, plan_for, disk=CrashAt()).close()
        assert content(path) == content(tmp_path / "whole")


def read_whole(path, reading, schema, plan_for):
    """Planted: `Store.create_from` with the whole file in memory."""
    whole = schema.encode_file(reading.path)
    return Store.create(path, Records(whole.rows, whole.labels, whole.ids), schema, plan_for(len(whole.rows)))


def test_memory_does_not_grow_with_the_file(tmp_path: Path, monkeypatch) -> None:
    """For 2 and for 20 blocks of 2 MiB; a reading of the whole takes more for more of them."""
    for owner, name, size in (
        (schemas, "BLOCK_ROWS", 512), (files, "BLOCK_ROWS", 512), (plain_csv, "_PLAIN_PIECE", 1 << 14), (encodings, "_SLAB", 1 << 20)
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, size)
    wide = {name: {"categories": [f"v{k}" for k in range(500)]} for name in "ab"}
    schema = Schema.from_dict({"id": "id", "label": FIELDS["label"], "columns": wide})

    def peak(blocks: int, make: Callable[..., object]) -> int:
        rows = 512 * blocks
        plan = plan_for(rows, records=rows, features=schema.features, rows_per_subject=1)
        lines = (f"{k},v{k % 500},v{k % 499},{'yes' if k % 2 else 'no'}" for k in range(rows))
        (tmp_path / "t.csv").write_text("\n".join(["id,a,b,y", *lines]) + "\n")
        with memory_folder() as folder, suppress(DryRun):
            tracemalloc.start()
            make(folder / "s", RecordFile(schema, tmp_path / "t.csv"), schema, lambda rows: plan)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    room = 1.2 * peak(2, Store.create_from)
    assert peak(20, Store.create_from) < room
    assert peak(20, dry_run) < room
    assert peak(20, read_whole) > 2 * room


@pytest.mark.parametrize("dry", [False, True])
def test_only_slots_that_are_still_to_be_written_need_room(tmp_path: Path, monkeypatch, dry: bool) -> None:
    """The rows lie on the disk by then, and what they took is no longer free."""

    reading = RecordFile(SCHEMA, table(tmp_path, [f"n{k}" for k in range(100)]))
    make = dry_run if dry else Store.create_from
    free = 1000 * (20 + 8 + 8)  # of a slot: its row, its label, a word of its name
    for room, more in ((0, 0), (free, 1000)):
        monkeypatch.setattr("shutil.disk_usage", lambda _, room=room: SimpleNamespace(free=room))
        with suppress(DryRun):
            make(tmp_path / f"{more}", reading, SCHEMA, lambda rows, more=more: plan_for(rows, records=rows + more))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free - 1))
    with pytest.raises(InvalidRecords, match="1000 more slots of 20 bytes"):
        make(tmp_path / "not", reading, SCHEMA, lambda rows: plan_for(rows, records=rows + 1000))
    assert not (tmp_path / "not").exists()


@pytest.mark.parametrize("block", [7, 3000])
@pytest.mark.parametrize("map", [None, {"kind": "additive", "levels": 3}])
def test_blocks_of_a_file_are_encoded_as_its_table(map: dict | None, block: int, tmp_path: Path, monkeypatch) -> None:
    """Rows, names and counts, with unreadable cells and labels in several blocks."""
    monkeypatch.setattr("noisygd_delete.features.schema.schema.BLOCK_ROWS", block)
    lines = table(tmp_path, IDS["short"]).read_text().splitlines()
    for row, cell in ((3, -2), (17, -2), (18, -1), (30, -2), (41, -1)):
        cells = lines[row].split(",")
        cells[cell] = "?"
        lines[row] = ",".join(cells)
    file = tmp_path / "odd.csv"
    file.write_text("\n".join(lines) + "\n")
    schema = Schema.from_dict({**FIELDS, **({} if map is None else {"map": map})})
    for labelled in (True, False):
        whole, kept, faults = schema.encode_readable(read_table(file), labelled=labelled, coded=True)
        found, places, wrong = schema.encode_readable_file(file, labelled=labelled)
        assert places.tolist() == kept
        assert len(kept) < len(lines) - 1
        assert sorted(describe_faults(wrong)) == sorted(describe_faults(faults))
        assert np.array_equal(np.asarray(found.rows), np.asarray(whole.rows))
        assert found.labels.tolist() == whole.labels.tolist()
        assert (found.ids, found.clipped, found.unknown) == (whole.ids, whole.clipped, whole.unknown)
