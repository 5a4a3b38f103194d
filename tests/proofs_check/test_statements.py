"""Every statement is there, its check passes, and its planted fault does not. The slow rows run in the long suite."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

from noisygd_delete import bounds
from proofs_check import framework, licences
from proofs_check.statements import REGISTRY

PAPER = {
    "Table 1",
    *[
        "3.1",
        "3.2",
        "4.1",
        "4.2",
        "4.3",
        "4.4",
        "4.5",
        "5.1(1)",
        "5.1(2)",
        "5.1(3)",
        "5.2(1)",
        "5.2(2)",
        "5.2(3)",
        "5.3",
        "B.1",
        "B.2",
        "B.3",
        "B.4",
        "C.1",
        "C.2",
    ],
    *(f"F.{k}" for k in range(1, 7)),
    *(f"G.{k}" for k in range(1, 25)),
}
GUO = ["Guo 1", "Guo 2", "Guo 3(i)", "Guo 3(ii)", "Guo 4", "Guo 5", "Guo C1", "Guo C2"]
FALSE = {"F.3", "F.4", "4.3", "B.4-equal-order", "5.2-saving", "Guo 2", "Guo 3(i)", "DP-SGD, (qTε, qTδ)"}
REPAIRED = {"3.2", "4.1", "5.3", "G.1", "G.8", "5.1-batch", "5.2(2)", "Guo 1", "Guo 3(ii)", "Guo 4"}
REPAIRED |= {"DP sampling", "DP exponential"}
SLOW = {"G.22", "Guo 1", "Guo 3(ii)", "Guo 4", "Guo C1", "Guo C2", "S.softmax", "S.tanh-network", "G.5", "F.1", "G.18"}

FAST = sorted(set(REGISTRY) - SLOW)


def test_every_statement_of_both_papers_has_a_row():
    assert PAPER | set(GUO) <= set(REGISTRY)


def test_the_verdicts_are_the_known_ones():
    assert {key for key, entry in REGISTRY.items() if entry.verdict == framework.FAILS} == FALSE
    assert {key for key, entry in REGISTRY.items() if entry.verdict == framework.REPAIRED} == REPAIRED


@pytest.mark.parametrize("key", FAST)
def test_the_check_passes(key):
    row = framework.run(REGISTRY[key])
    assert row.status == "green", row.problem
    if row.statement.verdict != framework.HOLDS:
        assert row.finding.counterexample


@pytest.mark.parametrize("key", FAST)
def test_the_planted_fault_is_noticed(key):
    caught, words = framework.notices_fault(REGISTRY[key])
    assert caught, words


@pytest.mark.long
@pytest.mark.parametrize("key", sorted(SLOW))
def test_a_slow_row(key):
    assert framework.run(REGISTRY[key]).status == "green"
    assert framework.notices_fault(REGISTRY[key])[0]


@pytest.mark.parametrize("key", sorted(REGISTRY))
def test_the_licensed_code_is_the_accepted_code(key):
    entry = REGISTRY[key]
    assert not licences.missing(entry)
    assert not licences.stale(entry, licences.load()), "run python -m proofs_check --accept"


def test_every_function_of_the_bounds_is_licensed():
    """All but the helpers that round and search, hashed with and tested through their callers, and the rounding of sums,
    which tests/engine/test_float_sensitivity.py and tests/engine/test_solver.py attack."""
    named = {name for entry in REGISTRY.values() for name in entry.licenses}
    licensed = {licences.resolve(name) for name in named}
    unlicensed = set()
    for module in pkgutil.iter_modules(bounds.__path__):
        loaded = importlib.import_module(f"{bounds.__name__}.{module.name}")
        for name, function in inspect.getmembers(loaded, lambda one: callable(one) and not inspect.isclass(one)):
            if (
                module.name not in {"rounding", "search", "arithmetic", "solver_steps"}
                and function.__module__ == loaded.__name__
                and not name.startswith("_")
                and function not in licensed
            ):
                unlicensed.add(f"{module.name}:{name}")
    assert unlicensed == set()


def test_the_committed_table_covers_the_registry():
    text, *_ = (Path(framework.__file__).with_name("RESULTS.md")).read_text().partition("## What is proven in Coq")
    assert re.findall(r"^\| ([^|]+) \|", text, flags=re.M) == ["statement", *REGISTRY]
