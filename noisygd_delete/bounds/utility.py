"""Excess regularized risk of the released Noisy GD model, sharper than (M/2)·E‖θ − θ*‖².

The objective f is m-strongly convex and M-smooth, tr ∇²f ≤ T everywhere, η ≤ 2/(m+M), c = 1 − ηm. The chain contracts in
the Wasserstein distance W₂, so it has one stationary law; let θ be drawn from it, and y = θ − η∇f(θ). A Gaussian step of
variance 2ησ² raises f by at most ησ²T on average, by smoothness f(y) ≤ f(θ) − η(1 − ηM/2)‖∇f‖², and one step leaves
E f(θ) unchanged:

    E‖∇f‖² ≤ Q = σ²T/(1 − ηM/2)

One step leaves E‖θ − θ*‖² unchanged as well, 0 = −2η E⟨∇f, θ − θ*⟩ + η² E‖∇f‖² + 2ηdσ², so by convexity

    E f(θ) − f* ≤ E⟨∇f, θ − θ*⟩ ≤ G = dσ² + ηQ/2

For a linear model T is hardly larger than M + dλ, however many weights it has: the step size may approach 2/M, at a
cost far below dσ². A model at W₂-distance D from the stationary law satisfies, by
smoothness and Cauchy–Schwarz,

    E f − f* ≤ stationary + D √Q + (M/2) D²

Editing r rows moves the stationary law by at most s_r = 2Lr/(mn) (each step separates the chains by at most 2Lrη/n),
and K steps multiply the distance by c^K. So any number of requests keeps D below the larger of its fixed point
c^K s_r/(1 − c^K) and the distance after the learn. Likewise V = E‖θ − θ*‖² stays below the fixed point of
V = c^{2K}(√V + s_r)² + (1 − c^{2K})V_∞.
"""

from __future__ import annotations

import math


def stationary_gradient_square(
    *, hessian_trace: float, noise_variance: float, step_size: float, objective_smoothness: float
) -> float:
    """Return Q = σ²T/(1 − ηM/2), a bound on the stationary E‖∇f‖²."""
    return hessian_trace * noise_variance / (1 - step_size * objective_smoothness / 2)


def stationary_excess(
    *,
    dimension: float,
    hessian_trace: float,
    noise_variance: float,
    step_size: float,
    strong_convexity: float,
    objective_smoothness: float,
) -> float:
    """Return a bound on the stationary E f − f*: the smaller of G and (M/2)V_∞ = M dσ²/(2m(1 − ηm/2)).

    Args:
        dimension: d.
        hessian_trace: T, an upper bound on the trace of the Hessian of f.
        noise_variance: σ².
        step_size: η.
        strong_convexity: m.
        objective_smoothness: M.
    """
    square = stationary_gradient_square(
        hessian_trace=hessian_trace,
        noise_variance=noise_variance,
        step_size=step_size,
        objective_smoothness=objective_smoothness,
    )
    product = dimension * noise_variance + step_size / 2 * square
    distance = dimension * noise_variance / (strong_convexity * (1 - step_size * strong_convexity / 2))
    return min(product, objective_smoothness / 2 * distance)


def excess_at_distance(
    *, stationary: float, gradient_square: float, distance: float, objective_smoothness: float
) -> float:
    """Return the bound on E f − f* at W₂-distance D from the stationary law, whose E‖∇f‖² is at most Q."""
    slope = math.sqrt(gradient_square)
    return stationary + distance * slope + objective_smoothness / 2 * distance * distance


def largest_distance(*, target: float, stationary: float, gradient_square: float, objective_smoothness: float) -> float:
    """Return the D at which `excess_at_distance` reaches `target`; 0 if the stationary law already exceeds it."""
    if not target > stationary:
        return 0.0
    slope, room = math.sqrt(gradient_square), target - stationary
    return 2 * room / (slope + math.sqrt(slope**2 + 2 * objective_smoothness * room)) * (1 - 1e-12)


def settled_distance(*, steps: float, move: float, step_size: float, strong_convexity: float) -> float:
    """Return c^K s_r/(1 − c^K), the limit of D under requests of K steps.

    It is infinite if the steps do not reduce the distance that edits add.
    """
    kept, forgotten = _contraction(steps, step_size, strong_convexity)
    return kept * move / forgotten if forgotten else math.inf if move else 0.0


