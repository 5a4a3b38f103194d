"""The minimizer of the objective of the current records, to a public tolerance: the first step of output perturbation.

Privacy requires only this: the result θ̃ has ‖∇L_D(θ̃)‖ ≤ γ in real arithmetic, for any data. So the gradient is
computed in float64, a bound on its rounding is added, and the first point found to meet the tolerance is the result.
With the linear term of objective perturbation the gradient is that of L_D(θ) + ⟨b, θ⟩/n for the *ideal* b, and the
bound covers the rounding of b. How the point was found does not matter:

* L-BFGS preconditioned by a sample of rows (`minimize`) usually takes four to twenty passes, all but the last in
  float32;
* if it stalls, Newton's method on differences of the gradient (`newton_cg`) runs for a limited number of passes;
* if that stalls, the optimal gradient method for smooth strongly convex functions (ITEM; Taylor & Drori 2023)
  takes its proven number of steps.

`fixed=True` runs only the last method, from 0: its number of passes depends only on public numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray

from ..bounds.solver_steps import condition, factor_passes, growth, proven_steps, sample_rows
from ..errors import AssumptionViolated
from .coded import CodedPart
from .nested import NestedPart
from .objective import PreciseObjective

# --- preconditioner ---
#
# A sample of rows that guides the solver: its gradient, and an approximate inverse of its Hessian.
#
# The Hessian of the mean loss is a mean of A_i ⊗ x_i x_iᵀ over the rows, A_i = ∂²ℓ/∂z², plus λI. Its inverse is computed
#
# * for one output: for the sample's Hessian, by a Cholesky factor of features by features or, for wide tables, of rows
#   by rows (Woodbury), so that no matrix of features by features is formed; or for a multiple of I if no direction of a
#   wide table is significant;
# * for nested rows, by conjugate gradients with products of the sample;
# * for several outputs: for Ā ⊗ M + λI, Ā and M the means of A_i and of x_i x_iᵀ (K-FAC; Martens & Grosse 2015), by
#   their eigenvectors; those of M are computed from the smaller of its two sides. The null direction of softmax, the
#   same vector added to every class, is then exact.
#
# Directions outside the span of a sample get the curvature of a row's share, tr/m. A_i is computed from differences of
# the slope of the loss, so a loss need not define a second derivative, nor have one everywhere. Rows stay float32, and
# sparse if they are sparse: nothing here is proven, and nothing of it enters a certificate.


Vector = NDArray[np.float64]
Operator = Callable[[Vector], Vector]
Pair = tuple[Vector, Vector, float]  # a step, the change of the gradient, 1/⟨step, change⟩

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
        passes: Gradient passes over the whole table that the work done here amounts to.
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
        self.passes = 0.0  # work done here, in gradient passes over the whole table
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
        self._products = max(1, min(_MOST_PRODUCTS, int(_MOST_BESIDE / self._share)))
        self._moment: tuple[Vector, Vector, float] | None = None
        self.even = False

    def pulled(self, objective: PreciseObjective) -> Sample:
        """Return the same sample, with its curvature information, for an objective with other linear terms."""
        other = copy(self)
        other._objective, other.passes = objective, 0.0
        return other

    def _scores(self, weights: Vector, step: int = 1) -> NDArray[np.float32]:
        return np.asfortranarray(self._rows[::step] @ weights.T.astype(np.float32))

    def gradient(self, weights: Vector) -> Vector:
        """Return ∇ of the objective of the sample's rows, including regularizer and linear term, in float32."""
        self.passes += self._share
        slopes = self._objective.loss.derivative(self._scores(weights), self._labels, np)
        mean: Vector = slopes.T @ self._rows * (self._objective.mean_share / len(slopes))
        return mean + self._objective.regular_gradient(weights)

    def is_nearer(self, start: Vector) -> bool:
        """Return whether, on some rows, the objective is lower at `start`, a noisy model, than at the centre.

        Where it was not, a descent from `start` was measured to take more passes, however small its gradient.
        """
        step = max(1, self._taken // _ASKED)
        self.passes += self._share / step  # two scores for each row, no sum

        def value(weights: Vector) -> float:
            scores = self._scores(weights, step).astype(np.float64)
            fit = float(self._objective.loss.value(scores, self._labels[::step], np).mean())
            return fit * self._objective.mean_share + self._objective.regular_value(weights)

        return value(start) < value(self._objective.centre)

    def inverse(self, weights: Vector) -> Operator:
        """Return the approximate inverse Hessian at `weights`, as an operator on (outputs, features)."""
        self.passes += self._factor
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
            self.passes, self.even = self.passes - self._factor, True
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
            self.passes += self._share
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
            self.passes += self._share
            turned = self._scores(direction)
            size = float(np.abs(turned).max()) or 1.0
            slopes = self._change(scores, self._labels, turned / size)
            product: Vector = slopes.T @ self._rows * (size / self._taken) + unseen * direction
            return product

        approximate = centred if many and self._blind(part, labels) else kronecker
        return self._refine(approximate, multiply) if isinstance(self._rows, CodedPart) else approximate

    def _refine(self, approximate: Operator, multiply: Operator) -> Operator:
        """Return `approximate` refined by conjugate gradients with products of the sample's Hessian."""
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


# --- quasi-Newton ---
#
# L-BFGS using only gradients, preconditioned by a sample of rows.
#
# The preconditioner only guides the search: the caller measures the result, and nothing of it enters a certificate. The
# first step goes to the minimizer of the sample's objective, tilted so that its gradient at the start is the table's
# (DANE; Shamir, Srebro & Zhang 2014): this uses the sample's curvature at a cost of a few hundredths of a pass per
# evaluation. From there L-BFGS continues with the sample's inverse Hessian, updated on the way.
#
# Objective values are not used: the objective is convex, so along a line the derivative shows whether a step was too
# long (approximate Wolfe condition; Hager & Zhang 2005), even in float32 where the values of two near points are equal.


Gradient = Callable[[Vector], Vector]

MEMORY = 20  # pairs stored by L-BFGS
RENEWED = 10  # evaluations after which the Hessian is recomputed
_KEPT = 4  # number of times that a known Hessian is reused
PATIENCE = 50  # evaluations in which the gradient norm must halve
_OVERSHOT = 0.8  # relative to the initial derivative of a step: an opposite derivative this large means too far
_NEARLY = 0.1  # relative to the first gradient: tolerance of the sample's own problem
_INNER = 30  # most evaluations of the sample's own problem
_AT_HAND = 4  # at most this many of them from a published model: its Hessian is then reused
_SHORTENED = 40  # most evaluations of one step
_NOTHING = 2.0**-23  # relative to L: what float32 can distinguish from 0


def minimize(sample: Sample, gradient: Gradient, start: Vector, lipschitz: float, *, warm: bool = False) -> None:
    """Minimize the measured objective guided by `sample`; `gradient` raises `_Reached` once the tolerance is met.

    If an inverse Hessian is known already, or is only a scale, L-BFGS continues with it: another one costs more than
    the passes that it would save.
    """

    def first_of(known: Operator, times: int) -> Callable[[Vector], Operator]:
        asked = count()
        return lambda weights: known if next(asked) < times else sample.inverse(weights)

    try:
        begun = gradient(start)
        near, known, times = None, sample.latest, _KEPT
        if known is None:
            known = sample.inverse(start)
            if not sample.even:
                tilt = begun - sample.gradient(start)
                until = max(_NEARLY * float(np.linalg.norm(begun)), _NOTHING * lipschitz)
                near, taken = lbfgs(
                    lambda weights: sample.gradient(weights) + tilt,
                    start,
                    begun,
                    first_of(known, 1),
                    until=until,
                    most=_INNER,
                )
                times = int(taken <= (_AT_HAND if warm else 1))
        lbfgs(gradient, start, begun, first_of(known, times), first=near, pairs=sample.pairs)
    except LinAlgError:  # the curvature contradicts the loss's declaration: the caller continues with the best point
        return


def lbfgs(
    function: Gradient,
    point: Vector,
    gradient: Vector,
    inverse: Callable[[Vector], Operator],
    *,
    first: Vector | None = None,
    pairs: list[Pair] | None = None,
    until: float = 0.0,
    most: float = math.inf,
) -> tuple[Vector, int]:
    """Run L-BFGS from `point`.

    Args:
        function: Returns the gradient at a point; may raise to stop.
        point: The start.
        gradient: The gradient at the start.
        inverse: Returns the approximate inverse Hessian at a point; called every `RENEWED` evaluations.
        first: Target of the first step, if not that of L-BFGS.
        pairs: Pairs of an earlier descent on the same Hessian; updated in place.
        until: Tolerance of the gradient norm.
        most: Most evaluations.

    Returns:
        The last point and the number of evaluations: at the tolerance, after `most` evaluations, or when the gradient
        norm did not halve within `PATIENCE`.
    """
    pairs = [] if pairs is None else pairs
    norm = least = checked = float(np.linalg.norm(gradient))
    evaluations, renew, check = 0, 0, PATIENCE
    initial: Operator = np.copy
    while norm > until and evaluations < most:
        if evaluations >= check:
            if least > checked / 2:
                break
            checked, check = least, evaluations + PATIENCE
        if first is not None and first is not point:
            step, first = point - first, None
        else:
            if evaluations >= renew:
                initial, renew = inverse(point), evaluations + RENEWED
            step = _two_loops(gradient, pairs, initial)
        slope = float(np.vdot(gradient, step))
        if not 0 < slope < math.inf:
            step, slope = gradient, norm**2
            pairs.clear()
        moved, bent, used = search_along(function, point, step, slope)
        evaluations += used
        change, bend = moved - point, bent - gradient
        if (curved := float(np.vdot(change, bend))) > 0:
            pairs.append((change, bend, 1 / curved))
            del pairs[:-MEMORY]
        point, gradient, norm = moved, bent, float(np.linalg.norm(bent))
        least = min(least, norm)
    return point, evaluations


def search_along(function: Gradient, point: Vector, step: Vector, slope: float) -> tuple[Vector, Vector, int]:
    """Return a point towards `point` − `step` that is not too far, its gradient, and the number of evaluations.

    Args:
        function: Returns the gradient at a point.
        point: The start.
        step: The negative direction.
        slope: ⟨∇, step⟩ > 0 at `point`.
    """
    length, used = 1.0, 0
    while True:
        moved = point - length * step
        gradient, used = function(moved), used + 1
        left = float(np.vdot(gradient, step))
        if left >= -_OVERSHOT * slope or used >= _SHORTENED:
            return moved, gradient, used
        length *= max(0.1, slope / (slope - left))  # zero of the derivative if it is linear


def _two_loops(gradient: Vector, pairs: list[Pair], initial: Operator) -> Vector:
    """Return the step of L-BFGS: newest pair first, the initial inverse, then back (Nocedal 1980)."""
    step, shares = gradient.copy(), []
    for change, bend, weight in reversed(pairs):
        shares.append(weight * float(np.vdot(change, step)))
        step -= shares[-1] * bend
    step = initial(step)
    for (change, bend, weight), share in zip(pairs, reversed(shares), strict=True):
        step += change * (share - weight * float(np.vdot(bend, step)))
    return step


# --- newton ---
#
# Damped Newton using only gradients, for cases where the quasi-Newton method stalls: kinks, uninformative samples.
#
# The step solves H v = ∇ by conjugate gradients, with H v a difference of two gradients: one pass per product, no
# matrix, and no second derivative of the loss. Where there is none (clipped slopes), the difference is one of the
# generalized derivatives, and the method is the semismooth Newton method (Qi & Sun 1993).


_DIFFERENCE = 1e-6  # length of the difference, relative to 1 + ‖θ‖
_RESIDUAL = 0.05  # relative residual of conjugate gradients


def newton_cg(function: Gradient, point: Vector, *, passes: int) -> None:
    """Run Newton's method from `point` until `function` raises or `passes` passes are used."""
    gradient, spent = function(point), 1
    while spent < passes and np.isfinite(gradient).all() and gradient.any():
        step, used = _newton_step(function, point, gradient, min(passes - spent, gradient.size))
        moved, bent, tried = search_along(function, point, step, float(np.vdot(gradient, step)))
        point, gradient, spent = moved, bent, spent + used + tried


def _newton_step(function: Gradient, point: Vector, gradient: Vector, most: int) -> tuple[Vector, int]:
    """Return an approximation of H⁻¹∇, by conjugate gradients to a residual of `_RESIDUAL`, and the passes used."""
    length = _DIFFERENCE * (1 + float(np.linalg.norm(point)))

    def multiply(direction: Vector) -> Vector:
        scale = length / float(np.linalg.norm(direction))
        return (function(point + scale * direction) - gradient) / scale

    step, used = solve_by_products(multiply, gradient, _RESIDUAL, most)
    return (step if step.any() else gradient), used


def solve_by_products(
    multiply: Operator, right: Vector, residual: float, most: int, approximate: Operator = np.copy
) -> tuple[Vector, int]:
    """Return an approximation of H⁻¹ `right` by preconditioned conjugate gradients, and the number of products used.

    Args:
        multiply: Returns H v.
        right: The right-hand side.
        residual: Relative tolerance of the residual, in the norm of `approximate`.
        most: Most products.
        approximate: Returns an approximation of H⁻¹ v.
    """
    solution, left, direction = np.zeros_like(right), right, approximate(right)
    square = float(np.vdot(left, direction))
    enough, used = residual**2 * square, 0
    while used < most:
        image, used = multiply(direction), used + 1
        curvature = float(np.vdot(direction, image))
        if not curvature > 0:  # dominated by rounding: no further progress
            break
        solution = solution + square / curvature * direction
        left = left - square / curvature * image
        turned = approximate(left)
        before, square = square, float(np.vdot(left, turned))
        if square <= enough:
            break
        direction = turned + square / before * direction
    return solution, used


NEWTON_PASSES = 500
_FLOOR = 2.0**-26  # relative to L: gradient norms that float32 can measure, as errors of many rows average out
_STALLED = 16  # times `_FLOOR`: below this, stalling may be caused by float32
_MOST_GAINED = 0.1  # least expected ratio of gradient norms after and before a step


@dataclass(frozen=True)
class Solution:
    """The result of a solver. All of it depends on private data and is for the caller only.

    Attributes:
        weights: θ̃, (outputs, features).
        gradient_passes: Number of gradient passes.
        sample: The sample that guided the solver.
    """

    weights: Vector = field(repr=False)
    gradient_passes: int
    sample: Sample | None = field(default=None, repr=False)


class _Reached(Exception):
    """The last measured point meets the tolerance."""


class _Spent(Exception):
    """The pass limit of the fast methods was reached."""


class _Measured:
    """∇L_D with a pass counter; keeps the best point and raises `_Reached` at the first within the tolerance.

    Intermediate points may be measured in float32; the result never is.
    """

    def __init__(self, objective: PreciseObjective, tolerance: float, most: float = math.inf) -> None:
        self.objective, self.most = objective, most
        self._tolerance = tolerance
        self._floor = _FLOOR * objective.loss.constants.lipschitz
        self.passes = 0
        self.point = np.zeros(objective.shape)
        self._best = self._last = math.inf
        self._expected = math.inf

    def quick(self, weights: Vector) -> Vector:
        """Return the gradient in float32; as `__call__` if the point may meet the tolerance or float32 is too coarse."""
        if self.passes < self.most and self._expected > max(self._tolerance, self._floor):
            self.passes += 1
            gradient = self.objective.gradient(weights, "float32")
            norm = float(np.linalg.norm(gradient))
            if norm > self._tolerance:
                self._note(weights, norm)
                return gradient
        return self(weights)

    def __call__(self, weights: Vector) -> Vector:
        if self.passes >= self.most:
            raise _Spent
        self.passes += 1
        gradient = self.objective.gradient(weights)
        norm = certified_norm(self.objective, weights, gradient)
        if norm <= self._tolerance:
            self.point = weights
            raise _Reached
        self._note(weights, norm)
        return gradient

    def _note(self, weights: Vector, norm: float) -> None:
        """Update the best point, and predict the norm at the next one from the progress of the last step."""
        left = norm / self._last  # 0 at first
        self._expected = norm * min(1.0, max(_MOST_GAINED, left))
        if left > 0.5 and norm < _STALLED * self._floor:  # at the accuracy limit of float32
            self._expected = 0.0
        self._last = norm
        if norm <= self._best:
            self._best, self.point = norm, weights


def certified_norm(objective: PreciseObjective, weights: Vector, gradient: Vector) -> float:
    """Return an upper bound on the true ‖∇L_D(θ)‖, from its float64 value and the bound on its rounding."""
    length, size = (
        float(np.linalg.norm(vector)) * (1 + (vector.size + 4) * 2.0**-53) for vector in (gradient, weights)
    )
    return length + objective.gradient_error(size)


def solve(
    objective: PreciseObjective,
    *,
    start: Vector | None,
    tolerance: float,
    strong_convexity: float,
    objective_smoothness: float,
    fixed: bool = False,
    quick: int | None = None,
    sample: Sample | None = None,
) -> Solution:
    """Return a point with ‖∇L_D‖ ≤ `tolerance`.

    Args:
        objective: The objective of the current records.
        start: (outputs, features), finite, for example the published model; None, or a start not much nearer than the
            centre of the regularizer (usually 0), means that centre.
        tolerance: γ.
        strong_convexity: Strong convexity of the objective.
        objective_smoothness: Smoothness of the objective.
        fixed: Take a number of passes that no record can change, from that centre.
        quick: Number of passes after which the proven method starts from that centre, so that no table takes more than
            these and its own; None: when the fast methods stall.
        sample: Sample of another solution on these records, whose objective differs by linear terms.

    Raises:
        AssumptionViolated: If the tolerance was not reached, so the loss is not as smooth or convex as declared.
    """
    measured = _Measured(objective, tolerance, math.inf if quick is None else quick)
    curvature = {"strong_convexity": strong_convexity, "objective_smoothness": objective_smoothness}
    far = objective.loss.constants.lipschitz + objective.pull_norm  # gradient norm at the centre for any records

    def proven(slope: float) -> int:
        return proven_steps(distance=slope / strong_convexity, tolerance=tolerance, **curvature)

    origin: Vector = objective.centre
    steps: float = math.inf
    try:
        if not fixed:
            sample = sample.pulled(objective) if sample else Sample(objective, objective_smoothness / strong_convexity)
            with suppress(_Spent):
                begun = start if start is not None and sample.is_nearer(start) else origin
                minimize(sample, measured.quick, begun, objective.loss.constants.lipschitz, warm=begun is start)
                measured.passes += 1
                steps = proven(certified_norm(objective, measured.point, objective.gradient(measured.point)))
                newton_cg(measured, origin := measured.point, passes=min(NEWTON_PASSES, steps))
        if fixed or (quick is not None and not steps <= proven(far)):
            origin, steps = objective.centre, proven(far)
        measured.passes, measured.most = measured.passes + int(steps), math.inf
        measured(_run_accelerated(objective.gradient, origin, int(steps), **curvature))
    except _Reached:
        beside = 0 if sample is None else math.ceil(sample.passes)
        return Solution(measured.point, measured.passes + beside, sample)
    raise AssumptionViolated(
        f"the solver did not reach gradient norm {tolerance:.3g} within its proven number of steps, so the loss does not "
        "have the constants it states; nothing was published"
    )


def _run_accelerated(
    gradient: Callable[[Vector], Vector],
    start: Vector,
    steps: int,
    *,
    strong_convexity: float,
    objective_smoothness: float,
) -> Vector:
    """Return the weights after `steps` steps of ITEM (Taylor & Drori 2023, Algorithm 1), one gradient each."""
    q = condition(strong_convexity, objective_smoothness)
    x, z = start, start
    sequence = growth(q)
    for _ in range(steps):
        before, after = next(sequence)
        beta = before / ((1 - q) * after)
        delta = ((1 - q) ** 2 * after - (1 + q) * before) / (2 * (1 + q + q * before))
        y = (1 - beta) * z + beta * x
        slope = gradient(y) / objective_smoothness
        x = y - slope
        z = (1 - q * delta) * z + q * delta * y - delta * slope
    return z
