"""A sample of rows that guides the solver: its gradient, and an approximate inverse of its Hessian.

The Hessian of the mean loss is a mean of A_i ⊗ x_i x_iᵀ over the rows, A_i = ∂²ℓ/∂z², plus λI. Its inverse is computed

* for one output: for the sample's Hessian, by a Cholesky factor of features by features or, for wide tables, of rows
  by rows (Woodbury), so that no matrix of features by features is formed; or for a multiple of I if no direction of a
  wide table is significant;
* for nested rows, by conjugate gradients with products of the sample;
* for several outputs: for Ā ⊗ M + λI, Ā and M the means of A_i and of x_i x_iᵀ (K-FAC; Martens & Grosse 2015), by
  their eigenvectors; those of M are computed from the smaller of its two sides. The null direction of softmax, the
  same vector added to every class, is then exact.

Directions outside the span of a sample get the curvature of a row's share, tr/m. A_i is computed from differences of
the slope of the loss, so a loss need not define a second derivative, nor have one everywhere. Rows stay float32, and
sparse if they are sparse: nothing here is proven, and nothing of it enters a certificate.
"""

from __future__ import annotations

import math
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.solver_steps import factor_passes, sample_rows
from .coded import CodedPart
from .descent import Operator, Pair, Vector, solve_by_products
from .nested import NestedPart
from .objective import PreciseObjective

_COUPLING = 200  # rows from which Ā is computed
_MOST_CLASSES = 256  # most outputs for which Ā is computed in full
_CELLS = 1 << 18  # numbers of sparse rows expanded at a time
_LOST = 2.0**-20  # relative to the trace
_COMPARED, _STANDS_OUT = 64, 1.5  # rows of a wide sample compared; least ratio of an eigenvalue to the largest of noise
_ASKED = 256  # rows used to compare two starts
_SAMPLED_RESIDUAL, _MOST_PRODUCTS = 0.1, 20  # of conjugate gradients on a nested sample
_MOST_BESIDE = 0.5  # gradient passes that the products of one step may amount to
_STEP = 2.5e-3  # step of the differences, relative to the range of scores over which a slope changes


