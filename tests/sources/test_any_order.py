"""Which method is for rows that lie elsewhere: it learns, deletes and certifies there, or its refusal says in one sentence what does."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_sources import source_at

from noisygd_delete import Curator, EditRequest, losses, make_plan
from noisygd_delete.errors import AssumptionViolated, InvalidParameter
from noisygd_delete.evidence import verify_certificate
from noisygd_delete.losses import Loss
from noisygd_delete.methods import NoisyGD, external_row_methods
from noisygd_delete.methods.plan import Plan
from noisygd_delete.store import Store

from ..bank import PROBLEMS, RENYI, plan_by
from .conftest import SCHEMA, SLOTS, name
from .tables import in_duckdb, in_parquet
from .test_postgres import exported, paper

SIZES = {"records": SLOTS, "features": SCHEMA.features, "regularization": 0.3}
ROWS_OF = {
    **{
        one: facts for one, facts in PROBLEMS.items() if one != "noisy-gd:analysis=theorem-5-2"
    },  # which no machine runs on so many rows
    "noisy-gd, of a loss that is not convex": {"loss": losses.Sigmoid(1.0), "method": NoisyGD(), "budget": RENYI},
}
ORDER_FREE = {"noisy-gd", "noisy-gd:analysis=paper", "output-perturbation"}
ORDER_FREE |= {"objective-perturbation", "sufficient-statistics"}
OVER_THE_REALS = {"noisy-gd:analysis=composition", "staged", "noisy-gd:analysis=theorem-5-2"}


@cache
def asked(which: str) -> Plan:
    """A row of the bank for the table of this room."""
    loss = losses.Logistic(1.0)
    return make_plan(**{"loss": loss, "utility": False, **ROWS_OF[which], **SIZES})


def advised(error: Exception, loss: Loss) -> list[Plan]:
    """The plans that a refusal names, made as it says."""
    named = re.findall(r"'([a-z-]+)'", str(error).partition("plan with")[2])
    named += re.findall(r"plan with ([a-z-]+:[a-z]+=[a-z]+(?:,[a-z]+=[a-z]+)*)", str(error))
    return [make_plan(loss, **SIZES, utility=False, budget=RENYI, method=each) for each in named]


@pytest.mark.parametrize("which", PROBLEMS)
def test_the_catalogue_says_which_plans_are_taken_for_rows_in_any_order(which: str) -> None:
    plan = plan_by(which)
    told = plan.method.variant_name() in ORDER_FREE and "over the reals" not in which
    if told:
        plan.method.check_any_order(plan.problem, external_row_methods(plan.problem))
        assert plan.method.name == "sufficient-statistics" or not plan.allow_any_order().method.in_place
        return
    with pytest.raises(InvalidParameter, match="lie elsewhere") as refused:
        plan.method.check_any_order(plan.problem, external_row_methods(plan.problem))
    ways = advised(refused.value, plan.problem.loss)
    assert ways or "keep the rows in the store" in str(refused.value)
    for way in ways:
        way.method.check_any_order(way.problem, external_row_methods(way.problem))


def taken(make: Callable[[], Store]) -> tuple[Exception, None] | tuple[None, Store]:
    try:
        return None, make()
    except (InvalidParameter, AssumptionViolated) as error:
        return error, None


def certified(store: Store) -> dict[str, Any]:
    """A deletion's paper, after a learn and an edit."""
    store.learn()
    store.serve(EditRequest.delete([name(3)], request_id="r"))
    found = paper(store)
    assert {check.name for check in verify_certificate(found).checks if not check.passed} == {"signature"}
    return found


@pytest.mark.parametrize("place", ["memory", "mapped file", "DuckDB", "Parquet", "PostgreSQL"])
@pytest.mark.parametrize("which", ROWS_OF)
def test_it_works_or_names_what_does(which: str, place: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    plan, root = asked(which), tmp_path / "store"
    if place in ("memory", "mapped file"):
        rows = exported(tmp_path)
        if place == "memory":
            curator = Curator(rows, plan)
            curator.learn()
            assert curator.delete([name(3)]).status == "published"
            return
        with Store.create(root, rows, SCHEMA, plan) as store:
            keys = {claim["key"] for claim in certified(store)["claims"]}
        assert ("real-arithmetic" in keys) == (
            plan.method.variant_name() in OVER_THE_REALS or "reals" in which or "not convex" in which
        )
        return
    if place == "PostgreSQL":
        facts = {"address": request.getfixturevalue("database"), "table": "people"}
    else:
        facts = {"DuckDB": in_duckdb, "Parquet": in_parquet}[place](tmp_path)
    source = source_at(**facts, id="id")
    refusal, made = taken(lambda: Store.create_over(root, source, SCHEMA, plan))
    if made is None:
        assert not root.exists()
        assert ". " not in str(refusal), "one sentence"
        ways = advised(refusal, plan.problem.loss)
        assert ways or "keep the rows in the store" in str(refusal)
        for way in ways if place == "DuckDB" else ways[:1]:
            with Store.create_over(tmp_path / way.method.name, source, SCHEMA, way) as store:
                assert store.learn().status == "published"
        return
    with made as store:
        if place == "Parquet":  # where no row can be deleted from here
            store.learn()
            with pytest.raises(Exception, match="--erased N"):
                store.serve(EditRequest.delete([name(3)], request_id="r"))
            return
        if place == "PostgreSQL" and plan.mechanism.carries:
            store.table.watch()
        keys = {claim["key"] for claim in certified(store)["claims"]}
    assert not keys & {"real-arithmetic", "gaussian-noise", "rows-in-place"}


def test_there_is_one_to_advise() -> None:
    named = re.findall("'([a-z-]+)'", external_row_methods(asked("objective-perturbation").problem))
    assert {*named} == ORDER_FREE - {
        "noisy-gd:analysis=paper",
        "sufficient-statistics",
    }  # which needs more of a place than rows
