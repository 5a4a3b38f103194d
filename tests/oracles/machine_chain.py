"""A coarse machine in one dimension: its states lie on a grid, an adversary rounds, and its laws are vectors, exact but for float64.

A step moves the grid point k to κ + N: κ any whole number with |hκ − φ(hk)| ≤ E, chosen by an adversary who knows the world, the state
and the test that will be made, N an exact discrete Gaussian. Its best play against a test is a dynamic programme: the largest expectation in world
1, the least in world 2. Nothing of the package is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from scipy.stats import norm

Map = Callable[[np.ndarray], np.ndarray]


class Machine:
    """A grid of step 1 from −`half` to `half`, discrete Gaussian noise of parameter τ in grid steps, cut off where it is 1e-300."""

    def __init__(self, half: int, noise: float) -> None:
        self.points = np.arange(-half, half + 1, dtype=float)
        reach = np.arange(-int(30 * noise), int(30 * noise) + 1)
        weights = np.exp(-(reach**2) / (2 * noise**2))
        self.kernel = weights / weights.sum()

    def before(self, value: np.ndarray, map_: Map, error: float) -> np.ndarray:
        """The largest expectation, one step before, of a function of the next state."""
        reach = len(self.kernel) // 2
        padded = np.concatenate([np.full(reach, value[0]), value, np.full(reach, value[-1])])
        expected = np.convolve(padded, self.kernel, mode="valid")  # at centre κ
        centres = map_(self.points)
        low, high = np.ceil(centres - error - 1e-12), np.floor(centres + error + 1e-12)
        assert (low <= high).all(), "the error leaves at least one grid point"
        best = np.full(len(self.points), -np.inf)
        for extra in range(int((high - low).max()) + 1):
            chosen = np.minimum(low + extra, high)
            place = np.clip(chosen - self.points[0], 0, len(self.points) - 1).astype(int)
            best = np.maximum(best, expected[place])
        return best

    def largest(self, test: np.ndarray, maps: Sequence[Map], error: float, start: int) -> float:
        for map_ in reversed(maps):
            test = self.before(test, map_, error)
        return float(test[start - int(self.points[0])])

    def apart(
        self,
        one: Sequence[Map],
        two: Sequence[Map],
        error: float,
        start: int | tuple[int, int],
        tests: Sequence[np.ndarray],
    ) -> float:
        """sup over the tests, and both orders of the worlds, of Φ⁻¹(P₁) − Φ⁻¹(P₂); `start` of both worlds, or of each."""
        worst, (here, there) = 0.0, (start, start) if isinstance(start, int) else start
        for first, begun, second, other in ((one, here, two, there), (two, there, one, here)):
            for test in tests:
                most = self.largest(test, first, error, begun)
                least = 1 - self.largest(1 - test, second, error, other)
                if 1e-7 < most < 1 - 1e-7 and 1e-7 < least < 1 - 1e-7:
                    worst = max(worst, float(norm.ppf(most) - norm.ppf(least)))
        return worst

    def tests(self, noise: float) -> list[np.ndarray]:
        """Half lines about the middle, parity, and blocks."""
        cuts = np.arange(-4 * noise, 4 * noise, max(1.0, noise / 4))
        lines = [(self.points >= cut).astype(float) for cut in cuts]
        return [*lines, (self.points % 2 == 0).astype(float), (self.points // 4 % 2 == 0).astype(float)]


def taut_string(gaps: Sequence[float], contraction: float, variances: Sequence[float]) -> float:
    """The least Σ a²/v over shifts with z = c z + gap − a ≥ 0 and z = 0 at the end: by the convex minorant, point by point."""
    power, corners, height, width = 1.0, [(0.0, 0.0)], 0.0, 0.0
    for gap, variance in zip(gaps, variances, strict=True):
        power *= contraction
        height, width = height + gap / power, width + variance / power**2
        corners.append((width, height))
    hull: list[tuple[float, float]] = []
    for corner in corners:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (corner[0] - hull[-1][0]) >= (corner[1] - hull[-1][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append(corner)
    return sum((b[1] - a[1]) ** 2 / (b[0] - a[0]) for a, b in pairwise(hull))