class Sample:
    """An evenly spaced sample of an objective's slots, with the objective of these rows.

    Attributes:
        latest: The last inverse of a Hessian; only a scale if the rows are `even`.
        pairs: The pairs of L-BFGS.
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
        self._spent, self._before = [0.0], 0.0  # shared with the samples pulled from this one, whose inverses it made
        self._objective = objective
        self._rows: Any
        self._rows, self._labels = objective.strided(rows)
        if not isinstance(self._rows, np.ndarray) and not self.narrow:  # cost depends on values per row
            size["filled"] = max(1.0, self._rows.nnz / self._rows.shape[0])
            if not isinstance(self._rows, (CodedPart, NestedPart)):
                step = -(-self._rows.shape[0] // sample_rows(**size)[0])
                self._rows, self._labels = self._rows[::step], self._labels[::step]
        self._factor = factor_passes(**size)
        self._taken = self._rows.shape[0]
        self._share = self._taken / objective.slots
        constants, radius = objective.loss.constants, objective.loss.radius
        self._step = _STEP * (constants.lipschitz * radius / constants.curvature if constants.curvature else 1.0)
        self._products = min(_MOST_PRODUCTS, int(_MOST_BESIDE / self._share))
        self._moment: tuple[Vector, Vector, float] | None = None
        self.even = False

    @property
    def passes(self) -> float:
        """Gradient passes over the whole table that the work done for this objective amounts to."""
        return self._spent[0] - self._before

    def pulled(self, objective: PreciseObjective) -> Sample:
        """Return the same sample, with its curvature information, for an objective with other linear terms."""
        other = copy(self)
        other._objective, other._before = objective, self._spent[0]
        return other

    def _scores(self, weights: Vector, step: int = 1) -> NDArray[np.float32]:
        with np.errstate(invalid="ignore"):  # which some BLAS kernels raise for finite numbers
            return np.asfortranarray(self._rows[::step] @ weights.T.astype(np.float32))

    def gradient(self, weights: Vector) -> Vector:
        """Return ∇ of the objective of the sample's rows, including regularizer and linear term, in float32."""
        self._spent[0] += self._share
        slopes = self._objective.loss.derivative(self._scores(weights), self._labels, np)
        mean: Vector = slopes.T @ self._rows * (self._objective.mean_share / len(slopes))
        return mean + self._objective.regular_gradient(weights)

    def is_nearer(self, start: Vector) -> bool:
        """Return whether, on some rows, the objective is lower at `start`, a noisy model, than at the centre.

        Where it was not, a descent from `start` was measured to take more passes, however small its gradient.
        """
        step = max(1, self._taken // _ASKED)
        self._spent[0] += self._share / step  # two scores for each row, no sum

        def value(weights: Vector) -> float:
            scores = self._scores(weights, step).astype(np.float64)
            fit = float(self._objective.loss.value(scores, self._labels[::step], np).mean())
            return fit * self._objective.mean_share + self._objective.regular_value(weights)

        return value(start) < value(self._objective.centre)

    def inverse(self, weights: Vector) -> Operator:
        """Return the approximate inverse Hessian at `weights`, as an operator on (outputs, features)."""
        self._spent[0] += self._factor
        scores: NDArray[Any] = self._scores(weights)
        if self._objective.loss.label_kind == "target":  # residuals of large labels lose digits in float32
            scores = scores.astype(np.float64)
        made = self._one_output(scores) if scores.shape[1] == 1 else self._several_outputs(scores)
        self.latest = made
        return made

    def _change(self, scores: NDArray[Any], labels: NDArray[Any], direction: NDArray[Any]) -> NDArray[Any]:
        """Return A_i v_i by a central difference, times the mean weight of a row."""
        derivative = self._objective.loss.derivative
        ahead, behind = (derivative(scores + step * direction, labels, np) for step in (self._step, -self._step))
        change: NDArray[Any] = (ahead - behind) * (self._objective.mean_share / (2 * self._step))
        return change

    def _unseen(self, trace: float) -> float:
        """Return the curvature of directions outside the sample's span; it exceeds float32 errors of those inside."""
        return self._objective.regularization + trace * max(_LOST, 1 / self._taken if self._share < 1 else 0.0)

    def _one_output(self, scores: NDArray[Any]) -> Operator:
        bend = np.maximum(self._change(scores, self._labels, np.ones_like(scores)), 0.0)
        if isinstance(self._rows, (CodedPart, NestedPart)):
            return self._nested(bend.reshape(-1).astype(np.float32, copy=False))
        roots = np.sqrt(bend / len(bend)).astype(np.float32, copy=False)
        if not self.narrow and self._share < 1 and (curvature := self._even(roots)):
            self._spent[0] -= self._factor
            self.even = True
            return lambda gradient: gradient / curvature
        rooted = _scale_rows(self._rows, roots)
        unseen = self._unseen(_square(rooted))
        if self.narrow:
            solve = _solver(_multiply(rooted.T, rooted), unseen)
            return lambda gradient: solve(gradient.T).T
        solve = _solver(_multiply(rooted, rooted.T), unseen)

        def woodbury(gradient: Vector) -> Vector:
            seen = solve(rooted @ gradient.T.astype(np.float32))
            step: Vector = (gradient - (rooted.T @ seen.astype(np.float32)).T) / unseen
            return step

        return woodbury

    def _even(self, roots: NDArray[np.float32]) -> float | None:
        """Return the curvature along a row if the products of some rows with each other look like noise.

        Then every direction has about this curvature, and a factor of the sample's Hessian would cost more than it
        saves. None if a direction is significant.
        """
        few = slice(None, None, -(-self._taken // _COMPARED))
        rooted = _scale_rows(self._rows[few], roots[few])
        products = _multiply(rooted, rooted.T).astype(np.float64) * self._taken
        own = float(np.trace(products)) / len(products)
        np.fill_diagonal(products, 0.0)
        # half of the largest eigenvalue (semicircle law)
        noise = float(np.linalg.norm(products)) / math.sqrt(len(products))
        if not own or np.abs(np.linalg.eigvalsh(products)).max() > _STANDS_OUT * 2 * noise:
            return None
        return self._objective.regularization + own / self._objective.slots + noise**2 / (own * len(products))

    def _nested(self, bend: NDArray[np.float32]) -> Operator:
        """Return the inverse for nested rows, by conjugate gradients.

        The columns of largest curvature jointly, and the others separately, are its preconditioner.
        """
        chosen, matrix, diagonal = self._rows.hessian(bend, self._objective.regularization)
        unseen = self._unseen(float(diagonal.sum()))
        solve, rest = _solver(matrix, unseen), diagonal + unseen
        shares = bend[:, None] / np.float32(len(bend))

        def approximate(gradient: Vector) -> Vector:
            made: Vector = gradient / rest
            made[:, chosen] = solve(gradient[:, chosen].T).T
            return made

        def multiply(direction: Vector) -> Vector:
            self._spent[0] += self._share
            product: Vector = (shares * self._scores(direction)).T @ self._rows + unseen * direction
            return product

        return self._refine(approximate, multiply)

    def _several_outputs(self, scores: NDArray[Any]) -> Operator:
        few = slice(None, None, max(1, len(scores) // _COUPLING))
        part, labels = scores[few], self._labels[few]
        many = scores.shape[1] > _MOST_CLASSES
        classes, along = (None, self._each(part, labels)) if many else self._coupling(part, labels)
        within = self._along_coded if isinstance(self._rows, CodedPart) else self._along_features
        solve, unseen = within(along)

        def kronecker(gradient: Vector) -> Vector:
            step = solve(gradient if classes is None else classes.T @ gradient)
            back: Vector = step if classes is None else classes @ step
            return back

        def centred(gradient: Vector) -> Vector:
            common = gradient.mean(axis=0)
            step = kronecker(gradient - common)
            moved: Vector = step - step.mean(axis=0) + common / self._objective.regularization
            return moved

        def multiply(direction: Vector) -> Vector:
            self._spent[0] += self._share
            turned = self._scores(direction)
            size = float(np.abs(turned).max()) or 1.0
            slopes = self._change(scores, self._labels, turned / size)
            product: Vector = slopes.T @ self._rows * (size / self._taken) + unseen * direction
            return product

        approximate = centred if many and self._blind(part, labels) else kronecker
        return self._refine(approximate, multiply) if isinstance(self._rows, CodedPart) else approximate

    def _refine(self, approximate: Operator, multiply: Operator) -> Operator:
        """Return `approximate` refined by conjugate gradients with products of the sample's Hessian."""
        if not self._products:
            return approximate
        return lambda gradient: solve_by_products(multiply, gradient, _SAMPLED_RESIDUAL, self._products, approximate)[0]

    def _along_features(self, along: Vector) -> tuple[Operator, float]:
        """Return g ↦ (`along` ⊗ M + λI)⁻¹ g, and the curvature of directions outside the sample's span."""
        if self._moment is None:
            self._moment = _second_moment(self._rows, self.narrow)
        features, eigenvalues, trace = self._moment
        convexity, unseen = self._objective.regularization, self._unseen(trace)
        rest = (along * (unseen - convexity) + convexity)[:, None]

        def solve(turned: Vector) -> Vector:
            within = turned @ features
            outside = 0.0 if self.narrow else (turned - within @ features.T) / rest
            step: Vector = (within / (along[:, None] * eigenvalues + rest)) @ features.T + outside
            return step

        return solve, unseen

    def _along_coded(self, along: Vector) -> tuple[Operator, float]:
        """Return the same for coded rows: columns of large curvature jointly, the others separately."""
        largest = max(float(along.max()), 1e-300)
        bend = np.full(self._taken, largest, np.float32)
        chosen, matrix, diagonal = self._rows.hessian(bend, self._objective.regularization)
        eigenvalues, features = np.linalg.eigh(matrix.astype(np.float64))
        shares, unseen = along[:, None] / largest, self._unseen(float(diagonal.sum()))
        separate, joint = (shares * own + unseen for own in (diagonal, np.maximum(eigenvalues, 0.0)))

        def solve(turned: Vector) -> Vector:
            made: Vector = turned / separate
            made[:, chosen] = (turned[:, chosen] @ features / joint) @ features.T
            return made

        return solve, unseen

    def _coupling(self, scores: NDArray[Any], labels: NDArray[Any]) -> tuple[Vector, Vector]:
        """Return the eigenvectors of Ā as columns, and its eigenvalues; all outputs are probed in one call."""
        rows, outputs = scores.shape
        probes = np.repeat(np.eye(outputs, dtype=scores.dtype), rows, axis=1).T  # column-major, like scores
        change = self._change(np.tile(scores.T, outputs).T, np.tile(labels, outputs), probes)
        coupling = change.T.reshape(outputs, outputs, rows).mean(axis=2)
        along, classes = np.linalg.eigh((coupling + coupling.T) / 2)
        return classes, np.maximum(along, 0.0)

    def _each(self, scores: NDArray[Any], labels: NDArray[Any]) -> Vector:
        """Return the approximate diagonal of Ā for very many outputs, by random signs."""
        signs = np.where(np.random.default_rng(0).random(scores.shape) < 0.5, 1, -1).astype(scores.dtype)
        diagonal: Vector = (self._change(scores, labels, signs) * signs).mean(axis=0).astype(np.float64)
        return np.maximum(diagonal, 0.0)

    def _blind(self, scores: NDArray[Any], labels: NDArray[Any]) -> bool:
        """Return whether adding the same number to every score leaves the loss unchanged."""
        even = np.ones_like(scores)
        return bool(np.abs(self._change(scores, labels, even)).max() < 1e-3)


def _solver(matrix: NDArray[np.float32], shift: float) -> Operator:
    """Return v ↦ (`matrix` + `shift` I)⁻¹ v, in float64.

    Computed with numpy: scipy's factorizations take longer to load than most deletions take.
    """
    shifted = matrix.astype(np.float64)
    shifted[np.diag_indices_from(shifted)] += shift
    inverse = _inverse_of_lower(np.linalg.cholesky(shifted))
    return lambda vector: inverse.T @ (inverse @ vector)


def _inverse_of_lower(lower: NDArray[Any]) -> NDArray[Any]:
    """Return L⁻¹ of a lower triangular matrix, by recursive halving."""
    half = len(lower) // 2
    if half < 32:
        return np.linalg.inv(lower)
    inverse = np.zeros_like(lower)
    first, last = slice(half), slice(half, None)
    inverse[first, first] = _inverse_of_lower(lower[first, first])
    inverse[last, last] = _inverse_of_lower(lower[last, last])
    inverse[last, first] = -inverse[last, last] @ (lower[last, first] @ inverse[first, first])
    return inverse


def _second_moment(rows: Any, narrow: bool) -> tuple[Any, Vector, float]:
    """Return the eigenvectors of M as columns, its eigenvalues, and its trace; or those in the rows' span."""
    taken = rows.shape[0]
    trace = _square(rows) / taken
    if narrow:
        along, features = np.linalg.eigh((_multiply(rows.T, rows) / taken).astype(np.float64))
        return features, np.maximum(along, 0.0), trace
    along, between = np.linalg.eigh((_multiply(rows, rows.T) / taken).astype(np.float64))
    seen = along > 1e-5 * max(float(along[-1]), 1e-300)
    combined = between[:, seen] / np.sqrt(along[seen] * taken)
    if isinstance(rows, np.ndarray):
        return rows.T.astype(np.float64) @ combined, along[seen], trace
    from scipy.sparse.linalg import aslinearoperator

    # two factors: their product would be dense, with as many rows as the table has columns
    return aslinearoperator(rows.T.astype(np.float64)) @ aslinearoperator(combined), along[seen], trace


def _multiply(one: Any, other: Any) -> NDArray[np.float32]:
    """Return the product as a dense array; its sides are at most those of a matrix to be factorized."""
    if isinstance(one, np.ndarray):
        return np.asarray(one @ other)
    made, few = np.empty((one.shape[0], other.shape[1]), np.float32), max(1, _CELLS // other.shape[0])
    for first in range(0, made.shape[1], few):  # by dense columns, which is faster in scipy
        made[:, first : first + few] = one @ other[:, first : first + few].toarray()
    return made


def _scale_rows(rows: Any, factors: NDArray[np.float32]) -> Any:
    """Multiply each row by its factor; factors (rows, 1)."""
    return rows * factors if isinstance(rows, np.ndarray) else rows.multiply(factors).tocsr()


def _square(rows: Any) -> float:
    """Return the sum of all squares."""
    values = rows if isinstance(rows, np.ndarray) else rows.data
    return float(np.vdot(values, values))
