"""Budgets and guarantees: each measure with its own numbers and no other's; a sum of figures about other worlds is no figure."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from noisygd_delete import Budget, Guarantee
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.privacy import Worlds
from noisygd_delete.privacy.curves import ONE_DIRECTION, Curve
from noisygd_delete.privacy.sentences import round_up


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"order": None}, "Rényi order"),
        ({"order": 1.0}, "order"),
        ({"measure": "gdp", "order": 10}, "belongs to a Rényi budget"),
        ({"measure": "gdp", "dp_delta": 1e-6}, "belongs to an (ε, δ) budget"),
        ({"order": 10, "deletion_delta": 1e-6}, "belongs to an (ε, δ) budget"),
        ({"measure": "epsilon-delta", "dp_delta": 1e-6}, "delta"),
        ({"measure": "euclid"}, "measure"),
        ({"order": 10, "dp": 0.1, "deletion": 0.2}, "at most that of present records"),
        ({"measure": "gdp", "dp": 0.1, "deletion": 0.2}, "at most that of present records"),
        ({"order": math.nan}, "finite"),
        ({"order": 10, "dp": 0.0}, "dp=0.0 must be > 0"),
        ({"order": 10, "dp": -1.0, "deletion": -2.0}, "must be > 0"),
        ({"order": 10, "dp": math.inf}, "dp"),
        ({"order": 10, "deletion": math.nan}, "deletion"),
    ],
)
def test_a_budget_takes_the_numbers_of_its_measure_alone(fields, said) -> None:
    with pytest.raises(InvalidParameter) as refused:
        Budget(**fields)
    assert said in str(refused.value)


@pytest.mark.parametrize("pair", [1.0, (1.0,), (1.0, 1e-6, 0.0), (1.0, 0.0), (1.0, 1.0), "ab"])
def test_an_epsilon_comes_with_its_delta(pair) -> None:
    with pytest.raises(InvalidParameter):
        Budget.from_epsilon_delta(dp=pair, deletion=(0.1, 1e-6))


def about(worlds: Worlds, **fields) -> Guarantee:
    return Guarantee(about=worlds.about, adjacency=worlds, **fields)


def test_worlds_say_whom_they_are_about_and_a_typo_is_refused() -> None:
    assert [worlds.about for worlds in Worlds] == ["dp", "dp", "deletion", "deletion", "deletion"]
    with pytest.raises(ValueError, match="replase"):
        Worlds("replase")


def test_figures_about_different_worlds_have_no_sum() -> None:
    stays, erased = about(Worlds("replace"), gdp_squared=1.0), about(Worlds("erased-vs-never"), gdp_squared=1.0)
    with pytest.raises(InvalidParameter, match="cannot compose"):
        Guarantee.composed([(stays, 1), (erased, 1)])
    with pytest.raises(InvalidParameter, match="cannot compose"):
        stays + about(Worlds("zero-out"), gdp_squared=1.0)
    with pytest.raises(InvalidParameter, match="nothing to compose"):
        Guarantee.composed([])
    assert Guarantee.composed([(stays, 4)]).gdp == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize(
    "damage", [{"points": 3}, {"points": [4]}, {"assumptions": 5}, {"believed": True}, {"points": [[None, 1.0]]}]
)
def test_a_guarantee_that_cannot_be_read_is_refused(damage) -> None:
    whole = about(Worlds("replace"), gdp_squared=0.5, points=((2.0, 0.1),)).to_dict()
    assert Guarantee.from_dict(whole).to_dict() == whole
    with pytest.raises(InvalidParameter):
        Guarantee.from_dict({**whole, **damage})


def test_a_bound_without_end_stays_without_end_when_rounded() -> None:
    assert round_up(math.inf) == math.inf
    assert math.isnan(round_up(math.nan))
    assert round_up(0.1) == 0.1
    assert round_up(math.nextafter(0.1, 1)) > 0.1


def test_figures_end_at_the_highest_order_where_no_mu_is_known() -> None:
    curve = Curve(rate=0.01, form=ONE_DIRECTION, between_records=True, ratio=0.05)
    known = replace(curve, gdp_squared=0.04)
    for curves, highest in (([curve], 21.0), ([curve, known], 21.0), ([known], math.inf)):
        guarantee = about(Worlds("replace"), curves=tuple((one, 1.0) for one in curves))
        assert guarantee.highest_order == pytest.approx(highest)
        assert guarantee.renyi(20.9) < math.inf
        assert (guarantee.renyi(21.1) < math.inf) == (highest == math.inf)


@pytest.mark.parametrize("spent", [{"gdp_squared": 0.3}, {"rate": 0.2}, {"gdp_squared": 1e-6}, {"gdp_squared": 50.0}])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.4])
def test_an_epsilon_is_implied_from_the_smallest_one_on(spent, delta: float) -> None:
    guarantee = Guarantee("dp", "replace", **spent)
    least = guarantee.epsilon(delta)
    assert guarantee.implies(least * (1 + 1e-9), delta)
    assert not least or not guarantee.implies(least * (1 - 1e-6), delta)
