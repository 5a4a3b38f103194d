"""Steps down to the last bit: against exact laws of a coarse machine whose roundings an adversary chooses; each planted fault is seen."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.bounds import exact_steps, shifted_interpolation
from noisygd_delete.bounds.arithmetic import ROOM
from noisygd_delete.privacy.worlds import Worlds

from ..oracles.machine_chain import Machine, taut_string

TAU, HALF = 40.0, 700  # in grid steps
STEP, STRENGTH = 0.5, 0.6  # η and m: c = 0.7
C = 1 - STEP * STRENGTH


def logistic(x: float) -> Any:
    return lambda theta: -x / (1 + np.exp(x * theta / 100))


def linear(x: float) -> Any:
    return lambda theta: np.full_like(theta, -x)


def huber(x: float) -> Any:
    return lambda theta: (theta - x) / np.sqrt(1 + ((theta - x) / 30) ** 2) * 0.3


def histories(which: str, t: int, k: int, others: float) -> tuple[list[Any], list[Any], float]:
    """Maps of the two worlds in grid steps: a record there for t steps and gone for k, against null; the gap of gradient sums."""
    record, reach = {
        "linear": (linear(20.0), 20.0),
        "logistic": (logistic(20.0), 20.0),
        "huber": (huber(200.0), 9.0),
    }[which]

    def step(present: bool) -> Any:
        def of(theta: np.ndarray) -> np.ndarray:
            slope = others + (record(theta) if present else 0.0)
            return theta - STEP * (slope + STRENGTH * theta)

        return of

    return [step(True)] * t + [step(False)] * k, [step(False)] * (t + k), reach


def stated(reach: float, error: float, t: float, k: float, *, rounding: float | None = None) -> float:
    """By the package: n = 1, h = 1, δ = 2E + h."""
    return exact_steps.exact_steps_gdp(
        sensitivity=reach, step_size=STEP, strong_convexity=STRENGTH, noise=TAU, grid=1.0, records=1,
        gap=2 * error + 1 if rounding is None else rounding, steps_with_record=t, steps_without_record=k,
    )  # fmt: skip


CASES = [
    (which, t, k, error)
    for which in ("linear", "logistic", "huber")
    for t, k, error in ((1, 0, 3.5), (4, 0, 0.5), (3, 2, 3.5), (2, 4, 0.5))
]


@pytest.fixture(scope="module")
def truths() -> dict[tuple[str, int, int, float], float]:
    machine = Machine(HALF, TAU)
    tests, found = machine.tests(1.5 * TAU), {}
    for which, t, k, error in CASES:
        one, two, _ = histories(which, t, k, -3.3)
        found[which, t, k, error] = machine.apart(one, two, error, 5, tests)
    return found


def test_no_machine_of_this_error_tells_more_than_is_stated(truths: dict) -> None:
    closest = 0.0
    for (which, t, k, error), truth in truths.items():
        reach = histories(which, t, k, 0.0)[2]
        claimed = stated(reach, error, t, k)
        assert truth <= claimed, (which, t, k, error, truth, claimed)
        closest = max(closest, truth / claimed)
    assert closest > 0.8, "the rest is the grid: 144h² of τ², and a step of it in every gap"


@pytest.mark.parametrize(
    "fault",
    ["reals alone", "rounding of one world", "only the last step's rounding", "roundings that fade with the record"],
)
def test_a_rounding_that_is_not_charged_is_seen(fault: str, truths: dict) -> None:
    seen = 0
    for (which, t, k, error), truth in truths.items():
        reach, last = histories(which, t, k, 0.0)[2], 2 * error + 1
        wrong = {
            "reals alone": stated(reach, error, t, k, rounding=0.0),
            "rounding of one world": stated(reach, error, t, k, rounding=error),
            "roundings that fade with the record": stated(reach + last / STEP, error, t, k, rounding=0.0),
            "only the last step's rounding": math.hypot(stated(reach, error, t, k, rounding=0.0), last / TAU),
        }[fault]
        seen += truth > wrong
    assert seen >= 2


@pytest.mark.parametrize(
    "left_out",
    [
        "nothing",
        "the gradient's error",
        "the product with η",
        "the step's own floats",
        "rint",
        "h k and the projection",
        "a world",
        "the grid's step",
    ],
)
def test_every_part_of_a_step_counts(left_out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lemma 1 by its letters on a machine of few digits: two linear worlds that round each part to the end of its range, against what is charged."""
    unit, eta, m, lipschitz, radius, dimension, grid, error = 2.0**-9, 0.7, 0.4, 1.3, 5.0, 3, 0.02, 0.03
    monkeypatch.setattr(exact_steps, "UNIT", unit)
    facts = {"step_size": eta, "strong_convexity": m, "lipschitz": lipschitz, "regularization": m, "radius": radius}
    charged = exact_steps.rounding_gap(**facts, gradient_error=error, dimension=dimension, grid=grid)
    steepest, far, root = lipschitz + m * radius, radius, math.sqrt(dimension)
    parts = {
        "the gradient's error": eta * error,
        "the product with η": 3
        * unit
        * eta
        * steepest,  # rounded, rounded again in the difference, and e's own share of either
        "the step's own floats": 2 * unit * far,  # the difference, and its quotient by h
        "rint": grid * root / 2,
        "h k and the projection": (1 - eta * m) * (dimension + 9) * unit * far,  # carried by the next step
    }
    worlds = {name: 2 * part for name, part in parts.items()} | {"the grid's step": grid * root}
    true = sum(worlds.values())
    wrong = charged - (true / 2 if left_out == "a world" else worlds.get(left_out, 0.0))
    assert (true <= wrong) == (left_out == "nothing"), (true, wrong)
    assert charged < 1.03 * true, "and no more than its second order"


