"""Sparse rows with nested columns, where an entry implies others as in nested bins, stored without the implied entries.

Of rows of a public map that are stored as codes, the map says which entries imply others. Otherwise, column b implies column a if in every row of the table the entry before that of b is in column a and has the same
value. Of a chain of such entries only the last is kept: a number in bins of seven levels is one entry instead of
seven. A score is then a sum over the kept entries, each times the sum of the weights of its chain, and a coordinate of
a gradient the sum over the entries that imply it. No value is lost, and the sums are those of the full rows: no term
goes through more additions than before, as each addition merges it with at least one other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..records import CodedRows, SparseRows

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

_LOOKED_AT = 2048  # rows from which implications are guessed
_TOGETHER = 1 << 18  # entries per block
_DEEPEST = 32  # longest chain, in entries
_PAYS = 2  # required reduction factor of the entries
_SAMPLED = 4096  # least number of rows used for the curvature
_SHARE, _MOST_SAMPLED = 128, 1 << 16  # of so many rows, one at least is used, up to this many
_SIDE = 256  # largest side of the factorized matrix
_LEAST_CURVED = 0.05  # relative to λ: a column of less curvature hardly interacts with others


class Nested(NamedTuple):
    """Nested rows.

    Attributes:
        rows: The kept entries.
        parents: (width,) the column that each column implies, −1 for none.
        spread: (width, width) csr_array, 1 at (a, b) if column b implies column a, directly or not, or a = b.
        gather: Its transpose in csr form, which scipy would otherwise compute for every product.
    """

    rows: SparseRows
    parents: NDArray[np.int32]
    spread: Any
    gather: Any


class NestedPart:
    """Some nested rows, as a matrix of the full rows."""

    __array_ufunc__ = None  # makes numpy defer to __rmatmul__

    def __init__(self, rows: Any, among: Nested, whole: int) -> None:
        """Wrap `rows`; `whole` is the approximate number of entries of a full row."""
        self.rows, self._turned, self.among, self._whole = rows, rows.T, among, whole
        self.shape = rows.shape
        self.nnz = whole * rows.shape[0]

    def __getitem__(self, part: slice) -> NestedPart:
        return NestedPart(self.rows[part], self.among, self._whole)

    def __matmul__(self, other: NDArray[Any]) -> NDArray[Any]:
        return self.rows @ (self.among.gather @ other)  # type: ignore[no-any-return]

    def __rmatmul__(self, other: NDArray[Any]) -> NDArray[Any]:
        return (self.among.spread @ (self._turned @ other.T)).T  # type: ignore[no-any-return]

    def hessian(self, bend: NDArray[np.float32], regularization: float) -> tuple[Indices, NDArray[np.float32], Vector]:
        """Return an approximation of the mean over these rows of `bend` x xᵀ.

        An entry counts for the last selected column of its chain.

        Returns:
            The columns of largest curvature, the matrix of these, and the diagonal of all columns.
        """
        from scipy.sparse import csr_array

        rows, taken, spread = self.rows, self.shape[0], self.among.spread
        squares = csr_array((rows.data**2, rows.indices, rows.indptr), rows.shape)
        diagonal = spread @ (squares.T @ (bend / taken))
        chosen, last = select_curved(diagonal, self.among.parents, regularization)
        places = last[rows.indices]
        lengths, there = np.diff(rows.indptr), places >= 0
        owners = np.repeat(np.arange(taken), lengths)[there]
        scaled = (rows.data * np.repeat(np.sqrt(bend / taken), lengths))[there]
        thin = csr_array((scaled, (owners, places[there])), shape=(taken, len(chosen)))
        within = spread[chosen][:, chosen]
        return chosen, within @ (thin.T @ thin).toarray() @ within.T, diagonal


def nest_rows(rows: SparseRows) -> Nested | None:
    """Return the rows in at most half the entries, or None. The result is a function of these rows alone."""
    parents, kept = _parents(rows)
    if not 0 < _PAYS * len(kept) <= rows.nonzeros:
        return None
    spread = _expand_parents(parents)
    return None if spread is None else Nested(rows.select_values(kept), parents, spread, spread.T.tocsr())


def nest_codes(rows: CodedRows) -> Nested:
    """Return rows stored as codes with one entry per block. The public map says which column implies which.

    Unless the rows may skip zeros, all of them have as many entries: the time of a product shows nothing of them.
    """
    parents = rows.codec.parents
    spread = _expand_parents(parents)
    assert spread is not None
    return Nested(
        rows.codec.decode_sparse(rows.codes, last=True, padded=not rows.skips_zeros), parents, spread, spread.T.tocsr()
    )


def _blocks(entries: int) -> Iterator[slice]:
    for first in range(0, entries, _TOGETHER):
        yield slice(first, min(first + _TOGETHER, entries))


def _parents(rows: SparseRows) -> tuple[NDArray[np.int32], Indices]:
    """Return what each column implies, and the entries that no other implies.

    Implications are guessed from some rows and dropped if any row contradicts them.
    """
    data, columns, starts = rows.entries(max(1, len(rows) // _LOOKED_AT))
    parents = np.full(rows.shape[1], -1, np.int32)
    before = np.full(len(columns), -1, np.int32)
    before[1:] = np.where(data[1:] == data[:-1], columns[:-1], -1)
    before[starts[:-1][np.diff(starts) > 0]] = -1
    parents[columns] = before
    parents[columns[parents[columns] != before]] = -1
    data, columns, starts = rows.entries()
    firsts = columns[starts[:-1][np.diff(starts) > 0]]  # first entries of rows have no implied entry before them
    parents[firsts] = -1
    ends, given_up = np.ones(len(columns), bool), 0
    for part in _blocks(len(columns) - 1):
        after = slice(part.start + 1, part.stop + 1)
        here, implied = columns[after], parents.take(columns[after])
        np.less(implied, 0, out=ends[part])
        wrong = ((columns[part] != implied) | (data[part] != data[after])) & ~ends[part]
        if wrong.any():
            parents[here[wrong]], given_up = -1, part.stop
    for part in _blocks(given_up):  # recompute: columns were dropped after their entries had been processed
        np.less(parents.take(columns[part.start + 1 : part.stop + 1]), 0, out=ends[part])
    return parents, np.flatnonzero(ends)


def _expand_parents(parents: NDArray[np.int32]) -> Any:
    """Return the matrix `spread`; None if a chain is too long."""
    from scipy.sparse import csr_array

    width = len(parents)
    above: Indices = np.arange(width)
    below, found = above, list[tuple[Indices, Indices]]()
    for _ in range(_DEEPEST):
        found.append((above, below))
        above = parents[above].astype(np.intp)
        above, below = above[above >= 0], below[above >= 0]
        if not len(above):
            one, other = (np.concatenate(part) for part in zip(*found, strict=True))
            return csr_array((np.ones(len(one), np.float32), (one, other)), shape=(width, width))
    return None


def sample_size(rows: int, slots: int) -> int:
    """Return the number of rows from which curvature is computed, `rows` or more: products with them are cheap."""
    return max(rows, _SAMPLED, min(slots // _SHARE, _MOST_SAMPLED))


def select_curved(diagonal: Vector, parents: NDArray[np.int32], regularization: float) -> tuple[Indices, Indices]:
    """Return the columns of largest curvature, and for each column, then for index −1, the last of these in its chain.

    A column implied by another has no less curvature, so all columns that a selected column implies are selected too.

    Args:
        diagonal: (width,) the curvature of each column.
        parents: (width,) the column that each column implies, −1 for none.
        regularization: λ.

    Returns:
        (side,) the columns, ascending, and (width + 1,) indices into them, −1 for none.
    """
    curved = np.argsort(-diagonal, kind="stable")[:_SIDE]
    chosen = np.sort(curved[diagonal[curved] > _LEAST_CURVED * regularization])
    numbers = np.full(len(diagonal) + 1, -1)  # the last entry is for index −1: no column
    numbers[chosen] = np.arange(len(chosen))
    last = np.arange(len(diagonal))
    while (far := (numbers[last] < 0) & (last >= 0)).any():
        last[far] = parents[last[far]]
    return chosen, np.append(numbers[last], -1)
