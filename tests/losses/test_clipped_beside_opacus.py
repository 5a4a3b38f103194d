"""One step of a network's stage on samples, beside Opacus on the same network: clipped sum, noise, charge."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noisygd_delete import Records, losses
from noisygd_delete.engine.objective import ClippedObjective
from noisygd_delete.methods.sampled_steps import SampledSteps

opacus = pytest.importorskip("opacus", reason="the comparison needs opacus")
torch = pytest.importorskip("torch")

FEATURES, HIDDEN, RECORDS, RATE = 5, 7, 64, 0.25


def table(classes: int) -> Records:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(RECORDS, FEATURES)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) * (1 + 2.0**-20)
    chosen = rng.integers(0, classes, RECORDS).astype(float)
    return Records(rows, chosen if classes > 2 else 2 * chosen - 1)


def opacus_sum(records: Records, slots: np.ndarray, weights: np.ndarray, classes: int, clip: float) -> np.ndarray:
    """Σ of the clipped gradients as Opacus' optimiser has them before it adds noise: per-sample gradients by its hooks, float64."""
    outputs = 1 if classes == 2 else classes
    network = torch.nn.Sequential(
        torch.nn.Linear(FEATURES, HIDDEN, bias=False), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, outputs, bias=False)
    ).double()
    inner = HIDDEN * FEATURES
    with torch.no_grad():
        network[0].weight.copy_(torch.from_numpy(weights[0, :inner].reshape(HIDDEN, FEATURES)))
        network[2].weight.copy_(torch.from_numpy(weights[0, inner:].reshape(outputs, HIDDEN)))
    hooked = opacus.GradSampleModule(network, loss_reduction="sum")
    optimizer = opacus.optimizers.DPOptimizer(
        torch.optim.SGD(hooked.parameters(), lr=1.0), noise_multiplier=0.0, max_grad_norm=clip, expected_batch_size=1
    )
    scores = hooked(torch.from_numpy(records.features[slots].astype(float)).requires_grad_())
    labels = torch.from_numpy(records.labels[slots].astype(float))
    if classes == 2:
        loss = torch.nn.functional.softplus(-labels * scores[:, 0]).sum()
    else:
        loss = torch.nn.functional.cross_entropy(scores, labels.long(), reduction="sum")
    loss.backward()
    optimizer.clip_and_accumulate()
    return np.concatenate([parameter.summed_grad.numpy().ravel() for parameter in hooked.parameters()])


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("clip", [0.05, 0.3, 50.0], ids=["every record clipped", "some", "none"])
def test_the_clipped_sum_is_opacus(classes, clip):
    loss, records = losses.MultilayerPerceptron(radius=1.0, classes=classes, hidden=HIDDEN, clip=clip), table(classes)
    rng = np.random.default_rng(1)
    weights, slots = rng.normal(size=loss.shape(FEATURES)), np.flatnonzero(rng.random(RECORDS) < RATE)
    ours = ClippedObjective(records, loss, regularization=0.0).gradient_on(weights, slots, RATE)
    theirs = opacus_sum(records, slots, weights, classes, clip)
    assert ours[0] * RATE * RECORDS == pytest.approx(theirs, rel=5e-5, abs=1e-6)  # Opacus divides by norm + 1e-6
    # planted fault: the two layers clipped each by itself, as if there were no joint norm
    inner = HIDDEN * FEATURES
    each = [opacus_layers(records, slots, weights, classes, clip, part) for part in (slice(inner), slice(inner, None))]
    assert np.allclose(np.concatenate(each), theirs, rtol=1e-3) == (clip == 50.0)


def opacus_layers(records, slots, weights, classes, clip, part):
    """One layer's share where only that layer is clipped, from the sums of single records."""
    alone = [opacus_sum(records, slots[i : i + 1], weights, classes, 1e9)[part] for i in range(len(slots))]
    return sum(row * min(1.0, clip / np.linalg.norm(row)) for row in alone)


def test_noise_and_charge_are_opacus():
    """A stage's step adds η z C/(p n) of noise, as Opacus with expected_batch_size = p n; the charge is its accountant's."""
    from opacus.accountants.analysis.rdp import compute_rdp

    from noisygd_delete import Budget, make_plan
    from noisygd_delete.methods import Stage, Staged

    loss = losses.MultilayerPerceptron(radius=1.0, hidden=HIDDEN, clip=0.3)
    plan = make_plan(
        loss, records=RECORDS, features=FEATURES, regularization=0.01, budget=Budget(order=10, dp=1.0, deletion=0.1),
        adjacency="zero-out", method=Staged((Stage("network", 6), Stage("network", 40, 0.5, sampling_rate=RATE))),
    )  # fmt: skip
    stage = plan.calibration.stages[1]
    run = stage.mechanism
    assert isinstance(run, SampledSteps)
    deviation = math.sqrt(2 * stage.calibration.step_size * stage.calibration.noise_variance)
    layer = torch.nn.Linear(200, 200, bias=False)
    optimizer = opacus.optimizers.DPOptimizer(
        torch.optim.SGD(layer.parameters(), lr=stage.calibration.step_size), noise_multiplier=run.noise_multiplier, max_grad_norm=loss.clip,
        expected_batch_size=int(RATE * RECORDS), generator=torch.Generator().manual_seed(0),
    )  # fmt: skip
    before = layer.weight.detach().clone()
    layer.weight.grad_sample, layer.weight.grad = torch.zeros(1, 200, 200), torch.zeros(200, 200)
    optimizer.step()
    drawn = float((layer.weight.detach() - before).std())
    assert drawn == pytest.approx(deviation, rel=0.02)  # 40,000 draws: four standard errors
    for order in (2, 10, 32):
        theirs = compute_rdp(q=RATE, noise_multiplier=run.noise_multiplier, steps=40, orders=float(order))
        stated = run.interval("dp", "zero-out", steps_with=run.exposure(run.passes)).renyi(order)
        assert stated == pytest.approx(float(theirs), rel=1e-6)
