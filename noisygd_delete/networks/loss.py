"""A torch module trained by noisy gradient descent, the gradient of each record clipped to L.

Clipping makes every record's influence on the gradient sum at most L, which is all that composition needs. It does not keep convexity,
smoothness or a potential (Lemma F.3 is false beyond losses with one gradient direction per record), so nothing else is certified.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import AssumptionViolated, InvalidParameter, MissingDependency, check_choice, check_positive, non_negative
from ..losses.base import LossConstants, MulticlassLoss
from ..records import Records
from .description import build_module, describe_module

try:
    import torch
    from torch.func import functional_call, grad, vmap
except ImportError as error:
    raise MissingDependency("networks need torch; pip install 'noisygd-delete[torch]'") from error

_ROOM = 1e-5  # relative: clipping to L(1 − 1e-5) keeps the float32 rounding of norms and scales below L
_STARTS = ("module", "zero")
_WRITTEN = (
    "radius",
    "classes",
    "clip",
    "curvature",
    "start",
    "init_variance",
)  # of a plan in a file, beside the layers
_ROWS = 4096  # of one call of the module, where no gradient is computed

Weights = NDArray[np.float64]
Criterion = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True, eq=False, kw_only=True)
class NetworkLoss(MulticlassLoss):
    """A loss per record of `module(inputs)`, with gradients clipped to L per record.

    The trained weights are those parameters of the module that require a gradient, as one row. Gradient and output of a record are computed
    from that record alone (`torch.func.vmap` over single rows), whatever the module does with a batch; BatchNorm is refused.

    The guarantees idealise torch's arithmetic: a record's clipped gradient, computed in float32, is assumed not to depend on the other
    records of its block, and kernels to round as real numbers would within the margin of the clip. Their conditions say so.

    Args:
        radius: Largest norm of a row of the table. It is checked, and bounds nothing else.
        classes: Number of classes k; labels are 0, ..., k − 1.
        module: Maps (rows, *input_shape) to (rows, classes). It is copied and put in evaluation mode.
        criterion: (scores, labels) -> loss of one record, as tensors of one row. Default: cross-entropy.
        clip: L.
        input_shape: Shape of one record; the table holds it flattened.
        curvature: Declared scale of the loss's curvature: it sets the default step size 1/(λ + curvature) and no guarantee.
        start: Where learning starts and weight decay pulls to. "module": the module's own parameters, from which weights are then differences;
            they must be public (torch's initialization, or trained on public data). "zero": 0, with init_variance > 0.
        init_variance: Variance per weight of the initial law around the start.
        device: Where gradients are computed.
        block: Records per call; memory grows with block × weights.
    """

    module: torch.nn.Module = field(default_factory=torch.nn.Identity)
    criterion: Criterion = torch.nn.functional.cross_entropy
    clip: float = 1.0
    input_shape: tuple[int, ...] = ()
    curvature: float = 1.0
    start: str = "module"
    init_variance: float = 0.0
    device: str = "cpu"
    block: int = 256

    name: ClassVar[str] = "network"
    clips_each: ClassVar[bool] = True
    twice_differentiable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("clip", "curvature"):
            object.__setattr__(self, name, check_positive(name, getattr(self, name)))
        own = copy.deepcopy(self.module).eval()
        for part in own.modules():
            if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
                raise AssumptionViolated(
                    "BatchNorm makes one record's output depend on the others of its batch, so no gradient of a record exists; "
                    "use GroupNorm or LayerNorm"
                )
        trained = [(name, parameter) for name, parameter in own.named_parameters() if parameter.requires_grad]
        if not trained:
            raise InvalidParameter("the module has no parameters to train")
        own.to(self.device)
        names = [name for name, _ in trained]
        origin = torch.cat([parameter.detach().reshape(-1) for _, parameter in trained]).to(self.device, torch.float32)
        non_negative("init_variance", self.init_variance)
        if check_choice("start", self.start, _STARTS) == "zero":
            check_positive("init_variance", self.init_variance)
            origin = torch.zeros_like(origin)
        object.__setattr__(self, "module", own)
        object.__setattr__(self, "input_shape", tuple(self.input_shape))
        object.__setattr__(self, "_trained", names)
        object.__setattr__(self, "_origin", origin)

    _trained: list[str] = field(default_factory=list, init=False, repr=False)
    _origin: torch.Tensor = field(default_factory=lambda: torch.zeros(0), init=False, repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NetworkLoss) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self.radius, self.classes, self.clip, self.dimension(0)))

    def _identity(self) -> tuple[Any, ...]:
        """Return what two equal losses share: every setting, the layers, and the parameters that training starts from."""
        facts = (
            self.radius,
            self.classes,
            self.clip,
            self.input_shape,
            self.curvature,
            self.start,
            self.init_variance,
            self.criterion,
        )
        state = {name: value for name, value in self.module.state_dict().items() if name not in self._trained}
        constants = tuple((name, value.cpu().numpy().tobytes()) for name, value in state.items())
        return (*facts, repr(self.module), tuple(self._trained), self._origin.cpu().numpy().tobytes(), constants)

    @property
    def constants(self) -> LossConstants:
        """The clipping norm and the declared curvature, neither proven; infinite weak convexity and range."""
        return LossConstants(
            lipschitz=self.clip, smoothness=self.curvature, weak_convexity=math.inf, range=math.inf, proven=False
        )

    def dimension(self, features: int) -> int:
        return int(self._origin.numel())

    def shape(self, features: int) -> tuple[int, int]:
        """Return (1, d): all trained parameters in one row."""
        return 1, self.dimension(features)

    def to_dict(self) -> dict[str, Any]:
        """Describe the loss as JSON, for a plan in a file or a store.

        Raises:
            InvalidParameter: If the module is not a Sequential of describable layers, trains only some parameters, starts from parameters
                of its own, or has another criterion than cross-entropy.
        """
        if self.criterion is not torch.nn.functional.cross_entropy:
            raise InvalidParameter("a criterion is code and is not written to a file; use cross-entropy, the default")
        if self.start != "zero" or self._trained != [name for name, _ in self.module.named_parameters()]:
            raise InvalidParameter(
                "a file holds no parameters of a module; give start='zero' with init_variance=, and train every parameter"
            )
        own = {name: getattr(self, name) for name in _WRITTEN}
        return {"name": self.name, **own, "input_shape": list(self.input_shape), "module": describe_module(self.module)}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> NetworkLoss:
        """Build the loss that `to_dict` described, without its name.

        Raises:
            InvalidParameter: If a field is missing, unknown, or outside its range.
        """
        if set(fields) != {*_WRITTEN, "input_shape", "module"} or not isinstance(fields["input_shape"], list):
            raise InvalidParameter(f"loss 'network' takes {', '.join(_WRITTEN)}, input_shape as a list, and module")
        return cls(**{**fields, "input_shape": tuple(fields["input_shape"]), "module": build_module(fields["module"])})

    def value(self, scores: Any, labels: Any, xp: Any) -> Any:
        def loss(row: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
            return self.criterion(row[None], label[None])

        rows, answers = torch.as_tensor(np.asarray(scores)), torch.as_tensor(np.asarray(labels).astype(np.int64))
        return vmap(loss)(rows, answers).numpy()

    def load_module(self, weights: Weights) -> torch.nn.Module:
        """Return a copy of the module with published weights in place, for torch code outside this package."""
        loaded = copy.deepcopy(self.module)
        loaded.load_state_dict({**loaded.state_dict(), **self._parameters(weights)})
        return loaded

    def scores(self, weights: Weights, features: NDArray[Any]) -> Weights:
        """Return the module's output for each record: (rows, classes) float64."""
        return self._outputs(self.module, weights, features)

    def representation(self, weights: Weights, features: NDArray[Any]) -> Weights:
        """Return what the layers before the last compute of each record: (rows, width) float64."""
        if not isinstance(self.module, torch.nn.Sequential) or len(self.module) < 2:
            raise AssumptionViolated(
                "a head reads what all layers but the last compute; give a torch.nn.Sequential of two or more layers, or stages of "
                "kind 'network' alone"
            )
        return self._outputs(torch.nn.Sequential(*list(self.module.children())[:-1]), weights, features)

    def width(self, features: int) -> int:
        """Return the number of columns of the `representation`."""
        return int(self.representation(np.zeros(self.dimension(features)), np.zeros((1, features))).shape[1])

    def _outputs(self, part: torch.nn.Module, weights: Weights, features: NDArray[Any]) -> Weights:
        """Return what a part of the module computes of each record by itself, flattened."""
        names = {name for name, _ in part.named_parameters()}
        parameters = {name: value for name, value in self._parameters(weights).items() if name in names}

        def output(row: torch.Tensor) -> torch.Tensor:
            made: torch.Tensor = functional_call(part, (parameters, self._buffers(part)), (self._input(row),))
            return made.reshape(-1)

        rows = torch.tensor(np.asarray(features, np.float32), device=self.device)
        with torch.no_grad():
            return torch.cat([vmap(output)(some) for some in torch.split(rows, _ROWS)]).double().cpu().numpy()

    def block_sums(
        self, records: Records
    ) -> Callable[[Weights, NDArray[np.int64] | None], Iterator[Callable[[], Weights]]]:
        """Return (weights, slots or None for all) -> one function for each block of slots that sums its clipped gradients.

        Null slots stay in their places and are masked out of the sums, as a module need not vanish on a zero row.
        """
        rows = torch.tensor(np.asarray(records.features), device=self.device)
        labels = torch.as_tensor(np.where(records.occupied, records.labels, 0.0).astype(np.int64), device=self.device)
        used = torch.as_tensor(records.occupied, device=self.device)

        def sum_block(weights: Weights, part: torch.Tensor) -> Weights:
            gradients = self.clipped_gradients(weights, rows[part], labels[part])
            kept = torch.where(used[part][:, None], gradients, 0.0)
            return kept.sum(dim=0, dtype=torch.float64).cpu().numpy()

        def sums(weights: Weights, slots: NDArray[np.int64] | None) -> Iterator[Callable[[], Weights]]:
            chosen = torch.arange(len(rows)) if slots is None else torch.as_tensor(slots)
            for part in torch.split(chosen.to(self.device), self.block) if len(chosen) else ():
                yield partial(sum_block, weights, part)

        return sums

    def clipped_sum(self, weights: Weights, rows: NDArray[Any], labels: NDArray[Any]) -> Weights:
        """Return the sum of the clipped gradients of some records: (d,) float64."""
        inputs = torch.tensor(np.asarray(rows, np.float32), device=self.device)
        answers = torch.tensor(np.asarray(labels).astype(np.int64), device=self.device)
        return self.clipped_gradients(weights, inputs, answers).sum(dim=0, dtype=torch.float64).cpu().numpy()

    def clipped_gradients(self, weights: Weights, rows: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the clipped gradient of each record, (records, d); one that is not finite counts as 0."""

        def loss(parameters: dict[str, torch.Tensor], row: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
            scores = functional_call(self.module, (parameters, self._buffers(self.module)), (self._input(row),))
            return self.criterion(scores, label[None])

        parameters = self._parameters(weights)
        gradients = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, rows, labels)
        flat = torch.cat([gradients[name].reshape(len(rows), -1) for name in parameters], dim=1)
        norms = torch.linalg.vector_norm(flat, dim=1, keepdim=True, dtype=torch.float64)
        scale = torch.clamp(self.clip * (1 - _ROOM) / torch.clamp(norms, min=1e-30), max=1.0)
        return torch.where(torch.isfinite(norms), flat * scale.float(), 0.0)

    def _input(self, row: torch.Tensor) -> torch.Tensor:
        """Return one record as a batch of one."""
        return row.reshape(1, *self.input_shape) if self.input_shape else row[None]

    @staticmethod
    def _buffers(part: torch.nn.Module) -> dict[str, torch.Tensor]:
        """Return copies of a part's buffers, so that a call leaves no trace in the next one."""
        return {name: value.clone() for name, value in part.named_buffers()}

    def _parameters(self, weights: Weights) -> dict[str, torch.Tensor]:
        """Return the trained parameters by name, from one row of weights."""
        named = dict(self.module.named_parameters())
        flat = torch.as_tensor(np.asarray(weights, np.float32).reshape(-1), device=self.device) + self._origin
        parts = torch.split(flat, [named[name].numel() for name in self._trained])
        return {name: part.view_as(named[name]) for name, part in zip(self._trained, parts, strict=True)}
