"""How many rows may leave: the committed table is what the planner says, and the pages say what the table says."""

from __future__ import annotations

import math
import re

import pytest

from benchmarks import capacity
from noisygd_delete import Plan
from tests.docs.pages import ROOT, cells

RESULT = (ROOT / "benchmarks" / "results" / "capacity.md").read_text()


def table(title: str) -> list[list[str]]:
    rows = cells(RESULT[RESULT.index(f"| {title} |") :].split("\n\n")[0])
    return rows[1:]


def by_hand(plan: Plan, left: int) -> float:
    """Objective perturbation over k rows: F(θ) = Σℓ + nλ/2‖θ‖² + ⟨b, θ⟩ is nλ-strongly convex, so E F − F* ≤ E‖b‖²/(2nλ), and each row's part is
    a k-th of it; τ moves the model after that, against a curvature of at most β/4 + dnλ/k per row."""
    problem = plan.problem
    d, n, ridge = problem.features, problem.records, problem.regularization
    noise = d * plan.calibration.linear_term**2 / (2 * n * ridge) / left
    released = plan.calibration.output_noise**2 / 2 * (0.25 + d * n * ridge / left)
    return noise + released + problem.ridge_cost * n / left


@pytest.mark.parametrize("left", [10_000, 2_000, 100])
def test_the_forecast_of_fewer_rows_is_the_one_made_by_hand(left: int) -> None:
    plan = capacity.plan_of(10_000, 20, 1.0)
    assert capacity.forecast(plan, left) == pytest.approx(by_hand(plan, left), rel=1e-6)  # the grid of the last noise


def test_the_capacity_is_where_the_forecast_passes_the_share() -> None:
    plan = capacity.plan_of(100_000, 20, 8.0)
    left = plan.problem.records - capacity.capacity(plan)
    most = capacity.SHARE * math.log(2)
    assert capacity.forecast(plan, left) <= most < capacity.forecast(plan, left - 1)
    assert capacity.capacity(capacity.plan_of(1_000, 20, 0.1)) == 0


def test_the_committed_table_is_what_the_planner_says() -> None:
    for slots, *shares in table("slots"):
        size = int(slots.replace(",", ""))
        for epsilon, share in zip(capacity.EPSILONS, shares, strict=True):
            assert share == f"{capacity.capacity(capacity.plan_of(size, capacity.FEATURES, epsilon)) / size:.1%}"


def test_what_was_measured_is_under_the_forecast() -> None:
    rows = table("rows left")
    assert [int(row[0].replace(",", "")) for row in rows] == list(capacity.LEFT)
    for row in rows:
        assert float(row[2]) <= float(row[1])


def test_the_page_says_what_the_table_says() -> None:
    page = re.sub(r"\s+", " ", (ROOT / "docs" / "choosing.md").read_text())
    shares = {row[0]: row[2] for row in table("slots")}
    assert f"{shares['100,000']} of 100,000 rows may leave" in page
    assert shares["10,000"] == "0.0%"
    assert "of 10,000, none" in page
    half = next(row for row in table("rows left") if row[0] == "11,000")
    assert float(half[2]) <= capacity.SHARE * math.log(2) < float(table("rows left")[2][2])
    assert float(half[5][:-1]) < float(half[3][:-1]), "the longest schooled first: sooner"
    assert "half may leave at random" in page
    loose = [float(row[1]) / float(row[2]) for row in table("rows left")[:4]]
    assert 5 < min(loose) < max(loose) < 7
    literature = (ROOT / "docs" / "literature.md").read_text()
    assert "5 to 7 times what was measured" in page
    assert "5 to 7 times the loss measured" in literature
