"""The order in which parts of a gradient sum are added: the slack of `bounds.arithmetic` counts it.

Rows are added in blocks of 256, in the table's own dtype; blocks in spans of 64, in float64; spans in a balanced tree; the
sums of the processes of a group by one all-reduce.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def in_a_tree(parts: Iterable[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The sum of arrays as they come, each addition of two sums of equally many: a part is in ⌈log₂⌉ of them, or twice that."""
    held: list[NDArray[Any] | None] = []
    for part in parts:
        level, carried = 0, part
        while level < len(held) and (other := held[level]) is not None:
            carried, held[level] = other + carried, None
            level += 1
        held[level : level + 1] = [carried]
    total = np.zeros(shape)
    for rest in held:
        if rest is not None:
            total = total + rest
    return total
