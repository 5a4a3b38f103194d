"""What the words "cold", "shaped" and "pairwise" promise, at the runs themselves: each test fails for one planted fault that nobody noticed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Execution, Records, losses, make_plan, methods
from noisygd_delete.curator.learning import train
from noisygd_delete.curator.starts import run_start
from noisygd_delete.errors import AssumptionViolated, InvalidRequest
from noisygd_delete.methods.procedure import Start
from noisygd_delete.records import EditRequest
from tests.bank import unit_records

METHODS = {"output-perturbation": methods.OutputPerturbation, "objective-perturbation": methods.ObjectivePerturbation}


def plan_by(method: str, **options: Any) -> Any:
    facts = {"records": 300, "features": 4, "regularization": 0.1, "budget": Budget(order=10, dp=1.0, deletion=0.2)}
    return make_plan(losses.Logistic(1.0), **facts, method=METHODS[method](**options))


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("solver", ["cold", "fixed", "warm"])
def test_a_cold_release_is_the_same_whatever_was_published_before(method: str, solver: str) -> None:
    """Bit for bit, under the same noise: so an erased record leaves nothing. A warm one may show its start."""
    plan, records, rng = plan_by(method, solver=solver), unit_records(300, 4, seed=1), np.random.default_rng(7)

    def weights_from(start: np.ndarray) -> np.ndarray:
        return train(records, plan, plan.serving, start, Execution(rng=np.random.default_rng(3))).model.weights

    first = weights_from(np.zeros(plan.shape))
    near = np.atleast_2d(first) * 1.01  # a start that is far from the minimiser is not taken
    found = [first, *(weights_from(start) for start in (3 * rng.standard_normal(plan.shape), near))]
    same = [(weights == found[0]).all() for weights in found]
    assert all(same) == (solver != "warm")
    assert plan.mechanism.shows_start == (solver == "warm")


@pytest.mark.parametrize("gamma", [1e-6, 3e-4])
def test_two_runs_are_two_balls_of_the_solver(gamma: float) -> None:
    """The exact worst case on a line: answers γ/m away from one minimiser, on either side, whether or not a run had the record."""
    mechanism = replace(plan_by("objective-perturbation").mechanism, gradient_tolerance=gamma)
    ball, tau = gamma / mechanism.strong_convexity, mechanism.output_noise
    room = mechanism.grid * math.sqrt(mechanism.dimension)
    for notion in ("erased-vs-never", "pairwise"):
        stated = mechanism.interval("deletion", notion, steps_with=1, steps_without=1).gdp
        least, most = 2 * ball / tau, (2 * ball + room) / tau
        assert least <= stated <= most * (1 + 1e-9), notion
    assert ball / tau > 10 * room / tau or gamma < 1e-5, "the balls are most of it: one for two would be seen"


def test_every_door_for_rows_measures_them_in_the_shape_of_the_noise() -> None:
    """A row may be short enough and yet too long in the shape: when a table is made, inserted into, and checked again for a plan with a shape."""
    blocks = (4, 4, 1)
    facts = {"records": 40, "features": 9, "regularization": 0.5, "budget": Budget(order=4, dp=4.0, deletion=1.0)}
    shaped = make_plan(losses.Logistic(1.0), **facts, method="objective-perturbation", one_hot_blocks=blocks)
    plain = make_plan(losses.Logistic(1.0), **facts, method="objective-perturbation")
    hot = np.zeros((39, 9))
    hot[:, 0] = hot[:, 4] = hot[:, 8] = 1 / math.sqrt(3) / 1.000001
    cold = np.zeros(9)
    cold[0] = 0.999999  # one column of small variance alone: norm 1, in the shape more
    labels = np.where(np.arange(39) % 2, 1.0, -1.0)
    assert shaped.learning.shape is not None
    longest = float((cold**2 / np.array(shaped.learning.shape)).sum())
    assert longest > 1.1
    whole = Records(np.vstack([hot, cold]), [*labels, 1.0])
    Curator(whole, plain).learn(np.random.default_rng(0))  # marks the table as checked, without a shape
    with pytest.raises(AssumptionViolated, match="shape"):
        Curator(whole, shaped).learn(np.random.default_rng(0))
    with pytest.raises(AssumptionViolated, match="shape"):
        Curator(whole.copy(), shaped).learn(np.random.default_rng(0))
    curator = Curator(Records(hot, labels, slots=40), shaped)
    curator.learn(np.random.default_rng(0))
    for request in (EditRequest.insert(None, cold[None], [1.0]), EditRequest.replace({0: (cold, 1.0)})):
        with pytest.raises(InvalidRequest, match="shape"):
            curator.serve(request, rng=np.random.default_rng(0))


def test_every_kind_of_start_has_a_function_of_its_own() -> None:
    runners = {run_start.dispatch(kind) for kind in get_args(Start)}
    assert len(runners - {run_start.dispatch(object)}) == len(get_args(Start))
    with pytest.raises(TypeError):
        run_start(object(), None)
