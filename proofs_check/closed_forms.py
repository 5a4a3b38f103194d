"""Forms on which no guarantee rests: statements and tests measure other formulas by them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from noisygd_delete_lab.ancestors import ancestors

from noisygd_delete.bounds.arithmetic import first_whole


def renyi_to_gibbs(
    *,
    start: float,
    discretisation_rate: float,
    forgetting_rate: float,
    order: float,
    steps: float,
    start_rate: float = math.inf,
) -> float:
    """G.22 before its last relaxation, with q0 = (q − 1)e^{−c1 ηK} + 1:

    R_q ≤ (q/q0) e^{−c1 ηK} R_{q0}(start ‖ π(D)) + (c2/c1) q (1 − e^{−c1 ηK}).

    `start` bounds the divergence of the start at every order up to q, `start_rate`·q0 bounds it at order q0.
    """
    kept = math.exp(-forgetting_rate * steps)
    low = (order - 1) * kept + 1
    at_low = start if start_rate == math.inf else min(start, low * start_rate)
    return order / low * kept * at_low - math.expm1(-forgetting_rate * steps) * order * discretisation_rate


def seen_charge(*, draws: Sequence[tuple[float, float]], moved: Sequence[float], seen: Sequence[int]) -> float:
    """Q over the reals for who saw some draws of a chain, requests being functions of what was seen there.

    Args:
        draws: (c, σ²) of each; the first c is 0.
        moved: P of each, in one direction.
        seen: numbers of the draws seen, from 0, rising.
    """
    total, last, chain = 0.0, None, 1.0
    spread = before = 0.0  # V of this draw; V of the last one seen
    for number, (carry, variance) in enumerate(draws):
        spread = variance + carry**2 * spread
        chain *= carry
        if number not in seen:
            continue
        kept = 0.0 if last is None else chain
        old = 0.0 if last is None else moved[last]
        total += (moved[number] - kept * old) ** 2 / (spread - kept**2 * before)
        last, chain, before = number, 1.0, spread
    return total


def _reciprocals(log_expansion: float, number: int) -> float:
    """Σ_{k=1}^{number} c^{−k}."""
    if log_expansion == 0:
        return float(number)
    return -math.expm1(-number * log_expansion) / math.expm1(log_expansion)


def charged_steps(*, expansion: float, steps_with: int, steps_without: int) -> float:
    """μ²τ²/s² of T steps with a record and K after it: between 0 and T, at T where nothing is gained over composition. For c ≥ 1."""
    rate = math.log(expansion)

    def parts(number: int) -> tuple[float, float]:
        return _reciprocals(rate, number), _reciprocals(2 * rate, number + steps_without)

    def too_many(number: int) -> bool:
        drift, room = parts(number)
        return drift * math.exp(-rate) > room  # the first shift would exceed the first gap

    last = steps_with if not too_many(steps_with) else first_whole(too_many, 0, steps_with) - 1
    drift, room = parts(last)
    return steps_with - last + (drift**2 / room if last else 0.0)


def fixed_level_gdp(*, kept: Sequence[float], later: Sequence[float], observed: int) -> float:
    """One learn, cold starts, one level for every deletion: √(Σ_{j≤l} μ_j² + p Σ_{j>l} μ_j²) for the p releases observed with the record.

    p = 0: a record that was erased, for an observer of every later release (requests that did not depend on earlier models). With
    levels that vary or a base learned again this form is wrong, and `ancestor_gdp` right.
    """
    return math.sqrt(math.fsum(mu**2 for mu in kept) + observed * math.fsum(mu**2 for mu in later))


def shape_trace(*, categories: Sequence[float], numbers: float, constant: bool = True) -> float:
    """tr Σ = S²/N + j: takes the place of d in the excess risk."""
    roots = [math.sqrt(k) for k in (*categories, *((1,) if constant else ()))]
    return (math.fsum(roots) ** 2 / len(roots) if roots else 0.0) + numbers


def expected_excess_risk(*, noise: float, records: float, inverse_trace: float) -> float:
    """(s²/2n²) tr(Σ H⁻¹), to second order in b: what is to be expected, not a bound (an average, cov θ = (s/n)² H⁻¹ΣH⁻¹)."""
    return noise**2 * inverse_trace / (2 * records**2)


def forecast_ridge(
    *, regularization: float, dimension: float, noise: float, records: float, model_norm: float
) -> float:
    """λ′ = max(λ, √d s/(nB)): below it the noise alone would carry the model beyond the public guess B of its norm.

    Public numbers only; every theorem here holds with λ′ in the place of λ.
    """
    return max(regularization, math.sqrt(dimension) * noise / (records * model_norm))


def ancestor_gdp(*, parents: Mapping[int, Iterable[int]], charges: Mapping[int, float], seen: Iterable[int]) -> float:
    """μ of an observer of the runs `seen`; `charges` is μ_e of every run for the person, m_e μ_e with m rows of hers, 0 without."""
    return math.sqrt(math.fsum(charges[run] ** 2 for run in ancestors(parents=parents, seen=seen)))
