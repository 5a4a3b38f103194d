"""The full-batch gradient of the objective, L_D(θ) = (1/n) Σ ℓ(θ; x) + (λ/2)‖θ‖².

Rows stay in float32 where they are stored, and are read in order. There are two code paths: the compiled kernel for
one model of one output, and matrix products for everything else (several outputs, many chains).
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK, DTYPES, SPAN, gradient_error
from ..errors import check_choice
from ..losses.base import Loss
from ..records import Records, SparseRows
from .execution import ALONE, Group, run_parallel
from .kernel import Kernel, is_supported, row_windows, sum_pairwise
from .linear_term import LinearTerm
from .sums import CurrentRecords, expand_codes, person_shares, sums_of

_CELLS = 1 << 20  # scores, or numbers of rows, processed at a time: both products read them from cache

Weights = NDArray[np.float64]


class Objective:
    """The objective of one table, loss and λ. Holds views of the table's rows, no copies of rows and no results.

    Weights are (outputs, features) float64, or (chains, outputs, features) for many models on one table.

    Args:
        records: The table.
        loss: The loss.
        regularization: λ.
        dtype: Precision of the arithmetic inside a block.
        slots: n, if `records` omits null slots; default: the slots of `records`.
        group: The processes that share the rows.
        readings: Number of gradients to be computed, if known: the compiler is not loaded for a few.
        by_person: Whether each row weighs its person's `sums.person_shares`.
    """

    def __init__(
        self,
        records: Records,
        loss: Loss,
        *,
        regularization: float,
        dtype: str = "float32",
        slots: int | None = None,
        group: Group = ALONE,
        readings: int | None = None,
        by_person: bool = False,
    ) -> None:
        self._kind = np.dtype(check_choice("dtype", dtype, DTYPES))
        self._group, self._own = group, group.rows(records.slots, BLOCK)
        self._shares = person_shares(records).astype(self._kind) if by_person else None
        records = expand_codes(records)
        rows: Any = records.features if records.sparse is None else records.sparse
        self._labels = records.labels.astype(np.int64 if loss.label_kind == "class" else self._kind)
        self._loss = loss
        self._slots = records.slots if slots is None else slots
        self._regularization = regularization
        self._rows, self.shape = rows, (loss.outputs, rows.shape[1])
        compiled = isinstance(rows, np.ndarray) and not by_person and is_supported(loss, rows, readings)
        self._kernel = Kernel(rows, loss, self._own) if compiled else None

    def gradient_sum(self, weights: Weights) -> Weights:
        """Return Σ_x ∇ℓ(θ; x), float64 in the shape of the weights."""
        if self._kernel is not None and weights.shape == self.shape:
            return self._group.total(self._kernel(weights, self._labels))
        return self._group.total(self._products(weights))

    def gradient(self, weights: Weights) -> Weights:
        """Return ∇L_D(θ), float64 in the shape of the weights."""
        gradient: Weights = self.gradient_sum(weights) / self._slots + self._regularization * weights
        return gradient

    def _products(self, weights: Weights) -> Weights:
        """Return the sum by matrix products: one per block, the blocks added in float64."""
        if isinstance(self._rows, SparseRows):
            turned = np.ascontiguousarray(weights.T.astype(self._kind))
            spans = (self._sparse_span(turned, first) for first in range(0, len(self._labels), SPAN))
            return sum_pairwise(spans, weights.shape)
        stacked = weights.reshape(-1, self.shape[1]).astype(self._kind)
        parts = run_parallel(lambda part: self._span(stacked, *part), self._parts(len(stacked)), self._rows.size)
        return sum_pairwise(parts, stacked.shape).reshape(weights.shape)

    def _parts(self, columns: int) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]]:
        """Yield rows, labels and weights of this process, in parts that stay in cache with their scores."""
        most, numbers = SPAN, max(columns, self.shape[1])
        while most > BLOCK and most * numbers > _CELLS:
            most //= 2
        for part in row_windows(self._rows, self._own.start, self._own.stop, most):
            shares = None if self._shares is None else self._shares[part]
            yield self._rows[part].astype(self._kind, copy=False), self._labels[part], shares

    def _span(
        self, stacked: NDArray[Any], rows: NDArray[Any], labels: NDArray[Any], shares: NDArray[Any] | None
    ) -> Weights:
        outputs, width = self.shape
        scores = rows @ stacked.T
        models, whole = len(stacked) // outputs, len(rows) - len(rows) % BLOCK
        if models == 1:  # column-major: sums over the few outputs of a record run along the many records
            scores, repeated = np.asfortranarray(scores), labels
        else:
            repeated = np.repeat(labels, models)
        slopes = self._loss.derivative(scores.reshape(-1, outputs), repeated, np).reshape(scores.shape)
        if shares is not None:
            slopes = slopes * shares[:, None]
        blocked = np.ascontiguousarray(slopes[:whole].T).reshape(len(stacked), -1, BLOCK).transpose(1, 0, 2)
        total: Weights = np.matmul(blocked, rows[:whole].reshape(-1, BLOCK, width)).sum(axis=0, dtype=np.float64)
        if whole < len(rows):
            total += slopes[whole:].T @ rows[whole:]
        return total

    def _sparse_span(self, turned: NDArray[Any], first: int) -> Weights:
        """Return the sum of a span of sparse rows, one block at a time; products skip zeros (see `sums`)."""
        total = np.zeros(turned.shape[::-1])
        for start in range(first, min(first + SPAN, len(self._labels)), BLOCK):
            stop = min(start + BLOCK, len(self._labels))
            rows = self._rows.part(start, stop, self._kind.name)
            slopes = self._loss.derivative(rows @ turned, self._labels[start:stop], np)
            if self._shares is not None:
                slopes = slopes * self._shares[start:stop, None]
            total += slopes.T @ rows
        return total

    def value(self, weights: Weights) -> float:
        """Return L_D(θ). It is a function of private data: use it in solvers and tests, never in a log."""
        stacked, fit = weights.astype(self._kind).T, np.zeros(1)
        for rows, labels, shares in self._parts(len(weights)):
            values = self._loss.value(rows @ stacked, labels, np)
            fit += (values if shares is None else values * shares).sum(dtype=np.float64)
        penalty = self._regularization / 2 * float(np.vdot(weights, weights))
        return float(self._group.total(fit)[0]) / self._slots + penalty


# --- objective in float64 ---
#
# The objective of a solver, and a bound on the error of its computed gradient.
#
# The gradient of `Objective` is built so that *neighbouring tables* give sums within Δ. A solver needs the true size of
# the gradient instead. So it is computed in float64, from sums over the records wherever they are stored (`sums`), to
# which this class adds the terms that depend on no record.


class PreciseObjective:
    """L_D of one table in float64, with ∇L_D. Holds no results. Weights are (outputs, features) float64.

    Args:
        records: The table.
        loss: The loss.
        regularization: λ.
        linear: b of objective perturbation: adds ⟨b, θ⟩/n to the objective.
        centre: a: the regularizer is (λ/2)‖θ − a‖²; default 0.
        group: The processes that share the rows.
        readings: Number of gradients to be computed, if known.
        by_content: See `sums_of`.
        by_person: See `sums_of`.
    """

    def __init__(
        self,
        records: CurrentRecords,
        loss: Loss,
        *,
        regularization: float,
        linear: LinearTerm | None = None,
        centre: NDArray[np.float64] | None = None,
        group: Group = ALONE,
        readings: int | None = None,
        by_content: bool = False,
        by_person: bool = False,
    ) -> None:
        self._sums = sums_of(records, loss, group, readings, by_content=by_content, by_person=by_person)
        self.loss = loss
        self.mean_share = float(person_shares(records).mean()) if by_person else 1.0
        self.regularization = regularization
        self.slots = self._sums.slots
        self.shape = (loss.outputs, self._sums.width)
        self._pull_by(linear, centre)

    def pulled(self, linear: LinearTerm | None, centre: NDArray[np.float64]) -> PreciseObjective:
        """Return the objective of the same records with another linear term and centre."""
        other = copy(self)
        other._pull_by(linear, centre)
        return other

    def _pull_by(self, linear: LinearTerm | None, centre: NDArray[np.float64] | None) -> None:
        self.linear = linear
        self.centre = np.zeros(self.shape) if centre is None else centre
        self._pull = np.zeros(self.shape) if linear is None else linear.per_record(self.slots)
        self.pull_norm = 0.0 if linear is None else linear.norm / self.slots * (1 + 1e-12)  # at least ‖b‖/n

    def gradient(self, weights: NDArray[np.float64], dtype: str = "float64") -> NDArray[np.float64]:
        """Return ∇L_D(θ) from one pass; in float32 about three times as fast, and accurate to about 2⁻²³ L."""
        gradient: NDArray[np.float64] = self._sums.gradient(weights, dtype) / self.slots + self.regular_gradient(
            weights
        )
        return gradient

    def regular_gradient(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ∇ of (λ/2)‖θ − a‖² + ⟨b, θ⟩/n, the part that depends on no record."""
        return self.regularization * (weights - self.centre) + self._pull

    def regular_value(self, weights: NDArray[np.float64]) -> float:
        """Return (λ/2)‖θ − a‖² + ⟨b, θ⟩/n."""
        away = weights - self.centre
        return self.regularization / 2 * float(np.vdot(away, away)) + float(np.vdot(self._pull, weights))

    def strided(self, rows: int) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """Return the rows and labels of about `rows` evenly spaced slots."""
        return self._sums.strided(rows)

    def gradient_error(self, weights_norm: float) -> float:
        """Return a bound on the rounding of a float64 gradient, for ‖θ‖ ≤ `weights_norm`; with b, to the *ideal* b.

        Adding b/n rounds by at most 4u‖b‖/n, and ‖b̂ − b‖/n is the distance of the drawn floats from the ideal ones.
        λ(θ − a) rounds by no more than λθ does for ‖θ‖ + ‖a‖.
        """
        constants = self.loss.constants
        pulled = 0.0
        if self.linear is not None:
            pulled = 2.0**-51 * self.pull_norm + self.linear.per_record_rounding(self.slots)
        return pulled + gradient_error(
            lipschitz=constants.lipschitz,
            curvature=constants.curvature,
            outputs=self.loss.outputs,
            records=self.slots,
            features=self.shape[1],
            regularization=self.regularization,
            weights_norm=weights_norm + float(np.linalg.norm(self.centre)) * (1 + 1e-9),
        )


