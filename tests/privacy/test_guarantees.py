"""Random guarantees and curves: parts add up, order comparisons are decided on both sides, and figures are those of the parts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from noisygd_delete import Guarantee
from noisygd_delete.bounds import adaptive, gaussian, stopping
from noisygd_delete.bounds import objective_perturbation as perturbation
from noisygd_delete.bounds.arithmetic import least_safe
from noisygd_delete.bounds.renyi import renyi_epsilon_optimal
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.privacy import curves as curve_module
from noisygd_delete.privacy.budget import Budget, Total
from noisygd_delete.privacy.curves import ONE_DIRECTION, SEVERAL_DIRECTIONS, WEAKLY_CONVEX, Curve, merge_curves
from noisygd_delete.privacy.guarantee import WorstCase
from noisygd_delete.privacy.worlds import NON_ADAPTIVE, Worlds, check_delta

ORDERS = (1.2, 2.0, 3.0, 7.5)
COSTS = {
    (ONE_DIRECTION, False): perturbation.zero_out_hessian,
    (ONE_DIRECTION, True): perturbation.replace_hessian,
    (SEVERAL_DIRECTIONS, False): perturbation.several_zero_out_hessian,
    (SEVERAL_DIRECTIONS, True): perturbation.several_replace_hessian,
}

CURVE = Curve(rate=0.01, form=ONE_DIRECTION, between_records=True, ratio=0.01)


def a_curve(rng: np.random.Generator, **facts: Any) -> Curve:
    drawn = {
        "rate": rng.uniform(0, 0.1), "form": rng.choice([ONE_DIRECTION, SEVERAL_DIRECTIONS]), "between_records": bool(rng.integers(2)),
        "ratio": rng.uniform(0, 0.02), "rows": int(rng.integers(1, 4)), "blocks": int(rng.integers(1, 4)),
        "gdp_squared": rng.choice([None, rng.uniform(0, 0.3)]),
    }  # fmt: skip
    return Curve(**{**drawn, **facts})


def a_guarantee(rng: np.random.Generator, **facts: Any) -> Guarantee:
    points = ((2.0, rng.uniform(0, 0.1)), (8.0, rng.uniform(0.1, 0.5))) if rng.random() < 0.3 else ()
    drawn = {
        "about": "deletion", "adjacency": "erased-vs-never", "gdp_squared": rng.choice([0.0, rng.uniform(0, 0.5)]),
        "rate": rng.choice([0.0, rng.uniform(0, 0.2)]), "points": points, "rows": int(rng.integers(1, 4)),
        "curves": tuple((a_curve(rng), float(rng.integers(1, 4))) for _ in range(rng.integers(0, 3))),
        "source": rng.choice(["", "a", "a + b", "c"]), "assumptions": tuple(rng.choice(["p", "q", NON_ADAPTIVE], rng.integers(0, 3))),
        "proven": bool(rng.integers(2)), "slack": rng.choice([0.0, rng.uniform(0, 0.1)]),
    }  # fmt: skip
    return Guarantee(**{**drawn, **facts})


def renyi(guarantee: Guarantee, q: float) -> float:
    """The curve of a guarantee, part by part."""
    listed = min(
        (cost for order, cost in guarantee.points if order >= q), default=math.inf if guarantee.points else 0.0
    )
    total = q * guarantee.gdp_squared / 2 + q * guarantee.rate + listed
    for curve, times in guarantee.curves:
        cost = COSTS[curve.form, curve.between_records](order=q, ratio=curve.ratio, rows=curve.rows)
        one = q * curve.rate + curve.blocks * cost
        total += times * min(one, math.inf if curve.gdp_squared is None else q * curve.gdp_squared / 2)
    return total


def test_what_is_observed_together_costs_the_sum_and_has_the_weakest_of_all_else() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        one, other, times = a_guarantee(rng), a_guarantee(rng), int(rng.integers(1, 5))
        total = Guarantee.composed([(one, times), (other, 1)])
        assert total == one.times(times) + other
        for q in ORDERS:
            assert one.renyi(q) == pytest.approx(renyi(one, q), rel=1e-9)
            assert total.renyi(q) == pytest.approx(times * one.renyi(q) + other.renyi(q), rel=1e-9)
            assert one.with_slack().renyi(q) == pytest.approx((1 + one.slack) ** 2 * one.renyi(q), rel=1e-9)
        assert one.with_slack().slack == 0
        assert (total.rows, total.slack) == (min(one.rows, other.rows), max(one.slack, other.slack))
        assert total.proven == (one.proven and other.proven)
        assert set(total.source.split(" + ")) - {""} == {*one.source.split(" + "), *other.source.split(" + ")} - {""}
        assert len(total.assumptions) == len(set(total.assumptions))
        assert set(total.assumptions) == {*one.assumptions, *other.assumptions}
        assert total.non_adaptive == (one.non_adaptive or other.non_adaptive)
        assert total.assuming("q").assumptions == ("q", *(text for text in total.assumptions if text != "q"))
        rate = one.gdp_squared / 2 + one.rate + sum(times * curve.rate for curve, times in one.curves)
        assert one.total_rate == pytest.approx(rate)
        known = not one.rate and not one.points and all(curve.gdp_squared is not None for curve, _ in one.curves)
        squares = one.gdp_squared + sum(times * (curve.gdp_squared or 0) for curve, times in one.curves)
        assert one.gdp == (pytest.approx(math.sqrt(squares)) if known else None)
        alone = one.by_gdp
        assert (alone is None) == (one.gdp is None)
        assert alone is None or (alone.gdp == pytest.approx(one.gdp) and alone.renyi(2) == pytest.approx(squares))


MORE: dict[str, dict[str, Any]] = {  # a guarantee that is weaker in one part alone
    "gdp_squared": {"gdp_squared": 0.5 * (1 + 1e-9)}, "rate": {"rate": 0.1 * (1 + 1e-9)},
    "points": {"points": ((2.0, 0.3), (8.0, 0.7))}, "larger order": {"points": ((2.0, 0.3),)},
}  # fmt: skip


@pytest.mark.parametrize("part", MORE)
def test_a_cap_covers_what_is_no_larger_in_any_part(part: str) -> None:
    parts: dict[str, Any] = {"gdp_squared": 0.5} if part == "gdp_squared" else {"gdp_squared": 0.5, "rate": 0.1}
    parts |= {"points": ((2.0, 0.3), (8.0, 0.6))} if part not in ("gdp_squared", "rate") else {}
    cap = Guarantee("dp", "replace", **parts, rows=2)
    assert cap.covers(cap)
    assert cap.covers(replace(cap, rows=3, gdp_squared=0.4))
    assert cap.covers(replace(cap, gdp_squared=0.5 * (1 + 1e-14)))
    assert not cap.covers(replace(cap, **MORE[part]))
    assert not cap.covers(replace(cap, rows=1))
    assert not cap.covers(replace(cap, adjacency="zero-out"))
    assert (cap.gdp is None) == cap.covers(replace(cap, gdp_squared=0.0, rate=min(cap.rate, 0.05) or 1e-9))


def test_a_cap_of_curves_covers_as_many_of_the_same() -> None:
    curve = CURVE
    cap = Guarantee("dp", "replace", curves=((curve, 3.0),), rate=0.1)
    assert cap.covers(replace(cap, curves=((curve, 3.0 * (1 + 1e-14)),)))
    assert cap.covers(replace(cap, curves=(), rate=0.05, gdp_squared=0.1))
    for more in (
        {"curves": ((curve, 4.0),)},
        {"curves": ((replace(curve, ratio=0.005), 1.0),)},
        {"rate": 0.11},
        {"points": ((2.0, 1e-9),)},
    ):
        assert not cap.covers(replace(cap, **more))


def test_the_worst_case_keeps_every_guarantee_that_no_other_bounds_part_by_part() -> None:
    curve = Curve(rate=0.01, form=ONE_DIRECTION, between_records=False, ratio=0.01)
    base = Guarantee(
        "deletion",
        "erased-vs-never",
        gdp_squared=0.5,
        rate=0.1,
        points=((2.0, 0.3),),
        curves=((curve, 2.0),),
        rows=2,
        slack=0.01,
    )
    weaker: list[dict[str, Any]] = [
        {"gdp_squared": 0.6}, {"rate": 0.2}, {"points": ((2.0, 0.4),)}, {"points": ((1.5, 0.3),)}, {"curves": ((curve, 3.0),)},
        {"curves": ((replace(curve, ratio=0.02), 2.0),)}, {"rows": 1}, {"slack": 0.02}, {"assumptions": (NON_ADAPTIVE,)},
    ]  # fmt: skip
    for more in weaker:
        other = replace(base, **more)
        for pair in ((base, other), (other, base)):
            kept = WorstCase.of(pair).cases
            assert other in kept, more
            assert (base in kept) == ("curves" in more and more["curves"][0][0] != curve), more
    assert WorstCase.of([replace(base, points=()), base]).cases == (base,)
    assert WorstCase.of([base, replace(base, rows=5, rate=0.5)]).rows == 2
    other = replace(base, adjacency="ideal-law")
    assert WorstCase.of([base, other]).cases == (base, other)
    assert WorstCase.of([base, other]).adjacency is Worlds.IDEAL_LAW


def test_an_advantage_is_that_of_its_worlds() -> None:
    """Against one law exactly; between two laws near a third one, twice as far by μ, or by Theorem 4.1 at the best order."""
    gaussian_one, rate = {"gdp_squared": 0.25}, {"rate": 0.01}
    for worlds in Worlds:
        exact = Guarantee(worlds.about, worlds, **gaussian_one)
        near = Guarantee(worlds.about, worlds, **rate)
        alone, apart = 2 * norm.cdf(0.25) - 1, 2 * norm.cdf(0.5) - 1
        across = min(adaptive.membership_advantage(order=q, renyi=0.01 * q) for q in 1 + np.geomspace(1e-3, 1e4, 400))
        if worlds is Worlds.IDEAL_LAW:
            assert exact.advantage == pytest.approx(2 * alone)
            assert Guarantee(worlds.about, worlds, rate=50.0).advantage == 1.0
            assert near.advantage == near.advantage_between_records
            assert near.advantage == pytest.approx(min(across, 2 * near.delta(0.0)), rel=1e-3)
            continue
        assert exact.advantage == pytest.approx(alone)
        assert exact.advantage_between_records == pytest.approx(alone if worlds.between_records else apart)
        one = gaussian.rate_advantage(rate=0.01)
        assert near.advantage == pytest.approx(one)
        assert near.advantage_between_records == pytest.approx(
            one if worlds.between_records else min(across, 2 * one), rel=1e-3
        )
        assert Guarantee(worlds.about, worlds, rate=50.0).advantage_between_records == 1.0
        assert worlds.sensitivity(1.5, 3) == (9.0 if worlds.between_records else 4.5)


def test_the_least_delta_is_that_of_the_key_or_of_the_largest_draw() -> None:
    assert Guarantee("dp", "replace").least_delta == 0.0
    assert Guarantee("dp", "replace", points=((2.0, 0.1),)).least_delta == 2.0**-256
    for mu in (1.0, 25.0):
        least = max(2.0**-256, min(1.0, 1e18 * norm.cdf(mu - 36.3)))
        assert Guarantee("dp", "replace", gdp_squared=mu**2).least_delta == pytest.approx(least, rel=1e-6)
        assert Guarantee("dp", "replace", rate=mu**2 / 2).least_delta == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize(
    "fault",
    [
        *({name: value} for name in ("gdp_squared", "rate", "slack") for value in (-1.0, math.nan)),
        *({"rows": value} for value in (0, -1, 1.5)),
        *({"points": ((order, cost),)} for order, cost in ((1.0, 0.1), (2.0, -0.1), (2.0, math.nan))),
        *({"curves": ((CURVE, times),)} for times in (-1.0, math.nan)),
        *({"slack": math.inf}, {"about": "both"}, {"adjacency": "pairwise"}),
    ],
)
def test_a_guarantee_with_nonsense_in_it_is_refused(fault: dict[str, Any]) -> None:
    good = {"about": "dp", "adjacency": "replace", "gdp_squared": 1.0}
    with pytest.raises(InvalidParameter):
        Guarantee(**{**good, **fault})
    if "curves" not in fault:
        with pytest.raises(InvalidParameter):
            Guarantee.from_dict({**Guarantee(**good).to_dict(), **fault})


# --- curves ---


def test_curves_of_negative_curvature_are_of_one_row_and_of_their_own_form() -> None:
    weak = {"rate": 0.1, "form": WEAKLY_CONVEX, "between_records": True, "ratio": 0.01, "below": 0.005}
    curve = Curve(**weak, blocks=3)
    cost = perturbation.weakly_convex_replace_hessian(order=5.0, ratio=0.01, below=0.005)
    assert curve.hessian(5.0) == pytest.approx(3 * cost, rel=1e-12)
    assert curve.highest_order == pytest.approx(1.01 / 0.015)
    for wrong in (
        {"rows": 2}, {"form": ONE_DIRECTION}, {"form": "round"}, {"rate": -1.0}, {"ratio": -0.1}, {"below": -0.1}, {"rows": 0}, {"blocks": 0},
        {"gdp_squared": -1.0}, {"gdp_squared": math.nan},
    ):  # fmt: skip
        with pytest.raises(InvalidParameter):
            Curve(**{**weak, **wrong})


def test_many_curves_are_merged_into_few_that_cost_no_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve_module, "MOST", 8)
    rng = np.random.default_rng(3)
    for known in (True, False):
        drawn = {a_curve(rng, gdp_squared=0.1 if known else None): float(rng.integers(1, 5)) for _ in range(30)}
        few = dict(list(drawn.items())[:8])
        assert merge_curves(few) == few
        merged = merge_curves(drawn)
        assert len(merged) < len(drawn)
        assert sum(merged.values()) == sum(drawn.values())
        for q in ORDERS:
            truth = sum(times * curve.renyi(q) for curve, times in drawn.items())
            assert truth <= sum(times * curve.renyi(q) for curve, times in merged.items()) <= 2 * truth + 1e-9
        assert all((curve.gdp_squared is None) != known for curve in merged)


# --- budgets and totals ---

BUDGETS = {  # a budget, the largest μ within its part for present and for erased records, and its phrase
    "renyi": (
        Budget(order=8, dp=1.0, deletion=0.1),
        (0.5, math.sqrt(0.025)),
        "(q=8, ε_dp=1) and (q=8, ε_dd=0.1) Rényi",
    ),
    "gdp": (Budget.from_gdp(dp=1.0, deletion=0.25), (1.0, 0.25), "μ_dp=1 and μ_dd=0.25 Gaussian DP"),
    "pairs": (
        Budget.from_epsilon_delta(dp=(1.0, 1e-6), deletion=(0.1, 1e-5)),
        (gaussian.gdp_for(epsilon=1.0, delta=1e-6), gaussian.gdp_for(epsilon=0.1, delta=1e-5)),
        "(ε=1, δ=1e-6) for present records and (ε=0.1, δ=1e-5) for erased ones",
    ),
}


@pytest.mark.parametrize("measure", BUDGETS)
def test_a_budget_affords_what_is_within_its_own_measure_and_no_more(measure: str) -> None:
    budget, (present, erased), described = BUDGETS[measure]
    assert (budget.dp_gdp(), budget.deletion_gdp()) == pytest.approx((present, erased), rel=1e-12)
    for about, worlds, most in (("dp", "replace", present), ("deletion", "pairwise", erased)):
        for share, inside in ((1 + 1e-14, True), (1 + 1e-6, False)):
            assert budget.affords(Guarantee(about, worlds, gdp_squared=(most * share) ** 2)) == inside
        if measure == "gdp":
            assert not budget.affords(Guarantee(about, worlds, rate=1e-9))
            with pytest.raises(InvalidParameter, match="tight"):
                budget.dp_rate()
            continue
        rate, order = budget.dp_rate() if about == "dp" else budget.deletion_rate()
        assert budget.affords(Guarantee(about, worlds, rate=rate * (1 - 1e-9)))
        assert not budget.affords(Guarantee(about, worlds, rate=rate * 1.05))
        assert order == budget.order or measure == "pairs"
    assert budget.shown_delta == 1e-6
    assert budget.describe() == described
    assert replace(budget, deletion=budget.dp, deletion_delta=budget.dp_delta)
    with pytest.raises(InvalidParameter, match="at most that of present records"):
        replace(budget, deletion=budget.dp * (1 + 1e-6), deletion_delta=budget.dp_delta)


def test_a_total_counts_in_the_measure_that_was_fixed_with_it() -> None:
    both = Guarantee("dp", "replace", gdp_squared=0.25, slack=0.02)
    rate, listed = Guarantee("dp", "replace", rate=0.02), Guarantee("dp", "replace", points=((2.0, 0.05), (30.0, 1.0)))
    free = Total(3.0, 1e-6)
    assert (free.measure, free.is_filter, free.stopping_epsilon(1e-6)) == (None, False, None)
    mu = free.measured_for(both)
    assert (mu.gdp, mu.order, mu.is_filter) == (True, None, True)
    assert mu.spent(both) == gaussian.gdp_epsilon(mu=0.5 * 1.02, delta=1e-6)
    assert mu.spent(rate) == math.inf
    assert not replace(mu, late=True).is_filter
    assert free.measured_for(listed).order == 30.0
    fixed = free.measured_for(rate)
    assert fixed.order is not None
    assert fixed.spent(rate) <= min(replace(fixed, order=fixed.order * k).spent(rate) for k in (0.8, 0.95, 1.05, 1.3))
    for total, spent in ((mu, both), (fixed, rate), (free, rate)):
        cost = total.spent(spent)
        assert replace(total, epsilon=cost).affords(spent)
        assert not replace(total, epsilon=cost * (1 - 1e-9)).affords(spent)
    for total, one, many in ((mu, 1, 50), (fixed, 1, 50)):
        assert 0 < total.stopping_epsilon(1e-6, candidates=one) < total.stopping_epsilon(1e-6, candidates=many)
    # odds are of the most that is afforded, the tolerance of that included
    most = gaussian.gdp_for(epsilon=3.0 * (1 + 5e-13), delta=1e-6)
    assert mu.affords(Guarantee("dp", "replace", gdp_squared=most**2))
    assert mu.stopping_epsilon(1e-6) > stopping.gdp_stopping_epsilon(mu=most, delta=1e-6)
    ends = {"order": fixed.order, "delta": 1e-6}
    cap = least_safe(lambda cost: renyi_epsilon_optimal(renyi=cost, **ends) > 3.0 * (1 + 5e-13), guess=1.0, below=0.0)
    assert fixed.stopping_epsilon(1e-6) > stopping.renyi_stopping_epsilon(renyi=cap, **ends)
    assert free.to_dict() == {"epsilon": 3.0, "delta": 1e-6}
    assert fixed.to_dict() == {"epsilon": 3.0, "delta": 1e-6, "order": fixed.order}
    assert Total.of((3.0, 1e-6)) == free == Total.of(free)
    assert Total.of(None) is None
    for wrong in (3.0, (3.0,), "ab", (0.0, 1e-6), (3.0, 0.5), (3.0, 1e-6, True, 8.0), (3.0, 1e-6, False, 1.0)):
        with pytest.raises(InvalidParameter):
            Total(*wrong) if isinstance(wrong, tuple) and len(wrong) > 2 else Total.of(wrong)


def test_a_delta_lies_between_the_guess_of_a_key_and_a_hundredth_the_ends_included() -> None:
    for end, outside in ((0.01, 1), (2.0**-256, 0)):
        assert check_delta("delta", end) == end
        with pytest.raises(InvalidParameter, match="delta"):
            check_delta("delta", math.nextafter(end, outside))
