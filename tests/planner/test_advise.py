"""`advise`: its plan is the one that the line it prints makes, and it says so where nothing good can be had."""

from __future__ import annotations

import json
import math

import pytest

from noisygd_delete import Budget, losses
from noisygd_delete.accountant import Accountant
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods.plan import Plan
from noisygd_delete.planner import advise, make_plan
from noisygd_delete.planner.defaults import (
    PUBLICATIONS,
    default_budget,
    default_delta,
    default_total,
    expected_cost,
    with_total,
)
from tests.cli.planned import main

WIDE = Budget.from_epsilon_delta(dp=(2, 1e-6), deletion=(0.2, 1e-6))
TIGHT = Budget.from_epsilon_delta(dp=(1, 1e-5), deletion=(0.1, 1e-5))
ROOMY = {"records": 26_000, "features": 20, "budget": WIDE}
LOGISTIC = losses.Logistic(1.0)


@pytest.fixture(scope="module")
def advice():
    return advise(LOGISTIC, **ROOMY)


def test_the_options_make_the_plan_that_was_weighed(advice) -> None:
    again = make_plan(LOGISTIC, **ROOMY, **advice.list_options())
    assert (again.calibration.learn_steps, again.calibration.delete_steps) == (
        advice.plan.calibration.learn_steps,
        advice.plan.calibration.delete_steps,
    )
    assert again.calibration.noise_variance == advice.plan.calibration.noise_variance
    assert again.outlook.forecast == pytest.approx(advice.plan.outlook.forecast)


def test_the_chosen_way_is_good_and_no_good_way_deletes_more_cheaply(advice) -> None:
    assert advice.worth_having
    assert advice.remedies == ()
    assert advice.guessing == pytest.approx(math.log(2))
    assert advice.chosen.excess_risk <= math.log(2) / 20
    good = [way for way in advice.comparison.candidates if way.excess_risk <= math.log(2) / 20]
    assert advice.chosen.delete_passes == min(way.delete_passes for way in good)
    assert "noisy-gd" in {way.method for way in advice.comparison.candidates}  # the paper is always in the table


