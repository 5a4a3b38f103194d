"""A and Ā in sequence: what is published, what is kept, what is refused."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from noisygd_delete import (
    Budget,
    Curator,
    EditRequest,
    Execution,
    Model,
    Records,
    learn,
    losses,
    make_plan,
    resume,
    unlearn,
)
from noisygd_delete.curator import learning
from noisygd_delete.errors import (
    AssumptionViolated,
    BudgetExceeded,
    InvalidParameter,
    InvalidRecords,
    InvalidRequest,
    NotLearned,
)

from ..bank import plan_by

N, D = 300, 4


def rows_and_labels(seed: int = 0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((N - 20, D))
    labels = np.where(rows @ [2.0, -1.0, 0.5, 0] > 0, 1, -1)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), labels


def plan_for(loss=None, **changes):
    facts = {"records": N, "features": D, "regularization": 0.05, "budget": Budget(order=8, dp=1.0, deletion=0.1)}
    return make_plan(loss or losses.Logistic(1.0), **{**facts, "method": "noisy-gd", **changes})


@pytest.fixture
def curator() -> Curator:
    return Curator(Records(*rows_and_labels(), slots=N), plan_for())


def test_learning_finds_the_direction(curator: Curator) -> None:
    release = curator.learn()
    assert (release.release, release.kind, release.status) == (1, "learn", "published")
    assert release.steps == release.gradient_passes == curator.plan.calibration.learn_steps
    assert release.model.certified
    assert release.model.weights.shape == (D,)
    assert curator.model.accuracy(curator.records) > 0.8
    assert release.guarantees["dp"].renyi(8) <= 1.0


def test_deleting_takes_the_row_and_publishes(curator: Curator) -> None:
    curator.learn()
    before = curator.model.weights
    release = curator.delete([17, 42])
    assert (release.release, release.kind, release.edits, release.steps) == (
        2,
        "unlearn",
        2,
        curator.plan.calibration.delete_steps,
    )
    assert 17 not in curator.records
    assert not curator.records.features[17].any()
    assert (release.model.weights != before).all()
    assert release.guarantee.about == "deletion"
    assert release.guarantee.renyi(8) <= 0.1


def test_nothing_but_records_model_and_public_facts_survives(curator: Curator) -> None:
    """A planted row must not be reachable from the curator once it is erased."""
    rows, labels = rows_and_labels()
    token = np.float32(0.123456789)
    rows[5] = [token, 0, 0, 0]
    kept = Curator(Records(rows, labels, slots=N), plan_for())
    kept.learn()
    kept.delete([5])
    seen, queue = set(), [kept]
    while queue:
        thing = queue.pop()
        if id(thing) in seen or isinstance(thing, type):
            continue
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            assert token not in thing.astype(np.float32)
        queue += [x for x in gc.get_referents(thing) if not callable(x) and "module" not in type(x).__name__]


def test_batched_edits_are_published_once(curator: Curator) -> None:
    curator.learn()
    for name in (1, 2, 3):
        assert curator.serve(EditRequest.delete([name]), publish=False) is None
    assert curator.pending_edits == 3
    assert len(curator.records) == N - 23
    release = curator.publish()
    assert (release.edits, curator.pending_edits, release.release) == (3, 0, 2)


def test_every_record_may_be_deleted(curator: Curator) -> None:
    curator.learn()
    curator.delete(list(range(N - 20)))
    assert len(curator.records) == 0
    assert not curator.records.features.any()


def test_replace_and_insert(curator: Curator) -> None:
    curator.learn()
    assert curator.replace({0: ([0.1, 0.2, 0.3, 0.4], -1)}).edits == 1
    assert curator.insert(None, [[1, 0, 0, 0], [0, 1, 0, 0]], [1, -1]).edits == 2
    assert curator.records.ids[-1] == N - 19


def test_a_spent_budget_withholds_the_publication_never_the_erasure() -> None:
    curator = Curator(Records(*rows_and_labels(), slots=N), plan_for(releases=3))
    curator.learn()
    curator.delete([1])
    curator.delete([2])
    assert curator.accountant.remaining().publications == 0
    with pytest.raises(BudgetExceeded):
        curator.publish()  # nothing pending: no reason to withdraw the model
    assert curator.model is not None
    withheld = curator.delete([3])
    assert (withheld.status, withheld.model, withheld.steps) == ("withheld", None, 0)
    assert (withheld.gradient_passes, withheld.edits, withheld.counts.total) == (0, 1, 1)
    assert 3 not in curator.records
    assert not curator.records.features[3].any()
    with pytest.raises(NotLearned, match="relearn"):
        curator.model
    with pytest.raises(BudgetExceeded, match="3 releases are out"):
        curator.learn()
    fresh = curator.relearn(plan_for(releases=10, budget=Budget(order=8, dp=3.0, deletion=0.1)))
    assert fresh.kind == "relearn"
    assert fresh.guarantees["deletion"].renyi(8) == 0  # it never saw the erased record
    assert fresh.guarantees["dp_cumulative"].renyi(8) > 1.0


def test_a_callers_generator_is_research_and_sticks(curator: Curator) -> None:
    assert not curator.learn(rng=np.random.default_rng(0)).model.certified
    assert not curator.delete([1]).model.certified  # resumed from an uncertified model


def test_pure_functions_agree_and_keep_the_callers_table() -> None:
    records, plan = Records(*rows_and_labels(), slots=N), plan_for()
    model = learn(records, plan, rng=np.random.default_rng(1))
    request = EditRequest.delete([17, 42])
    one = unlearn(records, request, model, plan, rng=np.random.default_rng(2))
    two = resume(records.apply(request), model, plan, rng=np.random.default_rng(2))
    assert (one.weights == two.weights).all()
    assert 17 in records
    assert (learn(records, plan).weights != learn(records, plan).weights).any()  # never the same noise twice


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"records": N + 1}, "slots"),
        ({"features": D + 1}, "features"),
        ({"loss": losses.Logistic(0.5)}, "radius"),
    ],
)
def test_a_plan_for_another_table_is_refused(change, message: str) -> None:
    with pytest.raises(AssumptionViolated, match=message):
        learn(Records(*rows_and_labels(), slots=N), plan_for(**change))


def test_subjects_with_too_many_rows_are_refused() -> None:
    rows, labels = rows_and_labels()
    owners = ["p"] * 3 + [f"s{i}" for i in range(N - 23)]
    with pytest.raises(AssumptionViolated, match="plan for 3, or keep"):
        Curator(Records(rows, labels, subjects=owners, slots=N), plan_for())
    curator = Curator(Records(rows, labels, subjects=owners, slots=N), plan_for(rows_per_subject=3))
    curator.learn()
    assert curator.delete(subjects=["p"]).edits == 3


def test_bad_calls_change_nothing(curator: Curator) -> None:
    with pytest.raises(NotLearned, match="call learn"):
        curator.delete([1])
    with pytest.raises(NotLearned, match="call learn"):
        curator.model
    curator.learn()
    before = curator.records.features.tobytes()
    for call, message in (
        (lambda: curator.delete([10_000]), "not in the table"),
        (lambda: curator.delete([]), "empty"),
        (lambda: curator.replace({1: ([9, 9, 9, 9], 1)}), "radius=1"),
        (lambda: curator.replace({1: ([0.1, 0, 0, 0], 5)}), "labels"),
        (lambda: curator.insert(None, [[2, 0, 0, 0]], [1]), "radius=1"),
    ):
        with pytest.raises((InvalidRequest, ValueError), match=message):
            call()
    assert curator.records.features.tobytes() == before
    assert len(curator.accountant.events) == 1
    with pytest.raises(InvalidParameter, match="weights of shape"):
        resume(curator.records, Model(np.ones(9), curator.plan.problem.loss, True), curator.plan)


def test_a_refused_relearn_leaves_everything_as_it_was(curator: Curator) -> None:
    """All or nothing: neither a plan that does not fit nor one that costs too much stays behind."""
    curator.learn()
    before, model = curator.plan, curator.model
    wider, dear = plan_for(features=D + 1), plan_for(budget=Budget(order=8, dp=0.9, deletion=0.1), releases=2)
    for plan, error in ((wider, AssumptionViolated), (dear, BudgetExceeded)):
        with pytest.raises(error):
            curator.relearn(plan)
        assert (curator.plan, curator.accountant.plan, curator.model) == (before, before, model)
        assert len(curator.accountant.events) == 1
    assert curator.delete([1]).steps == before.calibration.delete_steps


class Endless(np.random.Generator):
    """Noise without end, as a generator of one's own may give."""

    def standard_normal(self, *arguments, **options):
        return np.full(arguments[0] if arguments else options["size"], np.inf)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_weights_that_are_no_numbers_are_never_published() -> None:
    curator = Curator(Records(*rows_and_labels(), slots=N), plan_for(exact=False))
    curator.learn()
    model = curator.model
    with pytest.raises(AssumptionViolated, match="overflow"):
        curator.relearn(rng=Endless(np.random.PCG64(0)))
    assert curator.model is model
    assert len(curator.accountant.events) == 1


