"""A torch module as a loss: clipped gradients of records, planted faults of the clip, descriptions, refusals."""

import json
from dataclasses import replace

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, EditRequest, Records, losses, make_plan
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


def network(kind=NetworkLoss, **options):
    usual = {"module": perceptron(), "start": "zero", "init_variance": 0.1, "curvature": 0.5}
    return kind(radius=1.0, classes=3, **{**usual, **options})


def plan_for(loss, n=200, **options):
    budget = options.pop("budget", Budget(order=4, dp=2.0, deletion=2.0))
    return make_plan(
        loss, records=n, features=5, regularization=1e-2, budget=budget,
        method="noisy-gd:analysis=composition", learn_steps=150, delete_steps=5, **options,
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


def influence(loss, weights, slots=None):
    """How far any of some records moves the gradient sum: by deletion, over the whole table."""
    rows, labels = table(40)
    rows[7] *= 20  # far longer gradients than the others
    records = Records(rows / 20, labels)

    def gradient_sum(held):
        return 40 * ClippedObjective(held, loss, regularization=0.1).gradient(weights)

    whole = gradient_sum(records)
    return max(np.linalg.norm(whole - gradient_sum(records.apply(EditRequest.delete([k])))) for k in (7, 11))


class Unclipped(NetworkLoss):
    def clipped_gradients(self, weights, rows, labels):
        return replace(self, clip=1e9)._clipped(weights, rows, labels)

    _clipped = NetworkLoss.clipped_gradients


class MeanClipped(Unclipped):
    """Clips the mean gradient of a block in place of each record's."""

    def clipped_gradients(self, weights, rows, labels):
        raw = super().clipped_gradients(weights, rows, labels)
        return raw * min(1.0, self.clip / raw.mean(dim=0).norm().item())


class LayerClipped(Unclipped):
    """Clips every layer by itself, as if there were no joint norm."""

    def clipped_gradients(self, weights, rows, labels):
        parts = super().clipped_gradients(weights, rows, labels).split([30, 6, 18, 3], dim=1)
        return torch.cat([part * (self.clip / part.norm(dim=1, keepdim=True)).clamp(max=1.0) for part in parts], dim=1)


class Centred(torch.nn.Module):
    """Batch statistics of a user's own: no type of torch gives them away."""

    def forward(self, rows):
        return rows - rows.mean(0) / 2


@pytest.mark.parametrize("module", ["perceptron", "one that mixes the rows of a batch"])
def test_a_record_moves_the_gradient_sum_by_at_most_the_clip(weights, module):
    made = perceptron() if module == "perceptron" else torch.nn.Sequential(Centred(), *perceptron())
    loss = network(clip=0.3, module=made)
    assert 0.29 < influence(loss, weights) <= 0.3 * (1 + 1e-6)
    # the slot is masked, although the module does not vanish on a zero row
    assert loss.scores(weights, np.zeros((1, 5))).any()


@pytest.mark.parametrize("fault", [Unclipped, MeanClipped, LayerClipped])
def test_a_planted_fault_of_the_clip_is_seen(weights, fault):
    assert influence(network(kind=fault, clip=0.3), weights) > 0.3 * 1.1


def test_a_gradient_that_is_not_finite_counts_as_zero(weights):
    def broken(scores, labels):
        return torch.nn.functional.cross_entropy(scores, labels) * torch.where(labels == 1, torch.nan, 1.0).sum()

    rows, labels = table(40)
    sums = network(clip=0.3, criterion=broken).clipped_sum(weights, rows, labels)
    others = network(clip=0.3).clipped_sum(weights, rows[labels != 1], labels[labels != 1])
    assert sums == pytest.approx(others, abs=1e-6)


def test_gradients_of_records_are_opacus(weights):
    """Of a convolution with group norm, which this package knows nothing of."""
    opacus = pytest.importorskip("opacus", reason="the comparison needs opacus")
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.GroupNorm(2, 4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(16, 3)
    )
    rows, labels = torch.randn(12, 16), torch.arange(12) % 3
    loss = NetworkLoss(radius=10.0, classes=3, module=module, input_shape=(1, 4, 4), clip=0.5)
    ours = loss.clipped_gradients(np.zeros(loss.dimension(16)), rows, labels)
    hooked = opacus.GradSampleModule(module, loss_reduction="sum")
    torch.nn.functional.cross_entropy(
        hooked(rows.reshape(-1, 1, 4, 4).requires_grad_()), labels, reduction="sum"
    ).backward()
    theirs = torch.cat([parameter.grad_sample.flatten(1) for parameter in hooked.parameters()], dim=1)
    theirs *= (0.5 / theirs.norm(dim=1, keepdim=True)).clamp(max=1.0)
    assert ours.numpy() == pytest.approx(theirs.numpy(), abs=2e-5)


def test_learning_starts_at_the_modules_own_parameters():
    module = perceptron()
    loss = NetworkLoss(radius=1.0, classes=3, module=module)
    rows, _ = table(20)
    with torch.no_grad():
        expected = module(torch.tensor(rows, dtype=torch.float32)).numpy()
        module[0].weight.zero_()  # the caller's module is another one
    assert loss.scores(np.zeros((1, 57)), rows) == pytest.approx(expected, abs=1e-6)
    plan = plan_for(loss)
    assert plan.calibration.init_variance == 0.0
    loaded = loss.load_module(np.full((1, 57), 0.1))
    assert loaded[2].bias.detach().numpy() == pytest.approx(loss.module[2].bias.detach().numpy() + 0.1)


def test_a_frozen_parameter_is_no_weight():
    module = perceptron()
    module[0].requires_grad_(False)
    loss = NetworkLoss(radius=1.0, classes=3, module=module)
    assert loss.dimension(5) == 21
    moved = loss.load_module(np.ones((1, 21)))
    assert torch.equal(moved[0].weight, module[0].weight)
    assert not torch.equal(moved[2].weight, module[2].weight)


def test_losses_are_equal_where_they_train_the_same():
    one = perceptron()
    loss = NetworkLoss(radius=1.0, classes=3, module=one)
    assert loss == replace(loss)
    assert loss != replace(loss, clip=2.0)
    assert loss != NetworkLoss(radius=1.0, classes=3, module=perceptron())  # other parameters
    assert network() == network()


def test_a_described_network_is_built_again():
    module = torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, 6, 6)),
        torch.nn.Conv2d(1, 4, 3, stride=2, padding=1, bias=False),
        torch.nn.GroupNorm(2, 4),
        torch.nn.Tanh(),
        torch.nn.MaxPool2d(3),
        torch.nn.Flatten(),
        torch.nn.Linear(4, 2),
    )
    loss = NetworkLoss(radius=1.0, classes=2, module=module, start="zero", init_variance=0.1)
    again = losses.from_dict(json.loads(json.dumps(loss.to_dict())))
    assert again == loss
    weights, rows = (
        np.random.default_rng(0).normal(size=(1, loss.dimension(36))),
        np.random.default_rng(1).random((3, 36)),
    )
    assert again.scores(weights, rows) == pytest.approx(loss.scores(weights, rows), abs=1e-6)


