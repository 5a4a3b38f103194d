"""Which method is for rows that lie elsewhere: the catalogue says it, and the plans are as it says."""

from __future__ import annotations

import pytest

from noisygd_delete import Budget, losses, make_plan, methods
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.store.sources.reading import require_any_order

CONVEX = ("theorem", "sharp", "sharp-exact", "minimiser", "perturbed", "interleaved")


@pytest.mark.parametrize("name", CONVEX)
def test_the_catalogue_says_which_plans_are_taken_for_rows_in_any_order(name: str) -> None:
    budget = Budget.from_epsilon_delta(dp=(2.0, 1e-6), deletion=(0.5, 1e-6))
    sizes = {"records": 2000, "features": 3, "regularization": 0.1, "utility": False}
    releases = 12 if methods.METHODS[name].for_streams else 1
    plan = make_plan(losses.Logistic(1.0), **sizes, budget=budget, method=name, releases=releases)
    if methods.METHODS[name].any_order:
        require_any_order(plan)
        return
    with pytest.raises(InvalidParameter, match="Plan with method 'sharp-exact' or 'minimiser' or 'perturbed'"):
        require_any_order(plan)


def test_there_is_one_to_advise() -> None:
    assert methods.in_any_order() == ("sharp-exact", "minimiser", "perturbed")
    assert {name for name, kind in methods.METHODS.items() if kind.any_order} <= set(CONVEX), "tried above"
