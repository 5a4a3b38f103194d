"""Random Fourier features (Rahimi & Recht 2007): a public random draw that approximates a kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...errors import InvalidParameter, check_count, check_positive
from .base import Floats, PublicMap, by_blocks, check_inputs, check_width

_LARGEST = 1 << 27  # entries of the matrix
_GRID = 1024.0  # weights are multiples of 1/1024, so that every machine's erf and libm give the same ones


@dataclass(frozen=True)
class RandomFourier(PublicMap):
    """√2 cos(⟨w_j, x⟩ + b_j), w_j ~ N(0, I/bandwidth²), b_j uniform, drawn from a public seed.

    Attributes:
        reads: Numbers per record (set by a schema).
        size: Number of features.
        bandwidth: Of the Gaussian kernel exp(−‖x − y‖²/(2·bandwidth²)) that their inner products approximate.
        seed: The public seed.
        centred: Whether to subtract the record's own mean from its numbers first and divide them by their norm
            (images).
    """

    reads: int
    size: int = 1000
    bandwidth: float = 1.0
    seed: int = 0
    centred: bool = False

    kind: ClassVar[str] = "fourier"

    def __post_init__(self) -> None:
        check_count("reads", self.reads)
        check_count("seed", self.seed, minimum=0, maximum=2**63)
        check_positive("bandwidth", self.bandwidth)
        check_width(self.kind, check_count("size", self.size))
        if self.reads * self.size > _LARGEST:
            raise InvalidParameter(
                f"{self.size} features of {self.reads} inputs are over {_LARGEST} weights; give fewer"
            )

    @property
    def inputs(self) -> int:
        """Numbers per record: `reads`."""
        return self.reads

    @property
    def width(self) -> int:
        """`size`, one cosine of random phase each."""
        return self.size

    @cached_property
    def _drawn(self) -> tuple[Floats, Floats]:
        """Weights (size, inputs) and phases (size,).

        Drawn from a bit generator's raw words, which never change between versions of numpy.
        """
        from scipy.special import ndtri

        words = np.random.PCG64(self.seed).random_raw(self.size * (self.reads + 1))
        uniform = ((words >> np.uint64(12)).astype(np.float64) + 0.5) / 2.0**52
        split = self.size * self.reads
        weights = np.rint(ndtri(uniform[:split]) * _GRID) / _GRID
        phases = np.rint(2 * math.pi * uniform[split:] * _GRID) / _GRID
        return weights.reshape(self.size, self.reads) / self.bandwidth, phases

    def features(self, inputs: Any) -> Floats:
        """Return (records, size) of √2 cos(⟨w_j, x⟩ + b_j), record by record: no bit depends on other records."""
        return by_blocks(
            check_inputs(inputs, self.inputs), self.width, 1, self._one
        )  # a product's last bits depend on its shape

    def _one(self, rows: Floats) -> Floats:
        weights, phases = self._drawn
        record = rows[0]
        if self.centred:
            record = record - record.mean()
            norm = math.sqrt(float(record @ record))
            record = record / norm if norm > 0 else record
        made: Floats = math.sqrt(2) * np.cos(weights @ record + phases)[None]
        return made