# --- clipped gradients ---
#
# The objective of a network whose per-record gradients are clipped to L: there is no potential, so only a gradient.


class ClippedObjective:
    """(1/n) Σ clipped ∇ℓ + λθ of one table. Weights are (1, dimension) float64.

    A slot stays in its block whether or not it holds a record, and blocks are added in a tree, as the slack assumes.

    Args:
        records: The table.
        loss: A loss with `block_sums`, each of which may be summed in its own thread.
        regularization: λ.
    """

    def __init__(self, records: Records, loss: Loss, *, regularization: float) -> None:
        self._sums: Any = loss.block_sums(records)  # type: ignore[attr-defined]
        self._slots, self._regularization = records.slots, regularization

    def gradient(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the clipped gradient ∇L_D(θ)."""
        return self._mean(weights, None, self._slots)

    def gradient_on(self, weights: NDArray[np.float64], slots: NDArray[np.int64], rate: float) -> NDArray[np.float64]:
        """Return (1/(rate · n)) Σ of the clipped gradients of these slots + λθ.

        For a Poisson sample at this rate, its expectation is `gradient`.
        """
        return self._mean(weights, slots, rate * self._slots)

    def _mean(
        self, weights: NDArray[np.float64], slots: NDArray[np.int64] | None, divisor: float
    ) -> NDArray[np.float64]:
        # the work of a block grows with the weights of its hidden layer
        sums = run_parallel(lambda block: block(), self._sums(weights, slots), self._slots * weights.size)
        total = sum_pairwise(sums, (weights.size,))
        gradient: NDArray[np.float64] = total[None] / divisor + self._regularization * weights
        return gradient
