"""The files of a table against a dict of its records: what an edit writes, that nothing of the former content stays, and what is refused."""

from __future__ import annotations

import os
import random
import secrets
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from noisygd_delete import EditRequest, Records
from noisygd_delete.errors import StoreCorrupt
from noisygd_delete.records import CodedRows
from noisygd_delete.store import equal_rows as comparison
from noisygd_delete.store import file_footer, names, training_table
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.equal_rows import equal_rows
from noisygd_delete.store.layout import Layout

from .conftest import patch
from .test_coded import CODEC
from .test_coded import codes as some_codes

WIDTH, SLOTS = 3, 24
LENGTHS = [4, 22, 23, 24, 25, 300, 1000]  # bytes; a cell of the narrowest table holds 23
Held = dict[str, tuple[str, bytes, float]]


def new_name(chance: random.Random, number: int) -> str:
    """A name of one of the lengths, some of letters of two bytes, that occurs once."""
    head = f"{number:04x}"
    rest = chance.choice(LENGTHS) - len(head)
    return head + ("é" * (rest // 2) + "z" * (rest % 2) if chance.random() < 0.5 else "y" * rest)


def whole(layout: Layout, *, with_subjects: bool = True) -> Held:
    """What the files hold, slot by slot."""
    table = training_table.load_table(layout, SLOTS, WIDTH, with_subjects=with_subjects)
    owners = table.subjects_by_slot or [None] * SLOTS
    slots = zip(table.ids_by_slot, owners, table.features, table.labels, strict=True)
    free = [(owner, row.any(), label) for who, owner, row, label in slots if who is None]
    assert set(free) <= {(None, False, 0.0)}
    slots = zip(table.ids_by_slot, owners, table.features, table.labels, strict=True)
    return {who: (owner, row.tobytes(), float(label)) for who, owner, row, label in slots if who is not None}


def long_names(held: Held) -> int:
    """The number of names that fit into no cell."""
    return sum(len(name.encode()) > 23 for who, (owner, _, _) in held.items() for name in (who, owner) if name)


def begin(layout: Layout, records: Records) -> None:
    training_table.write_table(Disk(), layout, records)
    file_footer.attach(Disk(), layout, {path: path.stat().st_size for path in file_footer.files(layout)})


@pytest.mark.parametrize("with_subjects", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_a_table_on_disk_is_the_dict_of_its_records(
    seed: int, with_subjects: bool, tmp_path: Path, monkeypatch
) -> None:
    """Each edit is made twice, as after a crash; names of every length take the slots of one another."""
    monkeypatch.setattr(names, "_BLOCK", 5)
    monkeypatch.setattr(training_table, "_BLOCK", 7)
    chance, layout, number = random.Random(seed), Layout(tmp_path), 16
    rows = np.random.default_rng(seed).random((200, WIDTH)).astype(np.float32)
    ids = [f"{k:04x}first" for k in range(16)]
    owners = [f"own-{k:04x}" for k in range(16)] if with_subjects else None
    begin(layout, Records(rows[:16], np.arange(16) + 0.5, ids, owners, slots=SLOTS))
    held: Held = {who: (owners and f"own-{k:04x}", rows[k].tobytes(), k + 0.5) for k, who in enumerate(ids)}  # type: ignore[misc]
    assert whole(layout, with_subjects=with_subjects) == held
    most = 0
    for _ in range(12):
        before = long_names(held)
        table = training_table.load_table(layout, SLOTS, WIDTH, with_subjects=with_subjects)
        gone = chance.sample(sorted(held), min(len(held), chance.randrange(4)))
        corrected = chance.sample(sorted(set(held) - set(gone)), min(len(held) - len(gone), chance.randrange(3)))
        come = [new_name(chance, number + k) for k in range(min(SLOTS - len(held), chance.randrange(5)))]
        if not (gone or corrected or come):
            continue
        persons = [f"own-{who}"[:1000] for who in come] if with_subjects else None
        fresh, number = iter(rows[number : number + 9]), number + 9
        values = {who: (next(fresh), chance.random()) for who in (*corrected, *come)}
        added = None
        if come:
            new = [[values[who][part] for who in come] for part in (0, 1)]
            added = EditRequest.insert(come, *new, subjects=persons).insertion
        request = EditRequest(tuple(gone), replacements={who: values[who] for who in corrected}, insertion=added)
        edits, stamp = table.resolve(request), secrets.token_hex(16)
        slots = [table.ids_by_slot.index(who) for who in corrected]
        erased = [name for who in gone for name in (who[:24], held[who][0]) if name] + [
            held[who][1] for who in (*gone, *corrected)
        ]
        for _ in range(2):
            training_table.apply_to_table(Disk(), layout, edits, stamp)
        for who in gone:
            del held[who]
        for who, owner in zip(come, persons or [None] * len(come), strict=True):  # type: ignore[arg-type]
            held[who] = (owner, values[who][0].tobytes(), values[who][1])  # type: ignore[assignment]
        for who in corrected:
            held[who] = (held[who][0], values[who][0].tobytes(), values[who][1])
        assert whole(layout, with_subjects=with_subjects) == held
        files = {path: path.read_bytes() for path in layout.holding_rows()}
        assert not [
            what for what in erased if (what.encode() if isinstance(what, str) else what) in b"".join(files.values())
        ]
        assert not names.stray(layout)
        ties = [file_footer.tie_of(path) for path in file_footer.files(layout)]
        assert {tie and tie.stamp.hex() for tie in ties} == {stamp}
        long = long_names(held)
        most = max(most, before + 2 * long_names({who: held[who] for who in (*come, *corrected)}))  # it was made twice
        assert long <= names.pieces_in(layout) // 4096 <= most, "pieces are used again"
        again = training_table.load_table(layout, SLOTS, WIDTH, with_subjects=with_subjects)
        assert [again.names[slot] for slot in slots] == corrected


def test_texts_in_place_of_numbers_are_written(tmp_path: Path) -> None:
    """A table of numbered records whose every record was replaced by a named one."""
    table_of = Records(np.zeros((2, 3)), np.zeros(2))
    table_of.edit(EditRequest.delete([0, 1]))
    table_of.edit(EditRequest.insert(["a", "long" * 90], np.zeros((2, 3)), np.zeros(2)))
    layout = Layout(tmp_path)
    training_table.write_table(Disk(), layout, table_of)
    written = training_table.load_table(layout, 2, WIDTH, with_subjects=False)
    assert written.ids_by_slot == ["a", "long" * 90]


@pytest.mark.parametrize("letter", ["a", "é", "𝔞"])
def test_a_cell_is_text_followed_by_zeros(letter: str, tmp_path: Path, monkeypatch) -> None:
    """Names of every length, in one block with one another and alone; a byte behind any of them, or half a letter, is found."""
    monkeypatch.setattr(names, "_BLOCK", 3)
    size = len(letter.encode())
    texts = [letter * k + "x" * pad for k in range(23 // size + 1) for pad in (0, 1) if 0 < k * size + pad <= 23]
    layout = Layout(tmp_path)
    training_table.write_table(Disk(), layout, Records(np.zeros((len(texts), 1)), np.zeros(len(texts)), texts))
    good = layout.ids.read_bytes()

    def loaded() -> list[str]:
        return list(names.load(layout, names.IDS, len(texts)))

    assert loaded() == texts
    for slot, text in enumerate(texts):
        first, length = file_footer.HEAD + 24 * slot, len(text.encode())
        damages = [(first + at, b"\1") for at in {length, 22} if length <= at < 23]
        damages += [(first + 23, bytes([26]))]  # a length beyond the cell
        damages += [(first + 23, good[first + 23 : first + 24].translate(SHORTER))] * (size > 1 and text[-1] == letter)
        damages += [(first, b"\xff")]
        for at, data in damages:
            patch(layout.ids, at, data)
            with pytest.raises(StoreCorrupt):
                loaded()
            layout.ids.write_bytes(good)
        patch(layout.ids, first, bytes(23) + b"\1")  # the name is elsewhere, and is not
        with pytest.raises(StoreCorrupt):
            loaded()
        layout.ids.write_bytes(good)
    for words in (b"4", b"", b"3.0", b"33"):
        patch(layout.ids, len(file_footer.MAGIC), words + b"\n\0\0")
        with pytest.raises(StoreCorrupt):
            loaded()
        layout.ids.write_bytes(good)
    assert loaded() == texts


SHORTER = bytes(max(0, byte - 1) for byte in range(256))


def test_a_long_name_is_where_its_cell_says(tmp_path: Path) -> None:
    layout, ids = Layout(tmp_path), ["short", "l" * 500, "other"]
    begin(layout, Records(np.zeros((3, 1)), np.zeros(3), ids))
    good = layout.long.read_bytes()
    assert list(names.load(layout, names.IDS, 3)) == ids
    assert not names.stray(layout)
    for at, data in ((0, b"\3"), (0, bytes(4)), (4, b"\2"), (8, b"\xff")):  # another slot, none, a person's, no text
        patch(layout.long, at, data)
        with pytest.raises(StoreCorrupt):
            names.load(layout, names.IDS, 3)
        assert names.stray(layout) == (data == bytes(4))
        layout.long.write_bytes(good)


def test_a_footer_is_read_from_either_of_its_copies(tmp_path: Path) -> None:
    path, tie = tmp_path / "file", file_footer.FileFooter(secrets.token_bytes(16), 7, "ab" * 32)
    body = b"some rows, and what ties them"
    path.write_bytes(body + b"".join(data for _, data in tie.at(len(body))))
    good = path.read_bytes()
    assert len(good) == len(body) + file_footer.SIZE
    assert [place for place, _ in tie.at(len(body))] == [len(body), len(body) + file_footer.SIZE // 2]
    assert (file_footer.tie_of(path), file_footer.length_of(path)) == (tie, len(body))
    assert tie.at_end(path) == tie.at(len(body))
    half = file_footer.SIZE // 2
    for at in range(0, 104, 3):  # a magic number, what is tied, and its checksum
        for copies, expected in ((0,), tie), ((1,), tie), ((0, 1), None):
            for copy in copies:
                patch(path, len(body) + copy * half + at, bytes([good[len(body) + at] ^ 4]))
            assert file_footer.tie_of(path) == expected
            path.write_bytes(good)
    for short in (good[:-1], good[: file_footer.SIZE - 1], b""):
        path.write_bytes(short)
        assert file_footer.tie_of(path) is None
        assert file_footer.length_of(path) == len(short)
        assert tie.at_end(path) == []
    path.write_bytes(good[len(body) :])
    assert file_footer.tie_of(path) == tie


@pytest.mark.parametrize("coded", [False, True])
def test_a_table_of_other_sizes_is_refused(coded: bool, tmp_path: Path) -> None:
    layout, codec = Layout(tmp_path), CODEC if coded else None
    held = Records(
        CODEC.decode(np.stack([some_codes(k) for k in range(4)])) if coded else np.ones((4, WIDTH)),
        np.ones(4),
        list("abcd"),
        list("wxyz"),
    )
    begin(layout, held.as_codes(CODEC) if coded else held)
    width = held.width

    def load(slots: int = 4, width: int = width) -> Records:
        return training_table.load_table(layout, slots, width, with_subjects=True, codec=codec)

    assert load().ids_by_slot == list("abcd")
    assert isinstance(load().coded_rows, CodedRows) == coded
    for wrong in ((3, width), (5, width), *([] if coded else [(4, width - 1), (4, width + 1)])):
        with pytest.raises(StoreCorrupt):
            load(*wrong)
    for path in layout.holding_rows():
        good = path.read_bytes()
        if path == layout.long:
            continue
        for size in (len(good) - 1, len(good) + 1):
            os.truncate(path, size)
            with pytest.raises(StoreCorrupt):
                load()
            path.write_bytes(good)
        os.truncate(path, len(good) - file_footer.SIZE)
        assert load().ids_by_slot == list("abcd"), "a table that is being made has no footers"
        path.write_bytes(good)
        moved = path.rename(tmp_path / "moved")
        for _ in range(2):
            with pytest.raises(StoreCorrupt):
                load()
            path.unlink(missing_ok=True)
            path.symlink_to(moved)
        path.unlink()
        moved.rename(path)
    patch(layout.subjects, file_footer.HEAD, bytes(24))
    with pytest.raises(StoreCorrupt, match="does not belong"):
        load()


def slots_of(table: Records) -> list[tuple]:
    owners = table.subjects_by_slot or [None] * table.slots
    return list(zip(table.ids_by_slot, owners, np.asarray(table.features).tolist(), table.labels.tolist(), strict=True))


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize("more", [0, 1, 5])
def test_free_slots_are_appended(more: int, owned: bool, coded: bool) -> None:
    rows = CODEC.decode(np.stack([some_codes(k) for k in range(3)])) if coded else np.ones((3, WIDTH))
    held = Records(rows, [1.0, -1.0, 1.0], list("abc"), list("xyz") if owned else None, slots=4)
    held = held.as_codes(CODEC) if coded else held
    grown = training_table.with_slots(held, 4 + more)
    assert (grown is held) == (more == 0)
    assert (grown.slots, len(grown), isinstance(grown.coded_rows, CodedRows)) == (4 + more, 3, coded)
    assert slots_of(grown) == [*slots_of(held), *[(None, None, [0.0] * held.width, 0.0)] * more]


@pytest.mark.parametrize("kind", ["dense", "coded", "coded in a table of features"])
@pytest.mark.parametrize("seed", range(3))
def test_equal_rows_are_counted_as_one_by_one(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few values, so that rows repeat in both; labels that differ alone; blocks of few rows; keys under which all hashes are equal at first."""
    rng, drawn = np.random.default_rng(seed), []
    monkeypatch.setattr(comparison, "_AT_ONCE", 60)
    monkeypatch.setattr(training_table, "_PART", 7)
    right = secrets.token_bytes
    monkeypatch.setattr(
        secrets, "token_bytes", lambda size: drawn.append(size) or (bytes(size) if len(drawn) == 1 else right(size))
    )
    count = 40
    some = np.stack([some_codes(k) for k in range(7)])
    pick = rng.integers(0, 4, 2 * count) + np.repeat([0, 2], count)
    pick[[count - 2, -1]] = 6  # one of a kind, at the end of the table
    dense = kind == "dense"
    rows = rng.integers(0, 2, (2 * count, 3)).astype(np.float32) if dense else CODEC.decode(some[pick])
    if dense:
        rows[[count - 2, -1]] = 9
    labels = rng.integers(0, 2, 2 * count).astype(float)
    labels[[count - 2, -1]] = 1.0
    held = Records(rows[:count], labels[:count], [f"i{k}" for k in range(count)], slots=count + 3)
    if kind == "coded":
        held = held.as_codes(CODEC)
    held.edit(EditRequest.delete([f"i{k}" for k in range(0, count, 3)]))
    asked = rows[count:] if dense else CodedRows(some[pick[count:]], CODEC)
    encoded = SimpleNamespace(rows=asked, labels=labels[count:])
    used = held.occupied
    there = {
        (row.tobytes(), label)
        for row, label in zip(np.asarray(held.features, np.float32)[used], held.labels[used], strict=True)
    }
    given = zip(np.asarray(rows[count:], np.float32), labels[count:], strict=True)
    expected = sum((row.tobytes(), label) in there for row, label in given)
    assert 0 < expected < count
    assert equal_rows(training_table.table_parts(held), encoded) == expected
    assert len(drawn) == 2, "drawn again, since different rows had equal hashes"
    none = SimpleNamespace(rows=asked[:0] if dense else asked.select(slice(0, 0)), labels=labels[:0])
    assert equal_rows(training_table.table_parts(held), none) == 0
