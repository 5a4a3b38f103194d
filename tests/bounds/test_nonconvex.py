"""Theorem 5.2, G.22 and the sharper forms against densities on a grid, 50-digit formulas and planted faults."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisygd_delete.bounds import theorem_5_2
from noisygd_delete.bounds import theorem_5_2_schedule as schedules
from proofs_check import closed_forms
from tests.oracles import theorem_5_2 as oracle
from tests.oracles.gibbs_grid import Diffusion, Line, Plane

# ---------------------------------------------------------------- two bounded losses in one dimension, range ω = 1


def sigmoid(theta, x):
    return 1 / (1 + np.exp(theta * x))


def sigmoid_slope(theta, x):
    s = sigmoid(theta, x)
    return -x * s * (1 - s)


def welsch(theta, x):
    return 1 - np.exp(-((theta - x) ** 2) / 2)


def welsch_slope(theta, x):
    return (theta - x) * np.exp(-((theta - x) ** 2) / 2)


LOSSES = {
    "sigmoid": (sigmoid, sigmoid_slope, 1 / (6 * math.sqrt(3)), np.array([1.0, 1.0, -0.8, 0.6, 1.0, -1.0])),
    "welsch": (welsch, welsch_slope, 1.0, np.array([2.0, 2.2, -2.0, 1.8, -2.1, 2.0])),
}
NULL = None  # a deleted record: constant loss


def line(loss, data, lam, noise_variance, spacing):
    value, slope, _, _ = LOSSES[loss]
    kept = [x for x in data if x is not NULL]
    n = len(data)
    return Line(
        lambda t: sum(value(t, x) for x in kept) / n + lam * t**2 / 2,
        lambda t: sum(slope(t, x) for x in kept) / n + lam * t,
        noise_variance,
        half_width=6.5 * math.sqrt(noise_variance / lam) + 1,
        spacing=spacing,
    )


def terms(*, log_barrier, lam, beta, step_size, dimension=1):
    return {
        "discretisation_rate": theorem_5_2.discretisation_rate(
            log_barrier=log_barrier, dimension=dimension, regularization=lam, smoothness=beta, step_size=step_size
        ),
        "forgetting_rate": theorem_5_2.forgetting_rate(
            log_barrier=log_barrier, regularization=lam, step_size=step_size
        ),
    }


def bounds(truth, *, order, noise_variance, lam, beta, step_size, steps, dimension=1):
    """(printed G.22, un-relaxed sharper, sharper over all orders), each fed the true divergence of the start."""
    wide = terms(
        log_barrier=theorem_5_2.log_barrier_printed(range=1.0, noise_variance=noise_variance),
        lam=lam, beta=beta, step_size=step_size, dimension=dimension,
    )  # fmt: skip
    narrow = terms(
        log_barrier=theorem_5_2.log_barrier(range=1.0, noise_variance=noise_variance),
        lam=lam, beta=beta, step_size=step_size, dimension=dimension,
    )  # fmt: skip
    low = (order - 1) * math.exp(-narrow["forgetting_rate"] * steps) + 1
    family = max(truth(p) / p for p in np.linspace(1, order, 9))
    return (
        theorem_5_2.renyi_to_gibbs_printed(start=truth(order), order=order, steps=steps, **wide),
        closed_forms.renyi_to_gibbs(start=truth(low), order=order, steps=steps, **narrow),
        order * theorem_5_2.rate_to_gibbs(start_rate=family, steps=steps, **narrow),
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("order", [1.5, 3])
@pytest.mark.parametrize(("mean", "spread"), [(0.0, 1.0), (2.5, 0.4)], ids=["prior", "off-centre"])
def test_every_form_of_g22_is_above_the_truth_along_the_chain(loss, order, mean, spread):
    lam, noise_variance, beta, data = 1.0, 2.0, LOSSES[loss][2], LOSSES[loss][3]
    step_size = theorem_5_2.largest_step_size(
        log_barrier=theorem_5_2.log_barrier_printed(range=1.0, noise_variance=noise_variance),
        order=order, regularization=lam, smoothness=beta,
    )  # fmt: skip
    chain = line(loss, data, lam, noise_variance, spacing=0.8 * math.sqrt(2 * step_size * noise_variance))
    start = chain.gaussian(mean, spread * noise_variance / lam)
    density, steps = start, 0
    for more in (0, 1, 63, 960):
        density, steps = chain.run(density, step_size, more), steps + more
        assert density.sum() * chain.cell == pytest.approx(1, abs=1e-8)  # the grid loses no mass
        true = chain.renyi(density, order)
        printed, sharper, family = bounds(
            lambda p: chain.renyi(start, p),
            order=order, noise_variance=noise_variance, lam=lam, beta=beta, step_size=step_size, steps=steps,
        )  # fmt: skip
        assert true <= sharper + 1e-10
        assert true <= family + 1e-10
        assert sharper <= printed
        assert family <= printed or steps == 0


def test_g22_forms_hold_in_two_dimensions_and_the_sharper_is_smaller():
    lam, noise_variance, order, beta = 1.0, 4.0, 1.2, 1 / (6 * math.sqrt(3))
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [-0.6, 0.8], [0.6, 0.8], [-1.0, 0.0]])

    def potential(points):
        return sigmoid(points @ rows.T, 1.0).mean(-1) + lam * (points**2).sum(-1) / 2

    def gradient(points):
        return sigmoid_slope(points @ rows.T, 1.0) @ rows / len(rows) + lam * points

    step_size = theorem_5_2.largest_step_size(
        log_barrier=theorem_5_2.log_barrier_printed(range=1.0, noise_variance=noise_variance),
        order=order, regularization=lam, smoothness=beta,
    )  # fmt: skip
    plane = Plane(potential, noise_variance, half_width=9.8, spacing=0.85 * math.sqrt(2 * step_size * noise_variance))
    start = density = plane.gaussian(np.array([1.5, -1.5]), 2.5)
    matrix = plane.step_matrix(gradient, step_size)
    for steps in range(1, 121):
        density = matrix @ density
        if steps in (1, 20, 120):
            printed, sharper, family = bounds(
                lambda p: plane.renyi(start, p),
                order=order, noise_variance=noise_variance, lam=lam, beta=beta,
                step_size=step_size, steps=steps, dimension=2,
            )  # fmt: skip
            true = plane.renyi(density, order)
            assert true <= min(sharper, family) + 1e-9
            assert max(sharper, family) <= printed
    assert density.sum() * plane.cell == pytest.approx(1, abs=2e-5)


# ---------------------------------------------------------------- the induction: learn, then a sequence of deletions


def history(loss, problem, schedule):
    """True densities after learning and after three single deletions, with their chains."""
    data = list(LOSSES[loss][3])
    spacing = 0.8 * math.sqrt(2 * schedule.step_size * schedule.noise_variance)
    chain = line(loss, data, problem.regularization, schedule.noise_variance, spacing)
    density = chain.gaussian(0.0, schedule.noise_variance / problem.regularization)
    density = chain.run(density, schedule.step_size, schedule.learn_steps)
    yield chain, density
    for index in (0, 3, 2):
        data[index] = NULL
        chain = line(loss, data, problem.regularization, schedule.noise_variance, spacing)
        density = chain.run(density, schedule.step_size, schedule.delete_steps)
        yield chain, density


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [schedules.printed_schedule, schedules.sharper_schedule])
def test_every_model_of_a_deletion_sequence_is_within_the_budget_and_the_risk_bound(loss, form):
    problem = schedules.NonConvexProblem(
        order=2, dp=0.9, deletion=0.3, range=1.0, sensitivity=2.0, smoothness=LOSSES[loss][2],
        regularization=1.0, dimension=1, records=6,
    )  # fmt: skip
    schedule = form(problem, 2.0)
    risk = theorem_5_2.excess_risk(
        log_barrier=schedule.log_barrier, range=1.0, noise_variance=2.0, lipschitz=1.0,
        smoothness=problem.smoothness, regularization=1.0, dimension=1, deletion=0.3,
    )  # fmt: skip
    for chain, density in history(loss, problem, schedule):
        assert density.sum() * chain.cell == pytest.approx(1, abs=1e-6)
        for p in (1, 1.2, 1.6, 2):
            allowed = problem.deletion * (p / problem.order if form is schedules.sharper_schedule else 1)
            assert chain.renyi(density, p) <= allowed
        objective = -2.0 * chain.log_gibbs  # up to a constant
        assert (density * objective).sum() * chain.cell - objective.min() <= risk


# ---------------------------------------------------------------- large barriers: where B has power


WELL_DEPTH = 12.0


def double_well(lam=0.05):
    """ω = 12σ²: one bump between two wells of the regulariser, at η → 0."""
    return Diffusion(
        lambda t: WELL_DEPTH * np.exp(-(t**2) / 2) + lam * t**2 / 2, noise_variance=1.0, half_width=32, spacing=0.04
    )


def bound_at(chain, start, *, order, lam, time, log_barrier):
    rate = lam / 2 * math.exp(-log_barrier)
    low = (order - 1) * math.exp(-rate * time) + 1
    return closed_forms.renyi_to_gibbs(
        start=chain.renyi(start, low), order=order, steps=time, forgetting_rate=rate, discretisation_rate=0.0
    )


def test_the_exponential_in_the_barrier_is_needed():
    """Truth is below the sharper bound, and above it for two faults: B's root once more, and B the wrong way up."""
    lam, order = 0.05, 2
    chain = double_well(lam)
    start = chain.gaussian(8.0, 2.0)  # all in one well
    right = theorem_5_2.log_barrier(range=WELL_DEPTH, noise_variance=1.0)
    caught = {"root once more": 0, "wrong way up": 0}
    for time in (1.0, 50.0, 500.0, 5e3, 5e4, 5e6):
        true = chain.renyi(chain.run_time(start, time), order)
        assert true <= bound_at(chain, start, order=order, lam=lam, time=time, log_barrier=right) + 1e-9
        caught["root once more"] += true > bound_at(
            chain, start, order=order, lam=lam, time=time, log_barrier=right / 2
        )
        caught["wrong way up"] += true > bound_at(chain, start, order=order, lam=lam, time=time, log_barrier=-right)
    assert min(caught.values()) >= 1


