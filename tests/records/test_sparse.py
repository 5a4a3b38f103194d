"""Sparse rows: the table of dense ones, edits that leave nothing of a row behind, and arrays that contradict each other refused."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from noisygd_delete import EditRequest, Records
from noisygd_delete.errors import InvalidParameter, InvalidRecords, InvalidRequest
from noisygd_delete.records import SparseRows
from noisygd_delete.records.records import check_size

WIDTH = 7
VALUES = st.sampled_from([0.0, -0.0, 0.5, -0.25, 1.0, 1e-40, 0.1, -3.0])
TRIPLES = st.lists(st.tuples(st.integers(0, WIDTH - 1), VALUES), max_size=10)  # in any order, columns named again


@st.composite
def tables(draw):
    """Arrays of a CSR matrix as a caller may have them, and the table they stand for by plain loops."""
    rows = draw(st.lists(TRIPLES, min_size=1, max_size=6))
    whole = np.zeros((len(rows), WIDTH))
    for slot, row in enumerate(rows):
        for column, value in row:
            whole[slot, column] += value
    flat = [pair for row in rows for pair in row]
    kind = draw(st.sampled_from([np.int32, np.int64]))
    columns = np.array([column for column, _ in flat], kind)
    starts = np.cumsum([0, *map(len, rows)]).astype(kind)
    data = np.array([value for _, value in flat], draw(st.sampled_from([np.float64, np.float32])))
    return draw(st.sampled_from([sparse.csr_matrix, sparse.csr_array]))((data, columns, starts), whole.shape), whole


@given(tables())
@settings(max_examples=80, deadline=None)
def test_a_sparse_table_is_the_table_of_its_values(given_table) -> None:
    """Empty rows, columns named twice or in disorder, zeros written out, values too small to count, both kinds of index."""
    matrix, whole = given_table
    before = matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy()
    records = Records(matrix, np.ones(len(whole)), slots=len(whole) + 2)
    for mine, theirs in zip(before, (matrix.data, matrix.indices, matrix.indptr), strict=True):
        np.testing.assert_array_equal(mine, theirs)  # the caller's arrays are as they were
    expected = np.zeros((len(whole) + 2, WIDTH), np.float32)
    expected[: len(whole)] = np.where(np.abs(whole) < 2.0**-100, 0, whole)
    np.testing.assert_allclose(records.sparse.written_out(), expected, rtol=1e-6, atol=1e-7)
    assert records.sparse._data.all()
    assert (records.width, records.slots) == (WIDTH, len(whole) + 2)


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_edits_leave_what_they_leave_in_a_dense_table(data) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    whole = np.where(rng.random((9, WIDTH)) < 0.4, rng.standard_normal((9, WIDTH)), 0)
    thin, dense = (Records(rows, np.ones(9), slots=11) for rows in (sparse.csr_array(whole), whole))
    new = np.where(rng.random((6, WIDTH)) < 0.4, rng.standard_normal((6, WIDTH)), 0)
    order = rng.permutation(9).tolist()
    requests = [
        EditRequest.delete(order[:2]),
        EditRequest.replace({order[2]: (new[0], 1.0), order[3]: (sparse.csr_array(new[1:2]), -1.0)}),
        EditRequest.insert(["x", "y"], sparse.csr_matrix(new[2:4]), [1.0, -1.0]),
        EditRequest.insert(["z"], new[4:5], [1.0]),
        EditRequest.delete(["x", order[4]]),
    ]
    for request in requests:
        copy = thin.apply(request)
        assert thin.edit(request) == dense.edit(request)
        for held in (thin, copy):
            np.testing.assert_array_equal(held.sparse.written_out(), dense.features)
            np.testing.assert_array_equal(held.labels, dense.labels)
            assert held.ids_by_slot == dense.ids_by_slot
        assert len(thin.sparse._data) == np.count_nonzero(dense.features)  # no place is left where a value was


# -- nothing of an erased row is left --------------------------------------------------------------------------------------

MARKED = 40
MARKS = np.arange(1, 6, dtype=np.float32) / 7 + np.float32(0.01), np.arange(90_001, 90_006, dtype=np.int32)


def with_a_marked_row() -> Records:
    rng = np.random.default_rng(5)
    rows = [(rng.random(8), rng.choice(90_000, 8, replace=False)) for _ in range(100)]
    rows[MARKED] = MARKS
    data, columns = (np.concatenate(arrays) for arrays in zip(*rows, strict=True))
    starts = np.cumsum([0, *(len(values) for values, _ in rows)])
    return Records(sparse.csr_matrix((data, columns, starts), (100, 100_000)), np.ones(100))


def arrays_of(root) -> list[np.ndarray]:
    """Every array that the object leads to."""
    seen, found, left = {id(root)}, [], [root]
    while left:
        for other in gc.get_referents(left.pop()):
            if id(other) in seen or isinstance(other, type) or type(other).__name__ in ("module", "function"):
                continue
            seen.add(id(other))
            left.append(other)
            if isinstance(other, np.ndarray):
                found.append(other)
    return found


def marks_in(arrays) -> int:
    """How many of the arrays hold a value or a column of the marked row, byte for byte."""
    return sum(any(one.tobytes() in array.tobytes() for marks in MARKS for one in marks) for array in arrays)


def test_an_erased_row_is_in_no_array() -> None:
    """Neither in the table's nor in those that it was made of, which somebody may still hold."""
    records = with_a_marked_row()
    held = arrays_of(records)
    assert marks_in(held) == 2
    records.edit(EditRequest.delete([MARKED]))
    assert marks_in(arrays_of(records)) == 0
    assert marks_in(held) == 0
    assert len(records.sparse._data) == 99 * 8
    assert not np.diff(records.sparse._starts)[MARKED]


