"""First and second moments of a table with exact noise, and least-squares weights computed from them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..bounds.arithmetic import NORM_TOLERANCE
from ..errors import AssumptionViolated
from ..features.maps.coding import Coding
from ..records import CodedRows, Records
from .kernel import sum_pairwise
from .noise import Noise, discrete_gaussian, on_noisy_grid

_BLOCK = 4096  # rows in memory as float64
_PART = 1 << 16  # sums whose noise is drawn at once: an exact draw takes hundreds of bytes

Matrix = NDArray[np.float64]


def compute_moments(records: Records, *, outputs: int, radius: float) -> tuple[Matrix, Matrix]:
    """Return Σ e_y uᵀ, (outputs, d), and Σ u uᵀ, (d, d), for u = x/radius.

    With one output the first is Σ y u, y = ±1. Null records add nothing. Blocks of slots are added in a tree, so that
    neighbouring tables differ in one block and in the few float64 additions that it goes through: below the slack that
    the plan counts.
    """
    width = records.width

    def blocks() -> Iterator[Matrix]:
        for start in range(0, records.slots, _BLOCK):
            part = slice(start, start + _BLOCK)
            rows = np.asarray(records.features[part], np.float64) / radius
            labels = np.asarray(records.labels[part], np.float64)[:, None]
            answers = (labels if outputs == 1 else labels == np.arange(outputs)).astype(np.float64)
            yield np.concatenate([answers.T @ rows, rows.T @ rows])

    both = sum_pairwise(blocks(), (outputs + width, width))
    return both[:outputs], both[outputs:]


def add_noise(first: Matrix, second: Matrix, *, deviation: float, noise: Noise) -> tuple[Matrix, Matrix]:
    """Add noise of this standard deviation to every sum, and √2 times as much on the diagonal of `second`.

    After division by the deviation, the sums are rounded to a public grid and perturbed by an exact discrete Gaussian
    of parameter 1 on it.
    """
    above = np.triu_indices(len(second))
    root = np.where(above[0] == above[1], np.sqrt(2.0), 1.0)
    sums = np.concatenate([first.ravel(), second[above] / root]) / deviation
    parts = [on_noisy_grid(sums[k : k + _PART], noise, output_noise=1.0) for k in range(0, len(sums), _PART)]
    drawn = np.concatenate(parts) * deviation
    square = np.zeros_like(second)
    square[above] = drawn[first.size :] * root
    return drawn[: first.size].reshape(first.shape), square + np.triu(square, 1).T


def least_squares(first: Matrix, second: Matrix, *, ridge: float) -> Matrix:
    """Return W = first (second + ridge I)⁻¹, (outputs, d), with eigenvalues of `second` below 0 replaced by 0.

    Scaled by the number of classes, so that differences of scores are log odds to first order around even odds.
    """
    values, axes = np.linalg.eigh(second)
    weights: Matrix = (first @ axes / (np.maximum(values, 0.0) + ridge)) @ axes.T
    return weights * max(2, len(first))


# --- integer moments ---
#
# Second moments and label sums of a table as integers, and their noise, for Markov sums.
#
# Each number of a row is rounded towards 0 to a public grid of 2^−bits, so that the integers of a row do not depend on
# other rows, and their sums are exact in any order.


Integers = NDArray[np.int64]
EXACT = 1 << 53  # integers below it are exact in float64, and so are their sums in any order
_TOGETHER = 1 << 22  # numbers of rows read at once


@lru_cache(4)
def upper_triangle_indices(features: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the row and column indices of the upper triangle, including the diagonal."""
    return np.triu_indices(features)