@pytest.mark.parametrize(
    "described",
    [
        [["Linear", {"in_features": 10**6, "out_features": 10**6, "bias": True}]],  # more than memory holds
        [["Linear", {"in_features": 5}]],
        [["Linear", {"in_features": "5", "out_features": 2, "bias": True}]],
        [["Module", {}]],
        [["__class__", {}]],
        [],
        {"Linear": {}},
    ],
)
def test_another_description_is_refused(described):
    with pytest.raises(InvalidParameter):
        losses.from_dict({**network().to_dict(), "module": described})


class Doubled(torch.nn.Linear):
    def forward(self, rows):
        return 2 * super().forward(rows)


@pytest.mark.parametrize(
    "options",
    [
        {"start": "module"},
        {"criterion": lambda scores, labels: scores.sum()},
        {"module": torch.nn.Sequential(Doubled(5, 3))},
        {"module": torch.nn.Sequential(torch.nn.Conv1d(1, 3, 5, padding_mode="circular"))},
        {"module": torch.nn.Linear(5, 3)},
    ],
)
def test_what_a_file_would_not_hold_is_not_written(options):
    with pytest.raises(InvalidParameter):
        network(**options).to_dict()


def test_every_row_stays_in_its_block_whatever_slots_are_free(weights):
    rows, labels = table()
    loss = network(clip=0.3, block=16)
    records = Records(rows, labels)
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
    assert plan.problem.dimension == 57


@pytest.mark.parametrize("method", ["noisy-gd:analysis=paper", "noisy-gd"])
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
