"""Feature maps defined by code only, available to stores where the lab is installed.

Histograms of oriented gradients (Dalal & Triggs 2005), and a scattering transform (Mallat 2012; Bruna & Mallat 2013)
with Morlet wavelets. They are measured by `python -m benchmarks maps` and `audits`.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.errors import InvalidParameter, check_count, check_positive
from noisygd_delete.features.maps.base import Floats, PublicMap, by_blocks, check_inputs, check_width, row_sums

_IMAGES = 16  # images per block
_FLOOR = 1e-3  # relative to an image's norm: blocks flatter than this stay near zero
_CENTRE, _SPREAD = 3 * math.pi / 4, 0.8  # frequency and width in pixels of the finest wavelet
_WRAPS = (-2, -1, 0, 1, 2)  # periods of the frequency plane that a filter is summed over


@dataclass(frozen=True)
class OrientedGradients(PublicMap):
    """Histogram of oriented gradients of a grey image.

    Blocks of 2 × 2 cells are normalised, clipped and normalised again.

    Attributes:
        shape: Height and width; the record is the image row by row, in any unit.
        cell: Side of a cell in pixels.
        orientations: Bins of the half circle (opposite gradients are equal), with linear interpolation between
            neighbours.
        clip: Largest value of an entry of a block.
    """

    shape: tuple[int, int]
    cell: int = 4
    orientations: int = 9
    clip: float = 0.2

    kind: ClassVar[str] = "gradients"

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", image(self.shape))
        check_count("cell", self.cell, minimum=2)
        check_count("orientations", self.orientations, minimum=2, maximum=360)
        check_positive("clip", self.clip)
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
        return by_blocks(check_inputs(inputs, self.inputs), self.width, _IMAGES, self._block)

    @cached_property
    def _shares(self) -> tuple[Floats, Floats]:
        """Weights (cells, pixels) of pixels in cells, down and across, by the distance from the cell's centre."""

        def of(cells: int, pixels: int) -> Floats:
            middles = self.cell * (np.arange(cells) + 0.5) - 0.5
            return np.maximum(0.0, 1 - np.abs(np.arange(pixels)[None] - middles[:, None]) / self.cell)

        return of(self._cells[0], self.shape[0]), of(self._cells[1], self.shape[1])

    def _block(self, rows: Floats) -> Floats:
        # sums are written out entry by entry: the order of a reduction might depend on the number of images
        count_, (height, width), (down, across) = len(rows), self.shape, self._cells
        norms = np.sqrt(row_sums(rows * rows))
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
        blocks = np.minimum(blocks / np.sqrt(row_sums(blocks * blocks) + _FLOOR**2)[:, None], self.clip)
        blocks /= np.sqrt(row_sums(blocks * blocks) + _FLOOR**2)[:, None]
        return blocks.reshape(count_, -1)


def image(shape: Any) -> tuple[int, int]:
    """Return (height, width), or raise `InvalidParameter`."""
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise InvalidParameter("must be the height and the width of the image, in pixels", shape=shape)
    return check_count("height", shape[0], maximum=1 << 14), check_count("width", shape[1], maximum=1 << 14)