APART = [
    (which, t, k, z) for which in ("linear", "logistic") for t, k, z in ((1, 0, 30), (3, 0, 8), (0, 3, 30), (0, 1, 8))
]


@pytest.fixture(scope="module")
def truths_apart() -> dict[tuple[str, int, int, int], float]:
    """Both worlds start at a solver's answer of their own; where the record is gone they differ in that alone."""
    machine, found = Machine(HALF, TAU), {}
    tests = machine.tests(1.5 * TAU)
    for which, t, k, z in APART:
        one, two, _ = histories(which, t, k, -3.3)
        found[which, t, k, z] = machine.apart(one, two, 0.5, (5 + z, 5), tests)
        found[which, t, k, z] = max(found[which, t, k, z], machine.apart(one, two, 0.5, (5, 5 + z), tests))
    return found


@pytest.mark.parametrize(
    "fault", ["none", "starts taken for one", "a step more forgets it", "reals alone", "half of the distance"]
)
def test_starts_that_are_apart_are_charged_and_a_fault_is_seen(fault: str, truths_apart: dict) -> None:
    closest = 0.0
    for (which, t, k, z), truth in truths_apart.items():
        start = {"starts taken for one": 0.0, "a step more forgets it": C * z, "half of the distance": z / 2}
        claimed = exact_steps.exact_steps_gdp(
            sensitivity=histories(which, t, k, 0.0)[2], step_size=STEP, strong_convexity=STRENGTH, noise=TAU, grid=1.0,
            records=1, gap=0.0 if fault == "reals alone" else 2.0, steps_with_record=t, steps_without_record=k,
            apart=start.get(fault, z),
        )  # fmt: skip
        closest = max(closest, truth / claimed if claimed else math.inf)
    assert (closest <= 1) == (fault == "none"), closest
    assert closest > 0.85


