"""Objective perturbation in Rényi DP: the exact tilt, its corollaries, noise shapes, order curves and calibration."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from noisygd_delete.bounds import gaussian, objective_perturbation
from noisygd_delete.bounds import objective_perturbation as bounds
from noisygd_delete.bounds import renyi as order_curve
from noisygd_delete.bounds.objective_perturbation import gdp

from . import closed_forms
from .framework import ADVERSARIAL, RIGOROUS, SYMBOLIC, Finding, close, require, same, statement

ORDERS = (1.1, 1.5, 2.0, 2.7, 5.0, 12.0)
LINE = np.linspace(-26, 26, 10_401)


def ramp(height: float, slope: float, centre: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """a = clip(slope · (u − centre), ±height) and a′."""
    a = np.clip(slope * (LINE - centre), -height, height)
    return a, np.where(np.abs(slope * (LINE - centre)) < height, slope, 0.0)


def log_density(shift: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The exact law: u + a(u) ~ N(0, 1)."""
    return -((LINE + shift[0]) ** 2) / 2 - math.log(2 * math.pi) / 2 + np.log1p(shift[1])


def divergence(order: float, first: np.ndarray, second: np.ndarray) -> float:
    exponent = order * first + (1 - order) * second
    top = exponent.max()
    return float(top + math.log(np.exp(exponent - top).sum() * (LINE[1] - LINE[0]))) / (order - 1)


def worst(order: float, one: tuple[np.ndarray, np.ndarray], two: tuple[np.ndarray, np.ndarray]) -> float:
    laws = log_density(one), log_density(two)
    return max(divergence(order, *laws), divergence(order, *laws[::-1]))


NULL = (np.zeros_like(LINE), np.zeros_like(LINE))


@statement(
    "OP.tilt",
    "objective perturbation: R_q ≤ qΔ²/(2s²) + the largest log determinant ratio over q−1 (Theorem 1), equality without curvature",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=bounds.renyi,
    fault=("half the noise", lambda *, noise, **rest: bounds.renyi(noise=2 * noise, **rest)),
    licenses=("bounds.objective_perturbation:renyi",),
    scope="The identity q‖G₂‖² + (1−q)‖G₁‖² = ‖G_q‖² − q(q−1)‖w‖² symbolically in two dimensions; constant shifts (linear loss) "
    "attain it on exact densities; with ramps the exact supremum of the determinant term. That φ_s(G_q) det J_q integrates to at "
    "most 1 is the area formula for an injective map, cited.",
)
def _tilt(claim, effort: int) -> Finding:
    q, g = sp.symbols("q", positive=True), sp.symbols("g1:3 w1:3", real=True)
    first, shift = sp.Matrix(g[:2]), sp.Matrix(g[2:])
    tilted = first + q * shift
    left = q * (first + shift).dot(first + shift) + (1 - q) * first.dot(first)
    same(sp.expand(left), sp.expand(tilted.dot(tilted) - q * (q - 1) * shift.dot(shift)), "the exact tilt")
    closest = math.inf
    for order in ORDERS[:5]:
        for height in (0.05, 0.4):
            constant = (np.full_like(LINE, height), np.zeros_like(LINE))
            bound = claim(order=order, sensitivity=height, noise=1.0, hessian=0.0)
            truth = worst(order, NULL, constant)
            require(truth <= bound * (1 + 1e-9), f"order {order}: R_q = {truth} above {bound}")
            closest = min(closest, 1 - truth / bound)
            for slope in (0.02, 0.1):
                if (order - 1) * slope >= 1:
                    continue
                shift_, null = ramp(height, slope, 0.7), NULL
                for one, two in ((shift_, null), (null, shift_)):
                    ratio = order * np.log1p(one[1]) + (1 - order) * np.log1p(two[1])
                    term = (ratio - np.log1p(order * one[1] + (1 - order) * two[1])).max() / (order - 1)
                    bound = claim(order=order, sensitivity=height, noise=1.0, hessian=float(term))
                    truth = divergence(order, log_density(one), log_density(two))
                    require(truth <= bound * (1 + 1e-6) + 1e-9, f"ramp, order {order}: R_q = {truth} above {bound}")
    added = claim(order=3.0, sensitivity=0.1, noise=2.0, hessian=0.01, inexact_gdp=0.1)
    close(added, 3 * 0.01 / 8 + 0.01 + 3 * 0.01 / 2, "sum of the three terms")
    return Finding(f"closest approach {max(closest, 0):.1e} (attained by constant shifts)")


