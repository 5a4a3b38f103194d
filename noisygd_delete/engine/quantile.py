"""Φ⁻¹ in the lower half, from numpy alone: a deletion would wait longer for a library of special functions to load than for its solver.

Wichura (1988), "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics 37(3), 477-484 (PPND16): three
rational functions of degree 7, one for |p − 1/2| ≤ .425 and two for tails down to p = 10⁻³¹⁶.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ACCURACY = 2.0**-49  # |computed − Φ⁻¹(p)| over 1 + |Φ⁻¹(p)|, for 2⁻⁹⁸⁰ ≤ p ≤ 1/2 taken as they are
_CENTRAL = 0.425  # of |p − 1/2|
_CHUNK = 1 << 14
_NEAR = 5.0  # of √(−ln p)

# numerator and denominator, by falling powers
# fmt: off
_CENTRE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)
_TAIL = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)
_FAR_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)
# fmt: on

Values = NDArray[np.float64]


def lower_normal_quantile(probability: Values) -> Values:
    """Φ⁻¹(p), elementwise, within `ACCURACY`. Not checked: p in [2⁻⁹⁸⁰, 1/2].

    Args:
        probability: any shape.
    """
    flat = probability.reshape(-1)
    quantile = np.empty_like(flat)
    for start in range(0, len(flat), _CHUNK):
        part = slice(start, start + _CHUNK)
        quantile[part] = _in_cache(flat[part])
    return quantile.reshape(probability.shape)


def _in_cache(probability: Values) -> Values:
    below = probability - 0.5  # exact from 1/4 on
    quantile: Values = below * _ratio(_CENTRE, _CENTRAL**2 - below * below)
    tail = np.flatnonzero(below < -_CENTRAL)
    root = np.sqrt(-np.log(probability[tail]))
    far = root > _NEAR
    quantile[tail] = -np.where(far, _ratio(_FAR_TAIL, root - _NEAR), _ratio(_TAIL, root - 1.6))
    return quantile


def _ratio(parts: tuple[tuple[float, ...], tuple[float, ...]], at: Values) -> Values:
    above, below = (_polynomial(factors, at) for factors in parts)
    return np.divide(above, below, out=above)


def _polynomial(factors: tuple[float, ...], at: Values) -> Values:
    value = np.full_like(at, factors[0])
    for factor in factors[1:]:
        value *= at
        value += factor
    return value
