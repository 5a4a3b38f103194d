"""The exact discrete Gaussian of any rational variance: P(Z = z) ∝ exp(−z²/2σ²), z whole (Canonne, Kamath & Steinke 2020).

Rejection from steps, t = 2^k wide with 8t ≤ σ < 16t (t = 1 below σ = 16), on |z| = at + j, 0 ≤ j < t:

    j and a sign uniform; a with P(a) ∝ exp(−(at)²/2σ²); accept with probability exp(−j(2at + j)/2σ²); a negative 0 is refused,

so that z is accepted with a probability in proportion to exp(−z²/2σ²), and 19 of 20 candidates are. A uniform number of unlimited bits is
compared with the sums of P(a), and another one with the exponential, by its first 32 bits in floating point where that is beyond doubt (a
margin of 10⁻⁹, against 2⁻³² of bits to come and errors below 10⁻¹²), and else exactly, in decimals of as many digits as it takes, drawn further
until it is decided.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import GRID_BITS
from .noise import Noise

MOST_BITS = 42  # of σ: a word has room for j and the sign
_AT_ONCE = 1 << 16
_REACH = 10  # standard deviations whose steps are tabulated; the definition decides beyond
_DOUBT = 1e-9
_PARTS = 1 << 12  # of (0, 1), in most of which there is one step
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


class _Uniform:
    """A uniform number in (0, 1) of unlimited bits, of which the first 32 were read."""

    def __init__(self, first: int, noise: Noise) -> None:
        self._value, self._bits, self._noise = first, 32, noise

    def below(self, edge: Callable[[int], decimal.Decimal]) -> bool:
        """Whether it is below a number that `edge` gives to so many digits."""
        while True:
            digits = 30 + self._bits // 3  # of these some 30 stand behind the bits that are known
            with _digits(digits + 20):
                scaled, doubt = edge(digits + 10) * 2**self._bits, decimal.Decimal(10) ** -20
                if self._value + 1 <= scaled - doubt:
                    return True
                if self._value >= scaled + doubt:
                    return False
            self._value = self._value << 64 | int(self._noise.words(1)[0])
            self._bits += 64


def _digits(number: int) -> AbstractContextManager[decimal.Context]:
    return decimal.localcontext(decimal.Context(prec=number, Emin=-(10**9), Emax=10**9))


def _exp(exponent: Fraction, digits: int) -> decimal.Decimal:
    """e^{−exponent}."""
    with _digits(digits + 10):
        return (decimal.Decimal(-exponent.numerator) / decimal.Decimal(exponent.denominator)).exp()


@lru_cache(8)
def _sums(rate: Fraction, digits: int) -> list[decimal.Decimal]:
    """Σ_{a < i} e^{−rate a²} for i = 1, 2, …, up to where all further terms add less than 10^−digits."""
    most = math.isqrt(math.ceil(3 * digits / rate)) + 2
    with _digits(digits + 10):
        return list(accumulate(_exp(rate * a * a, digits) for a in range(most)))


def _share(rate: Fraction, last: int, digits: int) -> decimal.Decimal:
    """P(a ≤ last)."""
    sums = _sums(rate, digits)
    with _digits(digits + 10):
        return sums[min(last, len(sums) - 1)] / sums[-1]


def _decide(word: int, both: int, width: int, variance: Fraction, noise: Noise) -> int | None:
    """z of one candidate, by definition, or None where it is refused."""
    sign, j = word >> 63, word & (width - 1)
    number, rate, a = _Uniform(both >> 32, noise), Fraction(width * width) / (2 * variance), 0
    while not number.below(partial(_share, rate, a)):
        a += 1
    z = a * width + j
    exponent = Fraction(j * (z + a * width)) / (2 * variance)
    if exponent and not _Uniform(both & 0xFFFFFFFF, noise).below(partial(_exp, exponent)):
        return None
    return None if sign and not z else -z if sign else z


def discrete_gaussian(size: int, noise: Noise, *, variance: Fraction) -> NDArray[np.int64]:
    """`size` independent draws with variance parameter σ² > 0, in steps of the grid.

    Raises:
        ValueError: σ² is not above 0, or beyond what is exact here.
    """
    if not 0 < variance < 1 << 2 * MOST_BITS:
        raise ValueError(f"variance must be above 0 and below 2^{2 * MOST_BITS}, not {float(variance):g}")
    width = 1 << max(0, math.isqrt(math.floor(variance)).bit_length() - 4)
    twice = 2 * float(variance)
    steps = width * np.arange(1.0 + _REACH * math.sqrt(variance) // width)
    shares = np.cumsum(np.exp(-np.square(steps) / twice))
    shares /= shares[-1]
    bounds = np.arange(_PARTS + 1) / _PARTS
    guide, after = np.searchsorted(shares, bounds[:-1] - 2 * _DOUBT), np.searchsorted(shares, bounds[1:] + 2 * _DOUBT)
    guide[guide < after] = -1
    parts: list[NDArray[np.int64]] = []
    missing = size
    while missing > 0:
        words = noise.words(2 * (min(missing, _AT_ONCE) * 17 // 16 + 16)).reshape(-1, 2)
        j = (words[:, 0] & np.uint64(width - 1)).astype(np.float64)
        first, second = words[:, 1] >> _HALF, (words[:, 1] & _LOW) * 2.0**-32
        a = guide[first // np.uint64((1 << 32) // _PARTS)]
        unsure = np.flatnonzero(a < 0)
        there = first[unsure] * 2.0**-32
        a[unsure] = np.searchsorted(shares, there, side="right")
        start = a * float(width)
        level = np.exp(-j * (2 * start + j) / twice)
        doubtful = np.abs(level - second) < _DOUBT
        ends = np.append(0.0, shares)[a[unsure, None] + np.arange(2)]
        doubtful[unsure] |= (np.abs(ends - there[:, None]) < _DOUBT).any(axis=1)
        negative = words[:, 0] >> np.uint64(63) == 1
        whole = (start + j).astype(np.int64)
        accepted = (second < level) & ~(negative & (whole == 0))
        whole = np.where(negative, -whole, whole)
        for row in np.flatnonzero(doubtful):
            found = _decide(int(words[row, 0]), int(words[row, 1]), width, variance, noise)
            accepted[row], whole[row] = found is not None, found or 0
        parts.append(whole[accepted][:missing])
        missing -= len(parts[-1])
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def grid_of(output_noise: float, *, bits: int = GRID_BITS) -> float:
    """h = τ/2^bits."""
    return output_noise * 2.0**-bits


def on_noisy_grid(
    weights: NDArray[np.float64], noise: Noise, *, output_noise: float, bits: int = GRID_BITS
) -> NDArray[np.float64]:
    """The weights rounded to the grid of step h = τ/2^bits, plus an exact discrete Gaussian of parameter τ on it.

    Args:
        output_noise: τ, a power of two: division by h and the product with it are then exact in float64.
    """
    if not output_noise > 0 or np.frexp(output_noise)[0] != 0.5:
        raise ValueError(f"output_noise must be a power of two, not {output_noise}")
    grid = grid_of(output_noise, bits=bits)
    steps = np.rint(weights / grid) + discrete_gaussian(weights.size, noise, variance=Fraction(4) ** bits).reshape(
        weights.shape
    )
    published: NDArray[np.float64] = np.asarray(steps * grid + 0.0, dtype=np.float64)
    published.flags.writeable = False
    return published
