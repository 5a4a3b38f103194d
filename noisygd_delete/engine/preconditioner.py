"""A sample of rows that steers the solver: its gradient, and about the inverse of its Hessian.

The Hessian of the mean loss is a mean of A_i ⊗ x_i x_iᵀ over the rows, A_i = ∂²ℓ/∂z², plus λI. Its inverse is taken

* for one output: of the sample's Hessian itself, by a Cholesky factor of features by features or, for wide tables, of rows by
  rows (Woodbury), so that no matrix of features by features is formed; of a multiple of I where no direction of a wide table stands out;
* for several outputs: of Ā ⊗ M + λI, Ā and M the means of A_i and of x_i x_iᵀ (K-FAC; Martens & Grosse 2015), by their
  eigenvectors; those of M come from the smaller of its two sides. What softmax cannot see, the same vector added to every class, is
  exact then.

Directions that a sample does not have are given the curvature of a row's share, tr/m. A_i is found from differences of the loss's
slope, so a loss needs to state no second derivative, nor to have one everywhere. Rows stay float32, and sparse where they are:
nothing here is proven, and nothing of it enters a certificate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.solver_steps import factor_passes, sample_rows
from .nested import NestedPart, nested_hessian
from .objective_float64 import PreciseObjective

Vector = NDArray[np.float64]
Operator = Callable[[Vector], Vector]
Pair = tuple[Vector, Vector, float]  # a step, what it changed of the gradient, 1/⟨step, change⟩

_COUPLING = 200  # rows from which Ā is found
_MOST_CLASSES = 256  # outputs whose Ā is found in full
_CELLS = 1 << 18  # numbers of sparse rows written out at a time
_LOST = 2.0**-20  # of the trace
_COMPARED, _STANDS_OUT = (
    64,
    1.5,
)  # rows of a wide sample whose products are looked at; an eigenvalue over noise's largest
_ASKED = 256  # rows that say which of two starts is nearer
_STEP = 2.5e-3  # of the differences, in units of the scores over which a slope changes


class Sample:
    """Every so-manyth slot of an objective's table, with the objective of those rows alone.

    `latest` is the inverse of a Hessian that was taken last, `pairs` are those of L-BFGS.
    """

    def __init__(self, objective: PreciseObjective, condition_number: float) -> None:
        self.latest: Operator | None = None
        self.pairs: list[Pair] = []
        outputs, features = objective.shape
        size: dict[str, Any] = {
            "records": objective.slots,
            "features": features,
            "outputs": outputs,
            "condition_number": condition_number,
        }
        rows, self.narrow = sample_rows(**size)
        self.passes = 0.0  # gradient passes of the whole table that the work done here amounts to
        self._objective = objective
        self._rows: Any
        self._rows, self._labels = objective.strided(rows)
        if not isinstance(self._rows, np.ndarray) and not self.narrow:  # a pass costs what the values of a row cost
            size["filled"] = max(1.0, self._rows.nnz / self._rows.shape[0])
            step = -(-self._rows.shape[0] // sample_rows(**size)[0])
            self._rows, self._labels = self._rows[::step], self._labels[::step]
        self._factor = factor_passes(**size)
        self._taken = self._rows.shape[0]
        self._share = self._taken / objective.slots
        constants, radius = objective.loss.constants, objective.loss.radius
        self._step = _STEP * (constants.lipschitz * radius / constants.curvature if constants.curvature else 1.0)
        self._moment: tuple[Vector, Vector, float] | None = None

    def pulled(self, objective: PreciseObjective) -> Sample:
        """The same rows, and what is known of how their objective curves, for one of other linear terms."""
        other = copy(self)
        other._objective, other.passes = objective, 0.0
        return other

    def _scores(self, weights: Vector, step: int = 1) -> NDArray[np.float32]:
        return np.asfortranarray(self._rows[::step] @ weights.T.astype(np.float32))

    def gradient(self, weights: Vector) -> Vector:
        """∇ of the objective of the sample's rows, regulariser and linear term included, in float32."""
        self.passes += self._share
        slopes = self._objective.loss.derivative(self._scores(weights), self._labels, np)
        mean: Vector = slopes.T @ self._rows / len(slopes)
        return mean + self._objective.regular_gradient(weights)

    def is_nearer(self, start: Vector) -> bool:
        """Whether some rows say that the objective is less at `start`, a model with noise, than at the centre: where it was not, the way from
        there was measured to take more passes, however small its gradient."""
        step = max(1, self._taken // _ASKED)
        self.passes += self._share / step  # two scores of each row, no sum

        def value(weights: Vector) -> float:
            scores = self._scores(weights, step).astype(np.float64)
            fit = float(self._objective.loss.value(scores, self._labels[::step], np).mean())
            return fit + self._objective.regular_value(weights)

        return value(start) < value(self._objective.centre)

    def inverse(self, weights: Vector) -> Operator:
        """About the inverse Hessian at `weights`, as an operator on (outputs, features)."""
        self.passes += self._factor
        scores: NDArray[Any] = self._scores(weights)
        if self._objective.loss.label_kind == "target":  # residuals of large labels lose their digits in float32
            scores = scores.astype(np.float64)
        made = self._one_output(scores) if scores.shape[1] == 1 else self._several_outputs(scores)
        self.latest = made
        return made

    def _change(self, scores: NDArray[Any], labels: NDArray[Any], direction: NDArray[Any]) -> NDArray[Any]:
        """A_i v_i by a central difference."""
        derivative = self._objective.loss.derivative
        ahead, behind = (derivative(scores + step * direction, labels, np) for step in (self._step, -self._step))
        change: NDArray[Any] = (ahead - behind) / (2 * self._step)
        return change

    def _unseen(self, trace: float) -> float:
        """Curvature given to directions that the sample does not have; more than float32 can lose of those it has."""
        return self._objective.regularization + trace * max(_LOST, 1 / self._taken if self._share < 1 else 0.0)

    def _one_output(self, scores: NDArray[Any]) -> Operator:
        bend = np.maximum(self._change(scores, self._labels, np.ones_like(scores)), 0.0)
        if isinstance(self._rows, NestedPart):
            return self._nested(bend.reshape(-1).astype(np.float32, copy=False))
        rooted = _scale_rows(self._rows, np.sqrt(bend / len(bend)).astype(np.float32, copy=False))
        unseen = self._unseen(_square(rooted))
        if not self.narrow and self._share < 1 and (even := self._even(rooted)):
            self.passes -= self._factor
            return lambda gradient: gradient / even
        if self.narrow:
            solve = _solver(_product(rooted.T, rooted), unseen)
            return lambda gradient: solve(gradient.T).T
        solve = _solver(_product(rooted, rooted.T), unseen)

        def woodbury(gradient: Vector) -> Vector:
            seen = solve(rooted @ gradient.T.astype(np.float32))
            step: Vector = (gradient - (rooted.T @ seen.astype(np.float32)).T) / unseen
            return step

        return woodbury

    def _even(self, rooted: Any) -> float | None:
        """The curvature along a row, where the products of some rows with one another are those of noise: then every direction has about as
        much, and a factor of the sample's would cost more than it says. None where one stands out."""
        few = rooted[:: max(1, self._taken // _COMPARED)]
        products = _product(few, few.T).astype(np.float64) * self._taken
        own = float(np.trace(products)) / len(products)
        np.fill_diagonal(products, 0.0)
        noise = float(np.linalg.norm(products)) / math.sqrt(
            len(products)
        )  # of the largest eigenvalue, by half (the semicircle law)
        if not own or np.linalg.norm(products, 2) > _STANDS_OUT * 2 * noise:
            return None
        return self._objective.regularization + own / self._objective.slots + noise**2 / (own * len(products))

    def _nested(self, bend: NDArray[np.float32]) -> Operator:
        """Columns that curve much together, the others each by itself."""
        chosen, matrix, diagonal = nested_hessian(self._rows, bend, self._objective.regularization)
        unseen = self._unseen(float(diagonal.sum()))
        solve, rest = _solver(matrix, unseen), diagonal + unseen

        def step(gradient: Vector) -> Vector:
            made: Vector = gradient / rest
            made[:, chosen] = solve(gradient[:, chosen].T).T
            return made

        return step

    def _several_outputs(self, scores: NDArray[Any]) -> Operator:
        if self._moment is None:
            self._moment = _moment(self._rows, self.narrow)
        features, along_features, trace = self._moment
        few = slice(None, None, max(1, len(scores) // _COUPLING))
        part, labels = scores[few], self._labels[few]
        many = scores.shape[1] > _MOST_CLASSES
        classes, along_classes = (None, self._each(part, labels)) if many else self._coupling(part, labels)
        convexity = self._objective.regularization
        rest = along_classes * (self._unseen(trace) - convexity) + convexity
        scale = along_classes[:, None] * along_features[None, :] + rest[:, None]

        def kronecker(gradient: Vector) -> Vector:
            turned = gradient if classes is None else classes.T @ gradient
            within = turned @ features
            outside = 0.0 if self.narrow else (turned - within @ features.T) / rest[:, None]
            step: Vector = (within / scale) @ features.T + outside
            back: Vector = step if classes is None else classes @ step
            return back

        def centred(gradient: Vector) -> Vector:
            common = gradient.mean(axis=0)
            step = kronecker(gradient - common)
            moved: Vector = step - step.mean(axis=0) + common / convexity
            return moved

        return centred if many and self._blind(part, labels) else kronecker

    def _coupling(self, scores: NDArray[Any], labels: NDArray[Any]) -> tuple[Vector, Vector]:
        """Eigenvectors of Ā as columns, and its eigenvalues: once for every output, all in one call."""
        rows, outputs = scores.shape
        probes = np.repeat(np.eye(outputs, dtype=scores.dtype), rows, axis=0)
        change = self._change(np.tile(scores, (outputs, 1)), np.tile(labels, outputs), probes)
        coupling = change.reshape(outputs, rows, outputs).mean(axis=1)
        along, classes = np.linalg.eigh((coupling + coupling.T) / 2)
        return classes, np.maximum(along, 0.0)

    def _each(self, scores: NDArray[Any], labels: NDArray[Any]) -> Vector:
        """About the diagonal of Ā, for very many outputs: by random signs."""
        signs = np.where(np.random.default_rng(0).random(scores.shape) < 0.5, 1, -1).astype(scores.dtype)
        diagonal: Vector = (self._change(scores, labels, signs) * signs).mean(axis=0).astype(np.float64)
        return np.maximum(diagonal, 0.0)

    def _blind(self, scores: NDArray[Any], labels: NDArray[Any]) -> bool:
        """Whether adding the same number to every score leaves the loss as it is."""
        even = np.ones_like(scores)
        return bool(np.abs(self._change(scores, labels, even)).max() < 1e-3)


def _solver(matrix: NDArray[np.float32], shift: float) -> Operator:
    """v ↦ (`matrix` + `shift` I)⁻¹ v, in float64. By numpy: scipy's factorisations take longer to load than most deletions take."""
    shifted = matrix.astype(np.float64)
    shifted[np.diag_indices_from(shifted)] += shift
    inverse = _inverse_of_lower(np.linalg.cholesky(shifted))
    return lambda vector: inverse.T @ (inverse @ vector)


def _inverse_of_lower(lower: NDArray[Any]) -> NDArray[Any]:
    """L⁻¹ of a lower triangular matrix, by halves."""
    half = len(lower) // 2
    if half < 32:
        return np.linalg.inv(lower)
    inverse = np.zeros_like(lower)
    first, last = slice(half), slice(half, None)
    inverse[first, first] = _inverse_of_lower(lower[first, first])
    inverse[last, last] = _inverse_of_lower(lower[last, last])
    inverse[last, first] = -inverse[last, last] @ (lower[last, first] @ inverse[first, first])
    return inverse


def _moment(rows: Any, narrow: bool) -> tuple[Any, Vector, float]:
    """Eigenvectors of M as columns, its eigenvalues, and its trace: all of them, or those in the span of the rows."""
    taken = rows.shape[0]
    trace = _square(rows) / taken
    if narrow:
        along, features = np.linalg.eigh((_product(rows.T, rows) / taken).astype(np.float64))
        return features, np.maximum(along, 0.0), trace
    along, between = np.linalg.eigh((_product(rows, rows.T) / taken).astype(np.float64))
    seen = along > 1e-5 * max(float(along[-1]), 1e-300)
    combined = between[:, seen] / np.sqrt(along[seen] * taken)
    if isinstance(rows, np.ndarray):
        return rows.T.astype(np.float64) @ combined, along[seen], trace
    from scipy.sparse.linalg import aslinearoperator

    # two factors: their product would be dense, and as long as the table is wide
    return aslinearoperator(rows.T.astype(np.float64)) @ aslinearoperator(combined), along[seen], trace


def _product(one: Any, other: Any) -> NDArray[np.float32]:
    """Their product written out; its sides are no longer than a matrix to be factorised is."""
    if isinstance(one, np.ndarray):
        return np.asarray(one @ other)
    made, few = np.empty((one.shape[0], other.shape[1]), np.float32), max(1, _CELLS // other.shape[0])
    for first in range(0, made.shape[1], few):  # by dense columns, which scipy is quicker at
        made[:, first : first + few] = one @ other[:, first : first + few].toarray()
    return made


def _scale_rows(rows: Any, factors: NDArray[np.float32]) -> Any:
    """The rows, each times its factor (rows, 1)."""
    return rows * factors if isinstance(rows, np.ndarray) else rows.multiply(factors).tocsr()


def _square(rows: Any) -> float:
    """The sum of all squares."""
    values = rows if isinstance(rows, np.ndarray) else rows.data
    return float(np.vdot(values, values))
