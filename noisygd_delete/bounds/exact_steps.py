"""Gaussian DP of Noisy GD in finite precision: shifted interpolation with every rounding error included.

Each step, on stored rows, with N an exact discrete Gaussian of parameter τ = 2^b h:

    k = rint(fl(fl(θ̂ − η ĝ)/h)) + N,   θ̂⁺ = Π(h k)

ĝ is a float64 gradient with ‖ĝ − ∇L_D(θ̂)‖ ≤ e for any order of addition (`arithmetic.gradient_error`), and Π the
projection on the ball of radius W. Theorem (design sheet "exact steps", sections 2 to 4, variant A). Let X be the path
of grid points. On each dataset X_k is C(path) + hN_k with C on the grid and ‖C − φ(ΠX_{k−1})‖ ≤ E, E = r_X + c r_Π,
with φ in real arithmetic and c-Lipschitz. Interpolate between the neighbouring runs as in real arithmetic, with the
interpolated centre rounded to the grid. Then distances satisfy z_k = c z_{k−1} + gap_k − a_k with

    gap_k = s_k + δ,      δ = 2E + h√d,      s_k = ηΔ/n with the record, 0 without it

and the last point is μ-GDP, μ² = Σ a_k²/(τ² − 144h²), up to a factor 1 ± t d·10⁻¹²³³ of every probability
(`objective_perturbation`). That factor moves Φ⁻¹ by less than the 10⁻⁹ by which μ is raised. The same holds for any
point in between, as each is one of the path. The shifts of the real chain and those of a chain whose gap is δ at every
step are feasible jointly, both a_k ∝ c^{t−k}:

    μ(T, K) ≤ μ_real(T, K; gap s) + μ_real(T + K, 0; gap δ)           increasing in T, without a failure probability

The gaps of an interval never increase: the record is removed, the rounding errors remain. So C_k is concave over V_k
(formula (2) of the sheet), its greatest convex minorant is one segment, and no other shifts cost less than this, except
for rows in any order, whose rounding errors before the interval are also counted.

For the linear loss with rounding in opposite directions on the two datasets this is an equality up to h. Two runs from
one observed point in which no row differs evaluate the same function of the same random words: 0, if rows are added in
an order that their contents determine. Otherwise each run may add them in its own order at any step: a record that has
been removed costs μ_real(∞, 0; gap δ), and so does that of every other interval.

Runs that start at distance z_0 (two answers of a solver) have a third jointly feasible family of shifts, also
proportional to c^{t−k}:

    μ(T, K; z_0) ≤ μ(T, K; 0) + z_0 c^t/√S_t,       S_t = (τ² − 144h²)(1 − c^{2t})/(1 − c²),   t = T + K ≥ 1
"""

from __future__ import annotations

import math

from . import shifted_interpolation
from .arithmetic import UNIT
from .objective_perturbation import SMOOTHING

MOST_BITS, LEAST_BITS = 24, 12  # range of b
_HEADROOM = 51  # most binary digits of W/h, so that points with noise and step remain integers in float64
_OUTSIDE = 1.001  # largest norm of a projected point, in W
_SECOND_ORDER = 1.01
_STEEPER = 16 * UNIT  # increase of c that covers the rounding of 1 − ηm and of the longest step
_UNUSUAL = 37.0  # standard deviations, which a chain exceeds with probability e⁻⁶⁸⁴


def iterate_radius(
    *,
    lipschitz: float,
    regularization: float,
    gap_at_zero: float,
    dimension: float,
    noise: float,
    step_size: float,
    strong_convexity: float,
) -> float:
    """Return W, a power of two that a chain of noise τ practically never exceeds.

    The minimizer is closer to 0 than L/λ and √(2·gap/λ), and the chain stays around it. Privacy holds for every W; for
    utility it should never be reached.

    Args:
        lipschitz: L.
        regularization: λ.
        gap_at_zero: gap, the most by which the loss at 0 exceeds its minimum.
        dimension: d.
        noise: τ.
        step_size: η.
        strong_convexity: m.
    """
    far = min(lipschitz / regularization, math.sqrt(2 * gap_at_zero / regularization))
    contraction = 1 - step_size * strong_convexity
    spread = (math.sqrt(dimension) + _UNUSUAL) * noise / math.sqrt(1 - contraction**2)
    return math.ldexp(1.0, math.frexp(far + spread)[1])


