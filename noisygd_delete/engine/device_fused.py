"""Steps on a device by two compiled kernels: one reading of the rows, and one update."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK
from ..losses.base import Loss
from .device_steps import DeviceTable, Steps, in_a_tree
from .execution import multiprocessors

_WIDEST = 2048  # features of a row that the kernel holds in registers
_TILE = 4096  # numbers of a tile of rows
_PROGRAMS = 8  # of the kernel, for each multiprocessor
_EACH_MOST = 64  # blocks that a program adds one after another, as bounds/arithmetic.py has it
_COLUMNS, _AT_ONCE = 16, 256  # weights and sums that a program of the update holds
_PARTS_MOST = _AT_ONCE * 64  # sums that the update adds by itself: 64 one after another, then a tree


def serves(loss: Loss, width: int, dtype: str) -> bool:
    """Whether the kernels have room for such rows, and the loss a slope for them."""
    return dtype == "float32" and width <= _WIDEST and loss.scalar_slope is not None


class FusedSteps(Steps):
    """`Steps` by the kernels of kernel_triton.py."""

    def __init__(self, table: DeviceTable, step_size: float) -> None:
        import torch

        super().__init__(table, step_size)
        width, stride = table.shape[1], table.rows.shape[1]
        programs = _PROGRAMS * multiprocessors(table.device)
        self._each = min(_EACH_MOST, max(1, -(-table.blocks // programs)))
        self.partials = torch.zeros((-(-table.blocks // self._each), 1, stride), **self._place)
        self._folds = table.group.size > 1 or not 1 <= len(self.partials) <= _PARTS_MOST
        self._total = torch.zeros((1, 1, stride), **self._place) if self._folds else self.partials
        self._single = torch.zeros(stride, dtype=torch.float32, device=table.device)
        self._turn = torch.zeros(-(-width // _COLUMNS), dtype=torch.int64, device=table.device)
        self._facts = torch.tensor([step_size, table.regularization, table.slots], **self._place)

    def start(self, weights: NDArray[np.float64]) -> None:
        super().start(weights)
        self._single[: self.theta.shape[1]] = self.theta[0]

    def add(self) -> None:
        from .kernel_triton import add_blocks, slope_for

        table = self._table
        slope = table.loss.scalar_slope
        if slope is not None and table.blocks:
            add_blocks[(len(self.partials),)](
                table.rows, table.labels, self._single, self.partials, table.blocks, slope.parameter, slope.bound,
                SLOPE=slope_for(slope.formula), BLOCK=BLOCK, EACH=self._each, **tile(table.shape[1]),
            )  # fmt: skip
        if self._folds:
            self._total.copy_(in_a_tree(self.partials))

    def by_program(self, blocks: Any) -> Any:
        """Of the sums of blocks, those of each program's, (programs, 1, features)."""
        import torch

        parts = torch.split(blocks, self._each)
        return torch.stack([part.sum(0) for part in parts]) if parts else blocks

    def update(self) -> None:
        from .kernel_triton import update

        update[(len(self._turn),)](
            self.theta, self._single, self._total, self._noise, self._turn, self._facts, len(self._total),
            WIDTH=self.theta.shape[1], STRIDE=self._total.shape[2], COLUMNS=_COLUMNS, AT_ONCE=_AT_ONCE, num_warps=8,
        )  # fmt: skip


def tile(width: int) -> dict[str, int]:
    """How the fused kernel lays out rows of `width` numbers: they start at multiples of 16 bytes, and a tile of them is small
    enough for the registers of several programs at once."""
    stride = -(-width // 4) * 4
    wide = 1 << (stride - 1).bit_length()
    at_once, warps = (_TILE // wide, 4) if wide <= 1024 else (2 * _TILE // wide, 8)
    return {"STRIDE": stride, "WIDE": wide, "AT_ONCE": min(BLOCK, at_once), "num_warps": warps}
