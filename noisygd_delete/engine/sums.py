"""Gradient sums over the current records, independent of where the rows are stored.

Rows may be in memory, in a mapped file, in the processes of a group, or on a cluster: a solver sees one interface that
returns sums, added in an order whose rounding `bounds.arithmetic.gradient_error` bounds. Implementations store nothing
about their queries. The linear term, λ, the iterates and the noise stay with the caller (`PreciseObjective`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK, CHUNK, MOST_PARTITIONS, NORM_TOLERANCE, SHARE_BITS, SPAN
from ..errors import AssumptionViolated, InvalidParameter, InvalidRecords
from ..losses.base import Loss
from ..records import CodedRows, Records, SparseRows
from ..records.values import NO_ARRAY, Table
from .coded import CodedSums
from .content_order import RowsInOrder, order_of_content
from .execution import ALONE, Group, run_parallel
from .kernel import Kernel, is_supported, memory_limit, row_windows, sum_pairwise
from .nested import NestedPart, nest_codes, nest_rows, sample_size

if TYPE_CHECKING:
    from .moments import IntegerMoments, Integers


# --- local sums ---
#
# Sums in float64 over rows that this process can read: in memory, mapped from a file, or its share of a group's.
#
# Rows are float32 and are converted to float64 in pieces that fit in cache. Intermediate points of a solver may use
# float32, without a proven bound.


_CACHED = 1 << 18  # numbers of a piece of a chunk in float64 that stays in the processor's cache
_LEAST = 64  # least rows of a piece
_FOR_EACH_OUTPUT = 4  # rows of a piece per output: products of fewer rows are too small to be efficient
_HELD = 1 << 22  # most numbers of a piece enlarged for several outputs
_TASK = 1 << 20  # numbers worth a task of their own thread


class HeldSums:
    """Sums over one table (see `Sums`).

    Holds views of the rows, or a copy in another order, and no results except the partial sums of the compiled kernel.

    Args:
        rows: (slots, features) float32, in memory, mapped, or reordered.
        labels: (slots,).
        loss: The loss.
        group: The processes that share the rows.
        readings: Number of gradients to be computed, if known: the compiler is not loaded for a few.
        shares: (slots,) weight of each row, from `person_shares`; None: 1.
    """

    def __init__(
        self,
        rows: NDArray[np.float32] | RowsInOrder,
        labels: NDArray[np.float64],
        loss: Loss,
        group: Group = ALONE,
        readings: int | None = None,
        shares: NDArray[np.float64] | None = None,
    ) -> None:
        self._loss, self._group, self._shares = loss, group, shares
        self._labels: NDArray[Any] = labels.astype(np.int64) if loss.label_kind == "class" else labels
        self._short = self._labels if loss.label_kind == "class" else labels.astype(np.float32)
        self.slots, self.width = rows.shape
        self._own = group.rows(self.slots, CHUNK)
        self._numbers = self.slots * self.width
        self._all, self._rows = rows, rows.gather(self._own) if isinstance(rows, RowsInOrder) else rows
        kept = self._rows
        compiled = isinstance(kept, np.ndarray) and shares is None and is_supported(loss, kept, readings)
        self._kernel = Kernel(cast("NDArray[np.float32]", kept), loss, self._own) if compiled else None

    def _tasks(self) -> Iterator[slice]:
        """Yield slices of whole chunks, large enough for a thread."""
        most = CHUNK
        while most * self.width < _TASK:
            most *= 2
        return row_windows(self._rows, self._own.start, self._own.stop, most)

    def _pieces(self, part: slice, dtype: str) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Yield rows in this dtype and their labels, in pieces that fit in cache (chunks, or equal parts of one).

        The buffer is reused: a piece is valid only until the next one.
        """
        numbers = max(_CACHED, min(_FOR_EACH_OUTPUT * self._loss.outputs * self.width, _HELD))
        most = max(_LEAST, min(CHUNK, numbers // self.width))
        if most == CHUNK:
            most *= max(1, numbers // (CHUNK * self.width))
        labels = self._labels if dtype == "float64" else self._short
        buffer = np.empty((min(most, part.stop - part.start), self.width)) if dtype == "float64" else None
        start = part.start
        while start < part.stop:
            stop = min(start + most, part.stop)
            if most < CHUNK:  # no piece crosses the end of a chunk
                stop = min(stop, start + CHUNK - (start - part.start) % CHUNK)
            rows = self._rows[start:stop]
            if buffer is not None:
                np.copyto(buffer[: len(rows)], rows)
            yield rows if buffer is None else buffer[: len(rows)], labels[start:stop]
            start = stop

    def gradient(self, weights: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
        """Return the gradient sum; in float32 up to twice as fast, and accurate to about 2⁻²³ nL."""
        if self._kernel is not None:
            return self._group.total(self._kernel(weights, self._labels if dtype == "float64" else self._short))
        turned = self._of_entries(weights.T.astype(dtype))  # (features, outputs)

        def add(part: slice) -> list[NDArray[np.float64]]:
            sums, begun, at = list[NDArray[np.float64]](), 0, part.start  # begun: rows of an unfinished chunk so far
            for rows, labels in self._pieces(part, dtype):
                scores = np.asfortranarray(rows @ turned)  # column-major, as in objective.py
                slopes = self._loss.derivative(scores, labels, np)
                if self._shares is not None:
                    slopes *= self._shares[at : at + len(labels), None].astype(slopes.dtype)
                made, at = _sums_of_chunks(slopes.T, rows), at + len(labels)
                if begun:
                    sums[-1] += made[0]
                else:
                    sums.extend(made)
                begun = (begun + len(labels)) % CHUNK
            return self._of_features(sums)

        parts = chain.from_iterable(run_parallel(add, self._tasks(), self._numbers))
        return self._group.total(sum_pairwise(parts, weights.shape))

    def _of_entries(self, turned: NDArray[Any]) -> NDArray[Any]:
        """Convert weights (features, outputs) to factors of the stored entries of a row."""
        return turned

    def _of_features(self, sums: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """Convert sums over stored entries to sums over features."""
        return sums

    def strided(self, rows: int) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """Return the rows and labels of about `rows` evenly spaced slots."""
        return self.every(max(1, self.slots // rows))

    def every(self, step: int, first: int = 0) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """Return every `step`-th slot from `first` on."""
        return np.ascontiguousarray(self._all[first::step]), self._short[first::step]


def _sums_of_chunks(slopes: NDArray[Any], rows: Any) -> list[NDArray[np.float64]]:
    """Return Σ g_i ⊗ x_i for each chunk of these rows and for the remainder; slopes (outputs, rows)."""
    if not isinstance(rows, np.ndarray):
        return rows.sums(slopes)  # type: ignore[no-any-return]
    if slopes.shape[1] <= CHUNK:
        return [(slopes @ rows).astype(np.float64, copy=False)]
    chunks = slopes.shape[1] // CHUNK
    whole = chunks * CHUNK
    apart = np.ascontiguousarray(slopes[:, :whole]).reshape(-1, chunks, CHUNK).transpose(1, 0, 2)
    sums = list(np.matmul(apart, rows[:whole].reshape(chunks, CHUNK, -1)).astype(np.float64, copy=False))
    return sums + [(slopes[:, whole:] @ rows[whole:]).astype(np.float64, copy=False)] * (whole < len(rows))


Vector = NDArray[Any]


class Sums(Protocol):
    """Sums over the records of one table under one loss, for weights (outputs, features) float64.

    Inside a partition the terms of a gradient are added as in `HeldSums`: chunks of at most `bounds.arithmetic.CHUNK`
    rows in float64, then chunks in a tree (`kernel.sum_pairwise`); then partitions, in their order, also in a tree.
    """

    @property
    def slots(self) -> int:
        """n; free slots count, and add nothing to a gradient."""

    @property
    def width(self) -> int:
        """Number of features of a row."""

    def gradient(self, weights: Vector, dtype: str) -> Vector:
        """Return Σ_x ∇ℓ(θ; x), float64 in the shape of the weights; "float32" permits rounding without a bound."""

    def strided(self, rows: int) -> tuple[Vector, Vector]:
        """Return the rows (float32) and labels of about `rows` evenly spaced slots."""


def person_shares(records: CurrentRecords) -> NDArray[np.float64]:
    """Return (slots,) the weight of each row: ⌊2²⁰/k⌋/2²⁰ for a person with k rows, 1 in free slots.

    The weights of a person's rows sum to at most 1, and are exact in float32. Derived from the current records, so that
    nothing of an erased row remains in them.

    Raises:
        InvalidParameter: If the rows are not in this process.
    """
    alike = np.maximum(local_rows(records).rows_alike(), 1)
    return ((1 << SHARE_BITS) // alike) / (1 << SHARE_BITS)


class RowsElsewhere(ABC):
    """A table whose rows are not in this process, which only answers queries for sums.

    Only methods that need nothing but sums can run on it (`local_rows`).
    """

    rows_per_subject = 1

    @property
    @abstractmethod
    def slots(self) -> int:
        """Dataset size n of the theorems: public and fixed."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of features of a row."""

    @abstractmethod
    def check(self, loss: Loss, variances: Vector | None) -> None:
        """Raise unless every record meets the assumptions behind the loss's constants, as in `check_records`."""

    @abstractmethod
    def sums(self, loss: Loss) -> Sums:
        """Return the sums over these rows."""

    def exact_sums(self, moments: IntegerMoments) -> Integers:
        """Return exact integer sums, as the function `exact_sums`; `InvalidParameter` unless overridden."""
        raise InvalidParameter("these rows cannot be summed exactly; plan with method 'objective-perturbation'")


CurrentRecords = Records | RowsElsewhere


def local_rows(records: CurrentRecords) -> Records:
    """Return the table, for code that needs its rows and not only their sums.

    Raises:
        InvalidParameter: If the rows are not in this process.
    """
    if isinstance(records, RowsElsewhere):
        raise InvalidParameter(
            "this needs rows, and those of this table lie elsewhere, where they answer sums alone. Plan with method 'objective-perturbation', "
            "or another of convex losses without exact=False, whose runs ask for sums"
        )
    return records


def check_partitions(table: str, partitions: int) -> None:
    """Raise `InvalidRecords` if a table has more partitions than the bound on rounding covers."""
    if partitions > MOST_PARTITIONS:
        raise InvalidRecords(
            f"{table} comes in {partitions} parts, more than the {MOST_PARTITIONS} that the declared rounding covers; merge its files into "
            "larger ones"
        )


def exact_sums(records: CurrentRecords, moments: IntegerMoments, *, by_person: bool = False) -> Integers:
    """Return what method 'sufficient-statistics' publishes of a table, before its noise."""
    if by_person:
        return moments.of_persons(local_rows(records))
    return records.exact_sums(moments) if isinstance(records, RowsElsewhere) else moments.of_table(records)


def sums_of(
    records: CurrentRecords,
    loss: Loss,
    group: Group = ALONE,
    readings: int | None = None,
    *,
    by_content: bool = False,
    by_person: bool = False,
) -> Sums:
    """Return the sums over the rows of a table.

    Args:
        records: The table.
        loss: The loss of a row.
        group: The processes that share the rows.
        readings: Number of gradients to be computed, if known.
        by_content: Whether local rows are added in an order determined by their contents, independent of their slots.
        by_person: Whether each row weighs its person's `person_shares`.

    Raises:
        InvalidParameter: If `by_content` or `by_person` is set and the rows are not in this process.
    """
    shares = person_shares(records) if by_person else None
    if isinstance(records, RowsElsewhere):
        if by_content:
            raise InvalidParameter(
                "rows that lie elsewhere come in any order, which this plan does not charge for; take plan.allow_any_order()"
            )
        return records.sums(loss)
    if records.coded_rows is None or group is not ALONE or records.coded_rows.nbytes <= _EXPANDED:
        records = expand_codes(records)
    rows: Any = records.features if records.sparse is None else records.sparse
    labels = records.labels

    def order() -> NDArray[np.intp]:
        return order_of_content(rows.codes if isinstance(rows, CodedRows) else rows, labels, group)

    if isinstance(rows, CodedRows) and group is ALONE and shares is None:
        looked_up = CodedSums.of(rows, labels, loss, order if by_content else None)
        if looked_up is not None:
            return looked_up
    if by_content:
        places = order()
        if shares is not None:  # equal rows of equal weights add equal terms
            places = places[np.argsort(shares[places], kind="stable")]
            shares = shares[places]
        rows = RowsInOrder(rows, places) if isinstance(rows, np.ndarray) else rows.select(places)
        labels = labels[places]
    if isinstance(rows, SparseRows) or (isinstance(rows, CodedRows) and (rows.skips_zeros or group is ALONE)):
        return SparseSums(rows, labels, loss, shares)
    return HeldSums(rows, labels, loss, group, readings, shares)


# --- sparse rows ---
#
# Sums over sparse rows (`records.values`): products skip the zeros.
#
# The declared bounds of dense rows hold unchanged. A score adds at most as many products as a row has features, the
# skipped products being exactly 0; a coordinate of a gradient sum adds at most the terms of its block or chunk,
# starting at 0; neither bound depends on the order. And a score depends only on its own row, the sum of a block only on
# that block.


Weights = NDArray[np.float64]

_WIDE, _MOSTLY = 256, 8  # least features for counting zeros; one value in this many may be non-zero
_BYTES = 16  # of memory for a value, while a table is put in order
_EXPANDED = 1 << 28  # most bytes of a table of codes that is expanded for sums without skipping zeros
_KEPT = 1 << 24  # most values of a table whose parts are cached in float64 too: 128 MiB


def to_sparse_records(records: Records) -> Records:
    """Return the table as sparse rows in memory, for one run, if its rows are mostly zeros; else unchanged."""
    if records.sparse is not None or records.width < _WIDE:
        return records
    most = min(records.slots * records.width / _MOSTLY, memory_limit() / _BYTES)
    if records.coded_rows is not None:
        codes, codec = records.coded_rows.codes, records.coded_rows.codec
        worth = records.slots * codec.entries <= most  # public, unlike the number of values
        return _with_rows(records, CodedRows(codes, codec, skips_zeros=True)) if worth else records
    rows, filled = records.features, 0
    for part in row_windows(rows, 0, records.slots, CHUNK):  # all rows: a sample would reveal which slots hold them
        filled += int(np.count_nonzero(rows[part]))
        if filled > most:
            return records
    data, columns, lengths = list[NDArray[Any]](), list[NDArray[Any]](), [np.zeros(1, np.int64)]
    for part in row_windows(rows, 0, records.slots, CHUNK):
        block = np.ascontiguousarray(rows[part])
        places = np.flatnonzero(block.view(np.uint32).reshape(-1) != 0)  # integers are compared faster
        data.append(block.reshape(-1)[places])
        columns.append((places % records.width).astype(np.int32))
        lengths.append(np.bincount(places // records.width, minlength=len(block)))
    starts = np.concatenate(lengths).cumsum()
    return _with_rows(records, SparseRows(np.concatenate(data), np.concatenate(columns), starts, records.width))


def _with_rows(records: Records, rows: Table) -> Records:
    return Records.from_slots(rows, records.labels, records.names, records.owners, records.next_id)


def numbers_of(records: CurrentRecords) -> int:
    """Return how many numbers a product with all rows multiplies."""
    thin, coded = (records.sparse, records.coded_rows) if isinstance(records, Records) else (None, None)
    if coded is not None and coded.skips_zeros:
        return records.slots * coded.codec.entries
    return records.slots * records.width if thin is None else thin.nonzeros


def expand_codes(records: Records) -> Records:
    """Return a table of codes with its rows in memory, for passes that multiply all values.

    Codes that may be summed without their zeros, and rows that exceed the memory limit, stay codes.
    """
    coded = records.coded_rows
    if coded is None or coded.skips_zeros or coded.nbytes > memory_limit():
        return records
    return _with_rows(records, np.asarray(coded))


class TransposableRows:
    """Some rows and their transpose, with separate columns for each chunk, so that one product sums all chunks."""

    def __init__(self, rows: Any, chunk: int) -> None:
        from scipy.sparse import csr_array

        taken, width = rows.shape
        self.rows, self._chunks = rows, -(-taken // chunk)
        apart = rows.indices
        if self._chunks > 1:
            sizes = np.diff(rows.indptr[[*range(0, taken, chunk), taken]])
            kind = np.int32 if self._chunks * width < 2**31 else np.int64
            apart = apart + np.repeat(np.arange(self._chunks, dtype=kind) * width, sizes)
        self._turned = csr_array((rows.data, apart, rows.indptr), shape=(taken, self._chunks * width)).T

    def __matmul__(self, other: NDArray[Any]) -> NDArray[Any]:
        return self.rows @ other  # type: ignore[no-any-return]

    def sums(self, slopes: NDArray[Any]) -> list[Weights]:
        """Return Σ g_i ⊗ x_i for each chunk; slopes (outputs, rows)."""
        made = (self._turned @ slopes.T).astype(np.float64, copy=False)
        return list(made.reshape(self._chunks, -1, len(slopes)).transpose(0, 2, 1))


class SparseSums(HeldSums):
    """`HeldSums` over sparse rows, converted to float64 one chunk at a time, and cached if they are few."""

    _rows: Any

    def __init__(
        self,
        rows: SparseRows | CodedRows,
        labels: NDArray[np.float64],
        loss: Loss,
        shares: NDArray[np.float64] | None = None,
    ) -> None:
        self._nested, self._whole = nest_codes(rows) if isinstance(rows, CodedRows) else nest_rows(rows), rows
        kept: Any = rows if self._nested is None else self._nested.rows
        super().__init__(kept, labels, loss, shares=shares)
        self._numbers, self._parts = kept.nonzeros, dict[tuple[int, int, str], TransposableRows]()

    def _tasks(self) -> Iterator[slice]:
        most = SPAN
        while most < self.slots and most * self._numbers < _TASK * self.slots:
            most *= 2
        for start in range(0, self.slots, most):
            yield slice(start, min(start + most, self.slots))

    def _pieces(self, part: slice, dtype: str) -> Iterator[tuple[Any, NDArray[Any]]]:
        labels = self._labels if dtype == "float64" else self._short
        most = part.stop - part.start if self._loss.outputs == 1 else CHUNK
        for start in range(part.start, part.stop, most):
            yield self._part(start, min(start + most, part.stop), dtype), labels[start : start + most]

    def _part(self, start: int, stop: int, dtype: str) -> TransposableRows:
        """Return a part of the rows, cached as it costs many products. Large tables are cached only in float32."""
        place = start, stop, dtype
        if (made := self._parts.get(place)) is None:
            made = TransposableRows(self._rows.part(start, stop, dtype), CHUNK if dtype == "float64" else stop - start)
            if dtype == "float32" or self._numbers <= _KEPT:
                self._parts[place] = made
        return made

    def _of_entries(self, turned: NDArray[Any]) -> NDArray[Any]:
        return turned if self._nested is None else self._nested.gather @ turned

    def _of_features(self, sums: list[Weights]) -> list[Weights]:
        if self._nested is None:
            return sums
        outputs = sums[0].shape[0]
        together = self._nested.spread @ np.concatenate(sums).T
        return list(together.T.reshape(-1, outputs, self.width))

    def every(self, step: int, first: int = 0) -> tuple[Any, NDArray[Any]]:
        """Return every `step`-th slot from `first` on, as sparse rows, or as a `NestedPart` if one score reads nested rows."""
        whole, chosen = self._whole, slice(first, None, step)
        coded = isinstance(whole, CodedRows)
        if self._nested is None or self._loss.outputs > 1:
            some = whole.select(chosen).sparse() if isinstance(whole, CodedRows) else whole
            return some.part(0, len(some))[slice(None) if coded else chosen], self._short[chosen]
        entries = whole.codec.entries if isinstance(whole, CodedRows) else whole.nonzeros // self.slots
        return NestedPart(self._rows.part(0, self.slots)[chosen], self._nested, entries), self._short[chosen]

    def strided(self, rows: int) -> tuple[Any, NDArray[Any]]:
        return super().strided(rows if self._nested is None else sample_size(rows, self.slots))


# --- assumptions ---
#
# The assumptions of a loss's constants about the records, checked row by row.


_LABELS = 1 << 16  # labels checked at a time
_TOO_LONG = (
    ": L and β are proven for shorter rows only. Divide every row by its own norm, clip it, or give the loss a larger radius",
    " in the shape of the noise: one of its one-hot blocks is cold. Give the block a column for unknown values "
    '(unknown = "column"), divide the row by that norm, or plan without one_hot_blocks',
)


def check_records(
    records: CurrentRecords, loss: Loss, group: Group = ALONE, *, variances: NDArray[np.float64] | None = None
) -> None:
    """Raise unless every record meets the assumptions behind the loss's constants: row norm ≤ R, labels of its kind.

    In a group each process reads its own rows, and all of them raise alike. Outside a group, a table that met them and
    has only lost records since is not read again.

    Args:
        records: The table.
        loss: The loss.
        group: The processes that share the rows.
        variances: (features,) v of a shaped noise, for which √(xᵀΣ⁻¹x) ≤ R is assumed as well.

    Raises:
        AssumptionViolated: If a row is too long.
        InvalidRecords: If a label is not of the loss's kind.
    """
    if isinstance(records, RowsElsewhere):
        return records.check(loss, variances)
    assumed = (loss.radius, loss.label_kind, loss.outputs, None if variances is None else variances.tobytes())
    if group is ALONE and records.is_checked(assumed):
        return
    if records.sparse is not None and group is not ALONE:
        raise InvalidParameter(NO_ARRAY)
    own = group.rows(records.slots, BLOCK)
    longest = group.gather(longest_rows(records.sparse or records.features, own, variances))
    check_norms(list(map(max, zip(*longest, strict=True))), loss, lambda slot: f"the row of id {records.names[slot]!r}")
    for first in range(0, records.slots, _LABELS):
        part = slice(first, first + _LABELS)
        check_labels(records.labels[part], records.names.held_in(part), loss)
    records.mark_checked(assumed)


def check_norms(longest: list[tuple[float, int]], loss: Loss, named: Callable[[int], str]) -> None:
    """Raise `AssumptionViolated` unless these largest norms, from `longest_rows`, are within the loss's radius."""
    for (norm, slot), advice in zip(longest, _TOO_LONG, strict=False):
        if not norm <= loss.radius * (1 + NORM_TOLERANCE):
            raise AssumptionViolated(f"{named(slot)} has norm {norm:.6g} > radius={loss.radius:g}{advice}")


def longest_rows(
    rows: NDArray[np.float32] | SparseRows | CodedRows, own: range, variances: NDArray[np.float64] | None
) -> list[tuple[float, int]]:
    """Return the largest ‖x‖ among the rows `own`, with its slot; with `variances`, also the largest √(xᵀΣ⁻¹x)."""
    if isinstance(rows, CodedRows) and variances is None:
        return [_longest_coded(rows, own)]
    weights = [np.ones(rows.shape[1]), *([] if variances is None else [1 / variances])]
    longest = [(0.0, own.start)] * len(weights)
    columns = np.array(weights).T
    for part, squares in _squares(rows, own):
        for which, sums in enumerate((squares @ columns).T):
            slot = int(sums.argmax())  # argmax returns a NaN if there is one
            norm = math.inf if np.isnan(sums[slot]) else math.sqrt(sums[slot])
            longest[which] = max(longest[which], (norm, part.start + slot))
    return longest


def _longest_coded(rows: CodedRows, own: range) -> tuple[float, int]:
    """Return the largest norm among the rows `own`, with its slot, from one row of each norm in a block."""
    longest = (0.0, own.start)
    for first in range(own.start, own.stop, SPAN):
        codes = rows.codes[first : min(first + SPAN, own.stop)]
        places = rows.codec.rows_of_each_norm(codes)
        some = SparseRows.empty(0, rows.shape[1]) if not len(places) else rows.codec.decode_sparse(codes[places])
        values, rows_of = some.entries()[0].astype(np.float64), np.repeat(np.arange(len(some)), some.lengths)
        squares = np.bincount(rows_of, values * values, len(some))
        longest = max(
            longest, *((math.sqrt(total), first + int(at)) for at, total in zip(places, squares, strict=True))
        )
    return longest


def _squares(rows: NDArray[np.float32] | SparseRows | CodedRows, own: range) -> Iterator[tuple[slice, Any]]:
    """Yield slices of rows, with the squares of their values in float64."""
    if isinstance(rows, (SparseRows, CodedRows)):
        for start in range(own.start, own.stop, CHUNK):
            chunk = slice(start, min(start + CHUNK, own.stop))
            if isinstance(rows, CodedRows):
                yield chunk, rows.sparse(chunk.start, chunk.stop).part(0, chunk.stop - start, "float64").power(2)
            else:
                yield chunk, rows.part(start, chunk.stop, "float64").power(2)
        return
    most = max(_LEAST, min(CHUNK, _CACHED // rows.shape[1], len(own)))
    buffer = np.empty((most, rows.shape[1]))
    for part in row_windows(rows, own.start, own.stop, most):
        squares = buffer[: part.stop - part.start]
        np.copyto(squares, rows[part])
        yield part, np.square(squares, out=squares)


LARGEST_TARGET = 1e6  # not a bound of a theorem: sums of scores and slopes stay finite far beyond it


def check_labels(labels: NDArray[np.float64], occupied: NDArray[np.bool_], loss: Loss) -> None:
    """Raise `InvalidRecords` unless the labels of occupied slots are of the loss's kind."""
    if loss.label_kind == "binary" and not ((np.abs(labels) == 1.0) | ~occupied).all():
        raise InvalidRecords("labels must be −1 or +1 for this loss; map the two class names to them")
    if loss.label_kind == "class":
        classes = loss.outputs
        if not (np.isin(labels, np.arange(classes)) | ~occupied).all():
            raise InvalidRecords(f"labels must be whole numbers 0..{classes - 1} for {classes} classes")
    if loss.label_kind == "target" and not ((np.abs(labels) <= LARGEST_TARGET) | ~occupied).all():
        raise InvalidRecords(
            f"targets must be numbers between -{LARGEST_TARGET:,.0f} and {LARGEST_TARGET:,.0f}; map them to [-1, 1] by public bounds"
        )