def grid_bits(*, radius: float, lipschitz: float, regularization: float, step_size: float, noise: float) -> int:
    """Return b of the finest grid τ/2^b, b ≤ 24, on which every value within reach of a step is an integer in float64.

    A result below 12 means that no useful grid exists.
    """
    reach = _OUTSIDE * radius + step_size * (lipschitz + regularization * radius)
    return min(MOST_BITS, _HEADROOM - math.frexp(reach / noise)[1])


def rounding_gap(
    *,
    gradient_error: float,
    step_size: float,
    strong_convexity: float,
    lipschitz: float,
    regularization: float,
    radius: float,
    dimension: float,
    grid: float,
) -> float:
    """Return δ = 2(r_X + c r_Π) + h√d, rounded up: the most by which the rounding errors of one step separate two runs.

    r_X = 1.01(ηe + 3uη(L + λW) + 2uW) + h√d/2: the gradient, the product with η, the subtraction, the division by h,
    and rint. r_Π = 1.01(d + 9)uW: the product h k and the projection. W is taken .1 % larger, since a rounded point may
    be that far outside.
    """
    outside, root = _OUTSIDE * radius, math.sqrt(dimension)
    steepest = lipschitz + regularization * outside
    centre = (
        _SECOND_ORDER * (step_size * gradient_error + UNIT * (3 * step_size * steepest + 2 * outside)) + grid * root / 2
    )
    point = _SECOND_ORDER * (dimension + 9) * UNIT * outside
    contraction = 1 - step_size * strong_convexity + _STEEPER
    return (2 * (centre + contraction * point) + grid * root) * (1 + 1e-9)


def exact_steps_gdp(
    *,
    sensitivity: float,
    step_size: float,
    strong_convexity: float,
    noise: float,
    grid: float,
    records: float,
    gap: float,
    steps_with_record: float,
    steps_without_record: float = 0,
    in_place: bool = True,
    apart: float = 0.0,
) -> float:
    """Return μ(T, K), rounded up; infinite if τ is at most twelve steps of the grid.

    Args:
        sensitivity: Δ.
        step_size: η.
        strong_convexity: m.
        noise: τ.
        grid: h.
        records: n.
        gap: δ of `rounding_gap`.
        steps_with_record: T; `math.inf` gives the supremum over any number of steps.
        steps_without_record: K.
        in_place: Whether rows are added in an order that their contents determine. If not, steps without the record
            also incur rounding errors, for any number of such steps.
        apart: z_0, the distance between the starts of the two runs. If it is positive, T + K must be the total number
            of steps, each of which incurs its rounding errors.
    """
    if steps_with_record == 0 and not apart and (in_place or not steps_without_record):
        return 0.0
    variance, slower = noise**2 - (SMOOTHING * grid) ** 2, strong_convexity - _STEEPER / step_size
    if not (variance > 0 and slower > 0):
        return math.inf
    chain = {
        "step_size": step_size,
        "strong_convexity": slower,
        "noise_variance": variance / (2 * step_size),
        "records": records,
    }
    real = shifted_interpolation.gdp(
        sensitivity=sensitivity,
        steps_with_record=steps_with_record,
        steps_without_record=steps_without_record,
        **chain,
    )
    rounded = shifted_interpolation.gdp(
        sensitivity=gap * records / step_size,
        steps_with_record=steps_with_record + steps_without_record if in_place or apart else math.inf,
        **chain,
    )
    started = 0.0
    if apart:
        started = shifted_interpolation.minimiser_deletion_gdp(
            steps=steps_with_record + steps_without_record, gradient_tolerance=apart * slower / 2, **chain
        )
    return (real + rounded + started) * (1 + 1e-9)
