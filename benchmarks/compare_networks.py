"""Deletion from networks: the ladder beside rivals and the controls that they need, every certificate at the same (ε, δ).

python -m benchmarks compare_networks [--data digits|mnist]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from noisygd_delete_lab import (
    Baseline,
    FixedTopNetwork,
    LadderReleases,
    NetworkRetraining,
    NetworkTraining,
    NoisyFineTuning,
    PrivateBaseThenTuning,
    RewindToDelete,
)
from noisygd_delete_lab.base import Certificate, Weights, erasure
from noisygd_delete_lab.network_game import which_left_network

from benchmarks import report
from benchmarks.mnist_extractor import images
from noisygd_delete import Budget, EditRequest, Records, losses, make_plan
from noisygd_delete.methods import Stage, Staged

# fixed before the splits below were drawn; split 0 was tried before
SPLITS = (4, 5, 6)
DELTA, DP, DELETION = 1e-5, 1.0, 0.5
ERASED = 10
ATTACKED, CANDIDATES, ROUNDS = 300, 20, 2
GAME = "digits"  # the table on which the game is played
HIDDEN, REGULARIZATION, CURVATURE = 64, 1e-4, 0.25
TRAINING = {"steps": 200, "tuning": 40}


@dataclass(frozen=True)
class Table:
    """A table of images: unit rows, ten classes."""

    rows: np.ndarray
    labels: np.ndarray
    train: int

    def split(self, seed: int) -> tuple[Records, Records]:
        order = np.random.default_rng(seed).permutation(len(self.rows))
        train, test = order[: self.train], order[self.train :]
        return Records(self.rows[train], self.labels[train]), Records(self.rows[test], self.labels[test])


def unit(pixels: np.ndarray) -> np.ndarray:
    rows = np.column_stack([pixels, np.full(len(pixels), 0.3 * np.linalg.norm(pixels, axis=1).mean())])
    return (rows / (np.linalg.norm(rows, axis=1, keepdims=True) * (1 + 2.0**-20))).astype(np.float32)


def of_digits() -> Table:
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    return Table(unit(pixels), labels.astype(float), 1437)


def of_mnist() -> Table:
    """MNIST's test images, four pixels made one."""
    pixels, labels = images()
    small = pixels.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196)
    return Table(unit(small), labels.astype(float), 8000)


DATA = {"digits": of_digits, "mnist": of_mnist}


def network() -> losses.MultilayerPerceptron:
    return losses.MultilayerPerceptron(radius=1.0, classes=10, hidden=HIDDEN, clip=1.0, curvature=CURVATURE)


def planned(records: int, features: int, *stages: Stage, level: int = 0, dp: float = DP) -> Any:
    return make_plan(
        network(), records=records, features=features, regularization=REGULARIZATION, adjacency="zero-out", dtype="float64",
        budget=Budget.from_epsilon_delta(dp=(dp, DELTA), deletion=(DELETION, DELTA)), method=Staged(stages, level),
    )  # fmt: skip


BASE = Stage("network", 60)
LADDERS = {  # stages, level
    "one whole private run, a deletion learns afresh": ((Stage("network", 60), Stage("network", 60)), -1),
    "one private run of 20 passes, a deletion learns afresh": ((Stage("network", 10), Stage("network", 10)), -1),
    "ladder: base, then 20 steps": ((BASE, Stage("network", 20)), 0),
    "ladder: base, then 20 passes on samples of 5 %": ((BASE, Stage("network", 400, 1.0, sampling_rate=0.05)), 0),
    "ladder: base, then a convex head": ((BASE, Stage("head", regularization=1e-2)), 0),
    "ladder: base, then moments": ((BASE, Stage("moments", regularization=1e-3)), 0),
}


def methods(records: int, features: int) -> Iterator[tuple[str, Baseline]]:
    """Every way, calibrated to a table of so many records and columns."""
    for name, (stages, level) in LADDERS.items():
        yield name, LadderReleases(planned(records, features, *stages, level=level))
    training = NetworkTraining(network(), REGULARIZATION, 1 / (REGULARIZATION + CURVATURE), **TRAINING)
    yield "no noise, a deletion learns afresh", NetworkRetraining(training)
    certified: dict[str, Any] = {"training": training, "epsilon": DELETION, "delta": DELTA}
    yield "noisy fine-tuning from the trained model", NoisyFineTuning(**certified)
    yield "the same from a public draw, never trained", NoisyFineTuning(**certified, start="public")
    base = planned(records, features, BASE, Stage("network", 1)).calibration.stages[0]
    yield "private base, then tuning without noise", PrivateBaseThenTuning(training, base, DELTA)
    top, facts = (
        FixedTopNetwork(10, HIDDEN, HIDDEN**-0.5),
        {"epsilon": DELETION, "delta": DELTA, "regularization": 1e-4},
    )
    for rewound in (TRAINING["tuning"], TRAINING["steps"]):
        name = f"Rewind-to-Delete, {rewound} of {TRAINING['steps']} steps"
        yield name, RewindToDelete(top, steps=TRAINING["steps"], rewound=rewound, **facts)


def scores(method: Baseline, weights: Weights, rows: np.ndarray) -> np.ndarray:
    """(rows, classes) of a release."""
    if isinstance(method, RewindToDelete):
        return method.network.scores(weights, rows.astype(np.float64))
    loss = method.plan.model_loss if isinstance(method, LadderReleases) else network()
    return np.asarray(loss.scores(weights, rows.astype(np.float64)))


