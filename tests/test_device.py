"""Runs on a device: the same steps as on the processor, noise from the same generator. Without CUDA the same code runs on
torch's processor tensors; only the graph itself needs a device."""

from __future__ import annotations

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Records, losses, make_plan
from noisygd_delete.distributed import Group, joined
from noisygd_delete.errors import AssumptionViolated, InvalidParameter
from noisygd_delete.gradient import BLOCK, Objective, device, sensitivity_slack
from noisygd_delete.gradient.device import DeviceObjective, on
from noisygd_delete.noise import ResearchNoise
from noisygd_delete.noisygd import run, run_in_blocks

torch = pytest.importorskip("torch", reason="a device needs torch")
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
PLACES = ["cpu", pytest.param("cuda", marks=needs_cuda)]
LOSSES = [
    losses.Logistic(1.0),
    losses.Softmax(1.0, 3),
    losses.PseudoHuber(1.0),
    losses.clip(losses.Logistic(1.0), 0.4),
    losses.TanhNetwork(1.0, (1.0, -0.5)),
]


def table(loss: losses.Loss, n: int = 3 * BLOCK + 17, d: int = 6) -> Records:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((n, d))
    labels = rng.integers(0, 3, n) if loss.label_kind == "class" else rng.choice([-1.0, 1.0], n)
    return Records(rows / (np.linalg.norm(rows, axis=1, keepdims=True) * 1.000001), labels, slots=n + 5)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_run_on_a_device_is_a_run(loss: losses.Loss, dtype: str, place: str) -> None:
    records, steps = table(loss), 2 * device.STEPS + 3
    facts = {"regularization": 0.05, "dtype": dtype}
    scale = {"step_size": 0.4, "noise_variance": 1e-4, "steps": steps}
    host, there = Objective(records, loss, **facts), DeviceObjective(records, loss, device=place, **facts)
    start, told = np.ones(host.shape), []
    one = run(start, host.gradient, noise=ResearchNoise(np.random.default_rng(3)), **scale)
    noise = ResearchNoise(np.random.default_rng(3))
    two = run_in_blocks(start, there.descend, noise=noise, block=device.STEPS, progress=told.append, **scale)
    assert np.abs(one - two).max() < (1e-5 if dtype == "float32" else 1e-11)
    assert told == [device.STEPS, 2 * device.STEPS, steps]
    assert (start == 1).all()


@pytest.mark.parametrize("place", PLACES)
def test_sensitivity_on_a_device_stays_within_the_declared_slack(place: str) -> None:
    loss, rng = losses.Logistic(1.0), np.random.default_rng(4)
    n, d, worst = 900, 4, 0.0
    for _ in range(10):
        rows = rng.standard_normal((n, d))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True) * 1.000001
        weights = rng.standard_normal((1, d)) * 30
        slot = int(rng.integers(n))
        rows[slot] = np.eye(d)[0]
        labels = rng.choice([-1.0, 1.0], n)
        labels[slot] = -np.sign(weights[0, 0])
        other = rows.copy()
        other[slot] = 0

        def total(r: np.ndarray, labels=labels, weights=weights) -> np.ndarray:
            there = DeviceObjective(Records(r, labels), loss, regularization=0.0, device=place)
            return there._gradient(torch.tensor(weights, device=place)).cpu().numpy() * n

        worst = max(worst, float(np.linalg.norm(total(rows) - total(other))))
    assert 0.9 < worst <= 1 + sensitivity_slack(records=n, dtype="float32")


@needs_cuda
def test_a_curator_learns_and_deletes_on_cuda() -> None:
    loss = losses.Logistic(1.0)
    budget = Budget.from_gdp(dp=0.5, deletion=0.1)
    records = table(loss)
    plan = make_plan(loss, records=records.slots, features=6, regularization=0.05, budget=budget, certificate="sharp")
    models = []
    for place in ("cpu", "cuda"):
        with on(place):
            curator, rng = Curator(records.copy(), plan), np.random.default_rng(1)
            curator.learn(rng=rng)
            models.append(curator.delete([3], rng=rng).model.weights)
    assert np.abs(models[0] - models[1]).max() < 1e-4


def test_the_device_is_chosen_by_the_caller_or_the_environment(monkeypatch) -> None:
    assert device.current() == "cpu"
    monkeypatch.setenv("NOISYGD_DELETE_DEVICE", "cuda:1")
    assert device.current() == "cuda:1"
    with on("cpu"):
        assert device.current() == "cpu"


def test_a_curator_takes_the_device_without_another_call(monkeypatch) -> None:
    """The engine is asked for by name alone; "cpu:0" is torch's name for the processor."""
    loss, seen = losses.Logistic(1.0), []
    records = table(loss)
    budget = Budget.from_gdp(dp=0.5, deletion=0.1)
    plan = make_plan(loss, records=records.slots, features=6, regularization=0.05, budget=budget, certificate="sharp")
    descend = DeviceObjective.descend
    monkeypatch.setattr(DeviceObjective, "descend", lambda self, *a, **k: seen.append(1) or descend(self, *a, **k))
    models = []
    for place in ("cpu", "cpu:0"):
        with on(place):
            curator, rng = Curator(records.copy(), plan), np.random.default_rng(1)
            curator.learn(rng=rng)
            models.append(curator.delete([3], rng=rng).model.weights)
    assert len(seen) == 2
    assert np.abs(models[0] - models[1]).max() < 1e-4


def test_what_would_break_the_slack_is_refused() -> None:
    loss = losses.Logistic(1.0)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        with pytest.raises(AssumptionViolated, match="highest"):
            DeviceObjective(table(loss), loss, regularization=0.1, device="cpu")
    finally:
        torch.set_float32_matmul_precision(before)

    class Two(Group):
        size = 2

    with joined(Two()), pytest.raises(InvalidParameter, match="several processes"):
        DeviceObjective(table(loss), loss, regularization=0.1, device="cpu")
