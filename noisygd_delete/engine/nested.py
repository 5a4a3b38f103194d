"""Sparse rows of which an entry says that others are there, as bins within bins do: passes run over the entries that say most.

Column b implies column a where in every row of the table the entry before that of b is of column a and has the same value. Of a chain of such
entries the last alone is kept: a number in bins of seven levels is one entry in place of seven. A score is then a sum over the entries kept, each
times the sum of the weights of its chain, and a coordinate of a gradient the sum of what the entries say that imply it. No value is lost, and
the sums are those of the whole rows: no term is in more additions than before, for each of them joins it to one other at least.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..records import SparseRows

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

_LOOKED_AT = 2048  # rows that say what may be implied
_TOGETHER = 1 << 18  # entries of a block
_DEEPEST = 32  # entries of a chain
_PAYS = 2  # times fewer entries
SAMPLED = 4096  # rows whose curvature is looked at, at least
_SIDE = 768  # of the matrix that is factorised
_LEAST_CURVED = 0.05  # of λ: a column that is curved less is hardly moved by the others


class Nested(NamedTuple):
    """rows: of the entries kept. parents: (width,) what each column implies, −1 for nothing. spread: (width, width) csr_array, 1 where the
    column is implied by that of the place, or is it; gather: the same turned, kept too, for scipy would make it for every product."""

    rows: SparseRows
    parents: NDArray[np.int32]
    spread: Any
    gather: Any


class NestedPart:
    """Some of them, as a matrix of the whole rows."""

    __array_ufunc__ = None  # products from the left are its own

    def __init__(self, rows: Any, among: Nested, whole: int) -> None:
        """whole: entries of a whole row, about."""
        self.rows, self._turned, self.among, self._whole = rows, rows.T, among, whole
        self.shape = rows.shape
        self.nnz = whole * rows.shape[0]

    def __getitem__(self, part: slice) -> NestedPart:
        return NestedPart(self.rows[part], self.among, self._whole)

    def __matmul__(self, other: NDArray[Any]) -> NDArray[Any]:
        return self.rows @ (self.among.gather @ other)  # type: ignore[no-any-return]

    def __rmatmul__(self, other: NDArray[Any]) -> NDArray[Any]:
        return (self.among.spread @ (self._turned @ other.T)).T  # type: ignore[no-any-return]


def nest_rows(rows: SparseRows) -> Nested | None:
    """The same rows in fewer entries; None where there are not half as many. A function of these rows alone, whatever was there before."""
    parents, kept = _parents(rows)
    if not 0 < _PAYS * len(kept) <= rows.filled:
        return None
    spread = _expand_parents(parents)
    return None if spread is None else Nested(rows.chosen(kept), parents, spread, spread.T.tocsr())


def _blocks(entries: int) -> Iterator[slice]:
    for first in range(0, entries, _TOGETHER):
        yield slice(first, min(first + _TOGETHER, entries))


def _parents(rows: SparseRows) -> tuple[NDArray[np.int32], Indices]:
    """What each column implies, guessed from some rows and given up where any row contradicts; and the entries that no other implies."""
    data, columns, starts = rows.entries(max(1, len(rows) // _LOOKED_AT))
    parents = np.full(rows.shape[1], -1, np.int32)
    before = np.full(len(columns), -1, np.int32)
    before[1:] = np.where(data[1:] == data[:-1], columns[:-1], -1)
    before[starts[:-1][np.diff(starts) > 0]] = -1
    parents[columns] = before
    parents[columns[parents[columns] != before]] = -1
    data, columns, starts = rows.entries()
    firsts = columns[starts[:-1][np.diff(starts) > 0]]  # of rows: what they imply is not there
    parents[firsts] = -1
    ends, given_up = np.ones(len(columns), bool), 0
    for part in _blocks(len(columns) - 1):
        after = slice(part.start + 1, part.stop + 1)
        here, implied = columns[after], parents.take(columns[after])
        np.less(implied, 0, out=ends[part])
        wrong = ((columns[part] != implied) | (data[part] != data[after])) & ~ends[part]
        if wrong.any():
            parents[here[wrong]], given_up = -1, part.stop
    for part in _blocks(given_up):  # up to there a column was given up after entries that it seemed to imply
        np.less(parents.take(columns[part.start + 1 : part.stop + 1]), 0, out=ends[part])
    return parents, np.flatnonzero(ends)


def _expand_parents(parents: NDArray[np.int32]) -> Any:
    """None where chains are longer than they are worth."""
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


def nested_hessian(
    part: NestedPart, bend: NDArray[np.float32], regularization: float
) -> tuple[Indices, NDArray[np.float32], NDArray[np.float32]]:
    """Of the mean over these rows of `bend` x xᵀ: the columns that curve most, the matrix of these, and the diagonal of all.

    A column implied by another is curved no less, so with a column come all that it implies; an entry counts for the last of its chain that is
    taken.
    """
    from scipy.sparse import csr_array

    rows, taken, spread = part.rows, part.shape[0], part.among.spread
    squares = csr_array((rows.data**2, rows.indices, rows.indptr), rows.shape)
    diagonal = spread @ (squares.T @ (bend / taken))
    curved = np.argsort(-diagonal, kind="stable")[:_SIDE]
    chosen = np.sort(curved[diagonal[curved] > _LEAST_CURVED * regularization])
    numbers = np.full(part.shape[1] + 1, -1)  # the last is for −1: no column
    numbers[chosen] = np.arange(len(chosen))
    last = np.arange(part.shape[1])
    while (far := (numbers[last] < 0) & (last >= 0)).any():
        last[far] = part.among.parents[last[far]]
    places = numbers[last][rows.indices]
    lengths, there = np.diff(rows.indptr), places >= 0
    owners = np.repeat(np.arange(taken), lengths)[there]
    scaled = (rows.data * np.repeat(np.sqrt(bend / taken), lengths))[there]
    thin = csr_array((scaled, (owners, places[there])), shape=(taken, len(chosen)))
    within = spread[chosen][:, chosen]
    return chosen, within @ (thin.T @ thin).toarray() @ within.T, diagonal
