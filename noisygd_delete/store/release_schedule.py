"""The release schedule that a budget allows, computed from public facts that do not depend on requests."""

from __future__ import annotations

from datetime import datetime

from ..accountant import Accountant
from ..curator.stream.serving import YEAR, Batching, Calendar
from ..methods.objective_perturbation import linear_term_bound
from ..methods.plan import Plan
from ..methods.problem import Minimizer, quick_passes, solver_passes
from .ledger import Ledger

_NUMBER, _CALL = (
    8e-9,
    5e-3,
)  # seconds of a pass: per number in the table (many times what a processor needs), and per call
_BESIDE = 70  # passes that the first step of a solver may take over its sample, counted as if over the table


def publications(ledger: Ledger) -> int | None:
    """Return the number of releases that the budget allowed after the fresh learn by the current plan.

    None if it is not limited.
    """
    learned = ledger.learned_by_plan
    if learned is None:
        left = Accountant(ledger.plan).remaining().publications
        return None if left is None else max(0, left - 1)
    return Accountant.resumed(ledger.plan, ledger.account_after(learned) or ledger.account).remaining().publications


def default_schedule(ledger: Ledger, *, period: float = YEAR) -> Batching | Calendar:
    """Return the default schedule of releases.

    If their number is limited, it is a calendar that spreads them over `period` seconds; otherwise every pending edit
    is published at once.
    """
    number = publications(ledger)
    if not number or not ledger.releases:
        return Batching()
    began = ledger.made(1)
    assert began is not None
    return Calendar(datetime.fromisoformat(ledger.entry(began).time).timestamp(), period / number)


def public_duration(plan: Plan) -> float:
    """Return the public duration in seconds of a run; 0 if no record influences how long a run takes.

    It is the most passes that the solver takes on any table (its quick methods, their sample, and the proven method),
    times a duration per pass that depends on sizes only.
    """
    start = plan.serving.start
    if not isinstance(start, Minimizer) or start.solver == "fixed":
        return 0.0
    proven = solver_passes(
        plan.problem, "fixed", start.tolerance, pull=linear_term_bound(plan.problem, plan.calibration.linear_term)
    )
    passes = start.chain * (2 * quick_passes(plan.problem) + _BESIDE + proven + 2) + plan.calibration.delete_steps
    return passes * (_CALL + _NUMBER * plan.problem.records * plan.problem.features * plan.problem.loss.outputs)
