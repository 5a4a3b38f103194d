"""Full-batch gradients: right, in any dtype, and with the sensitivity that the certificate declares."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noisygd_delete import EditRequest, Records, losses
from noisygd_delete.bounds.arithmetic import sensitivity_slack
from noisygd_delete.engine import check_records
from noisygd_delete.engine import sums as assumptions
from noisygd_delete.engine.kernel import sum_pairwise
from noisygd_delete.errors import AssumptionViolated, InvalidRecords


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