def log_term(order: float, second: np.ndarray, first: np.ndarray) -> float:
    """log det(I + B₂)^q det(I + B₁)^{1−q}/det(I + qB₂ − (q−1)B₁)."""
    unit = np.eye(len(first))
    parts = (order, unit + second), (1 - order, unit + first), (-1, unit + order * second - (order - 1) * first)
    return float(sum(weight * np.linalg.slogdet(matrix)[1] for weight, matrix in parts))


def line_matrix(generator: np.random.Generator, size: float, dimension: int) -> np.ndarray:
    direction = generator.standard_normal(dimension)
    return size * np.outer(direction, direction) / (direction @ direction)


def _one_direction(**claims: Any) -> SimpleNamespace:
    names = ("zero_out_hessian", "replace_hessian", "highest_order", "curvature_ratio")
    return SimpleNamespace(**{name: getattr(bounds, name) for name in names} | claims)


@statement(
    "OP.one-direction",
    "one direction per row: the Hessian costs h₋(ρ)/(q−1) (zero-out) and −log(1 − q(q−1)ρ²/(1+ρ))/(q−1) (replace), also with mρ",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=_one_direction(),
    fault=(
        "the Hessian term forgotten",
        _one_direction(zero_out_hessian=lambda **_: 0.0, replace_hessian=lambda **_: 0.0),
    ),
    licenses=tuple(
        f"bounds.objective_perturbation:{name}"
        for name in ("zero_out_hessian", "replace_hessian", "highest_order", "curvature_ratio")
    ),
    scope="Derivatives and the closed form of h₊ + h₋ symbolically; the formulas at 40 digits; the determinant term for random "
    "rank-one pairs at all angles and sums of m of them; the designed ramp a = clip(κu), κ = 1, on exact densities, which alone "
    "sees a forgotten term in the divergence.",
)
def _corollary_1(claim, effort: int) -> Finding:
    q, r = sp.symbols("q r", positive=True)
    plus = q * sp.log(1 + r) - sp.log(1 + q * r)
    minus = -(q - 1) * sp.log(1 + r) - sp.log(1 - (q - 1) * r)
    same(sp.diff(plus, r), q * (q - 1) * r / ((1 + r) * (1 + q * r)), "h₊′")
    same(sp.diff(minus, r), q * (q - 1) * r / ((1 + r) * (1 - (q - 1) * r)), "h₋′")
    same((1 + q * r) * (1 - (q - 1) * r), sp.expand(1 + r - q * (q - 1) * r**2), "the product form")
    generator, closest = np.random.default_rng(1), math.inf
    for order, height in ((10.0, 0.05), (3.0, 0.3)):
        truth = worst(order, NULL, ramp(height, height))
        bound = order * height**2 / 2 + claim.zero_out_hessian(order=order, ratio=height)
        require(truth <= bound, f"the designed ramp at order {order}: R_q = {truth} above {bound}")
    for _ in range(600 * effort):
        order = float(generator.choice(ORDERS))
        rows = int(generator.choice([1, 1, 2, 4]))
        ratio = generator.uniform(0.02, 0.98) / (order - 1) / rows
        ratio = min(ratio, 3.0)
        matrices = [sum(line_matrix(generator, ratio, 3) for _ in range(rows)) for _ in range(2)]
        if generator.random() < 0.3:
            matrices[1] = np.diag([0.0, 0.0, rows * ratio])
            matrices[0] = np.diag([rows * ratio, 0.0, 0.0])
        none = np.zeros((3, 3))
        single = claim.zero_out_hessian(order=order, ratio=ratio, rows=rows)
        for pair in ((matrices[0], none), (none, matrices[0])):
            term = log_term(order, *pair) / (order - 1)
            require(
                term <= single * (1 + 1e-9) + 1e-12, f"zero-out, q={order}, ρ={ratio}, m={rows}: {term} above {single}"
            )
        both = claim.replace_hessian(order=order, ratio=ratio, rows=rows)
        term = log_term(order, *matrices) / (order - 1)
        require(term <= both * (1 + 1e-9) + 1e-12, f"replace, q={order}, ρ={ratio}, m={rows}: {term} above {both}")
        closest = min(closest, 1 - term / both)
    with mpmath.workdps(40):
        for order in (1.001, 2.0, 10.0):
            for ratio in (1e-9, 1e-3, 0.9 / (order - 1) if order > 1.9 else 0.5):
                rest, x = mpmath.mpf(order) - 1, mpmath.mpf(ratio)
                h_minus = -rest * mpmath.log1p(x) - mpmath.log1p(-rest * x)
                h_plus = order * mpmath.log1p(x) - mpmath.log1p(order * x)
                found = claim.zero_out_hessian(order=order, ratio=ratio)
                require(
                    h_minus / rest <= found <= h_minus / rest * (1 + 1e-9) + 1e-13, f"h₋ at {order}, {ratio}: {found}"
                )
                found = claim.replace_hessian(order=order, ratio=ratio)
                truth = (h_minus + h_plus) / rest
                require(truth <= found <= truth * (1 + 1e-9) + 1e-13, f"h₊ + h₋ at {order}, {ratio}: {found}")
    close(claim.curvature_ratio(smoothness=0.25, strong_convexity=1e-3, records=26_000), 0.25 / 26, "ρ")
    close(claim.curvature_ratio(smoothness=0.2, strong_convexity=0.1, records=10, weak_convexity=0.3), 0.2 / 1.3, "ρ₊")
    for ratio, rows, below in ((0.01, 1, 0.0), (0.01, 3, 0.0), (0.05, 1, 0.03)):
        highest = claim.highest_order(ratio=ratio, rows=rows, below=below)
        close(highest * below * rows + (highest - 1) * ratio * rows, 1.0, "the highest order")
        if not below:
            require(claim.zero_out_hessian(order=highest * 1.001, ratio=ratio, rows=rows) == math.inf, "beyond it")
    return Finding(f"closest approach {closest:.1e}")


