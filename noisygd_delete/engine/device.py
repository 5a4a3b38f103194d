"""Noisy-GD steps on an accelerator: rows and weights stay there, and steps run without waiting for the host.

A step consists of a few matrix products of torch; on CUDA it is captured as a graph and replayed. Noise is drawn and
scaled on the host (noisygd.py), from the same cryptographic generator as elsewhere, and copied over one block of steps
at a time. In a group each process has a device and its own rows, and one all-reduce per step adds the sums on the
devices.

Experimental: it has never run on a GPU (docs/scaling.md describes what was tested instead).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK, DTYPES
from ..errors import AssumptionViolated, InvalidParameter, check_choice
from ..losses.base import Loss
from ..records import Records
from .execution import ALONE, Group, find_device, torch_module
from .sums import person_shares

STEPS = 256  # number of steps whose noise is on the device at a time


class DeviceObjective:
    """The objective of one table with a copy of its rows on a device, padded to whole blocks with null rows.

    The sum of a block is one product of a batch, in the table's dtype, and blocks are added in float64. TF32 is
    rejected, as it would violate the declared slack.

    Args:
        records: The table.
        loss: The loss.
        regularization: λ.
        dtype: Precision of the arithmetic inside a block.
        device: Name of the device.
        group: The processes that share the rows, each with its own device.
        by_person: Whether each row weighs its person's `sums.person_shares`.

    Raises:
        MissingDependency: If torch is not installed.
        AssumptionViolated: If torch may use TF32.
        InvalidParameter: If the device does not exist, or the rows do not fit on it.
    """

    def __init__(
        self,
        records: Records,
        loss: Loss,
        *,
        regularization: float,
        dtype: str = "float32",
        device: str = "cuda",
        group: Group = ALONE,
        by_person: bool = False,
    ) -> None:
        torch = torch_module()
        _check_full_float32(torch)
        self.kind = getattr(torch, check_choice("dtype", dtype, DTYPES))
        self.device = find_device(device, group)
        self.loss, self.regularization, self.group = loss, regularization, group
        self.slots, width = records.features.shape
        self.shape = (loss.outputs, width)
        own = group.rows(self.slots, BLOCK)
        filled, labelled = -(-len(own) // BLOCK) * BLOCK, torch.int64 if loss.label_kind == "class" else self.kind
        try:
            self.rows = torch.zeros((filled, width), dtype=self.kind, device=self.device)
            self.labels = torch.zeros(filled, dtype=labelled, device=self.device)
        except torch.cuda.OutOfMemoryError as error:
            raise InvalidParameter(
                f"{filled:,} rows of {width} numbers do not fit on {self.device}; share them among several processes with a "
                "device each, or use 'cpu', which reads a table of any size"
            ) from error
        for first in range(0, len(own), 64 * BLOCK):  # mapped rows are never copied as a whole on the host
            here = slice(first, min(first + 64 * BLOCK, len(own)))
            part = slice(own.start + here.start, own.start + here.stop)
            self.rows[here] = torch.from_numpy(np.array(records.features[part])).to(self.device, self.kind)
            self.labels[here] = torch.from_numpy(np.array(records.labels[part])).to(self.device, labelled)
        self.shares = None
        if by_person:
            self.shares = torch.zeros((filled, 1), dtype=self.kind, device=self.device)
            own_shares = person_shares(records)[own.start : own.stop, None]
            self.shares[: len(own)] = torch.from_numpy(own_shares).to(self.device, self.kind)

    def gradient(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ∇L_D(θ), float64 in the shape of the weights."""
        with self._here():
            steps = Steps(self, step_size=0.0)
            steps.start(weights)
            steps.add()
            steps.total_of_group()
            gradient: NDArray[np.float64] = steps.gradient().cpu().numpy()
        return gradient

    def descend(
        self, weights: NDArray[np.float64], blocks: Iterator[NDArray[np.float64]], *, step_size: float
    ) -> NDArray[np.float64]:
        """Take the step θ ← θ − η∇L_D(θ) + ξ for each ξ of each block, in order, and return θ.

        Args:
            weights: θ at the start.
            blocks: Arrays of scaled noise, (steps, outputs, features).
            step_size: η.
        """
        with self._here():
            steps = Steps(self, step_size)
            step = steps.replayed() if self.device.type == "cuda" else steps.step
            steps.start(weights)  # capturing the graph took steps
            for block in blocks:
                steps.take(block)
                for _ in range(len(block)):
                    step()
            result: NDArray[np.float64] = steps.theta.cpu().numpy()
        return result

    @contextmanager
    def _here(self) -> Iterator[None]:
        import torch

        place: Any = torch.cuda.device(self.device) if self.device.type == "cuda" else nullcontext()
        with torch.no_grad(), place:
            yield


