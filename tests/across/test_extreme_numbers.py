"""Numbers that strangers may write into a plan: an answer or a clear refusal at once, and nothing that no theorem covers."""

from __future__ import annotations

import itertools
import math
import time

import pytest

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.accountant import Event
from noisygd_delete.bounds import solver_steps
from noisygd_delete.bounds.solver_steps import proven_steps
from noisygd_delete.errors import InvalidParameter, NoisyGDDeleteError, PlanInfeasible
from noisygd_delete.evidence import Erasure, erasure_certificate, new_key, sign_document, verify_certificate
from noisygd_delete.methods.base import Mechanism
from noisygd_delete.methods.serialization import mechanism_from_dict, plan_from_dict
from tests.bank import sized_plan

BUDGET = Budget(order=10, dp=1.0, deletion=0.1)
SIZES = {"records": 1000, "features": 5, "budget": BUDGET}
WAYS = [
    {"method": "noisy-gd:analysis=paper"},
    {"method": "noisy-gd"},
    {"method": "noisy-gd", "releases": 50},
    *({"method": "output-perturbation", "solver": way} for way in ("warm", "cold", "fixed")),
]
LOGISTIC = losses.Logistic(radius=1.0)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("regularization", [1e-9, 1e-12, 1e-15, 1e-30, 1e-100, 1e-300, 5e-324, 1e100, 1e300])
def test_any_regularisation_is_answered_at_once(regularization, way) -> None:
    began = time.process_time()
    plan, refusal = answer(LOGISTIC, regularization=regularization, **SIZES, **way)
    assert time.process_time() - began < 10  # a loop over steps takes minutes
    if plan is None:
        assert any(word in refusal for word in ("regularization", "λ", "noise_variance", "lower it"))
    else:
        passes = plan.calibration.learn_solver_passes + plan.calibration.learn_steps
        assert max(passes, plan.calibration.delete_solver_passes + plan.calibration.delete_steps) <= 10**12


def answer(loss, **arguments):
    """(plan, None) or (None, the sentence that refuses it); anything else is a fault."""
    try:
        return make_plan(loss, **arguments), None
    except NoisyGDDeleteError as error:
        return None, str(error)


@pytest.mark.parametrize("method", ["noisy-gd:analysis=paper", "noisy-gd", "noisy-gd:analysis=composition"])
@pytest.mark.parametrize("regularization", [1e-15, 1e-300, 5e-324, 1e300])
def test_the_same_for_a_loss_that_is_not_convex(regularization, method) -> None:
    began = time.process_time()
    answer(losses.Sigmoid(radius=1.0), regularization=regularization, method=method, **SIZES)
    assert time.process_time() - began < 5


def test_a_plan_that_no_machine_can_run_is_refused_and_carried() -> None:
    with pytest.raises(PlanInfeasible, match="Raise λ") as refused:
        make_plan(LOGISTIC, regularization=1e-12, method="noisy-gd", **SIZES)
    assert refused.value.plan.calibration.learn_steps > 10**12


@pytest.mark.parametrize(
    "budget", [Budget(order=10, dp=1e-300, deletion=1e-300), Budget.from_gdp(dp=1e200, deletion=1e-200)]
)
def test_budgets_beyond_any_float_are_refused_in_a_sentence(budget) -> None:
    for way in WAYS[1:]:
        answer(LOGISTIC, regularization=1e-2, **{**SIZES, "budget": budget}, **way)


def test_the_closed_form_proves_enough_steps_and_wastes_few() -> None:
    """Against the recursion itself, one step at a time."""
    for kappa, wanted in itertools.product([1e6, 1e7, 1e8], [1e3, 1e9]):
        proven = proven_steps(distance=wanted, tolerance=2.0, strong_convexity=1 / kappa, objective_smoothness=1.0)
        reached = next(
            k for k, (a, _) in enumerate(solver_steps.growth(1 / kappa)) if math.sqrt(1 + a / kappa) >= wanted
        )
        assert reached <= proven <= 1.1 * reached


# ---------------------------------------------------------------- what no theorem covers


def facts(**changes) -> Mechanism:
    plan = make_plan(LOGISTIC, regularization=1e-2, method="noisy-gd", **SIZES)
    return mechanism_from_dict({**plan.mechanism.to_dict(), **changes})