def settled_square(*, steps: float, move: float, step_size: float, strong_convexity: float, stationary: float) -> float:
    """Return the limit of V under requests of K steps.

    √V = (c^{2K} s_r + √(c^{2K} s_r² + (1 − c^{2K})² V_∞))/(1 − c^{2K}).
    """
    kept, forgotten = _contraction(2 * steps, step_size, strong_convexity)
    if not forgotten:
        return math.inf if move else 0.0
    root = (kept * move + math.sqrt(kept * move**2 + forgotten**2 * stationary)) / forgotten
    return root * root


def released_excess(
    *,
    start: float,
    learn_steps: float,
    delete_steps: float,
    move: float,
    dimension: float,
    hessian_trace: float,
    noise_variance: float,
    step_size: float,
    strong_convexity: float,
    objective_smoothness: float,
) -> float:
    """Return the bound on E f − f* of the learned model and of every model after requests.

    The result is the smaller of (M/2)V and the bound at W₂-distance D, each from its own recursion.

    Args:
        start: E‖θ_0 − θ*‖².
        learn_steps: Steps of the learn.
        delete_steps: Steps K of each request.
        move: s_r, the largest move of the minimizer by one request.
        dimension: d.
        hessian_trace: T.
        noise_variance: σ².
        step_size: η.
        strong_convexity: m.
        objective_smoothness: M.
    """
    chain = {"step_size": step_size, "strong_convexity": strong_convexity}
    settled = dimension * noise_variance / (strong_convexity * (1 - step_size * strong_convexity / 2))  # V_∞
    kept, forgotten = _contraction(2 * learn_steps, **chain)
    square = max(
        kept * start + forgotten * settled,
        settled_square(steps=delete_steps, move=move, stationary=settled, **chain),
    )
    distance = max(
        math.sqrt(kept) * (math.sqrt(start) + math.sqrt(settled)),
        settled_distance(steps=delete_steps, move=move, **chain),
    )
    return excess_of(
        square=square,
        distance=distance,
        dimension=dimension,
        hessian_trace=hessian_trace,
        noise_variance=noise_variance,
        objective_smoothness=objective_smoothness,
        **chain,
    )


def excess_of(
    *,
    square: float,
    distance: float,
    dimension: float,
    hessian_trace: float,
    noise_variance: float,
    step_size: float,
    strong_convexity: float,
    objective_smoothness: float,
) -> float:
    """Return the bound on E f − f* of a model with given distances from the minimizer and the stationary law.

    Args:
        square: Upper bound on E‖θ − θ*‖².
        distance: Upper bound on the W₂-distance from the stationary law.
        dimension: d.
        hessian_trace: T.
        noise_variance: σ².
        step_size: η.
        strong_convexity: m.
        objective_smoothness: M.
    """
    chain = {
        "hessian_trace": hessian_trace,
        "noise_variance": noise_variance,
        "step_size": step_size,
        "objective_smoothness": objective_smoothness,
    }
    stationary = stationary_excess(dimension=dimension, strong_convexity=strong_convexity, **chain)
    return min(
        objective_smoothness / 2 * square,
        excess_at_distance(
            stationary=stationary,
            gradient_square=stationary_gradient_square(**chain),
            distance=distance,
            objective_smoothness=objective_smoothness,
        ),
    )


def _contraction(steps: float, step_size: float, strong_convexity: float) -> tuple[float, float]:
    """Return (c^K, 1 − c^K), c = 1 − ηm, without cancellation."""
    decrease = step_size * strong_convexity
    exponent = steps * math.log1p(-decrease) if decrease < 1 and steps else -math.inf if steps else 0.0
    return math.exp(exponent), -math.expm1(exponent)


def steps_to_distance(*, before: float, after: float, step_size: float, strong_convexity: float) -> int:
    """Return the smallest K with c^K · before ≤ after."""
    if before <= after:
        return 0
    decrease = step_size * strong_convexity
    return max(1, math.ceil(math.log(before / after) / -math.log1p(-decrease) * (1 + 1e-12))) if decrease < 1 else 1
