"""Random histories on the linear loss, and their joint laws in closed form. Independent of the accountant.

A history is a sequence of chapters; each begins with a fresh learn by some way and plan, and goes on with requests. Chapters do not share
noise, so their μ² add. Within a chapter, Noisy-GD from the published model is one Gaussian chain; a release from the minimiser is a chain of
its own, from two points as far apart as the ways allow: Δ/(λn) for the record, and 2γ/λ for where the solver stopped, if anything
that the observer has not seen could have moved it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from noisygd_delete import Budget, Plan, losses
from noisygd_delete.accountant import Accountant, Event
from noisygd_delete.methods.sampled_steps import SampledGaussian

from . import gaussian, ways

RECORDS = 40
LOSS = losses.Linear(radius=1.5)


@dataclass(frozen=True)
class Release:
    """One release: its chapter's way and plan, or the noise multiplier of an extractor (z, sampled at rate 1)."""

    kind: str
    steps: int
    way: str
    plan: Plan | None
    multiplier: float = 0.0

    @property
    def event(self) -> Event:
        facts = (
            SampledGaussian(records=RECORDS, sampling_rate=1.0, noise_multiplier=self.multiplier)
            if self.plan is None
            else self.plan.mechanism
        )
        return Event(self.kind, self.steps, 1, facts)


def plan_of(way: str, generator: np.random.Generator, *, deletion_share: float = 1.0) -> Plan:
    strong = math.exp(generator.uniform(-2, 1))
    amount = math.exp(generator.uniform(-3, 2))
    solved = way in ("cold", "warm") and deletion_share == 1  # else the tolerance that the deletion budget allows
    options = {"gradient_tolerance": generator.uniform(0.01, 0.5) * LOSS.radius / RECORDS} if solved else {}
    return ways.planned(
        way,
        LOSS,
        records=RECORDS,
        features=1,
        regularization=strong,
        budget=Budget(order=3, dp=amount, deletion=amount * deletion_share),
        rows_per_subject=int(generator.integers(1, 3)),
        **(
            {"exact": False} if way in ("noisy-gd:analysis=paper", "noisy-gd", "cold", "warm") else {}
        ),  # their closed forms, to the last digit
        step_size=generator.uniform(0.05, 0.95) / strong,
        utility=False,
        **options,
    )


def history(
    generator: np.random.Generator, *, ways_of: tuple[str, ...], chapters: int, extractors: bool
) -> list[Release]:
    found: list[Release] = []
    for chapter in range(chapters):
        if extractors and generator.random() < 0.4:
            steps = int(generator.integers(1, 4))
            found.append(Release("extractor", steps, "extractor", None, math.exp(generator.uniform(0, 2))))
        way = str(generator.choice(list(ways_of)))
        plan = plan_of(way, generator)
        kinds = ["relearn" if chapter else "learn", *["unlearn"] * int(generator.integers(0, 4))]
        found += [Release(kind, int(generator.integers(1, 9)), way, plan) for kind in kinds]
    return found


def accountant(releases: list[Release]) -> Accountant:
    return Accountant(events=[release.event for release in releases])


def parts(releases: list[Release]) -> Iterator[tuple[int, list[Release]]]:
    """(number of its first release, releases) of each chapter; an extractor is a chapter of its own."""
    start = 0
    for index in range(1, len(releases) + 1):
        if index == len(releases) or releases[index].kind != "unlearn":
            yield start + 1, releases[start:index]
            start = index


@dataclass(frozen=True)
class Truth:
    """What a history reveals: μ² of the Gaussian chapters, of the extractors, of the chapters under Theorem 5.1, and what that
    theorem prints for those; `exact` where no unseen noise came between the worlds' shared point and the record's arrival."""

    gaussian: float
    extractor: float
    theorem: float
    printed: float
    exact: bool


