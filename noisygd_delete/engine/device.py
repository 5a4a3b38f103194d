"""Noisy-GD steps on an accelerator: rows and weights stay there, and steps follow each other without waiting for the host.

On CUDA one step is captured as a graph and replayed. Noise is drawn and scaled on the host (noisygd.py), from the same
cryptographic generator as everywhere, and copied over a block of steps at a time. In a group each process has a device and
its own rows, and the sums are added up by one all-reduce a step, on the devices.

Experimental: it has never run on a GPU (docs/scaling.md says what was tested instead).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds.arithmetic import BLOCK, DTYPES
from ..errors import AssumptionViolated, choice
from ..losses.base import Loss
from ..records import Records
from .device_fused import FusedSteps, serves, tile
from .device_place import placed, torch_module
from .device_steps import DeviceTable, Steps
from .group import ALONE, Group


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
        torch = torch_module()
        if torch.get_float32_matmul_precision() != "highest":
            raise AssumptionViolated(
                "torch.get_float32_matmul_precision() must be 'highest': the declared rounding slack is that of float32"
            )
        kind, place = choice("dtype", dtype, DTYPES), placed(device, group)
        width = records.features.shape[1]
        served = serves(loss, width, kind)
        self.fused = served and (all(group.gather(_agrees(place, loss))) if fused is None else fused)
        self.table = DeviceTable.copied(
            records,
            loss,
            regularization=regularization,
            kind=getattr(torch, kind),
            stride=tile(width)["STRIDE"] if self.fused else width,
            device=place,
            group=group,
        )
        self.shape = self.table.shape

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

    @contextmanager
    def _here(self) -> Iterator[None]:
        import torch

        place: Any = torch.cuda.device(self.table.device) if self.table.device.type == "cuda" else nullcontext()
        with torch.no_grad(), place:
            yield

    def _steps(self, step_size: float) -> Steps:
        return (FusedSteps if self.fused else Steps)(self.table, step_size)


@cache
def _agrees(device: Any, loss: Loss) -> bool:
    """Whether the fused kernel of a loss compiles for a device and gives there what products give: tried once in a process.

    A wrong gradient would be a wrong guarantee, and compilers and devices are many.
    """
    if device.type != "cuda":
        return False
    try:
        return _tried(device, loss)
    except ImportError:
        return False
    except Exception as error:  # whatever a compiler may raise: products serve as well
        warnings.warn(f"the fused kernel does not run here, so a step reads the rows twice: {error}", stacklevel=2)
        return False


def _tried(device: Any, loss: Loss) -> bool:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((3 * BLOCK + 1, 7)) / 7
    records = Records(rows, rng.choice([-1.0, 1.0], len(rows)))
    weights, noise = 9 * rng.standard_normal((1, 7)), rng.standard_normal((3, 1, 7))
    fused, products = (
        DeviceObjective(records, loss, regularization=0.1, device=str(device), fused=way).descend(
            weights, iter([noise]), step_size=0.5
        )
        for way in (True, False)
    )
    if not np.abs(fused - products).max() < 1e-5 * max(1.0, loss.constants.lipschitz / loss.radius):
        raise ArithmeticError(f"it disagrees with products on loss {loss.name!r}")
    return True
