"""Entries that imply others, taken together: the sums of the whole rows, of the rows that are there and of no others."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from noisygd_delete import EditRequest, Records
from noisygd_delete.engine import nested as module
from noisygd_delete.engine.nested import nest_rows
from noisygd_delete.features.maps import Additive
from noisygd_delete.features.maps.codec import codec_of
from noisygd_delete.records import CodedRows, SparseRows

MAP = Additive((0, 3, 0, 0), levels=4, amounts=(2,), gaps=(3,), pairs=((0, 1),))


def rows_of(n: int, seed: int) -> sparse.csr_array:
    """Of an additive map, with amounts of 0, unknown categories and empty cells."""
    rng = np.random.default_rng(seed)
    numbers = rng.uniform(-1, 1, (n, 3)).round(1)
    numbers[rng.random(n) < 0.3, 1] = -1.0
    hot = np.eye(4)[rng.integers(0, 4, n)][:, :3]
    return MAP.sparse_rows(np.column_stack([numbers[:, :1], hot, numbers[:, 1:], rng.random(n) < 0.2]))


def coded(rows: sparse.csr_array, *, skips_zeros: bool = True) -> CodedRows:
    """The same rows as codes."""
    codec = codec_of(MAP, 1.0)
    return CodedRows(codec.encode(SparseRows.of("rows", rows, ValueError)), codec, skips_zeros=skips_zeros)


def oracle(parents: dict[int, int | None], rows: list[list[tuple[int, float]]]) -> list[list[tuple[int, float]]]:
    """The entries kept, row by row: an entry goes where the one after it implies it."""
    return [
        [e for e, after in zip(row, [*row[1:], (-1, 0.0)], strict=True) if parents.get(after[0]) != e[0]]
        for row in rows
    ]


def implied(rows: list[list[tuple[int, float]]]) -> dict[int, int | None]:
    found: dict[int, int | None] = {}
    for row in rows:
        for (column, value), before in zip(row, [None, *row], strict=False):
            said = before[0] if before is not None and before[1] == value else None
            found[column] = said if found.setdefault(column, said) == said else None
    return found


def listed(rows: SparseRows) -> list[list[tuple[int, float]]]:
    data, columns, starts = rows.entries()
    return [list(zip(columns[a:b].tolist(), data[a:b].tolist(), strict=True)) for a, b in pairwise(starts.tolist())]


@given(st.integers(0, 400), st.integers(0, 99), st.integers(1, 300))
@example(0, 0, 1)
@settings(max_examples=40, deadline=None)
def test_what_is_kept_is_what_every_row_allows(n: int, seed: int, looked_at: int) -> None:
    given = SparseRows.of("rows", rows_of(n, seed), ValueError)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LOOKED_AT", looked_at)
        patch.setattr(module, "_TOGETHER", 37)
        patch.setattr(module, "_PAYS", 1)
        made = nest_rows(given)
    assert (made is None) == (n == 0)
    if made is None:
        return
    whole = listed(given)
    known = {column: parent for column, parent in enumerate(made.parents.tolist()) if parent >= 0}
    full = implied(whole)
    assert all(full[column] == parent for column, parent in known.items() if column in full)
    assert listed(made.rows) == oracle(known, whole)
    back = (made.rows.part(0, n) @ made.spread.T).toarray()
    np.testing.assert_array_equal(back, given.written_out())


def test_padded_codes_are_the_same_rows_with_as_many_values_in_each(monkeypatch) -> None:
    """Gaps, amounts of 0 and null records have entries of 0, so that no pass takes less time for them."""
    rows = rows_of(900, 6)
    given = coded(rows, skips_zeros=False)
    codes = given.codes.copy()
    codes[::7] = 0
    whole = rows.toarray()
    whole[::7] = 0.0
    padded = module.nest_codes(CodedRows(codes, given.codec))
    assert set(padded.rows.lengths) == {given.codec.blocks + 1}
    np.testing.assert_array_equal((padded.rows.part(0, 900) @ padded.spread.T).toarray(), whole)
    assert len(set(module.nest_codes(CodedRows(codes, given.codec, skips_zeros=True)).rows.lengths)) > 1
    monkeypatch.setattr("noisygd_delete.features.maps.codec._pad", lambda part: part)  # planted
    assert len(set(module.nest_codes(CodedRows(codes, given.codec)).rows.lengths)) > 1


@pytest.mark.parametrize("fault", ["a row that contradicts is not asked", "a value is not compared"])
def test_a_planted_fault_is_seen(fault: str, monkeypatch) -> None:
    """One row among thousands in which a fine bin stands without its coarse one, or with another value."""
    rows = rows_of(4000, 1).tolil()
    row = rows[[1234], :].tocsr()
    place = row.indices[1]
    rows[1234, place] = 0.0 if "asked" in fault else rows[1234, place] / 2
    given = SparseRows.of("rows", sparse.csr_array(rows), ValueError)
    monkeypatch.setattr(module, "_LOOKED_AT", 100)  # not at that row
    right = nest_rows(given)
    assert right is not None
    np.testing.assert_array_equal((right.rows.part(0, 4000) @ right.spread.T).toarray(), given.written_out())
    monkeypatch.setattr(module, "_blocks", lambda entries: iter([slice(0, 50)]))  # no later row is asked
    blind, _ = module._parents(given)
    assert not np.array_equal(blind, right.parents)


def test_what_a_row_did_to_the_coding_leaves_with_it() -> None:
    """A row that contradicts every implication, erased: what is left is coded as if it had never been."""
    rows = rows_of(600, 3).toarray()
    rows[5] = 0.0
    rows[5, ::3] = np.linspace(0.01, 0.02, len(rows[5, ::3]))
    records = Records(sparse.csr_array(rows), np.ones(600))
    assert nest_rows(records.sparse) is None
    records.edit(EditRequest(deletions=(5,)))
    never = Records(sparse.csr_array(np.delete(rows, 5, axis=0)), np.ones(599))
    left, other = nest_rows(records.sparse), nest_rows(never.sparse)
    np.testing.assert_array_equal(left.parents, other.parents)
    assert [row for row in listed(left.rows) if row] == [row for row in listed(other.rows) if row]
