"""What a release tells of a record, from below: the worst two tables of a linear loss, each method's law written out; nothing of the package is called.

A run is read by its public facts alone. Every law is Gaussian, or a mixture of two, so its Rényi divergence is known; a bound for the run that is smaller is false.
"""

from __future__ import annotations

import math
from typing import Any

from . import gaussian_chain, solved_chain


def renyi(run: Any, order: float, between_records: bool, present: int, gone: int = 0) -> float:
    """Divergence after `present` steps (draws, minimisers) with the record and `gone` after its erasure, for an observer of the last model.

    For carried sums the observer sees every draw.
    """
    if run.method == "staged":
        inner = [*run.kept, *([] if gone else run.later)]
        return math.fsum(renyi(stage, order, between_records, steps_of(stage, run)) for stage in inner)
    if run.method == "sampled-steps":
        return 0.0 if gone else _sampled(order, run.sampling_rate, run.noise_multiplier, run.draws, between_records)
    if getattr(run, "batches", 1) > 1:
        moved = run.step_size * run.lipschitz * (1 + run.slack) * run.batches / run.records
        z = math.sqrt(2 * run.step_size * run.noise_variance) / moved
        return _sampled(order, 1 / run.batches, z, present * run.batches, between_records)
    return order * squared_mu(run, between_records, present, gone) / 2


def _sampled(order: float, share: float, z: float, draws: int, between_records: bool) -> float:
    """A share of the slots in each draw: (1 − p)N(0, z²) + pN(1, z²) against N(0, z²); two records are at least as far apart."""
    whole = int(order)
    chances = [math.comb(whole, k) * share**k * (1 - share) ** (whole - k) for k in range(whole + 1)]
    moment = math.fsum(chance * math.exp(k * (k - 1) / (2 * z**2)) for k, chance in enumerate(chances))
    return draws * math.log(moment) / (whole - 1)


def steps_of(stage: Any, ladder: Any) -> int:
    stages, steps = (*ladder.kept, *ladder.later), (*ladder.kept_steps, *ladder.later_steps)
    return next(number for one, number in zip(stages, steps, strict=True) if one is stage)


def squared_mu(run: Any, between_records: bool, present: int, gone: int) -> float:
    rows = 1 if getattr(run, "weighting", "by-row") == "by-person" else run.rows_per_subject
    if run.method == "moments":
        return 0.0 if gone else (rows * (2.0 if between_records else math.sqrt(1.5)) / run.deviation) ** 2
    if run.method == "sufficient-statistics":
        return _carried(run, between_records, present, gone, rows)
    gap = (2 if between_records else 1) * run.lipschitz * rows / run.records
    if run.method == "objective-perturbation":
        if gone:  # the same rows: a warm solver may stop at either end of its ball
            apart = 2 * run.gradient_tolerance if run.warm or not run.in_place else 0.0
        else:
            apart = gap + 2 * run.gradient_tolerance
        law = (run.linear_term / run.records) ** 2 + (run.output_noise * run.strong_convexity) ** 2
        return run.chain * apart**2 / law
    chain = {"step_size": run.step_size, "noise_variance": run.noise_variance}
    if run.method == "output-perturbation":
        own = {"tolerance": run.gradient_tolerance, "regularization": run.strong_convexity, **chain}
        if gone and not (run.warm or (run.exact is not None and not run.exact.in_place)):
            return 0.0
        slopes = (0.0, 0.0) if gone else (-gap / 2, gap / 2)
        return float(solved_chain.squared_mu(slopes, steps=gone or present, **own))
    composed = run.method in ("noisy-gd-composition", "noisy-gd-theorem-5-2")
    if composed:  # whatever the loss: without a regulariser, and without anything forgotten
        return present * run.step_size * gap**2 / (2 * run.noise_variance)
    gaps = [gap] * present + [0.0] * gone
    return float(gaussian_chain.squared_mu(gaps, regularization=run.strong_convexity, **chain))


def _carried(run: Any, between_records: bool, present: int, gone: int, rows: int) -> float:
    """Of a row that is there from the first draw on; its products are (R², βR) in steps of the grid, as near as two rows may be."""
    norm, weight = float(run.norm_squared), float(run.label_weight)
    apart = math.hypot(norm, weight * math.sqrt(norm)) * (math.sqrt(2) if between_records else 1.0)
    if between_records:  # two orthogonal rows of one label
        apart = math.sqrt(2 * norm**2 + 2 * weight**2 * norm)
    draws = run.draws[: present + min(gone, 1)]
    moved = [1.0, *(abs(1 - carry) for carry, _ in draws[1:present]), *(carry for carry, _ in draws[present:])]
    return math.fsum((share * apart * rows) ** 2 / noise for share, (_, noise) in zip(moved, draws, strict=True))