@dataclass(frozen=True)
class Scattering(PublicMap):
    """Local means of an image, of its wavelet moduli, and of the moduli of those; each path is normalised.

    Attributes:
        shape: Height and width; the record is the image row by row, in any unit.
        scales: J: wavelets at scales 1, 2, …, 2^(J−1), means over 2^J pixels.
        orientations: Directions of the wavelets.
    """

    shape: tuple[int, int]
    scales: int = 2
    orientations: int = 4

    kind: ClassVar[str] = "scattering"

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", image(self.shape))
        check_count("scales", self.scales, maximum=6)
        check_count("orientations", self.orientations, maximum=16)
        if min(self.shape) < self._step:
            raise InvalidParameter(
                f"is smaller than 2^scales = {self._step} pixels; give fewer scales", shape=self.shape
            )
        check_width(self.kind, self.width)

    @property
    def _step(self) -> int:
        return 1 << self.scales

    @property
    def _padded(self) -> tuple[int, int]:
        """Height and width with a border of half a step, rounded up to multiples of a step."""
        down, across = (-(-(side + self._step) // self._step) * self._step for side in self.shape)
        return down, across

    @property
    def _positions(self) -> int:
        return math.prod(-(-side // self._step) for side in self.shape)

    @property
    def _paths(self) -> int:
        j, turns = self.scales, self.orientations
        return 1 + j * turns + j * (j - 1) // 2 * turns * turns

    @property
    def inputs(self) -> int:
        return math.prod(self.shape)

    @property
    def width(self) -> int:
        return self._paths * self._positions

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self), "shape": list(self.shape)}

    def features(self, inputs: Any) -> Floats:
        return by_blocks(check_inputs(inputs, self.inputs), self.width, _IMAGES, self._block)

    @cached_property
    def _filters(self) -> tuple[Floats, list[list[Floats]]]:
        """Frequency responses of the local mean, and of the wavelets [scale][orientation]."""
        grid = [np.asarray(2 * math.pi * np.fft.fftfreq(side), np.float64) for side in self._padded]
        mean = self._gaussian(grid, _SPREAD * 2 ** (self.scales - 1), 0.0, 1.0, 0.0)
        turns = [math.pi * turn / self.orientations for turn in range(self.orientations)]
        return mean / mean[0, 0], [
            [self._wavelet(grid, _SPREAD * 2**scale, _CENTRE / 2**scale, turn) for turn in turns]
            for scale in range(self.scales)
        ]

    def _wavelet(self, grid: list[Floats], spread: float, centre: float, turn: float) -> Floats:
        slant = 4 / max(4, self.orientations)
        wave = self._gaussian(grid, spread, centre, slant, turn)
        hill = self._gaussian(grid, spread, 0.0, slant, turn)
        wave -= wave[0, 0] / hill[0, 0] * hill  # no response to a constant
        return wave

    @staticmethod
    def _gaussian(grid: list[Floats], spread: float, centre: float, slant: float, turn: float) -> Floats:
        response = np.zeros((len(grid[0]), len(grid[1])))
        for up in _WRAPS:
            for right in _WRAPS:
                y, x = grid[0][:, None] + 2 * math.pi * up, grid[1][None] + 2 * math.pi * right
                along = x * math.cos(turn) + y * math.sin(turn) - centre
                beside = (y * math.cos(turn) - x * math.sin(turn)) / slant
                response += np.exp(-(spread**2) / 2 * (along**2 + beside**2))
        return response

    def _block(self, rows: Floats) -> Floats:
        number, (height, width), (down, across) = len(rows), self.shape, self._padded
        norms = np.sqrt(row_sums(rows * rows))
        images = (rows / np.where(norms > 0, norms, 1.0)[:, None]).reshape(number, height, width)
        top, left = (down - height) // 2, (across - width) // 2
        border = ((0, 0), (top, down - height - top), (left, across - width - left))
        whole = np.fft.fft2(np.pad(images, border, mode="edge"))
        mean, wavelets = self._filters

        def local(spectrum: NDArray[np.complex128]) -> Floats:
            blurred = np.fft.ifft2(spectrum * mean).real
            inner = blurred[:, top : top + height, left : left + width]
            path = inner[:, :: self._step, :: self._step].reshape(number, -1)
            return path / np.sqrt(row_sums(path * path) + _FLOOR**2)[:, None]

        paths = [local(whole)]
        for scale, group in enumerate(wavelets):
            for wavelet in group:
                modulus = np.fft.fft2(np.abs(np.fft.ifft2(whole * wavelet)))
                paths.append(local(modulus))
                for coarser in wavelets[scale + 1 :]:
                    paths += [local(np.fft.fft2(np.abs(np.fft.ifft2(modulus * other)))) for other in coarser]
        return np.concatenate(paths, axis=1)
