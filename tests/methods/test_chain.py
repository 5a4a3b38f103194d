"""Minimisers in a row (`ObjectivePerturbation(chain=…)`): what they cost, what is run, and where the planner takes them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from noisygd_delete import Budget, Curator, Records, learn, losses, make_plan, methods
from noisygd_delete.curator import starts
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.planner import advise, make_advised_plan

LOSS = losses.clip_loss(losses.Logistic(1.0), 0.6)
BUDGET = Budget.from_epsilon_delta(dp=(2.0, 1e-6), deletion=(0.2, 1e-6))
SIZES = {"records": 500, "features": 8, "regularization": 0.05}


def planned(chain: int = 3, **changes):
    facts = {**SIZES, "budget": BUDGET, "method": methods.ObjectivePerturbation(chain=chain), **changes}
    return make_plan(facts.pop("loss", LOSS), **facts)


def table(rows: int = 500, seed: int = 0) -> Records:
    generator = np.random.default_rng(seed)
    made = generator.standard_normal((rows, 8))
    made /= np.linalg.norm(made, axis=1, keepdims=True) * (1 + 1e-6)
    return Records(made, np.where(made[:, 0] + 0.3 * generator.standard_normal(rows) > 0, 1.0, -1.0))


# -- what is run


def by_another_hand(records: Records, ridge: float, links: int, clip: float = 0.6) -> np.ndarray:
    """Links of argmin mean clipped loss + (λ/2)‖θ − a‖², by scipy, from the definition."""
    rows, labels = records.features.astype(float), records.labels
    edge = math.log(1 / clip - 1)  # the margin at which the slope of log(1 + e^{−m}) is −clip

    def value(theta: np.ndarray, centre: np.ndarray) -> float:
        margins = labels * (rows @ theta)
        straight = math.log1p(math.exp(-edge)) - clip * (margins - edge)
        fit = np.where(margins < edge, straight, np.logaddexp(0, -margins)).mean()
        return fit + ridge / 2 * np.sum((theta - centre) ** 2)

    centre = np.zeros(rows.shape[1])
    for _ in range(links):
        centre = minimize(value, centre, args=(centre,), tol=1e-12, options={"maxiter": 5000}).x
    return centre


@pytest.mark.parametrize("links", [1, 2, 3])
def test_with_next_to_no_noise_it_is_what_another_hand_finds(links) -> None:
    """And where the centre stays at 0, the planted fault, it is not."""
    records = table()
    plan = planned(chain=links, budget=Budget.from_gdp(dp=1e5, deletion=1e5))
    found = learn(records, plan, np.random.default_rng(0)).weights
    expected = by_another_hand(records, plan.problem.regularization, links)
    assert np.linalg.norm(found - expected) < 2e-3 * np.linalg.norm(expected)
    if links > 1:
        wrong = by_another_hand(records, plan.problem.regularization, 1)
        assert np.linalg.norm(found - wrong) > 0.1 * np.linalg.norm(expected)


def test_the_bound_on_rounding_counts_the_centre() -> None:
    records, centre = table(), np.full((1, 8), 50.0)
    facts = {"regularization": 0.05}
    near, far = PreciseObjective(records, LOSS, **facts), PreciseObjective(records, LOSS, centre=centre, **facts)
    assert far.gradient_error(1.0) > near.gradient_error(1.0)
    assert far.gradient_error(1.0) == pytest.approx(near.gradient_error(1.0 + float(np.linalg.norm(centre))))
    point = np.ones((1, 8))
    np.testing.assert_allclose(far.gradient(point) - near.gradient(point), -0.05 * centre)


def test_every_link_draws_noise_of_its_own_and_begins_at_the_one_before(monkeypatch) -> None:
    drawn, centres, right = [], [], starts.solve
    draw = starts.draw_linear_term

    def noted(objective, **facts):
        centres.append(objective.centre.copy())
        return right(objective, **facts)

    monkeypatch.setattr(starts, "solve", noted)
    monkeypatch.setattr(
        starts, "draw_linear_term", lambda *given, **facts: drawn.append(draw(*given, **facts)) or drawn[-1]
    )
    curator = Curator(table(), planned())
    curator.learn()
    first = list(centres)
    curator.delete([3])
    assert len(drawn) == 6
    assert len({term.per_record(1).tobytes() for term in drawn}) == 6
    assert not first[0].any()
    assert not centres[3].any()  # a request runs the whole chain again, on the records that are left
    assert all(not np.array_equal(one, other) for one, other in zip(centres[1:3], centres[4:], strict=True))
    grid = planned().mechanism.grid
    for centre in (*centres[1:3], *centres[4:]):
        assert np.array_equal(np.round(centre / grid) * grid, centre)  # as it would be published


def test_later_links_go_on_from_what_the_first_found_out_of_how_the_rows_curve(monkeypatch) -> None:
    """And minimise an objective of their own: the same as one made afresh."""
    taken, right = [], starts.solve

    def noted(objective, **facts):
        solution = right(objective, **facts)
        sample = facts["sample"]
        fresh = right(objective, **{**facts, "sample": None}).gradient_passes
        taken.append((None if sample is None else len(sample.pairs), solution.gradient_passes, fresh))
        made = PreciseObjective(
            records,
            LOSS,
            regularization=plan.problem.regularization,
            linear=objective.linear,
            centre=objective.centre,
            by_content=True,
        )
        np.testing.assert_array_equal(objective.gradient(solution.weights), made.gradient(solution.weights))
        return solution

    monkeypatch.setattr(starts, "solve", noted)
    records, plan = (
        table(3000),
        planned(records=3000, regularization=1e-3, budget=Budget.from_gdp(dp=5.0, deletion=0.5)),
    )
    learn(records, plan, np.random.default_rng(0))
    assert [pairs is None for pairs, _, _ in taken] == [True, False, False]
    assert all(pairs for pairs, _, _ in taken[1:])
    assert all(passes <= fresh for _, passes, fresh in taken[1:])
    assert sum(passes for _, passes, _ in taken) < sum(fresh for _, _, fresh in taken)


def test_a_table_that_is_mostly_zeros_is_read_sparsely_and_gives_the_same() -> None:
    generator = np.random.default_rng(2)
    rows = np.zeros((600, 400), np.float32)
    for row in rows:
        row[generator.choice(400, 9, replace=False)] = 0.33
    labels = np.where(rows[:, :60].sum(axis=1) > 0.3, 1.0, -1.0)
    facts = {"records": 600, "features": 400, "regularization": 0.05}
    plan = make_plan(
        LOSS, **facts, budget=Budget.from_gdp(dp=1e4, deletion=1e4), method=methods.ObjectivePerturbation(chain=2)
    )
    dense = learn(Records(rows, labels), plan, np.random.default_rng(0)).weights
    assert starts.to_sparse_records(Records(rows, labels)).sparse is not None
    assert starts.to_sparse_records(Records(np.full((600, 400), 0.01, np.float32), labels)).sparse is None
    from scipy.sparse import csr_array

    thin = learn(Records(csr_array(rows), labels), plan, np.random.default_rng(0)).weights
    np.testing.assert_allclose(dense, thin, atol=1e-4 * np.abs(thin).max())


# -- where the planner takes it


def test_advice_takes_a_chain_where_the_noise_raised_the_ridge_and_one_row_bends_little() -> None:
    facts = {"records": 26_000, "adjacency": "zero-out"}
    budget = Budget.from_epsilon_delta(dp=(1.0, 1e-5), deletion=(0.1, 1e-5))
    wide = advise(losses.Logistic(1.0), features=1373, budget=budget, **facts)
    plan = make_advised_plan(wide, None)
    assert (plan.method.chain, plan.problem.loss.constants.lipschitz) == (3, 0.6)
    assert wide.list_options()["chain"] == 3
    assert wide.list_options()["clip"] == 0.6
    assert "chain 3, clip 0.6" in wide.summarize()
    assert plan.calibration.linear_term * plan.mechanism.ratios()[0] <= 0.25 * 0.6
    assert budget.affords(plan.dp)
    narrow = advise(losses.Logistic(1.0), features=108, budget=budget, **facts)
    assert make_advised_plan(narrow, None).method.chain == 1  # κ would be above 1/4
    fixed = advise(losses.Logistic(1.0), features=1373, budget=budget, regularization=5e-4, **facts)
    assert make_advised_plan(fixed, None).method.chain == 1  # λ was given, and stays what it is
    several = advise(losses.Softmax(1.0, classes=3), features=1373, budget=budget, **facts)
    assert several.chained is None
