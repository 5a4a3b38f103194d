"""Runs on a device: the same steps as on the processor, noise from the same generator.

Without CUDA the same code runs on torch's processor tensors; only graphs, streams and NCCL themselves need a device.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Execution, Records, losses
from noisygd_delete.bounds.arithmetic import BLOCK, sensitivity_slack
from noisygd_delete.engine import Objective, device
from noisygd_delete.engine.device import DeviceObjective
from noisygd_delete.engine.execution import ALONE, Group
from noisygd_delete.engine.noise import ResearchNoise
from noisygd_delete.engine.noisygd import run_in_blocks, run_noisy_steps
from noisygd_delete.errors import AssumptionViolated, InvalidParameter
from tests.bank import sized_plan, unit_rows

torch = pytest.importorskip("torch", reason="a device needs torch")
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
LOSSES = [
    losses.Logistic(1.0),
    losses.Sigmoid(1.0),
    losses.PseudoHuber(1.0, 0.5),
    losses.Linear(1.0),
    losses.clip_loss(losses.Logistic(1.0), 0.4),
    losses.Softmax(1.0, 3),
    losses.TanhNetwork(1.0, (1.0, -0.5)),
]


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=needs_cuda)])
def place(request: pytest.FixtureRequest) -> str:
    """A device: torch's processor tensors, or CUDA."""
    return request.param


def table(loss: losses.Loss, n: int = 3 * BLOCK + 17, d: int = 6) -> Records:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, n) if loss.label_kind == "class" else rng.choice([-1.0, 1.0], n)
    return Records(unit_rows(n, d), labels, slots=n + 5)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_run_on_a_device_is_a_run(loss: losses.Loss, dtype: str, place: str, monkeypatch) -> None:
    if place == "cpu":
        monkeypatch.setattr(device, "STEPS", 8)
    records, steps = table(loss), 2 * device.STEPS + 3
    facts = {"regularization": 0.05, "dtype": dtype}
    scale = {"step_size": 0.4, "noise_variance": 1e-4, "steps": steps}
    host, there = Objective(records, loss, **facts), DeviceObjective(records, loss, device=place, **facts)
    start, told = np.ones(host.shape), []
    one = run_noisy_steps(start, host.gradient, noise=ResearchNoise(np.random.default_rng(3)), **scale)
    noise = ResearchNoise(np.random.default_rng(3))
    two = run_in_blocks(start, there.descend, noise=noise, block=device.STEPS, progress=told.append, **scale)
    assert np.abs(one - two).max() < (1e-5 if dtype == "float32" else 1e-11)
    assert told == [device.STEPS, 2 * device.STEPS, steps]
    assert (start == 1).all()


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
            return DeviceObjective(Records(r, labels), loss, regularization=0.0, device=place).gradient(weights) * n

        worst = max(worst, float(np.linalg.norm(total(rows) - total(other))))
    assert 0.9 < worst <= 1 + sensitivity_slack(records=n, dtype="float32")


def test_the_device_is_chosen_by_the_caller_or_the_environment(monkeypatch) -> None:
    assert Execution().device == "cpu"
    monkeypatch.setenv("NOISYGD_DELETE_DEVICE", "cuda:1")
    assert Execution().device == "cuda:1"
    assert Execution(device="cpu").device == "cpu"


@pytest.mark.parametrize("place", ["cpu:0", pytest.param("cuda", marks=needs_cuda)])
def test_a_curator_takes_the_device_without_another_call(place: str, monkeypatch) -> None:
    """The engine is asked for by name alone; "cpu:0" is torch's name for the processor."""
    loss, seen, models = losses.Logistic(1.0), [], []
    records = table(loss)
    plan = sized_plan(
        loss, records.slots, 6, 0.05, Budget.from_gdp(dp=0.5, deletion=0.1), method="noisy-gd", exact=False
    )
    descend = DeviceObjective.descend
    monkeypatch.setattr(DeviceObjective, "descend", lambda self, *a, **k: seen.append(1) or descend(self, *a, **k))
    for where in ("cpu", place):
        curator, execution = Curator(records.copy(), plan), Execution(where, rng=np.random.default_rng(1))
        curator.learn(execution=execution)
        models.append(curator.delete([3], execution=execution).model.weights)
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