class Steps:
    """θ and the buffers of a step on the device: `add`, `total_of_group`, `update`. None of them waits for the host."""

    def __init__(self, objective: DeviceObjective, step_size: float) -> None:
        import torch

        self._objective, self._step_size = objective, step_size
        place: Any = {"dtype": torch.float64, "device": objective.device}
        self.theta, self._total = (torch.zeros(objective.shape, **place) for _ in range(2))
        self._noise = torch.zeros((STEPS, *objective.shape), **place)
        self._turn = torch.zeros(1, dtype=torch.int64, device=objective.device)

    def start(self, weights: NDArray[np.float64]) -> None:
        """Set θ."""
        import torch

        self.theta.copy_(torch.from_numpy(np.array(weights)))

    def take(self, block: NDArray[np.float64]) -> None:
        """Copy the noise of the next steps to the device."""
        import torch

        self._noise[: len(block)] = torch.from_numpy(block)
        self._turn.zero_()

    def step(self) -> None:
        """Take one step."""
        self.add()
        self.total_of_group()
        self.update()

    def add(self) -> None:
        """Compute Σ_x ∇ℓ(θ; x) over this process's rows; the sum of a block is one product of a batch."""
        import torch

        table = self._objective
        outputs, blocks = table.shape[0], len(table.rows) // BLOCK
        scores = table.rows @ self.theta.to(table.kind).T
        with table.device:
            slopes = table.loss.derivative(scores, table.labels, torch)
            slopes = slopes if table.shares is None else slopes * table.shares
        blocked = slopes.T.reshape(outputs, blocks, BLOCK).transpose(0, 1)
        sums = torch.bmm(blocked, table.rows.unflatten(0, (blocks, BLOCK)))
        self._total.copy_(sum_pairwise(sums.double()))

    def total_of_group(self) -> None:
        """Add the sums of all processes of the group."""
        self._objective.group.add_up(self._total)

    def gradient(self) -> Any:
        """Return ∇L_D(θ) from the sums computed before."""
        return self._total / self._objective.slots + self._objective.regularization * self.theta

    def update(self) -> None:
        """Apply the gradient and the step's noise to θ."""
        self.theta.sub_(self.gradient(), alpha=self._step_size)
        self.theta.add_(self._noise.index_select(0, self._turn)[0])
        self._turn.add_(1)

    def replayed(self) -> Callable[[], None]:
        """Return `step` as CUDA graphs: one, or in a group two with the all-reduce between them."""
        if self._objective.group.size == 1:
            return capture_graph(self.step)
        add, update = capture_graph(self.add), capture_graph(self.update)

        def step() -> None:
            add()
            self.total_of_group()
            update()

        return step


def sum_pairwise(parts: Any) -> Any:
    """Sum tensors (parts, …) in pairs: each is in ⌈log₂⌉ additions, or twice that."""
    import torch

    while len(parts) > 1:
        half = len(parts) // 2
        parts = torch.cat([parts[:half] + parts[half : 2 * half], parts[2 * half :]])
    return parts.sum(0)  # one part, or none


def capture_graph(work: Callable[[], None]) -> Callable[[], None]:
    """Capture `work` as a CUDA graph, after the few warm-up runs that libraries need."""
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


def _check_full_float32(torch: Any) -> None:
    """Raise `AssumptionViolated` if products in float32 may be rounded to fewer bits first (TF32, bfloat16)."""
    try:
        legacy = torch.get_float32_matmul_precision() == "highest"
    except RuntimeError:  # set by both of torch's interfaces, or by the newer one
        legacy = True
    settings = [getattr(torch, "backends", None), getattr(torch.backends.cuda, "matmul", None)]
    reduced = {getattr(one, "fp32_precision", "none") for one in settings} - {"none", "ieee"}
    if not legacy or reduced:
        raise AssumptionViolated(
            "torch is set to round products in float32 to fewer bits (TF32 or the like), and the declared rounding slack is that of float32: "
            "leave out that setting, or call torch.set_float32_matmul_precision('highest') and then, where torch has them, set "
            "torch.backends.fp32_precision = torch.backends.cuda.matmul.fp32_precision = 'ieee'"
        )
