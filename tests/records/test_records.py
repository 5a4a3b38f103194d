"""The table: slots, ids, subjects; a request changes everything it names, or nothing."""

from __future__ import annotations

import numpy as np
import pytest

from noisygd_delete import EditRequest, Records
from noisygd_delete.errors import InvalidRecords, InvalidRequest


@pytest.fixture
def records() -> Records:
    rows, labels = [[0.6, 0.8], [1.0, 0.0], [0.0, 1.0], [0.3, 0.4]], [1, -1, 1, -1]
    return Records(rows, labels, ids=["a", "b", 7, "d"], subjects=["p", "q", "p", "r"], slots=6)


def snapshot(records: Records):
    names = records.ids_by_slot, records.subjects_by_slot, records.next_id
    return records.features.tobytes(), records.labels.tobytes(), *names


def test_deletion_writes_the_null_record(records: Records) -> None:
    assert records.edit(EditRequest.delete(["b", 7])) == 2
    assert records.ids == ["a", "d"]
    assert len(records) == 2
    assert records.slots == 6
    assert not records.features[1].any()
    assert not records.labels[2]
    assert "b" not in records
    assert records.subjects_by_slot == ["p", None, None, "r", None, None]


def test_deletion_by_subject_takes_every_row(records: Records) -> None:
    assert records.rows_per_subject == 2
    assert records.edit(EditRequest.delete(subjects=["p"])) == 2
    assert records.ids == ["b", "d"]
    assert records.rows_per_subject == 1


def test_replacement_keeps_id_and_subject(records: Records) -> None:
    records.edit(EditRequest.replace({"a": ([0.0, 0.5], -1)}))
    assert records.features[0].tolist() == [0.0, 0.5]
    assert records.labels[0] == -1
    assert records.ids[0] == "a"
    assert records.subjects_by_slot[0] == "p"


def test_insertion_fills_free_slots_and_never_reuses_a_number(records: Records) -> None:
    records.edit(EditRequest.delete([7]))
    records.edit(EditRequest.insert(None, [[1, 0], [0, 1]], [1, 1], subjects=["s", "s"]))
    assert records.ids == ["a", "b", 8, "d", 9]  # 7 was erased; its number is not given out again


def test_apply_leaves_the_original_alone(records: Records) -> None:
    before = snapshot(records)
    edited = records.apply(EditRequest.delete(["a"]))
    assert snapshot(records) == before
    assert "a" not in edited


def test_views_are_read_only(records: Records) -> None:
    with pytest.raises(ValueError, match="read-only"):
        records.features[0, 0] = 3
    with pytest.raises(ValueError, match="read-only"):
        records.labels[0] = 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EditRequest.delete(["zz"]), "'zz' is not in the table"),
        (lambda: EditRequest.delete([]), "empty"),
        (lambda: EditRequest.delete(["a", "a"]), "more than once"),
        (lambda: EditRequest.delete("a"), "must be a list of ids"),
        (lambda: EditRequest.delete([1.5]), "whole number or a string"),
        (lambda: EditRequest.delete([True]), "whole number or a string"),
        (lambda: EditRequest.delete(["a"], subjects=["p"]), "twice"),
        (lambda: EditRequest.delete(subjects=["nobody"]), "'nobody' has no row"),
        (lambda: EditRequest.delete(["a"], request_id=" "), "request_id"),
        (lambda: EditRequest.replace({"a": ([1, 2, 3], 1)}), "3 values"),
        (lambda: EditRequest.replace({"zz": ([1, 0], 1)}), "'zz' is not in the table"),
        (lambda: EditRequest.replace({"a": ([1, np.nan], 1)}), "NaN"),
        (lambda: EditRequest.replace({"a": ([1, np.inf], 1)}), "NaN"),
        (lambda: EditRequest.replace({"a": (["x", "y"], 1)}), "must hold numbers"),
        (lambda: EditRequest.replace({"a": 3}), "pair"),
        (lambda: EditRequest.insert(["a"], [[0, 1]], [1], subjects=["p"]), "in use"),
        (lambda: EditRequest.insert(["n"], [[0, 1]], [1]), "subjects"),
        (lambda: EditRequest.insert(["n"], [[0, 1, 2]], [1], subjects=["p"]), "3 values"),
        (lambda: EditRequest.insert(["n", "m"], [[0, 1]], [1], subjects=["p"]), "one id per row"),
        (lambda: EditRequest.insert(["n"], [[0, 1]], [1, 2], subjects=["p"]), "shape"),
        (lambda: EditRequest.insert(None, [[0, 1]] * 3, [1] * 3, subjects=["p"] * 3), "do not fit"),
        (lambda: EditRequest.insert(None, np.zeros((0, 2)), [], subjects=[]), "empty"),
    ],
)
def test_bad_requests_change_nothing(records: Records, make, message: str) -> None:
    before = snapshot(records)
    with pytest.raises(InvalidRequest, match=message):
        records.edit(make())
    assert snapshot(records) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[np.nan, 1]], [1]), "NaN"),
        (([[np.inf, 1]], [1]), "NaN"),
        (([["a", "b"]], [1]), "must hold numbers"),
        (([[1, 2]], ["yes"]), "must hold numbers"),
        (([[1e300, 1]], [1]), "too large"),
        (([1, 2], [1, 1]), "shape"),
        (([[1, 2], [1]], [1, 1]), "rectangular"),
        (([[1, 2]], [1, 1]), "shape"),
        (([[1, 2]], [1], ["a", "b"]), "one id per row"),
        (([[1, 2], [3, 4]], [1, 1], ["a", "a"]), "more than once"),
        (([[1, 2], [3, 4]], [1, 1], None, ["p"]), "one subject per row"),
        (([[1, 2]], [1], None, None, 0), "slots"),
        (([[1, 2]], [1], None, None, 2.5), "slots"),
    ],
)
def test_bad_tables_are_refused(arguments, message: str) -> None:
    with pytest.raises(InvalidRecords, match=message):
        Records(*arguments)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: EditRequest.delete(["\ud800"]),
        lambda: EditRequest.delete(["x"], request_id="\udcff"),
        lambda: EditRequest.insert(["\udfff"], [[0.0]], [1.0]),
        lambda: EditRequest.insert(["x"], [[0.0]], [1.0], subjects=["a\ud800"]),
        lambda: EditRequest(subjects=("\ud800",)),
    ],
)
def test_text_that_no_file_can_hold_is_refused_before_it_reaches_one(ask) -> None:
    """Half a surrogate pair passes through JSON and file names, and would fail only when the journal is carried out."""
    with pytest.raises(InvalidRequest, match="not Unicode text"):
        ask()
    with pytest.raises(InvalidRecords, match="not Unicode text"):
        Records([[0.0]], [1.0], ["\ud800"])


def test_a_text_that_fills_memory_or_a_message_is_refused() -> None:
    long = "x" * 1001
    for ask in (
        lambda: EditRequest.delete([long]),
        lambda: EditRequest.delete(subjects=[long]),
        lambda: EditRequest.delete(["a"], request_id=long),
    ):
        with pytest.raises(InvalidRequest, match="1001 characters") as caught:
            ask()
        assert len(str(caught.value)) < 200
    assert EditRequest.delete([long[1:]]).deletions == (long[1:],)
