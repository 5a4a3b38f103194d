"""Gaussian noise from a cryptographic generator, keyed by the operating system and never stored.

Certified noise is ChaCha20 under a fresh 256-bit key, converted to normals by the inverse distribution function,
without a rejection loop. One word gives the sign and 63 bits of the tail probability p in (0, 1/2); if fewer than 53
of these are significant (one draw in 1,024), further words follow, fifteen in all, so p has a full mantissa down to
2⁻⁹⁰⁸, and the two tails mirror each other bit by bit. A draw with p < 2⁻⁹²⁰, which occurs once in 2⁹¹⁹, may be off by
more than `LinearTerm` states for its own (at p = 2⁻⁹⁵⁹ by .01); none has p < 2⁻⁹⁶¹. The number of words, and the time
of the inverse, depend only on the draws, which no record influences. A caller's `numpy.random.Generator` is for
research: its results are marked "not certified".
"""

from __future__ import annotations

import decimal
import math
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any, ClassVar, NoReturn, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from numpy.typing import NDArray

from ..bounds.arithmetic import GRID_BITS

# --- quantile ---
#
# Φ⁻¹ in the lower half, in numpy: loading a library of special functions would take longer than the solver of a deletion.
#
# Wichura (1988), "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics 37(3),
# 477-484 (PPND16): three rational functions of degree 7, one for |p − 1/2| ≤ .425 and two for tails down to p = 10⁻³¹⁶.


ACCURACY = 2.0**-49  # |computed − Φ⁻¹(p)| over 1 + |Φ⁻¹(p)|, for the floats 2⁻⁹⁸⁰ ≤ p ≤ 1/2
_CENTRAL = 0.425  # largest |p − 1/2| of the central formula
_CHUNK = 1 << 14
_NEAR = 5.0  # largest √(−ln p) of the near tail

# numerator and denominator, by decreasing powers
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
    """Return Φ⁻¹(p), elementwise, within `ACCURACY`.

    Args:
        probability: p in [2⁻⁹⁸⁰, 1/2], of any shape; not validated.
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


KEY_BYTES = 32 + 12  # of ChaCha20: key and nonce

LARGEST = 36.4  # largest |z|: −Φ⁻¹(2⁻⁹⁶¹)

_MANTISSA = 1 << 53
_REFINEMENTS = 14  # words after the first: p ≥ 2⁻⁶⁴·¹⁵⁻¹
_DRAWS_PER_KEY = 1 << 34  # ChaCha20's 32-bit block counter wraps at 2³⁸ bytes: change key well before


class Noise(Protocol):
    """A source of independent standard normals, and of the uniform words from which exact samplers are built."""

    certified: bool

    def normal(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Draw independent N(0, 1) numbers."""

    def words(self, size: int) -> NDArray[np.uint64]:
        """Draw independent uniform 64-bit words."""


class NeverCopied:
    """An object that refuses to be copied, pickled or stored, with the reason in `_refusal`."""

    __slots__ = ()

    _refusal: ClassVar[str]

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(self._refusal)

    __reduce_ex__ = __reduce__ = __getstate__ = __copy__ = __deepcopy__ = _refuse