def test_where_nothing_is_worth_having_what_would_do_does() -> None:
    """Each remedy, taken alone, brings the same way under a quarter of what guessing loses; half as much of it does not."""
    poor = advise(LOGISTIC, records=800, features=150, budget=TIGHT)
    assert not poor.worth_having
    more = int(poor.remedies[0].split()[0].removeprefix("n=").replace(",", ""))

    def share(records: int, budget: Budget = TIGHT, features: int = 150) -> float:
        plan = make_plan(LOGISTIC, records=records, features=features, budget=budget, regularization=0.25 / records, ridge="forecast",
                         method=poor.chosen.method)  # fmt: skip
        return (plan.outlook.forecast + plan.problem.ridge_cost) / math.log(2)

    assert share(more) < 0.25 < share(more // 2)
    wider = float(poor.remedies[1].split("ε=")[1].split(",")[0])
    assert share(800, Budget.from_epsilon_delta(dp=(wider, 1e-5), deletion=(wider / 10, 1e-5))) < 0.26
    assert share(800, Budget.from_epsilon_delta(dp=(wider / 2, 1e-5), deletion=(wider / 20, 1e-5))) > 0.25
    fewer = int(poor.remedies[2].split()[0])
    assert share(800, features=fewer) < 0.25 < share(800, features=2 * fewer)
    text = poor.table()
    assert "Nothing here is likely to be worth having" in text
    assert all(remedy in text for remedy in poor.remedies)


@pytest.mark.parametrize(
    ("loss", "records"),
    [
        pytest.param(LOGISTIC, 400, id="two classes"),
        pytest.param(losses.PseudoHuber(1.0), 15_000, id="a number", marks=pytest.mark.slow),
    ],
)
def test_few_rows_get_the_least_size_epsilon_and_number_of_publications(loss: losses.Loss, records: int) -> None:
    """Each of them, taken alone, brings the forecast under a quarter of guessing; half as much does not."""
    facts = {"features": 20, "adjacency": "zero-out"}
    poor = advise(loss, records=records, budget=default_budget(records), **facts)
    assert poor.worth_having
    assert poor.share >= 0.25
    assert all(remedy in poor.summarize() for remedy in poor.remedies) == bool(poor.doubt)
    more = int(poor.remedies[0].split()[0].removeprefix("n=").replace(",", ""))
    epsilon = float(poor.remedies[1].split("ε=")[1].split(",")[0])
    delta = default_delta(records)

    def plan(number: int, epsilon: float) -> Plan:
        budget = Budget.from_epsilon_delta(dp=(epsilon, delta), deletion=(epsilon / 10, delta))
        start = loss.constants.smoothness / number
        options = {"regularization": start, "ridge": "forecast", "method": poor.comparison.chosen.method, **facts}
        return make_plan(loss, records=number, budget=budget, **options)

    def is_good(number: int, epsilon: float) -> bool:
        return expected_cost(plan(number, epsilon)) < poor.guessing / 4

    assert is_good(more, 1.2)
    assert not is_good(more // 2, 1.2)
    assert is_good(records, epsilon)
    assert not is_good(records, epsilon / 2)
    rarer = int(poor.remedies[1].split("leaves ")[1].split()[0])
    capped = with_total(plan(records, epsilon), default_total(poor.comparison.chosen.plan))
    assert Accountant(capped).remaining().publications == rarer < PUBLICATIONS


def test_rows_of_several_classes_feel_a_part_of_a_wide_table() -> None:
    """λ is the one at which the noise of that part costs what its regulariser does, so the forecast is the narrow table's; whether bins are worth
    it is asked of all columns."""
    narrow, wide, broad = (
        advise(losses.Softmax(1.0, classes=5), records=10_000, features=d, budget=WIDE) for d in (40, 160, 8000)
    )
    assert wide.plan.problem.regularization == pytest.approx(narrow.plan.problem.regularization, rel=0.03)
    assert wide.share == pytest.approx(narrow.share, rel=0.03)
    assert wide.undivided_share == pytest.approx(2 * wide.share)
    assert [each.bears_curves("many") for each in (narrow, wide, broad)] == [True, True, False]
    assert [each.bears_curves("few") for each in (narrow, wide, broad)] == [True, True, False]
    target = advise(losses.PseudoHuber(1.0), records=100_000, features=100, budget=WIDE)
    dear = advise(losses.PseudoHuber(1.0), records=10_000, features=100, budget=WIDE)
    assert 2.0 < dear.undivided_share < 3.0
    found = [[each.bears_curves(bins) for bins in ("many", "few", "wide")] for each in (target, dear)]
    assert found == [[False, True, True], [False, False, True]]  # seven levels never paid for targets
    assert broad.worth_having


def test_requests_share_the_budget() -> None:
    shared = advise(LOGISTIC, requests=12, **ROOMY)
    plan = shared.plan
    assert 1 <= shared.chosen.publications <= 12
    assert plan.problem.releases == shared.chosen.publications + 1
    assert plan.problem.batch == math.ceil(12 / shared.chosen.publications)


@pytest.mark.parametrize("name", ["ridge", "target"])
def test_what_advice_chooses_is_not_an_argument(name: str) -> None:
    with pytest.raises(InvalidParameter, match=f"advise chooses {name}"):
        advise(LOGISTIC, **ROOMY, **{name: 1})


def test_a_regression_has_a_public_norm_and_what_guesses_nothing_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="no labels to guess"):
        advise(losses.Linear(1.0), **ROOMY)
    regression = advise(losses.PseudoHuber(1.0, 1.0), **ROOMY)
    assert regression.plan.problem.model_norm == pytest.approx(math.sqrt(20))


def test_the_command_prints_a_line_that_makes_the_same_plan(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--records", "26000", "--features", "20", "--dp", "2", "--deletion", "0.2", "--delta", "1e-6"]
    assert main(["advise", *asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    words = told["plan_command"].split()
    given = words[words.index("--method") : words.index("--out")]
    assert main(["plan", "--records", "26000", "--features", "20", *given, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    (chosen,) = (way for way in told["candidates"] if way["method"] == told["chosen"])
    assert plan["noise_variance"] == chosen["noise_variance"]
    assert main(["advise", *asked]) == 0
    assert told["init"] in capsys.readouterr().out


def test_a_method_or_a_proof_that_is_asked_for_is_the_only_one_weighed(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["advise", "--records", "26000", "--features", "20", "--json"]
    assert main([*asked, "--method", "output-perturbation"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["chosen"] == "output-perturbation"
    assert [way["method"] for way in told["candidates"]] == ["output-perturbation"]
    by_hand = advise(LOGISTIC, proof="by-hand", **ROOMY)
    assert [way.method for way in by_hand.comparison.candidates] == ["noisy-gd", "output-perturbation"]
    with pytest.raises(InvalidParameter, match="rests on a computer-checked step"):
        advise(LOGISTIC, method="objective-perturbation", proof="by-hand", **ROOMY)
    with pytest.raises(InvalidParameter, match="two ways to say"):
        advise(LOGISTIC, requests=5, releases=3, **ROOMY)


def test_a_schema_gives_columns_and_loss(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = tmp_path / "schema.toml"
    schema.write_text(
        'id = "id"\n[label]\ncolumn = "y"\nclasses = ["a", "b", "c"]\n[columns.a]\nboolean = ["no", "yes"]\n'
    )
    asked = ["--records", "50000", "--dp", "4", "--deletion", "0.4", "--delta", "1e-6", "--json"]
    assert main(["advise", "--schema", str(schema), *asked]) == 0
    by_schema = json.loads(capsys.readouterr().out)
    assert main(["advise", "--features", "2", "--loss", "softmax:classes=3", *asked]) == 0
    assert by_schema["candidates"] == json.loads(capsys.readouterr().out)["candidates"]
    assert f"--schema {schema}" in by_schema["init"]
    assert main(["advise", "--records", "5"]) == 2
    assert "give --records, and --features or --schema" in capsys.readouterr().err


def test_a_way_of_hundreds_of_thousands_of_passes_is_not_the_first_one() -> None:
    """A target's small loss left 'noisy-gd' with the least forecast, and 760,000 passes; a solve of two dozen was nearly as good."""
    found = advise(losses.PseudoHuber(1.0, 1.0), records=315_000, features=156, budget=WIDE)
    slow = {way.method for way in found.comparison.candidates if way.learn_passes > 10_000}
    assert "noisy-gd" in slow
    assert found.chosen.learn_passes < 100
    assert found.worth_having
    assert found.caution


@pytest.mark.parametrize(
    ("share", "said"), [(0.00123, "0.12 %"), (0.0451, "4.5 %"), (0.996, "100 %"), (1.2, "more than all")]
)
def test_a_share_is_written_in_digits_up_to_all_of_it(monkeypatch: pytest.MonkeyPatch, share: float, said: str) -> None:
    """Planted: two digits of 99.6 as a power of ten, which a warning said."""
    advice = advise(LOGISTIC, records=900, features=7, budget=WIDE)
    monkeypatch.setattr(type(advice), "share", share)
    assert f" {said} of " in advice.summarize()


def test_a_target_gets_perturbed_solves_in_sequence_where_no_forecast_meets_the_target() -> None:
    """Noisy steps have the smaller forecast, and would be taken by it."""
    asked = {"records": 3000, "features": 10, "budget": WIDE, "adjacency": "zero-out"}
    found = advise(losses.PseudoHuber(1.0), **asked)
    forecasts = {way.method: way.excess_risk for way in found.comparison.candidates}
    assert forecasts["noisy-gd"] < forecasts["objective-perturbation"] / 2
    assert found.list_options()["method"] == "objective-perturbation"
    assert found.list_options()["chain"] == 3
    assert found.plan.dp_observed().with_slack().epsilon(1e-6) <= 2
    kept = advise(losses.PseudoHuber(1.0), **asked, regularization=1e-3)
    assert kept.chained is None


def test_solves_in_sequence_for_a_number_are_worth_having_up_to_a_larger_forecast_than_one() -> None:
    """At (0.5, 1e-6), as on the tables of benchmarks/regression.py."""
    budget = Budget.from_epsilon_delta(dp=(0.5, 1e-6), deletion=(0.5, 1e-6))
    facts = {"features": 24, "budget": budget, "adjacency": "zero-out"}
    several, one = (advise(losses.PseudoHuber(1.0), records=records, **facts) for records in (4_000, 900))
    assert several.chained is not None
    assert 1 < several.share_if_spread < 2
    assert several.worth_having
    assert one.share_if_spread > 1 / 2
    assert not one.worth_having
