"""Features to rows of norm ≤ R: the last thing that happens to a row, the constant column inside the norm."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidRecords

Floats = NDArray[np.float64]
HEADROOM = 1 - 2.0**-23  # rounding to float32 moves a row's norm by at most a relative 2^-24; twice that is left free


def sums(values: Floats) -> Floats:
    """(rows,) sums of each row, added from left to right: a row's sum cannot depend on how many rows there are."""
    if not values.shape[1]:
        return np.zeros(len(values))
    return np.asarray(np.add.accumulate(values, axis=1)[:, -1])


def normalised(
    features: Floats, *, radius: float = 1.0, constant: bool = True, clip: bool = False
) -> NDArray[np.float32]:
    """(rows, width + constant) float32 whose float64 norm is at most `radius`, each a function of its own features alone.

    Args:
        features: (rows, width) finite.
        constant: append a column of ones before the norm is taken.
        clip: shorten rows longer than the radius, in place of bringing every row to it. A row of zeros stays one.
    """
    with np.errstate(over="ignore"):
        norms = np.sqrt(float(constant) + sums(features * features))
    if not np.isfinite(norms).all():
        raise InvalidRecords("a row of features is not finite, or too long for a float: scale them")
    limit = radius * HEADROOM
    with np.errstate(divide="ignore"):
        factors = limit / norms
    factors = np.minimum(1.0, factors) if clip else np.where(norms > 0, factors, 0.0)
    rows = np.empty((len(features), features.shape[1] + constant), np.float32)
    np.multiply(features, factors[:, None], out=rows[:, : features.shape[1]], casting="same_kind")
    if constant:
        rows[:, -1] = factors
    return rows