def softmax_matrix(p: np.ndarray) -> np.ndarray:
    return np.diag(p) - np.outer(p, p)


def _several(factor: float) -> SimpleNamespace:
    def scaled(function: Any) -> Any:
        return lambda *, order, ratio, rows=1: function(order=order, ratio=factor * ratio, rows=rows)

    return SimpleNamespace(
        zero_out=scaled(bounds.several_zero_out_hessian), replace=scaled(bounds.several_replace_hessian)
    )


@statement(
    "OP.several",
    "softmax and rows of a subject: with Σ r_i² ≤ ρ², ρ = R²/(2nλ), zero-out costs max{h₋(ρ), q(q−1)ρ²/2}/(q−1), replace qρ²/2 more",
    evidence=(SYMBOLIC, RIGOROUS, ADVERSARIAL),
    claim=_several(1.0),
    fault=("a Frobenius norm of R²/4", _several(0.5)),
    licenses=(
        "bounds.objective_perturbation:several_zero_out_hessian",
        "bounds.objective_perturbation:several_replace_hessian",
    ),
    scope="‖diag p − ppᵀ‖_F² = s₂ − 2s₃ + s₂² ≤ 1/4 on random rationals (s₂² ≤ s₃ exactly); the determinant term for random softmax "
    "Hessians, one or several rows, K ≤ 5, in random bases; the sum of h₋ over many small eigenvalues at orders below 2, where the "
    "extreme eigenvalue is not the worst: an addition to the sheet, which has q ≥ 2.",
)
def _corollary_2(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(2), math.inf
    for _ in range(300 * effort):
        weights = [Fraction(int(w)) for w in generator.integers(1, 1000, generator.integers(2, 6))]
        p = [w / sum(weights) for w in weights]
        s2, s3 = sum(x**2 for x in p), sum(x**3 for x in p)
        require(s2**2 <= s3 and s2 - 2 * s3 + s2**2 <= Fraction(1, 4), f"Frobenius norm at {p}")
    for _ in range(500 * effort):
        order, rows = float(generator.choice(ORDERS)), int(generator.choice([1, 1, 3]))
        ratio = min(generator.uniform(0.05, 0.98) / (order - 1) / rows, 2.0)  # R²/(2nλ): Hessians are 2ρ(diag p − ppᵀ)
        classes = int(generator.integers(2, 6))
        matrices = []
        for _ in range(2):
            total = np.zeros((2 * classes, 2 * classes))
            x = generator.standard_normal(2)
            for _ in range(rows):
                p = generator.dirichlet(np.full(classes, generator.choice([0.1, 1.0])))
                if generator.random() < 0.4:
                    p = np.zeros(classes)
                    p[:2] = 0.5
                x = x if generator.random() < 0.5 else generator.standard_normal(2)
                total += 2 * ratio * np.kron(softmax_matrix(p), np.outer(x, x) / (x @ x))
            matrices.append(total)
        none = np.zeros_like(matrices[0])
        single = claim.zero_out(order=order, ratio=ratio, rows=rows)
        for pair in ((matrices[0], none), (none, matrices[0])):
            term = log_term(order, *pair) / (order - 1)
            require(
                term <= single * (1 + 1e-9) + 1e-12, f"zero-out, q={order}, ρ={ratio}, m={rows}: {term} above {single}"
            )
            closest = min(closest, 1 - term / single)
        both = claim.replace(order=order, ratio=ratio, rows=rows)
        term = log_term(order, *matrices) / (order - 1)
        require(term <= both * (1 + 1e-9) + 1e-12, f"replace, q={order}, ρ={ratio}, m={rows}: {term} above {both}")
    for order in (1.05, 1.2, 1.7, 2.0, 4.0):
        for ratio in (0.1, 0.5, 0.9 / (order - 1)):
            for number in (1, 10, 10_000):
                if (order - 1) * ratio >= 1:
                    continue
                r = np.full(number, ratio / math.sqrt(number))
                total = float((-(order - 1) * np.log1p(r) - np.log1p(-(order - 1) * r)).sum())
                bound = claim.zero_out(order=order, ratio=ratio) * (order - 1)
                require(
                    total <= bound * (1 + 1e-9), f"{number} eigenvalues, q={order}, ρ={ratio}: {total} above {bound}"
                )
    return Finding(f"closest approach {max(closest, 0):.1e} (attained by the largest eigenvalue alone)")


def _dropped(*, order: float, ratio: float, below: float) -> float:
    """The cross term of opposite curvatures dropped."""
    rest = order - 1
    equal = (
        order * math.log1p(r) - math.log1p(order * r) - rest * math.log1p(r) - math.log1p(-rest * r)
        for r in (ratio, -below)
    )
    return max(equal) / rest


@statement(
    "OP.weakly-convex",
    "curvature of both signs, λ > β₋: zero-out costs the largest of h± at ρ₊ and −ρ₋, replace the largest of four terms over q−1",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=SimpleNamespace(zero_out=bounds.weakly_convex_zero_out_hessian, replace=bounds.weakly_convex_replace_hessian),
    fault=(
        "the cross term of opposite curvatures dropped",
        SimpleNamespace(zero_out=bounds.weakly_convex_zero_out_hessian, replace=_dropped),
    ),
    licenses=(
        "bounds.objective_perturbation:weakly_convex_zero_out_hessian",
        "bounds.objective_perturbation:weakly_convex_replace_hessian",
    ),
    scope="The determinant of two rank-one terms at angle c symbolically; the largest log determinant term over random eigenvalues of "
    "either sign and all angles, ends included. One row, one direction: several rows are refused by the caller.",
)
def _weakly_convex(claim, effort: int) -> Finding:
    a, b, c = sp.symbols("a b c", real=True)
    u, v = sp.Matrix([1, 0]), sp.Matrix([c, sp.sqrt(1 - c**2)])
    same((sp.eye(2) + a * u * u.T + b * v * v.T).det(), (1 + a) * (1 + b) - a * b * c**2, "two rank-one terms")
    generator, closest = np.random.default_rng(3), math.inf
    for _ in range(4000 * effort):
        order = float(generator.choice(ORDERS))
        scale = generator.uniform(0.02, 0.97)
        share = generator.uniform(0, 1)
        ratio, below = scale * share / (order - 1) * 0.5, scale * (1 - share) / order * 0.5
        second, first = (float(generator.choice([ratio, -below, generator.uniform(-below, ratio)])) for _ in range(2))
        cosine = float(generator.choice([0, 1, generator.uniform(0, 1)]))
        determinant = (1 + order * second) * (1 - (order - 1) * first) + order * (
            order - 1
        ) * second * first * cosine**2
        term = order * math.log1p(second) + (1 - order) * math.log1p(first) - math.log(determinant)
        bound = claim.replace(order=order, ratio=ratio, below=below) * (order - 1)
        require(term <= bound * (1 + 1e-9) + 1e-13, f"replace, q={order}, ρ₊={ratio}, ρ₋={below}: {term} above {bound}")
        if bound > 1e-6:
            closest = min(closest, 1 - term / bound)
        bound = claim.zero_out(order=order, ratio=ratio, below=below) * (order - 1)
        for r, plus in ((second, True), (second, False)):
            weight, inner = (order, order) if plus else (-(order - 1), -(order - 1))
            term = weight * math.log1p(r) - math.log1p(inner * r)
            require(term <= bound * (1 + 1e-9) + 1e-13, f"zero-out, q={order}, r={r}: {term} above {bound}")
    for figure in (claim.zero_out, claim.replace):
        for ratio, below in ((0.51, 0.0), (0.0, 0.34), (0.3, 0.2)):  # a determinant that may be 0 at q = 3
            require(figure(order=3.0, ratio=ratio, below=below) == math.inf, f"beyond: ρ₊={ratio}, ρ₋={below}")
    return Finding(f"closest approach {max(closest, 0):.1e} (attained at the ends)")


@statement(
    "OP.excess-risk",
    "E err ≤ (√d s/n + γ)²/(2m) + τ² tr/2; to second order (s²/2n²) tr H⁻¹; λ′ = max(λ, √d s/(nB))",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=bounds.excess_risk,
    fault=("half the variance of b", lambda *, noise, **rest: bounds.excess_risk(noise=noise / math.sqrt(2), **rest)),
    licenses=("bounds.objective_perturbation:excess_risk",),
    scope="Exact expectations for quadratic objectives of random spectra, output noise included (equality of the first term where all "
    "curvature is m); logistic regression on a line by quadrature over b. f − f* ≤ ‖∇f‖²/(2m) is strong convexity, cited.",
)
def _excess(claim, effort: int) -> Finding:
    generator, closest = np.random.default_rng(4), math.inf
    for trial in range(200 * effort):
        dimension = int(generator.integers(1, 8))
        convexity = math.exp(generator.uniform(-6, 0))
        spectrum = (
            convexity * np.exp(generator.uniform(0, 4, dimension)) if trial % 4 else np.full(dimension, convexity)
        )
        spectrum[0] = convexity
        noise, records, output = math.exp(generator.uniform(-2, 2)), 50.0, math.exp(generator.uniform(-6, 0))
        trace = float(spectrum.sum())
        truth = noise**2 / records**2 / 2 * float((1 / spectrum).sum()) + output**2 / 2 * trace
        bound = claim(
            dimension=dimension,
            noise=noise,
            strong_convexity=convexity,
            records=records,
            output_noise=output,
            hessian_trace=trace,
        )
        require(truth <= bound * (1 + 1e-12), f"spectrum {spectrum}: {truth} above {bound}")
        closest = min(closest, 1 - truth / bound)
        second = closed_forms.expected_excess_risk(
            noise=noise, records=records, inverse_trace=float((1 / spectrum).sum())
        )
        close(second + output**2 / 2 * trace, truth, "second order, exact for a quadratic")
    # logistic regression with one weight: minimise log(1 + e^{−θ}) + log(1 + e^{θ/2}) + λθ²/2·2 + bθ, n = 2
    ridge, noise, grid = 0.05, 0.6, np.linspace(-40, 40, 400_001)
    slope = -1 / (1 + np.exp(grid)) + 0.5 / (1 + np.exp(-grid / 2)) + 2 * ridge * grid
    value = (np.logaddexp(0, -grid) + np.logaddexp(0, grid / 2)) / 2 + ridge / 2 * grid**2
    bend = np.gradient(slope, grid)
    density = np.exp(-(slope**2) / (2 * noise**2)) * bend / (noise * math.sqrt(2 * math.pi))
    step = grid[1] - grid[0]
    close(float(density.sum() * step), 1.0, "the density of θ*", 1e-6)
    truth = float((density * (value - value.min())).sum() * step)
    bound = claim(dimension=1, noise=noise, strong_convexity=ridge, records=2)
    require(0.05 * bound < truth <= bound, f"logistic: {truth} against {bound}")
    pulled = claim(dimension=1, noise=noise, strong_convexity=ridge, records=2, gradient_tolerance=0.1)
    close(pulled, (noise / 2 + 0.1) ** 2 / (2 * ridge), "with the solver's tolerance")
    ridge = closed_forms.forecast_ridge(regularization=1e-4, dimension=100, noise=80.0, records=1000, model_norm=8.0)
    close(ridge, 0.1, "λ′")
    kept = closed_forms.forecast_ridge(regularization=0.2, dimension=100, noise=80.0, records=1000, model_norm=8.0)
    require(kept == 0.2, "λ′ never falls below λ")
    return Finding(f"closest approach {max(closest, 0):.1e} (equality where all curvature is m)")


def _shapes(unknown: bool) -> SimpleNamespace:
    return SimpleNamespace(
        block_variances=objective_perturbation.block_variances,
        unknown=unknown,
    )


@statement(
    "OP.shape",
    "one-hot schema: with v = S/(N√k) on blocks and 1 on numbers every row of norm 1 has xᵀΣ⁻¹x = 1, and tr Σ = S²/N + j",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=_shapes(True),
    fault=("an unknown bucket missing: cold blocks", _shapes(False)),
    licenses=(
        "bounds.objective_perturbation:block_variances",
        "bounds.objective_perturbation:column_variances",
    ),
    scope="The identity symbolically for three blocks and two numbers; random schemas and rows. A row with a cold block is longer in the "
    "shape: such a table is refused.",
)
def _shape(claim, effort: int) -> Finding:
    k = sp.symbols("k1:4", positive=True)
    numbers = sp.symbols("v1:3", real=True)
    roots = [sp.sqrt(x) for x in (*k, 1)]
    total, blocks = sum(roots), len(roots)
    norm = blocks + sum(v**2 for v in numbers)
    shaped = sum(1 / (total / (blocks * root)) for root in roots) + sum(v**2 for v in numbers)
    same(sp.simplify(shaped), norm, "xᵀΣ⁻¹x = ‖x‖² for hot rows")
    trace = sum(size * total / (blocks * root) for size, root in zip((*k, 1), roots, strict=True))
    same(sp.expand(trace), sp.expand(total**2 / blocks), "trace")
    generator, worst_cold = np.random.default_rng(5), 0.0
    for _ in range(400 * effort):
        sizes = [int(size) for size in generator.integers(1, 60, generator.integers(1, 9))]
        variances = claim.block_variances(categories=sizes)
        count = int(generator.integers(0, 5))
        squares = [1.0 for _ in variances] + list(generator.uniform(-1, 1, count) ** 2)
        shape = [*variances, *([1.0] * count)]
        trace_ = closed_forms.shape_trace(categories=sizes, numbers=count)
        close(trace_, math.fsum(s * v for s, v in zip((*sizes, 1), variances, strict=True)) + count, "tr Σ")
        require(trace_ <= sum(sizes) + 1 + count + 1e-9, "the shape never needs a larger trace")
        cold = [square if generator.random() < 0.6 else 0.0 for square in squares]
        cold[len(variances) - 1] = 1.0
        for row, hot in ((squares, True), (cold, False)):
            norm_ = math.sqrt(sum(row))
            shaped_ = math.sqrt(sum(square / v for square, v in zip(row, shape, strict=True)))
            if hot:
                require(abs(shaped_ / norm_ - 1) < 1e-12, f"hot row of {sizes}: {shaped_ / norm_}")
            elif not claim.unknown:
                require(shaped_ / norm_ <= 1 + 1e-12, f"a cold row of {sizes}: √(xᵀΣ⁻¹x) = {shaped_ / norm_}")
            worst_cold = max(worst_cold, shaped_ / norm_)
    for _ in range(100 * effort):  # columns in any order, with categories that may be cold counted as numbers
        layout = [int(size) for size in generator.choice([0, 0, 1, 2, 5, 40], 8)]
        variances, row, hot = objective_perturbation.column_variances(blocks=layout), [], [k for k in layout if k]
        for size in layout:
            row += list(np.eye(size)[generator.integers(size)]) if size else [generator.uniform(-1, 1)]
        shaped_, norm_ = (
            math.fsum(x * x / v for x, v in zip(row, w, strict=True)) for w in (variances, [1.0] * len(row))
        )
        require(len(variances) == len(row) and abs(shaped_ / norm_ - 1) < 1e-12, f"columns {layout}: {shaped_ / norm_}")
        trace_ = closed_forms.shape_trace(categories=hot, numbers=layout.count(0), constant=False)
        close(math.fsum(variances), trace_, "tr Σ of columns")
    return Finding(f"a cold row reaches √(xᵀΣ⁻¹x) = {worst_cold:.2f}")


def _beyond(**arguments: Any) -> float:
    return order_curve.curve_epsilon(**{**arguments, "highest_order": 4 * arguments["highest_order"]})


@statement(
    "OP.order-curve",
    "a curve finite below a public order converts to (ε, δ) at the best such order; calibration returns noise checked within the budget",
    evidence=(ADVERSARIAL,),
    claim=order_curve.curve_epsilon,
    fault=("orders above the highest used", _beyond),
    licenses=tuple(
        f"bounds.renyi:{name}"
        for name in (
            "curve_epsilon",
            "curve_least",
            "curve_log_delta",
            "least_noise",
            "noise_for_renyi",
            "noise_for_epsilon_delta",
            "noise_for_gdp",
        )
    ),
    scope="Gaussian curves against the exact δ(ε); a curve that is claimed below an order only, and says 0 above it; bisections "
    "within 10⁻⁸ of their budget and never above, for replace costs at three ρ. The conversion at one order: conversions' rows.",
)
def _curves(claim, effort: int) -> Finding:
    closest = math.inf
    for mu in (0.1, 2.0):
        for delta in (1e-3, 1e-9):
            for highest in (3.0, 1e4):

                def renyi(order: float, mu: float = mu, highest: float = highest) -> float:
                    return order * mu * mu / 2 if order < highest else 0.0

                found = claim(renyi=renyi, highest_order=highest, delta=delta)
                exact = gaussian.gdp_epsilon(mu=mu, delta=delta)
                require(found >= exact * (1 - 1e-9), f"μ={mu}, δ={delta}: ε = {found} below {exact}")
                closest = min(closest, found / exact - 1)
                back = order_curve.curve_log_delta(renyi=renyi, highest_order=highest, epsilon=found)
                require(math.log(delta) - 1e-2 * abs(math.log(delta)) <= back <= math.log(delta) + 1e-3, "and back")

                def rest(
                    order: float, mu: float = mu, delta: float = delta
                ) -> float:  # least where its two terms agree
                    return (order - 1) * mu * mu / 2 - math.log(delta) / (order - 1)

                best = 1 + min(math.sqrt(-2 * math.log(delta)) / mu, highest - 1)
                least = order_curve.curve_least(rest, highest_order=highest)
                close(least, rest(best), f"the least below order {highest}", 1e-6)
    for ratio in (0.0, 1e-3, 0.05):

        def hessian(order: float, ratio: float = ratio) -> float:
            return bounds.replace_hessian(order=order, ratio=ratio)

        highest = bounds.highest_order(ratio=ratio)
        noise = order_curve.noise_for_renyi(
            order=5, budget=0.5, sensitivity=2.0, hessian=hessian(5.0), inexact_rate=1e-4
        )
        cost = bounds.renyi(order=5, sensitivity=2.0, noise=noise, hessian=hessian(5.0)) + 5e-4
        require(0.5 * (1 - 1e-8) <= cost <= 0.5, f"Rényi calibration: {cost}")
        facts = {"sensitivity": 2.0, "hessian": hessian, "highest_order": highest}
        noise = order_curve.noise_for_epsilon_delta(epsilon=1.0, delta=1e-6, **facts)

        def composed(order: float, noise: float = noise, hessian: Any = hessian) -> float:
            return bounds.renyi(order=order, sensitivity=2.0, noise=noise, hessian=hessian(order))

        spent = order_curve.curve_epsilon(renyi=composed, highest_order=highest, delta=1e-6)
        require(0.99 <= spent <= 1.0, f"(ε, δ) calibration: {spent}")
        noise = order_curve.noise_for_gdp(gdp=1.0, lipschitz=1.0, ratio=ratio, worlds=2)
        if noise < math.inf:
            require(1 - 1e-8 <= gdp(lipschitz=1.0, noise=noise, ratio=ratio, worlds=2) <= 1.0, "GDP calibration")
        require(noise < math.inf or ratio > 0.01, "GDP calibration refuses where κ would exceed 1/4 alone")
    least = order_curve.least_noise(affordable=lambda noise: noise >= math.pi, guess=50.0)
    require(math.pi <= least <= math.pi * (1 + 1e-8), "bisection")
    require(
        order_curve.least_noise(affordable=lambda noise: False, guess=1.0, most=100.0) == math.inf, "none is enough"
    )
    return Finding(f"closest approach {closest:.1e}")
