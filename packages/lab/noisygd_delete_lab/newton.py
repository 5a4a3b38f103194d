"""Gradient-residual bounds of certified removal (Guo et al., ICML 2020), with the erratum worked out.

Objective L_b(w; D) = Σ ℓ(⟨w, x_i⟩, y_i) + (λn/2)‖w‖² + ⟨b, w⟩ with ‖x_i‖ ≤ 1, ‖∇ℓ‖ ≤ C and ℓ″ γ-Lipschitz. Removing m
records by one Newton step from w* = argmin L_b(·; D) moves w by H⁻¹Δ with Δ = Σ_removed (∇ℓ_j + λw*) and
H = ∇²L(w*; D′) ⪰ λ(n−m)I, and leaves a residual ‖∇L_b(w⁻; D′)‖ ≤ γ(n−m)‖H⁻¹Δ‖².

The erratum: Theorems 1 and 4 bound ‖Δ‖ ≤ 2mC from ‖w*‖ ≤ C/λ. That is the minimiser *without* b. The trained model
satisfies 0 = Σ∇ℓ_i + λnw* + b, so only
    ‖w*‖ ≤ (C + ‖b‖/n)/λ,   ‖Δ‖ ≤ m(2C + ‖b‖/n),   residual ≤ γm²(2C + ‖b‖/n)² / (λ²(n−m))
holds. b is unbounded: the last line is a constant only on the event ‖b‖ ≤ B, whose failure adds to δ.

Repeated removals need one more step, because a model that was already moved minimises nothing: "T removals cost T times
one" is not exact. With n₀ records at learning and n now, ‖H⁻¹Δ‖ ≤ m(C + λ‖w‖)/(λ(n−m)) makes C + λ‖w‖ grow by at most
n/(n−m) per removal, which telescopes: C + λ‖w‖ ≤ (2C + ‖b‖/n₀)n₀/n, and the bound above holds with this instead of
2C + ‖b‖/n. The data-dependent bound γ‖X⁻‖₂‖H⁻¹Δ‖‖X⁻H⁻¹Δ‖ computes H⁻¹Δ and is not affected.
"""

from __future__ import annotations

import math

from scipy.stats import chi2, gamma


def printed_bound(
    *, third_derivative: float, lipschitz: float, regularization: float, records: float, removed: float = 1
) -> float:
    """Return the bound of Theorems 1 and 4 as printed, 4γm²C²/(λ²(n−m)), valid for b = 0 only.

    Args:
        third_derivative: γ.
        lipschitz: C.
        regularization: λ.
        records: n, the records before the removal.
        removed: m.
    """
    return worst_case_bound(
        third_derivative=third_derivative,
        lipschitz=lipschitz,
        regularization=regularization,
        records=records,
        removed=removed,
        perturbation=0.0,
    )


def worst_case_bound(
    *,
    third_derivative: float,
    lipschitz: float,
    regularization: float,
    records: float,
    perturbation: float,
    removed: float = 1,
    learned: float | None = None,
) -> float:
    """Return the erratum's bound γm²(2C + ‖b‖/n₀)²(n₀/n)²/(λ²(n−m)).

    Args:
        third_derivative: γ.
        lipschitz: C.
        regularization: λ.
        records: n, the records before the removal.
        perturbation: Bound on ‖b‖ plus the solver's own residual.
        removed: m.
        learned: n₀, the records at learning; None means n.
    """
    first = records if learned is None else learned
    pull = (2 * lipschitz + perturbation / first) * first / records
    return third_derivative * (removed * pull / regularization) ** 2 / (records - removed)


def data_dependent_bound(*, third_derivative: float, spectral_norm: float, step: float, response: float) -> float:
    """Return γ‖X⁻‖₂ ‖H⁻¹Δ‖ ‖X⁻H⁻¹Δ‖ (Corollaries 1 and 2).

    Args:
        third_derivative: γ.
        spectral_norm: ‖X⁻‖₂.
        step: ‖H⁻¹Δ‖.
        response: ‖X⁻H⁻¹Δ‖.
    """
    return third_derivative * spectral_norm * step * response


def gaussian_factor(*, delta: float) -> float:
    """Return c with δ = 1.5 e^{−c²/2} (Theorem 3 ii): b ~ N(0, (cε′/ε)² I)."""
    return math.sqrt(2 * math.log(1.5 / delta))


def residual_budget(*, law: str, noise: float, epsilon: float, delta: float) -> float:
    """Return ε′, the total residual that a perturbation of the given scale hides (Theorem 3)."""
    return noise * epsilon / (gaussian_factor(delta=delta) if law == "gaussian" else 1.0)


def perturbation_quantile(*, law: str, noise: float, dimension: int, failure: float) -> float:
    """Return B with P(‖b‖ > B) = `failure`.

    ‖b‖²/σ² is χ²_d for the Gaussian law, ‖b‖ ~ Γ(d, scale) for e^{−‖b‖/scale}.
    """
    if law == "gaussian":
        return noise * math.sqrt(float(chi2.isf(failure, dimension)))
    return noise * float(gamma.isf(failure, dimension))
