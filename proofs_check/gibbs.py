"""Convergence of Noisy-GD to the Gibbs law of a bounded loss: G.22, G.24, and the sharper recursion of this package.

The printed formulas are written out here, and the package's functions are compared with them.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import sympy as sp

from noisygd_delete.bounds import theorem_5_2

from .densities import Line, renyi
from .framework import ADVERSARIAL, RIGOROUS, SYMBOLIC, Finding, require, same, statement

lam, beta, eta, s2, q, d, B, n, r, L = sp.symbols("lambda beta eta s2 q d B n r L", positive=True)


def agree(name: str, printed: float, **arguments: float) -> None:
    """The package's function is the printed formula."""
    found = getattr(theorem_5_2, name)(**arguments)
    require(abs(found - printed) <= 1e-9 * abs(printed), f"{name}({arguments}) = {found}, printed {printed}")


class Wave:
    """ℓ(θ) = a sin(kθ + p), n = 1: range 2a, β = ak²."""

    def __init__(self, amplitude: float, frequency: float, phase: float) -> None:
        self.amplitude, self.frequency, self.phase = amplitude, frequency, phase
        self.range, self.smoothness, self.lipschitz = 2 * amplitude, amplitude * frequency**2, amplitude * frequency

    def potential(self, theta: np.ndarray, regularization: float) -> np.ndarray:
        return self.amplitude * np.sin(self.frequency * theta + self.phase) + regularization / 2 * theta**2

    def gradient(self, theta: np.ndarray, regularization: float) -> np.ndarray:
        return self.amplitude * self.frequency * np.cos(self.frequency * theta + self.phase) + regularization * theta


class Convergence:
    """Theorem G.22 before its last relaxation; `barrier` is log B."""

    @staticmethod
    def largest_step(barrier: float, order: float, regularization: float, smoothness: float) -> float:
        return regularization / (64 * math.exp(barrier) * order**2 * (smoothness + regularization) ** 2)

    @staticmethod
    def bound(
        start: float, barrier: float, order: float, regularization: float, smoothness: float, step: float, steps: int
    ) -> float:
        forgetting = regularization * step / (2 * math.exp(barrier))
        error = 32 * step * math.exp(barrier) * (smoothness + regularization) ** 2 / regularization  # d = 1
        kept = math.exp(-forgetting * steps)
        return order / ((order - 1) * kept + 1) * kept * start + error * order * (1 - kept)


class _ConvergenceFault(Convergence):
    @staticmethod
    def bound(
        start: float, barrier: float, order: float, regularization: float, smoothness: float, step: float, steps: int
    ) -> float:
        return Convergence.bound(start, barrier, order, regularization, smoothness, step, 16 * steps)


def _agree_with_package(
    barrier: float, order: float, regularization: float, smoothness: float, step: float, steps: int, start: float
) -> None:
    forgetting = regularization * step / (2 * math.exp(barrier))
    error = 32 * step * math.exp(barrier) * (smoothness + regularization) ** 2 / regularization
    shared = {"log_barrier": barrier, "regularization": regularization, "step_size": step}
    agree("forgetting_rate", forgetting, **shared)
    agree("discretisation_rate", error, dimension=1, smoothness=smoothness, **shared)
    agree(
        "largest_step_size",
        Convergence.largest_step(barrier, order, regularization, smoothness),
        log_barrier=barrier,
        order=order,
        regularization=regularization,
        smoothness=smoothness,
    )
    rates = {"discretisation_rate": error, "forgetting_rate": forgetting}
    agree(
        "renyi_to_gibbs_printed",
        order * math.exp(-forgetting * steps) * start + error * order,
        start=start,
        order=order,
        steps=steps,
        **rates,
    )


