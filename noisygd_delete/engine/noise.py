"""Gaussian noise from a cryptographic generator, keyed from the operating system and kept nowhere.

Certified noise is ChaCha20 under a fresh 256-bit key, turned into normals by the inverse distribution function, without a
rejection loop. One word gives the sign and 63 bits of the tail's probability p in (0, 1/2); where these are fewer than 53
significant ones (one draw in 1,024) further words follow them, fifteen in all, so p has a full mantissa down to 2⁻⁹⁰⁸, and the two
tails mirror each other bit by bit. A draw with p < 2⁻⁹²⁰, which comes once in 2⁹¹⁹, may be off by more than `LinearTerm` says of
its own (at p = 2⁻⁹⁵⁹ by .01); none has p < 2⁻⁹⁶¹. How many words that takes, and how long the inverse does, depends on the draws alone,
which no record influences. A caller's `numpy.random.Generator` is for research: what it makes
is marked "not certified".
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from numpy.typing import NDArray

from .quantile import lower_normal_quantile

KEY_BYTES = 32 + 12  # of ChaCha20: key and nonce

LARGEST = 36.4  # of |z|: −Φ⁻¹(2⁻⁹⁶¹)

_MANTISSA = 1 << 53
_REFINEMENTS = 14  # words after the first: p ≥ 2⁻⁶⁴·¹⁵⁻¹
_CHUNK = 1 << 14  # normals drawn at a time: enough to hide the call overhead, few enough to stay in cache
_DRAWS_PER_KEY = 1 << 34  # ChaCha20's 32-bit block counter wraps at 2³⁸ bytes: change key well before


class Noise(Protocol):
    """A source of independent standard normals, and of the uniform words that exact samplers are made of."""

    certified: bool

    def normal(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Independent N(0, 1) draws."""

    def words(self, size: int) -> NDArray[np.uint64]:
        """Independent uniform 64-bit words."""


class SecureNoise:
    """Standard normals under a key that exists only in this object. Refuses pickling, copying and use after a fork; threads
    that share it never get the same draw.

    No draw is infinite, and none is larger than `LARGEST`: p is at least 2⁻⁹⁶¹.

    Args:
        key: `KEY_BYTES` fresh random bytes that the processes of one run share; None: from the operating system.
    """

    certified = True

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
        size = int(np.prod(shape))
        self._check_process()
        with self._lock:
            if size > len(self._buffer):
                self._buffer = np.concatenate([self._buffer, self._draw(max(size - len(self._buffer), _CHUNK))])
            drawn, self._buffer = self._buffer[:size], self._buffer[size:]
        return drawn.reshape(shape)

    def words(self, size: int) -> NDArray[np.uint64]:
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
            self._start(self._stream.update(bytes(KEY_BYTES)))  # by its own stream: the same in every process of a run
            self._drawn = size
        return np.frombuffer(self._stream.update(bytes(8 * size)), dtype="<u8").astype(np.uint64, copy=False)

    def _draw(self, size: int) -> NDArray[np.float64]:
        words = self._words(size)
        tails = _below_one(words >> np.uint64(1), self._words) * 2.0**-64
        quantiles = lower_normal_quantile(tails)
        normals: NDArray[np.float64] = np.copysign(quantiles, 0.5 - (words & np.uint64(1)).view(np.int64))
        return normals

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("a noise source is never copied, pickled or stored: repeated noise cancels")

    __reduce_ex__ = __reduce__ = __copy__ = __deepcopy__ = _refuse


def _below_one(
    words: NDArray[np.uint64], more: Callable[[int], NDArray[np.uint64]], left: int = _REFINEMENTS
) -> NDArray[np.float64]:
    """m + u for whole numbers m < 2⁶⁴ and u uniform in (0, 1), to a full mantissa: `more` draws the words that this takes."""
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
        return self._generator.standard_normal(shape)

    def words(self, size: int) -> NDArray[np.uint64]:
        return self._generator.integers(0, 2**64, size, dtype=np.uint64)


def noise_source(rng: np.random.Generator | None, share: Callable[[Any], Any] = lambda value: value) -> Noise:
    """Fresh certified noise, or the caller's generator marked as research.

    `share` hands one process's key (or generator) to every process of a group: all of them draw the same noise.
    """
    return SecureNoise(share(os.urandom(KEY_BYTES))) if rng is None else ResearchNoise(share(rng))


def poisson(slots: int, noise: Noise, *, rate: float) -> NDArray[np.int64]:
    """Every slot on its own with probability ⌊rate · 2⁶⁴⌋/2⁶⁴, which is at most `rate`; their numbers, rising."""
    edge = math.floor(math.ldexp(rate, 64))
    drawn = noise.words(slots)
    return np.flatnonzero(drawn < np.uint64(edge)) if edge < 1 << 64 else np.arange(slots)