def test_the_closed_form_is_the_taut_string_where_every_gap_is_there() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        c, s, delta, tau, grid = (
            rng.uniform(0.5, 0.999),
            rng.uniform(0.01, 1),
            rng.uniform(1e-4, 0.5),
            rng.uniform(0.5, 3),
            0.01,
        )
        t, k = int(rng.integers(1, 60)), int(rng.integers(0, 40))
        variance = tau**2 - 144 * grid**2
        eta = 0.3
        found = exact_steps.exact_steps_gdp(
            sensitivity=s / eta, step_size=eta, strong_convexity=(1 - c) / eta, noise=tau, grid=grid, records=1, gap=delta,
            steps_with_record=t, steps_without_record=k,
        )  # fmt: skip
        gaps = [s + delta] * t + [delta] * k
        least = math.sqrt(taut_string(gaps, c, [variance] * (t + k)))
        assert least <= found * (1 + 1e-12)
        power = c ** np.arange(t + k - 1, -1, -1)
        one_segment = float(np.dot(gaps, power)) / math.sqrt(variance * float((power**2).sum()))
        assert found == pytest.approx(one_segment, rel=1e-7)
        longer = exact_steps.exact_steps_gdp(
            sensitivity=s / eta, step_size=eta, strong_convexity=(1 - c) / eta, noise=tau, grid=grid, records=1, gap=delta,
            steps_with_record=math.inf, steps_without_record=k,
        )  # fmt: skip
        assert longer >= found * (1 - 1e-9), "any number of steps"


@pytest.mark.parametrize("apart", [0.0, 0.4, 20.0])
def test_no_history_of_exact_steps_has_more_than_one_segment(apart: float) -> None:
    """Gaps that never rise: the record goes, the roundings stay. So the closed form is the least, and formula (2) is nowhere else asked for."""
    rng = np.random.default_rng(7)
    for _ in range(200):
        c, s, delta, eta = rng.uniform(0.5, 0.9999), rng.uniform(0, 1), math.exp(rng.uniform(-9, 1)), 0.3
        t, k = int(rng.integers(1, 60)), int(rng.integers(0, 60))
        facts = {
            "sensitivity": s / eta,
            "step_size": eta,
            "strong_convexity": (1 - c) / eta,
            "noise": 1.0,
            "grid": 0.01,
            "records": 1,
        }
        counts = {"gap": delta, "steps_with_record": t, "steps_without_record": k, "apart": apart}
        gaps = [s + delta + c * apart, *[s + delta] * (t - 1), *[delta] * k]  # a start is one more gap, carried once
        least = math.sqrt(taut_string(gaps, c, [1 - 144e-4] * (t + k)))
        assert exact_steps.exact_steps_gdp(**facts, **counts) == pytest.approx(least, rel=1e-6)
        moved = exact_steps.exact_steps_gdp(**facts, **counts, in_place=False)
        for before in (0, 5, 100):  # steps that ended before the record came
            history = [delta] * before + [s + delta] * t + [delta] * k
            if not apart:
                assert math.sqrt(taut_string(history, c, [1 - 144e-4] * len(history))) <= moved * (1 + 1e-12)


@pytest.mark.parametrize("rows", [10**6, 10**9])
def test_one_segment_where_there_are_two_would_state_too_little(rows: int) -> None:
    """The last step alone exact, at λ = 1e-5: its rounding stands beside all the noise of that step, not of the chain. Two linear worlds, exact laws."""
    plan = make_plan(
        losses.Logistic(1.0), records=rows, features=108, regularization=1e-5, budget=Budget(order=10, dp=1.0, deletion=0.1), method="noisy-gd",
        utility=False,
    )  # fmt: skip
    run = plan.mechanism
    c, tau = 1 - run.step_size * run.strong_convexity, run.noise_scale
    drawn = 2 * run.step_size * run.exact.measured_error(run) / (1 - c)  # 2E of the last step: D of those before it
    steps, gone = 20_000, 20_000
    gaps = [0.0] * (steps + gone - 1) + [drawn]
    least = math.sqrt(taut_string(gaps, c, [tau**2] * len(gaps)))
    one_segment = drawn * math.sqrt((1 - c**2) / (1 - c ** (2 * len(gaps)))) / tau
    assert least == pytest.approx(drawn / tau, rel=1e-9)
    assert one_segment < least / 50
    every = run.exact.gdp(run, Worlds.REPLACE, steps_with=steps, steps_without=gone)
    assert every < (1.03 if rows > 10**6 else 1.005) * shifted_interpolation.gdp(
        sensitivity=2 * ROOM, steps_with_record=steps, steps_without_record=gone, step_size=run.step_size, strong_convexity=run.strong_convexity,
        noise_variance=run.noise_variance, records=rows,
    ), "every step exact: the same rounding never adds up"  # fmt: skip