def losses_of(method: Baseline, weights: Weights, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Cross-entropy of each row."""
    odds = scores(method, weights, rows)
    odds = odds - odds.max(axis=1, keepdims=True)
    return np.log(np.exp(odds).sum(axis=1)) - odds[np.arange(len(rows)), labels.astype(int)]


def accuracy(method: Baseline, weights: Weights, test: Records) -> float:
    return float((scores(method, weights, test.features).argmax(axis=1) == test.labels).mean())


@dataclass(frozen=True)
class Measured:
    learned: float
    deleted: float
    learn_passes: float
    delete_passes: float
    certificate: Certificate


def measured(method: Baseline, train: Records, test: Records, seed: int) -> Measured:
    rng, table = np.random.default_rng(seed), train.copy()
    held = method.learn(table, rng)
    request = EditRequest.delete(list(table.ids)[:ERASED])
    gone = erasure(table, request)
    left = table.apply(request)
    after = method.forget(left, gone, held, rng)
    return Measured(
        accuracy(method, held.weights, test), accuracy(method, after.weights, test),
        held.gradient_evaluations / len(table), after.gradient_evaluations / len(left), method.certificate(held),
    )  # fmt: skip


def attack(method: Baseline, train: Records, seed: int) -> str:
    """The two-release game on a part of the table."""
    small = Records(train.features[:ATTACKED], train.labels[:ATTACKED])
    game = which_left_network(
        method, small, lambda weights, rows, labels: losses_of(method, weights, rows, labels),
        candidates=CANDIDATES, rounds=ROUNDS, rng=np.random.default_rng(seed),
    )  # fmt: skip
    return f"{game.rate:.2f} ({game.verdict})"


def spread(values: list[float]) -> str:
    return f"**{np.mean(values):.3f}** ({min(values):.3f} to {max(values):.3f})"


def epsilon(pair: tuple[float, float] | None) -> str:
    return "–" if pair is None else f"{pair[0]:.3g}"


HEADER = ["way", "accuracy", f"after deleting {ERASED}", "passes, learn / delete", "ε_dp", "ε_dd", "keeps a secret"]
HEADER += [f"erased one of {CANDIDATES} named from two releases"]

LEGEND = """\
{table}; hidden layer of {hidden} tanh units, all weights trained (Rewind-to-Delete: outer weights public, so that its constants are proven). Means over {splits}
fresh splits with settings fixed before them, least and largest in brackets. Every ε at δ = {delta:g}, zero-out: a certificate for those who stay is ({dp:g}, δ), one
for the erased at most ({deletion:g}, δ), for who saw later models alone, one request that did not depend on earlier ones. The game is played on the first {attacked}
records with everything calibrated to them: guessing is right {chance:.2f} of the time; "falls": more than guessing, and nothing promised.

*Noisy fine-tuning* is Koloskova et al. (2025) with the tight constants (`packages/lab/noisygd_delete_lab/network_bounds.py`); the row below it is its control. *Private base, then tuning without
noise* is DP2Unlearning (2025). The ladder's rows have a base of 60 steps at ε_dd = {deletion:g}."""
NAMES = {
    "digits": "scikit-learn's 1,797 digits, 1,437 to learn from",
    "mnist": "MNIST's 10,000 test images at 14 × 14 pixels, 8,000 to learn from",
}


def compared(data: str, splits: list[int], private: bool) -> str:
    table = DATA[data]()
    features, rows = table.rows.shape[1], []
    halves = {seed: table.split(seed) for seed in splits}
    small = dict(methods(ATTACKED, features))
    for name, method in methods(table.train, features):
        if private and not method.private:
            continue
        found = [measured(method, *halves[seed], seed) for seed in splits]
        certificate = found[0].certificate
        rows.append(
            [
                name,
                spread([one.learned for one in found]),
                f"{np.mean([one.deleted for one in found]):.3f}",
                f"{max(one.learn_passes for one in found):.0f} / {max(one.delete_passes for one in found):.0f}",
                epsilon(certificate.existing),
                epsilon(certificate.deletion),
                "no" if method.stateless else "yes",
                attack(small[name], halves[splits[0]][0], splits[0]) if data == GAME else "–",
            ]
        )
        print(*rows[-1], sep="  ", flush=True)
    legend = LEGEND.format(
        table=NAMES[data], hidden=HIDDEN, splits=len(splits), delta=DELTA, dp=DP, deletion=DELETION, attacked=ATTACKED, chance=1 / CANDIDATES
    )  # fmt: skip
    left_out = " The ways that promise nothing to those who stay were not run on this table." if private else ""
    return f"{legend}{left_out}\n\n{report.table(HEADER, rows)}"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks compare_networks")
    parser.add_argument("--data", choices=DATA, action="append", help="default: all, one after the other")
    parser.add_argument("--splits", type=int, nargs="+", default=SPLITS)
    parser.add_argument("--private", action="store_true", help="only the ways that are private for those who stay")
    chosen = parser.parse_args(arguments)
    commit = report.commit()
    for data in chosen.data or DATA:
        body = compared(data, list(chosen.splits), chosen.private)
        report.write(
            f"compare_networks_{data}", f"Deletion from networks: {data}", f"python -m benchmarks compare_networks --data {data}{' --private' * chosen.private}", body, commit
        )  # fmt: skip
