"""Limits on the forgetting that clean steps can certify without contraction.

They are used to explain refusals; no guarantee depends on them. A step of a smooth loss is c-Lipschitz, c = 1 + η(β₋ − λ),
which exceeds 1 for λ < β₋. Consider two runs that a record separates by s in each of T steps, then by nothing in K
clean ones, with noise τ per step and coordinate. Shifts a_k ≥ 0 with z_{k+1} = c z_k + s − a_{k+1} ≥ 0 and z = 0 at the
end give μ² = Σ a_k²/τ² (shifted interpolation, Bok, Su & Altschuler 2024; its induction needs only a modulus of
continuity).

The optimum has a_k = s up to T − U, which is composition, and a_k ∝ c^{−k} over the last U + K steps; U is the largest
number for which the distance stays ≥ 0. As K → ∞ the saving tends to at most (ln 2 − ½)/ln c steps of T, even for
unlimited waiting.

Not claimed: that a particular network forgets no faster. No certificate for the whole class can show faster forgetting:
the bound is attained by steps that are flat until T − U and expand afterwards.
"""

from __future__ import annotations

import math

WORTH = math.log(2) - 0.5  # saving from unlimited waiting, in units of 1/ln c steps


def steps_worth_waiting(*, expansion: float) -> float:
    """Return (ln 2 − ½)/ln c, the most composition steps that any number of clean steps can save; infinite if c ≤ 1."""
    return WORTH / math.log(expansion) if expansion > 1 else math.inf


def barrier_exponent(*, lipschitz: float, weak_convexity: float, regularization: float, noise_variance: float) -> float:
    """Return E = (L²/2σ²)(1/λ − 1/β₋), or 0 if λ ≥ β₋.

    Continuous-time runs forget their start at a rate of poly · e^{−E}. This is sufficient by Eberle (2016, Theorem 1)
    with contraction at distance r of at least λ − min(β₋, 2L/r). It is attained by a one-dimensional loss with slopes
    ±L and curvature −β₋ between them, whose barrier is σ²E.
    """
    if regularization >= weak_convexity:
        return 0.0
    return lipschitz**2 / (2 * noise_variance) * (1 / regularization - 1 / weak_convexity)
