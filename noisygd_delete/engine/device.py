"""Noisy-GD steps on an accelerator: rows and weights stay there, and steps follow each other without waiting for the host.

On CUDA one step is captured as a graph and replayed. Noise is drawn and scaled on the host (noisygd.py), from the same
cryptographic generator as everywhere, and copied over a block of steps at a time. In a group each process has a device and
its own rows, and the sums are added up by one all-reduce a step, on the devices.

Experimental: it has never run on a GPU (docs/scaling.md says what was tested instead).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import DTYPES
from ..errors import AssumptionViolated, choice
from ..losses.base import Loss
from ..records import Records
from .device_fused import FusedSteps, serves, tile
from .device_steps import DeviceTable, Steps
from .execution import find_device, torch_module
from .group import ALONE, Group

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
