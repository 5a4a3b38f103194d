"""Noisy-GD steps on an accelerator: rows and weights stay there, and steps follow each other without waiting for the host.

On CUDA one step is captured as a graph and replayed. Noise is drawn and scaled on the host (noisygd.py), from the same
cryptographic generator as everywhere, and copied over a block of steps at a time. In a group each process has a device and
its own rows, and the sums are added up by one all-reduce a step, on the devices.

Experimental: it has never run on a GPU (docs/scaling.md says what was tested instead).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK, DTYPES
from ..errors import AssumptionViolated, InvalidParameter, choice
from ..losses.base import Loss
from ..records import Records
from .execution import ALONE, Group, find_device, multiprocessors, torch_module

# --- device steps ---
#
# Steps on a device, by matrix products: rows and weights stay there, and steps follow each other without waiting for the host.


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


# --- device fused ---
#
# Steps on a device by two compiled kernels: one reading of the rows, and one update.


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


_ROUNDING = 0.1  # of L, in the sum of a program's blocks, at most 16,384 rows: more than float32 and its exp make of it


class DeviceObjective:
    """The objective of one table with a copy of its rows on a device, filled up to whole blocks with null rows.

    One reading of the rows a step for one-output losses in float32 on CUDA, by the fused kernel; elsewhere two matrix
    products, a block's sum being one product of a batch, in the table's dtype. Blocks are added in float64. TF32 would break
    the declared slack, so it is refused.

    Args:
        dtype: of the arithmetic inside a block.
        group: the processes that share the rows, each with its own device.
        fused: None: the fused kernels where they serve and agree with products on this very table; True and False, for
            comparisons: by them, by products.

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
        torch = torch_module()
        _check_full_float32(torch)
        kind, place = choice("dtype", dtype, DTYPES), find_device(device, group)
        width = records.features.shape[1]
        served = fused is not False and serves(loss, width, kind)
        self.table = DeviceTable.copied(
            records,
            loss,
            regularization=regularization,
            kind=getattr(torch, kind),
            stride=tile(width)["STRIDE"] if served else width,
            device=place,
            group=group,
        )
        self.shape = self.table.shape
        self.fused = served and bool(fused or all(group.gather(_agrees(self.table))))

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
            step = steps.replayed() if self.table.device.type == "cuda" else steps.step
            steps.start(weights)  # capturing took steps of its own
            for block in blocks:
                steps.take(block)
                for _ in range(len(block)):
                    step()
            result: NDArray[np.float64] = steps.theta.cpu().numpy()
        return result

    def _here(self) -> AbstractContextManager[None]:
        return _on(self.table)

    def _steps(self, step_size: float) -> Steps:
        return (FusedSteps if self.fused else Steps)(self.table, step_size)


@contextmanager
def _on(table: DeviceTable) -> Iterator[None]:
    import torch

    place: Any = torch.cuda.device(table.device) if table.device.type == "cuda" else nullcontext()
    with torch.no_grad(), place:
        yield


def _check_full_float32(torch: Any) -> None:
    """Raise `AssumptionViolated` where products in float32 may be rounded to fewer bits first (TF32, bfloat16)."""
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


def _agrees(table: DeviceTable) -> bool:
    """Whether the fused kernels compile for this table and give on it what products give: tried in every run.

    A wrong gradient would be a wrong guarantee; what is compiled depends on loss, width, blocks and device.
    """
    if table.device.type != "cuda":
        return False
    try:
        return _try_kernels(table)
    except ImportError:
        return False
    except Exception as error:  # whatever a compiler may raise: products serve as well
        warnings.warn(f"the fused kernels do not run here, so a step reads the rows twice: {error}", stacklevel=2)
        return False


def _try_kernels(table: DeviceTable) -> bool:
    """One step by both: the sums of every program's blocks, far from where they cancel, and the weights after it.

    Raises:
        ArithmeticError: they disagree.
    """
    import torch

    width, length = table.shape[1], table.loss.constants.lipschitz
    rng = np.random.default_rng(0)
    weights, noise = (
        9 * rng.standard_normal((1, width)) / max(1.0, table.loss.radius),
        rng.standard_normal((1, 1, width)),
    )
    with _on(table):
        fused, products = FusedSteps(table, 0.5), Steps(table, 0.5)
        for steps in (fused, products):
            steps.start(weights)
            steps.take(noise)
        fused.add()
        sums = fused.by_program(products.block_sums().double())
        apart = (fused.partials[:, :, :width] - sums).abs().max() if len(sums) else torch.zeros(())
        products.add()
        for steps in (fused, products):
            steps.update()  # by the sums of this process alone: where one cannot compile, no other waits for it
        moved = (fused.theta - products.theta).abs().max()
        off = max(float(apart) / (_ROUNDING * length), float(moved) / (1e-5 * max(1.0, length)))
    if not off < 1:
        raise ArithmeticError(f"they disagree with products on this table, loss {table.loss.name!r}")
    return True
