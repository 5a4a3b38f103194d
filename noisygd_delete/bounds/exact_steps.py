"""Noisy-GD as a machine runs it: shifted interpolation (`shifted_interpolation`) with every rounding charged, no real number left.

Each step, on stored rows:   k = rint(fl(fl(θ̂ − η ĝ)/h)) + N,   θ̂⁺ = Π(h k),   N exact discrete Gaussian of parameter τ = 2^b h

ĝ is a float64 gradient with ‖ĝ − ∇L_D(θ̂)‖ ≤ e in whatever order it is added (`arithmetic.gradient_error`), Π the projection on the
ball of radius W. Theorem (design sheet "exact steps", sections 2 to 4, variant A). Let X be the path of grid points. In each world X_k is
C(path) + hN_k with C on the grid and ‖C − φ(ΠX_{k−1})‖ ≤ E, E = r_X + c r_Π, φ over the reals and c-Lipschitz. Interpolate between the
worlds as over the reals, the interpolated centre rounded to the grid: distances obey z_k = c z_{k−1} + gap_k − a_k with

    gap_k = s_k + δ,      δ = 2E + h√d,      s_k = ηΔ/n with the record, 0 without it

and the last point is μ-GDP, μ² = Σ a_k²/(τ² − 144h²), but for a factor 1 ± t d·10⁻¹²³³ of every probability (`objective_perturbation_gdp`): that moves
Φ⁻¹ by less than the 10⁻⁹ by which μ is raised. So is any point in between, as each is one of the path. The shifts of the real chain and those of a
chain whose gap is δ at every step are feasible side by side, both a_k ∝ c^{t−k}:

    μ(T, K) ≤ μ_real(T, K; gap s) + μ_real(T + K, 0; gap δ)           increasing in T, no probability beside it

The gaps of a stretch never rise: the record goes, the roundings stay. So C_k is concave over V_k (formula (2) of the sheet), its greatest convex minorant is one
segment, and no other shifts cost less than this, but for rows in any order, whose roundings before the stretch are counted too.

Linear loss, rounding one way in one world and the other way in the other: equality but for h. Two worlds from one observed point in which no
row differs run the same function of the same words: 0, where rows are added in an order that their contents fix. Else each world may add them in
an order of its own at any step: a record that is gone costs μ_real(∞, 0; gap δ), and so does that of every other stretch.

Worlds that start z_0 apart (a solver's two answers) have a third feasible family beside these two, shifts again ∝ c^{t−k}:

    μ(T, K; z_0) ≤ μ(T, K; 0) + z_0 c^t/√S_t,       S_t = (τ² − 144h²)(1 − c^{2t})/(1 − c²),   t = T + K ≥ 1
"""

from __future__ import annotations

import math

from . import shifted_interpolation
from .arithmetic import UNIT
from .objective_perturbation import SMOOTHING

MOST_BITS, LEAST_BITS = 24, 12  # of b
_HEADROOM = 51  # binary digits of W/h at most: with noise and step the points stay whole numbers in float64
_OUTSIDE = 1.001  # how far a projected point may lie outside the ball, in W
_SECOND_ORDER = 1.01
_STEEPER = 16 * UNIT  # how much larger c is taken, for the rounding of 1 − ηm and of the longest step
_UNUSUAL = 37.0  # standard deviations: a chain reaches that far with probability e⁻⁶⁸⁴


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
    """W: farther than a chain of noise τ goes about the minimiser, which is nearer to 0 than L/λ and √(2·gap/λ); a power of two.

    Privacy holds for every W; utility wants it never to be reached.
    """
    far = min(lipschitz / regularization, math.sqrt(2 * gap_at_zero / regularization))
    contraction = 1 - step_size * strong_convexity
    spread = (math.sqrt(dimension) + _UNUSUAL) * noise / math.sqrt(1 - contraction**2)
    return math.ldexp(1.0, math.frexp(far + spread)[1])


def grid_bits(*, radius: float, lipschitz: float, regularization: float, step_size: float, noise: float) -> int:
    """b: the finest grid τ/2^b, b ≤ 24, on which all that a step may reach are whole numbers of float64; below 12 none is worth it."""
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
    """δ = 2(r_X + c r_Π) + h√d: what the roundings of one step may move two worlds apart, rounded up.

    r_X = 1.01(ηe + 3uη(L + λW) + 2uW) + h√d/2: the gradient, the product with η, the subtraction, the division by h, and rint.
    r_Π = 1.01(d + 9)uW: the product h k and the projection. W is taken .1 % longer: rounding may end there.
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
    """μ(T, K), rounded up; infinite where τ is no more than twelve steps of the grid. `math.inf` steps: the supremum over any number.

    Unless rows are added in an order that their contents fix (`in_place`) steps without the record cost their roundings too, as many as there may have been.
    Where both worlds may start `apart` (z_0), T + K is all the steps there were, and each costs its roundings.
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
