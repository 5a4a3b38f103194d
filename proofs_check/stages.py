"""Stages of a ladder that are no full-batch steps: sums of moments with noise, and steps on samples; both against worked-out laws."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from noisygd_delete.bounds import moments
from noisygd_delete.methods.moments import GRID, MomentsRun
from noisygd_delete.methods.sampled_steps import SampledSteps

from .framework import ADVERSARIAL, RIGOROUS, Finding, close, require, require_refusal, statement


def _sums(row: np.ndarray, place: int, outputs: int) -> np.ndarray:
    """T of one record: the first moments of its class, and the matrix, written out in full (every off-diagonal entry twice)."""
    first = np.zeros((outputs, len(row)))
    first[place] = row
    return np.concatenate([first.ravel(), (np.outer(row, row) / math.sqrt(2)).ravel()])


def _row(rng: np.random.Generator, width: int) -> np.ndarray:
    row = rng.normal(size=width)
    return row / np.linalg.norm(row) * rng.choice([1.0, 1.0, rng.random()])


@statement(
    "T6.moments",
    "first moments by class and second moments of unit rows: one record moves the sums by √(3/2) against none and by 2 against another; "
    "published with discrete Gaussian noise they are Gaussian DP, and least squares on them costs nothing more",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=SimpleNamespace(sensitivity=moments.moments_sensitivity),
    fault=(
        "two records taken for one against none",
        SimpleNamespace(sensitivity=lambda *, between_records, rows=1: math.sqrt(1.5) * rows),
    ),
    licenses=(
        "bounds.moments:moments_sensitivity",
        "bounds.moments:coordinates",
        "bounds.moments:moments_gdp",
        "bounds.moments:least_deviation",
        "methods.moments:MomentsRun",
    ),
    scope="Random and opposite pairs of rows of norm at most 1 with equal and different labels, in up to five columns and three classes, and persons of several "
    "rows; the matrix written out in full, so that the halved diagonal is checked too. The grid's rounding is added in full; that the "
    "discrete Gaussian is nearly Gaussian DP is the statement on inexact solves.",
)
def _moments(claim, effort: int) -> Finding:
    rng, closest = np.random.default_rng(61), math.inf
    for _ in range(3000 * effort):
        width, outputs = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        persons = int(rng.integers(1, 4))
        one, other = np.zeros(1), np.zeros(1)
        for _ in range(persons):
            row = _row(rng, width)
            far = -row if rng.random() < 0.4 else _row(rng, width)
            places = rng.integers(0, outputs, 2) if rng.random() < 0.5 else np.zeros(2, int)
            one, other = one + _sums(row, places[0], outputs), other + _sums(far, places[1], outputs)
        for between, apart in ((False, np.linalg.norm(one)), (True, np.linalg.norm(one - other))):
            stated = claim.sensitivity(between_records=between, rows=persons)
            require(float(apart) <= stated * (1 + 1e-12), f"{persons} row(s) move the sums by {apart}, stated {stated}")
            closest = min(closest, 1 - float(apart) / stated)
        require(
            len(_sums(row, 0, outputs)) - width * (width - 1) // 2
            == moments.coordinates(outputs=outputs, features=width),
            "numbers in T",
        )
    for _ in range(40 * effort):
        facts = {"sensitivity": 2.0, "coordinates": int(rng.integers(1, 10**6)), "grid": GRID}
        gdp = float(np.exp(rng.uniform(-4, 2)))
        least = moments.least_deviation(gdp=gdp, **facts)
        require(moments.moments_gdp(deviation=least, **facts) <= gdp, f"{least} is not enough for μ={gdp}")
        require(moments.moments_gdp(deviation=least * (1 - 1e-6), **facts) > gdp, f"{least} is more than μ={gdp} takes")
        by_hand = 2.0 / least + GRID * math.sqrt(facts["coordinates"])
        close(moments.moments_gdp(deviation=least, **facts), by_hand, "μ of the sums", 1e-9)
        run = MomentsRun(records=9, deviation=least, coordinates=facts["coordinates"])
        close(run.interval("dp", "replace", steps_with=1).gdp or 0.0, by_hand, "μ of a run", 1e-9)
        require(
            run.interval("deletion", "pairwise", steps_with=1, steps_without=1).gdp == 0.0, "made without the record"
        )
    return Finding(f"closest approach {closest:.1e}")


def _divergence(rate: float, multiplier: float, order: float, *, towards: bool) -> float:
    """One draw of a sum that holds the record with this probability, against one that never does, by quadrature; either direction."""
    grid = np.linspace(-40, 60, 400_001) * multiplier
    logs = -(grid**2) / (2 * multiplier**2) - 0.5 * math.log(2 * math.pi * multiplier**2)
    ratio = np.logaddexp(math.log1p(-rate), math.log(rate) + (2 * grid - 1) / (2 * multiplier**2))
    exponents = logs + (order if towards else 1 - order) * ratio
    top = exponents.max()
    return (top + math.log(float(np.exp(exponents - top).sum()) * (grid[1] - grid[0]))) / (order - 1)


def _charged(run: SampledSteps, worlds: str, order: float) -> float:
    return run.interval("dp", worlds, steps_with=run.exposure(run.passes)).renyi(order)


@statement(
    "T5.samples",
    "a stage of noisy steps on Poisson samples costs the sum of its draws' Rényi divergences, in either direction, and nothing once the record is gone",
    evidence=(RIGOROUS,),
    claim=_charged,
    fault=("one draw charged for all", lambda run, worlds, order: _charged(run, worlds, order) / run.draws),
    licenses=("methods.sampled_steps:SampledSteps",),
    scope="Exact densities of one coordinate, by quadrature, at orders 2 to 32 and shares from .02 to .5; draws add exactly. Between two records the laws are "
    "mixtures on both sides: checked at opposite gradients, where the bound steps over the null record. Facts of no run are refused.",
)
def _samples(claim, effort: int) -> Finding:
    rng, closest = np.random.default_rng(62), math.inf
    for _ in range(6 * effort):
        rate, multiplier = float(np.exp(rng.uniform(-4, -0.7))), float(rng.uniform(0.8, 4))
        run = SampledSteps(records=99, sampling_rate=rate, noise_multiplier=multiplier, draws=int(rng.integers(2, 50)))
        for order in (2, 5, 32):
            stated = claim(run, "zero-out", order)
            for towards in (True, False):
                truth = run.draws * _divergence(rate, multiplier, order, towards=towards)
                require(
                    truth <= stated * (1 + 1e-6), f"p={rate}, z={multiplier}, order {order}: {truth} above {stated}"
                )
            close(stated, run.draws * _divergence(rate, multiplier, order, towards=True), "what draws come to", 1e-5)
            closest = min(closest, 1 - truth / stated)
            grid = np.linspace(-40, 40, 200_001) * multiplier
            width = 2 * multiplier**2
            sides = [np.logaddexp(math.log1p(-rate), math.log(rate) + (2 * s * grid - 1) / width) for s in (1, -1)]
            exponents = order * sides[0] - (order - 1) * sides[1] - grid**2 / width - 0.5 * math.log(math.pi * width)
            top = exponents.max()
            both = (top + math.log(float(np.exp(exponents - top).sum()) * (grid[1] - grid[0]))) / (order - 1)
            require(
                run.draws * both <= claim(run, "replace", order) * (1 + 1e-6),
                f"two records at order {order}: {run.draws * both}",
            )
        passes = math.ceil(rate * run.draws)
        require(run.passes == max(1, passes) and run.exposure(run.passes) == 1, f"{run.passes} passes for {passes}")
        run.check(run.passes)
        require_refusal(lambda run=run: run.check(run.passes + 1), "other passes than its samples are")
        gone = run.interval("deletion", "erased-vs-never", steps_with=1, steps_without=1)
        require(gone.renyi(8) == 0.0, "samples without the record cost it something")
        for wrong in ({"draws": 0}, {"draws": 1.5}, {"sampling_rate": 1.5}, {"noise_multiplier": 0.0}, {"records": 0}):
            require_refusal(lambda run=run, wrong=wrong: replace(run, **wrong), f"facts of no run: {wrong}")
    return Finding(f"closest approach {closest:.1e}")
