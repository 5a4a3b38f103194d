"""Compositions of maps: in sequence, or concatenated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...errors import InvalidParameter, check_positive
from .base import Floats, PublicMap, check_width, row_sums


@dataclass(frozen=True)
class _Composed(PublicMap):
    of: tuple[PublicMap, ...]

    def __post_init__(self) -> None:
        maps = tuple(self.of) if isinstance(self.of, (tuple, list)) else ()
        if not maps or not all(isinstance(part, PublicMap) for part in maps):
            raise InvalidParameter(f"the map {self.kind!r} needs of=, at least one map")
        object.__setattr__(self, "of", maps)

    @property
    def inputs(self) -> int | None:
        """Numbers per record of the first map; None if it is a map of texts."""
        return self.of[0].inputs

    def facts(self) -> dict[str, Any]:
        """Return the facts of `PublicMap.facts`, with those of every part under "of"."""
        return {**super().facts(), "of": [part.facts() for part in self.of]}


@dataclass(frozen=True)
class Chain(_Composed):
    """Maps in sequence: each map's features are the inputs of the next."""

    kind: ClassVar[str] = "chain"

    def __post_init__(self) -> None:
        super().__post_init__()
        for one, other in zip(self.of, self.of[1:], strict=False):
            if one.width != other.inputs:
                raise InvalidParameter(
                    f"{one.kind!r} makes {one.width} features and {other.kind!r} reads {other.inputs}"
                )

    @property
    def width(self) -> int:
        """Features per record of the last map."""
        return self.of[-1].width

    def features(self, inputs: Any) -> Floats:
        """Return the last map's features, (records, width), each map reading the features of the one before."""
        for part in self.of:
            inputs = part.features(inputs)
        return np.asarray(inputs)


@dataclass(frozen=True)
class ConcatenatedMap(_Composed):
    """The concatenated features of several maps of the same record.

    Attributes:
        weights: Norm to which each map's features are brought; empty: unchanged. The constant column is 1.
    """

    weights: tuple[float, ...] = ()

    kind: ClassVar[str] = "beside"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "weights", tuple(check_positive("weights", weight) for weight in self.weights))
        if self.weights and len(self.weights) != len(self.of):
            raise InvalidParameter(f"{len(self.weights)} weights for {len(self.of)} maps; give one for each, or none")
        if len({part.inputs for part in self.of}) != 1:
            raise InvalidParameter("maps side by side read the same record: they must have as many inputs")
        check_width(self.kind, self.width)

    @property
    def width(self) -> int:
        """Features per record of all maps together."""
        return sum(part.width for part in self.of)

    def features(self, inputs: Any) -> Floats:
        """Return (records, width): the maps' features concatenated, brought to norm `weights` for each if given.

        Features that are all 0 remain 0.
        """
        made = [part.features(inputs) for part in self.of]
        for place, weight in enumerate(self.weights):
            norms = np.sqrt(row_sums(made[place] ** 2))
            made[place] = made[place] * (weight / np.where(norms > 0, norms, 1.0))[:, None]
        return np.concatenate(made, axis=1)
