"""Appendix F: properties of losses, and what gradient clipping keeps of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import sympy as sp

from .framework import ADVERSARIAL, FAILS, REPAIRED, RIGOROUS, SYMBOLIC, Finding, Refuted, require, same, statement


def clip(vector: np.ndarray, bound: float) -> np.ndarray:
    """v / max(1, ‖v‖/L)."""
    return vector / max(1.0, float(np.linalg.norm(vector)) / bound)


@statement(
    "F.1",
    "a C² function is convex iff its Hessian is ≽ 0, λ-strongly convex iff it is ≽ λI",
    evidence=(SYMBOLIC,),
    claim=lambda t: 1 - t,
    fault=("weight t for 1 − t in the remainder", lambda t: t),
    scope="Taylor's remainder with an arbitrary function along a segment, symbolically (d/dt of (1−t)f′ + f); λ/2 "
    "from a constant Hessian λ; the converse as the limit of second differences.",
)
def _second_order(claim, effort: int) -> Finding:
    t, v, rate = sp.symbols("t v lambda", positive=True)
    f = sp.Function("f")
    # f(1) − f(0) − f′(0) = ∫₀¹ w(t) f″(t) dt needs an antiderivative w f′ − w′ f with the boundary values of the left side
    weight = claim(t)
    antiderivative = weight * f(t).diff(t) - sp.diff(weight, t) * f(t)
    same(antiderivative.diff(t), weight * f(t).diff(t, 2), "integration by parts")
    same(sp.diff(weight, t), -1, "f(1) − f(0) has coefficient 1")
    same(weight.subs(t, 1), 0, "f′(1) does not appear")
    same(weight.subs(t, 0), 1, "f′(0) appears once")
    same(sp.integrate(weight * rate * v**2, (t, 0, 1)), rate * v**2 / 2, "λ/2 ‖v‖² from a Hessian λ")
    x = sp.Symbol("x", real=True)
    for g in (sp.log(1 + sp.exp(x)), sp.sqrt(1 + x**2), sp.exp(x) * sp.cos(x)):
        second = sp.limit(2 * (g.subs(x, x + v) - g - v * g.diff(x)) / v**2, v, 0)
        require(abs(float((second - g.diff(x, 2)).subs(x, sp.Rational(1, 3)))) < 1e-12, "second difference → Hessian")
    return Finding("exact")


def _smooth_mixture(generator: np.random.Generator, size: int):
    """Gradient and a Hessian bound of log Σ e^{⟨a_i, θ⟩}: convex, β = max ‖a_i − a_j‖²/4."""
    rows = generator.normal(size=(4, size)) * generator.choice([0.3, 1.0, 3.0])
    beta = max(float(np.sum((a - b) ** 2)) for a in rows for b in rows) / 4

    def gradient(theta: np.ndarray) -> np.ndarray:
        scores = rows @ theta
        weights = np.exp(scores - scores.max())
        return weights @ rows / weights.sum()

    return gradient, beta


@statement(
    "F.2",
    "a C² convex function is β-smooth iff its Hessian is ≼ βI",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=_smooth_mixture,
    fault=("convexity dropped: −3β θ²/2 has Hessian ≼ βI", lambda generator, size: (lambda theta: -3.0 * theta, 1.0)),
    scope="Spectral norm = largest eigenvalue for a symmetric 2×2 matrix ≽ 0, symbolically; random log-sum-exp "
    "functions against their Hessian bound, close pairs included.",
)
def _smooth(claim, effort: int) -> Finding:
    a, b, c = sp.symbols("a b c", real=True)
    eigenvalues = list(sp.Matrix([[a, b], [b, c]]).eigenvals())
    squares = list((sp.Matrix([[a, b], [b, c]]) ** 2).eigenvals())
    same(sum(e**2 for e in eigenvalues), sum(squares), "singular values are |eigenvalues|")
    same(sp.prod([e**2 for e in eigenvalues]), sp.prod(squares), "singular values are |eigenvalues|")
    generator, closest = np.random.default_rng(21), math.inf
    for _ in range(3000 * effort):
        size = int(generator.integers(1, 4))
        gradient, beta = claim(generator, size)
        here = generator.normal(size=size)
        there = here + generator.normal(size=size) * math.exp(generator.uniform(-9, 2))
        ratio = float(np.linalg.norm(gradient(here) - gradient(there)) / np.linalg.norm(here - there)) / beta
        require(ratio <= 1 + 1e-6, f"the gradient moves {ratio} β per unit")
        closest = min(closest, 1 - ratio)
    return Finding(f"closest approach {max(0.0, closest):.1e}")


@statement(
    "F.3",
    "gradient clipping keeps convexity",
    verdict=FAILS,
    evidence=(RIGOROUS, SYMBOLIC),
    claim=Fraction(4),
    fault=("h = 1: every direction has one curvature", Fraction(1)),
    scope="One counter-example in exact rationals; and the Jacobian of the clipped field is not symmetric, so there "
    "is no surrogate loss at all. The wrong step follows (75): the derivative of the clipped field is "
    "orthogonal to ∇ℓ, which does not make it 0.",
)
def _clipping_convexity(claim, effort: int) -> Finding:
    h, bound = claim, 1  # f(θ) = (θ₁² + h θ₂²)/2, gradient (θ₁, h θ₂)
    gradients = (Fraction(1), Fraction(0)), (Fraction(4), Fraction(3))
    norms = Fraction(1), Fraction(5)
    points = [(g[0], g[1] / h) for g in gradients]
    clipped = [(g[0] * bound / n, g[1] * bound / n) for g, n in zip(gradients, norms, strict=True)]
    require(all(g[0] ** 2 + g[1] ** 2 == n**2 for g, n in zip(gradients, norms, strict=True)), "norms")
    product = sum((clipped[0][i] - clipped[1][i]) * (points[0][i] - points[1][i]) for i in (0, 1))
    require(product < 0, f"the clipped field is monotone on this pair: ⟨Δc, Δθ⟩ = {product}")
    x, y = sp.symbols("x y", positive=True)
    norm = sp.sqrt(x**2 + 16 * y**2)
    curl = sp.simplify(sp.diff(x / norm, y) - sp.diff(4 * y / norm, x))
    require(curl != 0, "the clipped field is a gradient")
    return Finding(
        f"⟨Δclip, Δθ⟩ = {product} < 0",
        "f(θ) = (θ₁² + 4θ₂²)/2, L = 1: at (1, 0) the clipped gradient is (1, 0), at (4, 3/4) it is (4/5, 3/5), and "
        "⟨(1/5, −3/5), (−3, −3/4)⟩ = −3/20 < 0. The clipped field has curl 12xy/(x² + 16y²)^{3/2} ≠ 0: it is no "
        "gradient.",
    )


def _triangle_area(base: Fraction, height: Fraction, bound: Fraction) -> Fraction:
    """∫ of a triangular slope cut at `bound`."""
    if height <= bound:
        return base * height / 2
    return (base + base * (1 - bound / height)) / 2 * bound


@statement(
    "F.4",
    "gradient clipping keeps boundedness",
    verdict=FAILS,
    evidence=(RIGOROUS,),
    claim=(Fraction(1, 5), Fraction(10)),
    fault=("rising slopes below L as well", (Fraction(2), Fraction(1))),
    scope="One counter-example on the line, exact rationals (continuous triangular slopes, so the loss is C¹ and "
    "100-smooth). For one direction per record and a monotone loss the range does survive: ∫min(|g|, L) ≤ ∫|g| "
    "with one sign.",
)
def _clipping_range(claim, effort: int) -> Finding:
    bound, (base, height) = Fraction(1), claim
    rise, fall = _triangle_area(base, height, height), _triangle_area(Fraction(2), Fraction(1), Fraction(1))
    require(rise == fall == 1, "the loss is periodic with range 1")
    drift = _triangle_area(base, height, bound) - fall
    periods = 10
    require(abs(periods * drift) > 1, f"after {periods} periods the clipped loss has drifted {periods * drift} only")
    return Finding(
        f"range 1 becomes {abs(periods * drift)} after {periods} periods, unbounded in the limit",
        "a 2.2-periodic loss of range 1 on the line: it rises by a triangular slope of height 10 on an interval of "
        "length 1/5 and falls by one of height 1 on length 2. Clipped to L = 1 the rise is 19/100 and the fall still "
        "1: each period loses 81/100.",
    )


@statement(
    "F.5",
    "gradient clipping keeps smoothness: the clipped field is β-Lipschitz",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=clip,
    fault=("always scaled to norm L", lambda vector, bound: bound * vector / np.linalg.norm(vector)),
    scope="‖u − v‖² = (‖u‖ − ‖v‖)² + ‖u‖‖v‖‖û − v̂‖² symbolically in the plane of u and v, which settles the case of "
    "both outside; random pairs. A statement about the field: a surrogate loss need not exist (F.3), and the "
    "field is C^{0,1}, not C¹.",
)
def _clipping_smooth(claim, effort: int) -> Finding:
    r, s, a = sp.symbols("r s a", positive=True)
    gap = r**2 + s**2 - 2 * r * s * sp.cos(a)
    same(gap, (r - s) ** 2 + r * s * (2 - 2 * sp.cos(a)), "‖u − v‖² split into radius and angle")
    generator, closest = np.random.default_rng(22), math.inf
    for _ in range(6000 * effort):
        size = int(generator.integers(1, 4))
        u = generator.normal(size=size) * math.exp(generator.uniform(-2, 2))
        v = u + generator.normal(size=size) * math.exp(generator.uniform(-6, 2))
        ratio = float(np.linalg.norm(claim(u, 1.0) - claim(v, 1.0)) / np.linalg.norm(u - v))
        require(ratio <= 1 + 1e-9, f"clipping moves {u}, {v} apart by the factor {ratio}")
        closest = min(closest, 1 - ratio)
    return Finding(f"closest approach {max(0.0, closest):.1e}")


def _weierstrass(x: np.ndarray) -> np.ndarray:
    return sum(0.5**k * np.cos(13**k * np.pi * x) for k in range(14))


def _clipped_line(x: np.ndarray) -> np.ndarray:
    """First entry of the clipped field of diag(1, 4) along a line."""
    first, second = 6 * x - 3, 4 * (2 * x - 0.7)
    return first / np.maximum(1.0, np.hypot(first, second))


@statement(
    "F.6",
    "Rademacher: a Lipschitz map is differentiable almost everywhere",
    evidence=(ADVERSARIAL,),
    claim=_clipped_line,
    fault=("a continuous map that is not Lipschitz (Weierstrass)", _weierstrass),
    scope="A theorem of real analysis, cited, not proven here. Its one use (the clipped field) is sampled: difference"
    " quotients at two scales and two sides agree at all but a vanishing share of random points. The "
    "exceptional set is {‖∇ℓ‖ = L}.",
)
def _rademacher(claim, effort: int) -> Finding:
    points = np.random.default_rng(23).uniform(0.05, 0.95, 20000 * effort)
    middle = claim(points)
    quotients = [(claim(points + h) - middle) / h for h in (1e-4, -1e-4, 1e-5, -1e-5)]
    spread = np.max(quotients, axis=0) - np.min(quotients, axis=0)
    share = float(np.mean(spread > 0.05))
    require(share < 0.01, f"difference quotients disagree at {share:.1%} of the points")
    return Finding(f"{share:.2%} of random points within 10⁻⁴ of a kink")


def _one_direction(scalar: float, bound: float) -> float:
    return max(-bound, min(bound, scalar))


@statement(
    "5.3",
    "Theorems 5.1 and 5.2 also hold with gradients clipped to L",
    verdict=REPAIRED,
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=_one_direction,
    fault=(
        "a scalar that is not clipped but folded back",
        lambda scalar, bound: scalar if abs(scalar) <= bound else bound * bound / scalar,
    ),
    scope="The contraction that 5.1's proof needs fails for a clipped convex loss at every step size (exact), so the "
    "proof does not carry over; the theorem's conclusion itself is not refuted here. Repair: losses with one "
    "gradient direction per record, where clipping acts on a monotone scalar; there T is (1 − ηλ)-Lipschitz "
    "(random losses), the loss is C^{1,1} only, and the range survives for monotone losses.",
)
def _clipped_theorems(claim, effort: int) -> Finding:
    point, clipped = (Fraction(-3), Fraction(-3, 4)), (Fraction(1, 5), Fraction(-3, 5))  # the pair of F.3
    for regularization, eta in (
        (Fraction(1), Fraction(1, 10)),
        (Fraction(1, 100), Fraction(1, 10)),
        (Fraction(1, 10), Fraction(1, 1000)),
    ):
        image = [(1 - eta * regularization) * p - eta * c for p, c in zip(point, clipped, strict=True)]
        require(
            sum(i * i for i in image) > (1 - eta * regularization) ** 2 * sum(p * p for p in point),
            "T contracts on this pair",
        )
    generator, closest = np.random.default_rng(24), math.inf
    for _ in range(3000 * effort):
        rows = generator.normal(size=(3, 2))
        rows /= np.maximum(1.0, np.linalg.norm(rows, axis=1))[:, None]
        bound, regularization = generator.uniform(0.05, 1.0), math.exp(generator.uniform(-5, 0))
        eta = 2 / (2 * regularization + 1)

        def step(theta, rows=rows, bound=bound, regularization=regularization, eta=eta):
            scalars = np.array([claim(float(row @ theta), bound) for row in rows])
            return theta - eta * (scalars @ rows / len(rows) + regularization * theta)

        here = generator.normal(size=2) * math.exp(generator.uniform(-1, 2))
        there = here + generator.normal(size=2) * math.exp(generator.uniform(-3, 1))
        ratio = float(np.linalg.norm(step(here) - step(there)) / np.linalg.norm(here - there)) / (
            1 - eta * regularization
        )
        if ratio > 1 + 1e-9:
            raise Refuted(f"T is not (1 − ηλ)-Lipschitz: {ratio} times that")
        closest = min(closest, 1 - ratio)
    return Finding(
        f"one direction per record: closest approach {max(0.0, closest):.1e}",
        "f(θ) = (θ₁² + 4θ₂²)/2 clipped to 1: for the pair of F.3 ⟨Δclip, Δθ⟩ = −3/20, so ‖T(θ) − T(θ′)‖² = "
        "(1−ηλ)²‖Δθ‖² + (3/10)η(1−ηλ) + η²‖Δclip‖² exceeds (1 − ηλ)²‖Δθ‖² for every η in (0, 1/λ): G.12(2), and with "
        "it 5.1's proof, is lost.",
    )
