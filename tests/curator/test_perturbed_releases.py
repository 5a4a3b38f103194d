"""What the product publishes under method="objective-perturbation": b is kept nowhere, low bits tell nothing, and attacks stay below the claims."""

from __future__ import annotations

import itertools
import logging
import math
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from noisygd_delete import Budget, Curator, EditRequest, Plan, Records, learn, losses, make_plan
from noisygd_delete.audit import audit
from noisygd_delete.audit.counts import Counts
from noisygd_delete.audit.membership import linear_engine
from noisygd_delete.bounds import objective_perturbation as flow
from noisygd_delete.bounds import objective_perturbation as tilt
from noisygd_delete.curator import starts
from noisygd_delete.methods.objective_perturbation_run import ObjectivePerturbationRun
from noisygd_delete.privacy import curves
from noisygd_delete.privacy.worlds import Worlds
from noisygd_delete.store import Store
from tests.oracles import perturbed_density as exact
from tests.store.conftest import SCHEMA, found
from tests.store.conftest import plan as store_plan
from tests.store.conftest import records as store_records


def plan_of(records: int, ridge: float, budget: Budget, **facts) -> Plan:
    asked = {"records": records, "features": 1, "regularization": ridge, "budget": budget, **facts}
    return make_plan(losses.Logistic(1.0), **asked, method="objective-perturbation")


@pytest.fixture
def drawn(monkeypatch) -> list:
    """Every linear term as it is drawn."""
    terms, draw = [], starts.draw_linear_term

    def caught(*arguments, **words):
        terms.append(draw(*arguments, **words))
        return terms[-1]

    monkeypatch.setattr(starts, "draw_linear_term", caught)
    return terms


def traces(term, slots: int) -> list[bytes]:
    """The bytes and the digits of every coordinate, of b and of b/n."""
    needles = []
    for records in (1, slots):
        for value in term.per_record(records).ravel():
            needles += [value.tobytes(), value.byteswap().tobytes(), repr(float(value))[:11].encode()]
    return needles


