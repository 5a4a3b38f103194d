"""Every number that a method takes, at the edge of its range: the last value inside is accepted, the next one outside refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.bounds.arithmetic import MOST_SHARES
from noisygd_delete.bounds.renyi import zero_out_renyi
from noisygd_delete.errors import NoisyGDDeleteError
from noisygd_delete.methods import (
    CountedRecords,
    NoisyGD,
    ObjectivePerturbation,
    OutputPerturbation,
    SampledGaussian,
    Stage,
    Staged,
    SufficientStatistics,
    noisy_gd,
    output_perturbation,
)
from noisygd_delete.methods.moments import MOST_COORDINATES, MomentsRun
from noisygd_delete.methods.objective_perturbation import check_covered
from noisygd_delete.methods.objective_perturbation_noise import rounding_of_gradient
from noisygd_delete.methods.plan import MOST_STAGES, Plan
from noisygd_delete.methods.sampled_steps import ORDERS
from noisygd_delete.methods.sufficient_statistics import MOST_FEATURES, MOST_RELEASES, check_exact, norm_squared
from noisygd_delete.planner.least_epsilon import AccuracyTarget
from noisygd_delete.privacy.budget import Total
from noisygd_delete.privacy.worlds import LARGEST_DELTA, LEAST_DELTA, Worlds

from ..bank import PAIRS, RENYI, plan_by

SIGMOID = losses.Sigmoid(radius=1.0)
Made = Callable[[Any], object]


def above(value: float) -> float:
    return math.nextafter(value, math.inf)


def below(value: float) -> float:
    return math.nextafter(value, -math.inf)


def ladder(stages: int, level: int = 0) -> Staged:
    return Staged((Stage("network", 3),) * stages, level)


def options() -> Iterator[tuple[Made, Any, Any]]:
    """(what is made of a number, the last number inside, the first outside)."""
    yield ladder, 2, 1
    yield ladder, MOST_STAGES, MOST_STAGES + 1
    yield partial(ladder, 4), 2, 3
    yield partial(ladder, 4), -1, -2
    yield lambda share: Stage("network", 5, sampling_rate=share), below(1.0), 1.0
    yield lambda share: Stage("network", 5, sampling_rate=share), 5e-324, 0.0
    yield lambda chain: ObjectivePerturbation(chain=chain), MOST_STAGES, MOST_STAGES + 1
    yield lambda chain: ObjectivePerturbation(chain=chain), 1, 0
    extractor = partial(SampledGaussian, records=9, noise_multiplier=1.0)
    yield lambda share: extractor(sampling_rate=share), 1.0, above(1.0)
    counts = partial(CountedRecords, records=9)
    yield lambda deviation: counts(deviation=deviation), 1.0, 0.5
    yield lambda deviation: counts(deviation=deviation), 2.0**24, 2.0**25
    yield lambda deviation: counts(deviation=deviation), 4.0, above(4.0)
    yield (
        lambda number: MomentsRun(records=9, deviation=1.0, coordinates=number),
        MOST_COORDINATES,
        MOST_COORDINATES + 1,
    )
    yield lambda order: Budget(order=order, dp=1e-3, deletion=1e-4), above(1.0), 1.0
    yield lambda deletion: Budget.from_gdp(dp=1.0, deletion=deletion), 1 + 5e-13, 1 + 2e-12
    for pair in ("dp", "deletion"):
        pairs = {"dp": (1.0, 1e-6), "deletion": (0.1, 1e-6)}
        yield (
            lambda delta, pair=pair, pairs=pairs: Budget.from_epsilon_delta(**{**pairs, pair: (pairs[pair][0], delta)}),
            LEAST_DELTA,
            below(LEAST_DELTA),
        )
    yield lambda delta: Total(1.0, delta), LARGEST_DELTA, above(LARGEST_DELTA)
    yield lambda wanted: AccuracyTarget(wanted, 0.9, 0.5), below(0.9), 0.9
    yield lambda wanted: AccuracyTarget(wanted, 0.9, 0.5), above(0.5), 0.5
    yield lambda without: AccuracyTarget(0.8, without, 0.5), 1.0, above(1.0)
    yield lambda majority: AccuracyTarget(0.8, 0.9, majority), 5e-324, 0.0


def conditions() -> Iterator[tuple[Made, Any, Any]]:
    """The same of a problem and of what a plan's method is proven for."""
    problem = plan_by("noisy-gd").problem
    weak = replace(problem, loss=SIGMOID, method=NoisyGD(exact=False))
    beta = SIGMOID.constants.weak_convexity

    def at(regularization: float) -> Any:
        return replace(weak, regularization=regularization)

    yield lambda lam: check_covered(at(lam)), above(beta), beta
    yield lambda lam: output_perturbation._check_one_minimiser(at(lam)), above(beta), beta
    real = plan_by("noisy-gd, over the reals")
    yield lambda lam: real.method.check_plan(replace(real, problem=at(lam))), above(beta), beta
    longest = 2 / (0.01 + 0.26)
    yield lambda eta: noisy_gd.contracting_step_size(problem, eta), longest, above(longest)
    exact = plan_by("noisy-gd").mechanism
    most = exact.exact.largest_step_size(exact)
    yield lambda eta: replace(exact, step_size=eta), most, above(most)
    run = real.mechanism
    yield (
        lambda eta: replace(run, step_size=eta),
        run.largest_step_size * (1 + 9e-13),
        run.largest_step_size * (1 + 2e-12),
    )
    printed = plan_by("noisy-gd:analysis=paper, over the reals")
    steepest = 1 / printed.problem.objective_smoothness
    usual = printed.calibration.step_size
    yield lambda eta: printed.method.check_plan(_numbers(printed, step_size=eta)), below(steepest), steepest
    widest = printed.calibration.init_variance
    yield (
        lambda wide: printed.method.check_plan(_numbers(printed, step_size=usual, init_variance=wide)),
        widest * (1 + 9e-10),
        widest * (1 + 2e-9),
    )
    for name, least in (
        ("objective-perturbation", lambda plan: rounding_of_gradient(plan.problem, plan.calibration.linear_term, 1)),
        ("output-perturbation, cold", lambda plan: output_perturbation.least_tolerance(plan.problem) / 10),
    ):
        plan, rounding = plan_by(name), least(plan_by(name))
        yield (
            lambda gamma, plan=plan: plan.method.check_plan(_numbers(plan, gradient_tolerance=gamma)),
            rounding * (1 + 1e-15),
            rounding * (1 - 1e-15),
        )
    gibbs = plan_by("noisy-gd:analysis=theorem-5-2")
    law = gibbs.calibration.noise_variance / gibbs.problem.regularization
    yield lambda wide: gibbs.method.check_plan(_numbers(gibbs, init_variance=wide)), law * (1 + 9e-10), law * (1 + 2e-9)
    yield lambda wide: gibbs.method.check_plan(_numbers(gibbs, init_variance=wide)), law * (1 - 9e-10), law * (1 - 2e-9)
    persons = replace(problem, weighting="by-person")
    yield lambda rows: replace(persons, rows_per_subject=rows), MOST_SHARES, MOST_SHARES + 1
    yield (
        lambda lam: replace(problem, requested_regularization=lam, model_norm=1.0),
        problem.regularization,
        above(problem.regularization),
    )
    yield lambda columns: replace(problem, one_hot_blocks=(columns, 0, 0)), problem.features - 2, problem.features - 1
    rows = ((1 << 53) - 1) // norm_squared(problem.loss)
    yield lambda number: check_exact(problem.loss, number), rows, rows + 1


