"""The test kit of maps: what makes Φ public, tried out on records."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import AssumptionViolated, InvalidParameter
from .base import PublicMap

_MOST = 64  # records that are mapped again one by one

_COMPANY = (
    "a record's row changes with the records beside it. Batch statistics (a layer in training mode), a mean, a rank or a norm over the "
    "table, or a kernel that rounds by the size of its batch: whichever it is, other people's rows would carry what was erased, and "
    "no certificate covers that. Fix the statistics beforehand from public data, call module.eval(), or map one record a call (block=1)"
)
_STATE = (
    "the same records gave other rows the second time: the map draws at random or remembers what it saw. Fix its seed when it is made, "
    "switch training mode off, and keep no running statistics"
)


def check(map: PublicMap, inputs: Any, *, radius: float = 1.0) -> None:
    """Hold a map to what the guarantees need, bit by bit, on these records (a few dozen different ones do).

    Tried: one record alone gives the row that it has among others, in any order, and beside any others; the second time as the
    first; every row finite and of float64 norm at most `radius`; a free slot gives the null row, all zeros; the digest stays.
    What cannot be tried is whether Φ was chosen, or trained, without the private records: that is yours to know.

    Args:
        inputs: at least three records, as `map.features` takes them.

    Raises:
        AssumptionViolated: names what was found, why it matters, and what to do.
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
    held = np.arange(len(records)) % 2 == 0
    some = map.rows(records, radius=radius, occupied=held)
    _refuse_unless(
        not some[~held].any(),
        map,
        "a free slot gives a row that is not all zeros: it would take part in learning like a record",
    )
    _refuse_unless(np.array_equal(some[held], rows[held]), map, _COMPANY)
    _refuse_unless(map.digest == digest, map, "its digest changed while it was used: " + _STATE)


def _refuse_unless(held: bool, map: PublicMap, reason: str) -> None:
    if not held:
        raise AssumptionViolated(f"the map {map.kind!r} cannot be certified: {reason}")