def test_a_schedule_with_the_wrong_barrier_leaves_too_much():
    """K from the right B forgets the well; K from the root of B does not, by far."""
    lam, order, deletion = 0.05, 2, 0.1
    chain = double_well(lam)
    start = chain.gaussian(8.0, 2.0)
    rate = max(chain.renyi(start, p) / p for p in np.linspace(1, order, 9))

    def left(log_barrier):
        forgetting = lam / 2 * math.exp(-log_barrier)
        time = theorem_5_2.steps_to_rate(
            start_rate=rate, rate=deletion / order, discretisation_rate=0.0, forgetting_rate=forgetting
        )
        return chain.renyi(chain.run_time(start, time), order)

    assert left(WELL_DEPTH) <= deletion
    assert left(WELL_DEPTH / 2) > 3 * deletion


# ---------------------------------------------------------------- the printed formulas, digit by digit


NAMES = ("q", "dp", "deletion", "omega", "lipschitz", "beta", "lam", "d", "n", "r")
CASES = [
    dict(zip(NAMES, values, strict=True))
    for values in (
        (2, 1.0, 0.1, 1.0, 0.25, 0.0962, 1.0, 2, 500, 1),
        (8, 0.9, 0.5, 1.0, 0.25, 0.5, 0.1, 1, 200, 3),
        (1.5, 2.5, 0.01, 2.0, 1.0, 1.0, 0.5, 3, 10_000, 9),
        (1.5, 0.95, 0.9, 1.0, 0.25, 0.2, 0.5, 1, 300, 2),  # at 7ω the prior is near enough: (19) has K_A = 0
    )
]