@statement(
    "G.22",
    "R_q(μ_ηK‖π) ≤ q e^{−ληK/(2B)} R_q(μ₀‖π) + 32dηqB(β+λ)²/λ for η ≤ λ/(64Bq²(β+λ)²)",
    evidence=(SYMBOLIC, RIGOROUS, ADVERSARIAL),
    claim=Convergence,
    fault=("e^{−8ληK/B}: sixteen times the rate", _ConvergenceFault),
    licenses=(
        "bounds.theorem_5_2:largest_step_size",
        "bounds.theorem_5_2:forgetting_rate",
        "bounds.theorem_5_2:discretisation_rate",
        "bounds.theorem_5_2:renyi_to_gibbs_printed",
    ),
    scope="Every constant from (135) to (145) and the path q(s), symbolically; densities of the chain on a grid "
    "against the Gibbs law, sine losses, q = 1.5 to 3, from ρ and from shifted and narrow starts, K to 2¹², "
    "with the printed B and with √B (G.3), un-relaxed line. The interchange of derivative and integral is "
    "assumed, as in the paper.",
)
def _convergence(claim, effort: int) -> Finding:
    information = sp.Symbol("information", positive=True)  # I_q/E_q
    # ‖∇L(Θ_ηk) − ∇L(Θ_t)‖² ≤ 2η²M²‖∇L(Θ_ηk)‖² + 4ησ²M²‖Z‖², ‖∇L(Θ_ηk)‖² ≤ 2‖diff‖² + 2‖∇L(Θ_t)‖²
    M, diff, here, noise = sp.symbols("M D G Z", positive=True)
    right = 2 * eta**2 * M**2 * (2 * diff + 2 * here) + 4 * eta * s2 * M**2 * noise
    same(
        right.subs(eta, 1 / (2 * sp.sqrt(2) * M)).coeff(diff),
        sp.Rational(1, 2),
        "η ≤ 1/(2√2(β+λ)) leaves half of the difference",
    )
    doubled = 2 * (right - 4 * eta**2 * M**2 * diff)
    same(doubled, 8 * eta**2 * M**2 * here + 32 * eta * s2 * M**2 * (noise / 4), "the two expectations")
    first = s2**2 * q**2 * information + 2 * d * s2 * M
    second = q**2 * s2 * B / (2 * lam) * information + d * sp.log(2) / 2
    total = 8 * eta**2 * M**2 * first + 32 * eta * s2 * M**2 * second
    printed = 8 * eta * q**2 * s2**2 * M**2 * information * (eta + 2 * B / lam) + 16 * eta * d * s2 * M**2 * (
        eta * M + sp.log(2)
    )
    same(sp.expand(total - printed), 0, "F₁ and F₂ combined")
    same((8 * eta * q**2 * s2**2 * M**2 * 4 * B / lam).subs(eta, lam / (64 * B * q**2 * M**2)), s2**2 / 2, "(141)")
    require(sp.Rational(1, 4) + sp.log(2) < 1, "η(β+λ) + log 2 ≤ 1")
    same(
        -3 * q * s2 / 4 * information + q / s2 * (s2**2 / 2 * information + 16 * eta * d * s2 * M**2),
        -q * s2 / 4 * information + 16 * eta * d * q * M**2,
        "(142)",
    )
    same(q * s2 / 4 / (q**2 * s2 / (2 * lam / B)), lam / (2 * B * q), "(143) by G.6 at LS(λ/B)")
    same(16 * d * eta * M**2 / (lam / (2 * B)), 32 * d * eta * B * M**2 / lam, "c₂/c₁")
    limit = lam / (64 * B * q**2 * (beta + lam) ** 2)
    ratio = sp.simplify(limit / (1 / (4 * (beta + lam))))
    same(ratio, lam / (16 * B * q**2 * (beta + lam)), "(145): below 1/(4(β+λ)) as B, q > 1")
    rho, E = sp.symbols("rho E", positive=True)  # KL(ψμ_{t,z}‖μ_{t,z}) per point
    left = sp.log(rho ** (q - 1) / E)
    split = (q - 1) / q * (sp.log(rho**q / E) - sp.log(E) / (q - 1))
    same(sp.expand(sp.expand_log(left - split, force=True)), 0, "the KL term")
    s, end, c1, c2, u0 = sp.symbols("s T c1 c2 u0", positive=True)
    order_at = (q - 1) * sp.exp(c1 * (s - end)) + 1
    same(order_at.diff(s), c1 * (order_at - 1), "q(s) follows dq/ds = c₁(q − 1)")
    along = sp.exp(-c1 * s) * u0 + c2 / c1 * (1 - sp.exp(-c1 * s))
    same(along.diff(s) + c1 * along, c2, "u′ + c₁u = c₂ along the path")

    closest = math.inf
    cases = [(0.25, 1.0, 0.4, 1.0), (0.2, 1.5, 2.0, 0.7)]
    for (amplitude, frequency, phase, regularization), order, factor in itertools.product(cases, (1.5, 3.0), (1, 2)):
        loss, variance = Wave(amplitude, frequency, phase), 1.0
        barrier = factor * loss.range / variance  # √B by oscillation, and B as printed, each at its largest step
        step = claim.largest_step(barrier, order, regularization, loss.smoothness)
        line = Line(7.0 * math.sqrt(variance / regularization), math.sqrt(2 * step * variance), 2.0)
        target = line.gibbs(lambda x, loss=loss, m=regularization: loss.potential(x, m), variance)
        power = line.kernel(lambda x, loss=loss, m=regularization: loss.gradient(x, m), step)
        settled = variance / regularization
        laws = np.column_stack([line.gaussian(settled), line.gaussian(settled, 2.5), line.gaussian(0.3 * settled)])
        begin = [renyi(order, law, target) for law in laws.T]
        for exponent in range(13):
            if exponent:
                power = power @ power
            for law, start in zip((power @ laws).T, begin, strict=True):
                truth = renyi(order, law, target)
                bound = claim.bound(start, barrier, order, regularization, loss.smoothness, step, 2**exponent)
                require(truth <= bound * (1 + 1e-9), f"q = {order}, K = {2**exponent}: R_q = {truth} above {bound}")
                closest = min(closest, 1 - truth / bound)
        _agree_with_package(barrier, order, regularization, loss.smoothness, step, 500, 0.3)
    return Finding(f"closest approach {closest:.1%} (at K = 1)")