def test_a_record_that_is_gone_cannot_have_its_rounding_spread_over_steps_before_it() -> None:
    """Section 4 of the design sheet prints 2E/√S_K in any order for variant L; by its own formula (2) it is 2E/τ, more by 1/√(1 − c²)."""
    c, tau, error, steps = 0.9, 1.0, 0.05, 30
    gaps = [0.0] * (steps - 1) + [2 * error]
    least = math.sqrt(taut_string(gaps, c, [tau**2] * steps))
    spread = 2 * error / math.sqrt(sum(c ** (2 * j) for j in range(steps)) * tau**2)
    assert least == pytest.approx(2 * error / tau)
    assert spread < 0.5 * least


def test_what_cannot_be_certified_is_infinite_and_nothing_costs_nothing() -> None:
    facts = {"sensitivity": 1.0, "step_size": 0.3, "strong_convexity": 0.5, "records": 10, "gap": 1e-3}
    assert exact_steps.exact_steps_gdp(**facts, noise=1.0, grid=0.1, steps_with_record=5) == math.inf
    assert exact_steps.exact_steps_gdp(**facts, noise=1.0, grid=0.01, steps_with_record=0, steps_without_record=3) == 0
    real = shifted_interpolation.gdp(
        sensitivity=1.0,
        step_size=0.3,
        strong_convexity=0.5,
        noise_variance=(1 - 144e-12) / 0.6,
        records=10,
        steps_with_record=7,
    )
    quiet = exact_steps.exact_steps_gdp(**{**facts, "gap": 0.0}, noise=1.0, grid=1e-6, steps_with_record=7)
    assert real <= quiet <= real * (1 + 2e-9)


@pytest.mark.parametrize("strength", [0.1, 0.3, 0.7, 49.0])
def test_a_contraction_is_never_rounded_to_less_than_it_is(strength: float) -> None:
    """η = 1/m in floats: 1 − ηm is 0 or not by a rounding, and linear losses keep that much of the record."""
    eta = 1 / strength
    left = abs(1 - Fraction(eta) * Fraction(strength)) or Fraction(1, 2**60)
    found = exact_steps.exact_steps_gdp(
        sensitivity=1.0, step_size=eta, strong_convexity=strength, noise=1.0, grid=1e-6, records=1, gap=0.0,
        steps_with_record=1, steps_without_record=1,
    )  # fmt: skip
    assert found >= float(left) * eta


def test_the_gap_has_every_term_that_it_states() -> None:
    """2(r_X + c r_Π) + h√d, over the rationals: no term is lost beside the others, whichever is the largest."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        facts = {
            name: float(10 ** rng.uniform(-3, 3))
            for name in ("gradient_error", "lipschitz", "regularization", "radius", "grid")
        }
        size, convexity = rng.uniform(0.01, 0.9), rng.uniform(0.01, 1.0)
        dimension = int(rng.integers(1, 400)) ** 2
        for scale in (1.0, 1e-14):
            facts |= {"gradient_error": facts["gradient_error"] * scale, "grid": facts["grid"] * scale}
            u, reach, root = Fraction(2) ** -53, Fraction(1.001) * Fraction(facts["radius"]), math.isqrt(dimension)
            steepest = Fraction(facts["lipschitz"]) + Fraction(facts["regularization"]) * reach
            product = (
                Fraction(size) * Fraction(facts["gradient_error"]) + 3 * u * Fraction(size) * steepest + 2 * u * reach
            )
            centre = Fraction(1.01) * product + Fraction(facts["grid"]) * root / 2
            point = Fraction(1.01) * (dimension + 9) * u * reach
            stated = 2 * (centre + (1 - Fraction(size) * Fraction(convexity)) * point) + Fraction(facts["grid"]) * root
            found = exact_steps.rounding_gap(**facts, step_size=size, strong_convexity=convexity, dimension=dimension)
            assert float(stated) <= found <= float(stated) * (1 + 1e-7)
