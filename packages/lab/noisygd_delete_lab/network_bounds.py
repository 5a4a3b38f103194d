"""Certificates for networks in their tight form: fine-tuning with noise from a ball, and rewinding.

Fine-tuning (Koloskova, Allouah, Jha, Guerraoui & Koyejo, ICML 2025, gradient clipping): x ← (1 − ηλ)x − ηg(x) + τξ with
‖g‖ ≤ C, on the records that stay, from any two starts within a ball of radius R₀. One step takes two models z apart to
at most cz + 2ηC, c = 1 − ηλ: nothing else is known of a clipped gradient. With shifts a_k ∝ c^{K−k} (shifted
interpolation; Bok, Su & Altschuler 2024, any modulus of continuity)
    μ(K) = (2R₀c^K + (2C/λ)(1 − c^K)) √((1 − c²)/(1 − c^{2K}))/τ;    λ = 0: (2R₀ + 2ηCK)/(τ√K)
which two constant gradients ±C attain from ±R₀: no constant can be smaller. It holds for any origin of the start, so by
itself it is worth no more than the same steps from a public start that was never trained.

Rewinding (Mu & Klabjan, NeurIPS 2025): two runs of gradient descent that differ by s = 2ηL/n in each step (a record
gone: the mean over the rest) for T − K steps and then by nothing for K, each step at most c-expanding, end
s(c^T − c^K)/(c − 1) apart.
"""

from __future__ import annotations

import math


def fine_tuning_gdp(
    *, radius: float, clip: float, regularization: float, step_size: float, noise: float, steps: int
) -> float:
    """Return μ(K) of noisy fine-tuning.

    Args:
        radius: R₀.
        clip: C.
        regularization: λ.
        step_size: η.
        noise: Standard deviation τ per step and coordinate.
        steps: K.
    """
    if regularization == 0:
        return (2 * radius + 2 * step_size * clip * steps) / (noise * math.sqrt(steps))
    log_c = math.log1p(-step_size * regularization)
    left = -math.expm1(steps * log_c)
    apart = 2 * radius * math.exp(steps * log_c) + 2 * clip / regularization * left
    return apart * math.sqrt(math.expm1(2 * log_c) / math.expm1(2 * steps * log_c)) / noise


def fine_tuning_noise(
    *, gdp: float, radius: float, clip: float, regularization: float, step_size: float, steps: int
) -> float:
    """Return τ for μ(K) = `gdp`."""
    facts = {"radius": radius, "clip": clip, "regularization": regularization, "step_size": step_size, "steps": steps}
    return fine_tuning_gdp(**facts, noise=1.0) / gdp  # type: ignore[arg-type]


def rewound_distance(*, apart: float, expansion: float, steps: int, rewound: int) -> float:
    """Return s(c^T − c^K)/(c − 1): the distance of a model rewound by K steps from one that never saw the record.

    Args:
        apart: s, the difference of two runs in one step.
        expansion: c, the expansion of one step.
        steps: T, the steps of learning.
        rewound: K, the steps rewound.
    """
    if expansion == 1:
        return apart * (steps - rewound)
    log_c = math.log(expansion)
    return apart * math.exp(rewound * log_c) * math.expm1((steps - rewound) * log_c) / math.expm1(log_c)