def kept_aside(rows, slots, new) -> None:
    rows.before = rows.copy()
    PUT(rows, slots, new)


def left_in_place(rows, slots, new) -> None:
    for slot in slots:
        rows._data[rows._starts[slot] : rows._starts[slot + 1]] = 0


PUT = SparseRows.write_rows


@pytest.mark.parametrize("fault", [kept_aside, left_in_place])
def test_a_row_that_is_kept_is_found(fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparseRows, "write_rows", fault)
    records = with_a_marked_row()
    records.edit(EditRequest.delete([MARKED]))
    assert marks_in(arrays_of(records)) > 0


# -- refused ---------------------------------------------------------------------------------------------------------------


def csr(data=(1.0, 2.0), columns=(0, 1), starts=(0, 1, 2), shape=(2, 2)):
    matrix = sparse.csr_matrix(shape)
    matrix.data, matrix.indices, matrix.indptr = (
        np.array(data),
        np.array(columns, np.int32),
        np.array(starts, np.int32),
    )
    return matrix


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (csr(data=(1.0, np.nan)), "NaN or infinite"),
        (csr(data=(1.0, np.inf)), "NaN or infinite"),
        (csr(data=(True, False)), "must hold numbers"),
        (csr(data=(1j, 2.0)), "must hold numbers"),
        (csr(data=(1e39, 2.0)), "too large for float32"),
        (csr(data=(3e38, 3e38), columns=(0, 0), starts=(0, 2, 2)), "too large for float32"),
        (csr(columns=(0, 5)), "no table of sparse rows"),
        (csr(columns=(0, -1)), "no table of sparse rows"),
        (csr(starts=(0, 2, 1)), "no table of sparse rows"),
        (sparse.coo_array(np.ones(3)), r"must be \(rows, features\)"),
    ],
)
def test_other_arrays_are_refused(matrix, message: str) -> None:
    with pytest.raises(InvalidRecords, match=message):
        Records(matrix, [1.0, -1.0])


def test_a_part_is_a_view_that_nobody_may_change() -> None:
    records = Records(sparse.csr_matrix(np.eye(3)), np.ones(3))
    part = records.sparse.part(0, 2)
    for array, own in ((part.data, records.sparse._data), (part.indices, records.sparse._columns)):
        assert np.shares_memory(array, own)
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 2
    np.testing.assert_array_equal(part @ np.eye(3), np.eye(3)[:2])


def test_what_reads_rows_with_their_zeros_says_so() -> None:
    records = Records(sparse.csr_matrix(np.eye(3)), np.ones(3))
    with pytest.raises(InvalidParameter, match=r"sparse: they are learned from in memory.*features.toarray"):
        _ = records.features
    np.testing.assert_array_equal(records.row(1), [0, 1, 0])
    with pytest.raises(InvalidRequest, match="2 values; the table has 3 features"):
        records.edit(EditRequest.insert(["a"], sparse.csr_matrix((1, 2)), [1.0]))


def test_slots_beyond_memory_as_an_array_are_no_obstacle() -> None:
    with pytest.raises(InvalidRecords, match="GiB"):
        check_size(10_000_000, 100_000)
    records = Records(sparse.csr_matrix((3, 2_000_000_000)), np.ones(3), slots=10_000)
    assert records.width == 2_000_000_000