@pytest.mark.parametrize("method", ["noisy-gd:analysis=paper", "noisy-gd"])
def test_a_step_size_that_expands_is_refused_wherever_it_comes_from(method) -> None:
    plan = make_plan(LOGISTIC, regularization=1e-2, method=method, **SIZES)
    assert plan_from_dict(plan.to_dict()) == plan
    with pytest.raises(InvalidParameter, match="step_size"):
        plan_from_dict({**plan.to_dict(), "step_size": 3 * plan.calibration.step_size})
    with pytest.raises(InvalidParameter, match="step_size"):
        mechanism_from_dict({**plan.mechanism.to_dict(), "step_size": 3 * plan.calibration.step_size})


def test_a_fact_missing_from_a_ledger_is_refused() -> None:
    """Even one that has a default: an absent smoothness would leave the step size half checked."""
    now = facts().to_dict()
    assert mechanism_from_dict(now) == facts()
    for name in now.keys() - {"method"}:
        with pytest.raises(InvalidParameter, match=name):
            mechanism_from_dict({key: value for key, value in now.items() if key != name})
    with pytest.raises(InvalidParameter, match="step_size"):  # what m alone forbids
        mechanism_from_dict({**now, "step_size": 1.5 / facts().strong_convexity})


def test_a_run_without_a_step_from_the_minimiser_is_not_free() -> None:
    plan = make_plan(LOGISTIC, regularization=1e-2, method="output-perturbation", **SIZES)
    for kind in ("learn", "unlearn", "relearn"):
        with pytest.raises(InvalidParameter, match="minimiser itself"):
            Event(kind, 0, 1, plan.mechanism)
    for name in ("learn_steps", "delete_steps_for_deletion"):
        with pytest.raises(InvalidParameter, match="steps"):
            plan_from_dict({**plan.to_dict(), name: 0})
    resumed = make_plan(LOGISTIC, regularization=1e-2, method="noisy-gd", **SIZES)
    assert Event("unlearn", 0, 0, resumed.mechanism).steps == 0  # the same weights once more show nothing new


@pytest.mark.parametrize("method", ["noisy-gd:analysis=paper", "noisy-gd"])
@pytest.mark.parametrize("adjacency", ["replace", "zero-out"])
def test_the_same_weights_are_never_published_as_a_model_that_forgot(method, adjacency) -> None:
    equal = Budget(order=10, dp=1.0, deletion=1.0)
    plan = sized_plan(LOGISTIC, 1000, 5, 1e-2, equal, method=method, utility=False, adjacency=adjacency)
    assert plan.calibration.delete_steps >= 1


def test_worlds_that_nobody_knows_are_refused() -> None:
    for world in ("replac", "Replace", "", "definition-4.2", None):
        with pytest.raises(InvalidParameter, match="worlds"):
            facts().sensitivity(world)
    assert facts().sensitivity("pairwise") == facts().sensitivity("replace") == 2 * facts().sensitivity("zero-out")


# ---------------------------------------------------------------- planned again


@pytest.mark.parametrize("options", [{}, {"releases": 3}, {"batch": 7, "adjacency": "zero-out"}])
def test_the_certificate_of_a_plan_for_a_target_verifies(options, tmp_path) -> None:
    facts = {"records": 26_000, "features": 20, "regularization": 1e-2, "budget": BUDGET, **options}
    plan = make_plan(LOGISTIC, method="noisy-gd", excess_risk_target=0.5, **facts)
    again = {name: getattr(plan.problem, name) for name in plan.problem.__dataclass_fields__}
    assert make_plan(**again) == plan
    events = [
        Event("learn", plan.calibration.learn_steps, 0, plan.mechanism),
        Event("unlearn", plan.calibration.delete_steps, 1, plan.mechanism),
    ]
    key = tmp_path / "key.pem"
    new_key(key)
    paper = sign_document(erasure_certificate(Erasure(rows=1, release=2), plan=plan, events=events), key)
    assert verify_certificate(paper).passed


def test_a_target_in_place_of_a_tolerance() -> None:
    plan = make_plan(LOGISTIC, regularization=1e-2, method="noisy-gd", excess_risk_target=0.5, **SIZES)
    assert plan.outlook.excess_risk <= 0.5
    with pytest.raises(PlanInfeasible, match="excess risk"):
        make_plan(LOGISTIC, regularization=1e-2, method="noisy-gd", excess_risk_target=1e-6, **SIZES)
    with pytest.raises(InvalidParameter, match="excess_risk_target belongs to 'noisy-gd'"):
        make_plan(LOGISTIC, regularization=1e-2, method="noisy-gd:analysis=paper", excess_risk_target=0.5, **SIZES)
