"""Small numbers are written in one form, 1e-6 and never 1e-06, in what is said of budgets, plans and stores.

A signed certificate and the reasons a method gives for its plan are not looked at: sentences that were signed stay as they were.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from noisygd_delete import Budget, EditRequest, losses, make_plan
from noisygd_delete.accountant import Accountant, Event
from noisygd_delete.privacy.budget import Total
from noisygd_delete.privacy.sentences import format_bound, format_number
from noisygd_delete.records import EditCounts
from noisygd_delete.reports import store_report
from noisygd_delete.store import Store
from tests.reports.test_certificate_languages import shown_text
from tests.store.conftest import SCHEMA, name, plan, records

PADDED = re.compile(r"\de[+-]?0\d|\de\+\d")
TINY = 1e-7
BUDGETS = {
    "pairs": Budget.from_epsilon_delta(dp=(1.0, TINY), deletion=(0.1, 1e-9)),
    "small": Budget(order=8, dp=3e-5, deletion=2e-6),
    "Gaussian": Budget.from_gdp(dp=4e-5, deletion=1e-5),
}
PLANS = {
    "noisy-gd": {"regularization": 1e-6, "method": "noisy-gd", "utility": False, "total": Total(9.0, TINY)},
    "output-perturbation": {"regularization": 1e-5, "method": "output-perturbation", "utility": False},
}


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("kind", PLANS)
def test_a_plan_and_its_report(kind: str, budget: str) -> None:
    total = {} if budget == "pairs" else {"total": None}
    asked = PLANS[kind] | (total if "total" in PLANS[kind] else {})
    made = make_plan(losses.Logistic(radius=1.0), records=200_000, features=4, budget=BUDGETS[budget], **asked)
    events = [
        Event("learn", made.calibration.learn_steps, 0, made.mechanism),
        Event("unlearn", made.calibration.delete_steps, 1, made.mechanism, EditCounts(deleted=1)),
    ]
    accountant = Accountant(made, events)
    said = [
        repr(made),
        made.problem.budget.describe(),
        accountant.remaining().allowed,
        shown_text(store_report(plan=made, events=events)),
    ]
    said += [made.problem.total.describe()] if made.problem.total else []
    found = [text[max(0, match.start() - 60) : match.end() + 10] for text in said for match in PADDED.finditer(text)]
    assert found == []
    assert any("e-" in text for text in said), "nothing small was written: this shows nothing"


@pytest.mark.parametrize("command", ["budget", "status", "document"])
def test_what_is_said_of_a_store(command: str, tmp_path: Path, printed) -> None:
    total = Total(900.0, TINY)
    made = plan(budget=BUDGETS["pairs"], total=total, regularization=1e-2)
    with Store.create(tmp_path / "store", records(), SCHEMA, made) as store:
        store.learn()
        store.serve(EditRequest.delete([name(3)]))
    page = tmp_path / "annex.html"
    more = {"document": ["--assessment", str(page), "--model-card", str(tmp_path / "card.html")]}.get(command, [])
    said = printed(command, str(tmp_path / "store"), *more) + "".join(
        shown_text(file.read_text()) for file in tmp_path.glob("*.html")
    )
    assert [said[max(0, match.start() - 60) : match.end() + 10] for match in PADDED.finditer(said)] == []
    assert "1e-7" in said or command == "status"


@pytest.mark.parametrize("number", [1e-6, 1.5e-7, 2e10, 1e-300, 0.25, 100000.0, 123456.0])
def test_both_ways_of_writing_have_one_form(number: float) -> None:
    assert float(format_number(number)) == number
    assert not PADDED.search(format_number(number))
    assert not PADDED.search(format_bound(number))
    assert json.loads(format_number(number)) == number
