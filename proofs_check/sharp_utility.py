"""Solve-then-diffuse, and the utility of the sharp certificate."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from noisygd_delete.bounds import shifted_interpolation

from .framework import RIGOROUS, SYMBOLIC, Finding, close, require, same, statement


class _Diffuse:
    dp = staticmethod(shifted_interpolation.minimiser_dp_gdp)
    deletion = staticmethod(shifted_interpolation.minimiser_deletion_gdp)


class _DiffuseFault(_Diffuse):
    @staticmethod
    def deletion(**arguments: Any) -> float:
        return shifted_interpolation.minimiser_deletion_gdp(
            **{**arguments, "gradient_tolerance": arguments["gradient_tolerance"] / 2}
        )


@statement(
    "S.diffuse",
    "solve to gradient norm γ, then K steps: μ_dp = (Δ + 2γnc^K)√((1−ηm/2)/(mσ²n²(1−c^{2K}))), μ_dd the same with Δ ="
    " 0",
    evidence=(SYMBOLIC, RIGOROUS),
    claim=_Diffuse,
    fault=("z₀ = γ/m for 2γ/m", _DiffuseFault),
    licenses=(
        "bounds.shifted_interpolation:minimiser_dp_gdp",
        "bounds.shifted_interpolation:minimiser_deletion_gdp",
        "bounds.shifted_interpolation:minimiser_noise_variance",
        "bounds.shifted_interpolation:noise_inflation",
    ),
    scope="Closed form against the exact chain from z₀ = Δ/(mn) + 2γ/m with gap ηΔ/n per step, where a linear loss "
    "with the two worst approximate minimisers attains it (600 random cases, equality); the path z_k ≥ 0 in "
    "exact rationals; K → ∞ recovers μ_∞ (symbolic).",
)
def _solve_diffuse(claim, effort: int) -> Finding:
    eta, m, s2, delta, n, g, ck = sp.symbols("eta m s2 Delta n gamma C", positive=True)  # C = c^K
    mean = ck * (delta / (m * n) + 2 * g / m) + eta * delta / n * (1 - ck) / (eta * m)
    variance = 2 * eta * s2 * (1 - ck**2) / (1 - (1 - eta * m) ** 2)
    printed = (delta + 2 * g * n * ck) ** 2 * (1 - eta * m / 2) / (m * s2 * n**2 * (1 - ck**2))
    same(mean**2 / variance, printed, "μ_dp²")
    same(printed.subs(ck, 0), delta**2 * (1 - eta * m / 2) / (m * s2 * n**2), "K → ∞")
    generator, worst = np.random.default_rng(83), 0.0
    for _ in range(600 * effort):
        strong = math.exp(generator.uniform(-5, 1))
        step_size = generator.uniform(0.01, 0.99) / strong
        steps, records = int(math.exp(generator.uniform(0, 4))), int(10 ** generator.uniform(0, 4))
        variance_value, tolerance = math.exp(generator.uniform(-3, 3)), math.exp(generator.uniform(-12, 0))
        contraction, noise = 1 - step_size * strong, 2 * step_size * variance_value
        common = {
            "step_size": step_size,
            "strong_convexity": strong,
            "noise_variance": variance_value,
            "records": records,
            "steps": steps,
            "gradient_tolerance": tolerance,
        }
        for sensitivity in (2.0, 0.0):
            mean_value, spread = sensitivity / (strong * records) + 2 * tolerance / strong, 0.0
            for _ in range(steps):
                mean_value, spread = (
                    contraction * mean_value + step_size * sensitivity / records,
                    contraction**2 * spread + noise,
                )
            exact = mean_value / math.sqrt(spread)
            found = claim.dp(sensitivity=2.0, **common) if sensitivity else claim.deletion(**common)
            require(found >= exact * (1 - 1e-9), f"Δ = {sensitivity}: μ = {found} below the exact {exact}")
            worst = max(worst, abs(found / exact - 1))
            close(found, exact, "attained by the linear loss")
        wanted = {
            key: common[key] for key in ("step_size", "strong_convexity", "records", "steps", "gradient_tolerance")
        }
        reached = claim.dp(sensitivity=2.0, **common)
        back = shifted_interpolation.minimiser_noise_variance(gdp=reached, sensitivity=2.0, **wanted)
        require(abs(back / variance_value - 1) < 1e-9, "minimiser_noise_variance inverts minimiser_dp_gdp")
        inflation = shifted_interpolation.noise_inflation(steps=steps, step_size=step_size, strong_convexity=strong)
        require(abs(inflation * (1 - contraction ** (2 * steps)) - 1) < 1e-9, "noise_inflation")
    for c in (Fraction(1, 5), Fraction(9, 10)):
        for steps in (1, 4, 9):
            start, gap = Fraction(3, 2), (1 - c) * 1
            scale = (c**steps * start + gap * sum(c ** (steps - k) for k in range(1, steps + 1))) / sum(
                c ** (2 * (steps - k)) for k in range(1, steps + 1)
            )
            z = start
            for k in range(1, steps + 1):
                z = c * z + gap - scale * c ** (steps - k)
                require(z >= 0, "the path keeps z ≥ 0")
            require(z == 0, "the path ends at 0")
    return Finding(f"attained (to {worst:.0e})")


class _Distance:
    after = staticmethod(shifted_interpolation.distance_after)
    stationary = staticmethod(shifted_interpolation.stationary_distance)


class _DistanceFault(_Distance):
    @staticmethod
    def stationary(*, dimension: int, noise_variance: float, strong_convexity: float, step_size: float) -> float:
        return dimension * noise_variance / (2 * strong_convexity)


@statement(
    "S.utility",
    "V ≤ c^{2K}(√V_before + s_r)² + (1 − c^{2K})V_∞, V_∞ = dσ²/(m(1−ηm/2)), err ≤ (M/2)V",
    evidence=(SYMBOLIC, RIGOROUS),
    claim=_Distance,
    fault=("V_∞ = dσ²/(2m)", _DistanceFault),
    licenses=(
        "bounds.shifted_interpolation:stationary_distance",
        "bounds.shifted_interpolation:distance_after",
        "bounds.shifted_interpolation:excess_risk",
        "bounds.shifted_interpolation:minimiser_move",
    ),
    scope="Fixed point of V ← c²V + 2ηdσ² symbolically; exact moments of quadratic objectives with curvatures in [m, "
    "M] whose minimiser jumps by s_r, over a random box (attained at curvature m).",
)
def _utility(claim, effort: int) -> Finding:
    eta, m, s2, d = sp.symbols("eta m s2 d", positive=True)
    fixed = d * s2 / (m * (1 - eta * m / 2))
    same((1 - eta * m) ** 2 * fixed + 2 * eta * d * s2, fixed, "V_∞")
    generator, closest = np.random.default_rng(84), math.inf
    for trial in range(1500 * effort):
        strong, extra = math.exp(generator.uniform(-4, 1)), math.exp(generator.uniform(-3, 2))
        step_size = generator.uniform(0.01, 0.99) * shifted_interpolation.largest_step_size(
            strong_convexity=strong, objective_smoothness=strong + extra
        )
        dimension, variance, steps = 3, math.exp(generator.uniform(-4, 1)), int(math.exp(generator.uniform(0, 6)))
        curvature = strong + (extra * generator.random(dimension) if trial % 2 else np.zeros(dimension))
        offset = generator.normal(size=dimension) * math.exp(generator.uniform(-2, 2))
        jump = generator.normal(size=dimension)
        jump *= math.exp(generator.uniform(-3, 2)) / np.linalg.norm(jump)
        if trial % 3 == 0:
            jump = offset / np.linalg.norm(offset) * np.linalg.norm(jump)
        spread = generator.random() * variance
        before = float(offset @ offset) + dimension * spread
        decay = (1 - step_size * curvature) ** (2 * steps)
        settled = 2 * step_size * variance * (1 - decay) / (1 - (1 - step_size * curvature) ** 2)
        moved = offset + jump
        truth = float(np.sum(decay * (moved**2 + spread) + settled))
        stationary = claim.stationary(
            dimension=dimension, noise_variance=variance, strong_convexity=strong, step_size=step_size
        )
        limit = claim.after(
            distance_before=before,
            move=float(np.linalg.norm(jump)),
            steps=steps,
            step_size=step_size,
            strong_convexity=strong,
            stationary=stationary,
        )
        require(truth <= limit * (1 + 1e-9), f"E‖θ − θ*‖² = {truth} above {limit}")
        closest = min(closest, 1 - truth / limit)
        risk = float(curvature @ (decay * (moved**2 + spread) + settled)) / 2
        require(
            risk <= shifted_interpolation.excess_risk(distance=truth, objective_smoothness=strong + extra) * (1 + 1e-9),
            "err ≤ (M/2)V",
        )
    return Finding(f"closest approach {max(0.0, closest):.1e} (attained at curvature m)")
