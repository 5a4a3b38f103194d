"""A solve in a public number of passes: gradient steps on public blocks of the slots, forwards and backwards in turn.

Nothing is measured, nothing is waited for, and an empty slot costs what a full one does. How far one record moves where it ends is
proven (`bounds.block_passes`); how near that is to the minimiser is a matter of utility alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import CHUNK
from ..losses.base import Loss
from ..records import Records
from .execution import ALONE, Group, limit_threads
from .noisygd import Weights
from .sums import HeldSums


def end_of_passes(
    records: Records,
    loss: Loss,
    *,
    regularization: float,
    blocks: int,
    step_sizes: Sequence[float],
    group: Group = ALONE,
) -> Weights:
    """Weights (outputs, features) after one pass from 0 for each of `step_sizes`, by sums in float64.

    A block is of n/`blocks` slots, rounded to whole ones, and its loss is their sum over n/`blocks`: the mean of all is the objective.
    """
    edges = [number * records.slots // blocks for number in range(blocks + 1)]
    sums = [_sum_over(records, loss, first, last, group) for first, last in pairwise(edges)]
    share = records.slots / blocks
    weights: Weights = np.zeros((loss.outputs, records.width))
    with limit_threads():
        for number, step_size in enumerate(step_sizes):
            for sum_over_block in sums if number % 2 == 0 else reversed(sums):
                weights = weights - step_size * (sum_over_block(weights) / share + regularization * weights)
    return weights


def _sum_over(
    records: Records, loss: Loss, first: int, last: int, group: Group
) -> Callable[[Weights], NDArray[np.float64]]:
    """Σ_x ∇ℓ(θ; x) over these slots: as `HeldSums` adds it, of a block that is one chunk without what many chunks need."""
    labels = records.labels[first:last]
    rows = records.features[first:last] if records.sparse is None else records.sparse.part(first, last).toarray()
    if last - first > CHUNK or group is not ALONE:
        held = HeldSums(rows, labels, loss, group)
        return lambda weights: held.gradient(weights, "float64")
    known = labels.astype(np.int64) if loss.label_kind == "class" else labels

    def one_chunk(weights: Weights) -> NDArray[np.float64]:
        wide = rows.astype(np.float64)
        slopes: NDArray[np.float64] = loss.derivative(wide @ weights.T, known, np)
        total: NDArray[np.float64] = slopes.T @ wide
        return total

    return one_chunk
