"""Ordering of rows by content, so that sums do not depend on slots.

A float sum depends on the order of its terms. Rows added in the order of their slots would reveal which slots an
erased row kept from others, or by how many positions the rows after it in a file have moved. So every method that
guarantees that nothing remains of an erased row (solvers and exact steps) adds the rows in an order computed only from
their contents: two tables of n slots with the same rows in any slots give the same sums, bit for bit. Rows of equal
content contribute equal terms, so their relative order does not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK, CHUNK
from ..records import SparseRows
from .execution import Group
from .kernel import memory_limit, row_windows

_MULTIPLIER = 0x9E3779B97F4A7C15  # an odd number near 2⁶⁴ over the golden ratio; columns are weighted by its powers

Keys = NDArray[np.uint64]
Order = NDArray[np.intp]


class RowsInOrder:
    """The rows of a table in another order, gathered as they are read.

    Args:
        source: (slots, features), in memory or mapped.
        order: (slots,) the slot of each row.
    """

    def __init__(self, source: NDArray[Any], order: Order) -> None:
        self.source, self._order = source, order
        self.shape, self.nbytes = source.shape, source.nbytes

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, part: slice) -> NDArray[Any]:
        return np.asarray(self.source).take(self._order[part], axis=0)

    def gather(self, own: range) -> NDArray[Any] | RowsInOrder:
        """Return an array of the same shape with these rows filled in; `self` if they exceed the memory limit."""
        if len(own) * (self.nbytes // max(1, len(self))) > memory_limit():
            return self
        gathered = np.empty(self.shape, self.source.dtype)  # unfilled pages take no memory
        for part in row_windows(self, own.start, own.stop, CHUNK):
            np.asarray(self.source).take(self._order[part], axis=0, out=gathered[part], mode="clip")
        return gathered


def order_of_content(rows: NDArray[Any] | SparseRows, labels: NDArray[np.float64], group: Group) -> Order:
    """Return the slots of a table, sorted by the contents of their rows.

    Args:
        rows: (slots, features).
        labels: (slots,).
        group: The processes that read the table; each computes the keys of its share.
    """
    keys = np.concatenate(group.gather(_keys(rows, labels, group.rows(len(labels), BLOCK))))
    bits = np.uint64(
        max(1, len(keys) - 1).bit_length()
    )  # the lowest of a key give way to its slot: a plain sort is faster
    packed = np.sort((keys >> bits << bits) | np.arange(len(keys), dtype=np.uint64))
    order, keys = (packed & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.intp), packed >> bits
    repeated = np.flatnonzero(keys[1:] == keys[:-1])
    collided = [np.zeros(0, np.intp)]
    for first in range(0, len(repeated), CHUNK):
        part = repeated[first : first + CHUNK]
        collided.append(part[_differ(rows, labels, order[part], order[part + 1])])
    for key in np.unique(keys[np.concatenate(collided)]):  # different rows of one key: rare unless crafted
        run = slice(int(np.searchsorted(keys, key)), int(np.searchsorted(keys, key, side="right")))
        order[run] = sorted(order[run].tolist(), key=lambda slot: (labels[slot].tobytes(), rows[slot].tobytes()))
    return order


def _keys(rows: NDArray[Any] | SparseRows, labels: NDArray[np.float64], own: range) -> Keys:
    """Return one word for each of these rows; equal contents have equal words."""
    keys = np.array(labels[own.start : own.stop]).view(np.uint64) * np.uint64(_MULTIPLIER)
    if isinstance(rows, SparseRows):
        data, columns, starts = rows.entries()
        words = data.view(np.uint32) * _powers(rows.shape[1])[columns]
        sums = np.concatenate([np.zeros(1, np.uint64), words.cumsum(dtype=np.uint64)])[starts]
        keys += np.diff(sums)[own.start : own.stop]
        return keys
    wide = np.dtype(np.uint64 if rows[:1].nbytes % 8 == 0 else f"u{rows.dtype.itemsize}")
    powers = _powers(rows[:1].nbytes // wide.itemsize)
    for part in row_windows(rows, own.start, own.stop, CHUNK):
        words = np.ascontiguousarray(rows[part]).view(wide)
        keys[part.start - own.start : part.stop - own.start] += np.einsum(
            "ij,j->i", words, powers, dtype=np.uint64, casting="unsafe"
        )
    return keys


def _powers(width: int) -> Keys:
    """Return one odd word per column."""
    return np.cumprod(np.full(width, _MULTIPLIER, np.uint64), dtype=np.uint64)


def _differ(rows: Any, labels: NDArray[np.float64], ones: Order, others: Order) -> NDArray[np.bool_]:
    """Return whether the contents of these pairs of slots differ in any bit."""
    differ: NDArray[np.bool_] = labels[ones].view(np.uint64) != labels[others].view(np.uint64)
    if isinstance(rows, SparseRows):
        lengths = rows.lengths
        differ |= lengths[ones] != lengths[others]
        alike = np.flatnonzero(~differ)
        (data, columns, starts), (data2, columns2, _) = (rows.select(some[alike]).entries() for some in (ones, others))
        wrong = (data.view(np.uint32) != data2.view(np.uint32)) | (columns != columns2)
        differ[alike] |= np.diff(np.concatenate([[0], wrong.cumsum()])[starts]) > 0
        return differ
    pairs = (np.ascontiguousarray(np.asarray(rows).take(some, axis=0)).view(np.uint8) for some in (ones, others))
    differ |= np.not_equal(*pairs).any(axis=1)
    return differ
