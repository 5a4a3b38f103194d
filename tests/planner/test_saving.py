"""A plan reports what a deletion saves against learning afresh, and says where it saves nothing."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Records, learn, losses, make_plan
from noisygd_delete.cli import main
from noisygd_delete.errors import NothingPromised

BUDGET = Budget(order=10, dp=1.0, deletion=0.1)
FEW = {"records": 21, "features": 33, "regularization": 0.1, "method": "noisy-gd:analysis=paper",
       "budget": Budget.from_epsilon_delta(dp=(8.0, 1e-6), deletion=(1.6, 1e-6))}  # fmt: skip


def test_softmax_on_digits_is_told_to_learn_afresh_from_python_and_from_a_shell(capsys) -> None:
    """A deletion of Theorem 5.1 takes 1,623 steps where learning takes 1,422."""
    budget = Budget.from_epsilon_delta(dp=(8.0, 1e-5), deletion=(0.1, 1e-5))
    sizes = {"records": 1497, "features": 65, "regularization": 1e-2}
    plan = make_plan(losses.Softmax(1.0, 10), **sizes, budget=budget, method="noisy-gd:analysis=paper")
    assert (plan.calibration.learn_steps, plan.calibration.delete_steps) == (1422, 1623)
    assert plan.is_fresh_learn_cheaper()
    assert "relearn" in plan.explain()
    asked = [
        "plan",
        "--loss",
        "softmax:classes=10",
        *["--records", "1497", "--features", "65", "--regularization", "0.01"],
    ]
    asked += ["--dp", "8", "--deletion", "0.1", "--delta", "1e-5"]
    assert main([*asked, "--method", "noisy-gd:analysis=paper", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["fresh_learn_is_cheaper"] is True
    assert answer["saving"] == plan.summary()["saving"] == 1497 * (1422 - 1623)
    assert main([*asked, "--method", "noisy-gd:analysis=paper"]) == 0
    assert "relearn" in capsys.readouterr().out
    assert main([*asked, "--method", "noisy-gd", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fresh_learn_is_cheaper"] is False


def table(n: int, columns: int) -> Records:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, columns))
    return Records(rows / np.linalg.norm(rows, axis=1).max() / 1.001, rng.choice([-1.0, 1.0], n))


def warned(plan) -> int:
    records = table(plan.problem.records, plan.problem.features)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learn(records, plan, np.random.default_rng(0))
        Curator(records, plan).learn(np.random.default_rng(0))
    return sum(one.category is NothingPromised for one in caught)


def test_learning_warns_where_no_step_is_taken() -> None:
    plan = make_plan(losses.Logistic(1.0), **FEW, releases=20, total=(24.0, 1e-6))
    assert plan.calibration.learn_steps == 0
    assert "K_A = 0" in plan.worth()
    assert warned(plan) == 2


@pytest.mark.parametrize(("records", "number"), [(15, 2), (4000, 0)])
def test_learning_warns_where_the_bound_on_its_risk_is_vacuous(records: int, number: int) -> None:
    plan = make_plan(
        losses.Logistic(1.0), records=records, features=10, regularization=0.1, method="noisy-gd", budget=BUDGET
    )
    assert (plan.outlook.excess_risk < np.log(2)) == (number == 0)
    assert warned(plan) == number


def test_a_network_learns_without_a_warning() -> None:
    """No bound on its risk is claimed, so none is vacuous."""
    plan = make_plan(losses.MultilayerPerceptron(1.0, hidden=4), records=40, features=2, regularization=0.5, method="noisy-gd:analysis=composition",
                     learn_steps=2, delete_steps=1, budget=BUDGET)  # fmt: skip
    assert warned(plan) == 0
