"""What clean steps can be certified to forget where nothing contracts: bounds for refusals, no guarantee rests on them.

A step of a smooth loss is c-Lipschitz, c = 1 + η(β₋ − λ); for λ < β₋ that is above 1. Two runs that a record moves apart by s in each of T
steps, then by nothing in K clean ones, with noise τ per step and coordinate: shifts a_k ≥ 0 with z_{k+1} = c z_k + s − a_{k+1} ≥ 0 and z = 0 at the end
give μ² = Σ a_k²/τ² (shifted interpolation, Bok, Su & Altschuler 2024; its induction asks for a modulus of continuity and nothing else).

The optimum takes a_k = s up to T − U, which is composition, and a_k ∝ c^{−k} over the last U + K steps; U is the largest number for which
the distance stays ≥ 0. As K → ∞ the saving tends to at most (ln 2 − ½)/ln c steps of T: waiting for ever is worth no more.

Not claimed: that a particular network forgets no faster. Nobody can certify of the class that it does: the bound is attained by steps that
are flat until T − U and expand afterwards.
"""

from __future__ import annotations

import math

WORTH = math.log(2) - 0.5  # of waiting for ever, in units of 1/ln c steps


def steps_worth_waiting(*, expansion: float) -> float:
    """(ln 2 − ½)/ln c: the steps of composition that clean steps can save at most, however many; infinite where c ≤ 1."""
    return WORTH / math.log(expansion) if expansion > 1 else math.inf


def barrier_exponent(*, lipschitz: float, weak_convexity: float, regularization: float, noise_variance: float) -> float:
    """E = (L²/2σ²)(1/λ − 1/β₋), 0 where λ ≥ β₋: continuous-time runs forget their start at a rate of poly · e^{−E}.

    Sufficient by Eberle (2016, Theorem 1) with contraction at distance r of at least λ − min(β₋, 2L/r); and attained by a loss in one
    dimension with slopes ±L and curvature −β₋ between, whose barrier is σ²E.
    """
    if regularization >= weak_convexity:
        return 0.0
    return lipschitz**2 / (2 * noise_variance) * (1 / regularization - 1 / weak_convexity)