def problem_of(case, **changes):
    problem = schedules.NonConvexProblem(
        order=case["q"], dp=case["dp"], deletion=case["deletion"], range=case["omega"],
        sensitivity=2 * case["lipschitz"], smoothness=case["beta"], regularization=case["lam"],
        dimension=case["d"], records=case["n"], batch=case["r"],
    )  # fmt: skip
    return dataclasses.replace(problem, **changes)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("scale", [0.5, 1.0, 7.0])
def test_printed_schedule_is_the_theorem(case, scale):
    noise_variance = scale * case["omega"]
    eta, learn, delete, dp = oracle.printed(noise_variance=noise_variance, **case)
    ours = schedules.printed_schedule(problem_of(case), noise_variance)
    assert ours.step_size == pytest.approx(float(eta), rel=1e-12)
    assert 0 <= ours.learn_steps - float(learn) <= 1 + 1e-12 * float(learn)
    # (19) again, with the whole number of steps that learning runs
    assert 0 <= ours.delete_steps - float(delete) - (ours.learn_steps - float(learn)) <= 1 + 1e-12 * float(delete)
    assert ours.dp == pytest.approx(float(dp), rel=2 / max(ours.learn_steps, ours.delete_steps) + 1e-9)


@pytest.mark.parametrize("case", CASES)
def test_printed_steps_meet_the_printed_bound_and_a_doubled_step_size_does_not(case):
    noise_variance = case["omega"]
    ours = schedules.printed_schedule(problem_of(case), noise_variance)
    constants = {"q": case["q"], "omega": case["omega"], "beta": case["beta"], "lam": case["lam"], "d": case["d"]}

    def reached(eta, steps, start):
        return oracle.g22(noise_variance=noise_variance, eta=eta, steps=steps, start=start, **constants)

    log_big = 2 * case["omega"] / noise_variance
    after_edit = case["deletion"] + case["r"] / case["n"] * log_big
    limit = case["lam"] / (64 * math.exp(log_big) * case["q"] ** 2 * (case["beta"] + case["lam"]) ** 2)
    assert ours.step_size <= limit * (1 + 1e-12)
    for steps, start in ((ours.learn_steps, log_big / 2), (ours.delete_steps, after_edit)):
        assert reached(ours.step_size, steps, start) <= case["deletion"] * (1 + 1e-12)
        doubled = reached(2 * ours.step_size, math.ceil(steps / 2), start)  # the same ηK
        assert doubled > case["deletion"] * 0.999 or 2 * ours.step_size > limit


