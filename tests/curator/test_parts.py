"""Small parts of learner and curator, each against its definition."""

from __future__ import annotations

import copy
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from noisygd_delete import Curator, EditRequest, Execution, Model, Records, losses
from noisygd_delete.accountant import Statuses
from noisygd_delete.curator import learning, model, noisy_descent
from noisygd_delete.curator.release import Release, _refusal_message, make_release
from noisygd_delete.methods.procedure import Sampling
from noisygd_delete.records import CodedRows, EditCounts
from tests.store.conftest import name, plan, records
from tests.store.test_coded import CODEC, codes


def coded_rows(count: int) -> CodedRows:
    return CodedRows(np.stack([codes(k) for k in range(count)]).reshape(count, -1), CODEC)


@pytest.mark.parametrize(
    "loss",
    [losses.Logistic(1.0), losses.Softmax(1.0, classes=3), losses.MultilayerPerceptron(1.0, classes=3, hidden=4)],
)
@pytest.mark.parametrize("size", [1, 3, 64])
def test_scores_of_coded_and_sparse_rows_are_those_of_the_rows(
    loss: losses.Loss, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks of any size, with a block that is not full."""
    given = coded_rows(7)
    dense = np.asarray(given[:], np.float64)
    monkeypatch.setattr(model, "_ROWS", size)
    monkeypatch.setattr(model, "_NUMBERS", size * dense.shape[1])
    weights = np.random.default_rng(0).normal(size=loss.shape(dense.shape[1]))
    made = Model(weights[0] if loss.outputs == 1 else weights, loss, certified=True)
    expected = np.asarray(loss.scores(np.atleast_2d(weights), dense))
    for rows in (dense, given, csr_array(dense)):
        np.testing.assert_allclose(made.scores(rows), expected, rtol=1e-6, atol=1e-9)
        assert (made.predict(rows) == made.predict(dense)).all()
    assert made.scores(given.select(slice(0, 0))).shape == (0, loss.outputs)
    labels = np.where(np.arange(7) % 2, 1.0, -1.0) if loss.label_kind == "binary" else np.arange(7) % 3.0
    held = Records(dense, labels, [f"i{k}" for k in range(7)], slots=9)
    held.edit(EditRequest.delete(["i2"]))
    left = np.arange(7) != 2
    share = (made.predict(dense) == labels)[left].mean()
    sparse = Records(csr_array(dense), labels, [f"i{k}" for k in range(7)], slots=9)
    sparse.edit(EditRequest.delete(["i2"]))
    assert made.accuracy(held) == made.accuracy(held.as_codes(CODEC)) == made.accuracy(sparse) == share


@pytest.mark.parametrize(
    ("now", "lasts", "slept", "warned"),
    [(3.0, 5.0, 2.0, False), (5.0, 5.0, 0.0, False), (6.5, 5.0, 0.0, True), (6.5, 0.0, 0.0, False)],
)
def test_a_run_lasts_as_long_as_it_was_to_last(
    now: float, lasts: float, slept: float, warned: bool, monkeypatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(learning, "time", SimpleNamespace(perf_counter=lambda: now, sleep=waited.append))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        learning._wait_until(5.0, Execution(lasts=lasts))
    assert waited == [slept]
    assert [("6.5 seconds" in str(one.message)) for one in told] == [True] * warned


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5, 1.0])
def test_steps_on_samples_are_counted_as_passes(rate: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step draws a sample of the slots at the rate; so many passes are told as would read as many rows, each once."""
    told, drawn, asked = [], [], []
    objective = SimpleNamespace(gradient_on=lambda weights, sample, at: drawn.append((sample, at)) or weights)

    def run(start, gradient, *, steps, progress, **facts):
        asked.append((steps, facts))
        for step in range(1, steps + 1):
            start = gradient(start)
            progress(step)
        return start

    monkeypatch.setattr(noisy_descent, "run_noisy_steps", run)
    monkeypatch.setattr(noisy_descent, "poisson", lambda slots, noise, rate: (slots, noise, rate))
    facts = {"noise": "noise", "progress": told.append, "steps": 99, "step_size": 0.1}
    assert noisy_descent._on_samples(np.ones(2), objective, 40, Sampling(rate, 20), facts).tolist() == [1, 1]
    assert drawn == [((40, "noise", rate), rate)] * 20
    assert asked == [(20, {"noise": "noise", "step_size": 0.1})]
    assert told == list(range(1, round(rate * 20) + 1))
    monkeypatch.setattr(noisy_descent, "run_noisy_steps", lambda start, gradient, *, progress, **facts: progress)
    assert noisy_descent._on_samples(None, objective, 40, Sampling(rate, 20), {**facts, "progress": None}) is None


def test_later_stages_count_on() -> None:
    told: list[int] = []
    counted = learning._continue_progress(Execution(progress=told.append), 7)
    counted.progress(1)
    counted.progress(5)
    assert told == [8, 12]
    silent = Execution()
    assert learning._continue_progress(silent, 7) is silent


def release(**facts: object) -> Release:
    usual = {
        "release": 2,
        "kind": "unlearn",
        "steps": 3,
        "gradient_passes": 1,
        "edits": 0,
        "guarantees": {},
        "model": None,
    }
    return Release(**{**usual, **facts})


def test_a_release_says_what_it_is() -> None:
    assert [release(kind=kind, edits=edits, counts=counts).label for kind, edits, counts in (
        ("learn", 0, EditCounts()), ("unlearn", 1, EditCounts(deleted=1)), ("unlearn", 1, EditCounts(inserted=1)), ("unlearn", 0, EditCounts()), ("relearn", 1, EditCounts(deleted=1)),
    )] == ["learn", "unlearn", "resume", "resume", "relearn"]  # fmt: skip
    assert release(edits=3, counts=EditCounts(deleted=1)).counts == EditCounts(deleted=1, unrecorded=2)
    figures = {"dp": "alone", "dp_cumulative": "all", "deletion": "erased"}
    some = {name: figure for name, figure in figures.items() if name != "deletion"}
    assert release(guarantees=figures, model="model").guarantee == "erased"
    assert (release(guarantees=some, model="model").guarantee, release(guarantees=some).guarantee) == ("alone", "all")
    told = release(status="withheld", requested=EditCounts(deleted=1), remaining=0, request_id="r").to_dict()
    assert (told["status"], told["certified"], told["requested"]["deleted"], told["remaining"], told["request_id"]) == (
        Statuses.WITHHELD,
        None,
        1,
        0,
        "r",
    )
    assert (
        release().to_dict()["requested"],
        release(model=SimpleNamespace(certified=False)).to_dict()["certified"],
    ) == (None, False)


def test_a_refusal_counts_what_is_out_and_names_the_budget() -> None:
    of_total = [SimpleNamespace(problem=SimpleNamespace(total=total)) for total in (None, 2.0)]
    for releases, words in ((1, "1 release is out"), (2, "2 releases are out")):
        for made_by, larger in ((None, "dp budget"), (of_total[0], "dp budget"), (of_total[1], "total")):
            left = SimpleNamespace(allowed="ε = 1")
            said = _refusal_message(SimpleNamespace(remaining=lambda left=left: left, plan=made_by, releases=releases))
            assert words in said
            assert f"a larger {larger}, and" in said


def test_a_curator_without_carried_noise_is_copied_as_any_object() -> None:
    curator = Curator(records(), plan())
    curator.learn()
    other = copy.deepcopy(curator)
    other.delete([name(1)])
    assert (name(1) in curator.records, name(1) in other.records) == (True, False)
    assert (curator.accountant.releases, other.accountant.releases) == (1, 2)
    restored = Curator.restore(
        curator.records, curator.plan, accountant=curator.accountant, model=curator.model, pending_edits=2
    )
    assert (restored.model, restored.pending_edits, restored.accountant.releases) == (curator.model, 2, 1)
    made, event = make_release(restored.records, restored._task(), Execution())
    assert event is not None
    assert (made.edits, event.counts) == (2, EditCounts(unrecorded=2))
