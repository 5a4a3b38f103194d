"""Attack on two releases of a network, to find which record was erased between them.

The attackers know every record and both models.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.records import EditRequest, Id, Records

from .adversaries import Score
from .base import Baseline, Weights

Losses = Callable[[Weights, NDArray[np.float32], NDArray[np.float64]], NDArray[np.float64]]


def which_left_network(
    method: Baseline, records: Records, losses: Losses, *, candidates: int, rounds: int, rng: np.random.Generator
) -> Score:
    """Attack two releases; every candidate is erased once per round, from a newly learned model.

    One attacker names the candidate whose loss rose most between the releases. The other, if there is no secret state,
    rehearses the method: it erases every candidate from the first release, and names the one whose model is nearest to
    the second. The score is that of the better one.

    Args:
        method: The attacked method.
        records: The table.
        losses: Weights, rows and labels -> the loss of each row.
        candidates: Number of candidate records.
        rounds: Number of newly learned models.
        rng: Source of randomness.
    """
    names: list[Id] = list(rng.choice(np.array(records.ids, dtype=object), candidates, replace=False))
    slots = np.array([records.resolve(EditRequest.delete([name])).slots[0] for name in names])
    rows, labels = records.features[slots], records.labels[slots]
    hits = [0, 0]
    for _ in range(rounds):
        learned = method.learn(records, rng)
        public = [] if learned.secret else names
        tried = [method.unlearn(records, EditRequest.delete([name]), learned, rng).weights for name in public]
        before = losses(learned.weights, rows, labels)
        for erased, name in enumerate(names):
            seen = method.unlearn(records, EditRequest.delete([name]), learned, rng).weights
            hits[0] += int((losses(seen, rows, labels) - before).argmax()) == erased
            nearest = np.argmin([np.linalg.norm(seen - other) for other in tried]) if tried else -1
            hits[1] += int(nearest) == erased
    allowed = method.certificate(learned).success(1 / candidates)
    return Score(max(hits), rounds * candidates, 1 / candidates, allowed)
