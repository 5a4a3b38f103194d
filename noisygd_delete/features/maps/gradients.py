"""Histograms of oriented gradients (Dalal & Triggs 2005), by code alone."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...errors import InvalidParameter, count, positive
from .base import PublicMap, by_blocks, check_width, numbers
from .rows import Floats, sums

_IMAGES = 64  # at a time
_FLOOR = 1e-3  # of an image's norm: blocks flatter than this stay near zero


@dataclass(frozen=True)
class OrientedGradients(PublicMap):
    """Of a grey image: in every cell, how much gradient points where; blocks of 2 × 2 cells brought to norm 1, clipped, and again.

    shape         height and width; the record is the image row by row, in any unit
    cell          pixels to a side
    orientations  parts of the half circle (a gradient and its opposite count as one), neighbours sharing linearly
    clip          most that one entry of a block may be
    """

    shape: tuple[int, int]
    cell: int = 4
    orientations: int = 9
    clip: float = 0.2

    kind: ClassVar[str] = "gradients"

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", image(self.shape))
        count("cell", self.cell, minimum=2)
        count("orientations", self.orientations, minimum=2, maximum=360)
        positive("clip", self.clip)
        if min(self._cells) < 2:
            raise InvalidParameter(
                f"must hold two cells of {self.cell} pixels each way; give a smaller cell", shape=self.shape
            )
        check_width(self.kind, self.width)

    @property
    def _cells(self) -> tuple[int, int]:
        return self.shape[0] // self.cell, self.shape[1] // self.cell

    @property
    def inputs(self) -> int:
        return math.prod(self.shape)

    @property
    def width(self) -> int:
        down, across = self._cells
        return (down - 1) * (across - 1) * 4 * self.orientations

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self), "shape": list(self.shape)}

    def features(self, inputs: Any) -> Floats:
        return by_blocks(numbers(inputs, self.inputs), self.width, _IMAGES, self._block)

    @cached_property
    def _shares(self) -> tuple[Floats, Floats]:
        """(cells, pixels), down and across: what part of a pixel falls to a cell, by its distance from the cell's middle."""

        def of(cells: int, pixels: int) -> Floats:
            middles = self.cell * (np.arange(cells) + 0.5) - 0.5
            return np.maximum(0.0, 1 - np.abs(np.arange(pixels)[None] - middles[:, None]) / self.cell)

        return of(self._cells[0], self.shape[0]), of(self._cells[1], self.shape[1])

    def _block(self, rows: Floats) -> Floats:
        # sums are written out entry by entry: a reduction's order might depend on how many images there are
        count_, (height, width), (down, across) = len(rows), self.shape, self._cells
        norms = np.sqrt(sums(rows * rows))
        images = (rows / np.where(norms > 0, norms, 1.0)[:, None]).reshape(count_, height, width)
        padded = np.pad(images, ((0, 0), (1, 1), (1, 1)), mode="edge")
        vertical, horizontal = padded[:, 2:, 1:-1] - padded[:, :-2, 1:-1], padded[:, 1:-1, 2:] - padded[:, 1:-1, :-2]
        strength = np.sqrt(vertical * vertical + horizontal * horizontal)
        angle = np.mod(np.arctan2(vertical, horizontal), math.pi) / math.pi * self.orientations
        shares_down, shares_across = self._shares
        cells = np.zeros((count_, down, across, self.orientations))
        for orientation in range(self.orientations):
            distance = np.abs(angle - orientation)
            plane = strength * np.maximum(0.0, 1 - np.minimum(distance, self.orientations - distance))
            strips = np.zeros((count_, down, width))
            for cell, pixel in zip(*np.nonzero(shares_down), strict=True):
                strips[:, cell] += shares_down[cell, pixel] * plane[:, pixel]
            for cell, pixel in zip(*np.nonzero(shares_across), strict=True):
                cells[:, :, cell, orientation] += shares_across[cell, pixel] * strips[:, :, pixel]
        corners = (cells[:, :-1, :-1], cells[:, 1:, :-1], cells[:, :-1, 1:], cells[:, 1:, 1:])
        blocks = np.concatenate(corners, axis=3).reshape(-1, 4 * self.orientations)
        blocks = np.minimum(blocks / np.sqrt(sums(blocks * blocks) + _FLOOR**2)[:, None], self.clip)
        blocks /= np.sqrt(sums(blocks * blocks) + _FLOOR**2)[:, None]
        return blocks.reshape(count_, -1)


def image(shape: Any) -> tuple[int, int]:
    """(height, width), or `InvalidParameter`."""
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise InvalidParameter("must be the height and the width of the image, in pixels", shape=shape)
    return count("height", shape[0], maximum=1 << 14), count("width", shape[1], maximum=1 << 14)
