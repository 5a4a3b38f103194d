"""Noisy-GD steps on an accelerator: rows and weights stay there, and steps follow each other without waiting for the host.

On CUDA one step is captured as a graph and replayed. Noise is drawn and scaled on the host (noisygd.py), from the same
cryptographic generator as everywhere, and copied over a block of steps at a time. In a group each process has a device and
its own rows, and the sums are added up by one all-reduce a step, on the devices.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK, DTYPES
from ..errors import AssumptionViolated, InvalidParameter, MissingDependency, choice
from ..losses import Linear, Logistic, Loss, PseudoHuber, Sigmoid
from ..records import Records
from .group import ALONE, Group
from .kernel import slope_of

STEPS = 256  # whose noise is on the device at a time

_WIDEST = 2048  # features of a row that the fused kernel holds in registers
_TILE = 4096  # numbers of a tile of rows
_PROGRAMS = 8  # of the fused kernel, for each multiprocessor
_EACH_MOST = 64  # blocks that a program adds one after another, as rounding.py has it
_COLUMNS, _AT_ONCE = 16, 256  # weights and sums that a program of the update holds
_PARTS_MOST = _AT_ONCE * 64  # sums that the update adds by itself: 64 one after another, then a tree


def check(device: str, group: Group) -> str:
    """The device's name, if runs of this process can be made there: to be asked before anything is changed.

    Raises:
        MissingDependency: torch is not installed.
        InvalidParameter: there is no such device here.
    """
    if device != "cpu":
        _torch()
        _place(device, group)
    return device


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingDependency("a device needs torch; pip install 'noisygd-delete[torch]'") from error
    return torch


class DeviceObjective:
    """The objective of one table with a copy of its rows on a device, filled up to whole blocks with null rows.

    One reading of the rows a step for one-output losses in float32 on CUDA, by the fused kernel; elsewhere two matrix
    products, a block's sum being one product of a batch, in the table's dtype. Blocks are added in float64. TF32 would break
    the declared slack, so it is refused.

    Args:
        dtype: of the arithmetic inside a block.
        group: the processes that share the rows, each with its own device.
        fused: None: the fused kernel where it serves, once it has agreed with products on this device; True and False, for
            comparisons: by it, by products.

    Raises:
        MissingDependency: torch is not installed.
        AssumptionViolated: torch may use TF32.
        InvalidParameter: there is no such device here, or the rows do not fit on it.
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
        fused: bool | None = None,
    ) -> None:
        torch = _torch()
        if torch.get_float32_matmul_precision() != "highest":
            raise AssumptionViolated(
                "torch.get_float32_matmul_precision() must be 'highest': the declared rounding slack is that of float32"
            )
        kind = choice("dtype", dtype, DTYPES)
        self.group = group
        self.device, self.kind = _place(device, group), getattr(torch, kind)
        slots, width = records.features.shape
        self.loss, self.slots, self.regularization = loss, slots, regularization
        self.shape = (loss.outputs, width)
        served = kind == "float32" and width <= _WIDEST and slope_of(loss) is not None
        self.fused = served and (all(self.group.gather(_agrees(self.device))) if fused is None else fused)
        own = self.group.rows(slots, BLOCK)
        self.blocks = -(-len(own) // BLOCK)
        filled, classes = self.blocks * BLOCK, loss.label_kind == "class"
        stride = tile(width)["STRIDE"] if self.fused else width
        try:
            self.rows = torch.zeros((filled, stride), dtype=self.kind, device=self.device)
            self.labels = torch.zeros(filled, dtype=torch.int64 if classes else self.kind, device=self.device)
        except torch.cuda.OutOfMemoryError as error:
            raise InvalidParameter(
                f"{filled:,} rows of {stride} numbers do not fit on {self.device}; share them among several processes with a "
                "device each, or use 'cpu', which reads a table of any size"
            ) from error
        for first in range(0, len(own), 64 * BLOCK):  # rows of a file are never copied as a whole on the host
            here = slice(first, min(first + 64 * BLOCK, len(own)))
            part = slice(own.start + here.start, own.start + here.stop)
            self.rows[here, :width] = torch.from_numpy(np.array(records.features[part])).to(self.device, self.kind)
            self.labels[here] = torch.from_numpy(np.array(records.labels[part])).to(self.device, self.labels.dtype)

    def gradient(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """∇L_D(θ), float64 in the shape of the weights."""
        with self._here():
            steps = self._steps(step_size=0.0)
            steps.start(weights)
            steps.add()
            steps.total_of_group()
            gradient: NDArray[np.float64] = steps.gradient().cpu().numpy()
        return gradient

    def descend(
        self, weights: NDArray[np.float64], blocks: Iterator[NDArray[np.float64]], *, step_size: float
    ) -> NDArray[np.float64]:
        """θ ← θ − η∇L_D(θ) + ξ for each ξ of each block, in order. `blocks` holds scaled noise: (steps, outputs, features)."""
        with self._here():
            steps = self._steps(step_size)
            step = self._replayed(steps) if self.device.type == "cuda" else steps.step
            steps.start(weights)  # capturing took steps of its own
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

    def _steps(self, step_size: float) -> Steps:
        return (FusedSteps if self.fused else Steps)(self, step_size)

    def _replayed(self, steps: Steps) -> Callable[[], None]:
        """The step as CUDA graphs: one, or in a group two with the all-reduce between them."""
        if self.group.size == 1:
            return _captured(steps.step)
        add, update = _captured(steps.add), _captured(steps.update)

        def step() -> None:
            add()
            steps.total_of_group()
            update()

        return step


class Steps:
    """θ and what a step needs, on the device: `add`, `total_of_group`, `update`. None of them waits for the host."""

    def __init__(self, objective: DeviceObjective, step_size: float) -> None:
        import torch

        self._objective, self._step_size = objective, step_size
        self._place: Any = {"dtype": torch.float64, "device": objective.device}
        self.theta = torch.zeros(objective.shape, **self._place)
        self._noise = torch.zeros((STEPS, *objective.shape), **self._place)
        self._turn = torch.zeros(1, dtype=torch.int64, device=objective.device)
        self._total = torch.zeros((1, *objective.shape), **self._place)

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
        import torch

        objective, (outputs, width) = self._objective, self._objective.shape
        scores = objective.rows @ self.theta.to(objective.kind).T
        with objective.device:
            slopes = objective.loss.derivative(scores, objective.labels, torch)
        blocked = slopes.T.reshape(outputs, objective.blocks, BLOCK).transpose(0, 1)
        sums = torch.bmm(blocked, objective.rows.view(objective.blocks, BLOCK, width))
        self._total.copy_(_in_a_tree(sums.double()))

    def total_of_group(self) -> None:
        self._objective.group.add_up(self._total)

    def gradient(self) -> Any:
        """∇L_D(θ), once the sums are there."""
        objective = self._objective
        total = self._total.sum(0)[:, : objective.shape[1]]
        return total / objective.slots + objective.regularization * self.theta

    def update(self) -> None:
        self.theta.sub_(self.gradient(), alpha=self._step_size)
        self.theta.add_(self._noise.index_select(0, self._turn)[0])
        self._turn.add_(1)


class FusedSteps(Steps):
    """The same by two compiled kernels: one reading of the rows, and one update."""

    def __init__(self, objective: DeviceObjective, step_size: float) -> None:
        import torch

        super().__init__(objective, step_size)
        width, stride = objective.shape[1], objective.rows.shape[1]
        programs = _PROGRAMS * _multiprocessors(objective.device)
        self._each = min(_EACH_MOST, max(1, -(-objective.blocks // programs)))
        self._partials = torch.zeros((-(-objective.blocks // self._each), 1, stride), **self._place)
        self._folds = objective.group.size > 1 or not 1 <= len(self._partials) <= _PARTS_MOST
        self._total = torch.zeros((1, 1, stride), **self._place) if self._folds else self._partials
        self._single = torch.zeros(stride, dtype=torch.float32, device=objective.device)
        self._turn = torch.zeros(-(-width // _COLUMNS), dtype=torch.int64, device=objective.device)
        self._facts = torch.tensor([step_size, objective.regularization, objective.slots], **self._place)

    def start(self, weights: NDArray[np.float64]) -> None:
        super().start(weights)
        self._single[: self.theta.shape[1]] = self.theta[0]

    def add(self) -> None:
        from .kernel_triton import add_blocks

        objective, slope = self._objective, slope_of(self._objective.loss)
        assert slope is not None
        if objective.blocks:
            add_blocks[(len(self._partials),)](
                objective.rows, objective.labels, self._single, self._partials, objective.blocks, slope[1], slope[2],
                KIND=slope[0], BLOCK=BLOCK, EACH=self._each, **tile(objective.shape[1]),
            )  # fmt: skip
        if self._folds:
            self._total.copy_(_in_a_tree(self._partials))

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


def _in_a_tree(parts: Any) -> Any:
    """The sum of tensors (parts, …) as one part (1, …), in pairs: each is in ⌈log₂⌉ additions, or twice that."""
    import torch

    if not len(parts):
        return torch.zeros_like(parts.sum(0, keepdim=True))
    while len(parts) > 1:
        half = len(parts) // 2
        parts = torch.cat([parts[:half] + parts[half : 2 * half], parts[2 * half :]])
    return parts


def _captured(work: Callable[[], None]) -> Callable[[], None]:
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


def _place(device: str, group: Group) -> Any:
    """The torch device of this process: in a group, "cuda" is the one of its number on its machine.

    Raises:
        InvalidParameter: there is no such device here.
    """
    import torch

    try:
        place = torch.device(device)
    except RuntimeError as error:
        raise InvalidParameter(f"device must be 'cpu', 'cuda' or 'cuda:1', not {device!r}") from error
    if place.type not in ("cpu", "cuda"):
        raise InvalidParameter(f"device must be 'cpu' or a CUDA device, not {device!r}")
    if place.type == "cpu":
        return place
    there = torch.cuda.device_count() if torch.cuda.is_available() else 0
    index = place.index if place.index is not None else group.local_rank
    if index >= there:
        raise InvalidParameter(
            f"there is no CUDA device {index} on this machine ({there} found); choose another, or 'cpu', which is the default"
        )
    return torch.device("cuda", index)


def _multiprocessors(device: Any) -> int:
    import torch

    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1


@cache
def _agrees(device: Any) -> bool:
    """Whether the fused kernel compiles for a device and gives there what products give: tried once in a process.

    A wrong gradient would be a wrong guarantee, and compilers and devices are many.
    """
    if device.type != "cuda":
        return False
    try:
        return _tried(device)
    except ImportError:
        return False
    except Exception as error:  # whatever a compiler may raise: products serve as well
        warnings.warn(f"the fused kernel does not run here, so a step reads the rows twice: {error}", stacklevel=2)
        return False


def _tried(device: Any) -> bool:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((3 * BLOCK + 1, 7)) / 7
    records = Records(rows, rng.choice([-1.0, 1.0], len(rows)))
    weights, noise = 9 * rng.standard_normal((1, 7)), rng.standard_normal((3, 1, 7))
    for loss in (Logistic(1.0), Sigmoid(1.0), PseudoHuber(1.0, 0.5), Linear(1.0)):
        fused, products = (
            DeviceObjective(records, loss, regularization=0.1, device=str(device), fused=way).descend(
                weights, iter([noise]), step_size=0.5
            )
            for way in (True, False)
        )
        if not np.abs(fused - products).max() < 1e-5:
            raise ArithmeticError(f"it disagrees with products on loss {loss.name!r}")
    return True
