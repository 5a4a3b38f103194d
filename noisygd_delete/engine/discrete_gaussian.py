"""The exact discrete Gaussian: P(Z = z) = exp(−z²/2σ²)/Σ, z an integer, σ = 2^k. Integer arithmetic and uniform bits alone.

Rejection, as in Canonne, Kamath & Steinke (2020), with the pieces of Karney (2016), on |z| = aσ + j, 0 ≤ j < σ:

    j and a sign uniform; a with P(a ≥ i) = e^{−i}; accept with probability exp(−γ), γ = (a−1)²/2 + (j/σ)(2a + j/σ)/2,

since e^{−a} e^{−γ} = e^{−1/2} exp(−z²/2σ²); a negative 0 is refused. γ is a whole number w plus a fraction f of 2k+1 bits:

    e^{−i}, whole i: a uniform number of unlimited bits is compared with the binary digits of e^{−i}
    e^{−f}:          Forsythe and von Neumann: with f > U_1 > U_2 > … the first n at which the order breaks is odd

A number of unlimited bits is its first 64-bit word until a comparison is a tie; then it is drawn further. One candidate reads
one tape of `_TAPE` words; numpy decides every candidate whose tape is enough without a tie, and the others (about one in
10⁴) are decided word by word on the same tape, continued. Nothing is rounded, no probability is approximate: what is trusted
is that the words are uniform and independent. How many candidates are needed depends on the noise alone.
"""

from __future__ import annotations

import decimal
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import GRID_BITS
from .noise import Noise

BITS = GRID_BITS  # k: σ = 2²⁴ steps of the grid
MOST_BITS = 26  # γ·2^{2k+1} fits into 64 bits for every a that numpy decides

_RUN = 6  # words for the descending run: longer ones happen once in some 10⁴ candidates
_TAPE = 3 + _RUN
_AT_ONCE = 1 << 15  # draws that are asked for at once: one takes about a thousand bytes on the way
_WHOLE = 40  # e^{−i} is tabulated up to here

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]


@cache
def _digits(power: int, bits: int) -> int:
    """⌊e^{−power} · 2^bits⌋. `decimal` rounds exp correctly; the precision grows until the floor is beyond doubt."""
    precision = 40 + bits // 3
    while True:
        with decimal.localcontext(decimal.Context(prec=precision, Emin=-(10**9), Emax=10**9)) as context:
            scaled = context.multiply(context.exp(decimal.Decimal(-power)), decimal.Decimal(2**bits))
            doubt = decimal.Decimal(10) ** (scaled.adjusted() + 5 - precision)
            low, high = int(scaled - doubt), int(scaled + doubt)
        if low == high or power == 0:
            return 2**bits if power == 0 else low
        precision *= 2


