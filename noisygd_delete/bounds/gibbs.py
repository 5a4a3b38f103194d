"""How close a non-convex model is to its Gibbs law: the induction of Theorem 5.2 over a history of public facts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import choice, count, non_negative, positive, renyi_order
from . import theorem_5_2

FORMS = ("printed", "sharper")


@dataclass(frozen=True)
class Gibbs:
    """What Theorem 5.2 needs beside the facts of the run. All bounds are at Rényi orders up to `order`.

    form  "printed" (Theorem 5.2) or "sharper" (B = e^{ω/σ²}, and a hypothesis for every order at once)
    """

    order: float
    range: float
    smoothness: float
    regularization: float
    dimension: int
    form: str

    def __post_init__(self) -> None:
        renyi_order("order", self.order)
        for name in ("range", "regularization"):
            positive(name, getattr(self, name))
        non_negative("smoothness", self.smoothness)
        count("dimension", self.dimension)
        choice("form", self.form, FORMS)

    def closeness(
        self, *, step_size: float, noise_variance: float, records: int, runs: Sequence[tuple[float, int]]
    ) -> float:
        """ε_q: bound on R_q(model ‖ π(D)) after a learn and requests, each given as (steps, edits before it).

        The models in between must not have been observed, nor may the requests depend on them. Infinite where the step
        size is larger than G.22 allows.
        """
        chain: dict[str, Any] = {"step_size": step_size, "noise_variance": noise_variance, "records": records}
        (learn_steps, edits), *requests = runs
        cost = self.closer(**chain, before=None, steps=learn_steps, edits=edits)
        for steps, edits in requests:
            cost = self.closer(**chain, before=cost, steps=steps, edits=edits)
        return cost

    def closer(
        self, *, step_size: float, noise_variance: float, records: int, before: float | None, steps: float, edits: int
    ) -> float:
        """`closeness` after one run more than those that led to `before`. None: a fresh learn, which starts from the prior,
        whatever was edited before it."""
        run = self._run(step_size, noise_variance, records)
        return run(self._prior(noise_variance), steps, 0) if before is None else run(before, steps, edits)

    def worst_closeness(
        self,
        *,
        step_size: float,
        noise_variance: float,
        records: int,
        learn_steps: float,
        delete_steps: float,
        batch: int,
    ) -> float:
        """The supremum of `closeness` over any number ≥ 1 of requests of at most `batch` edits.

        One request maps the bound by an increasing affine function, so the sequence is monotone: the first value or the
        limit is its supremum.
        """
        run = self._run(step_size, noise_variance, records)
        first = run(run(self._prior(noise_variance), learn_steps, 0), delete_steps, batch)
        offset = run(0.0, delete_steps, batch)
        slope = run(1.0, delete_steps, batch) - offset
        return max(first, offset / (1 - slope)) if slope < 1 else math.inf

    def _prior(self, noise_variance: float) -> float:
        everywhere, rate = theorem_5_2.prior_to_gibbs(range=self.range, noise_variance=noise_variance)
        return self.order * min(everywhere, rate) if self.form == "sharper" else everywhere

    def _run(self, step_size: float, noise_variance: float, records: int) -> Callable[[float, float, int], float]:
        """(ε_q before, steps, edits) -> ε_q after."""
        scale: dict[str, Any] = {"range": self.range, "noise_variance": noise_variance}
        barrier = theorem_5_2.log_barrier if self.form == "sharper" else theorem_5_2.log_barrier_printed
        sizes = {"log_barrier": barrier(**scale), "regularization": self.regularization}
        limit = theorem_5_2.largest_step_size(order=self.order, smoothness=self.smoothness, **sizes)
        if not step_size <= limit * (1 + 1e-12):
            return lambda *_: math.inf
        chain = {
            "discretisation_rate": theorem_5_2.discretisation_rate(
                dimension=self.dimension, smoothness=self.smoothness, step_size=step_size, **sizes
            ),
            "forgetting_rate": theorem_5_2.forgetting_rate(step_size=step_size, **sizes),
        }

        def after(cost: float, steps: float, edits: int) -> float:
            move = theorem_5_2.gibbs_move(batch=edits, records=records, **scale)
            if self.form == "sharper":
                rate = cost / self.order + move
                return self.order * theorem_5_2.rate_to_gibbs(start_rate=rate, steps=steps, **chain)
            return theorem_5_2.renyi_to_gibbs_printed(start=cost + move, order=self.order, steps=steps, **chain)

        return after
