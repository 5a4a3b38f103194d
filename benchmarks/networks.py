"""A torch network on digits and on MNIST: routes of the package beside Opacus's DP-SGD trained again and noisy fine-tuning.

Accuracy before and after a deletion, cost of a deletion, ε_dp and ε_dd. MNIST is left out where its folder is not found.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from noisygd_delete_lab import NetworkTraining, NoisyFineTuning
from noisygd_delete_lab.base import erasure

from benchmarks import datasets, report
from noisygd_delete import Budget, Curator, EditRequest, Records, losses, make_plan
from noisygd_delete.methods import CompositionNoisyGD, Stage, Staged
from noisygd_delete.networks import NetworkLoss

NOISES, ERASED = 5, tuple(range(10))
DP, DELETION, DELTA = 8.0, 2.0, 1e-5
HIDDEN, CLIP, STEP, REGULARIZATION = 32, 0.5, 2.0, 1e-4
EPOCHS = 30  # of Opacus
METHODS = {
    "`noisy-gd` by composition": CompositionNoisyGD(learn_steps=20, delete_steps=1, batches=10, step_size=STEP),
    "`staged`": Staged((Stage("network", 200, sampling_rate=0.1, step_size=STEP), Stage("network", 100, sampling_rate=0.1, step_size=STEP))),
}  # fmt: skip


def scale_rows(pixels: np.ndarray) -> np.ndarray:
    """Center pixels of [0, 1] and scale each row by itself to norm .999."""
    rows = pixels - 0.5
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True) * 0.999).astype(np.float32)


def read_digits() -> tuple[np.ndarray, np.ndarray, int]:
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    return scale_rows(pixels / 16), labels.astype(float), 1437


def read_mnist() -> tuple[np.ndarray, np.ndarray, int]:
    """Return the first 5,000 of MNIST's test images in a fixed order, at 14 × 14 pixels."""
    from benchmarks.mnist_extractor import images

    pixels, labels = images()
    small = pixels[:5000].reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196)
    return scale_rows(small), labels[:5000].astype(float), 4000


DATA = {"digits": read_digits, "MNIST": read_mnist}


@dataclass(frozen=True)
class Result:
    """Accuracy after learning and after the deletion, passes of both, and ε at δ."""

    learned: float
    deleted: float
    learn_passes: float
    delete_passes: float
    dp: float | None
    deletion: float
    observed: float | None


def build_module(features: int) -> torch.nn.Module:
    torch.manual_seed(0)  # one public start
    return torch.nn.Sequential(torch.nn.Linear(features, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 10))


def run_method(method: Any, train: Records, test: Records, seed: int) -> Result:
    n, features = train.features.shape
    loss = NetworkLoss(radius=1.0, classes=10, module=build_module(features), clip=CLIP)
    budget = Budget.from_epsilon_delta(dp=(DP, DELTA), deletion=(DELETION, DELTA))
    plan = make_plan(
        loss, records=n, features=features, regularization=REGULARIZATION, budget=budget, adjacency="zero-out", method=method
    )  # fmt: skip
    curator, rng = Curator(train.copy(), plan), np.random.default_rng(seed)
    learned, deleted = curator.learn(rng), curator.delete(ERASED, rng=rng)
    learn, delete = (number / n for number in plan.count_gradients().values())
    accountant = curator.accountant
    return Result(
        learned.model.accuracy(test), deleted.model.accuracy(test), learn, delete,
        accountant.epsilon_dp(observed=[2]), accountant.epsilon_dd(), accountant.epsilon_dd(observed=[1, 2]),
    )  # fmt: skip


