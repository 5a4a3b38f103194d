"""Full-batch gradients: right, in any dtype, and with the sensitivity that the certificate declares."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noisygd_delete import EditRequest, Records, losses
from noisygd_delete.bounds.arithmetic import BLOCK, sensitivity_slack
from noisygd_delete.engine import Objective, check_records, kernel
from noisygd_delete.engine import sums as assumptions
from noisygd_delete.engine.kernel import sum_pairwise
from noisygd_delete.errors import AssumptionViolated, InvalidRecords


@pytest.fixture(params=["products", "compiled"])
def path(request, monkeypatch) -> str:
    """Both ways to a sum, whatever the size of the table."""
    if request.param == "compiled":
        pytest.importorskip("numba", reason="the compiled kernel needs the extra `fast`")
    monkeypatch.setattr(kernel, "LEAST", 0 if request.param == "compiled" else 1 << 62)
    return request.param


def table(kind: str, n: int, d: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) * 1.0000001
    loss, labels = {
        "logistic": (losses.Logistic(1.0), rng.choice([-1, 1], n)),
        "softmax": (losses.Softmax(1.0, 4), rng.integers(0, 4, n)),
        "pseudo-huber": (losses.PseudoHuber(1.0, 0.7), rng.uniform(-1, 1, n)),
        "linear": (losses.Linear(1.0), np.zeros(n)),
    }[kind]
    return loss, Records(rows, labels, slots=n + 3)


@pytest.mark.parametrize("kind", ["logistic", "softmax", "pseudo-huber", "linear"])
@pytest.mark.parametrize("n", [1, BLOCK - 3, BLOCK, 3 * BLOCK + 17])
def test_gradient_is_the_derivative_of_the_value(kind: str, n: int) -> None:
    loss, records = table(kind, n, 5)
    objective = Objective(records, loss, regularization=0.05, dtype="float64")
    weights = np.random.default_rng(1).standard_normal(objective.shape)
    gradient = objective.gradient(weights)
    direction = np.random.default_rng(2).standard_normal(objective.shape)
    h = 1e-5
    numeric = (objective.value(weights + h * direction) - objective.value(weights - h * direction)) / (2 * h)
    assert np.vdot(gradient, direction) == pytest.approx(numeric, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("kind", ["logistic", "softmax", "pseudo-huber", "linear"])
def test_float32_agrees_with_float64(kind: str, path: str) -> None:
    loss, records = table(kind, 2000, 9)
    weights = np.random.default_rng(1).standard_normal((loss.outputs, 9))
    single = Objective(records, loss, regularization=0.1).gradient_sum(weights)
    double = Objective(records, loss, regularization=0.1, dtype="float64").gradient_sum(weights)
    assert np.linalg.norm(single - double) < 2000 * 2e-7


def test_null_slots_change_nothing_but_n() -> None:
    loss, records = table("softmax", 300, 6)
    padded = Records(records.features[:300], records.labels[:300], slots=900)
    weights = np.random.default_rng(3).standard_normal((4, 6))
    one = Objective(Records(records.features[:300], records.labels[:300]), loss, regularization=0.0, dtype="float64")
    two = Objective(padded, loss, regularization=0.0, dtype="float64")
    assert one.gradient_sum(weights) == pytest.approx(two.gradient_sum(weights), rel=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("adjacency", ["replace", "zero-out"])
def test_measured_sensitivity_stays_within_the_declared_slack(dtype: str, adjacency: str, path: str) -> None:
    """Adversarial neighbours: saturated gradients, aligned rows, alternating magnitudes, the odd row anywhere."""
    rng = np.random.default_rng(7)
    loss, worst = losses.Logistic(1.0), 0.0
    delta = 2.0 if adjacency == "replace" else 1.0
    for trial in range(40):
        n, d = int(rng.integers(2, 900)), int(rng.integers(1, 6))
        rows = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-8, 0, (n, 1))
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        rows[rng.random(n) < 0.5] *= 10.0 ** rng.uniform(-9, 0)
        slot = int(rng.integers(n))
        rows[slot] = np.eye(d)[0]
        labels = rng.choice([-1.0, 1.0], n)
        weights = rng.standard_normal((1, d)) * (0 if trial % 2 else 30)
        labels[slot] = -1.0 if weights[0, 0] > 0 else 1.0
        other = rows.copy()
        other[slot] = -rows[slot] if adjacency == "replace" else 0
        sums = [
            Objective(Records(r, labels), loss, regularization=0, dtype=dtype).gradient_sum(weights)
            for r in (rows, other)
        ]
        # −x under the opposite label gives the largest possible difference only when both gradients saturate
        worst = max(worst, float(np.linalg.norm(sums[0] - sums[1])))
        assert worst <= delta * (1 + sensitivity_slack(records=n, dtype=dtype))
    assert worst >= 0.5 * delta  # the attack came near enough for the test to mean something


def test_declared_slack_is_below_one_percent() -> None:
    for n in (1, 26_000, 10**6, 10**8, 10**10):
        assert sensitivity_slack(records=n, dtype="float32") < 0.01
    assert sensitivity_slack(records=26_000, dtype="float64") < 2e-6


class Depth:
    """Stands for a sum: how many additions its oldest part has been through."""

    def __init__(self, additions: int = 0) -> None:
        self.additions = additions

    def __add__(self, other):
        return (
            Depth(max(self.additions, other.additions) + 1) if isinstance(other, Depth) else self
        )  # + 0 rounds nothing

    __radd__ = __add__


@pytest.mark.parametrize("n", [1, 2, 3, 64, 100, 1023, 1025])
def test_the_tree_adds_each_part_a_few_times_only(n: int) -> None:
    deepest = sum_pairwise((np.array(Depth(), dtype=object) for _ in range(n)), ())
    assert deepest.additions == math.ceil(math.log2(n))
    values = np.random.default_rng(n).standard_normal((n, 3))
    assert sum_pairwise(values, (3,)) == pytest.approx(values.sum(axis=0), abs=1e-12)
    assert (sum_pairwise([], (3,)) == 0).all()


def test_a_row_that_is_no_number_is_refused() -> None:
    rows = np.array([[0.5], [np.nan], [0.5]], np.float32)  # a table from a damaged file
    with pytest.raises(AssumptionViolated, match="id 1"):
        check_records(Records.from_slots(rows, np.ones(3), [0, 1, 2], None), losses.Logistic(1.0))


def test_assumptions_are_checked() -> None:
    loss = losses.Logistic(1.0)
    with pytest.raises(AssumptionViolated, match=r"id 1 has norm 1\.5 > radius=1"):
        check_records(Records([[1.0, 0], [1.5, 0]], [1, -1]), loss)
    with pytest.raises(InvalidRecords, match="−1 or"):
        check_records(Records([[1.0, 0]], [0]), loss)
    with pytest.raises(InvalidRecords, match=r"0\.\.2"):
        check_records(Records([[1.0, 0]], [3]), losses.Softmax(1.0, 3))
    with pytest.raises(InvalidRecords, match=r"0\.\.2"):
        check_records(Records([[1.0, 0]], [0.5]), losses.Softmax(1.0, 3))


def test_a_table_is_read_for_its_assumptions_again_when_a_row_came_not_when_one_went(monkeypatch) -> None:
    read = []
    monkeypatch.setattr(
        assumptions, "longest_rows", lambda *arguments, run=assumptions.longest_rows: read.append(1) or run(*arguments)
    )
    table, loss = Records([[0.6, 0.8], [1.0, 0], [0, 1.0]], [1, -1, 1]), losses.Logistic(1.0)
    for edit, times in [
        (None, 1),
        (None, 1),
        (EditRequest.delete([0]), 1),
        (EditRequest.replace({1: ([0.0, 0.5], 1)}), 2),
        (None, 2),
    ]:
        if edit is not None:
            table.edit(edit)
        check_records(table, loss)
        assert len(read) == times
    with pytest.raises(AssumptionViolated, match=r"norm 1 > radius=0\.1"):
        check_records(table, losses.Logistic(0.1))  # another assumption
    table.edit(EditRequest.replace({2: ([3.0, 0.0], 1)}))
    with pytest.raises(AssumptionViolated, match="id 2 "):
        check_records(table, loss)
    with pytest.raises(AssumptionViolated, match="id 2 "):
        check_records(table, loss)  # what failed is looked at again
