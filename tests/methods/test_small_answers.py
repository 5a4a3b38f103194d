"""What a method refuses or answers in one line: options of another, exports that mean nothing, files that hold no plan."""

from __future__ import annotations

import re

import pytest

from noisygd_delete import Budget, losses, make_plan, methods
from noisygd_delete.errors import InvalidParameter, PlanInfeasible
from noisygd_delete.methods.serialization import mechanism_from_dict, plan_from_dict, problem_from_dict

SIZES = {"records": 300, "features": 4, "regularization": 0.05, "budget": Budget(order=10, dp=1.0, deletion=0.1)}


def test_a_method_that_is_one_takes_no_options_beside_it() -> None:
    cold = methods.OutputPerturbation(solver="cold")
    assert methods.resolve_method(cold) is cold
    with pytest.raises(InvalidParameter, match="give the options of a method to the method itself"):
        methods.resolve_method(cold, solver="warm")
    with pytest.raises(InvalidParameter, match="solver belongs to 'output-perturbation'"):
        methods.resolve_method("noisy-gd", solver="warm")
    with pytest.raises(InvalidParameter, match="belongs to no method"):
        methods.resolve_method("noisy-gd", speed="high")


@pytest.mark.parametrize("junk", [None, 3, "plan", [1, 2], [["records", 3]]])
def test_what_is_no_object_is_no_plan(junk) -> None:
    for read in (plan_from_dict, problem_from_dict, mechanism_from_dict):
        with pytest.raises(InvalidParameter):
            read(junk)


def test_a_target_for_the_excess_risk_needs_a_convex_objective() -> None:
    """λ ≤ β₋: no risk can be promised, and the refusal says from which λ on it can."""
    network = losses.TanhNetwork(radius=1.0, outer_weights=(1.0, -1.0))
    weak = {
        **SIZES,
        "regularization": network.constants.weak_convexity / 2,
        "budget": Budget(order=2, dp=1.9, deletion=0.5),
    }
    with pytest.raises((InvalidParameter, PlanInfeasible)) as refused:
        make_plan(network, method="noisy-gd", excess_risk_target=0.1, **weak)
    assert f"{network.constants.weak_convexity:g}" in str(refused.value)


def test_noise_below_what_theorem_5_2_asks_for_is_refused_with_the_least() -> None:
    network = losses.TanhNetwork(radius=1.0, outer_weights=(1.0, -1.0))
    facts = {"records": 40, "features": 1, "regularization": 0.5, "budget": Budget(order=2, dp=1.9, deletion=0.5)}
    with pytest.raises(InvalidParameter, match="the least that meets") as refused:
        make_plan(network, method="noisy-gd", noise_variance=1e-3, **facts)
    least = float(re.search(r"is below ([\d.e+-]+),", str(refused.value))[1])
    with pytest.raises(InvalidParameter, match="the least that meets"):
        make_plan(network, method="noisy-gd", noise_variance=least * 0.999, **facts)
    assert (
        make_plan(network, method="noisy-gd", noise_variance=least * 4, **facts).calibration.noise_variance == least * 4
    )
    with pytest.raises(InvalidParameter, match="step_size is fixed"):
        make_plan(network, method="noisy-gd:analysis=paper", step_size=0.1, **facts)
    with pytest.raises(InvalidParameter, match="non-convex"):
        make_plan(losses.Logistic(1.0), method="noisy-gd:analysis=theorem-5-2", **facts)