@pytest.mark.parametrize("method", ["noisy-gd", "output-perturbation"])
def test_a_device_takes_the_same_steps(method) -> None:
    """Torch's own processor tensors stand in for a device: the same noise, the same model within float32 steps."""
    pytest.importorskip("torch", reason="torch is not installed")
    plan, weights = plan_for(method=method, exact=False), []
    for place in ("cpu", "cpu:0"):
        curator = Curator(Records(*rows_and_labels(), slots=N), plan)
        curator.learn(execution=Execution(device=place, rng=np.random.default_rng(3)))
        curator.delete([5], execution=Execution(device=place, rng=np.random.default_rng(4)))
        weights.append(curator.model.weights)
    assert np.abs(weights[0]).max() > 0.1
    np.testing.assert_allclose(weights[0], weights[1], atol=1e-4)


@pytest.mark.parametrize("label", [1e39, -1e200, 2e6])
@pytest.mark.parametrize("edit", ["insert", "replace"])
def test_no_label_that_comes_in_stops_the_erasures_of_others(edit: str, label: float) -> None:
    rows, targets = np.full((40, 2), 0.3), np.linspace(-1, 1, 40)
    plan = plan_for(losses.PseudoHuber(1.0, 1.0), records=50, features=2)
    curator = Curator(Records(rows, targets, slots=50), plan)
    curator.learn()
    with pytest.raises(InvalidRequest, match="nothing was changed: targets must be"):
        curator.insert([77], rows[:1], [label]) if edit == "insert" else curator.replace({4: (rows[0], label)})
    assert curator.delete([3]).status == "published"
    assert len(curator.records) == 39
    with pytest.raises(InvalidRecords, match="map them to"):
        Curator(Records(rows, [label, *targets[1:]], slots=50), plan)


