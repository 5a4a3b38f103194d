"""What the driver accepts as an answer: each partition once, from the rows that were there, and errors as they were."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from noisygd_delete_sources.workers.questions import Answer
from noisygd_delete_sources.workers.table import ClusterRecords

from noisygd_delete import Records, losses
from noisygd_delete.engine import check_records
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.errors import AssumptionViolated, InvalidRecords, SourceError

from .in_process import InProcess, cut, in_partitions


def table(n: int = 50) -> Records:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n, 3))
    return Records(rows / np.linalg.norm(rows, axis=1, keepdims=True) * 0.99, rng.choice([-1.0, 1.0], n))


def gradient_under(change) -> np.ndarray:
    objective = PreciseObjective(in_partitions(table(), 4, change), losses.Logistic(1.0), regularization=0.1)
    return objective.gradient(np.ones((1, 3)))


def test_the_order_in_which_they_answer_changes_no_bit() -> None:
    rng = np.random.default_rng(1)
    found = {
        gradient_under(lambda answers: [answers[k] for k in rng.permutation(len(answers))]).tobytes() for _ in range(10)
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda answers: [*answers, answers[0]], "counted exactly once"),
        (lambda answers: answers[1:], "counted exactly once"),
        (lambda answers: [replace(answers[0], digest=b"other"), *answers[1:]], "its rows are others now"),
    ],
    ids=["a partition answers twice", "one does not", "one was read again and changed"],
)
def test_what_would_count_a_row_twice_or_never_is_refused(change, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        gradient_under(change)


def test_an_error_of_a_worker_is_told_as_it_was() -> None:
    def broken(answers: list[Answer]) -> list[Answer]:
        return [Answer(0, b"", None, ("InvalidRecords", "the worker's own words")), *answers[:-1]]

    with pytest.raises(InvalidRecords, match="the worker's own words"):
        gradient_under(broken)


def test_rows_and_labels_are_checked_where_they_are() -> None:
    loss = losses.Logistic(1.0)
    check_records(in_partitions(table(), 4), loss)
    longer = table()
    longer._features[41] *= 3
    with pytest.raises(AssumptionViolated, match=r"a row of a table has norm 2\.97 > radius=1: L and β"):
        check_records(in_partitions(longer, 4), loss)
    with pytest.raises(AssumptionViolated, match="in the shape of the noise"):
        check_records(in_partitions(table(), 4), loss, variances=np.full(3, 0.25))
    labelled = table()
    labelled._labels[30] = 2.0
    with pytest.raises(InvalidRecords, match="must be −1 or"):
        check_records(in_partitions(labelled, 4), loss)


def test_slots_are_public_and_more_rows_are_refused() -> None:
    parts = cut(table(), 4)
    for slots, said in ((49, "more rows than the 49 slots"), (None, None), (80, None)):
        if said is None:
            held = ClusterRecords(InProcess(parts), address="a table", width=3, slots=slots)
            assert (held.slots, held.rows) == (slots or 50, 50)
        else:
            with pytest.raises(InvalidRecords, match=said):
                ClusterRecords(InProcess(parts), address="a table", width=3, slots=slots)
    with pytest.raises(InvalidRecords, match="no row"):
        ClusterRecords(InProcess([]), address="a table", width=3, slots=None)


def test_more_than_the_driver_can_add_up_is_refused_before_a_pass() -> None:
    cluster = InProcess(cut(table(), 50))
    held = ClusterRecords(cluster, address="a table", width=3, slots=None)
    with pytest.raises(InvalidRecords, match="merge its files"):
        held.sums(losses.Softmax(1.0, classes=10**6))
    assert len(cluster.asked) == 1
