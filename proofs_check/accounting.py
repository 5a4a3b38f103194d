"""What the accountant adds: DP-SGD extractors, and the excess risk that a plan promises."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np

from noisygd_delete.bounds import renyi, utility

from .framework import RIGOROUS, Finding, close, require, statement


class _Subsampled:
    zero_out = staticmethod(renyi.zero_out_renyi)
    replace = staticmethod(renyi.replace_renyi)


class _SubsampledFault(_Subsampled):
    @staticmethod
    def zero_out(**given: Any) -> float:
        return renyi.zero_out_renyi(**{**given, "noise_multiplier": 2 * given["noise_multiplier"]})


@statement(
    "S.extractor",
    "DP-SGD, Poisson rate p, noise z: R_α ≤ log Σ C(α,k)(1−p)^{α−k}p^k e^{(k²−k)/2z²}/(α−1) a step; x to x′ over the null"
    " record",
    evidence=(RIGOROUS,),
    claim=_Subsampled,
    fault=("2z for z", _SubsampledFault),
    licenses=("bounds.renyi:zero_out_renyi", "bounds.renyi:replace_renyi"),
    scope="Quadrature in 30 digits of both directions of one step, and of the farthest pair x = 1, x′ = −1.",
)
def _extractor(claim, effort: int) -> Finding:
    closest = math.inf
    for order, rate, noise in ((2, 0.1, 1.0), (3, 0.3, 2.0), (5, 0.05, 0.9)):
        facts = {"order": order, "sampling_rate": rate, "noise_multiplier": noise, "steps": 1}
        with mpmath.workdps(30):
            p, z = mpmath.mpf(rate), mpmath.mpf(noise)

            def law(t, centre, p=p, z=z):
                return (1 - p) * mpmath.npdf(t, 0, z) + p * mpmath.npdf(t, centre, z)

            def divergence(one, other, order=order, law=law):
                grid = mpmath.linspace(-30, 40, 36)
                return mpmath.log(mpmath.quad(lambda t: law(t, one) ** order * law(t, other) ** (1 - order), grid)) / (
                    order - 1
                )

            used, hidden, swapped = divergence(1, 0), divergence(0, 1), divergence(1, -1)
        bound, pair = claim.zero_out(**facts), claim.replace(**facts)
        require(bound >= used * (1 - 1e-12), f"order {order}: {bound} below {used}")
        require(bound <= used * (1 + 1e-8) + 1e-10, f"order {order}: {bound} is not the divergence {used}")
        require(bound >= hidden, f"order {order}: {bound} below the other direction {hidden}")
        require(pair >= swapped, f"order {order}: {pair} below x against x′, {swapped}")
        double, odd = (claim.zero_out(**{**facts, "order": k}) for k in (2 * order, 2 * order - 1))
        close(pair, (order - 0.5) / (order - 1) * double + odd, "the weak triangle inequality over the null record")
        closest = min(closest, float(pair / swapped - 1))
    return Finding(f"x against x′: at least {closest:.1%} above the farthest pair")


class _Excess:
    square = staticmethod(utility.stationary_gradient_square)
    stationary = staticmethod(utility.stationary_excess)


class _ExcessFault(_Excess):
    @staticmethod
    def square(**given: Any) -> float:
        return utility.stationary_gradient_square(**{**given, "step_size": given["step_size"] / 2})


@statement(
    "S.excess",
    "stationary, with tr ∇²f ≤ T: E‖∇f‖² ≤ Q = σ²T/(1−ηM/2), E f − f* ≤ E⟨∇f, θ−θ*⟩ ≤ dσ² + ηQ/2; at W₂-distance D: + D√Q + MD²/2",
    evidence=(RIGOROUS,),
    claim=_Excess,
    fault=("η/2 for η in Q", _ExcessFault),
    licenses=(
        "bounds.utility:stationary_gradient_square",
        "bounds.utility:stationary_excess",
        "bounds.utility:excess_at_distance",
        "bounds.utility:largest_distance",
        "bounds.utility:steps_to_distance",
    ),
    scope="The proof is in the module; checked on quadratics with random spectra, whose law is Gaussian in closed form, "
    "stationary and after K steps from afar.",
)
def _excess(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(91), math.inf
    for _ in range(400 * effort):
        curvatures = np.exp(generator.uniform(-4, 1, int(generator.integers(1, 9))))
        low, high = float(curvatures.min()), float(curvatures.max())
        eta, noise = generator.uniform(0.02, 0.999) * 2 / (low + high), math.exp(generator.uniform(-4, 2))
        law = {
            "hessian_trace": float(curvatures.sum()), "noise_variance": noise, "step_size": eta, "objective_smoothness": high,
        }  # fmt: skip
        square, stationary = (
            claim.square(**law),
            claim.stationary(dimension=len(curvatures), strong_convexity=low, **law),
        )
        settled = noise / (curvatures * (1 - eta * curvatures / 2))
        gradients = float(curvatures**2 @ settled)
        require(gradients <= square * (1 + 1e-12), f"stationary E‖∇f‖² = {gradients} above {square}")
        truth = float(curvatures @ settled) / 2
        require(truth <= stationary * (1 + 1e-12), f"stationary excess {truth} above {stationary}")
        closest = min(closest, stationary / truth - 1)
        start, steps = generator.normal(size=len(curvatures)), int(generator.integers(1, 30))
        shrink = 1 - eta * curvatures
        mean, spread = start * shrink**steps, settled * (1 - shrink ** (2 * steps))
        far = math.sqrt(float(np.sum(start**2 + settled)))
        distance = (1 - eta * low) ** steps * far
        reach = {"stationary": stationary, "gradient_square": square, "objective_smoothness": high}
        bound = utility.excess_at_distance(distance=distance, **reach)
        require(float(curvatures @ (mean**2 + spread)) / 2 <= bound * (1 + 1e-12), "a chain from afar lies above")
        kept = utility.largest_distance(target=bound, **reach)
        require(distance * (1 - 1e-6) - 1e-9 <= kept <= distance * (1 + 1e-6) + 1e-9, "largest_distance inverts it")
        needed = utility.steps_to_distance(before=far, after=distance, step_size=eta, strong_convexity=low)
        require(needed <= steps + 1, f"{needed} steps where {steps} suffice")
        require((1 - eta * low) ** needed * far <= distance * (1 + 1e-9), f"{needed} steps do not reach")
    return Finding(f"closest approach {closest:.1e}")


@statement(
    "S.released-excess",
    "a model learned in K_A steps, and every one after requests of K_Ā steps that move the minimiser by s each: E f − f* ≤ the smaller of (M/2)V and the bound at"
    " distance D, each at its fixed point or as the learn left it",
    evidence=(RIGOROUS,),
    claim=utility.released_excess,
    fault=("requests do not move the minimiser", lambda **given: utility.released_excess(**{**given, "move": 0.0})),
    licenses=(
        "bounds.utility:released_excess",
        "bounds.utility:excess_of",
        "bounds.utility:settled_distance",
        "bounds.utility:settled_square",
    ),
    scope="Quadratics with random spectra from a point, up to 200 requests that push the minimiser away along the flattest or the steepest direction: Gaussian laws in closed form; the two fixed points "
    "against their recursions; D is attained by the mean of the chain.",
)  # fmt: skip
def _released(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(92), math.inf
    for trial in range(150 * effort):
        curvatures = np.sort(np.exp(generator.uniform(-3, 1, int(generator.integers(1, 7)))))
        low, high = float(curvatures[0]), float(curvatures[-1])
        eta, noise = generator.uniform(0.02, 0.9) * 2 / (low + high), math.exp(generator.uniform(-4, 1))
        learn, delete = int(generator.integers(1, 60)), int(generator.integers(1, 20))
        offset, move = generator.normal(size=len(curvatures)) * 2, math.exp(generator.uniform(-4, 1))
        chain = {"step_size": eta, "strong_convexity": low}
        bound = claim(
            start=float(offset @ offset), learn_steps=learn, delete_steps=delete, move=move, dimension=len(curvatures),
            hessian_trace=float(curvatures.sum()), noise_variance=noise, objective_smoothness=high, **chain,
        )  # fmt: skip
        shrink, settled = 1 - eta * curvatures, noise / (curvatures * (1 - eta * curvatures / 2))
        push = np.zeros(len(curvatures))
        push[0 if trial % 2 else -1] = move
        mean, spread = offset * shrink**learn, settled * (1 - shrink ** (2 * learn))
        worst = 0.0
        for _ in range(200):
            worst = max(worst, float(curvatures @ (mean**2 + spread)) / 2)
            mean = (np.abs(mean) + push) * np.abs(shrink) ** delete
            spread = spread * shrink ** (2 * delete) + settled * (1 - shrink ** (2 * delete))
        require(worst <= bound * (1 + 1e-12), f"excess {worst} above {bound}")
        closest = min(closest, bound / worst - 1)
        kept, limit = (1 - eta * low) ** delete, len(curvatures) * noise / (low * (1 - eta * low / 2))
        far = utility.settled_distance(steps=delete, move=move, **chain)
        close(kept * (far + move), far, "the fixed point of D")
        square = utility.settled_square(steps=delete, move=move, stationary=limit, **chain)
        close(kept**2 * (math.sqrt(square) + move) ** 2 + (1 - kept**2) * limit, square, "the fixed point of V")
    return Finding(f"closest approach {max(0.0, closest):.1%}")
