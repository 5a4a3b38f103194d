"""What to do with a plan of Theorem 5.2 that no machine can run: say how far off it is, and what would run."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import replace

from ..bounds import theorem_5_2
from ..bounds import theorem_5_2_schedule as schedules
from ..bounds.theorem_5_2_schedule import Form
from ..errors import PlanInfeasible
from .plan import Plan

MOST_STEPS = 10**8  # one step on a small table takes at least ten microseconds: a quarter of an hour and up

_CHANGES = {  # field -> (name, direction in which it helps, limit)
    "records": ("n", 1 / 10 ** (1 / 8), 1),
    "dimension": ("d", 1 / 10 ** (1 / 8), 1),
    "regularization": ("λ", 10 ** (1 / 8), 1e12),
    "range": ("ω", 1 / 10 ** (1 / 8), 1e-12),
    "deletion": ("ε_dd", 10 ** (1 / 8), math.inf),
}


def refusal(plan: Plan, ask: schedules.NonConvexProblem, form: Form) -> PlanInfeasible:
    """The error for `plan`, with K over σ², the time it would take, and the nearest feasible alternatives."""
    seconds = seconds_per_step(records=plan.records, features=plan.features, outputs=plan.loss.outputs)
    over = "; ".join(
        f"σ²={schedule.noise_variance:.3g}: K_A={schedule.learn_steps:.3g}, K_Ā={schedule.delete_steps:.3g}"
        for schedule in (form(ask, plan.noise_variance * 4**k) for k in range(6))
    )
    growth = plan.problem.growth**2  # what of the budget is the slack's
    years = plan.learn_steps * seconds / (365.25 * 86_400)
    ways = (*_cheapest(ask, form), *_changes(ask, form))
    message = (
        f"Theorem 5.2 needs K_A={plan.learn_steps:.3g} and K_Ā={plan.delete_steps:.3g} steps at n={ask.records}, "
        f"d={ask.dimension}, λ={ask.regularization:g}, ω={ask.range:g}, q={ask.order:g}, ε_dp={ask.dp * growth:g}, "
        f"ε_dd={ask.deletion * growth:g} (σ²={plan.noise_variance:.4g}, η={plan.step_size:.3g}); at {seconds:.2g} s per step, measured "
        f"on a table of this size, learning would take {years:.3g} years and the limit is {MOST_STEPS:.0e} steps. "
        f"More noise needs fewer steps: {over}. Ways out: " + "; ".join(ways)
    )
    return PlanInfeasible(message, plan=plan, alternatives=ways)


def seconds_per_step(*, records: int, features: int, outputs: int) -> float:
    """Time of one gradient of this size on this machine, measured on at most 20,000 made-up rows."""
    import numpy as np  # loaded where it is used: plans are read without it

    rows = np.ones((min(records, 20_000), min(features, 10_000)), np.float32)
    weights = np.ones((rows.shape[1], outputs), np.float32)
    began, repeats = time.perf_counter(), 3
    for _ in range(repeats):
        rows.T @ np.tanh(rows @ weights)
    share = rows.size / (records * features)
    return (time.perf_counter() - began) / repeats / share


def _cheapest(ask: schedules.NonConvexProblem, form: Form) -> Iterable[str]:
    schedule = schedules.cheapest(ask, form)
    if max(schedule.learn_steps, schedule.delete_steps) <= MOST_STEPS:
        influence = theorem_5_2.data_influence(range=ask.range, noise_variance=schedule.noise_variance)
        yield (
            f"at the cheapest noise variance σ²={schedule.noise_variance:.3g}, K_A={schedule.learn_steps:.0f}, "
            f"K_Ā={schedule.delete_steps:.0f}, but the data can move the model's law from the prior by at most "
            f"{influence:.2f} in total variation"
        )


def _changes(ask: schedules.NonConvexProblem, form: Form) -> Iterable[str]:
    """Each number changed alone, at the least noise, until the steps can be run; or the verdict that none suffices."""
    for field, (name, factor, limit) in _CHANGES.items():
        value = changed = getattr(ask, field)
        whole = isinstance(value, int)
        bound = ask.dp if field == "deletion" else limit
        found = None
        while found is None and changed != bound:
            changed = changed * factor
            changed = min(changed, bound) if factor > 1 else max(changed, bound)
            trial = replace(ask, **{field: max(1, int(changed)) if whole else changed})
            if field == "records" and trial.records < trial.batch:
                break
            schedule = schedules.least(trial, form)
            if max(schedule.learn_steps, schedule.delete_steps) <= MOST_STEPS:
                found = getattr(trial, field)
        if found is None:
            yield f"no {name} alone suffices (tried from {value:g} to {changed:g})"
        else:
            yield f"{name}={found:.3g} alone suffices (now {value:g})"