class _Rate:
    """R_p ≤ p·ρ for all p ≤ q is kept, with ρ ← e^{−c₁ηK} ρ + (c₂/c₁)(1 − e^{−c₁ηK}); a target that moves adds R_∞."""

    @staticmethod
    def after(rate: float, forgetting: float, error: float, steps: int) -> float:
        kept = math.exp(-forgetting * steps)
        return kept * rate + (1 - kept) * error

    @staticmethod
    def move(range_: float, variance: float, batch: int, records: int) -> float:
        return 2 * batch * range_ / (records * variance)


class _RateFault(_Rate):
    @staticmethod
    def move(range_: float, variance: float, batch: int, records: int) -> float:
        return (2 * batch * range_ / (records * variance)) ** 2 / 8


@statement(
    "S.rate-to-gibbs",
    "the scalar recursion ρ′ = e^{−c₁ηK}ρ + (c₂/c₁)(1 − e^{−c₁ηK}), plus R_∞ = 2rω/(nσ²) per edit, bounds R_p/p to "
    "the Gibbs law for all p ≤ q",
    evidence=(SYMBOLIC, RIGOROUS),
    claim=_Rate,
    fault=("the quadratic bound c²/8 added per edit instead of R_∞", _RateFault),
    licenses=(
        "bounds.theorem_5_2:rate_to_gibbs",
        "bounds.theorem_5_2:steps_to_rate",
        "bounds.theorem_5_2:prior_to_gibbs",
        "bounds.theorem_5_2:gibbs_move",
        "bounds.theorem_5_2:data_influence",
    ),
    scope="The order p₀ = (p−1)e^{−c₁ηK}+1 ∈ (1, p] and the division by the order, symbolically; a stream of "
    "alternating edits on a grid (n = 2 sine losses), orders 1.5 to 4; tanh(ω/(4σ²)) against two-level laws; "
    "rounding of `steps_to_rate`. Non-adaptive requests only.",
)
def _recursion(claim, effort: int) -> Finding:
    p, k, rho, error = sp.symbols("p k rho e", positive=True)
    low = (p - 1) * k + 1
    same(
        sp.simplify((p / low * k * (low * rho) + error * p * (1 - k)) / p),
        k * rho + error * (1 - k),
        "the un-relaxed line over the order",
    )
    regularization, variance = 1.0, 1.0
    losses = [Wave(0.25, 1.0, 0.0), Wave(0.25, 1.0, math.pi), Wave(0.25, 1.0, math.pi / 2)]
    step = Convergence.largest_step(0.5, 4.0, regularization, 0.25)
    line = Line(7.0, math.sqrt(2 * step * variance), 2.0)
    databases = [(0, 0), (1, 0), (1, 2), (0, 2)]  # n = 2
    kernels, targets = [], []
    for one, two in databases:
        kernels.append(
            line.kernel(lambda x, a=one, b=two: (losses[a].gradient(x, 1.0) + losses[b].gradient(x, 1.0)) / 2, step)
        )
        targets.append(
            line.gibbs(
                lambda x, a=one, b=two: (losses[a].potential(x, 1.0) + losses[b].potential(x, 1.0)) / 2, variance
            )
        )
    forgetting, error_rate = step / (2 * math.exp(0.5)), 32 * step * math.exp(0.5) * 1.25**2
    # start at the Gibbs law of the first database: ρ = 0, so what an edit adds is all there is
    law, rate, closest = targets[0], 0.0, math.inf
    move = claim.move(0.5, variance, 1, 2)
    agree("gibbs_move", _Rate.move(0.7, 0.4, 3, 50), range=0.7, noise_variance=0.4, batch=3, records=50)
    agree("gibbs_move", _Rate.move(0.5, variance, 1, 2), range=0.5, noise_variance=variance, batch=1, records=2)
    agree(
        "gibbs_move",
        _Rate.move(0.5, variance, 1, 2) / 2,
        range=0.5,
        noise_variance=variance,
        batch=1,
        records=2,
        deletions_only=True,
    )
    for index in (1, 2, 3, 0, 1):
        for steps in (1, 3):
            after = law
            for _ in range(steps):
                after = kernels[index] @ after
            bound = claim.after(rate + move, forgetting, error_rate, steps)
            for order in (1.05, 1.5, 4.0):
                truth = renyi(order, after, targets[index]) / order
                require(truth <= bound * (1 + 1e-9), f"p = {order}, K = {steps}: R_p/p = {truth} above {bound}")
                closest = min(closest, 1 - truth / bound)
        agree(
            "rate_to_gibbs",
            _Rate.after(rate + 0.1, forgetting, error_rate, 300),
            start_rate=rate + 0.1,
            discretisation_rate=error_rate,
            forgetting_rate=forgetting,
            steps=300,
        )
        law, rate = after, bound
    arguments = {"discretisation_rate": 0.01, "forgetting_rate": 1e-4}
    require(theorem_5_2.steps_to_rate(start_rate=0.1, rate=0.1, **arguments) == 0, "nothing to forget")
    require(
        theorem_5_2.steps_to_rate(start_rate=0.5, rate=0.01, **arguments) == math.inf, "the discretisation forbids it"
    )
    for start, goal in ((0.5, 0.1), (3.0, 0.011), (0.2, 0.19999)):
        steps = theorem_5_2.steps_to_rate(start_rate=start, rate=goal, **arguments)
        require(_Rate.after(start, 1e-4, 0.01, steps) <= goal * (1 + 1e-12), "steps_to_rate reaches the rate")
        require(
            steps == 0 or _Rate.after(start, 1e-4, 0.01, steps - 1) > goal * (1 - 1e-9),
            "steps_to_rate is the least",
        )
    for ratio in (0.1, 1.0, 5.0):
        best = max(
            m * (math.exp(ratio) / (m * math.exp(ratio) + 1 - m) - 1) for m in np.linspace(1e-4, 1 - 1e-4, 20001)
        )
        found = theorem_5_2.data_influence(range=ratio, noise_variance=1.0)
        require(
            best <= found * (1 + 1e-9) and best >= found * (1 - 1e-3),
            f"data_influence({ratio}) = {found}, two levels reach {best}",
        )
        linear, quadratic = theorem_5_2.prior_to_gibbs(range=2 * ratio, noise_variance=2.0)
        require(abs(linear - ratio) < 1e-12 and abs(quadratic - ratio**2 / 8) < 1e-12, "prior_to_gibbs")
    _adversarial_move(claim)
    far = _far_start(claim)
    move_used = _point_start(claim)
    return Finding(
        f"far from the law: closest approach {far:.2%}; an edit costs {move_used:.0%} of its bound; settled chain {closest:.0%} below"
    )


