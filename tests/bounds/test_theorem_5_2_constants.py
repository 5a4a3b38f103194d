"""Every constant of Theorem 5.2 and of its sharper form, at random parameters, against formulas written out in 40 digits.

These take milliseconds, so a changed constant is seen before the densities on a grid (`test_nonconvex.py`) have begun.
"""

from __future__ import annotations

import math
import random
from typing import Any

import mpmath as mp
import pytest

from noisygd_delete.bounds import theorem_5_2
from noisygd_delete.bounds import theorem_5_2_schedule as schedules

mp.mp.dps = 40


def draw(seed: int) -> dict[str, Any]:
    generator = random.Random(seed)
    uniform = generator.uniform
    return {
        "order": uniform(1.5, 12), "deletion": uniform(0.01, 2), "dp": uniform(0.5, 4), "range": uniform(0.3, 2),
        "noise": uniform(0.3, 3), "smoothness": uniform(0.05, 2), "regularization": uniform(0.05, 1.5), "lipschitz": uniform(0.2, 2),
        "dimension": generator.randint(2, 9), "records": generator.randint(50, 5000), "batch": generator.randint(2, 7),
    }  # fmt: skip


def limit(q, log_b, lam, beta):
    return lam / (64 * mp.e**log_b * q**2 * (beta + lam) ** 2)


def close(found: float, expected: Any) -> None:
    assert found == pytest.approx(float(expected), rel=1e-11)


@pytest.mark.parametrize("seed", range(6))
def test_every_formula_has_the_constants_of_the_article(seed: int) -> None:
    p = {name: mp.mpf(value) for name, value in draw(seed).items()}
    q, omega, noise, lam, beta, d = (
        p[name] for name in ("order", "range", "noise", "regularization", "smoothness", "dimension")
    )
    log_b = omega / noise
    close(theorem_5_2.log_barrier_printed(range=float(omega), noise_variance=float(noise)), 2 * omega / noise)
    close(theorem_5_2.log_barrier(range=float(omega), noise_variance=float(noise)), log_b)
    facts = {"log_barrier": float(log_b), "regularization": float(lam)}
    most = limit(q, log_b, lam, beta)
    close(theorem_5_2.largest_step_size(**facts, order=float(q), smoothness=float(beta)), most)
    step = lam * p["deletion"] / (64 * d * q * mp.e**log_b * (beta + lam) ** 2)
    given = {"order": float(q), "smoothness": float(beta), "dimension": int(d), "deletion": float(p["deletion"])}
    eta = theorem_5_2.step_size(**facts, **given)
    close(eta, min(step, most))
    error = 32 * d * eta * mp.e**log_b * (beta + lam) ** 2 / lam
    own = {"smoothness": float(beta), "dimension": int(d), "step_size": eta}
    close(theorem_5_2.discretisation_rate(**facts, **own), error)
    forgetting = lam * eta / (2 * mp.e**log_b)
    close(theorem_5_2.forgetting_rate(**facts, step_size=eta), forgetting)
    kept = mp.e ** (-forgetting * 700)
    chain = {"discretisation_rate": float(error), "forgetting_rate": float(forgetting), "steps": 700}
    close(theorem_5_2.renyi_to_gibbs_printed(start=0.4, order=float(q), **chain), q * kept * mp.mpf("0.4") + q * error)
    close(theorem_5_2.rate_to_gibbs(start_rate=0.4, **chain), kept * mp.mpf("0.4") + (1 - kept) * error)
    assert theorem_5_2.prior_to_gibbs(range=float(omega), noise_variance=float(noise)) == pytest.approx(
        (float(log_b), float(log_b**2 / 8)), rel=1e-12
    )
    close(theorem_5_2.data_influence(range=float(omega), noise_variance=float(noise)), mp.tanh(log_b / 4))
    n, r = p["records"], p["batch"]
    for only, times in ((False, 2), (True, 1)):
        move = {"range": float(omega), "noise_variance": float(noise), "batch": int(r), "records": int(n)}
        close(theorem_5_2.gibbs_move(**move, deletions_only=only), times * r * omega / (n * noise))
    distance = p["deletion"] * mp.e**log_b * noise / lam
    risk = p["lipschitz"] * mp.sqrt(2 * distance) + distance * (2 * lam + beta)
    risk += d * noise / 2 * (mp.log((beta + lam) / lam) + 2 * mp.e ** (omega / noise))
    found = theorem_5_2.excess_risk(
        log_barrier=float(log_b), range=float(omega), noise_variance=float(noise), lipschitz=float(p["lipschitz"]),
        smoothness=float(beta), regularization=float(lam), dimension=int(d), deletion=float(p["deletion"]),
    )  # fmt: skip
    close(found, risk)


