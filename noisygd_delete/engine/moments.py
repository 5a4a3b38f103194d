"""First and second moments of a table with exact noise, and the weights that least squares makes of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..records import Records
from .discrete_gaussian import on_noisy_grid
from .noise import Noise
from .summation import in_a_tree

_BLOCK = 4096  # rows in memory as float64
_PART = 1 << 16  # sums that get their noise at once: an exact draw takes hundreds of bytes

Matrix = NDArray[np.float64]


def moments(records: Records, *, outputs: int, radius: float) -> tuple[Matrix, Matrix]:
    """Σ e_y uᵀ, (outputs, d), and Σ u uᵀ, (d, d), u = x/radius; with one output Σ y u, y = ±1. Null records add nothing.

    Blocks of slots are added in a tree, so that neighbouring tables differ in one block and in the few float64 additions that it goes
    through: below the slack that the plan counts.
    """
    width = records.features.shape[1]

    def blocks() -> Iterator[Matrix]:
        for start in range(0, records.slots, _BLOCK):
            part = slice(start, start + _BLOCK)
            rows = np.asarray(records.features[part], np.float64) / radius
            labels = np.asarray(records.labels[part], np.float64)[:, None]
            answers = (labels if outputs == 1 else labels == np.arange(outputs)).astype(np.float64)
            yield np.concatenate([answers.T @ rows, rows.T @ rows])

    both = in_a_tree(blocks(), (outputs + width, width))
    return both[:outputs], both[outputs:]


def noisy(first: Matrix, second: Matrix, *, deviation: float, noise: Noise) -> tuple[Matrix, Matrix]:
    """The same with noise of this standard deviation on every sum, √2 times as much on the diagonal of the second.

    Once divided by the deviation the sums are rounded to a public grid and get an exact discrete Gaussian of parameter 1 on it.
    """
    above = np.triu_indices(len(second))
    root = np.where(above[0] == above[1], np.sqrt(2.0), 1.0)
    sums = np.concatenate([first.ravel(), second[above] / root]) / deviation
    parts = [on_noisy_grid(sums[k : k + _PART], noise, output_noise=1.0) for k in range(0, len(sums), _PART)]
    drawn = np.concatenate(parts) * deviation
    square = np.zeros_like(second)
    square[above] = drawn[first.size :] * root
    return drawn[: first.size].reshape(first.shape), square + np.triu(square, 1).T


def least_squares(first: Matrix, second: Matrix, *, ridge: float) -> Matrix:
    """W = first (second + ridge I)⁻¹, eigenvalues of `second` below 0 taken as 0: (outputs, d).

    Scaled by the number of classes, so that differences of scores are log odds to first order around even ones.
    """
    values, axes = np.linalg.eigh(second)
    weights: Matrix = (first @ axes / (np.maximum(values, 0.0) + ridge)) @ axes.T
    return weights * max(2, len(first))
