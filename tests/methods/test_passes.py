"""`minimiser` with a public number of passes: as far apart as is stated, nothing left of what is gone, nothing to time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from noisygd_delete import Budget, EditRequest, Execution, Records, losses, make_plan
from noisygd_delete.bounds import block_passes
from noisygd_delete.curator.learning import train
from noisygd_delete.engine.passes import end_of_passes
from noisygd_delete.errors import AssumptionViolated, InvalidParameter
from noisygd_delete.methods import Minimiser
from noisygd_delete.methods.reading import mechanism_from_dict
from noisygd_delete.privacy.guarantee import Worlds

from ..bank import unit_records

RENYI = Budget(order=10, dp=1.0, deletion=0.1)
SIZES: dict[str, Any] = {"records": 330, "features": 4, "regularization": 0.05, "budget": RENYI}


def plan_by(loss: Any = None, solver: str = "passes", passes: int | None = None, **facts: Any) -> Any:
    method = Minimiser(solver=solver, solver_passes=passes)
    return make_plan(loss or losses.Logistic(1.0), **{**SIZES, **facts}, method=method)


def table(n: int = 330) -> Records:
    return unit_records(n, 4, seed=2)


def walked(slopes: Any, n: int, blocks: int, sizes: Any, lam: float, *, turning: bool = True) -> np.ndarray:
    """The passes of the design sheet in the plainest form; `slopes(θ, first, last)`: the sum over these slots."""
    theta = np.zeros(4)
    for number, eta in enumerate(sizes):
        order = range(blocks) if number % 2 == 0 or not turning else range(blocks - 1, -1, -1)
        for block in order:
            first, last = block * n // blocks, (block + 1) * n // blocks
            theta = theta - eta * (slopes(theta, first, last) * blocks / n + lam * theta)
    return theta


def logistic(records: Records) -> Any:
    rows, labels = records.features.astype(float), records.labels

    def slopes(theta: np.ndarray, first: int, last: int) -> np.ndarray:
        x, y = rows[first:last], labels[first:last]
        return -(y / (1 + np.exp(y * (x @ theta)))) @ x

    return slopes


def linear(records: Records) -> Any:
    rows, labels = records.features.astype(float), records.labels
    return lambda theta, first, last: -labels[first:last] @ rows[first:last]


def test_the_engine_walks_the_passes_of_the_sheet() -> None:
    plan, records = plan_by(), table()
    start = plan.serving.start
    found = end_of_passes(records, plan.loss, regularization=0.05, blocks=start.blocks, step_sizes=start.step_sizes)[0]
    own = walked(logistic(records), 330, start.blocks, start.step_sizes, 0.05)
    one_way = walked(logistic(records), 330, start.blocks, start.step_sizes, 0.05, turning=False)
    assert np.linalg.norm(found - own) < 1e-13 < np.linalg.norm(one_way - own)
    from scipy.sparse import csr_array

    sparse = Records(csr_array(records.features), records.labels)
    sparsely = end_of_passes(sparse, plan.loss, regularization=0.05, blocks=start.blocks, step_sizes=start.step_sizes)
    assert np.linalg.norm(sparsely[0] - own) < 1e-13
    large = table(5000)  # blocks of more than a chunk
    chunks = end_of_passes(large, plan.loss, regularization=0.05, blocks=2, step_sizes=(0.5, 0.25))[0]
    assert np.linalg.norm(chunks - walked(logistic(large), 5000, 2, (0.5, 0.25), 0.05)) < 1e-13


@pytest.mark.parametrize("fault", ["none", "one way", "the minimisers' own distance", "half a block more"])
def test_two_tables_end_as_far_apart_as_is_stated(fault: str) -> None:
    """The worst record of every place; on the linear loss the bound is attained but for how long stored rows may be."""
    plan = plan_by()
    run, start = plan.mechanism, plan.serving.start
    blocks, sizes = start.blocks, start.step_sizes
    stated = run.passes.apart(run, Worlds.REPLACE)
    if fault == "the minimisers' own distance":
        stated = 2 / (330 * 0.05)
    if fault == "half a block more":
        stated *= blocks / (blocks + 0.5)
    farthest = 0.0
    for slopes_of in (linear, logistic):
        for slot in (0, 3, 165, 326, 329):
            one, other = table(), table()
            row = np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32)
            ends = []
            for held, label in ((one, 1.0), (other, -1.0)):
                rows, labels = held.features.copy(), held.labels.copy()
                rows[slot], labels[slot] = row, label
                ends.append(
                    walked(slopes_of(Records(rows, labels)), 330, blocks, sizes, 0.05, turning=fault != "one way")
                )
            farthest = max(farthest, float(np.linalg.norm(ends[0] - ends[1])))
    assert (farthest <= stated) == (fault == "none"), farthest / stated
    if fault == "none":
        assert farthest > stated * (1 - 1e-5)


def test_f_is_that_of_the_closed_form() -> None:
    for a in (0.1, 0.5, 1.2):
        sizes = block_passes.step_sizes(first=a, last=a, passes=400, blocks=64, strong_convexity=0.3)
        found = block_passes.carried(step_sizes=sizes, strong_convexity=0.3, blocks=64)
        assert a / math.tanh(a) * 0.97 < found < a / math.tanh(a) * (1 + 1e-6)
    falling = block_passes.step_sizes(first=1.2, last=0.15, passes=16, blocks=100, strong_convexity=0.01)
    assert block_passes.carried(step_sizes=falling, strong_convexity=0.01, blocks=100) < 1.02


def test_what_it_costs_and_says() -> None:
    plan, cold = plan_by(records=26_000, features=108), plan_by(solver="cold", records=26_000, features=108)
    assert 1 <= plan.noise_variance / cold.noise_variance < 1.03
    assert plan.delete_steps == cold.delete_steps
    assert plan.deletion.gdp == 0
    words = " ".join(plan.deletion.assumptions)
    assert "real numbers" not in words
    assert "running time may depend" not in words
    assert "the gradient at the solver's answer" not in words
    assert "running time may depend" in " ".join(cold.deletion.assumptions)
    assert "public blocks" in plan.explain()
    assert RENYI.affords(plan.dp)
    assert RENYI.affords(plan.deletion)
    assert cold.mechanism.to_dict()["passes"] is None
    assert plan_by(passes=4).learn_solver_passes == 4


def test_refusals_name_a_way_out() -> None:
    with pytest.raises(InvalidParameter, match="keep their places"):
        Minimiser(solver="passes", in_place=False)
    with pytest.raises(InvalidParameter, match="exact steps"):
        Minimiser(solver="passes", exact=False)
    with pytest.raises(InvalidParameter, match="leave it out"):
        Minimiser(solver="passes", gradient_tolerance=1e-6)
    with pytest.raises(InvalidParameter, match="belongs to solver 'passes'"):
        Minimiser(solver_passes=3)
    with pytest.raises((InvalidParameter, AssumptionViolated), match="exact steps"):
        plan_by(losses.Sigmoid(1.0), regularization=0.3)
    facts = plan_by().mechanism.to_dict()
    for change in ({"first": 50.0}, {"blocks": 331}, {"passes": 0}, {"last": 0.0}):
        with pytest.raises(InvalidParameter):
            mechanism_from_dict({**facts, "passes": {**facts["passes"], **change}})
    with pytest.raises(InvalidParameter, match="begins at 0"):
        replace(plan_by().mechanism, warm=True)


def test_every_table_takes_the_same_passes_and_what_is_gone_leaves_no_bit() -> None:
    plan, full = plan_by(), table()
    empty = full.apply(EditRequest.delete(range(330)))
    told = []
    for records in (full, full.apply(EditRequest.delete([7])), full.apply(EditRequest.delete(range(329))), empty):
        runs = [
            train(records, plan, plan.serving, start, Execution(rng=np.random.default_rng(1)))
            for start in (np.full((1, 4), 0.3), np.full((1, 4), -9.0))
        ]
        assert (runs[0].model.weights == runs[1].model.weights).all()
        told.append(runs[0].gradient_passes)
    assert len(set(told)) == 1
    assert told[0] == plan.delete_solver_passes + plan.delete_steps