def _numbers(plan: Plan, **numbers: float) -> Plan:
    return replace(plan, calibration=replace(plan.calibration, **numbers))


def budgets() -> Iterator[tuple[Made, Any, Any]]:
    """The same of whole plans: what a budget bears."""
    sizes: dict[str, Any] = {"records": 500, "features": 4, "regularization": 0.1, "utility": False}
    logistic = losses.Logistic(1.0)
    sums = partial(make_plan, logistic, method=SufficientStatistics(), **sizes)
    yield lambda number: sums(budget=PAIRS, releases=number), 2, 1
    yield (
        lambda number: sums(budget=Budget.from_gdp(dp=9.0, deletion=1.0), releases=number),
        MOST_RELEASES,
        MOST_RELEASES + 1,
    )
    yield (
        lambda columns: sums(**{"budget": PAIRS, "releases": 2, "features": columns}),
        MOST_FEATURES,
        MOST_FEATURES + 1,
    )
    for method, loss, slip in (
        (NoisyGD(exact=False), logistic, 1e-12), (OutputPerturbation(exact=False), logistic, 1e-12),
        ("noisy-gd:analysis=paper", logistic, 1e-12), ("noisy-gd:analysis=composition", SIGMOID, 1e-11),
    ):  # fmt: skip
        own = {**sizes, "budget": RENYI}
        least = make_plan(loss, method=method, **own).calibration.noise_variance
        chosen = make_plan(loss, method=method, **own).method if isinstance(method, str) else method
        yield (
            lambda noise, loss=loss, chosen=chosen, own=own: make_plan(loss, method=replace(chosen, noise_variance=noise), **own),
            least * (1 - slip / 2), least * (1 - 3 * slip),
        )  # fmt: skip
    risk = make_plan(logistic, method="noisy-gd", budget=RENYI, **sizes)
    law = noisy_gd._stationary_excess(
        risk.problem, 1 / risk.problem.objective_smoothness, risk.calibration.noise_variance
    )
    asked = {
        **sizes,
        "budget": RENYI,
        "method": "noisy-gd",
        "step_size": 1 / risk.problem.objective_smoothness,
        "exact": False,
    }
    law *= make_plan(logistic, **asked).calibration.noise_variance / risk.calibration.noise_variance
    yield lambda target: make_plan(logistic, **asked, excess_risk_target=target), law * (1 + 1e-9), law * (1 - 1e-9)


@pytest.mark.parametrize("edges", [options, conditions, budgets])
def test_the_last_number_inside_is_accepted_and_the_first_outside_refused(
    edges: Callable[[], Iterator[tuple[Made, Any, Any]]],
) -> None:
    tried = 0
    for place, (make, inside, outside) in enumerate(edges()):
        tried += 1
        try:
            make(inside)
        except NoisyGDDeleteError as error:
            pytest.fail(f"{edges.__name__} {place}: {inside!r} is refused: {error}")
        with pytest.raises(NoisyGDDeleteError):
            assert make(outside) is NotImplemented, f"{edges.__name__} {place}: {outside!r} is accepted"
    assert tried > 7


def test_a_sampled_cost_is_the_same_whatever_was_asked_before() -> None:
    """Equal numbers of less precision hash alike: their figures must not stand in for those of floats."""

    def points(**facts: Any) -> dict[float, float]:
        return dict(SampledGaussian(records=100, **facts)._cost(Worlds.ZERO_OUT, 5, 0)["points"])

    facts = {"sampling_rate": 0.5, "noise_multiplier": 1.5}
    points(**{name: np.float32(value) for name, value in facts.items()})
    assert points(**facts) == {order: zero_out_renyi(order=order, **facts, steps=5.0) for order in ORDERS}
