"""Audit of one run of the product: many canaries in one table, learned once and erased once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import AssumptionViolated, check_positive, check_probability
from ..methods.plan import Plan
from ..privacy.worlds import Worlds
from ..records import Records
from .one_run import MOST_CANARIES, guess_canaries
from .releases import (
    Publish,
    Weights,
    account,
    erase_records,
    label_of,
    longest_rows,
    measure_climb,
    measure_steps,
    on_any_rows,
    oppose_rows,
    publish_twice,
)
from .simulation import World
from .verdict import AuditResult, AuditRow

SHARES = (1.0, 0.3, 0.1)  # shares of canaries guessed about, the most confident ones; the best count is used


@dataclass(frozen=True)
class Canaries:
    """m synthetic records of norm R, each on its own axis, with a fair coin for each.

    Attributes:
        coins: Shape (m,), whether the canary is included. If not, its slot is free or holds the opposite row, depending
            on the adjacency.
        table: Table before the erasure.
        erased: Table without any canary.
    """

    coins: NDArray[np.bool_]
    table: Records
    erased: Records

    @classmethod
    def toss(cls, plan: Plan, worlds: Worlds, generator: np.random.Generator) -> Canaries:
        """Return canaries for the plan, as many as its columns and slots allow.

        Raises:
            AssumptionViolated: If the plan has only one column or one record.
        """
        problem = plan.problem
        canaries = min(problem.features, problem.records, MOST_CANARIES)
        if canaries < 2:
            raise AssumptionViolated(
                f"the plan is for {problem.features} features and {problem.records} records: an audit of one run puts every canary on a column "
                "of its own, and needs hundreds of them to see anything; audit a plan with as many columns and slots"
            )
        coins = generator.random(canaries) < 0.5
        rows = longest_rows(plan, canaries)
        other = oppose_rows(rows, worlds)
        labels = np.full(canaries, label_of(problem.loss))
        full = Records(rows if other is None else np.where(coins[:, None], rows, other), labels, slots=problem.records)
        everyone = np.arange(problem.records) < canaries
        return cls(
            coins,
            full if other is not None else erase_records(full, np.pad(~coins, (0, problem.records - canaries))),
            erase_records(full, everyone),
        )

    def scores(self, plan: Plan, weights: Weights) -> NDArray[np.float64]:
        """Return how far a model moved along each canary's step, the negative gradient at weights 0, shape (m,).

        For staged training this is the move of the last stage from the previous one, where it started and which is also
        published. For released sums it is the label sum of the canary's column.
        """
        loss, canaries = plan.problem.loss, len(self.coins)
        label = np.array([label_of(loss)])
        if plan.mechanism.carries:  # the label sum of each canary's column
            return np.asarray(weights[-plan.problem.features * loss.outputs :][:canaries])
        if plan.calibration.stages:
            return measure_climb(plan, weights, longest_rows(plan, canaries))
        if hasattr(loss, "clipped_sum"):  # a network: where its steps began is not published
            return measure_steps(loss, weights, weights, longest_rows(plan, canaries))
        slope = loss.derivative(np.zeros((1, loss.outputs)), label, np)[0]
        return -np.asarray(slope @ np.atleast_2d(weights)[:, :canaries])


def audit_one_run(
    plan: Plan,
    *,
    publish: Publish = publish_twice,
    false_alarm: float = 0.01,
    factor: float = 5.0,
    rng: np.random.Generator | None = None,
) -> AuditResult:
    """Compare claimed with measured privacy from one learn, and from one learn and one deletion, for any method.

    Every canary is included by its own coin. The learned model is used to guess which canaries were included. Then a
    second learn on new coins is followed by a deletion of all canaries, and the model that serves the deletion is used
    for the same guesses; what it reveals is what the deletion left behind.

    Args:
        plan: Plan with as many columns as canaries are wanted (a few hundred or more).
        publish: The implementation to audit; by default the product. A planted fault is another one.
        false_alarm: Probability that an honest product fails anywhere in the report.
        factor: Factor of the claimed advantage within which the measured bound must be for a row to pass; one run
            proves less than thousands.
        rng: Random number generator; None for a new one.

    Raises:
        AssumptionViolated: If the plan has one column or one record, or its last stage is a head.
    """
    check_probability("false_alarm", false_alarm)
    check_positive("factor", factor)
    plan = on_any_rows(plan)
    generator = np.random.default_rng() if rng is None else rng
    accountant, worlds = account(plan), (Worlds(plan.problem.adjacency), Worlds(plan.problem.deletion_notion))
    audited = (
        ("record still there, the learned model", worlds[0], accountant.dp_cumulative(observed=[1])),
        ("erased record, the release that erased it", worlds[1], accountant.deletion(1, 2, [2])),
    )
    rows, notes = [], []
    for release, (question, between, claimed) in enumerate(audited):
        canaries = Canaries.toss(plan, between, generator)
        weights = publish(plan, World(canaries.table, canaries.erased), generator)[release]
        scores = canaries.scores(plan, weights)
        level = false_alarm / (len(audited) * len(SHARES))
        found = [guess_canaries(scores, canaries.coins, share=share, error=level) for share in SHARES]
        best = max(found, key=lambda one: (one.refutes(claimed), one.gdp, one.estimate))
        rows.append(AuditRow(question, "one run", claimed, best, factor))
        notes.append(
            f"{question}: {best.correct} of {best.guesses} guesses right about {best.canaries} canaries, μ at least {best.gdp:.3g}"
        )
    return AuditResult(tuple(rows), 1, false_alarm, tuple(notes))