def train_again(train: Records, test: Records, seed: int, *, private: bool) -> Result:
    """Train, and again from the start without the deleted records: by Opacus, or by the same loop without clipping and noise."""
    accuracies: list[float] = []
    epsilon = None
    for gone in ((), ERASED):
        kept = np.setdiff1d(np.arange(len(train)), gone)
        pairs = torch.utils.data.TensorDataset(
            torch.tensor(train.features[kept]), torch.tensor(train.labels[kept]).long()
        )
        module = build_module(train.features.shape[1])
        torch.manual_seed(1000 + seed)
        optimizer = torch.optim.SGD(module.parameters(), lr=STEP)
        batches = torch.utils.data.DataLoader(pairs, batch_size=len(kept) // 10, shuffle=True)
        if private:
            module, optimizer, batches, engine = add_noise(module, optimizer, batches)
        descend(module, optimizer, batches)
        guessed = module(torch.tensor(test.features)).argmax(1).numpy()
        accuracies.append(float(np.mean(guessed == test.labels)))
        epsilon = engine.get_epsilon(DELTA) if private else None
    return Result(*accuracies, EPOCHS, EPOCHS, epsilon, 0.0, epsilon)


def descend(module: Any, optimizer: Any, batches: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Opacus's hooks
        for _ in range(EPOCHS):
            for rows, labels in batches:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(module(rows), labels).backward()
                optimizer.step()


def add_noise(module: torch.nn.Module, optimizer: torch.optim.Optimizer, batches: Any) -> tuple[Any, Any, Any, Any]:
    """Return Opacus's private module, optimizer and Poisson sampler, and the engine that accounts for them."""
    from opacus import PrivacyEngine

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch's generator
        engine = PrivacyEngine()
        private = engine.make_private_with_epsilon(
            module=module, optimizer=optimizer, data_loader=batches, target_epsilon=DP, target_delta=DELTA, epochs=EPOCHS, max_grad_norm=CLIP
        )  # fmt: skip
    return (*private, engine)


def run_fine_tuning(train: Records, test: Records, seed: int) -> Result:
    loss = losses.MultilayerPerceptron(radius=1.0, classes=10, hidden=HIDDEN, clip=1.0, curvature=0.25)
    training = NetworkTraining(loss, REGULARIZATION, 1 / (REGULARIZATION + 0.25), steps=200, tuning=40)
    method = NoisyFineTuning(training=training, epsilon=DELETION, delta=DELTA)
    rng, request = np.random.default_rng(seed), EditRequest.delete(list(ERASED))
    held = method.learn(train, rng)
    left = train.apply(request)
    after = method.forget(left, erasure(train, request), held, rng)

    def accuracy(weights: np.ndarray) -> float:
        return float((loss.scores(weights, test.features).argmax(axis=1) == test.labels).mean())

    learn, delete = held.gradient_evaluations / len(train), after.gradient_evaluations / len(left)
    return Result(accuracy(held.weights), accuracy(after.weights), learn, delete, None, DELETION, None)


WAYS: dict[str, Callable[[Records, Records, int], Result]] = {
    **{name: lambda train, test, seed, method=method: run_method(method, train, test, seed) for name, method in METHODS.items()},
    "Opacus, trained again": partial(train_again, private=True),
    "without noise, trained again": partial(train_again, private=False),
    "noisy fine-tuning (lab)": run_fine_tuning,
}  # fmt: skip
HEADER = ["data", "way", "accuracy", f"after deleting {len(ERASED)}", "passes, learn / delete", "ε_dp", "ε_dd, later models", "ε_dd, all models"]  # fmt: skip


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks networks", description=__doc__)
    parser.add_argument("--noises", type=int, default=NOISES)
    noises, measured, rows = parser.parse_args(arguments).noises, report.commit(), []
    for data, read in DATA.items():
        if data == "MNIST" and datasets.found("mnist_t10k") is None:
            continue
        features, labels, count = read()
        train, test = Records(features[:count], labels[:count]), Records(features[count:], labels[count:])
        for name, run in WAYS.items():
            results = [run(train, test, seed) for seed in range(noises)]
            rows.append([data, name, *format_results(results)])
            print(*rows[-1], sep="  ", flush=True)
    body = f"""\
{HIDDEN} tanh units, all weights trained; digits: scikit-learn's 1,797, 1,437 to learn from; MNIST: 5,000 of its test images at 14 × 14 pixels, 4,000 to learn from.
Means over {noises} noises, least and largest accuracy in brackets. Every ε at δ = {DELTA:g}, one record against none (zero-out); the budget is ε_dp = {DP:g}, and
ε_dd = {DELETION:g} for later models. "All models": an observer of the model before the deletion and the one after. Settings are those of
`examples/noisy_gd/nonconvex_training.py`. By composition no clean step forgets, so the bound on ε_dd holds ε_dp down too.

{report.table(HEADER, rows)}

Opacus owes a deleted record nothing by its later model alone, and costs a whole training a deletion. So does the same loop without clipping and noise, which
promises nothing to those who stay, nor to a deleted record once the model before is out: what noise costs is the difference from its row. Noisy fine-tuning promises nothing to those who stay, nor
once an earlier model is out, and a start that never saw the records is worth as much (`compare_networks_digits.md`)."""
    report.write("networks", "A torch network: accuracy, cost and ε", "python -m benchmarks networks", body, measured)


def format_results(results: list[Result]) -> list[str]:
    def mean(name: str) -> str:
        values = [getattr(one, name) for one in results]
        return f"{np.mean(values):.1%} ({min(values):.1%} to {max(values):.1%})"

    last = results[-1]
    epsilons = ["–" if value is None else f"{value:.2f}" for value in (last.dp, last.deletion, last.observed)]
    return [mean("learned"), mean("deleted"), f"{last.learn_passes:.0f} / {last.delete_passes:.0f}", *epsilons]