# ---------------------------------------------------------------- the least and the cheapest noise


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", [schedules.printed_schedule, schedules.sharper_schedule])
@pytest.mark.parametrize("releases", [1, 5])
def test_least_noise_is_safe_and_no_smaller_one_is(case, form, releases):
    problem = problem_of(case, releases=releases)
    schedule = schedules.least_noise_schedule(problem, form)
    assert schedule.dp <= problem.dp
    assert form(problem, schedule.noise_variance * (1 - 1e-9)).dp > problem.dp
    assert form(problem, schedule.noise_variance / 2).dp > problem.dp
    assert form(problem, schedule.noise_variance * 3).dp < problem.dp


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", [schedules.printed_schedule, schedules.sharper_schedule])
def test_cheapest_leaves_at_most_its_factor(case, form):
    problem = problem_of(case)
    schedule = schedules.cheapest_schedule(problem, form)
    least = schedules.least_noise_schedule(problem, form)
    assert schedule.dp <= problem.dp
    assert schedule.noise_variance >= least.noise_variance
    fastest = math.inf
    for doubling in range(40):
        trial = form(problem, schedule.noise_variance * 2**doubling)
        fastest = min(fastest, 2 / (problem.regularization * trial.step_size) * math.exp(trial.log_barrier))
    unit = 2 / (problem.regularization * schedule.step_size) * math.exp(schedule.log_barrier)
    assert unit <= schedules.FACTOR * fastest * (1 + 1e-9)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_sharper_schedules_never_need_more(case, scale):
    problem, noise_variance = problem_of(case), scale * case["omega"]
    printed, sharper = (
        form(problem, noise_variance) for form in (schedules.printed_schedule, schedules.sharper_schedule)
    )
    assert sharper.learn_steps <= printed.learn_steps
    assert sharper.delete_steps <= printed.delete_steps
    assert (
        schedules.least_noise_schedule(problem, schedules.sharper_schedule).noise_variance
        <= schedules.least_noise_schedule(problem, schedules.printed_schedule).noise_variance
    )


