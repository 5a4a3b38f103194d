"""The lemmas behind Theorem 5.2: G.18, G.19, G.20 (G.21 and G.23 are with the divergences)."""

from __future__ import annotations

import sympy as sp

from .framework import SYMBOLIC, Finding, require, same, statement

x, t, s2, v, a, m, q = sp.symbols("x t s2 v a m q", positive=True)


@statement(
    "G.18",
    "∂_tμ_t = div({E[∇L(Θ_ηk) − ∇L(Θ_t)|Θ_t] + σ²∇log(μ_t/π)} μ_t)",
    evidence=(SYMBOLIC,),
    claim=1,
    fault=("∇log(π/μ_t) for ∇log(μ_t/π)", -1),
    scope="Quadratic objective and Gaussian start, all quantities in closed form; and −σ²∇log π = ∇L turns it into "
    "G.10 for any objective (symbolic).",
)
def _tracing(claim, effort: int) -> Finding:
    mean, variance = (1 - a * t) * m, (1 - a * t) ** 2 * v + 2 * s2 * t  # Θ_t = Θ − t aΘ + sqrt(2σ²t) Z
    density = sp.exp(-((x - mean) ** 2) / (2 * variance)) / sp.sqrt(2 * sp.pi * variance)
    past = m + (1 - a * t) * v / variance * (x - mean)  # E[Θ_ηk | Θ_t = x]
    log_ratio = sp.log(density) + a * x**2 / (2 * s2)
    flux = (a * past - a * x + claim * s2 * log_ratio.diff(x)) * density
    require(sp.simplify((density.diff(t) - flux.diff(x)) / density) == 0, "the equation has a residual")
    objective, law = sp.Function("U")(x), sp.Function("mu")(x)
    same(
        s2 * (sp.log(law) + objective / s2).diff(x) * law,
        s2 * law.diff(x) + objective.diff(x) * law,
        "σ²∇log(μ/π) μ = σ²∇μ + ∇L μ",
    )
    return Finding("exact")


@statement(
    "G.19",
    "∂_tR_q(μ_t‖π) ≤ −(3qσ²/4) I_q/E_q + (q/σ²) E[ψ_t‖∇L(Θ_ηk) − ∇L(Θ_t)‖²]",
    evidence=(SYMBOLIC,),
    claim=(sp.Rational(3, 4), sp.Integer(1)),
    fault=("−qσ² I_q/E_q kept whole", (sp.Integer(1), sp.Integer(1))),
    scope="The flux form as a total derivative at q = 2, 3 with an arbitrary density; Young's inequality with weights"
    " σ²/(2q), q/(2σ²) as a square; E_μ[ρ^{−1}‖∇ρ^{q/2}‖²] = (q²/4) I_q.",
)
def _inequality(claim, effort: int) -> Finding:
    keep, drive = claim
    mu, pi, shift = (sp.Function(name)(x) for name in ("mu", "pi", "delta"))
    for order in (2, 3):
        ratio = mu / pi
        inner = (shift + s2 * sp.log(ratio).diff(x)) * mu
        change = order * ratio ** (order - 1) * inner.diff(x)
        flux = order * (order - 1) * ratio ** (order - 2) * ratio.diff(x) * inner
        require(
            sp.simplify(sp.expand(change + flux - (order * ratio ** (order - 1) * inner).diff(x))) == 0, f"q = {order}"
        )
    rho = sp.Function("rho", positive=True)(x)
    same(sp.simplify(rho * (rho ** (q / 2)).diff(x) ** 2 / rho / (rho ** (q - 2) * rho.diff(x) ** 2)), q**2 / 4, "I_q")
    z, g = sp.symbols("z g", real=True)  # z = ρ^{−1/2}∇ρ^{q/2} and g = ρ^{(q−1)/2}·difference, per unit of μ/E
    exact = -q * (s2 * 4 / q**2 * z**2 - 2 / q * z * g)  # −q{σ² I + (2/q) F₁}, −F₁ ≤ z g
    claimed = -keep * q * s2 * (4 / q**2) * z**2 + drive * q / s2 * g**2
    surplus = sp.expand(claimed - exact)
    square = sp.expand((s2 / q) * (z - q / s2 * g) ** 2)
    same(surplus, square, "the surplus is a square")
    return Finding("exact (the surplus is a square)")


@statement(
    "G.20",
    "E_μ‖∇L‖² ≤ 4σ⁴ E_π‖∇√(μ/π)‖² + 2dσ²(β+λ)",
    evidence=(SYMBOLIC,),
    claim=(sp.Integer(4), sp.Integer(2)),
    fault=("2σ⁴ and dσ²(β+λ): before the rearrangement", (sp.Integer(2), sp.Integer(1))),
    scope="The identity E_μ‖∇L‖² = σ²E_μΔL + 2σ²∫⟨√ρ∇L, ∇√ρ⟩π as a total derivative with an arbitrary density, "
    "Young's square, the rearrangement; all Gaussians against quadratic objectives (the gap is σ⁴/s²). Slip: "
    "dβσ²(β+λ) for dσ²(β+λ) in five lines.",
)
def _change_of_measure(claim, effort: int) -> Finding:
    quartic, laplace = claim
    mean, spread = sp.symbols("mean spread", positive=True)  # μ = N(mean, spread), L = a x²/2, d = 1
    fisher = spread * (a / s2 - 1 / spread) ** 2 + (a * mean / s2) ** 2  # 4 E_π‖∇√ρ‖²
    gap = quartic * s2**2 * fisher / 4 + laplace * s2 * a - a**2 * (mean**2 + spread)
    same(gap, s2**2 / spread, "quadratic objective")
    objective, root = sp.Function("U")(x), sp.Function("h")(x)
    density = sp.exp(-objective / s2)
    law = root**2 * density
    left = (
        objective.diff(x) ** 2 * law
        - s2 * objective.diff(x, 2) * law
        - 2 * s2 * root * objective.diff(x) * root.diff(x) * density
    )
    same(sp.expand(left + (s2 * objective.diff(x) * law).diff(x)), 0, "the identity, up to a total derivative")
    u, w = sp.symbols("u w", real=True)
    same(u**2 / 2 + 2 * s2**2 * w**2 - 2 * s2 * u * w, (u - 2 * s2 * w) ** 2 / 2, "Young's inequality")
    return Finding("exact; the gap is σ⁴/s² for Gaussians")
