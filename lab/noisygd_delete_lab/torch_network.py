"""A whole torch module trained by Noisy-GD, its per-record gradients clipped to L.

Clipping bounds every record's influence by L, which is all that composition needs. It does not preserve convexity,
smoothness or a potential (Lemma F.3 is false beyond losses with one gradient direction per record), so only composition
is certified, and the constants are marked "declared".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch.func import functional_call, grad, vmap

from noisygd_delete.errors import AssumptionViolated, InvalidParameter, check_positive
from noisygd_delete.losses.base import LossConstants
from noisygd_delete.losses.softmax import Softmax
from noisygd_delete.records import Records

_ROOM = 1e-5  # relative: clipping to L(1 − 1e-5) keeps the float32 rounding of norms and scales below L


@dataclass(frozen=True, eq=False)
class Network(Softmax):
    """A loss per record of `module(inputs)`, with per-record gradients clipped to L.

    `radius` only bounds the table's rows, which are checked against it.

    Attributes:
        module: Maps (rows, *input_shape) to (rows, classes); each record independently (no batch normalisation).
        criterion: (scores, labels) -> the loss of one record, given as tensors of one row; default cross-entropy.
        clip: L.
        input_shape: Shape of one record; the table holds it flattened.
        curvature: Declared β of the clipped loss: it only sets the default step size 1/(λ+β), no guarantee uses it.
        init_variance: Variance per weight of the initial law, independent of the data.
        device: Device of the gradients; the same results within floating-point tolerance.
        block: Records per call: memory is block × weights.
    """

    module: torch.nn.Module = field(default_factory=torch.nn.Identity)
    criterion: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = torch.nn.functional.cross_entropy
    clip: float = 1.0
    input_shape: tuple[int, ...] = ()
    curvature: float = 1.0
    init_variance: float = 0.01
    device: str = "cpu"
    block: int = 256

    name: ClassVar[str] = "network"
    clips_each: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("clip", "curvature", "init_variance"):
            object.__setattr__(self, name, check_positive(name, getattr(self, name)))
        if self.dimension(0) == 0:
            raise InvalidParameter("the module has no parameters to train")
        if any(True for _ in self.module.buffers()):
            raise AssumptionViolated(
                "the module has buffers (batch statistics?): one record's output would depend on the others, so no "
                "per-record gradient exists. Use GroupNorm or LayerNorm instead of BatchNorm"
            )
        self.module.eval().requires_grad_(False).to(self.device)

    @property
    def constants(self) -> LossConstants:
        return LossConstants(
            lipschitz=self.clip, smoothness=self.curvature, weak_convexity=math.inf, range=math.inf, proven=False
        )

    def dimension(self, features: int) -> int:
        return sum(parameter.numel() for parameter in self.module.parameters())

    def shape(self, features: int) -> tuple[int, int]:
        return 1, self.dimension(features)

    def to_dict(self) -> dict[str, Any]:
        raise InvalidParameter(
            "a plan of a torch module is not written to JSON: keep the module's code and save weights"
        )

    def scores(self, weights: NDArray[np.float64], features: NDArray[Any]) -> NDArray[np.float64]:
        """Return the class scores, (rows, classes) float64."""
        rows = torch.as_tensor(np.asarray(features, np.float32), device=self.device)
        parameters = self._parameters(weights)
        with torch.no_grad():
            blocks = [
                functional_call(self.module, parameters, (self._inputs(part),)) for part in torch.split(rows, 4096)
            ]
        return torch.cat(blocks).double().cpu().numpy()

    @property
    def _body(self) -> torch.nn.Sequential:
        """All layers but the last, which a ladder's head reads."""
        if not isinstance(self.module, torch.nn.Sequential) or len(self.module) < 2:
            raise AssumptionViolated(
                "a head reads what all layers but the last compute: give a torch.nn.Sequential of two or more layers, or stages of "
                "kind 'network' alone"
            )
        return torch.nn.Sequential(*list(self.module.children())[:-1])

    def representation(self, weights: NDArray[np.float64], features: NDArray[Any]) -> NDArray[np.float64]:
        """Return the output of the layers before the last for each record, (rows, width) float64."""
        rows = torch.as_tensor(np.asarray(features, np.float32), device=self.device)
        body, parameters = self._body, self._parameters(weights)
        own = {name: parameters[name] for name, _ in body.named_parameters()}
        with torch.no_grad():
            parts = [functional_call(body, own, (self._inputs(part),)).flatten(1) for part in torch.split(rows, 4096)]
        return torch.cat(parts).double().cpu().numpy()

    def width(self, features: int) -> int:
        """Return the number of columns of the `representation`."""
        return int(self.representation(np.zeros(self.dimension(features)), np.zeros((1, features))).shape[1])

    def value(self, scores: Any, labels: Any, xp: Any) -> Any:
        def loss(row: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
            return self.criterion(row[None], label[None])

        rows, answers = torch.as_tensor(np.asarray(scores)), torch.as_tensor(np.asarray(labels).astype(np.int64))
        return vmap(loss)(rows, answers).numpy()

    def block_sums(
        self, records: Records
    ) -> Callable[[NDArray[np.float64], NDArray[np.int64] | None], Iterator[Callable[[], NDArray[np.float64]]]]:
        """Return a function of θ and slots (None: all) that yields the sum of clipped gradients of each block.

        Null slots stay in place and are masked out of the sums: Φ(0) need not be 0.
        """
        rows = torch.tensor(records.features, device=self.device)
        labels = torch.as_tensor(np.where(records.occupied, records.labels, 0.0).astype(np.int64), device=self.device)
        used = torch.as_tensor(records.occupied, device=self.device)

        def sum_of(weights: NDArray[np.float64], part: torch.Tensor) -> NDArray[np.float64]:
            (gradients,) = self.clipped_gradients(weights, rows[part], labels[part])
            kept = torch.where(used[part][:, None], gradients, 0.0)
            return kept.sum(dim=0, dtype=torch.float64).cpu().numpy()

        def sums(
            weights: NDArray[np.float64], slots: NDArray[np.int64] | None
        ) -> Iterator[Callable[[], NDArray[np.float64]]]:
            chosen = torch.arange(len(rows)) if slots is None else torch.as_tensor(slots)
            for part in torch.split(chosen.to(self.device), self.block) if len(chosen) else ():
                yield partial(sum_of, weights, part)

        return sums

    def _inputs(self, rows: torch.Tensor) -> torch.Tensor:
        return rows.reshape(len(rows), *self.input_shape) if self.input_shape else rows

    def _parameters(self, weights: NDArray[np.float64]) -> dict[str, torch.Tensor]:
        named = dict(self.module.named_parameters())
        flat = torch.as_tensor(np.asarray(weights, np.float32).reshape(-1), device=self.device)
        parts = torch.split(flat, [parameter.numel() for parameter in named.values()])
        return {name: part.view_as(named[name]) for name, part in zip(named, parts, strict=True)}

    def clipped_gradients(
        self, weights: NDArray[np.float64], rows: torch.Tensor, labels: torch.Tensor
    ) -> Iterator[torch.Tensor]:
        """Yield blocks of clipped per-record gradients, (records, d)."""

        def loss(parameters: dict[str, torch.Tensor], row: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
            scores = functional_call(self.module, parameters, (self._inputs(row[None]),))
            return self.criterion(scores, label[None])

        per_record = vmap(grad(loss), in_dims=(None, 0, 0))
        parameters = self._parameters(weights)
        for part, answers in zip(torch.split(rows, self.block), torch.split(labels, self.block), strict=True):
            gradients = per_record(parameters, part, answers)
            flat = torch.cat([gradients[name].reshape(len(part), -1) for name in parameters], dim=1)
            norms = torch.linalg.vector_norm(flat, dim=1, keepdim=True, dtype=torch.float64)
            scale = torch.clamp(self.clip * (1 - _ROOM) / torch.clamp(norms, min=1e-30), max=1.0)
            yield flat * scale.float()
