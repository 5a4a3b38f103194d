"""Every plan says what it is and keeps within what it allows; a plan with less noise, or of another problem, is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.errors import AssumptionViolated, InvalidParameter, PlanInfeasible
from noisygd_delete.methods import Stage
from noisygd_delete.methods.procedure import Minimizer
from noisygd_delete.methods.serialization import mechanism_from_dict, plan_from_dict
from tests.bank import FURTHER, PROBLEMS, USUAL, plan_by

SAMPLED = {**USUAL, "loss": losses.MultilayerPerceptron(radius=1.0, classes=2, hidden=4), "method": "staged", "records": 20_000,
           "stages": (Stage("network", 20, sampling_rate=0.05), Stage("head")), "budget": Budget(order=8, dp=1.0, deletion=0.1)}  # fmt: skip


def _made(name: str):
    return make_plan(**SAMPLED) if name == "sampled" else plan_by(name)


@pytest.mark.parametrize("name", [*PROBLEMS, *FURTHER])
def test_no_figure_of_a_convex_loss_is_about_real_numbers_unless_that_was_asked_for(name: str) -> None:
    plan = plan_by(name)
    said = {key for key, _ in plan.mechanism.conditions()} & {"real-arithmetic", "gaussian-noise"}
    assert bool(said) == ("over the reals" in name or not plan.problem.loss.constants.convex)
    assert (plan.mechanism.slack > 0) == bool(said)


@pytest.mark.parametrize("name", [*PROBLEMS, "sampled"])
def test_a_stored_plan_of_half_the_noise_is_refused_or_says_more(name: str) -> None:
    """The figures come from what is stored, not from what was asked for: half the noise never passes for the whole."""
    plan = _made(name)
    try:
        more = plan_from_dict(_halved(plan.to_dict())).dp
    except (InvalidParameter, AssumptionViolated, PlanInfeasible):
        return
    order = plan.problem.budget.order or 2.0
    assert more.renyi(order) > 1.2 * plan.dp.renyi(order)


@pytest.mark.parametrize("name", [*PROBLEMS, *FURTHER, "sampled"])
def test_what_is_stored_reads_back_and_a_part_that_says_more_than_is_known_is_refused(name: str) -> None:
    """Whatever lies inside stored facts or a stored plan: a name that nobody knows is no longer passed over."""
    plan = _made(name)
    for thing, read in ((plan, plan_from_dict), (plan.mechanism, mechanism_from_dict)):
        stored = json.loads(json.dumps(thing.to_dict()))
        assert read(stored) == thing
        for part in _inside(stored):
            part["nobody_knows"] = 1
            with pytest.raises(InvalidParameter):
                read(stored)
            del part["nobody_knows"]
            for field, value in part.items():
                if isinstance(value, float) and value == 0:  # a signed document has one form
                    part[field] = -0.0
                    with pytest.raises(InvalidParameter, match=r"never -0\.0"):
                        read(stored)
                    part[field] = value


@pytest.mark.parametrize("name", [*PROBLEMS, *FURTHER, "sampled"])
def test_a_stored_number_that_the_method_does_not_use_is_refused(name: str) -> None:
    plan = _made(name)
    stored, solved = plan.to_dict(), isinstance(plan.learning.start, Minimizer)
    unused = ["init_variance"] if solved else ["gradient_tolerance", "linear_term", "output_noise"]
    for number in unused:
        with pytest.raises(InvalidParameter):
            plan_from_dict({**stored, number: 0.5})


def _inside(facts: Any) -> list[dict[str, Any]]:
    """Every object in it."""
    if isinstance(facts, list):
        return [part for one in facts for part in _inside(one)]
    return [facts, *_inside(list(facts.values()))] if isinstance(facts, dict) else []


def _halved(facts: dict[str, Any]) -> dict[str, Any]:
    """Every noise of a stored plan, those of its stages too, at half its deviation."""
    shares = {"noise_variance": 1 / 4, "linear_term": 1 / 2, "output_noise": 1 / 2}
    less = {name: facts[name] * share for name, share in shares.items() if facts.get(name)}
    return {**facts, **less, **({"stages": [_halved(one) for one in facts["stages"]]} if facts.get("stages") else {})}


def _refused(plan: Any, words: str, **changes: Any) -> None:
    with pytest.raises((InvalidParameter, AssumptionViolated), match=words):
        _check(plan.changed(**changes))


def _check(plan: Any) -> None:
    plan.method.check_plan(plan)


def test_what_a_method_is_not_proven_for_is_refused() -> None:
    ladder = plan_by("staged")
    with pytest.raises(InvalidParameter, match="other numbers"):
        plan_from_dict({**ladder.to_dict(), "kept": 0})
    _refused(ladder, "a plan for each", stages=ladder.calibration.stages[1:])
    other = ladder.calibration.stages[0]
    _refused(
        ladder,
        "another records|no stage of this ladder",
        stages=(other.changed(records=1999), *ladder.calibration.stages[1:]),
    )


def test_noise_of_a_stage_on_samples_is_at_least_what_its_multiplier_is() -> None:
    stage = _made("sampled").calibration.stages[0]
    slack, least = stage.problem.slack, stage.calibration.noise_variance
    assert slack > 1e-8
    for less in (1 / 2, 1 - slack / 2):
        _refused(stage, "noise_multiplier", noise_variance=least * less)
    assert stage.outlook.excess_risk == math.inf
