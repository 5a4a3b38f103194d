"""torch modules under composition: clipped per-record gradients, declared constants, horizon, refusals."""

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Records, make_plan
from noisygd_delete.engine.objective import ClippedObjective
from noisygd_delete.errors import AssumptionViolated, InvalidParameter

torch = pytest.importorskip("torch", reason="torch networks need torch")

from noisygd_delete.networks import NetworkLoss  # noqa: E402


def perceptron():
    return torch.nn.Sequential(torch.nn.Linear(5, 6), torch.nn.Tanh(), torch.nn.Linear(6, 3))


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    rows = rng.normal(size=(n, 5)) * 0.3 + np.eye(3, 5)[labels] * 1.5
    return rows / np.linalg.norm(rows, axis=1).max(), labels


def network(**options):
    return NetworkLoss(radius=1.0, classes=3, module=perceptron(), start="zero", init_variance=0.1, curvature=0.5, **options)


def plan_for(loss, n=200, **options):
    budget = options.pop("budget", Budget(order=4, dp=2.0, deletion=2.0))
    return make_plan(
        loss, records=n, features=5, regularization=1e-2, budget=budget,
        method="composition", learn_steps=150, delete_steps=5, **options,
    )  # fmt: skip


@pytest.fixture
def weights():
    return np.random.default_rng(1).normal(size=(1, 57)) * 2


def test_every_record_moves_the_gradient_by_at_most_the_clip(weights):
    rows, labels = table()
    loss = network(clip=0.25)
    inputs, answers = torch.tensor(rows, dtype=torch.float32), torch.tensor(labels)
    clipped = loss.clipped_gradients(weights, inputs, answers).double()
    norms = torch.linalg.vector_norm(clipped, dim=1)
    assert norms.max() <= 0.25
    assert (norms > 0.2499).any()  # and the clip is at work
    raw = network(clip=1e6).clipped_gradients(weights, inputs, answers).double()
    assert torch.linalg.vector_norm(raw, dim=1).max() > 0.25


def smoothed(scores, labels):
    return torch.nn.functional.cross_entropy(scores, labels, label_smoothing=0.2)


def focal(scores, labels):
    likely = torch.log_softmax(scores, 1)[torch.arange(len(labels)), labels]
    return (-((1 - likely.exp()) ** 2) * likely).mean()


@pytest.mark.parametrize("criterion", [torch.nn.functional.cross_entropy, smoothed, focal])
def test_unclipped_gradient_is_autograds(weights, criterion):
    rows, labels = table()
    loss = network(clip=1e6, criterion=criterion)
    objective = ClippedObjective(Records(rows, labels), loss, regularization=0.1)
    parameters = {name: value.clone().requires_grad_() for name, value in loss._parameters(weights).items()}
    scores = torch.func.functional_call(loss.module, parameters, (torch.tensor(rows, dtype=torch.float32),))
    mean = criterion(scores, torch.tensor(labels))
    expected = torch.cat([g.reshape(-1) for g in torch.autograd.grad(mean, list(parameters.values()))]).numpy()
    assert objective.gradient(weights)[0] - 0.1 * weights[0] == pytest.approx(expected, abs=1e-5)
    values = loss.value(loss.scores(weights, rows), labels, np)
    assert values.shape == (200,)
    assert values.mean() == pytest.approx(mean.item(), abs=1e-5)


def test_neighbouring_tables_differ_by_at_most_the_sensitivity(weights):
    rows, labels = table()
    loss = network(clip=0.3)
    records = Records(rows, labels)
    before = ClippedObjective(records, loss, regularization=0.1).gradient(weights)
    from noisygd_delete import EditRequest

    erased = records.apply(EditRequest.delete([11]))
    after = ClippedObjective(erased, loss, regularization=0.1).gradient(weights)
    assert 0 < 200 * np.linalg.norm(before - after) <= 0.3 * (1 + 1e-6)
    # the slot is masked, although the module does not vanish on a zero row
    assert loss.scores(weights, np.zeros((1, 5))).any()


def test_every_row_stays_in_its_block_whatever_slots_are_free(weights):
    rows, labels = table()
    loss = network(clip=0.3, block=16)
    records = Records(rows, labels)
    from noisygd_delete import EditRequest

    fewer = records.apply(EditRequest.delete([37, 38, 90]))
    for slots in (None, np.arange(0, 200, 3)):
        before, after = ([block() for block in loss.block_sums(held)(weights, slots)] for held in (records, fewer))
        order = np.arange(200) if slots is None else slots
        touched = {int(place) // 16 for place in np.flatnonzero(np.isin(order, [37, 38, 90]))}
        assert {k for k, (one, two) in enumerate(zip(before, after, strict=True)) if (one != two).any()} == touched


def test_learns_deletes_and_says_declared():
    rows, labels = table(1500)
    plan = plan_for(network(clip=0.3), n=1500)
    curator = Curator(Records(rows, labels), plan)
    release = curator.learn()
    assert release.model.accuracy(curator.records) > 0.85
    erased = curator.delete([3])
    assert erased.guarantees["deletion"].renyi(4) <= 2.0
    assert not erased.guarantee.proven
    assert any("declared" in text for text in erased.guarantee.assumptions)
    assert plan.mechanism.lipschitz == 0.3
    assert plan.dimension == 57


@pytest.mark.parametrize("method", ["theorem", "sharp"])
def test_only_composition_is_certified(method):
    with pytest.raises(AssumptionViolated, match="composition"):
        make_plan(
            network(), records=200, features=5, regularization=10.0,
            budget=Budget(order=4, dp=2.0, deletion=2.0), method=method,
        )  # fmt: skip


def test_batch_statistics_and_json_are_refused():
    with pytest.raises(AssumptionViolated, match="BatchNorm"):
        NetworkLoss(radius=1.0, classes=3, module=torch.nn.Sequential(torch.nn.Linear(5, 3), torch.nn.BatchNorm1d(3)))
    with pytest.raises(InvalidParameter, match="no parameters"):
        NetworkLoss(radius=1.0, classes=3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_cuda_gives_the_same_gradient(weights):
    rows, labels = table()
    here, there = (
        ClippedObjective(Records(rows, labels), network(clip=0.3, device=device), regularization=0.1)
        for device in ("cpu", "cuda")
    )
    assert there.gradient(weights) == pytest.approx(here.gradient(weights), abs=1e-6)