def _far_start(claim) -> float:
    """No loss at all (B = 1): a Gaussian a mean away from its Gibbs law, in closed form; nearly attained while little is forgotten."""
    regularization, variance, step, mean = 1.0, 1.0, 1e-3, 10.0
    forgetting, error = step * regularization / 2, 32 * step * regularization
    start = mean**2 * regularization / (2 * variance)  # R_p/p from N(mean, σ²/λ), every order
    closest = math.inf
    for steps in (1, 3, 30, 300, 3000, 30_000):
        kept = (1 - step * regularization) ** steps
        spread = kept**2 * variance / regularization + (1 - kept**2) * variance / regularization / (
            1 - step * regularization / 2
        )
        bound = claim.after(start, forgetting, error, steps)
        for order in (1.05, 2.0, 4.0):
            ratio = spread * regularization / variance  # of the variances
            narrow = order + (1 - order) * ratio
            truth = (kept * mean) ** 2 * regularization / (2 * variance * narrow) + (
                -(order - 1) * math.log(ratio) - math.log(narrow)
            ) / (2 * order * (order - 1))
            require(truth <= bound * (1 + 1e-12), f"p = {order}, K = {steps}: R_p/p = {truth} above {bound}")
            closest = min(closest, 1 - truth / bound)
    require(closest < 0.01, f"a far start comes within {closest:.1%} only: the case has lost its power")
    return closest


