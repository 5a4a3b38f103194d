"""The audit of one run: hundreds of canaries in one table, learned once and erased once, by the product itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import AssumptionViolated, check_positive, check_probability
from ..methods.plan import Plan
from ..privacy.guarantee import Worlds
from ..records import Records
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
from .verdict import MOST_CANARIES, AuditResult, AuditRow, guess_canaries

SHARES = (1.0, 0.3, 0.1)  # of the canaries that are guessed about: the surest ones; the best count is taken


@dataclass(frozen=True)
class Canaries:
    """m synthetic records of norm R, each alone on an axis of its own, and a fair coin for each.

    coins   (m,) whether it is in; where it is not, its slot is free or holds the opposite row, as the two worlds have it
    table   before anything is erased
    erased  the one from which every canary is gone
    """

    coins: NDArray[np.bool_]
    table: Records
    erased: Records

    @classmethod
    def tossed(cls, plan: Plan, worlds: Worlds, generator: np.random.Generator) -> Canaries:
        """As many as there are columns and slots.

        Raises:
            AssumptionViolated: there is one column alone.
        """
        canaries = min(plan.features, plan.records, MOST_CANARIES)
        if canaries < 2:
            raise AssumptionViolated(
                f"the plan is for {plan.features} features and {plan.records} records: an audit of one run puts every canary on a column "
                "of its own, and needs hundreds of them to see anything; audit a plan with as many columns and slots"
            )
        coins = generator.random(canaries) < 0.5
        rows = longest_rows(plan, canaries)
        other = oppose_rows(rows, worlds)
        labels = np.full(canaries, label_of(plan.loss))
        full = Records(rows if other is None else np.where(coins[:, None], rows, other), labels, slots=plan.records)
        everyone = np.arange(plan.records) < canaries
        return cls(
            coins,
            full if other is not None else erase_records(full, np.pad(~coins, (0, plan.records - canaries))),
            erase_records(full, everyone),
        )

    def scores(self, plan: Plan, weights: Weights) -> NDArray[np.float64]:
        """(m,) how far a model went along each canary's step, the gradient at weights 0 turned round.

        Of stages in a row: how far the last went from the one before it, where it began, which is published too. Of sums: what they say.
        """
        loss, canaries = plan.loss, len(self.coins)
        label = np.array([label_of(loss)])
        if plan.mechanism.carries:  # the label sum of each canary's column
            return np.asarray(weights[-plan.features * loss.outputs :][:canaries])
        if plan.stages:
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
    """Claimed against measured from one learn, and from one learn and one deletion of everything, whatever the method.

    Every canary is in by a coin of its own. The learned model is asked which were in; and, after a second learn on other coins and a
    deletion of all of them, the model that serves the deletion is asked the same: what it tells is what deletion left behind.

    Args:
        plan: with as many columns as canaries are wanted (a few hundred and more).
        publish: what is audited; default: the product. A planted fault is another one.
        false_alarm: probability that an honest product fails anywhere in the report.
        factor: how close to the claimed advantage the measured bound must come for a row to pass; one run proves less than thousands.

    Raises:
        AssumptionViolated: the plan has one column, or its last stage is a head.
    """
    check_probability("false_alarm", false_alarm)
    check_positive("factor", factor)
    plan = on_any_rows(plan)
    generator = np.random.default_rng() if rng is None else rng
    accountant, worlds = account(plan), (Worlds(plan.problem.adjacency), Worlds(plan.problem.deletion_notion))
    asked = (
        ("record still there, the learned model", worlds[0], accountant.dp_cumulative(observed=[1])),
        ("erased record, the release that erased it", worlds[1], accountant.deletion(1, 2, [2])),
    )
    rows, notes = [], []
    for release, (question, between, claimed) in enumerate(asked):
        canaries = Canaries.tossed(plan, between, generator)
        weights = publish(plan, World(canaries.table, canaries.erased), generator)[release]
        scores = canaries.scores(plan, weights)
        level = false_alarm / (len(asked) * len(SHARES))
        found = [guess_canaries(scores, canaries.coins, share=share, error=level) for share in SHARES]
        best = max(found, key=lambda one: (one.refutes(claimed), one.gdp, one.estimate))
        rows.append(AuditRow(question, "one run", claimed, best, factor))
        notes.append(
            f"{question}: {best.correct} of {best.guesses} guesses right about {best.canaries} canaries, μ at least {best.gdp:.3g}"
        )
    return AuditResult(tuple(rows), 1, false_alarm, tuple(notes))