def truth(
    releases: list[Release], *, present_from: int, erased_at: int | None, observed: set[int], worlds: int
) -> Truth:
    """`worlds` is 2 for x or x′ and 1 for x or the null record."""
    sums, exact = {"gaussian": 0.0, "theorem": 0.0, "printed": 0.0}, True

    def inside(number: int) -> bool:
        return present_from <= number and (erased_at is None or number < erased_at)

    for first, chapter in parts(releases):
        numbers = range(first, first + len(chapter))
        plan, way = chapter[0].plan, chapter[0].way
        if plan is None:
            continue
        delta = worlds * LOSS.radius * plan.problem.rows_per_subject
        lives = [inside(number) for number in numbers]
        steps = [release.steps for release in chapter]
        seen = [number in observed for number in numbers]
        if way in ("cold", "warm"):
            sums["gaussian"] += from_minimisers(plan, delta, steps, lives, seen, warm=way == "warm")
            continue
        joint = chain(plan, delta, steps, lives, seen)
        if way == "noisy-gd:analysis=paper":
            sums["theorem"] += joint
            sums["printed"] += printed(plan, delta, steps, lives, seen)
        else:
            sums["gaussian"] += joint
        exact &= not (first < present_from <= numbers[-1] and present_from - 1 not in observed)
    return Truth(extractor=_extractors(releases, inside, observed, worlds), exact=exact, **sums)


def curvature(plan: Plan) -> float:
    """m = λ − β₋: the linear loss on a quadratic of this curvature is the worst case of every loss with these constants."""
    return plan.problem.regularization - plan.problem.loss.constants.weak_convexity


def _noise(plan: Plan) -> tuple[float, float]:
    """c and τ²."""
    return 1 - plan.calibration.step_size * curvature(
        plan
    ), 2 * plan.calibration.step_size * plan.calibration.noise_variance


def chain(plan: Plan, delta: float, steps: list[int], lives: list[bool], seen: list[bool]) -> float:
    if not any(seen):
        return 0.0
    contraction, noise = _noise(plan)
    ends = np.cumsum(steps)
    return gaussian.joint_squared_mu(
        contraction=contraction,
        gap=plan.calibration.step_size * delta / plan.problem.records,
        noise=noise,
        present=[here for here, count in zip(lives, steps, strict=True) for _ in range(count)],
        observed=[int(end) for end, here in zip(ends, seen, strict=True) if here],
    )


def printed(plan: Plan, delta: float, steps: list[int], lives: list[bool], seen: list[bool]) -> float:
    """Σ of (Δ²/(λσ²n²))(1 − e^{−ληT/2})e^{−ληK/2} between observed releases: G.9 and G.15."""
    total, present, absent = 0.0, 0, 0
    half = plan.problem.regularization * plan.calibration.step_size / 2
    full = delta**2 / (plan.problem.regularization * plan.calibration.noise_variance * plan.problem.records**2)
    for count, here, shown in zip(steps, lives, seen, strict=True):
        present, absent = (present + count, absent) if here else (present, absent + count * bool(present))
        if shown:
            total += full * -math.expm1(-half * present) * math.exp(-half * absent)
            present = absent = 0
    return total


def from_minimisers(
    plan: Plan, delta: float, steps: list[int], lives: list[bool], seen: list[bool], *, warm: bool
) -> float:
    contraction, noise = _noise(plan)
    total, tainted = 0.0, False
    for index, (count, here, shown) in enumerate(zip(steps, lives, seen, strict=True)):
        moved = here or (warm and tainted and index > 0)
        mean = (delta / plan.problem.records * here + 2 * plan.calibration.gradient_tolerance * moved) / curvature(plan)
        variance = 0.0
        for _ in range(count):
            mean = contraction * mean + plan.calibration.step_size * delta / plan.problem.records * here
            variance = contraction**2 * variance + noise
        total += mean**2 / variance * shown
        tainted = moved and not shown
    return total


def _extractors(releases: list[Release], inside, observed: set[int], worlds: int) -> float:
    """One Gaussian mechanism per step at sampling rate 1; paid for once, with the first sight of it or of a model on it."""
    total, unpaid = 0.0, 0.0
    for number, release in enumerate(releases, start=1):
        if release.plan is None:
            unpaid = inside(number) * release.steps * (worlds / release.multiplier) ** 2
        if number in observed:
            total, unpaid = total + unpaid, 0.0
    return total
