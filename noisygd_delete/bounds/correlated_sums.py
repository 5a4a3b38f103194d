"""Markov sums: noisy sums of a table whose noise is recomputed from what was published, not kept.

A draw j has a parent, an earlier draw, or none (a root: c = 0). With D_j the table that it releases and S(D) = Σ v over its rows,

    y_j = S(D_j) + c_j (y_parent − S(D_parent)) + σ_j ξ_j,        ξ_j standard normal, new for every draw

Two worlds differ in one person's rows; P_j is what these add to S(D_j) in one world less the other.

* y_j − S(D_j) = c_j (y_parent − S(D_parent)) + σ_j ξ_j is a function of the noise alone. So draws whose tables lack the rows have,
  together, the law that they would have if the rows had never been: nothing is left, if requests were fixed beforehand.
* Given all draws before it, y_j is Gaussian in both worlds with means P_j − c_j P_parent apart. So all draws together are √Q-GDP,

      Q = Σ_j ‖P_j − c_j P_parent‖² / σ_j²,

  exactly for fixed requests, and under adaptive ones if Q is at most that on every path (a martingale argument).

On a machine entries of v and of y are whole numbers of a public grid, c (y_parent − S) is rounded to it, and the noise is an exact
discrete Gaussian. Rounding moves a coordinate by less than one step where P_parent ≠ 0. A shift s of a discrete Gaussian of variance
parameter σ² costs q s²/(2σ²) at every Rényi order q, and is Gaussian DP with s²/(σ² − 144). Floats here are rounded up: by more than
their own roundings come to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

CARRY_BITS = 20  # c is a whole number of 2⁻²⁰
_UP, _SUM_UP = 1 + 2.0**-46, 1 + 2.0**-34  # more than the roundings of one charge come to, and those of a sum of 2¹⁶
_APART = 1 + 2.0**-4
SMOOTHING_SQUARED = 144  # (12 h)²: what a discrete Gaussian's variance loses as Gaussian DP


def sensitivity(*, norm_squared: int, label_weight: int, between_records: bool) -> float:
    """Δ of v = (x xᵀ, β y x), the matrix in Frobenius norm, rounded up, for ‖x‖² ≤ R² = `norm_squared` and one y = ±1, or one class of several.

    Against the null record √(R⁴ + β²R²). Between two records √2 (R² + β²/2) where β² ≤ 2R², else 2βR: with norms a, g, opposite labels and
    cosine ρ the square is a⁴ + g⁴ − 2a²g²ρ² + β²(a² + g² + 2agρ), largest at a = g = R, ρ = min(1, β²/(2R²)).
    """
    norm, label = float(norm_squared), float(label_weight) ** 2
    if not between_records:
        return math.sqrt(norm * norm + label * norm) * _UP
    if label <= 2 * norm:
        return (2 * norm + label) / math.sqrt(2.0) * _UP
    return 2 * math.sqrt(label * norm) * _UP


def rounding_norm(*, features: int, outputs: int, label_weight: int) -> float:
    """How far, at most, rounding every coordinate of (matrix, label sums) by a step moves v in its norm: √(D² + β²Dk), rounded up."""
    wide = float(features)
    return math.sqrt(wide * wide + float(label_weight) ** 2 * wide * outputs) * _UP


def draw_cost(
    *,
    carry: float | Fraction,
    variance: float,
    apart: float,
    rounded: float,
    stay: int = 0,
    joined: int = 0,
    left: int = 0,
) -> float:
    """(‖P − cP_parent‖/σ)² of one draw, rounded up: of a person with so many rows in both tables, in the draw's only, in its parent's only.

    Args:
        carry, variance: c and σ² of the draw; c as it is, for in floats it may be taken for a whole one.
        apart: Δ of one row.
        rounded: `rounding`; a whole c rounds nothing.
    """
    moved = float(abs(1 - carry) * stay + joined + carry * left) * apart
    if (stay or left) and carry % 1:
        moved += rounded
    return moved * moved / variance * _UP


def gaussian_factor(*, variance: float, label_weight: int) -> float:
    """What a charge is multiplied with for a μ²: the least variance of a coordinate, σ²/max(2, β²), loses 144 steps². Infinite where
    the noise is too small for the grid, or nearly so: a difference of near numbers would not be good to the last digits."""
    lost = SMOOTHING_SQUARED * max(2.0, float(label_weight) ** 2)
    return variance / (variance - lost) * _UP if variance > lost * _APART else math.inf


def equalizer_costs(releases: int) -> list[float]:
    """m of the equaliser for the draws after the first, T − 1 of them: what an erasure at that draw costs, in Δ²/V.

    m⁽¹⁾ = 1/3; m⁽ᵏ⁺¹⁾ − u(m⁽ᵏ⁺¹⁾) = m⁽ᵏ⁾ with u(m) = (√(1+m) − √m)², what staying costs: m⁽ᵏ⁺¹⁾ = (m − 1 + 2√(m² + m + 1))/3 at m = m⁽ᵏ⁾. The
    last draw has m⁽¹⁾. Whoever was there from the first is charged 1 + m⁽ᵀ⁻¹⁾ < 1 + √(T/2) in all, whenever they leave.
    """
    found = [1 / 3]
    for _ in range(releases - 2):
        before = found[-1]
        found.append((before - 1 + 2 * math.sqrt(before * before + before + 1)) / 3)
    return [found[releases - 2 - number] for number in range(releases - 1)]


def equalizer_schedule(*, releases: int, variance: float) -> list[tuple[float, float]]:
    """(c, σ²) of T draws in a chain, each of which has variance V or about that: c² = m/(1+m), σ² = V/(1+m). c = 0 for the first."""
    scale, steps = float(1 << CARRY_BITS), [(0.0, variance)]
    for reserve in equalizer_costs(releases):
        carry = math.floor(math.sqrt(reserve / (1 + reserve)) * scale + 0.5) / scale
        steps.append((carry, variance * (1 - carry * carry)))
    return steps


def stationary_schedule(*, releases: int, variance: float, carry: float) -> list[tuple[float, float]]:
    """The same with one c for all draws after the first: for streams without an end."""
    return [(0.0, variance), *[(carry, variance * (1 - carry * carry))] * (releases - 1)]


def patch_variance(*, carry: float, variance: float, number: int, usual: int) -> int:
    """w² of a patch, the `number`th since the last draw, where the next one has c and σ²: however many there are, they add less than a quarter
    of σ² to its noise. The first `usual` ones have nearly equal shares of that, K/((i + K − 1)(i + K)) of K usual ones."""
    share = usual / ((number + usual - 1) * (number + usual))
    return max(1, math.floor(variance / (4 * carry * carry) * share))


def worst_charges(
    *, draws: Sequence[tuple[float, float]], apart: float, rounded: float, joiners: bool, leaves: bool = True
) -> list[float]:
    """After each draw of a chain the largest Q of a row in one stretch of them, over every time at which it may come (the first draw
    alone, unless `joiners`) and go (never, unless `leaves`), rounded up. They rise: the last is a cap on every path."""
    present = gone = 0.0
    found: list[float] = []
    for carry, variance in draws:
        facts: dict[str, Any] = {"carry": carry, "variance": variance, "apart": apart, "rounded": rounded}
        joined = draw_cost(**facts, joined=1)
        if not found:
            present = joined
        else:
            gone = max(gone, present + draw_cost(**facts, left=1)) if leaves else 0.0
            present += draw_cost(**facts, stay=1)
            present = max(present, joined) if joiners else present
        found.append(max(present, gone) * _SUM_UP)
    return found