def _point_start(claim) -> float:
    """All mass where π(D)/π(D′) peaks: an edit then costs nearly all of R_∞, already at p → 1."""
    oscillation, share, order = 0.05, 1e-3, 1.0 + 1e-6
    mass = np.array([share, 1 - share])
    moved = mass * np.array([1.0, math.exp(oscillation)])
    moved /= moved.sum()
    before, after = (-math.log(law[0]) / order for law in (mass, moved))
    allowed = claim.move(oscillation / 2, 1.0, 1, 1)
    require(after <= before + allowed + 1e-12, f"one edit from a point mass: {after - before} above {allowed}")
    require(
        after - before >= 0.98 * allowed,
        f"one edit costs {after - before}, allowed {allowed}: the case has lost its power",
    )
    return (after - before) / allowed


def _adversarial_move(claim) -> None:
    """A narrow start close to π(D) whose mass sits where π(D)/π(D′) peaks: the move in the target costs nearly R_∞."""
    order, oscillation = 4.0, 0.05
    mass = np.array([0.02, 0.98])
    moved = mass * np.array([1.0, math.exp(oscillation)])
    moved /= moved.sum()
    start = np.array([0.05, 0.95])
    before = max(renyi(p, start, mass) / p for p in np.linspace(1.01, order, 200))
    after = max(renyi(p, start, moved) / p for p in np.linspace(1.01, order, 200))
    bound = before + claim.move(oscillation / 2, 1.0, 1, 1)
    require(after <= bound * (1 + 1e-9), f"one edit: R_p/p = {after} above {bound}")


@statement(
    "G.24",
    "a Gibbs sample has err ≤ (dσ²/2)(log((β+λ)/λ) + √B)",
    evidence=(SYMBOLIC, RIGOROUS),
    claim=lambda dimension, variance, ratio, root: dimension * variance / 2 * (math.log(ratio) + root),
    fault=("without √B", lambda dimension, variance, ratio, root: dimension * variance / 2 * math.log(ratio)),
    licenses=("bounds.theorem_5_2:excess_risk",),
    scope="Both halves of the proof symbolically (Gaussian integrals); sine losses of one variable by quadrature on a"
    " grid, barriers up to e⁶; attained as the loss vanishes.",
)
def _gibbs_risk(claim, effort: int) -> Finding:
    x = sp.Symbol("x", real=True)
    integral = sp.integrate(sp.exp(-(beta + lam) * x**2 / (2 * s2)), (x, -sp.oo, sp.oo))
    same(sp.log(integral**2).expand(force=True), sp.log(2 * sp.pi * s2 / (lam + beta)).expand(force=True), "−σ² log Λ")
    entropy = sp.log(2 * sp.pi * s2 / lam) / 2 + sp.sqrt(B) / 2
    same(
        sp.expand_log(
            entropy - sp.log(2 * sp.pi * s2 / (lam + beta)) / 2 - (sp.log((beta + lam) / lam) + sp.sqrt(B)) / 2,
            force=True,
        ),
        0,
        "the sum",
    )
    generator, closest = np.random.default_rng(61), math.inf
    grid = np.linspace(-30, 30, 60001)
    for trial in range(60 * effort):
        size = math.exp(generator.uniform(-9, 1)) if trial else 1e-9
        loss = Wave(size, math.exp(generator.uniform(-1, 1.5)), generator.uniform(0, 6.3))
        regularization, variance = math.exp(generator.uniform(-2, 1)), math.exp(generator.uniform(-1, 1))
        if 4 * loss.amplitude / variance > 6:
            continue
        potential = loss.potential(grid, regularization)
        weights = np.exp(-(potential - potential.min()) / variance)
        risk = float(weights @ (potential - potential.min()) / weights.sum())
        barrier = 4 * loss.amplitude / variance  # log B
        bound = claim(1, variance, (loss.smoothness + regularization) / regularization, math.exp(barrier / 2))
        require(risk <= bound * (1 + 1e-6), f"risk {risk} above {bound}")
        closest = min(closest, 1 - risk / bound)
    return Finding(f"closest approach {max(0.0, closest):.1e} (attained as ℓ → 0)")
