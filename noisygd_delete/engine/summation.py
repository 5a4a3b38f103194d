"""The order in which parts of a gradient sum are added: `bounds.arithmetic` counts it, and it hardly grows with the rows.

Noisy steps: rows are added in blocks of 256, in the table's own dtype; blocks in spans of 64, in float64; spans in a balanced
tree. A solver, and exact steps: so too by the compiled kernel, in float64; else rows in chunks of 2048 at most, and chunks in a tree,
as the partitions of a cluster. The sums of the processes of a group are added by one all-reduce.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def in_a_tree(parts: Iterable[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The sum of arrays as they come, each addition of two sums of equally many: a part is in ⌈log₂⌉ of them at most."""
    held: list[NDArray[Any]] = []  # of falling sizes, one for each binary digit of how many parts there were
    for number, part in enumerate(parts):
        carried, ones = part, number  # as a binary counter carries: the last ones of its digits are sums to join
        while ones & 1:
            carried, ones = held.pop() + carried, ones >> 1
        held.append(carried)
    total = np.zeros(shape)
    for rest in reversed(held):
        total = total + rest
    return total
