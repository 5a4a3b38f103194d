"""A parameter has one range at every door: what one door takes no later one refuses, after somebody was erased."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_compliance.case import RequestCase
from noisygd_delete_compliance.register import Register

from noisygd_delete import Budget, NoisyGDClassifier, losses, make_plan
from noisygd_delete.errors import NoisyGDDeleteError
from noisygd_delete.evidence import erasure_certificate
from noisygd_delete.evidence.facts import Erasure
from noisygd_delete.privacy.budget import Total
from noisygd_delete.records import EditRequest, check_token
from noisygd_delete.store import Store
from noisygd_delete.store.status import budget
from tests.cli.planned import main
from tests.reports.histories import history
from tests.store.conftest import SCHEMA, plan, records

Door = Callable[[Any], Any]


def is_taken(door: Door, value: Any) -> bool:
    """Return whether a door takes a value; a command refuses by its exit status, a function by an error of the package."""
    try:
        answer = door(value)
    except (NoisyGDDeleteError, SystemExit):
        return False
    return not isinstance(answer, int) or answer == 0


# a limit is one of every method
QUICK = ("--method", "noisy-gd", "--regularization", "0.1")


def planned(option: str, *more: str) -> Door:
    return lambda value: main(
        ["plan", "--records", "100", "--features", "3", "--no-utility", f"{option}={value}", *more]
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with Store.create(tmp_path / "store", records(), SCHEMA, plan()) as opened:
        opened.learn()
        opened.serve(EditRequest.delete([opened.records.ids[0]], request_id="one"))
    return tmp_path / "store"


def test_delta(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    made, events, number = history("noisy-gd", 4)
    erasure = Erasure(rows=2, replaced=1, release=number)
    doors: dict[str, Door] = {
        "budget": lambda delta: Budget.from_epsilon_delta(dp=(1.0, delta), deletion=(0.5, delta)),
        "total": lambda delta: Total(8.0, delta),
        "plan": planned("--delta", "--dp", "1", "--deletion", "0.1", "--no-total", *QUICK),
        "plan file": lambda delta: main(["plan", "--delta", str(delta), "--out", str(tmp_path / "plan.toml")]),
        "total of a plan": planned("--total-delta", "--total-epsilon", "1000", *QUICK),
        "certificate": lambda delta: erasure_certificate(erasure, plan=made, events=events, delta=float(delta)),
        "account": lambda delta: budget(store, delta=float(delta)),
        "budget, asked": lambda delta: main(["budget", str(store), f"--delta={delta}"]),
        "letter": lambda delta: main(["certificate", str(store), "--request-id", "one", f"--delta={delta}"]),
    }
    taken = {
        delta: {name for name, door in doors.items() if is_taken(door, delta)}
        for delta in (1e-300, 1e-80, 2.0**-255, 1e-6, 0.01, math.nextafter(0.01, 1), 0.05, 0.5, 0.0, 1.0, math.nan)
    }
    for delta, by in taken.items():
        assert by == (set(doors) if 2.0**-256 <= delta <= 0.01 else set()), delta


@pytest.mark.parametrize("name", ["order", "dp", "deletion", "regularization"])
def test_budget_and_regularization(name: str) -> None:
    """In Python, on the command line, and by an estimator, which refuses in `fit` before a row is read."""

    def arguments(value: float) -> dict[str, float]:
        return {"order": 4.0, "dp": 2.0, "deletion": 0.5, "regularization": 0.1, name: value}

    def made(value: float) -> Any:
        given = arguments(value)
        asked = Budget(order=given["order"], dp=given["dp"], deletion=given["deletion"])
        return make_plan(
            losses.Logistic(1.0), records=100, features=3, budget=asked, regularization=given["regularization"],
            method="noisy-gd", utility=False,
        )  # fmt: skip

    def fitted(value: float) -> Any:
        given = arguments(value)
        asked = Budget(order=given["order"], dp=given["dp"], deletion=given["deletion"])
        model = NoisyGDClassifier(
            budget=asked, regularization=given["regularization"], feature_bounds=(0, 1), method="noisy-gd"
        )
        return model.fit([[0.1], [0.9]] * 40, [0, 1] * 40)

    def commanded(value: float) -> int:
        given = [f"--{key}={number}" for key, number in arguments(value).items()]
        sizes = ["--records", "100", "--features", "3", "--no-utility", "--no-total", "--method", "noisy-gd"]
        return main(["plan", *sizes, *given])

    for value in (math.nan, -1.0, 0.0, math.inf):
        assert {is_taken(door, value) for door in (made, fitted, commanded)} == {False}, value
    assert {
        is_taken(door, {"order": 4.0, "dp": 2.0, "deletion": 0.5, "regularization": 0.1}[name])
        for door in (made, fitted, commanded)
    } == {True}


def test_request_ids(store: Path) -> None:
    """What a store serves its certificate and register can name. The service takes fewer: those that stand in an address as they are."""
    asked = pytest.importorskip("noisygd_delete_server.request_body", reason="noisygd-delete-server is not installed")

    def served(token: str) -> Any:
        with Store.open(store) as opened:
            return opened.dry_run(EditRequest.delete([opened.records.ids[0]], request_id=token))

    def received(token: str) -> Any:
        with Store.open(store) as opened:
            return Register(opened.request_log).receive({token: RequestCase()})

    doors: dict[str, Door] = {
        "request": check_token,
        "store": served,
        "certificate": lambda token: Erasure(rows=1, release=1, request_id=token),
        "register": received,
    }
    for token in (
        "one more",
        "x" * 1000,
        "é",
        "a:b",
        "x" * 1001,
        "",
        " ",
        "a\nb",
        "a\u2028b",
        "\ufffd",
        "a\u200bb",
        "\ud800",
    ):
        by = {name for name, door in doors.items() if is_taken(door, token)}
        assert by in (set(), set(doors)), (token, by)
        body = json.dumps({"request_id": token, "delete": ["a"]}).encode()
        if is_taken(lambda sent: asked.parse_as(asked.RequestBody, sent), body):
            assert by, token
