"""Several minimisers in sequence instead of one, where the noise raised λ and the raised λ shrinks the model."""

from __future__ import annotations

from dataclasses import replace

from .. import losses
from ..bounds.objective_perturbation import LARGEST_KAPPA
from ..errors import NoisyGDDeleteError
from ..privacy.curves import ONE_DIRECTION
from .objective_perturbation import ObjectivePerturbation
from .objective_perturbation_run import ObjectivePerturbationRun, form_of
from .plan import Plan

_CHAIN, _CLIPPED = 3, 0.6  # chosen on Adult
_RAISED = 1.15  # factor by which a chain raises λ per attempt
# attempts: for classes up to twice λ, beyond which three are forecast no better than one; for a target up to three times
# λ (chosen on six tables of benchmarks/regression.py)
_TRIED = {"binary": 6, "target": 12}


def chain_plan(plan: Plan) -> Plan | None:
    """Return a plan of three consecutive minimisers within the same budgets; None if none is worthwhile.

    Slopes are clipped at 0.6 of their bound unless the loss already clips. λ is the first of six values (twelve for a
    target), each 1.15 times the one before, at which κ ≤ 1/4 in each stage, beyond which the noise of three grows faster
    than by √3; it is at least the requested λ.

    None if no such λ has a plan, and unless the plan is by objective perturbation with one minimiser, its λ was raised
    by the forecast's ridge, and its loss is of two classes or of a target with one direction per row; a chain pays off
    only where that λ shrinks the model.
    """
    problem, lipschitz, alone = plan.problem, plan.problem.loss.constants.lipschitz, plan.method
    requested = problem.requested_regularization
    if not isinstance(alone, ObjectivePerturbation) or alone.chain > 1 or requested is None:
        return None
    attempts = _TRIED.get(problem.loss.label_kind, 0)
    if form_of(problem) != ONE_DIRECTION:
        return None
    loss = problem.loss if problem.loss.loss_of_fit > 1 else losses.clip_loss(problem.loss, _CLIPPED * lipschitz)
    least = loss.constants.lipschitz / lipschitz * problem.regularization
    method = replace(alone, chain=_CHAIN)
    for tried in range(attempts):
        ridge = max(requested, float(f"{least * _RAISED**tried:.3g}"))
        try:
            found = method.plan(replace(problem, loss=loss, regularization=ridge, method=method))
        except (NoisyGDDeleteError, ArithmeticError):
            continue
        facts = found.mechanism
        assert isinstance(facts, ObjectivePerturbationRun)
        if facts.ratios()[0] * found.calibration.linear_term <= LARGEST_KAPPA * loss.constants.lipschitz:
            return found
    return None