@pytest.mark.parametrize("form", theorem_5_2.FORMS)
@pytest.mark.parametrize("seed", range(4))
def test_a_history_is_the_recursion_of_the_article(seed: int, form: str) -> None:
    p = draw(seed)
    q, omega, noise, lam, beta = (p[name] for name in ("order", "range", "noise", "regularization", "smoothness"))
    log_b = mp.mpf(omega) / noise * (2 if form == "printed" else 1)
    names = ("order", "range", "smoothness", "regularization", "dimension")
    gibbs = theorem_5_2.Gibbs(**{name: p[name] for name in names}, form=form)
    eta = float(limit(mp.mpf(q), log_b, lam, beta)) * (1 - 1e-9)
    forgetting = mp.mpf(lam) * eta / 2 / mp.e**log_b
    error = 32 * p["dimension"] * eta * mp.e**log_b * (mp.mpf(beta) + lam) ** 2 / lam
    w = mp.mpf(omega) / noise
    cost = w if form == "printed" else q * min(w, w**2 / 8)
    runs = [(40_000, 0), (9_000, 1), (20_000, 5)]
    for place, (steps, edits) in enumerate(runs):
        move = 2 * edits * w / p["records"] if place else 0
        kept = mp.e ** (-forgetting * steps)
        printed = q * kept * (cost + move) + q * error
        cost = printed if form == "printed" else q * (kept * (cost / q + move) + (1 - kept) * error)
    found = gibbs.closeness(step_size=eta, noise_variance=noise, records=p["records"], runs=runs)
    close(found, cost)
    for step, allowed in ((1 - 1e-13, True), (1 + 1e-9, False)):  # of the largest step that G.22 allows
        eta_there = float(limit(mp.mpf(q), log_b, lam, beta) * step)
        there = gibbs.closeness(step_size=eta_there, noise_variance=noise, records=p["records"], runs=runs)
        assert (there < math.inf) == allowed
    worst = {"learn_steps": 40_000, "delete_steps": 9_000, "batch": 2}
    facts = {"step_size": eta, "noise_variance": noise, "records": p["records"]}
    bound = gibbs.worst_closeness(**facts, **worst)
    reached = [
        gibbs.closeness(**facts, runs=[(40_000, 0), *[(9_000, 2)] * requests]) for requests in (1, 2, 3, 10, 2000)
    ]
    assert max(reached) <= bound * (1 + 1e-12)
    assert math.isinf(bound) or max(reached) == pytest.approx(bound, rel=0.05)


@pytest.mark.parametrize("releases", [1, 6])
@pytest.mark.parametrize("seed", range(4))
def test_a_sharper_schedule_takes_the_least_steps_that_reach_the_target(seed: int, releases: int) -> None:
    p = draw(seed)
    problem = schedules.NonConvexProblem(
        order=p["order"], dp=p["dp"], deletion=p["deletion"], range=p["range"], sensitivity=2 * p["lipschitz"],
        smoothness=p["smoothness"], regularization=p["regularization"], dimension=p["dimension"], records=p["records"],
        batch=p["batch"], releases=releases,
    )  # fmt: skip
    found = schedules.sharper_schedule(problem, p["noise"])
    log_b = mp.mpf(p["range"]) / p["noise"]
    q, lam, target = mp.mpf(p["order"]), mp.mpf(p["regularization"]), mp.mpf(p["deletion"]) / p["order"]
    scale = 64 * mp.e**log_b * (p["smoothness"] + lam) ** 2
    eta = min(lam / (scale * q**2), lam * p["deletion"] / (scale * q * p["dimension"]))
    error = 32 * p["dimension"] * eta * mp.e**log_b * (p["smoothness"] + lam) ** 2 / lam
    close(found.step_size, eta)
    close(found.log_barrier, log_b)

    def steps(rate: Any) -> Any:
        left = mp.log((rate - error) / (target - error)) * 2 * mp.e**log_b / (lam * eta)
        return mp.ceil(left) if rate > target else 0

    learn = steps(min(log_b, log_b**2 / 8))
    delete = max(1, steps(target + 2 * p["batch"] * log_b / p["records"]))
    assert abs(found.learn_steps - learn) <= 1 + 1e-9 * learn
    assert abs(found.delete_steps - delete) <= 1 + 1e-9 * delete
    total = int(max(found.learn_steps, found.delete_steps) + (releases - 1) * found.delete_steps)
    close(found.dp, q * (2 * mp.mpf(p["lipschitz"])) ** 2 * eta * total / (4 * p["noise"] * p["records"] ** 2))
