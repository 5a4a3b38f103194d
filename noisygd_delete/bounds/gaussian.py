"""Gaussian DP → (ε, δ), exactly, and back.

    δ = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2)              (Balle & Wang 2018; Dong, Roth & Su 2022)

Every function is total and rounds outward: ε and δ up, the μ that a budget allows down.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .rounding import LEAST_LOG, MARGIN, UNIT, exp_up, log_down
from .search import least_safe

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_SQRT2 = math.sqrt(2)
_LOG_SQRT_2PI = math.log(2 * math.pi) / 2


def _mills(t: float) -> float:
    """m(t) = Φ(−t)/φ(t)."""
    from scipy.special import erfcx  # loaded where it is used: most commands never are here

    return math.sqrt(math.pi / 2) * float(erfcx(t / _SQRT2))


def _mills_slope(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """−m′(t) = 1 − t m(t) > 0 for t ≥ −1, to a few ulps.

    The difference loses at most a factor 10 below t = 3. Beyond, 1 − t m = r/(t + r) with the continued fraction
    r = 1/(t + 2/(t + 3/(t + …))) of positive terms, cut after 60.
    """
    from scipy.special import erfcx

    far = np.maximum(t, 3.0)
    tail = np.zeros_like(t)
    if (t >= 3).any():  # sixty divisions, for nothing where every t is near
        for term in range(60, 0, -1):
            tail = term / (far + tail)
    near = np.minimum(t, 3.0)
    return np.where(t < 3, 1 - near * math.sqrt(math.pi / 2) * erfcx(near / _SQRT2), tail / (far + tail))


def gdp_log_delta(*, mu: float, epsilon: float) -> float:
    """Upper bound on log δ(ε) of μ-GDP, within 1e-10 of it wherever δ is a double; −∞ when μ = 0.

    With a = ε/μ − μ/2, b = ε/μ + μ/2 and e^ε φ(b) = φ(a):

        a ≥ −1:  δ = φ(a) (m(a) − m(b)), and m(a) − m(b) = ∫ₐᵇ −m′ where μ is too small to subtract
        a < −1:  δ = Φ(−a) − φ(a) m(b); then μ > 2 and b > 1, so that δ > 0.6 and nothing cancels
    """
    if mu == 0:
        return -math.inf
    if mu == math.inf:
        return 0.0
    far = epsilon / mu
    a, b = far - mu / 2, far + mu / 2
    if a > 1e150:
        return LEAST_LOG
    wobble = 4 * UNIT * b  # error of a
    if a < -1:
        from scipy.special import ndtr

        density = math.exp(-a * a / 2 - _LOG_SQRT_2PI)
        delta = float(ndtr(-a)) - density * _mills(b)
        return min(0.0, math.log(delta) + density * wobble + 64 * UNIT)
    if a > 1e6:  # −m′(t) ≤ 1/t²
        log_drop = min(math.log(mu) - 2 * math.log(a), -math.log(a))
    elif mu < 0.5:
        log_drop = math.log(mu / 2) + math.log(float(_WEIGHTS @ _mills_slope(far + mu / 2 * _NODES)))
    else:
        log_drop = math.log(_mills(a) * (1 + 32 * UNIT) - _mills(b))
    exponent = a * a / 2
    slack = MARGIN + 4 * UNIT * exponent + (abs(a) + 2) * wobble
    value = log_drop - exponent - _LOG_SQRT_2PI + slack
    return max(LEAST_LOG, min(0.0, value))


def gdp_delta(*, mu: float, epsilon: float) -> float:
    """δ(ε) of μ-GDP, rounded up."""
    return exp_up(gdp_log_delta(mu=mu, epsilon=epsilon))


def gdp_epsilon(*, mu: float, delta: float) -> float:
    """The least ε (rounded up) for which μ-GDP implies (ε, δ)-DP; 0 when δ ≥ 2Φ(μ/2) − 1, ∞ when δ = 0 < μ."""
    if mu == 0 or delta >= 1:
        return 0.0
    if delta <= 0 or mu > 1e150:
        return math.inf
    log_delta = log_down(delta)

    def safe(epsilon: float) -> bool:
        return gdp_log_delta(mu=mu, epsilon=epsilon) <= log_delta

    if safe(0.0):
        return 0.0
    chernoff = mu * mu / 2 + mu * math.sqrt(2 * -log_delta) + mu  # on the privacy loss
    return least_safe(safe, guess=chernoff, factor=16)


def gdp_for(*, epsilon: float, delta: float) -> float:
    """The largest μ (rounded down) for which μ-GDP implies (ε, δ)-DP."""
    log_delta = log_down(delta)

    def safe(inverse: float) -> bool:  # searched in 1/μ, so that "larger" is the safe side
        return gdp_log_delta(mu=1 / inverse, epsilon=epsilon) <= log_delta

    return math.nextafter(1 / least_safe(safe, guess=1.0, factor=4), 0.0)


LARGEST_DRAW = 36.3  # of the noise source, in standard deviations, rounded down
_DRAWS = 1e18  # more than any run takes


def support_delta(*, mu: float) -> float:
    """Upper bound on the δ that noise without draws beyond `LARGEST_DRAW` adds: ideal noise has outcomes that it has not.

    Steps that move the two worlds a_1, a_2, … apart (Σ a² = μ²) are told apart where a draw of one world is none of the
    other: with probability at most Φ(|a_i| − B) each, |a_i| ≤ μ.
    """
    from scipy.special import log_ndtr

    return min(1.0, math.exp(float(log_ndtr(mu - LARGEST_DRAW)) + math.log(_DRAWS) + MARGIN))
