"""Plans: within budget always, least where it is claimed, and one clear refusal for everything else."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

import pytest

from noisygd_delete import Budget, Plan, losses, make_plan
from noisygd_delete.errors import AssumptionViolated, InvalidParameter
from noisygd_delete.methods.serialization import plan_from_dict

ADULT = {"records": 26_000, "features": 108, "regularization": 1e-3, "budget": Budget(order=10, dp=1.0, deletion=0.1)}


def adult(loss: losses.Loss | None = None, **changes) -> Plan:
    return make_plan(loss or losses.Logistic(1.0), **{"method": "noisy-gd:analysis=paper", **ADULT, **changes})


def test_sharp_adult_figures_of_the_design() -> None:
    usual = {"method": "noisy-gd", "step_size": 1 / 0.251}
    assert adult(**usual).calibration.delete_steps_for_deletion == 115
    assert adult(**usual, deletion_notion="pairwise").calibration.delete_steps_for_deletion == 289
    eight_times = adult(utility=False).calibration.delete_steps / 289
    assert eight_times == pytest.approx(8, rel=1e-3)


def test_epsilon_delta_under_the_theorem_takes_the_order_of_least_noise() -> None:
    chosen = adult(budget=Budget.from_epsilon_delta(dp=(1.0, 1e-6), deletion=(0.1, 1e-6))).calibration.noise_variance
    for order in (5, 20, 28, 40, 100):
        share = 1.0 - math.log((order - 1) / order) + (math.log(1e-6) + math.log(order)) / (order - 1)
        if share > 0:
            by_hand = adult(budget=Budget(order=order, dp=share, deletion=share / 10)).calibration.noise_variance
            assert chosen <= by_hand * (1 + 1e-9)


def test_the_step_size_is_the_one_with_the_fewest_deletion_steps() -> None:
    """The plan against every step size, each planned on its own; a deletion costs a fifth of what 1/M costs at 1.01 V∞."""
    chosen, steepest = adult(method="noisy-gd"), 0.251
    assert chosen.calibration.delete_steps == 62
    fewest = min(
        adult(method="noisy-gd", step_size=share / steepest).calibration.delete_steps_for_deletion
        for share in (1.0, 1.4, 1.8)
    )
    assert chosen.calibration.delete_steps < fewest
    reference = adult(method="noisy-gd", step_size=1 / steepest)
    assert chosen.outlook.excess_risk <= 1.01 * reference.outlook.excess_risk
    assert chosen.calibration.step_size < 2 / (0.252 + 0.25 * 2e-6)  # beyond 2/(m+M) nothing contracts
    patient = adult(method="noisy-gd", utility_tolerance=0.5)
    assert patient.outlook.excess_risk < chosen.outlook.excess_risk
    assert patient.calibration.delete_steps > chosen.calibration.delete_steps


def test_a_plan_that_takes_steps_back_is_refused() -> None:
    fields = adult().to_dict()
    for name in ("learn_steps", "delete_steps_for_deletion", "delete_steps_for_utility"):
        with pytest.raises(InvalidParameter, match=name):
            plan_from_dict({**fields, name: -1})


@pytest.mark.parametrize("loss", [losses.Logistic(1.0), losses.Softmax(1.0, 4), losses.PseudoHuber(1.0, 0.5)])
def test_a_plan_whose_bound_is_worse_than_guessing_says_so_and_names_a_better_one(loss: losses.Loss) -> None:
    """Few records: the warning comes exactly where the bound exceeds what weights of 0 lose, and its λ keeps the promise."""
    zero = {"logistic": math.log(2), "softmax": math.log(4), "pseudo-huber": 0.25 * (math.sqrt(5) - 1)}[loss.name]
    few = {"records": 600, "features": 30, "method": "noisy-gd", "budget": ADULT["budget"]}
    for regularization in (1e-3, 1e-2, 0.1, 1.0):
        plan = make_plan(loss, **few, regularization=regularization)
        text = plan.explain()
        assert ("Careful" in text) == (plan.outlook.excess_risk >= zero)
        if named := re.search(r"λ=([\d.]+) would make it ([\d.e-]+)\.", text):
            better = make_plan(loss, **few, regularization=float(named[1]))
            assert better.outlook.excess_risk == pytest.approx(float(named[2]), rel=1e-2)
            assert better.outlook.excess_risk < zero / 2
    assert "Careful" in make_plan(loss, **few, regularization=1e-3).explain()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"regularization": 0}, "regularization=0.0 must be > 0"),
        ({"records": 2.5}, "whole number"),
        ({"method": "magic"}, "method='magic'"),
        ({"method": "noisy-gd:analysis=composition"}, "analysis='composition'"),
        ({"adjacency": "nearby"}, "adjacency='nearby'"),
        ({"deletion_notion": "pairwise"}, "'tight'"),
        ({"budget": Budget.from_gdp(dp=0.5, deletion=0.05)}, "'tight'"),
        ({"budget": 1.0}, "must be a Budget"),
        ({"dtype": "float16"}, "dtype='float16'"),
    ],
)
def test_bad_arguments_are_one_clear_error(changes, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        adult(**changes)


def test_assumptions_of_the_step_size() -> None:
    with pytest.raises(AssumptionViolated, match="below"):
        adult(step_size=1 / 0.251, utility=False)
    with pytest.raises(AssumptionViolated, match="leave it out, or that condition"):
        adult(step_size=1.0)
    assert adult(step_size=1.0, utility=False).calibration.delete_steps == math.ceil(2 / 1e-3 * math.log(10))
    with pytest.raises(AssumptionViolated, match="at most"):
        adult(step_size=8.0, method="noisy-gd")
    with pytest.raises(InvalidParameter, match="must be a loss"):
        make_plan("logistic", **ADULT)


def test_what_no_certificate_covers_is_refused_with_the_reason() -> None:
    clipped = losses.clip_loss(losses.PseudoHuber(radius=1.0, delta=1.0), 0.3)
    with pytest.raises(AssumptionViolated, match="not twice differentiable"):
        adult(loss=clipped)
    with pytest.raises(InvalidParameter, match="learn_steps belongs to 'noisy-gd:analysis=composition'"):
        adult(method="noisy-gd", learn_steps=10)
    weak = {"records": 500, "features": 2, "regularization": 0.5}
    sigmoid = {"loss": losses.Sigmoid(radius=1.0), **weak, "utility": False}
    with pytest.raises(InvalidParameter, match="below"):
        adult(method="noisy-gd:analysis=composition", noise_variance=1e-9, **sigmoid)
    with pytest.raises(InvalidParameter, match=r"no Rényi order turns .* ε_dp < d=2"):
        adult(**sigmoid, budget=Budget.from_epsilon_delta(dp=(30.0, 1e-5), deletion=(1e-9, 1e-70)))


@dataclass(frozen=True)
class Declared(losses.Sigmoid):
    """A loss whose constants the caller only states."""

    range_: float = 1.0
    lipschitz: float = 1.0
    proven: bool = False

    @property
    def constants(self):
        return replace(super().constants, range=self.range_, lipschitz=self.lipschitz, proven=self.proven)


def test_theorem_5_2_takes_no_bare_word_and_no_unbounded_loss() -> None:
    size = {"records": 500, "features": 2, "regularization": 0.1, "utility": False}
    with pytest.raises(AssumptionViolated, match="only declares its constants"):
        adult(loss=Declared(1.0), **size)
    with pytest.raises(AssumptionViolated, match="needs a bounded loss"):
        adult(loss=Declared(1.0, range_=math.inf, proven=True), **size)
    with pytest.raises(InvalidParameter, match="no Lipschitz constant"):
        adult(loss=Declared(1.0, lipschitz=math.inf), method="noisy-gd:analysis=composition", **size)
