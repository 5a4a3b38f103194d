"""What one publication of noisy sums says: the moments with the least noise that they can have, discriminants, ridge regression, components.

Post-processing of one publication, so it costs nothing. Rows of a `Coding` have moments of a known form: entries of a block are functions of
its codes, so rows lie on few directions of all (`_Basis`), and what two blocks have in common beyond their means is a table of which
few singular values stand out of the noise; the others are noise, and what stands out is longer by it (Gavish and Donoho 2017, for the
Frobenius norm).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..features.maps.coding import Coding
from .integer_moments import IntegerMoments, Integers

Matrix = NDArray[np.float64]
_RARE = 1e-3  # the least share of a class: below it there is none to be told from noise


class _Basis(NamedTuple):
    """Rows of full norm are origin + Σ over blocks of parts along orthonormal directions, which are orthogonal to the origin.

    origin   (features,)
    blocks   (first feature, stop, (stop − first, directions)) of each block
    """

    origin: Matrix
    blocks: tuple[tuple[int, int, Matrix], ...]

    def of_matrix(self, square: Matrix) -> Matrix:
        return self.of_rows(self.of_rows(square).T)

    def of_rows(self, rows: Matrix) -> Matrix:
        """(rows, features) to (rows, 1 + directions)."""
        parts = [rows @ (self.origin / np.linalg.norm(self.origin))[:, None]]
        return np.concatenate(parts + [rows[:, first:stop] @ each for first, stop, each in self.blocks], axis=1)

    def to_features(self, weights: Matrix) -> Matrix:
        """(outputs, 1 + directions) to (outputs, features)."""
        found = weights[:, :1] * (self.origin / np.linalg.norm(self.origin))
        at = 1
        for first, stop, each in self.blocks:
            found[:, first:stop] += weights[:, at : at + each.shape[1]] @ each.T
            at += each.shape[1]
        return found

    def spans(self) -> list[slice]:
        ends = np.cumsum([0, *(each.shape[1] for _, _, each in self.blocks)]).tolist()
        return [slice(first, stop) for first, stop in pairwise(ends)]


@lru_cache(8)
def _basis(coding: Coding) -> _Basis:
    origin, blocks = np.zeros(coding.width), []
    full = len(coding.sizes) + coding.constant
    origin[coding.width - 1] = coding.constant / math.sqrt(full)
    for table, entries in zip(coding.tables, coding.entries, strict=True):
        used = table[table >= 0]
        first, stop = int(used.min()), int(used.max()) + 1
        points = np.zeros((stop - first, len(table)))
        code, entry = np.nonzero(table >= 0)
        points[table[code, entry] - first, code] = 1 / np.sqrt(entries[code] * full)
        along, lengths, _ = np.linalg.svd(points[:, 1:] - points[:, :1], full_matrices=False)
        along = along[:, lengths > 1e-9]
        origin[first:stop] = points[:, 0] - along @ (along.T @ points[:, 0])
        blocks.append((first, stop, along))
    return _Basis(origin, tuple(blocks))


@dataclass(frozen=True)
class NoisyMoments:
    """Of rows of norm 1 at most (R is divided by): Σ x xᵀ and Σ y xᵀ as one publication has them.

    square    (d, d) in the directions that rows may take
    first     (outputs, d)
    variance  V, of an entry of `square` on its diagonal
    reach     of a row of full norm along the first direction, which all rows have; None where the rows' form is not known
    """

    square: Matrix
    first: Matrix
    variance: float
    reach: float | None
    scale: float
    basis: _Basis | None

    @classmethod
    def of(cls, moments: IntegerMoments, published: Integers, *, variance: int, coding: Coding | None) -> NoisyMoments:
        above = np.triu_indices(moments.features)
        unit = float(moments.norm_squared)
        square = np.zeros((moments.features, moments.features))
        square[above] = published[: len(above[0])] / unit
        square += np.triu(square, 1).T
        first = published[len(above[0]) :].reshape(moments.outputs, moments.features)
        told = first / math.sqrt(unit) / 2.0**moments.label_bits
        scale = math.sqrt(unit) / 2.0**moments.bits
        spread = variance / unit**2
        if coding is None:
            return cls(square, told, spread, None, scale, None)
        basis = _basis(coding)
        turned = _shrunk(basis.of_matrix(square), basis.spans(), spread)
        return cls(turned, basis.of_rows(told), spread, float(np.linalg.norm(basis.origin)), scale, basis)

    @property
    def noise(self) -> float:
        """About the largest eigenvalue of the noise of `square`."""
        return math.sqrt(2.0 * self.variance * len(self.square))

    def ridge(self, ridge: float) -> Matrix:
        """(outputs, features) least squares with a ridge, for rows as they are; eigenvalues below 0 are taken as 0."""
        return self._weights(_solved(self.square, self.first.T, ridge).T)

    def discriminant(self, ridge: float) -> Matrix:
        """(outputs, features) log odds of one class against the other, or for each of several, as normal classes of one covariance have them.

        Rows must share a direction (`reach`); `first` is of signs ±1 with one output, else of one class each.
        """
        assert self.reach is not None
        total = self.square[0] / self.reach
        classes = self.first if len(self.first) > 1 else np.stack([total - self.first[0], total + self.first[0]]) / 2
        sizes = np.maximum(classes[:, 0] / self.reach, _RARE * max(1.0, total[0] / self.reach))
        number, means = float(sizes.sum()), classes[:, 1:] / sizes[:, None]
        within = self.square[1:, 1:] - (means.T * sizes) @ means
        slopes = _solved(within / number, means.T, ridge / number).T
        offsets = np.log(sizes / number) - (slopes * means).sum(axis=1) / 2
        weights = np.concatenate([offsets[:, None] / self.reach, slopes], axis=1)
        return self._weights(weights if len(self.first) > 1 else weights[1:] - weights[:1])

    def components(self, number: int) -> tuple[Matrix, Matrix]:
        """The directions in which rows spread most about their mean (about 0 where they share no direction): (number, features), and the
        spread of each, (number,), from the largest down."""
        square = self.square
        if self.reach is not None:
            square = square[1:, 1:] - np.outer(square[0, 1:], square[0, 1:]) / max(square[0, 0], self.reach**2)
        sizes, along = np.linalg.eigh(square)
        best = along.T[::-1][:number]
        if self.reach is not None:
            best = np.pad(best, ((0, 0), (1, 0)))
        return self._turned(best), np.maximum(sizes[::-1][:number], 0.0)

    def _weights(self, weights: Matrix) -> Matrix:
        return self._turned(weights) / self.scale

    def _turned(self, weights: Matrix) -> Matrix:
        return weights if self.basis is None else self.basis.to_features(weights)


def _shrunk(square: Matrix, spans: list[slice], variance: float) -> Matrix:
    """`square` with what two blocks have in common beyond the product of their means freed of noise."""
    means = square[0, 1:]
    product = np.outer(means, means) / max(square[0, 0], math.sqrt(variance))
    common = square[1:, 1:] - product
    for number, one in enumerate(spans):
        for other in spans[number + 1 :]:
            common[one, other] = _without_noise(common[one, other], variance / 2)
            common[other, one] = common[one, other].T
    found = square.copy()
    found[1:, 1:] = common + product
    return found


def _without_noise(table: Matrix, variance: float) -> Matrix:
    """Its singular values d as √((d² − (p + q)σ²)² − 4pqσ⁴)/d, and 0 from (√p + √q)σ down."""
    if table.shape[0] < table.shape[1]:
        return _without_noise(table.T, variance).T
    long, short = table.shape
    squares, along = np.linalg.eigh(table.T @ table)
    kept = squares > (math.sqrt(long) + math.sqrt(short)) ** 2 * variance
    large = squares[kept]
    shrink = np.sqrt(np.maximum(0, (large - (long + short) * variance) ** 2 - 4 * long * short * variance**2)) / large
    turned: Matrix = ((table @ along[:, kept]) * shrink) @ along[:, kept].T
    return turned


def _solved(square: Matrix, right: Matrix, ridge: float) -> Matrix:
    """(square₊ + ridge I)⁻¹ right."""
    sizes, along = np.linalg.eigh(square)
    found: Matrix = along @ ((along.T @ right) / (np.maximum(sizes, 0.0) + ridge)[:, None])
    return found
