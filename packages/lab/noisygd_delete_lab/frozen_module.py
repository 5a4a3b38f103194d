"""A frozen torch module as a feature map."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from noisygd_delete.errors import AssumptionViolated, InvalidParameter, InvalidRecords, check_count
from noisygd_delete.features.maps.base import Floats, ImportedMap, by_blocks, check_inputs

from .described import Description, tensor

if TYPE_CHECKING:
    import torch

_BATCH_STATISTICS = (
    "reads statistics of the batch, so a record's features would depend on the others in it and an erased record would live on in "
    "theirs: call module.eval() and keep running statistics (track_running_stats=True), or use GroupNorm or LayerNorm"
)


@dataclass(frozen=True, eq=False)
class FrozenModule(ImportedMap):
    """Feature map `module(inputs)`, flattened, with fixed weights and attributes.

    The module must never have seen the private records.

    Attributes:
        module: Maps (records, *input_shape) to (records, …); in evaluation mode.
        input_shape: Shape of one record.
        device: Device of the module.
        block: Records per call. With 1, a record's features cannot depend on the other records; more is faster, and a
            kernel may then round depending on the batch size, which `maps.check` detects.
        code: Name and version of the code of `module`'s classes and functions, if Python cannot show their source.
    """

    module: torch.nn.Module
    input_shape: tuple[int, ...]
    device: str = "cpu"
    block: int = 1
    code: str = ""
    _made: str = field(default="", init=False)

    kind: ClassVar[str] = "module"
    version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "input_shape", tuple(check_count("input_shape", side) for side in self.input_shape))
        check_count("block", self.block)
        for name, part in self.module.named_modules():
            if "BatchNorm" in type(part).__name__ and (part.training or getattr(part, "running_mean", None) is None):
                raise AssumptionViolated(f"the layer {name or type(part).__name__!r} {_BATCH_STATISTICS}")
            if part.training and "Dropout" in type(part).__name__:
                raise AssumptionViolated(
                    f"the layer {name or type(part).__name__!r} is in training mode and draws at random: call module.eval()"
                )
        self.module.requires_grad_(False).to(self.device)
        object.__setattr__(self, "_made", self._hashed())

    def to_dict(self) -> dict[str, Any]:
        raise InvalidParameter(
            'a torch module is code and is not written to a schema: export it (torch.onnx.export) and name the file, kind = "onnx"'
        )

    def facts(self) -> dict[str, Any]:
        """Return structure, attributes, source of code outside torch, and weights, all as of construction."""
        shape = list(self.input_shape)
        return {"kind": self.kind, "version": self.version, "input_shape": shape, "module": self._made}

    def _hashed(self) -> str:
        weights = [[name, *tensor(one)] for name, one in sorted(self.module.state_dict().items())]
        whole = [weights, Description(self.code).layers(self.module)]
        return hashlib.sha256(json.dumps(whole).encode()).hexdigest()

    def features(self, inputs: Any) -> Floats:
        if self._hashed() != self._made:
            raise AssumptionViolated(
                "the module's weights, running statistics or attributes are no longer those that the map was made with: rows made before "
                "and after would come from two maps. Make a new FrozenModule of a copy that nothing trains and that keeps nothing of a call"
            )
        return by_blocks(check_inputs(inputs, self.inputs), self.width, self.block, self._run)

    def _run(self, rows: Floats) -> Floats:
        import torch

        given = torch.as_tensor(rows.astype(np.float32)).reshape(-1, *self.input_shape).to(self.device)
        with torch.no_grad():
            made = self.module(given)
        if not isinstance(made, torch.Tensor) or len(made) != len(given):
            raise InvalidRecords("the module must give one tensor with one row for each record")
        features: Floats = made.flatten(1).double().cpu().numpy()
        if not np.isfinite(features).all():
            raise InvalidRecords("the module gave a feature that is not finite")
        return features