PROBLEMS = st.builds(
    schedules.NonConvexProblem,
    order=st.floats(1.01, 100), dp=st.floats(0.01, 5), deletion=st.floats(1e-6, 5), range=st.just(1.0),
    sensitivity=st.just(2.0), smoothness=st.floats(1e-6, 100), regularization=st.floats(1e-6, 10),
    dimension=st.integers(1, 10**6), records=st.integers(100, 10**9), batch=st.integers(1, 100),
)  # fmt: skip


@settings(deadline=None, max_examples=200)
@given(log_noise=st.floats(-30, 30), problem=PROBLEMS)
def test_no_nan_anywhere(log_noise, problem):
    for form in (schedules.printed_schedule, schedules.sharper_schedule):
        schedule = form(problem, math.exp(log_noise))
        assert all(value >= 0 for value in dataclasses.astuple(schedule))
        risk = theorem_5_2.excess_risk(
            log_barrier=schedule.log_barrier, range=1.0, noise_variance=schedule.noise_variance, lipschitz=1.0,
            smoothness=problem.smoothness, regularization=problem.regularization, dimension=problem.dimension,
            deletion=problem.deletion,
        )  # fmt: skip
        assert risk >= 0


# ---------------------------------------------------------------- the pieces


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("noise_variance", [0.3, 2.0])
def test_distances_between_gibbs_laws_on_the_grid(loss, noise_variance):
    data = list(LOSSES[loss][3])
    before = line(loss, data, 0.5, noise_variance, 0.02)
    after = line(loss, [NULL, *data[1:]], 0.5, noise_variance, 0.02)
    prior = np.log(before.gaussian(0.0, noise_variance / 0.5))
    everywhere, rate = theorem_5_2.prior_to_gibbs(range=1.0, noise_variance=noise_variance)
    assert np.abs(before.log_gibbs - prior).max() <= everywhere
    for p in (1, 1.5, 3, 20):
        assert before.renyi(np.exp(prior), p) <= min(everywhere, p * rate)
    variation = np.abs(np.exp(before.log_gibbs) - np.exp(prior)).sum() * before.cell / 2
    assert variation <= theorem_5_2.data_influence(range=1.0, noise_variance=noise_variance)
    move = np.abs(before.log_gibbs - after.log_gibbs).max()
    common = {"range": 1.0, "noise_variance": noise_variance, "batch": 1, "records": len(data)}
    assert move <= theorem_5_2.gibbs_move(**common, deletions_only=True) == theorem_5_2.gibbs_move(**common) / 2


def test_data_influence_and_hoeffding_are_attained_by_a_step():
    oscillation = 0.4  # two halves of the prior, loss 0 on one and ω on the other, weighted so that the tilt is even
    weight = 1 / (1 + math.exp(-oscillation / 2))
    prior = np.array([1 - weight, weight])
    gibbs = prior * np.exp([0.0, -oscillation])
    gibbs /= gibbs.sum()
    assert np.abs(gibbs - prior).sum() / 2 == pytest.approx(theorem_5_2.data_influence(range=0.4, noise_variance=1.0))
    divergence = (prior * np.log(prior / gibbs)).sum()
    assert 0.98 * oscillation**2 / 8 < divergence <= theorem_5_2.prior_to_gibbs(range=0.4, noise_variance=1.0)[1]


def test_the_quadratic_bound_may_not_be_added_at_equal_order():
    """Why `gibbs_move` is R_∞: P sits on one of Q's two atoms, the tilt of oscillation 0.05 makes that atom rarer."""
    order, oscillation, start = 4, 0.05, 0.32
    heavy = math.exp(-start)  # R_q(P ‖ Q) = 0.32 at every order
    tilted = heavy * math.exp(-oscillation) / (heavy * math.exp(-oscillation) + 1 - heavy)
    true = -math.log(tilted)
    assert start + order * oscillation**2 / 8 < true <= start + oscillation
