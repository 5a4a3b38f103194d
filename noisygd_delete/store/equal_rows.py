"""How many of some rows are also in a table, by their content.

Contents are found by 64-bit hashes under random keys, and then compared, so that the answer does not depend on the keys.
Beside the rows and one block of the table this takes about 30 bytes for each of the rows.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..records import CodedRows, Labels, Rows

if TYPE_CHECKING:
    from ..features.schema import Encoded

_WORD = np.dtype("<u4")
_AT_ONCE = 1 << 20  # words of contents compared at a time
_HIGH = np.uint64(0xFFFFFFFF00000000)
Hashes = NDArray[np.uint64]


def equal_rows(held: Iterable[tuple[Rows | CodedRows, Labels]], encoded: Encoded) -> int:
    """Return how many of the encoded rows equal a row of the table, in every value and the label.

    Args:
        held: The rows of the table and their labels, block by block.
        encoded: The rows to find.
    """
    given: _HashedRows | None = None
    for rows, labels in held if len(encoded.rows) else ():
        given = _HashedRows(encoded.rows, encoded.labels, rows) if given is None else given
        given.find(rows, labels)
    return 0 if given is None else given.found


class _HashedRows:
    """Rows ordered by hashes, of which `find` marks those that equal other rows.

    Args:
        rows: The rows.
        labels: (rows,).
        others: Some of the other rows: if these are codes of the same map, codes are compared, else values.
    """

    def __init__(self, rows: Rows | CodedRows, labels: Labels, others: Rows | CodedRows) -> None:
        codecs = [given.codec if isinstance(given, CodedRows) else None for given in (rows, others)]
        self._coded = codecs[0] is not None and codecs[0] is codecs[1]
        self._rows, self._labels = self._values(rows), labels
        while not self._draw_hashes():
            pass  # two different rows share a hash with a probability of 2⁻⁶⁴

    @property
    def found(self) -> int:
        """Number of rows found so far."""
        return int(self._lengths[self._found].sum())

    def find(self, rows: Rows | CodedRows, labels: Labels) -> None:
        """Mark the rows that equal one of these."""
        values = self._values(rows)
        for part in _parts(values):
            contents = self._contents(values, labels, part)
            hashes = self._hash(contents)
            order = np.argsort(hashes)  # a search in order is several times as fast
            runs = np.searchsorted(self._hashes[:-1], hashes[order])
            alike = self._hashes[runs] == hashes[order]
            runs, order = runs[alike], order[alike]
            equal = self._contents(self._rows, self._labels, self._firsts[runs]) == contents[order]
            self._found[runs[equal.all(axis=1)]] = True

    def _draw_hashes(self) -> bool:
        """Order the rows by hashes under new keys; return whether rows of equal hashes are equal."""
        words = self._contents(self._rows, self._labels, slice(0, 0)).shape[1]
        self._keys = np.frombuffer(secrets.token_bytes(16 * (words + 1)), np.uint64).reshape(-1, 2)
        parts = [self._hash(self._contents(self._rows, self._labels, part)) for part in _parts(self._rows)]
        hashes = np.concatenate([np.zeros(0, np.uint64), *parts])
        order = np.argsort(hashes)
        hashes = hashes[order]
        repeats = np.append(False, hashes[1:] == hashes[:-1])[: len(hashes)]
        starts = np.flatnonzero(~repeats)
        self._firsts, self._lengths = order[starts], np.diff(starts, append=len(order))
        self._hashes = np.append(hashes[starts], hashes[:1])  # the last is that of no run
        self._found = np.zeros(len(starts), bool)
        again = np.flatnonzero(repeats)
        for part in _parts(self._rows, len(again)):
            one, other = (self._contents(self._rows, self._labels, order[again[part] - before]) for before in (0, 1))
            if not np.array_equal(one, other):
                return False
        return True

    def _values(self, rows: Rows | CodedRows) -> Any:
        return rows.codes if self._coded and isinstance(rows, CodedRows) else rows

    @staticmethod
    def _contents(values: Any, labels: Labels, part: slice | NDArray[np.intp]) -> NDArray[np.uint32]:
        """Return (rows, words) the bytes of some rows and their labels, followed by zeros up to a whole word."""
        own = np.ascontiguousarray(values[part])
        ends = np.ascontiguousarray(labels[part], np.float64)
        size = own.shape[1] * own.itemsize
        whole = np.zeros((len(own), -(-size // _WORD.itemsize) * _WORD.itemsize + ends.itemsize), np.uint8)
        whole[:, :size] = own.view(np.uint8)
        whole[:, -ends.itemsize :] = ends[:, None].view(np.uint8)
        return whole.view(_WORD)

    def _hash(self, contents: NDArray[np.uint32]) -> Hashes:
        """Return (rows,) two multilinear hashes of 32 bits each; see Lemire and Kaser, 2014, doi:10.1093/comjnl/bxt070."""
        sums = contents.astype(np.uint64) @ self._keys[1:] + self._keys[0]
        return np.asarray((sums[:, 0] & _HIGH) | (sums[:, 1] >> np.uint64(32)))


def _parts(values: Any, rows: int | None = None) -> Iterator[slice]:
    """Yield slices of as many rows as are compared at a time."""
    rows, step = len(values) if rows is None else rows, max(1, _AT_ONCE // max(1, values.shape[1]))
    return (slice(first, first + step) for first in range(0, rows, step))
