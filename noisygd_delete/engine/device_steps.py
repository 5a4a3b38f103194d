"""Steps on a device, by matrix products: rows and weights stay there, and steps follow each other without waiting for the host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK
from ..errors import InvalidParameter
from ..losses.base import Loss
from ..records import Records
from .group import Group

STEPS = 256  # whose noise is on the device at a time


@dataclass(frozen=True)
class DeviceTable:
    """What a step reads: rows (whole blocks, filled up with null rows, `stride` numbers apart) and labels on a device.

    shape   of the weights: (outputs, features)
    kind    torch's dtype of the arithmetic inside a block
    slots   n of the whole table, of which `group` shares the rows
    """

    rows: Any
    labels: Any
    loss: Loss
    regularization: float
    slots: int
    shape: tuple[int, int]
    kind: Any
    group: Group
    device: Any

    @classmethod
    def copied(
        cls, records: Records, loss: Loss, *, regularization: float, kind: Any, stride: int, device: Any, group: Group
    ) -> DeviceTable:
        """This process's share of the records, on its device.

        Raises:
            InvalidParameter: it does not fit there.
        """
        import torch

        slots, width = records.features.shape
        own = group.rows(slots, BLOCK)
        filled, labelled = -(-len(own) // BLOCK) * BLOCK, torch.int64 if loss.label_kind == "class" else kind
        try:
            rows = torch.zeros((filled, stride), dtype=kind, device=device)
            labels = torch.zeros(filled, dtype=labelled, device=device)
        except torch.cuda.OutOfMemoryError as error:
            raise InvalidParameter(
                f"{filled:,} rows of {stride} numbers do not fit on {device}; share them among several processes with a "
                "device each, or use 'cpu', which reads a table of any size"
            ) from error
        for first in range(0, len(own), 64 * BLOCK):  # rows of a file are never copied as a whole on the host
            here = slice(first, min(first + 64 * BLOCK, len(own)))
            part = slice(own.start + here.start, own.start + here.stop)
            rows[here, :width] = torch.from_numpy(np.array(records.features[part])).to(device, kind)
            labels[here] = torch.from_numpy(np.array(records.labels[part])).to(device, labelled)
        return cls(rows, labels, loss, regularization, slots, (loss.outputs, width), kind, group, device)

    @property
    def blocks(self) -> int:
        return len(self.rows) // BLOCK


class Steps:
    """θ and what a step needs, on the device: `add`, `total_of_group`, `update`. None of them waits for the host."""

    def __init__(self, table: DeviceTable, step_size: float) -> None:
        import torch

        self._table, self._step_size = table, step_size
        self._place: Any = {"dtype": torch.float64, "device": table.device}
        self.theta = torch.zeros(table.shape, **self._place)
        self._noise = torch.zeros((STEPS, *table.shape), **self._place)
        self._turn = torch.zeros(1, dtype=torch.int64, device=table.device)
        self._total = torch.zeros((1, *table.shape), **self._place)

    def start(self, weights: NDArray[np.float64]) -> None:
        import torch

        self.theta.copy_(torch.from_numpy(np.array(weights)))

    def take(self, block: NDArray[np.float64]) -> None:
        """The noise of the next steps."""
        import torch

        self._noise[: len(block)] = torch.from_numpy(block)
        self._turn.zero_()

    def step(self) -> None:
        self.add()
        self.total_of_group()
        self.update()

    def add(self) -> None:
        """Σ_x ∇ℓ(θ; x) over this process's rows: matrix products, a block's sum one of a batch."""
        self._total.copy_(in_a_tree(self.block_sums().double()))

    def block_sums(self) -> Any:
        """Σ_x ∇ℓ(θ; x) of each block, (blocks, outputs, features)."""
        import torch

        table, (outputs, width) = self._table, self._table.shape
        rows = table.rows[:, :width]
        scores = rows @ self.theta.to(table.kind).T
        with table.device:
            slopes = table.loss.derivative(scores, table.labels, torch)
        blocked = slopes.T.reshape(outputs, table.blocks, BLOCK).transpose(0, 1)
        return torch.bmm(blocked, rows.unflatten(0, (table.blocks, BLOCK)))

    def total_of_group(self) -> None:
        self._table.group.add_up(self._total)

    def gradient(self) -> Any:
        """∇L_D(θ), once the sums are there."""
        table = self._table
        total = self._total.sum(0)[:, : table.shape[1]]
        return total / table.slots + table.regularization * self.theta

    def update(self) -> None:
        self.theta.sub_(self.gradient(), alpha=self._step_size)
        self.theta.add_(self._noise.index_select(0, self._turn)[0])
        self._turn.add_(1)

    def replayed(self) -> Callable[[], None]:
        """`step` as CUDA graphs: one, or in a group two with the all-reduce between them."""
        if self._table.group.size == 1:
            return capture_graph(self.step)
        add, update = capture_graph(self.add), capture_graph(self.update)

        def step() -> None:
            add()
            self.total_of_group()
            update()

        return step


def in_a_tree(parts: Any) -> Any:
    """The sum of tensors (parts, …) as one part (1, …), in pairs: each is in ⌈log₂⌉ additions, or twice that."""
    import torch

    if not len(parts):
        return torch.zeros_like(parts.sum(0, keepdim=True))
    while len(parts) > 1:
        half = len(parts) // 2
        parts = torch.cat([parts[:half] + parts[half : 2 * half], parts[2 * half :]])
    return parts


def capture_graph(work: Callable[[], None]) -> Callable[[], None]:
    """The work as a CUDA graph, after the few runs that libraries need to make up their minds."""
    import torch

    aside: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    replay: Callable[[], None] = graph.replay
    return replay
