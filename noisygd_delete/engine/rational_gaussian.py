"""The exact discrete Gaussian of any rational variance: P(Z = z) ∝ exp(−z²/2σ²), z whole.

Rejection as in `discrete_gaussian`, with t = ⌊σ⌋ + 1 in the place of a power of two: |z| = at + j, j uniform below t, a sign,
P(a ≥ i) = e^{−i}, accepted with probability e^{−γ}, γ = z²/2σ² − a + 1/2 ≥ (a − 1)²/2; a negative 0 is refused. A uniform number of
unlimited bits is compared with e^{−i} and with e^{−γ} by its first word in floating point where that is beyond doubt (a margin of
10⁻⁹, against errors below 10⁻¹¹), and else exactly, in decimals of as many digits as it takes, drawn further until it is decided.
"""

from __future__ import annotations

import decimal
import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .noise import Noise

MOST_BITS = 42  # of σ: z and z² are then good to 10⁻¹² where floating point decides
_AT_ONCE = 1 << 15
_ACCEPTED = (
    0.46  # about √(π/2) e^{−1/2} (1 − e^{−1}) of those with j below t are accepted; a share σ/t of it where t is small
)
_SAFE = 1 << 44  # words below are left to the exact comparison
_DOUBT = 1e-9
_LOG_WORD = 64 * math.log(2)


class _Uniform:
    """A uniform number in (0, 1) of unlimited bits, of which some words were read."""

    def __init__(self, word: int, noise: Noise) -> None:
        self._value, self._bits, self._noise = word, 64, noise

    def below_exp(self, exponent: Fraction) -> bool:
        """Whether it is below e^{−exponent}, for an exponent above 0."""
        while True:
            edge = _floor_exp(exponent, self._bits)
            if self._value != edge:
                return self._value < edge
            self._value = self._value << 64 | int(self._noise.words(1)[0])
            self._bits += 64


def _floor_exp(exponent: Fraction, bits: int) -> int:
    """⌊e^{−exponent} · 2^bits⌋; the precision grows until the floor is beyond doubt."""
    precision = 40 + bits // 3
    while True:
        with decimal.localcontext(decimal.Context(prec=precision, Emin=-(10**9), Emax=10**9)):
            power = decimal.Decimal(-exponent.numerator) / decimal.Decimal(exponent.denominator)
            scaled = power.exp() * decimal.Decimal(2**bits)
            doubt = abs(scaled) * decimal.Decimal(10) ** (6 - precision) * (1 + abs(power))
            low, high = math.floor(scaled - doubt), math.floor(scaled + doubt)
        if low == high:
            return low
        precision *= 2


def _decide(words: list[int], span: int, variance: Fraction, noise: Noise) -> int | None:
    """z of one candidate, by definition, or None where it is refused."""
    sign, place = words[0] >> 63, words[0] & ((1 << (span - 1).bit_length()) - 1)
    if place >= span:
        return None
    number, a = _Uniform(words[1], noise), 0
    while number.below_exp(Fraction(a + 1)):
        a += 1
    z = a * span + place
    exponent = Fraction(z * z) / (2 * variance) - a + Fraction(1, 2)
    if exponent > 0 and not _Uniform(words[2], noise).below_exp(exponent):
        return None
    return None if sign and not z else -z if sign else z


def rational_gaussian(size: int, noise: Noise, *, variance: Fraction) -> NDArray[np.int64]:
    """`size` independent draws with variance parameter σ² > 0, in steps of the grid.

    Raises:
        ValueError: σ² is not above 0, or beyond what is exact here.
    """
    if not 0 < variance < 1 << 2 * MOST_BITS:
        raise ValueError(f"variance must be above 0 and below 2^{2 * MOST_BITS}, not {float(variance):g}")
    span = math.isqrt(math.floor(variance)) + 1
    room = 1 << (span - 1).bit_length()
    mask, often = np.uint64(room - 1), room / span / _ACCEPTED  # candidates for each number that is wanted
    parts: list[NDArray[np.int64]] = []
    missing = size
    while missing > 0:
        number = int(min(missing, _AT_ONCE) * often) + 16
        words = noise.words(3 * number).reshape(number, 3)
        place = words[:, 0] & mask
        within = place < np.uint64(span)
        words, place = words[within], place[within]
        depth = _LOG_WORD - np.log(words[:, 1].astype(np.float64) + 0.5)
        a = np.floor(depth)
        z = a * span + place.astype(np.float64)
        exponent = z * z / (2 * float(variance)) - a + 0.5
        level = _LOG_WORD - np.log(words[:, 2].astype(np.float64) + 0.5)
        doubtful = (np.abs(depth - np.rint(depth)) < _DOUBT) | (np.abs(level - exponent) < _DOUBT)
        doubtful |= (words[:, 1] < _SAFE) | (words[:, 2] < _SAFE)
        negative = words[:, 0] >> np.uint64(63) == 1
        accepted = (level > exponent) & ~(negative & (z == 0))
        whole = np.where(negative, -z, z).astype(np.int64)
        for row in np.flatnonzero(doubtful):
            found = _decide([int(word) for word in words[row]], span, variance, noise)
            accepted[row], whole[row] = found is not None, found or 0
        parts.append(whole[accepted][:missing])
        missing -= len(parts[-1])
    return np.concatenate(parts) if parts else np.empty(0, np.int64)
