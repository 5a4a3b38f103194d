"""Noisy-GD steps on an accelerator: rows and weights stay there, and steps follow each other without waiting for the host.

On CUDA one step is captured as a graph and replayed. Noise is drawn and scaled on the host (noisygd.py), from the same
cryptographic generator as everywhere, and copied over a block of steps at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import distributed
from ..errors import AssumptionViolated, InvalidParameter, MissingDependency, choice
from ..losses.base import Loss
from ..records import Records
from .rounding import BLOCK, DTYPES

STEPS = 256  # whose noise is on the device at a time

_chosen: list[str] = []


def current() -> str:
    """The device of this process's runs: what `on` says, else the environment's NOISYGD_DELETE_DEVICE, else the processor."""
    return _chosen[-1] if _chosen else os.environ.get("NOISYGD_DELETE_DEVICE", "cpu")


@contextmanager
def on(device: str) -> Iterator[None]:
    """Within, runs are made on this device: "cpu", or a torch device such as "cuda" or "cuda:1"."""
    _chosen.append(device)
    try:
        yield
    finally:
        _chosen.pop()


class DeviceObjective:
    """The objective of one table with a copy of its rows on a device, filled up to whole blocks with null rows.

    A block's sum is one product of a batch, in the table's dtype; blocks are added in float64. TF32 would break the
    declared slack, so it is refused.
    """

    def __init__(
        self, records: Records, loss: Loss, *, regularization: float, dtype: str = "float32", device: str = "cuda"
    ) -> None:
        try:
            import torch
        except ImportError as error:
            raise MissingDependency("a device needs torch; pip install 'noisygd-delete[torch]'") from error
        if distributed.current().size > 1:
            raise InvalidParameter("several processes on devices are not offered; run one process, or without a device")
        if torch.get_float32_matmul_precision() != "highest":
            raise AssumptionViolated(
                "torch.get_float32_matmul_precision() must be 'highest': the declared rounding slack is that of float32"
            )
        kind = choice("dtype", dtype, DTYPES)
        self._torch, self._device, self._kind = torch, torch.device(device), getattr(torch, kind)
        slots, width = records.features.shape
        filled = -(-slots // BLOCK) * BLOCK
        self._rows = torch.zeros((filled, width), dtype=self._kind, device=self._device)
        self._labels = torch.zeros(
            filled, dtype=torch.int64 if loss.label_kind == "class" else self._kind, device=self._device
        )
        for first in range(0, slots, 64 * BLOCK):  # rows of a file are never copied as a whole on the host
            part = slice(first, min(first + 64 * BLOCK, slots))
            self._rows[part] = torch.from_numpy(np.array(records.features[part])).to(self._device, self._kind)
            self._labels[part] = torch.from_numpy(np.array(records.labels[part])).to(self._device, self._labels.dtype)
        self._loss, self._slots, self._regularization = loss, slots, regularization
        self.shape = (loss.outputs, width)

    def _gradient(self, weights: Any) -> Any:
        """∇L_D(θ), tensors in and out; nothing waits for the host."""
        torch, (outputs, width) = self._torch, self.shape
        scores = self._rows @ weights.to(self._kind).T
        with self._device:
            slopes = self._loss.derivative(scores, self._labels, torch)
        blocked = slopes.T.reshape(outputs, -1, BLOCK).transpose(0, 1)
        sums = torch.bmm(blocked, self._rows.view(-1, BLOCK, width))
        return sums.sum(0, dtype=torch.float64) / self._slots + self._regularization * weights

    def descend(
        self, weights: NDArray[np.float64], blocks: Iterator[NDArray[np.float64]], *, step_size: float
    ) -> NDArray[np.float64]:
        """θ ← θ − η∇L_D(θ) + ξ for each ξ of each block, in order. `blocks` holds scaled noise: (steps, outputs, features)."""
        torch = self._torch
        theta = torch.tensor(weights, dtype=torch.float64, device=self._device)
        noise = torch.zeros((STEPS, *self.shape), dtype=torch.float64, device=self._device)
        turn = torch.zeros(1, dtype=torch.int64, device=self._device)

        def step() -> None:
            theta.sub_(self._gradient(theta), alpha=step_size)
            theta.add_(noise.index_select(0, turn)[0])
            turn.add_(1)

        replay = self._captured(step) if self._device.type == "cuda" else step
        theta.copy_(torch.from_numpy(np.array(weights)))  # capturing took steps of its own
        with torch.no_grad():
            for block in blocks:
                noise[: len(block)] = torch.from_numpy(block)
                turn.zero_()
                for _ in range(len(block)):
                    replay()
        result: NDArray[np.float64] = theta.cpu().numpy()
        return result

    def _captured(self, step: Callable[[], None]) -> Callable[[], None]:
        """The step as a CUDA graph, after the few runs that libraries need to make up their minds."""
        torch = self._torch
        with torch.no_grad():
            aside = torch.cuda.Stream(self._device)
            aside.wait_stream(torch.cuda.current_stream(self._device))
            with torch.cuda.stream(aside):
                for _ in range(3):
                    step()
            torch.cuda.current_stream(self._device).wait_stream(aside)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                step()
        replay: Callable[[], None] = graph.replay
        return replay
