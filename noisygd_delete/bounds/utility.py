"""How good the released model is: excess regularised risk of Noisy-GD, sharper than (M/2)·E‖θ − θ*‖².

The objective f is m-strongly convex and M-smooth, η ≤ 2/(m+M), c = 1 − ηm. The chain contracts in the Wasserstein
distance W₂, so it has one stationary law; let θ be drawn from it. One step leaves E‖θ − θ*‖² as it is:

    0 = −2η E⟨∇f, θ − θ*⟩ + η² E‖∇f‖² + 2ηdσ²,      ‖∇f‖² ≤ M ⟨∇f, θ − θ*⟩ (co-coercivity)

so E⟨∇f, θ − θ*⟩ ≤ G = dσ²/(1 − ηM/2), and by convexity E f(θ) − f* ≤ G. A model at W₂-distance D from the stationary law
has, by smoothness, E‖∇f‖² ≤ MG and Cauchy–Schwarz,

    E f − f* ≤ stationary + D √(MG) + (M/2) D²

Editing r rows moves the stationary law by at most s_r = 2Lr/(mn) (each step drives the chains apart by at most 2Lrη/n),
and K steps shrink the distance by c^K.
"""

from __future__ import annotations

import math


def stationary_product(
    *, dimension: float, noise_variance: float, step_size: float, objective_smoothness: float
) -> float:
    """G = dσ²/(1 − ηM/2): bound on the stationary E⟨∇f, θ − θ*⟩."""
    return dimension * noise_variance / (1 - step_size * objective_smoothness / 2)


def stationary_excess(
    *,
    dimension: float,
    noise_variance: float,
    step_size: float,
    strong_convexity: float,
    objective_smoothness: float,
) -> float:
    """Bound on the stationary E f − f*: the smaller of G and (M/2)V_∞ = M dσ²/(2m(1 − ηm/2))."""
    product = stationary_product(
        dimension=dimension,
        noise_variance=noise_variance,
        step_size=step_size,
        objective_smoothness=objective_smoothness,
    )
    distance = dimension * noise_variance / (strong_convexity * (1 - step_size * strong_convexity / 2))
    return min(product, objective_smoothness / 2 * distance)


def excess_at_distance(*, stationary: float, product: float, distance: float, objective_smoothness: float) -> float:
    """E f − f* at W₂-distance D from the stationary law."""
    slope = math.sqrt(objective_smoothness * product)
    return stationary + distance * slope + objective_smoothness / 2 * distance**2


def largest_distance(*, target: float, stationary: float, product: float, objective_smoothness: float) -> float:
    """The D at which `excess_at_distance` reaches the target; 0 where the stationary law already exceeds it."""
    if not target > stationary:
        return 0.0
    slope, room = math.sqrt(objective_smoothness * product), target - stationary
    return 2 * room / (slope + math.sqrt(slope**2 + 2 * objective_smoothness * room)) * (1 - 1e-12)


def steps_to_distance(*, before: float, after: float, step_size: float, strong_convexity: float) -> int:
    """Least K with c^K · before ≤ after."""
    if before <= after:
        return 0
    decrease = step_size * strong_convexity
    return max(1, math.ceil(math.log(before / after) / -math.log1p(-decrease) * (1 + 1e-12))) if decrease < 1 else 1
