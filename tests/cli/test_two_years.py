"""A store made with defaults serves a model through 200 single deletions and two years, within the total that it printed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from noisygd_delete.privacy.release_dates import DATES, DAYS_BETWEEN, SPARE
from noisygd_delete.store import Store
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.store.release_schedule import pending_since, reserve
from tests.cli.planned import main

DAY = 86_400.0
Run = Callable[..., Any]


class Clock:
    """The time of schedule and ledger."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.began = self.now = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
        stamp = lambda: datetime.fromtimestamp(self.now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")  # noqa: E731
        for place in ("training_table", "creation"):
            monkeypatch.setattr(f"noisygd_delete.store.{place}.utc_now", stamp)
        monkeypatch.setattr("noisygd_delete.store.release_schedule.time", SimpleNamespace(time=lambda: self.now))

    @property
    def days(self) -> float:
        return (self.now - self.began) / DAY


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


INIT = ["init", "store", "--data", "people.csv", "--schema", "schema.toml"]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of 700 rows and its schema."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    a = rng.uniform(-1, 1, 700)
    lines = [f"p{k},{value:.4f},{'yes' if value > 0 else 'no'}" for k, value in enumerate(a)]
    Path("people.csv").write_text("\n".join(["id,a,y", *lines]))
    schema = 'id = "id"\n[label]\ncolumn = "y"\nclasses = ["no", "yes"]\n[columns.a]\nbounds = [-1, 1]\n'
    Path("schema.toml").write_text(schema)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test that needs it leaves a learned store by defaults and what `init` answered; the others copy them."""
    return tmp_path_factory.mktemp("learned")


@pytest.fixture
def total(table: None, as_json: Run, clock: Clock, learned: Path) -> dict[str, Any]:
    """A learned store by defaults; the total that `init` printed."""
    if not (learned / "init.json").exists():
        made = as_json(*INIT)
        assert made["service"]["kind"] == "calendar"
        as_json("learn", "store")
        shutil.copytree("store", learned / "store")
        (learned / "init.json").write_text(json.dumps(made))
    else:
        shutil.copytree(learned / "store", "store")
    total: dict[str, Any] = json.loads((learned / "init.json").read_text())["plan"]["total"]
    return total


def serves() -> bool:
    with Store.open("store") as store:
        return store.model is not None


def ledger() -> Ledger:
    return Ledger.read(Path("store/ledger.sqlite"))


@pytest.mark.parametrize(
    ("requests", "days_apart"), [(60, 0.0), (200, 730 / 200)], ids=["in one hour", "over two years"]
)
def test_many_single_deletions_leave_a_model_in_service(
    total: dict[str, Any], as_json: Run, clock: Clock, requests: int, days_apart: float
) -> None:
    made, longest, kept = 1, 0.0, reserve(ledger())
    assert kept is not None
    assert kept.at_once >= SPARE
    for number in range(requests):
        clock.now += days_apart * DAY
        answer = as_json("delete", "store", f"p{number}")
        made += answer["status"] == "published"
        since = pending_since(ledger())
        waited = 0.0 if since is None else clock.now - datetime.fromisoformat(since).timestamp()
        longest = max(longest, waited)
        assert answer["status"] in ("published", "pending")
        assert (answer["publishes_on"] is None) == (answer["status"] == "published")
        assert answer["left"]["spent_epsilon"] <= total["epsilon"]
    assert serves()
    assert longest < DAYS_BETWEEN * DAY
    assert made == 1 + (kept.left if days_apart else kept.at_once)


def test_sums_publish_each_of_the_requests_expected_and_any_others_by_date(
    table: None, as_json: Run, clock: Clock
) -> None:
    Path("plan.toml").write_text("requests_per_year = 100\n")
    made = as_json(*INIT, "--map", "columns", "--plan", "plan.toml")
    assert made["service"]["kind"] == "sums"
    as_json("learn", "store")
    spent = made["plan"]["budget"]["dp"]
    statuses = list[str]()
    for number in range(260):  # sixty more than expected
        clock.now += 730 / 260 * DAY
        answer = as_json("delete", "store", f"p{number}")
        statuses.append(answer["status"])
        assert answer["left"]["spent_epsilon"] <= spent
    assert statuses[:200] == ["published"] * 200
    assert serves()
    assert set(statuses) == {"published", "pending"}
    assert main(["verify", "store"]) == 0


@pytest.mark.parametrize("options", ['method = "noisy-gd"', "no_total = true", "total_epsilon = 4.0", "releases = 9"])
def test_a_plan_that_decides_how_requests_are_served_leaves_nothing_to_choose(
    table: None, options: str, as_json: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("plan.toml").write_text(options + "\nrequests_per_year = 100\n")
    assert main([*INIT, "--plan", "plan.toml"]) == 2
    assert "--requests-per-year" in capsys.readouterr().err
    Path("plan.toml").write_text(options + "\n")
    assert as_json(*INIT, "--plan", "plan.toml")["service"] is None


def test_every_answer_names_the_relation(total: dict[str, Any], as_json: Run, printed: Run) -> None:
    assert ledger().plan.problem.adjacency == "zero-out"
    for words in (["delete", "store", "p1"], ["status", "store"], ["budget", "store"]):
        assert as_json(*words)["left"]["adjacency"] == "zero-out"
    quick = 'method = "noisy-gd{}"\nregularization = 0.1\nno_utility = true\n'
    Path("asked.toml").write_text(quick.format("") + 'adjacency = "replace"\n')
    init = ["--data", "people.csv", "--schema", "schema.toml"]
    as_json("init", "other", *init, "--plan", "asked.toml")
    assert as_json("learn", "other")["left"]["adjacency"] == "replace"
    Path("asked.toml").write_text(quick.format(":analysis=paper"))
    as_json("init", "third", *init, "--plan", "asked.toml")
    assert as_json("status", "third")["left"]["adjacency"] == "replace"  # the article's
    assert "(zero-out)" in printed("budget", "store")


def test_the_end_is_announced_three_releases_before_and_comes_with_a_deadline(
    total: dict[str, Any], as_json: Run, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    announced, number = list[int](), 0
    while True:
        number, clock.now = number + 1, clock.now + DAYS_BETWEEN * DAY
        answer = as_json("delete", "store", f"p{number}")
        if answer["status"] == "pending" and answer["left"]["publications"] == 0:
            break
        if answer["nearly_spent"]:
            announced.append(answer["left"]["publications"])
        capsys.readouterr()
        assert main(["status", "store", "--json"]) == (6 if answer["nearly_spent"] else 0)
        capsys.readouterr()
    assert announced == [3, 2, 1, 0]
    assert clock.days > 730
    assert serves()  # no release is left, and the model goes on until the next date
    found = as_json("publish", "store", "--due")
    assert found["publishes_on"] == answer["publishes_on"] is not None
    clock.now += DAYS_BETWEEN * DAY
    assert main(["publish", "store", "--due"]) == 3
    capsys.readouterr()
    with Store.open("store") as store:
        assert store.ledger.head.model is None


def test_a_release_is_made_on_its_date_without_a_request(total: dict[str, Any], as_json: Run, clock: Clock) -> None:
    kept = reserve(ledger())
    assert kept is not None
    assert kept.left - kept.at_once == DATES  # one release for each date of two years
    for number in range(kept.at_once + 3):
        as_json("delete", "store", f"p{number}")
    assert as_json("publish", "store", "--due")["pending_edits"] == 3
    clock.now += DAYS_BETWEEN * DAY
    assert as_json("publish", "store", "--due")["status"] == "published"
    assert as_json("publish", "store", "--due")["pending_edits"] == 0


def test_restrictions_and_their_end_wait_for_a_date_like_deletions(
    total: dict[str, Any], as_json: Run, clock: Clock
) -> None:
    def take_out(number: int) -> dict[str, Any]:
        command = ("object", "restrict")[number % 2]
        where = ["--to", f"{number}.bin", "--archive-key", "archive.key", "--request-id", f"r{number}"]
        answer: dict[str, Any] = as_json(command, "store", f"p{number}", *where)
        return answer

    def put_back(number: int) -> dict[str, Any]:
        where = ["--from", f"{number}.bin", "--archive-key", "archive.key", "--informed", "2026-01-01"]
        answer: dict[str, Any] = as_json("lift", "store", f"r{number}", *where)
        return answer

    kept = reserve(ledger())
    assert kept is not None
    for number in range(kept.at_once):
        answer = take_out(number)
        assert answer["status"] == "published"
    assert answer["left"]["publications"] == DATES
    for answer in (put_back(0), take_out(kept.at_once), take_out(kept.at_once + 1)):
        assert (answer["status"], answer["left"]["publications"]) == ("pending", DATES)
        assert answer["publishes_on"] is not None
    clock.now += DAYS_BETWEEN * DAY
    assert as_json("publish", "store", "--due")["left"]["publications"] == DATES - 1
    assert put_back(kept.at_once)["left"]["publications"] == DATES - 1
    assert serves()