class _Exact:
    """One candidate, word by word: the definition of the algorithm, with words of any width."""

    def __init__(self, tape: list[int], fresh: Iterator[int], bits: int, width: int = 64) -> None:
        self._tape, self._fresh, self._k, self._width = tape, fresh, bits, width

    def decide(self) -> int | None:
        """z, or None for a refused candidate."""
        k, (first, second, third, *run) = self._k, self._tape
        sign, j = first >> (self._width - 1), first & ((1 << k) - 1)
        number, a = [second], 0
        while self._below(number, a + 1):
            a += 1
        scaled = ((a - 1) ** 2 << 2 * k) + j * ((2 * a << k) + j)  # γ · 2^{2k+1}
        whole, fraction = scaled >> (2 * k + 1), scaled & ((1 << (2 * k + 1)) - 1)
        if not self._below([third], whole) or not self._odd(fraction, run):
            return None
        z = (a << k) + j
        return None if sign and not z else -z if sign else z

    def _below(self, number: list[int], power: int) -> bool:
        """Whether the uniform number is below e^{−power}; its further words are kept in `number`."""
        while True:
            bits = self._width * len(number)
            value = 0
            for word in number:
                value = value << self._width | word
            edge = _digits(power, bits)
            if value != edge or power == 0:
                return value < edge
            number.append(next(self._fresh))

    def _odd(self, fraction: int, run: list[int]) -> bool:
        """Whether the run f > U_1 > U_2 > … breaks at an odd place."""
        width, size = self._width, 2 * self._k + 1
        padded = fraction << (-size % width)
        words = -(-size // width)
        last = [padded >> width * (words - 1 - i) & ((1 << width) - 1) for i in range(words)]
        exact, place = True, 0
        while True:
            number = [run[place] if place < len(run) else next(self._fresh)]
            place += 1
            if not self._less(number, last, exact):
                return place % 2 == 1
            last, exact = number, False

    def _less(self, number: list[int], last: list[int], exact: bool) -> bool:
        """number < last, both drawn further while they agree (`last` ends in zeros if it is exact: then it is not less)."""
        at = 0
        while True:
            if at == len(number):
                number.append(next(self._fresh))
            if at == len(last):
                if exact:
                    return False
                last.append(next(self._fresh))
            if number[at] != last[at]:
                return number[at] < last[at]
            at += 1


def _candidates(tapes: Words, bits: int) -> tuple[Integers, NDArray[np.bool_], NDArray[np.bool_]]:
    """(z, accepted, undecided) of one tape per row."""
    k = np.uint64(bits)
    one = np.uint64(1)
    negative = (tapes[:, 0] >> np.uint64(63)).astype(bool)
    j = tapes[:, 0] & ((one << k) - one)
    edges = np.array([_digits(power, 64) for power in range(1, _WHOLE + 1)], dtype=np.uint64)
    rising = edges[::-1]
    above = np.searchsorted(rising, tapes[:, 1], side="right")  # edges at or below the word
    a = (_WHOLE - above).astype(np.uint64)
    undecided = (tapes[:, 1] == rising[np.maximum(above - 1, 0)]) | (a >= np.uint64(_WHOLE))
    a = np.minimum(a, np.uint64(_WHOLE))
    # (a−1)² as a² − 2a + 1 would wrap at a = 0 and come back: unsigned arithmetic is exact modulo 2⁶⁴
    below = a - one
    scaled = ((below * below) << (k + k)) + j * (((a + a) << k) + j)
    whole = scaled >> (k + k + one)
    fraction = scaled << np.uint64(63 - 2 * bits)  # the whole part is shifted out at the top
    undecided |= whole > np.uint64(_WHOLE)
    capped = np.minimum(whole, np.uint64(_WHOLE)).astype(np.int64)
    edge = np.concatenate([np.zeros(1, np.uint64), edges])[capped]
    passed = (whole == 0) | (tapes[:, 2] < edge)
    undecided |= (whole > 0) & (tapes[:, 2] == edge)
    run = np.concatenate([fraction[:, None], tapes[:, 3:]], axis=1)
    falls = run[:, 1:] < run[:, :-1]
    breaks = ~falls
    place = breaks.argmax(axis=1)
    endless = ~breaks.any(axis=1)
    before = np.arange(_RUN)[None, :] <= place[:, None]
    tied = run[:, 1:] == run[:, :-1]
    tied[:, 0] = False  # the fraction is exact: an equal first word is not below it
    undecided |= endless | (tied & before).any(axis=1)
    accepted = passed & (place % 2 == 0)  # places counted from 0 here
    z = ((a << k) + j).astype(np.int64)
    accepted &= ~(negative & (z == 0))
    return np.where(negative, -z, z), accepted & ~undecided, undecided


def discrete_gaussian(size: int, noise: Noise, *, bits: int = BITS) -> Integers:
    """`size` independent draws of the discrete Gaussian of parameter σ = 2^bits."""
    if not 0 <= bits <= MOST_BITS:
        raise ValueError(f"bits must be between 0 and {MOST_BITS}, not {bits}")

    def fresh() -> Iterator[int]:
        while True:
            yield int(noise.words(1)[0])

    parts: list[Integers] = []
    missing = size
    while missing > 0:
        count = min(missing, _AT_ONCE) * 9 // 4 + 16  # a candidate is accepted with probability 0.48 or more
        tapes = noise.words(count * _TAPE).reshape(count, _TAPE)
        drawn, accepted, undecided = _candidates(tapes, bits)
        for row in np.flatnonzero(undecided):
            z = _Exact([int(word) for word in tapes[row]], fresh(), bits).decide()
            accepted[row] = z is not None
            drawn[row] = 0 if z is None else z
        parts.append(drawn[accepted][:missing])
        missing -= len(parts[-1])
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def grid_of(output_noise: float, *, bits: int = BITS) -> float:
    """h = τ/2^bits."""
    return output_noise * 2.0**-bits


def on_noisy_grid(
    weights: NDArray[np.float64], noise: Noise, *, output_noise: float, bits: int = BITS
) -> NDArray[np.float64]:
    """The weights rounded to the grid of step h = τ/2^bits, plus an exact discrete Gaussian of parameter τ on it.

    Args:
        output_noise: τ, a power of two: division by h and the product with it are then exact in float64.
    """
    if not output_noise > 0 or np.frexp(output_noise)[0] != 0.5:
        raise ValueError(f"output_noise must be a power of two, not {output_noise}")
    grid = grid_of(output_noise, bits=bits)
    steps = np.rint(weights / grid) + discrete_gaussian(weights.size, noise, bits=bits).reshape(weights.shape)
    published: NDArray[np.float64] = np.asarray(steps * grid + 0.0, dtype=np.float64)
    published.flags.writeable = False
    return published
