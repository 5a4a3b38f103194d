"""The minimiser of the current records' objective, to a public tolerance: the "solve" of solve, then diffuse.

What privacy needs is one sentence: the answer θ̃ has ‖∇L_D(θ̃)‖ ≤ γ in real arithmetic, whatever the data. So the
gradient is measured in float64, a bound on its rounding is added, and the first point measured good enough is the
answer. With the linear term of objective perturbation the gradient is that of L_D(θ) + ⟨b, θ⟩/n for the *ideal* b, and the
bound covers the rounding of b. How the point was found does not matter:

* L-BFGS steered by a sample of rows (`quasi_newton`) usually gets there in four to twenty passes, all but the last in
  float32;
* if it stops short, Newton's method on differences of the gradient (`newton`) tries, for so many passes;
* if that stops short, the optimal gradient method for smooth strongly convex functions (ITEM; Taylor & Drori 2023)
  takes its proven number of steps.

`fixed=True` runs the last alone, from 0: its number of passes depends on public numbers only.
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
from .nested import NestedPart, nested_hessian
from .objective import PreciseObjective

# --- preconditioner ---
#
# A sample of rows that steers the solver: its gradient, and about the inverse of its Hessian.
#
# The Hessian of the mean loss is a mean of A_i ⊗ x_i x_iᵀ over the rows, A_i = ∂²ℓ/∂z², plus λI. Its inverse is taken
#
# * for one output: of the sample's Hessian itself, by a Cholesky factor of features by features or, for wide tables, of rows by
#   rows (Woodbury), so that no matrix of features by features is formed; of a multiple of I where no direction of a wide table stands out;
# * for several outputs: of Ā ⊗ M + λI, Ā and M the means of A_i and of x_i x_iᵀ (K-FAC; Martens & Grosse 2015), by their
#   eigenvectors; those of M come from the smaller of its two sides. What softmax cannot see, the same vector added to every class, is
#   exact then.
#
# Directions that a sample does not have are given the curvature of a row's share, tr/m. A_i is found from differences of the loss's
# slope, so a loss needs to state no second derivative, nor to have one everywhere. Rows stay float32, and sparse where they are:
# nothing here is proven, and nothing of it enters a certificate.


Vector = NDArray[np.float64]
Operator = Callable[[Vector], Vector]
Pair = tuple[Vector, Vector, float]  # a step, what it changed of the gradient, 1/⟨step, change⟩

_COUPLING = 200  # rows from which Ā is found
_MOST_CLASSES = 256  # outputs whose Ā is found in full
_CELLS = 1 << 18  # numbers of sparse rows written out at a time
_LOST = 2.0**-20  # of the trace
_COMPARED, _STANDS_OUT = 64, 1.5  # rows of a wide sample that are compared; an eigenvalue over noise's largest
_ASKED = 256  # rows that say which of two starts is nearer
_STEP = 2.5e-3  # of the differences, in units of the scores over which a slope changes


class Sample:
    """Every so-manyth slot of an objective's table, with the objective of those rows alone.

    `latest` is the inverse of a Hessian that was taken last, which is a scale and no more where the rows are `even`; `pairs` are those of L-BFGS.
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
            if not isinstance(self._rows, NestedPart):
                step = -(-self._rows.shape[0] // sample_rows(**size)[0])
                self._rows, self._labels = self._rows[::step], self._labels[::step]
        self._factor = factor_passes(**size)
        self._taken = self._rows.shape[0]
        self._share = self._taken / objective.slots
        constants, radius = objective.loss.constants, objective.loss.radius
        self._step = _STEP * (constants.lipschitz * radius / constants.curvature if constants.curvature else 1.0)
        self._moment: tuple[Vector, Vector, float] | None = None
        self.even = False

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
        """The curvature along a row, where the products of some rows with one another are those of noise: then every direction has about as
        much, and a factor of the sample's would cost more than it says. None where one stands out."""
        few = slice(None, None, -(-self._taken // _COMPARED))
        rooted = _scale_rows(self._rows[few], roots[few])
        products = _multiply(rooted, rooted.T).astype(np.float64) * self._taken
        own = float(np.trace(products)) / len(products)
        np.fill_diagonal(products, 0.0)
        # of the largest eigenvalue, by half (the semicircle law)
        noise = float(np.linalg.norm(products)) / math.sqrt(len(products))
        if not own or np.abs(np.linalg.eigvalsh(products)).max() > _STANDS_OUT * 2 * noise:
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
            self._moment = _second_moment(self._rows, self.narrow)
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
        probes = np.repeat(np.eye(outputs, dtype=scores.dtype), rows, axis=1).T  # column by column, as scores are
        change = self._change(np.tile(scores.T, outputs).T, np.tile(labels, outputs), probes)
        coupling = change.T.reshape(outputs, outputs, rows).mean(axis=2)
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


def _second_moment(rows: Any, narrow: bool) -> tuple[Any, Vector, float]:
    """Eigenvectors of M as columns, its eigenvalues, and its trace: all of them, or those in the span of the rows."""
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

    # two factors: their product would be dense, and as long as the table is wide
    return aslinearoperator(rows.T.astype(np.float64)) @ aslinearoperator(combined), along[seen], trace


def _multiply(one: Any, other: Any) -> NDArray[np.float32]:
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


# --- quasi newton ---
#
# L-BFGS on gradients alone, steered by a sample of rows (`preconditioner`).
#
# It only steers: what it returns is measured by the caller, and nothing of it enters a certificate. The first step goes to the
# minimiser of the sample's objective, tilted so that its gradient at the start is the table's (DANE; Shamir, Srebro & Zhang
# 2014): what the sample knows of how the loss bends is used there, at a cost of a few hundredths of a pass an evaluation. From
# there L-BFGS goes on from the sample's inverse Hessian, renewed on the way.
#
# Values are never asked for: the objective is convex, so along a line the derivative says whether a step went too far
# (approximate Wolfe condition; Hager & Zhang 2005), and it says so in float32 where the values of two near points are equal.


Gradient = Callable[[Vector], Vector]

MEMORY = 20  # pairs that L-BFGS keeps
RENEWED = 10  # evaluations after which the Hessian is taken again
_KEPT = 4  # times that a Hessian which is known is not taken again
PATIENCE = 50  # evaluations in which the gradient must fall by half
_OVERSHOT = 0.8  # of the derivative at the start of a step: one as large in the other direction is too far
_NEARLY = 0.1  # of the first gradient: to here the sample's own problem is solved
_INNER = 30  # evaluations of that
_AT_HAND = 4  # of them from a published model: its Hessian serves further on
_SHORTENED = 40  # evaluations of one step
_NOTHING = 2.0**-23  # of L: what float32 can tell from 0


def minimize(sample: Sample, gradient: Gradient, start: Vector, lipschitz: float, *, warm: bool = False) -> None:
    """Minimise the measured objective of which `sample` is one; `gradient` raises when it is content.

    Where the inverse of a Hessian is known already, or is a scale and no more, L-BFGS goes on from it: to take another costs more than the
    passes that it would save.
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
    except LinAlgError:  # the loss curves as it said it would not: the caller goes on from what was measured
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
    """L-BFGS from `point`, where the gradient is `gradient`; `inverse(θ)` is asked for every `RENEWED` evaluations.

    Returns the last point and the evaluations it took, when ‖∇‖ ≤ `until`, after `most` evaluations, or when `PATIENCE` of them brought too little; `function` may raise
    to stop it earlier.

    Args:
        first: where the first step leads, if not where L-BFGS would go.
        pairs: of the same Hessian, from before; those of this descent come to stand there.
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
    """A point towards `point` − `step` that is not too far, its gradient, and the evaluations it took.

    Args:
        slope: ⟨∇, step⟩ > 0 at `point`.
    """
    length, used = 1.0, 0
    while True:
        moved = point - length * step
        gradient, used = function(moved), used + 1
        left = float(np.vdot(gradient, step))
        if left >= -_OVERSHOT * slope or used >= _SHORTENED:
            return moved, gradient, used
        length *= max(0.1, slope / (slope - left))  # where the derivative is 0 if it is linear


def _two_loops(gradient: Vector, pairs: list[Pair], initial: Operator) -> Vector:
    """The step of L-BFGS: newest pair first, the initial inverse, then back (Nocedal 1980)."""
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
# Damped Newton on a gradient alone, for where the quasi-Newton method stops short: kinks, samples that show nothing.
#
# The step solves H v = ∇ by conjugate gradients, H v by a difference of two gradients: one pass a product, nothing formed, and
# no second derivative asked of the loss. Where there is none (clipped slopes) the difference is one of the generalised
# derivatives, and the method is the semismooth Newton method (Qi & Sun 1993).


_DIFFERENCE = 1e-6  # length of the difference, relative to 1 + ‖θ‖
_RESIDUAL = 0.05  # of conjugate gradients


def newton_cg(function: Gradient, point: Vector, *, passes: int) -> None:
    """From `point`, until `function` raises or so many passes are spent."""
    gradient, spent = function(point), 1
    while spent < passes and np.isfinite(gradient).all() and gradient.any():
        step, used = _newton_step(function, point, gradient, min(passes - spent, gradient.size))
        moved, bent, tried = search_along(function, point, step, float(np.vdot(gradient, step)))
        point, gradient, spent = moved, bent, spent + used + tried


def _newton_step(function: Gradient, point: Vector, gradient: Vector, most: int) -> tuple[Vector, int]:
    """About H⁻¹∇, by conjugate gradients to a residual of `_RESIDUAL`, and the passes it took."""
    length = _DIFFERENCE * (1 + float(np.linalg.norm(point)))
    step, residual, direction = np.zeros_like(gradient), gradient, gradient
    square = float(np.vdot(residual, residual))
    enough = _RESIDUAL**2 * square
    used = 0
    while used < most:
        scale, used = length / float(np.linalg.norm(direction)), used + 1
        image = (function(point + scale * direction) - gradient) / scale
        curvature = float(np.vdot(direction, image))
        if not curvature > 0:  # rounding: nothing left to gain
            break
        step = step + square / curvature * direction
        residual = residual - square / curvature * image
        before, square = square, float(np.vdot(residual, residual))
        if square <= enough:
            break
        direction = residual + square / before * direction
    return (step if step.any() else gradient), used


NEWTON_PASSES = 500
_FLOOR = 2.0**-26  # of L: gradient norms that float32 can measure, errors of many rows being averaged
_STALLED = 16  # times that: where it may be float32 that no step helps
_MOST_GAINED = 0.1  # what a step leaves of the gradient's norm, at best


@dataclass(frozen=True)
class Solution:
    """θ̃ (outputs, features), the gradient passes it took, and the sample that steered it: functions of private data, for the caller alone."""

    weights: Vector = field(repr=False)
    gradient_passes: int
    sample: Sample | None = field(default=None, repr=False)


class _Reached(Exception):
    """The point just measured is good enough."""


class _Spent(Exception):
    """As many passes were taken as the quick ways have."""


class _Measured:
    """∇L_D; counts passes, keeps the best point, and raises `_Reached` at the first one within the tolerance.

    A point that need not be the last is measured in float32: the answer never is.
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
        """The gradient in float32; as `__call__` has it where this point may be good enough, or float32 says too little."""
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
        """Keep the best point, and expect of the next one what the last step brought."""
        left = norm / self._last  # 0 at first
        self._expected = norm * min(1.0, max(_MOST_GAINED, left))
        if left > 0.5 and norm < _STALLED * self._floor:  # float32 has nothing more to say
            self._expected = 0.0
        self._last = norm
        if norm <= self._best:
            self._best, self.point = norm, weights


def certified_norm(objective: PreciseObjective, weights: Vector, gradient: Vector) -> float:
    """Upper bound on the true ‖∇L_D(θ)‖, from its float64 value and the bound on its rounding."""
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
    """A point with ‖∇L_D‖ ≤ `tolerance`.

    Args:
        objective: of the current records.
        start: (outputs, features), finite, for example the published model; None, or not much nearer than the centre of the
            regulariser, 0 as a rule: that.
        fixed: take a number of passes that no record can change, from that centre.
        quick: passes after which the proven method begins from that centre, so that no table takes more than these and its own; None: when
            the quick ways stop short.
        sample: of another solution on these records, whose objective differs by linear terms.

    Raises:
        AssumptionViolated: the tolerance was not reached, so the loss is not as smooth or convex as it was declared.
    """
    measured = _Measured(objective, tolerance, math.inf if quick is None else quick)
    curvature = {"strong_convexity": strong_convexity, "objective_smoothness": objective_smoothness}
    far = objective.loss.constants.lipschitz + objective.pull_norm  # the slope at the centre, whatever the records

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
    """`steps` steps of ITEM (Taylor & Drori 2023, Algorithm 1) from `start`: one gradient each."""
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
