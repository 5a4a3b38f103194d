"""Two attacks on a method: an observer of two releases, and a requester who writes requests after seeing a release.

Both know the loss, λ and every record but one fact, which is the adversary of the guarantees. Both attack the releases
that a method actually publishes, so their success is a lower bound on the leakage: a low score proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from noisygd_delete.losses.base import Loss
from noisygd_delete.records import EditRequest, Id, Records

from .base import Baseline, Held, Weights
from .solver import minimise

REHEARSALS = 4  # runs of the method in each world before the attack


@dataclass(frozen=True)
class Score:
    """Success of an attack.

    Attributes:
        hits: Correct guesses.
        trials: Number of guesses.
        chance: Success rate of guessing.
        allowed: Largest success rate that the method's privacy allows.
    """

    hits: int
    trials: int
    chance: float
    allowed: float = 1.0

    @property
    def rate(self) -> float:
        return self.hits / self.trials

    @property
    def lower(self) -> float:
        """One-sided 99 % Clopper–Pearson lower bound on the success rate."""
        return float(beta.ppf(0.01, self.hits, self.trials - self.hits + 1)) if self.hits else 0.0

    @property
    def verdict(self) -> str:
        """Verdict on the method.

        "survives": guessing explains the score; "within its DP": more than guessing, and no better was promised; else
        "falls".
        """
        if self.lower <= self.chance:
            return "survives"
        return "within its DP" if self.lower <= self.allowed < 1 else "falls"


def which_was_erased(
    method: Baseline,
    records: Records,
    *,
    loss: Loss,
    regularization: float,
    candidates: int = 20,
    rounds: int = 1,
    rng: np.random.Generator,
) -> Score:
    """Attack two releases to find which of `candidates` records the request erased.

    Every candidate is erased once per round. Two attackers guess the candidate whose predicted shift of the model is
    nearest to the observed one: one predicts by the difference of exact minimisers, one by a rehearsal of the method.
    The score is that of the better one.

    Args:
        method: The attacked method.
        records: The table, known to the attackers except for the erased record.
        loss: The loss.
        regularization: λ.
        candidates: Number of candidate records.
        rounds: Number of newly learned models.
        rng: Source of randomness.
    """
    names: list[Id] = list(rng.choice(np.array(records.ids, dtype=object), candidates, replace=False))
    requests = [EditRequest.delete([name]) for name in names]
    start = minimise(records, loss, regularization=regularization).weights
    by_minimiser = np.stack([_minimiser(records, [name], loss, regularization) - start for name in names])
    rehearsed = method.learn(records, rng)
    by_rehearsal = np.stack(
        [method.unlearn(records, request, rehearsed, rng).weights - rehearsed.weights for request in requests]
    )
    hits = [0, 0]
    for _ in range(rounds):
        learned = method.learn(records, rng)
        for erased, request in enumerate(requests):
            seen = method.unlearn(records, request, learned, rng).weights - learned.weights
            for attacker, shifts in enumerate((by_minimiser, by_rehearsal)):
                distances = np.linalg.norm((seen - shifts).reshape(candidates, -1), axis=1)
                hits[attacker] += int(distances.argmin()) == erased
    allowed = method.certificate(learned).success(1 / candidates)
    return Score(max(hits), rounds * candidates, 1 / candidates, allowed)


def attack_by_requests(
    method: Baseline,
    records: Records,
    *,
    loss: Loss,
    regularization: float,
    group: int,
    trials: int = 20,
    rng: np.random.Generator,
) -> Score:
    """Attack by adaptive requests to find whether the erased record was ever present.

    The observer sees only the release after the erasure. Both adversaries rehearse with the method itself. The
    requester sees the first release, guesses whether the target took part, and accordingly has the target erased
    together with group A or group B. The observer of the next release infers the group from it.

    Args:
        method: The attacked method.
        records: The table, known to the adversaries except for the target's presence.
        loss: The loss.
        regularization: λ.
        group: Largest size of a group.
        trials: Number of runs, half of them with the target.
        rng: Source of randomness.
    """
    names = list(records.ids)
    target = names[int(rng.integers(len(names)))]
    pool = [name for name in names if name != target]
    slots = {name: slot for slot, name in enumerate(records.ids_by_slot)}
    label = np.array([records.labels[slots[name]] for name in pool])
    high, low = label > np.median(label), label <= np.median(label)
    if not high.any():
        high = label == label.max()
        low = ~high
    others = [np.array(pool, dtype=object)[chosen][:group].tolist() for chosen in (high, low)]
    absent = records.apply(EditRequest.delete([target]))

    def serve(present: bool, learned: Held, first_group: bool) -> Held:
        gone = others[0] if first_group else others[1]
        names = [*gone, target] if present else gone
        return method.unlearn(records if present else absent, EditRequest.delete(names), learned, rng)

    rehearsed = {
        present: [method.learn(records if present else absent, rng) for _ in range(REHEARSALS)]
        for present in (True, False)
    }
    optimum = minimise(absent, loss, regularization=regularization).weights
    reads_target = _WorldReader.between(
        minimise(records, loss, regularization=regularization).weights - optimum,
        [held.weights for held in rehearsed[True]],
        [held.weights for held in rehearsed[False]],
    )
    flags = [_minimiser(absent, names, loss, regularization) for names in others]
    reads_group = _WorldReader.between(
        flags[0] - flags[1],
        [serve(False, held, True).weights for held in rehearsed[False]],
        [serve(False, held, False).weights for held in rehearsed[False]],
    )
    hits = 0
    for trial in range(trials):
        present = trial % 2 == 0
        learned = method.learn(records if present else absent, rng)
        served = serve(present, learned, reads_target(learned.weights))
        hits += reads_group(served.weights) == present
    return Score(hits, trials, 0.5, (1 + method.certificate(learned).advantage) / 2)


@dataclass(frozen=True)
class _WorldReader:
    """Classifier of a release into one of two worlds: a threshold on one direction, set by rehearsals in both."""

    direction: Weights
    threshold: float

    @classmethod
    def between(cls, direction: Weights, first: Sequence[Weights], second: Sequence[Weights]) -> _WorldReader:
        """Return the classifier on the direction between the minimisers, oriented to be larger in the first world."""
        above = float(np.mean([np.vdot(direction, weights) for weights in first]))
        below = float(np.mean([np.vdot(direction, weights) for weights in second]))
        turn = 1.0 if above >= below else -1.0
        return cls(turn * direction, turn * (above + below) / 2)

    def __call__(self, weights: Weights) -> bool:
        return bool(np.vdot(self.direction, weights) > self.threshold)


def _minimiser(records: Records, names: Sequence[Id], loss: Loss, regularization: float) -> Weights:
    return minimise(records.apply(EditRequest.delete(names)), loss, regularization=regularization).weights


def engine(method: Baseline) -> Callable[[Any, int, np.random.Generator], list[NDArray[np.float64]]]:
    """Return the method as an engine of the audits.

    It maps (world, chains, generator) to the releases, each of shape (chains, outputs, features). The world has a table
    `before` and a table `after`; the request erases the records that are only in the first.
    """

    def run(world: Any, chains: int, generator: np.random.Generator) -> list[NDArray[np.float64]]:
        gone = [name for name in world.before.ids if name not in world.after]
        histories: list[tuple[Held, Held]] = []
        for _ in range(chains):
            learned = method.learn(world.before, generator)
            served = method.unlearn(world.before, EditRequest.delete(gone), learned, generator) if gone else learned
            histories.append((learned, served))
        return [np.stack([history[number].weights for history in histories]) for number in (0, 1)]

    return run