def test_b_is_in_no_file_pickle_or_log(tmp_path: Path, drawn, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    plan = store_plan(method="objective-perturbation")
    with Store.create(tmp_path / "store", store_records(), SCHEMA, plan) as store:
        answers = [store.learn(), store.serve(EditRequest.delete(["identifier-token-0003"], request_id="r"))]
    curator = Curator(store_records(), plan)
    answers += [curator.learn(), curator.delete(["identifier-token-0004"])]
    kept = [pickle.dumps(each) for each in (curator.model, plan, *answers)]
    kept += [repr(curator.__dict__).encode(), repr(answers).encode(), caplog.text.encode()]
    assert len(drawn) == 4
    needles = [needle for term in drawn for needle in traces(term, plan.problem.records)]
    assert not found(tmp_path, needles)
    assert not any(needle in text for text in kept for needle in needles)
    planted = tmp_path / "planted"
    planted.write_bytes(b"..." + drawn[2].per_record(1).tobytes())
    assert found(tmp_path, needles), "the scan sees b where it is"
    planted.write_text(f"b = {drawn[2].per_record(plan.problem.records)[0, 0]!r}")
    assert found(tmp_path, needles)


# ---------------------------------------------------------------- low bits

BITS, SLOTS = 32, 30


def line(last: float) -> Records:
    rows = np.linspace(-1, 1, SLOTS)
    labels = np.append(np.sign(rows[:-1] + 0.1), last)
    return Records(rows[:, None], labels)


def gradient_sum(theta: float, last: float, ridge: float) -> float:
    rows = line(last).features[:, 0].astype(float)
    labels = line(last).labels
    return float(-(rows * labels / (1 + np.exp(theta * rows * labels))).sum() + SLOTS * ridge * theta)


def wins(released: list[tuple[float, float]], plan) -> float:
    """How often the table whose Φ(−G_D(θ)/s)·2³² − 1/2 is nearer a whole number is the right one."""
    right = 0
    for theta, last in released:
        off = {}
        for guess in (1.0, -1.0):
            number = (
                ndtr(-gradient_sum(theta, guess, plan.problem.regularization) / plan.calibration.linear_term)
                * 2.0**BITS
                - 0.5
            )
            off[guess] = abs(number - round(number))
        right += min(off, key=off.get) == last
    return right / len(released)


def test_the_low_bit_attack_wins_without_the_last_noise_and_guesses_on_the_product(monkeypatch) -> None:
    """b from 32-bit uniforms, which the attack needs: the exact minimiser gives its table away, the release does not."""
    plan = plan_of(SLOTS, 0.5, Budget(order=3, dp=0.2, deletion=0.2))
    coarse = starts.draw_linear_term

    def of_32_bits(shape, noise, *, deviation, variances=None):
        assert variances is None
        term = coarse(shape, noise, deviation=deviation)
        cell = (np.floor(ndtr(term.per_record(1) / deviation) * 2.0**BITS) + 0.5) * 2.0**-BITS
        term._vector.flags.writeable = True
        term._vector[...] = deviation * ndtri(cell)
        return term

    rng, games = np.random.default_rng(3), 80
    last = rng.choice([-1.0, 1.0], games)

    def play() -> float:
        return wins([(float(learn(line(each), plan, rng).weights[0]), each) for each in last], plan)

    assert abs(play() - 0.5) < 0.2
    monkeypatch.setattr(starts, "draw_linear_term", of_32_bits)
    assert abs(play() - 0.5) < 0.2
    solve = starts.solve
    polished = []

    def to_the_last_bit(objective, **words):
        words["tolerance"] = 3 * objective.gradient_error(4.0)
        polished.append(solve(objective, **words))
        return polished[-1]

    monkeypatch.setattr(starts, "solve", to_the_last_bit)
    assert abs(play() - 0.5) < 0.2
    monkeypatch.setattr(starts, "on_noisy_grid", lambda weights, noise, *, output_noise: weights.copy())
    assert play() > 0.8


# ---------------------------------------------------------------- likelihood ratios


def test_the_best_test_on_real_releases_stays_below_the_claim() -> None:
    """Logistic regression on a line, from the product's own `learn`: the density of θ* is known, and no test beats its ratio."""
    plan = plan_of(60, 0.05, Budget(order=2, dp=1.0, deletion=1.0), adjacency="zero-out")
    others, signs = np.ones(45), -np.ones(45)  # they pull the weight far down, where the target's slope is nearly 1

    def records(present: bool) -> Records:
        rows = np.append(others, 1.0 if present else 0.0)
        return Records(rows[:, None], np.append(signs, 1.0), slots=60)

    def log_density(theta: np.ndarray, present: bool) -> np.ndarray:
        rows, labels = np.append(others, 1.0 if present else 0.0), np.append(signs, 1.0)
        slope = 1 / (1 + np.exp(np.multiply.outer(theta, rows * labels)))
        total = -(slope * rows * labels).sum(-1) + 60 * 0.05 * theta
        bend = (slope * (1 - slope) * rows**2).sum(-1) + 60 * 0.05
        return -((total / plan.calibration.linear_term) ** 2) / 2 + np.log(bend)

    rng, runs = np.random.default_rng(8), 400
    scores = {}
    for present in (True, False):
        released = np.array([float(learn(records(present), plan, rng).weights[0]) for _ in range(runs)])
        scores[present] = log_density(released, True) - log_density(released, False)
    counted = Counts(int((scores[True] > 0).sum()), runs, int((scores[False] > 0).sum()), runs, 1e-6)
    claim = plan.dp.advantage
    assert counted.advantage <= claim
    assert counted.estimate > 0.75 * claim  # the attack has power


def test_the_audit_of_the_worst_case_passes_and_sees_half_the_noise() -> None:
    plan = plan_of(500, 0.05, Budget(order=3, dp=0.8, deletion=0.4))
    rng = np.random.default_rng(2)
    assert audit(plan, chains=6000, later_releases=2, rng=rng).verdict == "pass"
    honest = linear_engine(plan, later_releases=2)
    for fault in (2.0, math.sqrt(2)):  # half the noise; gradients √2 longer than the L of the claim
        engine = replace(honest, linear_term=honest.linear_term / fault)
        assert audit(plan, engine=engine, chains=6000, later_releases=2, rng=rng).verdict == "fail"


# ---------------------------------------------------------------- planted faults, refuted by exact densities


def run_of(**facts) -> ObjectivePerturbationRun:
    usual = {
        "records": 100,
        "linear_term": 3.0,
        "output_noise": 2.0**-12,
        "gradient_tolerance": 1e-9,
        "strong_convexity": 0.01,
        "lipschitz": 1.0,
        "smoothness": 0.25,
        "form": "one direction",
        "dimension": 1,
    }
    return ObjectivePerturbationRun(**{**usual, **facts})


def worst_ratio(noise: float = 1.0, gradient: float = 1.0) -> float:
    """The largest share of a claim that an exact pair of laws reaches; above 1 it is refuted.

    Args:
        noise, gradient: factors by which what is run differs from what is claimed.
    """
    u = exact.line(26.0, 12_000)
    cell, null, found = u[1] - u[0], (np.zeros_like(u), np.zeros_like(u)), 0.0

    def judge(run: ObjectivePerturbationRun, worlds: str, order: float, one, two) -> None:
        nonlocal found
        laws = exact.log_density(u, one), exact.log_density(u, two)
        truth = max(exact.renyi(order, *laws, cell), exact.renyi(order, *laws[::-1], cell))
        found = max(found, truth / run.interval("dp", worlds, steps_with=1).renyi(order))

    for scale, convexity, order in ((4.0, 0.1, 2.0), (4.0, 0.01, 2.0), (4.0, 0.01, 3.0), (4.0, 0.01, 4.0)):
        run = run_of(linear_term=scale, strong_convexity=convexity)
        height, slope = gradient / (scale * noise), 0.25 / (100 * convexity)
        for centre in (0.0, 1.0, 2.5):  # the ramp; far out it is the constant shift of a linear loss
            judge(run, "zero-out", order, exact.ramp(u, height, slope, centre), null)
        judge(run, "zero-out", order, exact.ramp(u, height, 0.0), null)
        judge(run, "zero-out", order, (np.full_like(u, height), np.zeros_like(u)), null)
    # two solves at opposite ends of their balls, and two linear losses: Gaussian laws, where both statements are tight
    rough = run_of(strong_convexity=0.03, output_noise=0.5, gradient_tolerance=0.00125, smoothness=0.0)
    apart = gradient / (100 * 0.03) + 2 * 0.00125 / 0.03
    variance = (noise * 3.0 / (100 * 0.03)) ** 2 + 0.5**2
    claimed = rough.interval("dp", "zero-out", steps_with=1).renyi(3.0)
    return max(found, 3.0 * apart**2 / (2 * variance) / claimed)


def largest_determinant(order: float, pairs) -> float:
    """sup of log[det J₂^q det J₁^{1−q}/det J_q]/(q−1) over rank-one Hessians of eigenvalues (r₂, r₁), at any angle."""
    found = 0.0
    for second, first in pairs:
        for square in (0.0, 0.5, 1.0):
            joint = (1 + order * second) * (1 - (order - 1) * first) + order * (order - 1) * second * first * square
            term = order * math.log1p(second) - (order - 1) * math.log1p(first) - math.log(joint)
            found = max(found, term / (order - 1))
    return found


def determinant_ratio() -> float:
    """The largest share of a claimed Hessian cost that determinants reach; above 1 it is refuted."""
    bent = run_of(strong_convexity=0.01)
    both = run_of(form="weakly convex", weak_convexity=0.25, strong_convexity=0.02)
    found = 0.0
    for run, order in ((bent, 2.0), (bent, 3.5), (both, 2.0), (both, 3.0)):
        ratio, below = run.ratios()
        values = np.linspace(-below, ratio, 9)
        alone = [*((r, 0.0) for r in values), *((0.0, r) for r in values)]
        for worlds, pairs in ((Worlds.ZERO_OUT, alone), (Worlds.REPLACE, [*itertools.product(values, values), *alone])):
            found = max(found, largest_determinant(order, pairs) / run.curve(worlds).hessian(order))
    return found


def _same_signs_only(*, order: float, ratio: float, below: float) -> float:
    q = order
    return max(
        tilt._moment_with_record(q, ratio) + tilt._moment_without_record(q, ratio),
        tilt._moment_with_record(q, -below) + tilt._moment_without_record(q, -below),
    ) / (q - 1)


CLAIMS = {
    "the Hessian term forgotten": (tilt, "_moment_without_record", lambda order, r: 0.0),
    "q and q − 1 swapped": (tilt, "_moment_without_record", tilt._moment_with_record),
    "the solver's tolerance ignored": (flow, "rounded_solution_distance", lambda **_: 0.0),
}


def test_honest_claims_are_not_refuted() -> None:
    assert 0.98 < worst_ratio() <= 1.0
    assert 0.999 < determinant_ratio() <= 1.0


@pytest.mark.parametrize("fault", CLAIMS)
def test_a_claim_that_is_too_small_is_refuted(fault: str, monkeypatch) -> None:
    room, name, wrong = CLAIMS[fault]
    monkeypatch.setattr(room, name, wrong)
    assert worst_ratio() > 1 or determinant_ratio() > 1


def test_the_cross_term_of_opposite_curvatures_is_needed(monkeypatch) -> None:
    monkeypatch.setitem(curves._COSTS, ("weakly convex", True), _same_signs_only)
    assert determinant_ratio() > 1


@pytest.mark.parametrize("wrong", [{"noise": 0.5}, {"gradient": math.sqrt(2)}, {"noise": 0.97}])
def test_a_run_that_is_not_the_one_claimed_is_refuted(wrong: dict) -> None:
    assert worst_ratio(**wrong) > 1
