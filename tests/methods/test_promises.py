"""What every plan of the bank promises: conditions as its facts are, and figures that hold for a learn and for a request, whatever their steps."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from noisygd_delete import losses
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods import noisy_gd_paper
from noisygd_delete.methods.plan import Method

from ..bank import FURTHER, PROBLEMS, plan_by

BANK = [*PROBLEMS, *FURTHER]
STEPPING = [
    name for name in BANK if not name.startswith(("objective", "staged", "sufficient"))
]  # by noisy steps of their own


def keys_of(mechanism) -> set[str]:
    return {key for key, _ in mechanism.conditions()}


@pytest.mark.parametrize("name", BANK)
def test_conditions_say_what_the_facts_say(name: str) -> None:
    mechanism = plan_by(name).mechanism
    keys = keys_of(mechanism)
    assert ("rows-in-place" in keys) == (name not in ("staged",) and "real-arithmetic" not in keys and not (
        mechanism.shows_order or name.startswith(("staged", "sufficient"))
    ))  # fmt: skip
    assert ("exact-steps" in keys) == (mechanism.exactness is not None if hasattr(mechanism, "exactness") else False)
    assert ("gaussian-noise" in keys) == ("real-arithmetic" in keys) == ("machine-trusted" not in keys)
    assert "row-shape" not in keys
    if hasattr(mechanism, "proven") and "gradient-norm" in keys and not name.startswith("staged"):
        for proven in (True, False):
            assert ("constants-declared" in keys_of(replace(mechanism, proven=proven))) != proven
        norm = dict(mechanism.conditions())["gradient-norm"]["lipschitz"]
        assert norm == mechanism.lipschitz == plan_by(name).problem.loss.constants.lipschitz
    if name.startswith("objective"):
        for shaped in (True, False):
            for in_place in (True, False):
                told = keys_of(replace(mechanism, shaped=shaped, in_place=in_place))
                assert ("row-shape" in told, "rows-in-place" in told) == (shaped, in_place)


@pytest.mark.parametrize("name", STEPPING)
@pytest.mark.parametrize(("learn", "request_"), [(1, 1), (2, 1), (1, 2)])
def test_the_dp_of_a_plan_holds_for_a_learn_and_for_a_request(name: str, learn: int, request_: int) -> None:
    """Also of a plan from a file, whose numbers of steps may be any."""
    plan = plan_by(name)
    base = max(1, min(plan.calibration.delete_steps, 50))
    numbers = replace(
        plan.calibration,
        learn_steps=learn * base,
        delete_steps_for_deletion=request_ * base,
        delete_steps_for_utility=0,
    )
    if name.startswith("output") and learn != request_:
        with pytest.raises(InvalidParameter, match="the same number of steps"):
            plan.method.assemble(plan.problem, numbers)
        return
    changed = plan.method.assemble(plan.problem, numbers)
    for steps in (learn * base, request_ * base):
        run = changed.mechanism
        alone = run.interval("dp", plan.problem.adjacency, steps_with=run.exposure(steps))
        assert changed.dp.epsilon(1e-6) >= alone.epsilon(1e-6) * (1 - 1e-9)
        assert changed.dp.delta(0.1) >= alone.delta(0.1) * (1 - 1e-9)
        assert changed.dp.advantage >= alone.advantage * (1 - 1e-9)


class Steep(losses.Logistic):
    """A loss without a Lipschitz constant."""

    @property
    def constants(self):
        return replace(super().constants, lipschitz=math.inf)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_loss_without_a_lipschitz_constant_is_refused_by_every_method(name: str) -> None:
    plan = plan_by(name)
    Method.check_plan(plan.method, plan)
    steep = replace(plan, problem=replace(plan.problem, loss=Steep(radius=1.0)))
    with pytest.raises(InvalidParameter, match="no Lipschitz constant"):
        Method.check_plan(plan.method, steep)


def test_the_printed_risk_holds_from_the_least_steps_on() -> None:
    plan = plan_by("noisy-gd:analysis=paper, over the reals")
    problem, numbers = plan.problem, plan.calibration
    at = replace(numbers, step_size=noisy_gd_paper.theorem_5_1.step_size(
        regularization=problem.regularization, smoothness=problem.loss.constants.smoothness))  # fmt: skip

    def risk(learn: int, request: int) -> float:
        steps = {"learn_steps": learn, "delete_steps_for_deletion": request, "delete_steps_for_utility": 0}
        return noisy_gd_paper._printed_risk(replace(plan, calibration=replace(at, **steps)))

    many = 10**6
    assert risk(many, many) < math.inf
    least = [
        next(k for k in range(many) if risk(*pair(k)) < math.inf) for pair in (lambda k: (k, many), lambda k: (many, k))
    ]
    facts = {"smoothness": problem.loss.constants.smoothness, "regularization": problem.regularization, "dimension": problem.dimension,
             "rate": noisy_gd_paper.theorem_5_1.full_rate(sensitivity=2 * problem.loss.constants.lipschitz, regularization=problem.regularization,
                                                          noise_variance=numbers.noise_variance, records=problem.records)}  # fmt: skip
    assert least == [
        noisy_gd_paper.theorem_5_1.learn_steps_for_utility(records=problem.records, **facts),
        noisy_gd_paper.theorem_5_1.delete_steps_for_utility(batch=problem.batch, **facts),
    ]
    assert risk(least[0] - 1, many) == risk(many, least[1] - 1) == risk(0, 0) == math.inf
