"""Gradient sums over rows stored as codes, by lookup: nothing is expanded, and the sums are whole numbers.

A block of a row has one value in all features of its code. So a score is a sum over blocks of the value times the sum
of the weights of the code's features, looked up in a table that is made once for each pass. A gradient needs the sum of
the slopes of the rows with each code; a feature's coordinate is then a sum over the codes that have it.

Slopes are rounded to multiples of 2⁻⁴² of their bound, and those are added as whole numbers. Such sums are exact, so
neither the order of the rows nor the threads or the blocks change a bit of a gradient.

The declared bound (`bounds.arithmetic.gradient_error`) covers it, as `CodedSums.of` accepts tables of at least
`LEAST_ROWS` rows only:

* A score adds at most the weights of a code's features, multiplies once, and adds the blocks and the constant: a weight
  passes through at most as many roundings as there are features.
* A rounded slope errs by at most 2⁻⁴³ of the bound, 2¹⁰ units in the last place of L. After the exact sums there are a
  conversion, a product, `_MOST_FACTORS` additions of rows with other values, and one for each code of a feature, of
  which `_MOST_CODES` are allowed: fewer than the 2¹¹ of `bounds.arithmetic.CHUNK` in all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import ROOM
from ..errors import AssumptionViolated
from ..features.maps.coding import NO_ENTRY
from ..losses.base import Loss
from ..records import CodedRows
from .execution import run_parallel
from .nested import sample_size, select_curved

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LEAST_ROWS = 1 << 14  # smaller tables are summed as sparse rows, with less overhead
_MOST_FACTORS = 255  # most norms of rows before they are brought to their radius
_MOST_CODES = 512  # most codes that have a feature
_MOST_CELLS = 1 << 26  # most values of codes in all groups of rows, in 512 MiB; places in them fit into int32
_BITS = 42  # of a slope, below its bound: sums of `_TASK` of them are exact in int64
_TASK = 1 << 20  # rows whose slopes are added in int64
_BLOCK = 1 << 19  # codes scored at a time
_GROUPED = 1 << 16  # rows whose norms are numbered at a time
_PAIRS = 1 << 20  # pairs of codes counted at a time
_CHEAP = 16  # times as many rows in the table as in a sample of codes for several outputs
_LOW = 32  # bits of the lower part of a sum of several tasks

Vector = NDArray[Any]
Places = NDArray[np.intp] | NDArray[np.int32]
Order = Callable[[], Places]


class CodedSums:
    """`Sums` over coded rows in memory or mapped from a file (see `engine.sums`).

    Args:
        rows: The rows.
        labels: (slots,).
        loss: A loss of finite L.
        order: Returns the (slots,) order of the slots in which samples are taken; None: as stored.
    """

    def __init__(self, rows: CodedRows, labels: NDArray[np.float64], loss: Loss, order: Order | None = None) -> None:
        self._rows, self._loss, self._order = rows, loss, order
        self._labels: Vector = labels.astype(np.int64) if loss.label_kind == "class" else labels
        self.slots, self.width = rows.shape
        blocks = rows.codec.coding.blocks
        sizes = [len(block.places) + 1 for block in blocks]  # code 0 is that of null rows
        *starts, self._cells = accumulate(sizes, initial=0)
        self._starts = np.array(starts, np.int32)
        self._first = slice(1, sizes[0])  # cells of the first block: each row that is not null has one
        owners, features = list[Places](), list[Places]()
        for start, block in zip(starts, blocks, strict=True):
            code, entry = np.nonzero(block.places != NO_ENTRY)
            owners.append(code + start + 1)
            features.append(block.places[code, entry])
        self._owners, self._features = np.concatenate(owners), np.concatenate(features)
        self._values, self._groups = np.zeros((0, self._cells)), np.zeros(0, np.uint8)
        self._constants = np.zeros(0)
        self.entries = rows.codec.entries
        self._unit = loss.constants.lipschitz / loss.radius * ROOM * 2.0**-_BITS

    @classmethod
    def of(
        cls,
        rows: CodedRows,
        labels: NDArray[np.float64],
        loss: Loss,
        order: Order | None = None,
        *,
        whole: int | None = None,
    ) -> CodedSums | None:
        """Return the sums, or None if the declared rounding does not cover them.

        Args:
            rows: The rows.
            labels: (slots,).
            loss: See the class.
            order: See the class.
            whole: Slots of the table of which these rows are a partition; None: they are the table.
        """
        if (len(rows) if whole is None else whole) < LEAST_ROWS or not np.isfinite(loss.constants.lipschitz):
            return None
        made = cls(rows, labels, loss, order)
        return made if np.bincount(made._features).max() <= _MOST_CODES and made._group_rows() else None

    def _group_rows(self) -> bool:
        """Number the norms of the rows, and make the values of each; return whether these are few enough."""
        codec, codes = self._rows.codec, self._rows.codes
        groups, known = np.zeros(self.slots, np.uint8), np.zeros(0)
        for first in range(0, self.slots, _GROUPED):
            part = codes[first : first + _GROUPED]
            factors, used = codec.factors(part), np.flatnonzero(part[:, 0])
            if len(used) and (len(known) != 1 or (factors[used] != known[0]).any()):
                known = np.concatenate([known, np.setdiff1d(factors[used], known)])  # known ones keep their numbers
                if len(known) > _MOST_FACTORS or len(known) * self._cells > _MOST_CELLS:
                    return False
                order = np.argsort(known)
                groups[first + used] = order[np.searchsorted(known, factors[used], sorter=order)]
        cells = np.concatenate([own for values in codec.code_values for own in ([0.0], values)])
        groups = np.argsort(np.argsort(known)).astype(np.uint8)[groups] if len(known) else groups
        known = np.sort(known) if len(known) else np.zeros(1)  # in an order that no place of a row changes
        self._groups, self._constants = groups, known.astype(np.float32).astype(np.float64)
        self._values = (known[:, None] * cells).astype(np.float32).astype(np.float64)
        return True

    def gradient(self, weights: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
        """Return the gradient sum in float64, whatever the `dtype`."""
        del dtype
        tables = [self.table(own) for own in weights]
        high, low = (np.zeros((len(weights), *self._values.shape), np.int64) for _ in range(2))
        for sums in run_parallel(lambda part: self._sum(tables, part), self._tasks(), self._rows.codes.size):
            high += sums >> _LOW
            low += sums & ((1 << _LOW) - 1)
        return np.array([self._to_features(*both) for both in zip(high, low, strict=True)])

    def _tasks(self) -> Iterator[range]:
        for first in range(0, self.slots, _TASK):
            yield range(first, min(first + _TASK, self.slots))

    def table(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (groups · cells,), what a code of each group of rows adds to a score."""
        made = self._values * np.bincount(self._owners, weights[self._features], self._cells)
        made[:, self._first] += (self._constants * weights[-1])[:, None]
        return made.reshape(-1)

    def _sum(self, tables: list[NDArray[np.float64]], task: range) -> NDArray[np.int64]:
        """Return (outputs, groups, cells) sums of slopes in units, over some rows."""
        sums = np.zeros((self._values.size, len(tables)), np.int64)
        lookup = np.column_stack(tables)
        size = max(1, _BLOCK // len(self._starts))
        for first in range(task.start, task.stop, size):
            part = slice(first, min(first + size, task.stop))
            places = self.places(self._groups[part], np.asarray(self._rows.codes[part]))
            scores = self._count(places, np.float64) @ lookup  # adds the blocks of a row from the left
            steps = np.rint(self._loss.derivative(scores, self._labels[part], np) / self._unit)
            if not np.abs(steps).max(initial=0.0) <= 1 << _BITS:
                raise AssumptionViolated("a slope of the loss exceeds its declared bound L/R; nothing was published")
            sums += self._count(places, np.int64).T @ steps.astype(np.int64)
        return sums.T.reshape(len(tables), *self._values.shape)

    def places(self, groups: Vector, codes: Vector) -> NDArray[np.int32]:
        """Return (rows, blocks), where the codes of rows are in `table`."""
        places = np.add(codes, self._starts, dtype=np.int32)
        if groups.any():
            places += (groups.astype(np.int32) * np.int32(self._cells))[:, None]
        return places

    def _count(self, places: NDArray[np.int32], dtype: Any) -> csr_array:
        """Return a sparse (rows, groups · cells) matrix of ones at these places."""
        from scipy.sparse import csr_array

        ends = np.arange(0, places.size + 1, places.shape[1], dtype=np.int32)
        shape = len(places), self._values.size
        return csr_array((_ones(places.size, dtype), places.reshape(-1), ends), shape=shape)

    def _to_features(self, high: NDArray[np.int64], low: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return (width,) the sum over features of (groups, cells) sums over codes, given as two parts."""
        rows = high[:, self._first].sum(axis=1) * 2.0**_LOW + low[:, self._first].sum(axis=1)
        return np.asarray(self.spread(high * 2.0**_LOW + low, rows) * self._unit)

    def spread(self, sums: Vector, rows: Vector, power: int = 1) -> Vector:
        """Return (width,): for each feature the sum over its codes of `sums` times values.

        Args:
            sums: (groups, cells).
            rows: (groups,) the same for all rows of a group, which have the constant.
            power: Of the values.
        """
        codes = (self._values**power * sums).sum(axis=0)
        found = np.bincount(self._features, codes[self._owners], self.width)
        found[-1] = (self._constants**power * rows).sum()
        return found

    def values_of(self, places: Places) -> NDArray[np.float64]:
        """Return (rows, blocks + 1), the values at these (rows, blocks) places in `table`, then the constant."""
        used = places[:, 0] % self._cells != 0
        constants = np.where(used, self._constants[places[:, 0] // self._cells], 0.0)
        return np.column_stack([self._values.reshape(-1)[places], constants])

    def sums_at(self, places: Places, weights: Vector) -> tuple[Vector, Vector]:
        """Return the arguments of `spread`: the sums of (rows,) weights over rows with each code, and over all rows."""
        many = np.repeat(weights, places.shape[1])
        sums = np.bincount(places.reshape(-1), many, self._values.size).reshape(self._values.shape)
        return sums, sums[:, self._first].sum(axis=1)

    @cached_property
    def last(self) -> Places:
        """(cells,) last feature of each code, −1 for none."""
        return np.concatenate([own for block in self._rows.codec.coding.blocks for own in ([NO_ENTRY], block.last)])

    @property
    def parents(self) -> NDArray[np.int32]:
        """(width,) the feature that each feature implies, −1 for none."""
        return self._rows.codec.parents

    def strided(self, rows: int) -> tuple[Any, Vector]:
        """Return about `rows` evenly spaced rows, or as many as are cheap, and their labels.

        They are sparse for several outputs unless products with them cost far less than with the table.
        """
        size = sample_size(rows, self.slots)
        step = max(1, self.slots // size)
        chosen = slice(None, None, step) if self._order is None else self._order()[::step]
        labels = self._labels[chosen]
        labels = labels if self._loss.label_kind == "class" else labels.astype(np.float32)
        some = self._rows.select(chosen)
        if self._loss.outputs > 1 and size * _CHEAP > self.slots:
            thin = some.sparse()
            return thin.part(0, len(thin)), labels
        return CodedPart(self, self.places(self._groups[chosen], np.asarray(some.codes))), labels


class CodedPart:
    """Some rows of a table of codes, as a matrix of their features.

    Args:
        sums: The sums over the table.
        places: (rows, blocks) places of the rows' codes in `CodedSums.table`.
    """

    __array_ufunc__ = None  # makes numpy defer to __rmatmul__

    def __init__(self, sums: CodedSums, places: Places) -> None:
        self._sums, self._places = sums, places
        self.shape = (len(places), sums.width)
        self.nnz = len(places) * sums.entries

    def __getitem__(self, part: slice) -> CodedPart:
        return CodedPart(self._sums, self._places[part])

    def __matmul__(self, other: Vector) -> Vector:
        tables = [self._sums.table(own.astype(np.float64)) for own in other.T]
        return np.column_stack([own[self._places].sum(axis=1) for own in tables]).astype(other.dtype)

    def __rmatmul__(self, other: Vector) -> Vector:
        return np.array([self._sums.spread(*self._sums.sums_at(self._places, own)) for own in other])

    def hessian(self, bend: NDArray[np.float32], regularization: float) -> tuple[Places, Vector, Vector]:
        """Return what `NestedPart.hessian` returns, from counts of pairs of codes."""
        sums, taken = self._sums, len(self._places)
        diagonal = sums.spread(*sums.sums_at(self._places, bend / taken), power=2)
        chosen, last = select_curved(diagonal, sums.parents, regularization)
        side = len(chosen)
        within = np.append(last[sums.last], last[sums.width - 1])  # of every code, then of the constant
        columns = np.column_stack([self._places % (len(within) - 1), np.full(taken, len(within) - 1)])
        places, values = within[columns] % (side + 1), sums.values_of(self._places) * np.sqrt(bend / taken)[:, None]
        one, other = np.triu_indices(places.shape[1])
        matrix = np.zeros((side + 1) ** 2)
        halved = np.where(one == other, 0.5, 1.0)
        for first in range(0, taken, step := max(1, _PAIRS // len(one))):
            part = slice(first, first + step)
            pairs = places[part, one] * (side + 1) + places[part, other]
            products = values[part, one] * values[part, other] * halved
            matrix += np.bincount(pairs.reshape(-1), products.reshape(-1), len(matrix))
        square = matrix.reshape(side + 1, -1)[:side, :side]
        square, above = square + square.T, last[sums.parents[chosen]]
        for _ in range(2):  # rows, then columns: a code counts for all columns that its last one implies
            for number in np.flatnonzero(above >= 0)[::-1].tolist():
                square[above[number]] += square[number]
            square = np.ascontiguousarray(square.T)
        return chosen, square.astype(np.float32), diagonal


@lru_cache(4)
def _ones(number: int, dtype: type[Any]) -> Vector:
    """Return ones for one block after another; nobody writes to them."""
    ones = np.ones(number, dtype)
    ones.flags.writeable = False
    return ones
