"""Which method is for rows that lie elsewhere: the catalogue says it, and the plans are as it says."""

from __future__ import annotations

import pytest

from noisygd_delete import methods
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.store.sources.reading import require_any_order

from ...bank import PROBLEMS, plan_by


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_catalogue_says_which_plans_are_taken_for_rows_in_any_order(name: str) -> None:
    plan = plan_by(name)
    if plan.method.any_order:
        require_any_order(plan)
        return
    with pytest.raises(
        InvalidParameter, match="Plan with method 'theorem' or 'sharp' or 'minimiser' or 'perturbed' or 'interleaved'"
    ):
        require_any_order(plan)


def test_there_is_one_to_advise() -> None:
    assert methods.in_any_order() == ("theorem", "sharp", "minimiser", "perturbed", "interleaved")
