"""Poisson samples of slots, by exact comparisons of uniform words."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .noise import Noise


def poisson(slots: int, noise: Noise, *, rate: float) -> NDArray[np.int64]:
    """Every slot on its own with probability ⌊rate · 2⁶⁴⌋/2⁶⁴, which is at most `rate`; their numbers, rising."""
    edge = math.floor(math.ldexp(rate, 64))
    drawn = noise.words(slots)
    return np.flatnonzero(drawn < np.uint64(edge)) if edge < 1 << 64 else np.arange(slots)
