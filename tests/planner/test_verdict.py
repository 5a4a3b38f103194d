"""What a comparison says of its choice is what it did, whatever the forecasts are."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from noisygd_delete.methods.plan import Calibration
from noisygd_delete.planner.comparison import Candidate, Comparison


def way(name: str, risk: float, *, learn: int = 10, delete: int = 10) -> Candidate:
    numbers = Calibration(learn_solver_passes=learn, delete_solver_passes=delete)
    plan: Any = SimpleNamespace(calibration=numbers, problem=SimpleNamespace(regularization=1.0))
    return Candidate(name, plan, 1, risk)


@pytest.mark.parametrize(
    ("ways", "options", "chosen", "said"),
    [
        ([way("a", 0.5), way("b", 0.9)], {"alike": 2}, "a", "least forecast chosen"),
        ([way("a", 0.5), way("b", 0.9, delete=3)], {"alike": 2}, "b", "within 2 times the least$"),
        ([way("a", 0.5), way("b", 1.1, delete=3)], {"alike": 2}, "a", "least forecast chosen"),
        (
            [way("a", 0.2, learn=10**6), way("b", 0.9)],
            {"alike": 2, "patience": 1e5, "hopeless": 1.0},
            "b",
            "learn in at most 100,000 passes",
        ),
    ],
)
def test_where_none_meets_the_target_the_verdict_is_what_was_chosen(
    ways: Any, options: Any, chosen: str, said: str
) -> None:
    found = Comparison(tuple(ways), target=0.01, requests=None, **options)
    assert found.chosen.method == chosen
    assert found._met().startswith("met by none; ")
    assert re.search(said, found._met())
    least = min(one.excess_risk for one in ways)
    assert ("least forecast chosen" in found._met()) == (found.chosen.excess_risk == least)