def record_blocks(records: Records) -> Iterator[tuple[NDArray[np.float32] | CodedRows, NDArray[np.float64]]]:
    """Yield rows (as codes if the table stores these) and labels of the current records, one block at a time."""
    used, step = records.occupied, max(1, min(_TOGETHER // max(1, records.width), 1 << 16))
    for first in range(0, records.slots, step):
        part = slice(first, first + step)
        coded = None if records.coded_rows is None else records.coded_rows.select(part).select(used[part])
        yield records.features[part][used[part]] if coded is None else coded, records.labels[part][used[part]]


def person_blocks(records: Records) -> Iterator[tuple[int, NDArray[np.float32] | CodedRows, NDArray[np.float64]]]:
    """Yield k, and rows and labels as `record_blocks`, of persons with k rows, one block at a time."""
    alike, first = records.rows_alike(), 0
    alike = alike[alike > 0]
    for rows, labels in record_blocks(records):
        own, first = alike[first : first + len(labels)], first + len(labels)
        for number in np.unique(own).tolist():
            chosen = own == number
            yield number, rows.select(chosen) if isinstance(rows, CodedRows) else rows[chosen], labels[chosen]


@dataclass(frozen=True)
class IntegerMoments:
    """The conversion of rows to integers: public, and constant while their sums are carried on.

    Attributes:
        features: D, the number of features.
        outputs: k: one column of labels ±1, or one for each class.
        norm_squared: R² in steps²: the largest squared norm of a row.
        bits: Bits of the grid: a number x becomes 2^bits x.
        label_bits: Bits of the grid of a label in [−1, 1], which is rounded towards 0; label sums are in steps
            2^−(bits + label_bits).
        alike: k: row and label are divided by √k before they are rounded towards 0, hence their products by k.
    """

    features: int
    outputs: int
    norm_squared: int
    bits: int
    label_bits: int = 0
    alike: int = 1

    @property
    def size(self) -> int:
        """Number of published sums: the upper triangle of the matrix with its diagonal, and the label sums."""
        return self.features * (self.features + 1) // 2 + self.features * self.outputs

    def of(self, rows: ArrayLike, labels: ArrayLike) -> Integers:
        """Return the (size,) exact sums: the upper triangle of the matrix, row by row, then the label sums.

        Args:
            rows: (rows, D).
            labels: (rows,).

        Raises:
            AssumptionViolated: If a row is longer than R.
        """
        held, answers = np.asarray(rows, np.float64), np.asarray(labels, np.float64)
        square = np.zeros((self.features, self.features))
        first = np.zeros((self.outputs, self.features))
        # undoes the lengthening of a row by float32 rounding
        shorter = math.ldexp(1 - NORM_TOLERANCE, self.bits) / math.sqrt(self.alike)
        for start in range(0, len(held), _BLOCK):
            steps = np.trunc(held[start : start + _BLOCK] * shorter)
            if not (self.alike * np.square(steps).sum(axis=1) <= self.norm_squared).all():
                raise AssumptionViolated("a row is longer than the radius; scale the rows, or plan for a larger one")
            square += steps.T @ steps
            first += self.answers(answers[start : start + _BLOCK]).T @ steps
        both = np.concatenate([square[upper_triangle_indices(self.features)], first.ravel()])
        return both.astype(np.int64)

    def answers(self, labels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the (rows, outputs) integer factors of rows: ±1, a target in steps, or the indicator of a class."""
        unit = 2.0**self.label_bits / math.sqrt(self.alike)
        if self.outputs > 1:
            return np.asarray(labels[:, None] == np.arange(self.outputs), np.float64) * math.trunc(unit)
        return np.trunc(np.clip(labels[:, None], -1.0, 1.0) * unit)

    def of_table(self, records: Records) -> Integers:
        """Return the exact sums over the current records; free slots add nothing."""
        return sum((self.of(*block) for block in record_blocks(records)), np.zeros(self.size, np.int64))

    def of_persons(self, records: Records) -> Integers:
        """Return the exact sums over the current records, those of a row of a person with k rows divided by k."""
        parts = (replace(self, alike=number).of(*block) for number, *block in person_blocks(records))
        return sum(parts, np.zeros(self.size, np.int64))

    def noise(self, noise: Noise, *, variance: int, label_weight: int) -> Integers:
        """Draw exact discrete Gaussians: σ² on the diagonal, σ²/2 above it, σ²/β² on a sum of unscaled labels."""
        rows, places = upper_triangle_indices(self.features)
        drawn = np.empty(self.size, np.int64)
        diagonal = rows == places
        matrix = drawn[: len(rows)]
        matrix[diagonal] = discrete_gaussian(int(diagonal.sum()), noise, variance=Fraction(variance))
        matrix[~diagonal] = discrete_gaussian(int((~diagonal).sum()), noise, variance=Fraction(variance, 2))
        labels = Fraction(variance * 4**self.label_bits, label_weight**2)
        drawn[len(rows) :] = discrete_gaussian(self.size - len(rows), noise, variance=labels)
        return drawn


def round_product(rest: Integers, carry: Fraction, bits: int) -> Integers:
    """Return c · rest rounded to integers, halves up, for c a multiple of 2^−bits.

    Raises:
        OverflowError: If c is not such a multiple, or a number is too large for 64 bits: then it is not the noise of a
            draw.
    """
    scaled = carry * (1 << bits)
    if scaled.denominator != 1 or not np.abs(rest).max(initial=0) < 1 << (62 - bits):
        raise OverflowError("what is carried on is no noise of a draw, or c is not on its grid")
    product = rest * np.int64(int(scaled)) + np.int64(1 << (bits - 1))
    return product >> np.int64(bits)


# --- noisy moments ---
#
# Estimates from one release of noisy sums: denoised moments, discriminants, ridge regression, principal components.
#
# This is post-processing of one release, so it costs no privacy. Rows of a `Coding` have moments of a known form: the
# entries of a block are functions of its codes, so the moments of a block follow from the counts of its codes, which
# are not negative. The cross moments of two blocks beyond the product of their means form a table of which few singular
# values exceed the noise; the others are noise, and those few are inflated by it (Gavish and Donoho 2017, for the
# Frobenius norm).


_RARE = 1e-3  # least share of a class that can be distinguished from noise
_THIN = 0.05  # relative to the mean: least sum of squares along a direction that its ridge distinguishes


@lru_cache(8)
def _solvers(coding: Coding) -> list[tuple[Matrix, Matrix]]:
    """Return for each block (directions, codes) what a code adds to a row of norm 1, and a solver for counts.

    The solver maps 2 ρ Zᵀ m + diag(Zᵀ M Z) to the counts t of the codes, given Σ t: least squares for ρ Z t ≈ m,
    weighted twice, and Z diag(t) Zᵀ ≈ M.
    """
    found, full = [], 1 + len(coding.blocks)
    for block in coding.blocks:
        adds: Matrix = (block.signs.astype(np.float64) * np.sqrt([float(share) / full for share in block.shares])).T
        inner = adds.T @ adds
        system = np.ones((len(inner) + 1, len(inner) + 1))
        system[:-1, :-1] = 2 * float(coding.common) / full * inner + inner**2 + 1e-9 * np.eye(len(inner))
        system[-1, -1] = 0.0
        found.append((adds, np.asarray(np.linalg.inv(system), np.float64)))
    return found


def _by_numbers(square: Matrix, coding: Coding, reach: float) -> Matrix:
    """Return `square` with the moments of each block, and its means, replaced by those of the best-fitting code counts.

    The counts are not negative and agree with the total of `square`.
    """
    found = square.copy()
    total = max(float(square[0, 0]) / reach**2, 0.0)
    for start, (adds, solve) in zip(coding.starts, _solvers(coding), strict=False):
        here = slice(start, start + len(adds))
        told = 2 * reach * adds.T @ square[0, here] + (adds * (square[here, here] @ adds)).sum(axis=0)
        numbers = np.maximum(solve @ np.append(told, total), 0.0)[:-1]
        numbers *= total / max(float(numbers.sum()), 1e-300)
        found[0, here] = found[here, 0] = reach * adds @ numbers
        found[here, here] = (adds * numbers) @ adds.T
    return found


@dataclass(frozen=True)
class NoisyMoments:
    """Σ x xᵀ and Σ y xᵀ from one release, of rows of norm at most 1 (divided by R).

    Attributes:
        square: (d, d) in the directions of the rows.
        first: (outputs, d).
        variance: V, the variance of a diagonal entry of `square`.
        radius: R.
        coding: Defines the directions; None: these are features of arbitrary rows.
    """

    square: Matrix
    first: Matrix
    variance: float
    radius: float
    coding: Coding | None

    @classmethod
    def of(cls, moments: IntegerMoments, published: Integers, *, variance: int, coding: Coding | None) -> NoisyMoments:
        """Return the denoised moments of published sums."""
        places = upper_triangle_indices(moments.features)
        unit = float(moments.norm_squared)
        square = np.zeros((moments.features, moments.features))
        square[places] = published[: len(places[0])] / unit
        square += np.triu(square, 1).T
        first = published[len(places[0]) :].reshape(moments.outputs, moments.features)
        told = first / math.sqrt(unit) / 2.0**moments.label_bits
        radius, spread = math.sqrt(unit) / 2.0**moments.bits, variance / unit**2
        if coding is not None:
            reach = math.sqrt(coding.common / (1 + len(coding.blocks)))
            square = _shrink_blocks(_by_numbers(square, coding, reach), coding.starts, spread)
        return cls(square, told, spread, radius, coding)

    @property
    def reach(self) -> float:
        """Component of a row of norm 1 along the first direction, which is the same for all rows.

        Raises:
            ValueError: If there is no coding.
        """
        if self.coding is None:
            raise ValueError("rows of no coding share no direction that is known")
        return math.sqrt(self.coding.common / (1 + len(self.coding.blocks)))

    @property
    def noise(self) -> float:
        """Approximate largest eigenvalue of the noise of `square`."""
        return math.sqrt(2.0 * self.variance * len(self.square))

    def ridges(self, ridge: float, share: float) -> Matrix:
        """Return (d,) for each direction `ridge` plus a share of the noise.

        With a coding, that share is divided by the fourth root of the sum of squares along the direction (multiplied by
        that of their geometric mean), so that directions with few rows are shrunk more.
        """
        if self.coding is None:
            return np.full(len(self.square), ridge + share * self.noise)
        along = np.diag(self.square)[1:]
        rows = np.log(np.maximum(along, max(_THIN * along.mean(), 1e-300)))
        return ridge + share * self.noise * np.exp(np.append(0.0, rows.mean() - rows) / 4)

    def ridge(self, ridge: Matrix) -> Matrix:
        """Return (outputs, features) least-squares weights with these ridges, for unscaled rows.

        Eigenvalues well below 0 are replaced by 0.
        """
        return self._weights(_solve_ridge(self.square, self.first.T, ridge).T)

    def discriminant(self, ridge: Matrix) -> Matrix:
        """Return (outputs, features) weights of log odds of normal classes with one covariance.

        With two classes these are the odds of one against the other. Requires coded rows; `first` contains sums over
        labels ±1 with one output, else the sums of each class.
        """
        total = self.square[0] / self.reach
        classes = self.first if len(self.first) > 1 else np.stack([total - self.first[0], total + self.first[0]]) / 2
        sizes = np.maximum(classes[:, 0] / self.reach, _RARE * max(1.0, total[0] / self.reach))
        number, means = float(sizes.sum()), classes[:, 1:] / sizes[:, None]
        within = self.square[1:, 1:] - (means.T * sizes) @ means
        slopes = _solve_ridge(within / number, means.T, ridge[1:] / number).T
        offsets = np.log(sizes / number) - (slopes * means).sum(axis=1) / 2
        weights = np.concatenate([offsets[:, None] / self.reach, slopes], axis=1)
        return self._weights(weights if len(self.first) > 1 else weights[1:] - weights[:1])

    def components(self, number: int) -> tuple[Matrix, Matrix]:
        """Return the directions of largest spread of rows about their mean (about 0 without a coding).

        Args:
            number: Number of components.

        Returns:
            (number, features) weights whose scores are the components of a row, and (number,) sums of squares along
            them, in decreasing order.
        """
        square = self.square
        if self.coding is not None:
            square = square[1:, 1:] - np.outer(square[0, 1:], square[0, 1:]) / max(square[0, 0], self.reach**2)
        sizes, along = np.linalg.eigh(square)
        best = along.T[::-1][:number]
        if self.coding is not None:
            best = np.pad(best, ((0, 0), (1, 0)))
        return self._turned(best), np.maximum(sizes[::-1][:number], 0.0)

    def _weights(self, weights: Matrix) -> Matrix:
        return self._turned(weights) / self.radius

    def _turned(self, weights: Matrix) -> Matrix:
        return weights if self.coding is None else self.coding.to_features(weights)


def _shrink_blocks(square: Matrix, starts: tuple[int, ...], variance: float) -> Matrix:
    """Return `square` with the cross moments of blocks, beyond the product of their means, denoised."""
    means = square[0, 1:]
    product = np.outer(means, means) / max(square[0, 0], math.sqrt(variance))
    common = square[1:, 1:] - product
    spans = [slice(first - 1, stop - 1) for first, stop in pairwise(starts)]
    for number, one in enumerate(spans):
        for other in spans[number + 1 :]:
            common[one, other] = _without_noise(common[one, other], variance / 2)
            common[other, one] = common[one, other].T
    found = square.copy()
    found[1:, 1:] = common + product
    return found


def _without_noise(table: Matrix, variance: float) -> Matrix:
    """Shrink singular values d to √((d² − (p + q)σ²)² − 4pqσ⁴)/d, and to 0 if at most (√p + √q)σ."""
    if table.shape[0] < table.shape[1]:
        return _without_noise(table.T, variance).T
    from scipy.linalg import eigh

    long, short = table.shape
    least = (math.sqrt(long) + math.sqrt(short)) ** 2 * variance
    large, along = eigh(table.T @ table, subset_by_value=(least, np.inf), check_finite=False)
    shrink = np.sqrt(np.maximum(0, (large - (long + short) * variance) ** 2 - 4 * long * short * variance**2)) / large
    turned: Matrix = ((table @ along) * shrink) @ along.T
    return turned


def _solve_ridge(square: Matrix, right: Matrix, ridge: Matrix) -> Matrix:
    """Return (square + diag(ridge))⁻¹ right; relative to the ridge, eigenvalues below −1/2 are replaced by 0."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

    scale, diagonal = 1 / np.sqrt(ridge), np.diag_indices(len(square))
    beside = scale[:, None] * square * scale
    beside[diagonal] += 0.5
    try:
        cho_factor(beside, check_finite=False)
    except LinAlgError:
        sizes, along = eigh(beside, subset_by_value=(-np.inf, 0.0), check_finite=False)
        beside -= (along * (sizes - 0.5)) @ along.T
    beside[diagonal] += 0.5
    solved = cho_solve(cho_factor(beside, check_finite=False), scale[:, None] * right, check_finite=False)
    return np.asarray(scale[:, None] * solved, np.float64)
