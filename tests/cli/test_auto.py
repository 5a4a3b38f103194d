"""`init` with nothing but a table and a schema: what it takes, what it says first, what it refuses; and what is left after each command."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Budget, losses
from noisygd_delete.planner import advise
from noisygd_delete.planner.defaults import PUBLICATIONS, default_budget
from noisygd_delete.privacy.release_dates import DATES
from noisygd_delete.store import Store
from tests.cli.planned import main

SCHEMA = """\
id = "id"
[label]
column = "y"
classes = ["no", "yes"]
[columns.a]
bounds = [-1, 1]
[columns.b]
bounds = [-1, 1]
"""
INIT = ["init", "store", "--data", "people.csv", "--schema", "schema.toml"]


def write(rows: int, *, share: float = 0.5, seed: int = 0) -> None:
    """`yes` where a exceeds b, but for a tenth; of `share` of the rows."""
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-1, 1, (2, rows))
    yes = (a - b > np.quantile(a - b, 1 - share)) ^ (rng.uniform(size=rows) < 0.1)
    lines = [f"p{k},{a[k]:.4f},{b[k]:.4f},{'yes' if yes[k] else 'no'}" for k in range(rows)]
    Path("people.csv").write_text("\n".join(["id,a,b,y", *lines]))
    Path("schema.toml").write_text(SCHEMA)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_defaults_alone_give_a_model_beside_the_one_without_privacy(as_json) -> None:
    write(6_000)
    made = as_json(*INIT, "--map", "columns")
    assert made["slots"] == 6_300  # a twentieth free
    assert made["warning"] is None
    assert "noisy-gd" in {way["method"] for way in made["advice"]["candidates"]}
    chosen = advise(
        losses.Logistic(1.0),
        records=6_300,
        features=3,
        budget=default_budget(6_300),
        one_hot_blocks=(0, 0, 1),
        adjacency="zero-out",
    )
    assert made["advice"]["chosen"] == made["plan"]["method"] == chosen.chosen.method
    assert made["plan"]["regularization"] == chosen.plan.problem.regularization
    assert made["plan"]["budget"]["dp"] == 1.2
    assert made["plan"]["adjacency"] == "zero-out"
    as_json("learn", "store")
    write(1_000, seed=1)
    Path("people.csv").rename("held-out.csv")
    found = as_json("evaluate", "store", "--data", "held-out.csv")
    assert found["accuracy"] > 0.84  # nine in ten are all that can be had; always saying one class gets half


def test_what_is_left_is_said_until_publication_stops_and_erasure_goes_on(capsys, printed, as_json) -> None:
    write(4_000)
    total = as_json(*INIT, "--dp", "2", "--total-epsilon", "4")["plan"]["total"]
    assert (total["epsilon"], total["delta"]) == (4.0, 1e-6)
    as_json("relearn", "store", "--no-total", "--releases", "2", "--dp", "3", "--dry-run")
    left = as_json("learn", "store")["left"]
    status = as_json("status", "store", status=6 if left["publications"] < 4 else 0)
    assert left == status["left"]
    assert 0 < left["spent_epsilon"] <= 4
    assert "of the total (ε=4, δ=1e-6) of all publications" in printed("budget", "store")
    before, number = left["publications"], 0
    while left["publications"]:
        answer = as_json("delete", "store", f"p{number}")
        number, left = number + 1, answer["left"]
        assert answer["status"] == "published"
        assert left["spent_epsilon"] <= 4
    assert number == before
    assert as_json("delete", "store", "p100", status=3)["left"]["publications"] == 0
    assert main(["delete", "store", "p101"]) == 3
    said = capsys.readouterr().out
    assert "no budget for another one: rows are still erased" in said
    assert "--total-epsilon" in said
    with Store.open("store") as store:
        assert not {"p100", "p101"} & set(store.records.ids)
    assert main(["delete", "store", "p103", "--request-id", "late"]) == 3
    assert main(["keygen", "key.pem"]) == 0
    paper = ["certificate", "store", "--request-id", "late", "--key", "key.pem", "--out", "late.json"]
    assert main(paper) == 0
    assert "to-do.total" in {claim["key"] for claim in json.loads(Path("late.json").read_text())["claims"]}
    assert main(["verify-certificate", "late.json", "--public-key", "key.pem.pub"]) == 0
    capsys.readouterr()
    as_json("relearn", "store", "--total-epsilon", "60", "--dp", "30")
    assert as_json("delete", "store", "p102")["status"] == "published"


def test_a_table_too_small_is_refused_with_numbers_and_what_it_proposes_works_as_printed(capsys, as_json) -> None:
    write(12)
    assert main(INIT) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Nothing here is likely to be worth having" in said
    assert "records in place of 13" in said
    assert "even if rows lie spread evenly over the columns" in said
    assert not Path("store").exists()
    named = as_json(*INIT, "--plan", proposed(said))
    assert named["created"]
    assert "better than guessing" in named["warning"]


def proposed(said: str) -> str:
    """The file that a refusal proposes, written by the command that it prints."""
    printed = said.split("To go on all the same ")[1].split(
        " and give the command again with --plan plan.toml", maxsplit=1
    )[0]
    return written(printed)


def written(printed: str) -> str:
    """The file that a printed `plan` writes."""
    words = shlex.split(printed)
    assert main(words[1:]) == 0
    return words[-1]


def asked(*words: str) -> list[str]:
    """A problem in a file, and what says nothing of it, as options of a command."""
    own = list(words[words.index("--slots") :]) if "--slots" in words else []
    problem = [word for word in words if word not in own]
    assert main(["plan", *problem, "--out", "asked.toml"]) == 0
    return [*own, "--plan", "asked.toml"] if problem else own


HOPELESS = {
    "by default": [],
    "a total alone": ["--total-epsilon", "2"],
    "a total and its delta": ["--total-epsilon", "2", "--total-delta", "1e-7"],
    "no total": ["--no-total"],
    "several releases": ["--releases", "3", "--dp", "1"],
    "a number of requests": ["--dp", "1", "--requests", "4", "--period", "365"],
    "a Rényi budget": ["--order", "8", "--dp", "0.1", "--deletion", "0.02"],
    "a Gaussian one": ["--gdp", "--dp", "0.1", "--deletion", "0.025"],
    "by hand": ["--proof", "by-hand"],
    "a norm": ["--model-norm", "3"],
    "λ": ["--regularization", "0.02"],
    "clipped": ["--clip", "0.9"],
    "zero-out": ["--dp", "1", "--adjacency", "zero-out", "--deletion-notion", "pairwise"],
    "double": ["--dtype", "float64", "--slots", "14"],
}


@pytest.mark.parametrize("words", HOPELESS.values(), ids=list(HOPELESS))
def test_whatever_was_asked_a_refusal_proposes_what_is_not_refused(capsys, words: list[str], as_json) -> None:
    write(12)
    before = asked(*words)
    assert main([*INIT, *before]) == 2
    said = capsys.readouterr().err
    assert "Nothing here is likely to be worth having" in said
    made = as_json(*INIT, *before[: before.index("--plan") if "--plan" in before else None], "--plan", proposed(said))
    assert made["created"]
    option = lambda name: words[words.index(name) + 1]  # noqa: E731
    assert made["plan"]["method"] in said
    if "--dp" in words:
        assert made["plan"]["budget"]["dp"] == float(option("--dp"))
    if "--total-epsilon" in words:
        assert made["plan"]["total"]["epsilon"] == 2
        assert made["after_the_learn"]["publications"] >= PUBLICATIONS - 1


ADVISED = {**HOPELESS, "a row norm": ["--radius", "1"], "a batch": ["--batch", "2"]}


@pytest.mark.parametrize(
    ("case", "records"),
    [*((case, 3_000) for case in ADVISED), *((case, 14) for case in ("by default", "a norm", "λ", "clipped"))],
)
def test_the_command_that_advice_ends_with_runs_as_printed(as_json, case: str, records: int) -> None:
    write(12)
    words = [word for word in ADVISED[case] if word not in ("--slots", "14")]
    told = as_json("advise", "--records", str(records), "--schema", "schema.toml", *asked(*words))
    assert main(shlex.split(told["plan_command"])[1:]) == 0
    init = shlex.split(told["init"].replace("STORE", "store").replace("FILE", "people.csv"))
    made = as_json(*init[1:], "--dry-run")
    assert made["plan"]["method"] == told["chosen"]
    assert made["plan"]["budget"]["dp"] == pytest.approx(
        told["budget"]["dp"] if "budget" in told else made["plan"]["budget"]["dp"]
    )
    assert made["plan"]["regularization"] == pytest.approx(told["options"]["regularization"], rel=1e-12)


def test_a_table_that_the_bound_alone_gives_up_is_not_refused() -> None:
    """1,500 rows, 8 columns and a number: forecast 350 % of what guessing loses; with rows spread over the columns a third."""
    budget = Budget.from_epsilon_delta(dp=(2, 1e-6), deletion=(0.2, 1e-6))
    found = advise(losses.PseudoHuber(1.0), records=1_500, features=8, budget=budget, releases=12)
    assert found.share > 3
    assert found.share_if_spread < 1 / 2
    assert found.worth_having
    assert "if rows lie spread evenly over the columns" in found.caution


def test_a_target_has_its_ridge_from_the_columns_and_no_forecast_beyond_all(capsys, as_json) -> None:
    """On curves too, where rows have hundreds of features: 14,444 % of what guessing loses was forecast there."""
    rng = np.random.default_rng(5)
    a, b = rng.uniform(-1, 1, (2, 6000))
    lines = [f"p{k},{a[k]:.4f},{b[k]:.4f},{(a[k] + b[k]) / 2:.4f}" for k in range(6000)]
    Path("people.csv").write_text("\n".join(["id,a,b,y", *lines]))
    Path("schema.toml").write_text(SCHEMA.replace('classes = ["no", "yes"]', "bounds = [-1, 1]"))
    made = as_json(*INIT, "--map", "columns", "--dry-run")
    chosen = advise(
        losses.PseudoHuber(1.0),
        records=6_300,
        features=3,
        budget=default_budget(6_300),
        one_hot_blocks=(0, 0, 1),
        model_norm=3**0.5,
        adjacency="zero-out",
    )
    assert made["plan"]["regularization"] == chosen.plan.problem.regularization
    curved = as_json(*INIT, "--dry-run")
    assert curved["features"] > made["features"]
    told = as_json("advise", "--schema", "schema.toml", "--records", str(made["slots"]))
    assert told["options"]["regularization"] == curved["plan"]["regularization"]
    asked = as_json(*INIT, "--map", "columns", "--dry-run", "--model-norm", "4")
    assert asked["plan"]["regularization"] < made["plan"]["regularization"]
    as_json(*INIT, "--dry-run", "--regularization", "0.01")
    Path("people.csv").write_text("\n".join(["id,a,b,y", *lines[:3000]]))
    assert main([*INIT, "--map", "additive", "--dry-run", "--adjacency", "replace"]) == 2
    refused = capsys.readouterr().err
    assert "to lose more than all of what guessing loses" in refused
    assert "λ=0.0" in refused


def test_between_good_and_hopeless_it_warns_before_anything_is_learned(as_json, printed) -> None:
    write(1_500)
    assert "are forecast to cost" in as_json(*INIT)["warning"]
    assert "no better than always saying the most frequent class" in printed(*INIT[:1], "other", *INIT[2:])


def test_what_is_given_is_honoured_and_what_contradicts_is_refused(capsys, monkeypatch, complaint, as_json) -> None:
    write(3_000)
    dry = [*INIT, "--dry-run"]
    given = as_json(*dry, "--regularization", "0.01", "--dp", "1", "--slots", "3000")
    assert (given["plan"]["regularization"], given["slots"], given["plan"]["budget"]["dp"]) == (0.01, 3000, 1)
    by_hand = as_json(*dry, "--proof", "by-hand")
    assert "objective-perturbation" not in {way["method"] for way in by_hand["advice"]["candidates"]}
    many = as_json(*dry, "--requests", "3", "--period", "365")
    assert many["plan"]["releases"] > 1
    assert as_json(*dry, "--no-total")["plan"]["total"] is None
    for words, why in (
        (["--method", "auto:solver=cold"], "name the method"),
        (["--ridge", "forecast"], "advice chooses λ"),
        (["--requests", "9", "--releases", "3"], "leave --releases out"),
        (["--period", "9"], "--requests N"),
        (["--total-delta", "1e-6"], "needs --total-epsilon"),
        (["--total-epsilon", "3", "--no-total"], "contradict"),
        (["--dp", "2", "--total-epsilon", "1"], "less than the first of them costs"),
        (["--method", "objective-perturbation", "--proof", "nothing"], "invalid choice"),
    ):
        try:
            status = main([*dry, *words])
        except SystemExit as stopped:
            status = stopped.code
        assert status == 2, words
        assert why in capsys.readouterr().err


def test_a_stream_of_requests_is_planned_by_the_method_named_or_by_the_best(as_json, complaint) -> None:
    plan = ["plan", "--records", "20000", "--features", "10", "--delta", "1e-6", "--dp", "4", "--deletion", "0.4"]
    named = as_json(*plan, "--requests", "12", "--method", "noisy-gd")
    assert named["plan"]["method"] == "noisy-gd"
    assert [way["method"] for way in named["candidates"]] == ["noisy-gd"]
    assert named["plan"]["releases"] > 1


def test_a_full_table_names_the_way_to_more_slots(complaint) -> None:
    write(60)
    assert (
        main([*INIT, "--method", "noisy-gd", "--regularization", "0.1", "--slots", "60"])
        == main(["learn", "store"])
        == 0
    )
    Path("new.csv").write_text("id,a,b,y\nq1,0,0,no\nq2,0,0,yes\n")
    assert "relearn STORE --slots 62" in complaint("insert", "store", "--data", "new.csv")
    assert main(["relearn", "store", "--slots", "62"]) == main(["insert", "store", "--data", "new.csv"]) == 0


def test_init_says_how_many_deletions_can_be_published_and_at_what_pace(printed, as_json) -> None:
    write(3_000)
    said = printed(*INIT)
    room = as_json(*INIT[:1], "third", *INIT[2:])["after_the_learn"]["publications"]
    assert room >= PUBLICATIONS - 1
    assert f"room for {room} releases after the learn, {room - DATES} of them with the request" in said
    assert "no cap was set on their sum" in printed(*INIT[:1], "other", *INIT[2:], "--no-total")


def test_the_command_that_serves_a_planned_stream_runs_as_printed(as_json, printed) -> None:
    write(3_000)
    said = printed(*INIT, "--requests", "6", "--period", "365")
    words = shlex.split(said.split("Serve it with: ")[1].splitlines()[0])
    Path("requests.jsonl").write_text(json.dumps({"request_id": "r", "delete": ["p1"]}) + "\n")
    stream = [{"STORE": "store", "FILE": "requests.jsonl"}.get(word, word.rstrip(".")) for word in words]
    as_json("learn", "store")
    assert as_json(*stream)["served"] == 1