def test_a_model_without_odds_has_no_probabilities() -> None:
    """Its two scores are of hidden units, and were taken for those of two classes."""
    loss = losses.TanhNetwork(1.0, outer_weights=(1.0, -1.0))
    model = Model(weights=np.ones((2, 3)), loss=loss, certified=False)
    with pytest.raises(InvalidParameter, match="no probabilities"):
        model.probabilities(np.ones((1, 3)))


def test_probabilities_are_those_of_the_loss() -> None:
    """e^z over their sum for several scores, and 1/(1 + e^−z) for one; finite logarithms however far apart the scores are."""
    weights = np.array([[2.0, -1.0], [0.5, 3.0], [-1.0, 0.0]])
    rows = np.array([[0.6, 0.2], [-0.3, 0.9]])
    several = Model(weights=weights, loss=losses.Softmax(1.0, classes=3), certified=False)
    odds = np.exp(rows @ weights.T)
    np.testing.assert_allclose(several.probabilities(rows), odds / odds.sum(axis=1, keepdims=True), rtol=1e-6)
    one = Model(weights=weights[0], loss=losses.Logistic(1.0), certified=False)
    positive = 1 / (1 + np.exp(-rows @ weights[0]))
    np.testing.assert_allclose(one.probabilities(rows), np.stack([1 - positive, positive], axis=1), rtol=1e-6)
    far = Model(weights=1e4 * weights, loss=several.loss, certified=False)
    assert np.isfinite(far.log_probabilities(rows)).all()


@pytest.mark.parametrize("certified", [(True, True), (True, False), (False, True)])
def test_a_ladder_is_certified_if_every_run_of_it_is(certified: tuple[bool, ...], monkeypatch) -> None:
    plan = plan_by("staged")
    parts = [np.full(stage.shape, number + 1.0) for number, stage in enumerate(plan.calibration.stages)]
    runs = [
        learning.Training(Model(part, plan.problem.loss, each), 10 * k, k / 4)
        for k, (part, each) in enumerate(zip(parts, certified, strict=True), 1)
    ]
    monkeypatch.setattr(learning, "_train_stages", lambda *_: (parts, runs))
    made = learning._train_chain(None, plan, None, Execution())
    assert made.model.certified == all(certified)
    assert (made.gradient_passes, made.seconds) == (30, 0.75)
    np.testing.assert_array_equal(made.model.weights, plan.model_loss.join_parts(parts))
