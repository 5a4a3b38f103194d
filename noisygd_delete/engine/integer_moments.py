"""Second moments and label sums of a table as whole numbers, and their noise: for Markov sums.

Rows are put on a public grid of 2^−bits, towards 0, number by number, so that a row's integers do not depend on any other row and sums
of them are exact in any order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..bounds.arithmetic import NORM_TOLERANCE
from ..errors import AssumptionViolated
from ..records import Records
from .discrete_gaussian import discrete_gaussian
from .noise import Noise

Integers = NDArray[np.int64]
EXACT = 1 << 53  # whole numbers below it are exact in float64, and so are their sums in any order
_BLOCK = 4096
_TOGETHER = 1 << 22  # numbers of rows read at once


@lru_cache(4)
def above(features: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of a matrix from its diagonal up."""
    return np.triu_indices(features)


def blocks(records: Records) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float64]]]:
    """Rows and labels of the records in force, some at a time: the rows may lie in a file."""
    used, step = records.occupied, max(1, min(_TOGETHER // max(1, records.width), 1 << 16))
    for first in range(0, records.slots, step):
        part = slice(first, first + step)
        yield records.features[part][used[part]], records.labels[part][used[part]]


@dataclass(frozen=True)
class IntegerMoments:
    """How rows become whole numbers: public, and never changed while their sums are carried on.

    features, outputs  D and k: one column of labels ±1, or one for each class
    norm_squared       R² in steps²: no row may be longer
    bits               of the grid: a number x becomes 2^bits x
    label_bits         of a target's grid in [−1, 1], to which it is rounded towards 0; label sums are in steps 2^−(bits + label_bits)
    """

    features: int
    outputs: int
    norm_squared: int
    bits: int
    label_bits: int = 0

    @property
    def size(self) -> int:
        """Numbers published: the matrix from its diagonal up, and the label sums."""
        return self.features * (self.features + 1) // 2 + self.features * self.outputs

    def of(self, rows: ArrayLike, labels: ArrayLike) -> Integers:
        """(size,) exact sums over (rows, D) and their labels: the matrix from its diagonal up, row by row, then the labels' sums.

        Raises:
            AssumptionViolated: a row is longer than R.
        """
        held, answers = np.asarray(rows, np.float64), np.asarray(labels, np.float64)
        square = np.zeros((self.features, self.features))
        first = np.zeros((self.outputs, self.features))
        shorter = math.ldexp(1 - NORM_TOLERANCE, self.bits)  # what float32 may have lengthened a row by
        for start in range(0, len(held), _BLOCK):
            steps = np.trunc(held[start : start + _BLOCK] * shorter)
            if not (np.square(steps).sum(axis=1) <= self.norm_squared).all():
                raise AssumptionViolated("a row is longer than the radius; scale the rows, or plan for a larger one")
            square += steps.T @ steps
            first += self.answers(answers[start : start + _BLOCK]).T @ steps
        both = np.concatenate([square[above(self.features)], first.ravel()])
        return both.astype(np.int64)

    def answers(self, labels: NDArray[np.float64]) -> NDArray[np.float64]:
        """(rows, outputs) whole numbers that rows are multiplied with: ±1, a target in its steps, or 1 in the place of a class."""
        if self.outputs > 1:
            return np.asarray(labels[:, None] == np.arange(self.outputs), np.float64)
        return np.trunc(np.clip(labels[:, None], -1.0, 1.0) * 2.0**self.label_bits)

    def of_table(self, records: Records) -> Integers:
        """The same over the records in force; free slots add nothing."""
        return sum((self.of(*block) for block in blocks(records)), np.zeros(self.size, np.int64))

    def noise(self, noise: Noise, *, variance: int, label_weight: int) -> Integers:
        """Exact discrete Gaussians: σ² on the diagonal, σ²/2 above it, σ²/β² on a label sum (of labels as they are)."""
        rows, places = above(self.features)
        drawn = np.empty(self.size, np.int64)
        diagonal = rows == places
        matrix = drawn[: len(rows)]
        matrix[diagonal] = discrete_gaussian(int(diagonal.sum()), noise, variance=Fraction(variance))
        matrix[~diagonal] = discrete_gaussian(int((~diagonal).sum()), noise, variance=Fraction(variance, 2))
        labels = Fraction(variance * 4**self.label_bits, label_weight**2)
        drawn[len(rows) :] = discrete_gaussian(self.size - len(rows), noise, variance=labels)
        return drawn


def carried(rest: Integers, carry: Fraction, bits: int) -> Integers:
    """c · rest rounded to whole numbers, halves up; c a multiple of 2^−bits.

    Raises:
        OverflowError: a number is too large for 64 bits: then it is not the noise of a draw.
    """
    scaled = carry * (1 << bits)
    if scaled.denominator != 1 or not np.abs(rest).max(initial=0) < 1 << (62 - bits):
        raise OverflowError("what is carried on is no noise of a draw, or c is not on its grid")
    product = rest * np.int64(int(scaled)) + np.int64(1 << (bits - 1))
    return product >> np.int64(bits)
