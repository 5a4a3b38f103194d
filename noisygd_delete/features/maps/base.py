"""The interface of public feature maps.

Guarantee of a map that `check_map` accepts: Φ is fixed before the records are read, and Φ(x) is a function of x alone,
bit by bit. So with d = the map's width, everything proven for rows of norm ≤ R holds for the rows Φ(x): privacy of
present records and deletion, for adaptive requests and over many releases, because the other records' rows are the same
in both datasets. Choosing a map, or its parameters, by the accuracy on the private records makes the choice depend on
them and is outside the guarantee.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...errors import AssumptionViolated, InvalidParameter, InvalidRecords, check_positive
from .coding import Codes, Coding

MOST_FEATURES = 100_000
_TOGETHER = 1 << 22  # numbers in a block of rows


class PublicMap(ABC):
    """A feature map Φ from the numbers (or the text) of one record to `width` features."""

    kind: ClassVar[str]  # its name in a schema
    files: ClassVar[tuple[str, ...]] = ()  # parameters that are file paths
    version: ClassVar[int] = 1  # of the code: increased whenever the features of some input change
    target_norm: float | None = None  # of the weights of a good regression on rows of norm 1, if known

    @property
    @abstractmethod
    def inputs(self) -> int | None:
        """Numbers per record; None for a map of texts."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Features per record."""

    @property
    def coding(self) -> Coding | None:
        """Meaning of the codes of its rows; None if rows have no codes."""
        return None

    def codes(self, inputs: Any) -> Codes:
        """Return (records, blocks) codes of the records, equivalent to their `rows`.

        Args:
            inputs: See `features`.

        Raises:
            InvalidParameter: If the map has no `coding`; a map that has one overrides this method.
        """
        raise InvalidParameter(f"rows of the map {self.kind!r} have no codes")

    @abstractmethod
    def features(self, inputs: Any) -> Floats:
        """Return (records, width) float64, finite; each record's features are a function of that record alone.

        Args:
            inputs: (records, inputs) numbers, or a sequence of texts.
        """

    def to_dict(self) -> dict[str, Any]:
        """Return {"kind": …} and the parameters (the dataclass fields), tuples as lists, for `maps.from_dict`."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind, **{name: _to_plain(value) for name, value in given.items()}}

    def facts(self) -> dict[str, Any]:
        """Return all that determines the map: kind, code version, parameters, SHA-256 of weights; no file paths."""
        return {**self.to_dict(), **dict.fromkeys(self.files, ""), "version": self.version}

    @property
    def digest(self) -> str:
        """SHA-256 of `facts` as JSON, in hexadecimal, which identifies the map in plan, ledger and certificate."""
        return hashlib.sha256(json.dumps(self.facts(), sort_keys=True, allow_nan=False).encode()).hexdigest()

    def __deepcopy__(self, memo: Any) -> PublicMap:
        return self  # immutable

    def rows(self, inputs: Any, *, radius: float = 1.0, constant: bool = True) -> NDArray[np.float32]:
        """Return (records, width + constant) float32 rows: `features`, each record's brought to norm `radius`.

        They are computed in blocks of records. Without the constant, a row of zeros remains 0.

        Args:
            inputs: See `features`.
            radius: R.
            constant: Whether to append the constant column, 1 before the row is brought to its norm.

        Raises:
            InvalidRecords: If the map cannot read an input, or a row is not finite.
        """
        limit, width = check_positive("radius", radius), self.width + constant
        rows = np.empty((len(inputs), width), np.float32)
        given, step = inputs if self.inputs is None else np.asarray(inputs), max(1, _TOGETHER // width)
        for first in range(0, len(rows), step):
            part = slice(first, first + step)
            rows[part] = normalize_rows(self.features(given[part]), radius=limit, constant=constant)
        return rows


def _to_plain(value: Any) -> Any:
    if isinstance(value, PublicMap):
        return value.to_dict()
    return list(map(_to_plain, value)) if isinstance(value, tuple) else value


class ImportedMap(PublicMap):
    """A frozen network; its width is found by running it on one record."""

    input_shape: tuple[int, ...]  # of one record

    @property
    def inputs(self) -> int:
        """Numbers per record: the product of `input_shape`."""
        return math.prod(self.input_shape)

    @cached_property
    def width(self) -> int:
        """Number of outputs of the network on one record of zeros, run once."""
        made = self._run(np.zeros((1, self.inputs)))
        check_width(self.kind, made.shape[1])
        return int(made.shape[1])

    @abstractmethod
    def _run(self, rows: Floats) -> Floats:
        """Return (records, width), the output of the network for (records, inputs) numbers."""


def check_inputs(inputs: Any, width: int) -> Floats:
    """Return the inputs as (records, width) contiguous float64; records of any shape are flattened.

    Args:
        inputs: Numbers, the first axis being the records; empty: (0, width).
        width: Numbers per record.

    Raises:
        InvalidRecords: If they are not numbers, not finite, or not of this width.
    """
    try:
        given = np.asarray(inputs, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidRecords("the map's input must be numbers, one row a record") from error
    if given.ndim and not len(given):
        return np.zeros((0, width))
    table = given.reshape(len(given), -1) if given.ndim else given.reshape(1, 1)
    if table.shape[1] != width:
        raise InvalidRecords(f"the map reads {width} numbers a record; there are {table.shape[1]}")
    if not np.isfinite(table).all():
        raise InvalidRecords("the map's input must be finite; a record has a NaN or an infinity")
    return np.ascontiguousarray(table.reshape(len(given), width))


def by_blocks(given: Sequence[Any] | Floats, width: int, size: int, of: Callable[[Any], Floats]) -> Floats:
    """Return (records, width) float64: `of` applied to `size` records at a time, the results concatenated."""
    made = np.empty((len(given), width))
    for first in range(0, len(given), size):
        made[first : first + size] = of(given[first : first + size])
    return made


def check_width(kind: str, width: int) -> None:
    """Check that a map has between 1 and `MOST_FEATURES` features.

    Raises:
        InvalidParameter: If it has not.
    """
    if not 0 < width <= MOST_FEATURES:
        raise InvalidParameter(f"the map {kind!r} would make {width} features; give it 1 to {MOST_FEATURES}")


Floats = NDArray[np.float64]
HEADROOM = 1 - 2.0**-23  # rounding to float32 changes a norm by a relative 2^-24 at most; the margin is twice that


def row_sums(values: Floats) -> Floats:
    """Return (rows,) sums, each added from left to right, so that a row's sum cannot depend on the number of rows."""
    if not values.shape[1]:
        return np.zeros(len(values))
    return np.asarray(np.add.accumulate(values, axis=1)[:, -1])


