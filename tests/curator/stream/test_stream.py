"""Algorithm 1: order, batching, what the requester sees, and the guarantee that follows from it."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, EditRequest, Records, losses, make_plan
from noisygd_delete.curator.stream import Adaptive, Batching, NonAdaptive, Stream, interact
from noisygd_delete.errors import InvalidParameter
from tests.bank import unit_rows

N, WIDTH = 40, 3


def table(seed: int = 0) -> Records:
    return Records(unit_rows(N, WIDTH, seed), np.where(np.random.default_rng(seed).random(N) < 0.5, -1, 1))


def learned(releases: int = 1, dp: float = 1.0) -> Curator:
    facts = {"records": N, "features": WIDTH, "regularization": 0.1, "budget": Budget.from_gdp(dp=dp, deletion=0.1)}
    plan = make_plan(losses.Logistic(radius=1.0), **facts, method="noisy-gd", releases=releases)
    curator = Curator(table(), plan)
    curator.learn(np.random.default_rng(1))
    return curator


def deletions(count: int) -> list[EditRequest]:
    return [EditRequest.delete([i], request_id=f"token-{i}") for i in range(count)]


def test_rows_go_at_once_and_models_in_batches() -> None:
    curator = learned()
    stream = Stream(curator, Batching(size=3), rng=np.random.default_rng(2))
    model = curator.model
    for request in deletions(2):
        stream.push(request)
    assert 0 not in curator.records
    assert 1 not in curator.records
    assert not curator.records.features[:2].any()
    assert curator.model is model
    stream.push(EditRequest.delete([2]))
    assert curator.model is not model
    stream.push(EditRequest.delete([3]))
    stream.flush()
    summary = stream.summary()
    assert [entry.requests for entry in summary.publications] == [3, 1]
    assert [entry.edits for entry in summary.publications] == [3, 1]
    assert summary.served == 4
    assert summary.steps == 2 * curator.plan.calibration.delete_steps
    assert summary.gradient_evaluations_per_request == N * summary.steps / 4
    stream.flush()
    assert len(stream.summary().publications) == 2  # nothing waits: nothing is published


def test_a_repeated_request_is_refused_and_costs_nothing() -> None:
    curator = learned()
    stream = Stream(curator, Batching(size=2), rng=np.random.default_rng(2))
    first = EditRequest.delete([0], request_id="a")
    stream.push(first)
    stream.push(first)  # still waiting for its release
    stream.push(EditRequest.delete([1], request_id="b"))
    stream.push(first)  # answered
    summary = stream.summary()
    assert (summary.served, summary.repeated, len(summary.refused)) == (2, 0, 2)
    assert len(summary.publications) == 1
    stream.publish()  # the forced redo is charged
    assert len(curator.accountant.events) == 3


def test_a_requester_sees_what_it_declared_and_nothing_else() -> None:
    shown: list[list[int]] = []

    def watcher(requests: list[EditRequest]):
        waiting = iter(requests)

        def choose(seen):
            shown.append(sorted(seen))
            return next(waiting, None)

        return choose

    interact(learned(), Adaptive(watcher(deletions(4)), observable=(1, 3)), rng=np.random.default_rng(2))
    assert shown == [[1], [1], [1, 3], [1, 3], [1, 3]]
    shown.clear()
    interact(learned(), Adaptive(watcher(deletions(3))), Batching(size=2), rng=np.random.default_rng(2))
    assert shown == [[1], [1], [1, 2], [1, 2]]


@pytest.mark.parametrize(("observable", "shown"), [((), []), ((1,), [1]), ((2, 4), [2, 4]), (None, [1, 2, 3, 4, 5])])
def test_the_adaptive_bound_is_the_exact_joint_gaussian_one(observable, shown) -> None:
    """Oracle: on the linear loss the joint law of the observed releases is Gaussian; its μ by recursion."""
    curator = learned()
    requests = iter(deletions(4))
    summary = interact(
        curator, Adaptive(lambda seen: next(requests, None), observable=observable), rng=np.random.default_rng(2)
    )
    assert summary.adaptivity == len(shown)
    plan = curator.plan
    contraction = 1 - plan.calibration.step_size * plan.problem.regularization
    shift, noise = (
        plan.calibration.step_size / N,
        2 * plan.calibration.step_size * plan.calibration.noise_variance,
    )  # Definition 4.1: Δ = L = 1

    def joint(erased_at: int, seen: set[int]) -> float:
        total = mean = variance = 0.0
        for number in range(1, 6):
            for _ in range(plan.calibration.learn_steps if number == 1 else plan.calibration.delete_steps):
                mean = contraction * mean + (shift if number < erased_at else 0)
                variance = contraction**2 * variance + noise
            if number in seen:
                total += mean**2 / variance
                mean = variance = 0.0
        return math.sqrt(total)

    seen = {number for number in shown if number < 5} | {5}
    assert summary.erased.gdp == pytest.approx(joint(5, seen), rel=1e-3)  # and the roundings
    assert summary.everything.gdp == pytest.approx(joint(5, {1, 2, 3, 4, 5}), rel=1e-3)
    assert summary.present.adjacency == "replace"
    assert summary.erased.advantage == pytest.approx(2 * NormalDist().cdf(summary.erased.gdp / 2) - 1, rel=1e-9)
    # no earlier erasure of the stream costs more than the one reported
    for erased_at in range(2, 6):
        earlier = {number for number in shown if number < erased_at} | set(range(erased_at, 6))
        assert joint(erased_at, earlier) <= summary.erased.gdp * (1 + 1e-9)


def test_the_budget_sets_the_batches_and_withholds_beyond_them() -> None:
    curator = learned(releases=4, dp=2.0)
    batching = Batching.within_budget(curator.accountant, edits=10)
    assert batching.size == 4  # three publications are left for ten edits
    summary = interact(curator, NonAdaptive(deletions(10)), batching, rng=np.random.default_rng(2))
    assert [entry.edits for entry in summary.publications] == [4, 4, 2]
    assert not summary.withheld
    assert summary.present.gdp <= 2.0
    with pytest.raises(InvalidParameter, match="no publication is left"):
        Batching.within_budget(curator.accountant, edits=1)
    spent = interact(curator, NonAdaptive([EditRequest.delete([20]), EditRequest.delete([21])]))
    assert spent.withheld
    assert spent.accuracy is None
    assert 21 not in curator.records  # a valid erasure is carried out all the same
    assert len(spent.publications) == 1
    assert spent.steps == 0


def test_accuracy_on_a_public_holdout() -> None:
    curator = learned()
    summary = interact(curator, NonAdaptive(deletions(1)), holdout=table(seed=5), rng=np.random.default_rng(2))
    assert summary.accuracy == curator.model.accuracy(table(seed=5))
    assert set(summary.to_dict()) >= {"served", "guarantees", "publications", "gradient_evaluations_per_request"}


def test_a_batching_that_never_publishes_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="nothing is ever published"):
        Batching(size=None)
    with pytest.raises(InvalidParameter, match="size"):
        Batching(size=0)
    with pytest.raises(InvalidParameter, match="deadline"):
        Batching(deadline=math.nan)


def test_whose_erasure_waits_is_told_of_every_model_that_was_published() -> None:
    """Planted: the figure of the last erasure that was published, which the models since then are not in."""
    curator = learned()
    stream = Stream(curator, Batching(size=2), rng=np.random.default_rng(2))
    for request in deletions(3):
        stream.push(request)
    assert curator.pending_edits == 1
    waiting, kept = stream.summary(), curator.accountant.dp_cumulative(adjacency="zero-out")
    assert waiting.everything.gdp >= kept.gdp > curator.accountant.deletion(1, 2).gdp
    stream.flush()
    assert stream.summary().everything == waiting.everything


def test_the_batching_of_a_plan_and_of_what_is_left_of_its_budget() -> None:
    shared, alone = learned(releases=8, dp=1.0), learned()
    assert Batching.from_plan(alone.plan) == Batching(size=1)
    assert Batching.from_plan(alone.plan, deadline=9.0) == Batching(size=None, deadline=9.0)
    for deadline in (None, 9.0):
        assert Batching.from_plan(shared.plan, deadline=deadline) == Batching(
            size=shared.plan.problem.batch, deadline=deadline
        )
    left = shared.accountant.remaining().publications
    assert left == 7
    for edits in range(1, 40):
        size = Batching.within_budget(shared.accountant, edits=edits).size
        assert size * left >= edits > (size - 1) * left
    for period, deadline, expected in (
        (70.0, None, 10.0),
        (70.0, 4.0, 4.0),
        (70.0, 40.0, 10.0),
        (None, 4.0, 4.0),
        (None, None, None),
    ):
        facts = {"edits": 14, "period": period, "deadline": deadline}
        assert Batching.within_budget(shared.accountant, **facts) == Batching(size=2, deadline=expected)
        assert Batching.within_budget(alone.accountant, **facts) == Batching(size=1, deadline=deadline)
    for _ in range(left):
        shared.accountant.record(shared.accountant.planned_event())
    with pytest.raises(InvalidParameter, match="no publication is left"):
        Batching.within_budget(shared.accountant, edits=1)
