"""What two adversaries get out of a method: one who saw two releases, one who writes requests after seeing a release.

Both know the loss, λ and every record but one fact, which is the adversary of the guarantees. Both play against the
releases a method really publishes, so what they find is a lower bound on what leaks: a low score proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from ..losses.base import Loss
from ..records import EditRequest, Id, Records
from .base import Held, Method, Weights
from .solver import minimise


@dataclass(frozen=True)
class Score:
    """`hits` of `trials`, and the rate of an adversary who guesses."""

    hits: int
    trials: int
    chance: float

    @property
    def rate(self) -> float:
        return self.hits / self.trials

    @property
    def lower(self) -> float:
        """One-sided 95 % Clopper–Pearson bound on the rate."""
        return float(beta.ppf(0.05, self.hits, self.trials - self.hits + 1)) if self.hits else 0.0

    @property
    def survives(self) -> bool:
        """Whether guessing explains the score."""
        return self.lower <= self.chance


def which_was_erased(
    method: Method,
    records: Records,
    *,
    loss: Loss,
    regularization: float,
    candidates: int = 20,
    trials: int = 30,
    rng: np.random.Generator,
) -> Score:
    """Two releases: which of `candidates` records did the request erase?

    The shift that erasing record c would cause is the difference of the two exact minimisers; the guess is the candidate whose
    shift is nearest to the difference of the releases.
    """
    names: list[Id] = list(rng.choice(np.array(records.ids, dtype=object), candidates, replace=False))
    start = minimise(records, loss, regularization=regularization).weights
    shifts = np.stack([_minimiser(records, [name], loss, regularization) - start for name in names])
    hits = 0
    for trial in range(trials):
        if trial % 10 == 0:
            learned = method.learn(records, rng)
        erased = int(rng.integers(candidates))
        served = method.unlearn(records, EditRequest.delete([names[erased]]), learned, rng)
        seen = served.weights - learned.weights
        hits += int(np.argmin([np.linalg.norm(seen - shift) for shift in shifts])) == erased
    return Score(hits, trials, 1 / candidates)


def told_by_requests(
    method: Method,
    records: Records,
    *,
    loss: Loss,
    regularization: float,
    group: int,
    trials: int = 30,
    rng: np.random.Generator,
) -> Score:
    """Adaptive requests: was the erased record ever there? The observer sees only the release *after* its erasure.

    The requester watches the first release, guesses whether the target took part, and has the target erased together with
    group A or group B accordingly. Whoever sees the next release alone reads the group off it.
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
    reference = {
        True: minimise(records, loss, regularization=regularization).weights,
        False: minimise(absent, loss, regularization=regularization).weights,
    }
    flags = [_minimiser(absent, names, loss, regularization) for names in others]
    hits = 0
    for trial in range(trials):
        present = trial % 2 == 0
        world = records if present else absent
        learned = method.learn(world, rng)
        guess = _nearer(learned.weights, reference[True], reference[False])
        gone = others[0] if guess else others[1]
        served = method.unlearn(world, EditRequest.delete([*gone, target] if present else gone), learned, rng)
        hits += _nearer(served.weights, flags[0], flags[1]) == present
    return Score(hits, trials, 0.5)


def _minimiser(records: Records, names: Sequence[Id], loss: Loss, regularization: float) -> Weights:
    return minimise(records.apply(EditRequest.delete(names)), loss, regularization=regularization).weights


def _nearer(seen: Weights, first: Weights, second: Weights) -> bool:
    return bool(np.linalg.norm(seen - first) < np.linalg.norm(seen - second))


def engine(method: Method) -> Callable[[Any, int, np.random.Generator], list[NDArray[np.float64]]]:
    """The method as an engine of the audits: (world, chains, generator) -> releases, each (chains, outputs, features).

    The world has a table `before` and a table `after`; the request erases what is in the first only.
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
