"""Sufficient-statistics perturbation with correlated noise, recomputed from published sums instead of stored.

A draw j has a parent, an earlier draw, or none (a root: c = 0). With D_j the table that it releases and S(D) = Σ v over
its rows,

    y_j = S(D_j) + c_j (y_parent − S(D_parent)) + σ_j ξ_j,        ξ_j standard normal, independent for every draw

Neighbouring datasets differ in one person's rows; P_j is the difference of their sums S(D_j).

* y_j − S(D_j) = c_j (y_parent − S(D_parent)) + σ_j ξ_j is a function of the noise alone. So draws whose tables lack the
  rows have, jointly, the law that they would have had if the rows had never been present, provided that requests were
  fixed beforehand.
* Given all earlier draws, y_j is Gaussian on both datasets, with means that differ by P_j − c_j P_parent. So all draws
  together are √Q-GDP,

      Q = Σ_j ‖P_j − c_j P_parent‖² / σ_j²,

  exactly for fixed requests, and under adaptive requests if Q is at most that on every path (a martingale argument).

In the implementation the entries of v and y are integers on a public grid, c (y_parent − S) is rounded to it, and the
noise is an exact discrete Gaussian. Rounding moves a coordinate by less than one grid step if P_parent ≠ 0. A shift s
of a discrete Gaussian of variance parameter σ² costs q s²/(2σ²) at every Rényi order q, and is Gaussian DP with s²/(σ²
− 144). Floats are rounded up by more than their own rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

CARRY_BITS = 20  # c is a multiple of 2⁻²⁰
_UP, _SUM_UP = 1 + 2.0**-46, 1 + 2.0**-34  # exceed the rounding errors of one charge, and of a sum of 2¹⁶ charges
_APART = 1 + 2.0**-4
SMOOTHING_SQUARED = 144  # (12 h)²: reduction of a discrete Gaussian's variance in its Gaussian DP bound


def sensitivity(*, norm_squared: int, label_weight: int, between_records: bool) -> float:
    """Return Δ of v = (x xᵀ, β y x), rounded up, with the matrix in Frobenius norm.

    Against the null record it is √(R⁴ + β²R²). Between two records it is √2 (R² + β²/2) if β² ≤ 2R², else 2βR: with
    norms a, g, opposite labels and cosine ρ the square is a⁴ + g⁴ − 2a²g²ρ² + β²(a² + g² + 2agρ), largest at a = g = R,
    ρ = min(1, β²/(2R²)).

    Args:
        norm_squared: R² ≥ ‖x‖².
        label_weight: β; the label is one y = ±1, or one class of several.
        between_records: Whether to compare two records (replace-one) instead of a record and the null record
            (zero-out).
    """
    norm, label = float(norm_squared), float(label_weight) ** 2
    if not between_records:
        return math.sqrt(norm * norm + label * norm) * _UP
    if label <= 2 * norm:
        return (2 * norm + label) / math.sqrt(2.0) * _UP
    return 2 * math.sqrt(label * norm) * _UP


def rounding_norm(*, features: int, outputs: int, label_weight: int) -> float:
    """Return √(D² + β²Dk), rounded up: the largest change of ‖v‖ from rounding every coordinate by one grid step.

    The coordinates are those of the matrix and the label sums, for D features and k outputs.
    """
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
    """Return (‖P − cP_parent‖/σ)² of one draw, rounded up.

    Args:
        carry: c of the draw, unrounded, since a float could turn a fraction into an integer.
        variance: σ² of the draw.
        apart: Δ of one row.
        rounded: `rounding_norm`; not added if c is an integer, which needs no rounding.
        stay: Rows of the person in both the draw's table and its parent's.
        joined: Rows in the draw's table only.
        left: Rows in the parent's table only.
    """
    moved = float(abs(1 - carry) * stay + joined + carry * left) * apart
    if (stay or left) and carry % 1:
        moved += rounded
    return moved * moved / variance * _UP


def gaussian_factor(*, variance: float, label_weight: int) -> float:
    """Return the factor that converts a charge to μ²; infinite if the noise is too small for the grid, or nearly so.

    The smallest variance of a coordinate, σ²/max(2, β²), loses 144 squared grid steps. Close to the limit the
    difference of nearly equal numbers would lose its last digits.
    """
    lost = SMOOTHING_SQUARED * max(2.0, float(label_weight) ** 2)
    return variance / (variance - lost) * _UP if variance > lost * _APART else math.inf


def equalizer_costs(releases: int) -> list[float]:
    """Return m of the equalizer for each of the T − 1 draws after the first.

    m is the cost of an erasure at that draw, in Δ²/V. m⁽¹⁾ = 1/3; m⁽ᵏ⁺¹⁾ − u(m⁽ᵏ⁺¹⁾) = m⁽ᵏ⁾ with u(m) = (√(1+m) − √m)²,
    the cost of staying: m⁽ᵏ⁺¹⁾ = (m − 1 + 2√(m² + m + 1))/3 at m = m⁽ᵏ⁾. The last draw has m⁽¹⁾. A record present from
        the first
    draw is charged 1 + m⁽ᵀ⁻¹⁾ < 1 + √(T/2) in total, independent of when it is erased.
    """
    found = [1 / 3]
    for _ in range(releases - 2):
        before = found[-1]
        found.append((before - 1 + 2 * math.sqrt(before * before + before + 1)) / 3)
    return [found[releases - 2 - number] for number in range(releases - 1)]


def equalizer_schedule(*, releases: int, variance: float) -> list[tuple[float, float]]:
    """Return (c, σ²) of T draws in a chain, each of which has variance close to V.

    c² = m/(1+m), σ² = V/(1+m); c = 0 for the first draw.
    """
    scale, steps = float(1 << CARRY_BITS), [(0.0, variance)]
    for reserve in equalizer_costs(releases):
        carry = math.floor(math.sqrt(reserve / (1 + reserve)) * scale + 0.5) / scale
        steps.append((carry, variance * (1 - carry * carry)))
    return steps


def stationary_schedule(*, releases: int, variance: float, carry: float) -> list[tuple[float, float]]:
    """Return (c, σ²) of T draws with one c for all draws after the first, for streams without an end."""
    return [(0.0, variance), *[(carry, variance * (1 - carry * carry))] * (releases - 1)]


def patch_variance(*, carry: float, variance: float, number: int, usual: int) -> int:
    """Return w² of the `number`th patch since the last draw, if the next draw has c and σ².

    All patches together, however many, add less than a quarter of σ² to its noise. The first `usual` ones have nearly
    equal shares of that: K/((i + K − 1)(i + K)) for patch i, with K = `usual`.
    """
    share = usual / ((number + usual - 1) * (number + usual))
    return max(1, math.floor(variance / (4 * carry * carry) * share))


def worst_charges(
    *, draws: Sequence[tuple[float, float]], apart: float, rounded: float, joiners: bool, leaves: bool = True
) -> list[float]:
    """Return, after each draw of a chain, the largest Q of a row with one continuous presence, rounded up.

    The maximum is over every time at which the row may join and leave. The values increase, so the last one is a cap on
    every path.

    Args:
        draws: (c, σ²) of each draw.
        apart: Δ of one row.
        rounded: `rounding_norm`.
        joiners: Whether a row may join after the first draw.
        leaves: Whether a row may be erased.
    """
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