def shrink_factors(norms: Floats, radius: float, *, clip: bool) -> Floats:
    """Return (rows,) factors that bring rows of these norms to `radius`, less a margin for rounding to float32.

    Args:
        norms: (rows,) float64.
        radius: R.
        clip: Whether to shorten longer rows only; then the factor is at most 1, and 1 for a row of zeros. Otherwise a
            row of zeros has factor 0.
    """
    with np.errstate(divide="ignore"):
        factors: Floats = radius * HEADROOM / norms
    return np.minimum(1.0, factors) if clip else np.where(norms > 0, factors, 0.0)


def normalize_rows(
    features: Floats, *, radius: float = 1.0, constant: bool = True, clip: bool = False
) -> NDArray[np.float32]:
    """Return (rows, width + constant) float32 of float64 norm at most `radius`, each a function of its own features.

    Args:
        features: (rows, width), finite.
        radius: R.
        constant: Whether to append a column of ones before the norm is taken.
        clip: Whether to shorten only rows longer than the radius instead of bringing every row to it. A row of zeros is
            unchanged.

    Raises:
        InvalidRecords: If a row is not finite, or too long for a float.
    """
    with np.errstate(over="ignore"):
        norms = np.sqrt(float(constant) + row_sums(features * features))
    if not np.isfinite(norms).all():
        raise InvalidRecords("a row of features is not finite, or too long for a float: scale them")
    factors = shrink_factors(norms, radius, clip=clip)
    rows = np.empty((len(features), features.shape[1] + constant), np.float32)
    np.multiply(features, factors[:, None], out=rows[:, : features.shape[1]], casting="same_kind")
    if constant:
        rows[:, -1] = factors
    return rows


# --- check ---
#
# Tests, on records, of the conditions that make Φ public.


_MOST = 64  # records mapped again one by one

_COMPANY = (
    "a record's row changes with the records beside it. Batch statistics (a layer in training mode), a mean, a rank or a norm over the "
    "table, or a kernel that rounds by the size of its batch: whichever it is, other people's rows would carry what was erased, and "
    "no certificate covers that. Fix the statistics beforehand from public data, call module.eval(), or map one record a call (block=1)"
)
_STATE = (
    "the same records gave other rows the second time: the map draws at random or remembers what it saw. Fix its seed when it is made, "
    "switch training mode off, and keep no running statistics"
)


def check_map(map: PublicMap, inputs: Any, *, radius: float = 1.0) -> None:
    """Check a map for the conditions of the guarantees, bit by bit, on these records (a few dozen suffice).

    Tested: one record alone gives the same row as among any others, in any order; repeated runs give the same rows;
    every row is finite and of float64 norm at most `radius`; the digest does not change. Whether Φ was chosen, or
    trained, without the private records cannot be tested; the caller must know it.

    Args:
        map: The map.
        inputs: At least three records, see `PublicMap.features`.
        radius: R.

    Raises:
        AssumptionViolated: If a test fails; the message names the finding, why it matters, and what to do.
        InvalidParameter: If `map` is not a `PublicMap`, or there are fewer than three records.
    """
    if not isinstance(map, PublicMap):
        raise InvalidParameter(f"{map!r} is no PublicMap; make it a class of noisygd_delete.maps.PublicMap")
    records = list(inputs)[:_MOST] if map.inputs is None else np.asarray(inputs)[:_MOST]
    if len(records) < 3:
        raise InvalidParameter(f"{len(records)} records; the check needs at least three different ones")
    digest = map.digest
    rows = map.rows(records, radius=radius)
    _refuse_unless(np.array_equal(map.rows(records, radius=radius), rows), map, _STATE)
    backwards = map.rows(records[::-1], radius=radius)[::-1]
    _refuse_unless(np.array_equal(backwards, rows), map, _COMPANY)
    for place in range(len(records)):
        alone = map.rows(records[place : place + 1], radius=radius)
        _refuse_unless(np.array_equal(alone[0], rows[place]), map, _COMPANY)
        crowd = [records[place], *[records[(place + 1) % len(records)]] * 2]
        beside = map.rows(crowd if map.inputs is None else np.stack(crowd), radius=radius)
        _refuse_unless(np.array_equal(beside[0], rows[place]), map, _COMPANY)
    norms = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1))
    _refuse_unless(
        bool(norms.max() <= radius),
        map,
        f"a row has norm {norms.max():.9g}, over the radius {radius:g} that the loss was proven for",
    )
    _refuse_unless(map.digest == digest, map, "its digest changed while it was used: " + _STATE)


def _refuse_unless(held: bool, map: PublicMap, reason: str) -> None:
    if not held:
        raise AssumptionViolated(f"the map {map.kind!r} cannot be certified: {reason}")
