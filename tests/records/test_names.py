"""Names in cells against a plain list of names: every question has the same answer, whatever the names and the edits."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisygd_delete import Records
from noisygd_delete.errors import InvalidRecords
from noisygd_delete.records import Names, names
from noisygd_delete.records import names as all_cells
from noisygd_delete.records.similar import fold_name

TEXTS = st.text(max_size=12) | st.text("aé\0", min_size=15, max_size=60) | st.integers(200, 400).map(lambda n: "x" * n)
NUMBERS = st.integers(-3, 9) | st.integers() | st.sampled_from([2**64 - 1, 2**64 - 2, 2**64 - 3])
LISTS = st.one_of(
    st.lists(st.none() | TEXTS, max_size=30),
    st.lists(st.none() | NUMBERS, max_size=30),
    st.lists(st.none() | NUMBERS | TEXTS, max_size=30),
)


def encodable(listed: list) -> list:
    return [name.encode("utf-8", "replace").decode() if isinstance(name, str) else name for name in listed]


def alike(found: Names, listed: list) -> None:
    """Every answer of `found` is that of the list."""
    assert list(found) == listed
    assert [found[slot] for slot in range(len(listed))] == listed
    assert found == listed
    assert len(found) == len(listed)
    assert found.is_set.tolist() == [name is not None for name in listed]
    assert found.free(3) == [slot for slot, name in enumerate(listed) if name is None][:3]
    assert found.highest == max([-1, *(name for name in listed if isinstance(name, int))])
    present = [name for name in listed if name is not None]
    assert found.most_alike == max(Counter(present).values(), default=0)
    first = next((name for place, name in enumerate(present) if name in present[:place]), None)
    assert found.first_duplicate == first
    assert found.only_texts == all(isinstance(name, str) for name in present)
    for wanted in ([], ["aé", 7], present[::2], [*present, "absent"]):
        assert found.find(wanted).tolist() == [
            s for s, name in enumerate(listed) if name in wanted and name is not None
        ]
    assert all(name in found for name in present[:3])
    assert None not in found
    assert "\0absent" not in found


@settings(deadline=None, max_examples=80)
@given(LISTS, st.lists(st.tuples(st.integers(0, 29), st.none() | TEXTS | NUMBERS), max_size=6))
def test_names_are_a_list_of_names(listed, edits) -> None:
    listed = encodable(listed)
    found = Names.of(listed)
    alike(found, listed)
    copied = found.copy()
    for slot, name in edits:
        if slot < len(listed):
            listed[slot] = encodable([name])[0]
            found.set_name(slot, listed[slot])
    alike(found, listed)
    alike(copied.with_free_slots(2), [*copied, None, None])
    alike(Names.concatenate([copied, found]), [*copied, *listed])


def test_numbers_from_nought_take_a_word_each() -> None:
    """The default ids of a table: 8 bytes a row, where a list of Python's numbers took 36."""
    found = Names.of(range(1000))
    assert found.cells.nbytes == 8000
    assert not found.others
    alike(found, list(range(1000)))
    assert Names.of(range(5, 9)) == [5, 6, 7, 8]
    assert Names.of(range(0, 9, 4)) == [0, 4, 8]
    assert Names.of(range(-2, 1)) == [-2, -1, 0]


def test_names_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (names, all_cells):
        monkeypatch.setattr(module, "hash_cells", lambda cells: np.zeros(len(cells), np.uint64))
    alike(Names.of(["a", "b", None, "a", "c"]), ["a", "b", None, "a", "c"])
    alike(Names.of(["a", "b", None, "c"]), ["a", "b", None, "c"])
    alike(Names.of([4, 5, None, 4]), [4, 5, None, 4])


def test_half_a_surrogate_pair_can_be_looked_for() -> None:
    assert "\ud800" not in Names.of(["a", None])
    alike(Names.of(["\ud800", "b"]), ["\ud800", "b"])


def test_a_table_takes_names_as_they_are() -> None:
    rows, labels = np.zeros((3, 2)), np.zeros(3)
    table = Records(rows, labels, Names.of(["a", "b", "c"]), Names.of(["p", "p", "q"]), slots=5)
    assert table.ids == ["a", "b", "c"]
    assert table.rows_per_subject == 2
    with pytest.raises(InvalidRecords, match="more than once"):
        Records(rows, labels, Names.of(["a", "b", "a"]))
    for long in ("ids", "subjects"):
        with pytest.raises(InvalidRecords, match=f"{long} contains a text of 1001 characters"):
            Records(rows, labels, **{"ids": ["a", "b", "c"], long: Names.of(["x" * 1001, "b", "c"])})
    with pytest.raises(InvalidRecords, match="has no id"):
        Records(rows, labels, Names.of(["a", None, "c"]))
    with pytest.raises(InvalidRecords, match="one subject per row"):
        Records(rows, labels, Names.of(["a", "b", "c"]), Names.of(["p", None, "q"]))


def test_a_name_that_lay_elsewhere_is_found_again_in_a_wider_cell() -> None:
    """Blocks of a file have cells of their own width: one id is too long for the first block's and fits the second's."""
    long = "x" * 30
    short = Names.of([*(f"s{k}" for k in range(3000)), long])
    wide = Names.of([*(f"y{k:029d}" for k in range(3000)), long])
    assert (short.others, wide.others) == ({3000: long}, {})
    joined = Names.concatenate([short, wide])
    assert joined.first_duplicate == long
    assert joined.first_repeat == (3000, 6001)
    assert joined.most_alike == 2
    assert not joined.others
    with pytest.raises(InvalidRecords, match="more than once"):
        Records(np.zeros((6002, 1)), np.zeros(6002), joined)


@pytest.mark.parametrize("share", [1, 7, 100])
def test_names_are_compared_a_share_at_a_time(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_cells, "_SHARE", share)
    monkeypatch.setattr(all_cells, "_BLOCK", 5)
    listed = [f"p{k}" for k in range(40)]
    alike(Names.of(listed), listed)
    alike(Names.of([*listed, "p3", "p2", None, "p3"]), [*listed, "p3", "p2", None, "p3"])
    assert Names.of([*listed, "p3", "p2"]).first_repeat == (3, 40)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.text("aA0b1e-.", max_size=5) | st.text("0123", max_size=3) | TEXTS | NUMBERS, max_size=40))
def test_names_that_look_alike_are_counted_as_their_folded_forms(listed) -> None:
    listed = encodable(listed)
    counts = Counter(map(fold_name, listed))
    assert Names.of(listed).count_alike() == sum(count for count in counts.values() if count > 1)


@settings(deadline=None, max_examples=40)
@given(LISTS, st.randoms(use_true_random=False))
def test_chosen_names_are_those_of_the_chosen_slots(listed, random) -> None:
    listed = encodable(listed)
    kept = np.array([random.random() < 0.5 for _ in listed], bool)
    alike(Names.of(listed).select(kept), [name for name, stays in zip(listed, kept, strict=True) if stays])