class SecureNoise(NeverCopied):
    """Standard normals under a key that exists only in this object.

    It refuses use after a fork; threads that share it never get the same draw. No draw is
    infinite, and none is larger than `LARGEST`: p is at least 2⁻⁹⁶¹.

    Args:
        key: `KEY_BYTES` fresh random bytes shared by the processes of one run; None: from the operating system.
    """

    certified = True
    _refusal = "a noise source is never copied, pickled or stored: repeated noise cancels"

    def __init__(self, key: bytes | None = None) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._buffer = np.empty(0)
        self._start(os.urandom(KEY_BYTES) if key is None else key)

    def _start(self, key: bytes) -> None:
        nonce = bytes(4) + key[32:]  # the first four bytes are the block counter: start at 0
        self._stream = Cipher(algorithms.ChaCha20(key[:32], nonce), mode=None).encryptor()
        self._drawn = 0

    def normal(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return independent standard normal numbers of this shape."""
        size = int(np.prod(shape))
        self._check_process()
        with self._lock:
            if size > len(self._buffer):
                self._buffer = np.concatenate([self._buffer, self._draw(max(size - len(self._buffer), _CHUNK))])
            drawn, self._buffer = self._buffer[:size], self._buffer[size:]
        return drawn.reshape(shape)

    def words(self, size: int) -> NDArray[np.uint64]:
        """Return `size` uniform 64-bit words."""
        self._check_process()
        with self._lock:
            return self._words(size)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise RuntimeError(
                "this noise source crossed a fork: two processes would draw the same noise; make a new one"
            )

    def _words(self, size: int) -> NDArray[np.uint64]:
        self._drawn += size
        if self._drawn >= _DRAWS_PER_KEY:
            self._start(self._stream.update(bytes(KEY_BYTES)))  # the same in every process of a run
            self._drawn = size
        return np.frombuffer(self._stream.update(bytes(8 * size)), dtype="<u8").astype(np.uint64, copy=False)

    def _draw(self, size: int) -> NDArray[np.float64]:
        words = self._words(size)
        tails = _below_one(words >> np.uint64(1), self._words) * 2.0**-64
        quantiles = lower_normal_quantile(tails)
        normals: NDArray[np.float64] = np.copysign(quantiles, 0.5 - (words & np.uint64(1)).view(np.int64))
        return normals


def _below_one(
    words: NDArray[np.uint64], more: Callable[[int], NDArray[np.uint64]], left: int = _REFINEMENTS
) -> NDArray[np.float64]:
    """Return m + u to a full mantissa, for integers m < 2⁶⁴ and u uniform in (0, 1).

    Args:
        words: m.
        more: Draws the further words required.
        left: Number of further rounds.
    """
    values = words.astype(np.float64)
    few = np.flatnonzero(words < _MANTISSA)
    values += 0.5  # rounds away where the mantissa is full
    if left and few.size:
        values[few] = words[few] + _below_one(more(few.size), more, left - 1) * 2.0**-64
    return values


class ResearchNoise:
    """A caller's reproducible generator. Releases made with it are never certified."""

    certified = False

    def __init__(self, generator: np.random.Generator) -> None:
        if not isinstance(generator, np.random.Generator):
            raise TypeError(
                f"rng must be a numpy.random.Generator (research only) or None (certified), not {type(generator).__name__}"
            )
        self._generator = generator

    def normal(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return standard normal numbers of this shape from the caller's generator."""
        return self._generator.standard_normal(shape)

    def words(self, size: int) -> NDArray[np.uint64]:
        """Return `size` uniform 64-bit words from the caller's generator."""
        return self._generator.integers(0, 2**64, size, dtype=np.uint64)


def noise_source(rng: np.random.Generator | None, share: Callable[[Any], Any] = lambda value: value) -> Noise:
    """Return fresh certified noise, or the caller's generator marked as research.

    Args:
        rng: The caller's generator; None for certified noise.
        share: Broadcasts the key (or generator) of one process to its group, so that all draw the same noise.
    """
    return SecureNoise(share(os.urandom(KEY_BYTES))) if rng is None else ResearchNoise(share(rng))


def poisson(slots: int, noise: Noise, *, rate: float) -> NDArray[np.int64]:
    """Return the ascending numbers of slots, each chosen independently with probability ⌊rate · 2⁶⁴⌋/2⁶⁴ ≤ `rate`."""
    edge = math.floor(math.ldexp(rate, 64))
    drawn = noise.words(slots)
    return np.flatnonzero(drawn < np.uint64(edge)) if edge < 1 << 64 else np.arange(slots)


# --- discrete gaussian ---
#
# The exact discrete Gaussian of any rational variance: P(Z = z) ∝ exp(−z²/2σ²) for integers z (Canonne, Kamath &
# Steinke 2020).
#
# Rejection sampling from steps of width t = 2^k with 8t ≤ σ < 16t (t = 1 below σ = 16), on |z| = at + j, 0 ≤ j < t:
#
#     j and a sign uniform; a with P(a) ∝ exp(−(at)²/2σ²); accept with probability exp(−j(2at + j)/2σ²); reject −0,
#
# so that z is accepted with a probability proportional to exp(−z²/2σ²), and 19 of 20 candidates are. A uniform number
# of unlimited bits is compared with the sums of P(a), and another one with the exponential: by its first 32 bits in
# floating point if that is conclusive (a margin of 10⁻⁹, against 2⁻³² for the remaining bits and errors below 10⁻¹²),
# and else exactly, in decimals of increasing precision with further bits drawn until it is decided.


MOST_BITS = 42  # of σ: j and the sign fit in one word
_AT_ONCE = 1 << 16
_REACH = 10  # standard deviations whose steps are tabulated; beyond, the definition is evaluated
_DOUBT = 1e-9
_PARTS = 1 << 12  # parts of (0, 1), most of which contain a single step
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


class _Uniform:
    """A uniform number in (0, 1) of unlimited bits, of which the first 32 were drawn."""

    def __init__(self, first: int, noise: Noise) -> None:
        self._value, self._bits, self._noise = first, 32, noise

    def below(self, edge: Callable[[int], decimal.Decimal]) -> bool:
        """Return whether it is below the number that `edge` computes to a given number of digits."""
        while True:
            digits = 30 + self._bits // 3  # about 30 digits more than the known bits
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
    """Return e^{−exponent}."""
    with _digits(digits + 10):
        return (decimal.Decimal(-exponent.numerator) / decimal.Decimal(exponent.denominator)).exp()


@lru_cache(8)
def _sums(rate: Fraction, digits: int) -> list[decimal.Decimal]:
    """Return Σ_{a < i} e^{−rate a²} for i = 1, 2, …, until all further terms add less than 10^−digits."""
    most = math.isqrt(math.ceil(3 * digits / rate)) + 2
    with _digits(digits + 10):
        return list(accumulate(_exp(rate * a * a, digits) for a in range(most)))


def _share(rate: Fraction, last: int, digits: int) -> decimal.Decimal:
    """Return P(a ≤ last)."""
    sums = _sums(rate, digits)
    with _digits(digits + 10):
        return sums[min(last, len(sums) - 1)] / sums[-1]


def _decide_candidate(word: int, both: int, width: int, variance: Fraction, noise: Noise) -> int | None:
    """Return z of one candidate, by definition, or None if it is rejected."""
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
    """Draw `size` independent integers from the discrete Gaussian with variance parameter σ².

    Args:
        size: Number of draws.
        noise: Source of uniform words.
        variance: σ², in steps² of the grid.

    Raises:
        ValueError: If σ² is not above 0 and below 2^(2 · `MOST_BITS`).
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
            found = _decide_candidate(int(words[row, 0]), int(words[row, 1]), width, variance, noise)
            accepted[row], whole[row] = found is not None, found or 0
        parts.append(whole[accepted][:missing])
        missing -= len(parts[-1])
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def grid_of(output_noise: float, *, bits: int = GRID_BITS) -> float:
    """Return the grid step h = τ/2^bits."""
    return output_noise * 2.0**-bits


def on_noisy_grid(
    weights: NDArray[np.float64], noise: Noise, *, output_noise: float, bits: int = GRID_BITS
) -> NDArray[np.float64]:
    """Round weights to the grid of step h = τ/2^bits and add an exact discrete Gaussian of parameter τ on it.

    Args:
        weights: The weights.
        noise: Source of uniform words.
        output_noise: τ, a power of two: division and multiplication by h are then exact in float64.
        bits: Bits of the grid below τ.

    Raises:
        ValueError: If τ is not a power of two.
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