@pytest.mark.parametrize("name", ["meta", "gpu", "cuda:99"])
def test_a_device_that_is_not_there_is_one_clear_error(name: str) -> None:
    loss = losses.Logistic(1.0)
    with pytest.raises(InvalidParameter, match=r"device must be|no CUDA device 99"):
        DeviceObjective(table(loss), loss, regularization=0.1, device=name)


class FromTheHost(losses.Logistic):
    """A planted fault: a constant is copied over in every step."""

    def derivative(self, scores, labels, xp):
        return super().derivative(scores, labels, xp) * xp.asarray([1.0], dtype=scores.dtype)


class WaitsForTheHost(losses.Logistic):
    """Another: a decision on the host about a number on the device."""

    def derivative(self, scores, labels, xp):
        return super().derivative(scores, labels, xp) * (1.0 if scores.max() < 1e9 else 0.0)


def operations_of_a_step(loss: losses.Loss) -> set[str]:
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: set[str] = set()

    class Recording(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
            seen.add(function.overloadpacket.__name__)
            return function(*arguments, **(keywords or {}))

    steps = device.Steps(DeviceObjective(table(loss), loss, regularization=0.1, device="cpu"), 0.1)
    with torch.no_grad(), Recording():
        steps.step()
    return seen


# copies from the host and answers to it: neither may be part of a CUDA graph
HOST = {"lift_fresh", "_local_scalar_dense", "nonzero", "masked_select", "item", "is_nonzero", "equal"}


@pytest.mark.parametrize("loss", [*LOSSES, losses.OneVsRest(1.0, 3)], ids=lambda loss: loss.name)
def test_a_step_neither_waits_for_the_host_nor_copies_from_it(loss: losses.Loss) -> None:
    seen = operations_of_a_step(loss)
    assert {"bmm", "index_select", "sub_"} <= seen
    assert not seen & HOST


def test_a_step_that_would_break_a_graph_is_seen() -> None:
    assert "lift_fresh" in operations_of_a_step(FromTheHost(1.0))
    assert "_local_scalar_dense" in operations_of_a_step(WaitsForTheHost(1.0))


def test_rows_that_do_not_fit_are_one_clear_error(monkeypatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    loss = losses.Logistic(1.0)
    monkeypatch.setattr(torch, "zeros", full)
    with pytest.raises(InvalidParameter, match="do not fit on cpu; share them"):
        DeviceObjective(table(loss), loss, regularization=0.1, device="cpu")


@pytest.mark.parametrize("width", [1, 4, 30, 101])
def test_a_gradient_is_the_sum_in_float64(place: str, width: int) -> None:
    """Each loss at scores far and near, rows of every alignment; the oracle is the definition, in float64."""
    rng = np.random.default_rng(width)
    for loss in LOSSES[:5]:
        records = table(loss, n=2 * BLOCK + 3, d=width)
        for scale in (0.1, 300.0):
            weights = rng.standard_normal((1, width)) * scale
            rows = records.features.astype(float)
            slopes = loss.derivative(rows @ weights.T, records.labels, np)
            exact = slopes.T @ rows / len(rows) + 0.05 * weights
            there = DeviceObjective(records, loss, regularization=0.05, device=place)
            assert np.abs(there.gradient(weights) - exact).max() < 2e-6 * (1 + scale)


@pytest.mark.parametrize("blocks", [1, 2, 3, 7])
def test_however_the_blocks_are_shared_out_the_sum_is_theirs(place: str, blocks: int) -> None:
    """In one process, and in a group of which one has no rows."""
    loss = losses.Logistic(1.0)
    records, weights = table(loss, n=blocks * BLOCK), np.ones((1, 6))
    records = Records(records.features[: blocks * BLOCK], records.labels[: blocks * BLOCK])
    exact = Objective(records, loss, regularization=0.05, dtype="float64").gradient(weights)

    def gradient(group: Group = ALONE) -> np.ndarray:
        return DeviceObjective(records, loss, regularization=0.05, device=place, group=group).gradient(weights)

    assert np.abs(gradient() - exact).max() < 1e-7
    there = DeviceObjective(records, loss, regularization=0.05, device=place)
    stepped = there.descend(weights, iter([np.full((2, 1, 6), 0.5)]), step_size=0.25)
    middle = weights - 0.25 * exact + 0.5
    slope = Objective(records, loss, regularization=0.05, dtype="float64").gradient(middle)
    assert np.abs(stepped - (middle - 0.25 * slope + 0.5)).max() < 1e-7

    class Part(Group):
        """One of three processes; what they send is added up here."""

        size = 3

        def add_up(self, part) -> None:
            sent.append(part.clone())

    sent: list = []
    for rank in range(3):
        part = Part()
        part.rank = rank
        gradient(part)
    total = sum(part.cpu().numpy() for part in sent) / records.slots
    assert np.abs(total + 0.05 * weights - exact).max() < 1e-7


def test_a_slope_keeps_its_bound_whatever_the_score(place: str) -> None:
    """The declared sensitivity rests on it: scores far beyond exp's range, and beyond float32's."""
    for loss in (losses.Logistic(1.0), losses.Sigmoid(1.0), losses.PseudoHuber(1.0, 0.5), losses.Linear(1.0)):
        bound = loss.constants.lipschitz * (1 + 2.0**-21)
        for score in (0.0, 1e-30, 1.7, 88.0, 1e4, 1e19, 3e38, np.inf):
            for label in (-1.0, 1.0):
                for sign in (-1.0, 1.0):
                    one = Records(np.ones((1, 1), np.float32), np.array([label]))
                    there = DeviceObjective(one, loss, regularization=0.0, device=place)
                    slope = there.gradient(np.array([[sign * score]]))
                    assert abs(slope) <= bound or (np.isnan(slope) and np.isinf(score))


@pytest.mark.parametrize("way", ["cuda", "all", "both"])
def test_every_way_to_ask_torch_for_fewer_bits_is_refused_in_words(way: str) -> None:
    """In a process of its own: torch keeps these settings for good."""
    lines = {
        "cuda": "torch.backends.cuda.matmul.fp32_precision = 'tf32'",
        "all": "torch.backends.fp32_precision = 'tf32'",
        "both": "torch.backends.cuda.matmul.allow_tf32 = True; torch.backends.cuda.matmul.fp32_precision = 'ieee'; "
        "torch.set_float32_matmul_precision('medium')",
    }
    program = (
        "import torch, numpy as np\n"
        f"{lines[way]}\n"
        "from noisygd_delete import Records, losses\nfrom noisygd_delete.engine.device import DeviceObjective\n"
        "from noisygd_delete.errors import AssumptionViolated\n"
        "records, loss = Records(np.eye(3), np.ones(3)), losses.Logistic(1.0)\n"
        "def made():\n    return DeviceObjective(records, loss, regularization=.1, device='cpu')\n"
        "try:\n    made()\nexcept AssumptionViolated as error:\n    print(error)\n"
        "torch.set_float32_matmul_precision('highest')\n"
        "torch.backends.fp32_precision = torch.backends.cuda.matmul.fp32_precision = 'ieee'\nmade()\nprint('then it runs')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "torch.set_float32_matmul_precision('highest') and then" in done.stdout, done.stderr
    assert done.stdout.endswith("then it runs\n"), done.stderr


@pytest.mark.parametrize("method", ["objective-perturbation", "output-perturbation"])
def test_a_device_that_a_run_does_not_use_is_said(method: str) -> None:
    loss = losses.Logistic(1.0)
    records, real = table(loss), {"exact": False} if method == "output-perturbation" else {}
    plan = sized_plan(loss, records.slots, 6, 0.05, Budget.from_gdp(dp=0.5, deletion=0.1), method=method, **real)
    execution = Execution("cpu:0", rng=np.random.default_rng(1))
    if method == "output-perturbation":
        Curator(records, plan).learn(execution=execution)
    else:
        with pytest.warns(UserWarning, match=r"'cpu:0' is not used.*'objective-perturbation'.*leave the device out"):
            Curator(records, plan).learn(execution=execution)


def test_the_benchmark_of_a_device_measures_it(place: str, monkeypatch) -> None:
    from benchmarks.kernel import measure_on_device

    monkeypatch.setattr(device, "STEPS", 4)
    line = measure_on_device("small", table(losses.Logistic(1.0)), losses.Logistic(1.0), 2, place, 8)
    assert all(float(ratio) > 0 for ratio in line[5:])
    assert line[3].startswith(place)
