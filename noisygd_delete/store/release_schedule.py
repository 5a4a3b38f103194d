"""The pace of publication that a budget affords: public facts alone, and none that depends on what was asked."""

from __future__ import annotations

from datetime import datetime

from ..accountant import Accountant
from ..curator.stream.serving import YEAR, Batching, Calendar
from ..methods.perturbed import linear_term_bound
from ..methods.plan import Plan
from ..methods.problem import Minimizer, quick_passes, solver_passes
from .ledger import Ledger

_NUMBER, _CALL = 8e-9, 5e-3  # seconds of a pass: for each number of the table, many times a processor's, and besides
_BESIDE = 70  # passes that the first step of a solver may ask of its sample, were that the table


def publications(ledger: Ledger) -> int | None:
    """Releases that the budget had room for after the fresh learn by the plan in force; None where they are not limited."""
    learned = ledger.learned_by_plan
    if learned is None:
        left = Accountant(ledger.plan).remaining().publications
        return None if left is None else max(0, left - 1)
    return Accountant.resumed(ledger.plan, ledger.account_after(learned) or ledger.account).remaining().publications


def default_schedule(ledger: Ledger, *, period: float = YEAR) -> Batching | Calendar:
    """When to publish where nobody says: under a cap on all releases, by a calendar that spreads them over the period, in seconds; else
    whatever waits, at once."""
    number = publications(ledger)
    if not number or not ledger.releases:
        return Batching()
    began = ledger.made(1)
    assert began is not None
    return Calendar(datetime.fromisoformat(ledger.entry(began).time).timestamp(), period / number)


def public_duration(plan: Plan) -> float:
    """How long a run may be told to last: the most passes that any table makes its solver take (its quick ways, their sample, and the proven
    method), of a time that only sizes decide; 0 where no record decides how long a run takes."""
    start = plan.serving.start
    if not isinstance(start, Minimizer) or start.solver == "fixed":
        return 0.0
    proven = solver_passes(
        plan.problem, "fixed", start.tolerance, pull=linear_term_bound(plan.problem, plan.linear_term)
    )
    passes = start.chain * (2 * quick_passes(plan.problem) + _BESIDE + proven + 2) + plan.delete_steps
    return passes * (_CALL + _NUMBER * plan.records * plan.features * plan.loss.outputs)
