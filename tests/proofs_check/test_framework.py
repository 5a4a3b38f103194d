"""The checks are under test themselves: a wrong claim, a crash, changed code and a missing name are all red or stale."""

from __future__ import annotations

import json
import math
from types import FunctionType

import pytest

from noisygd_delete.bounds import theorem_5_1
from noisygd_delete.errors import check_count
from proofs_check import __main__ as command
from proofs_check import framework, licences, mutation, table


def registered(check, **options):
    registry: dict[str, framework.Statement] = {}
    defaults = {
        "evidence": (framework.SYMBOLIC,),
        "claim": 2,
        "fault": ("three", 3),
        "scope": "a toy",
        "licenses": ("bounds.theorem_5_1:condition_number",),
    }
    framework.statement("toy", "two is even", registry=registry, **{**defaults, **options})(check)
    return registry["toy"]


def even(claim, effort):
    framework.require(claim % 2 == 0, f"{claim} is odd")
    return framework.Finding("exact")


def test_a_check_that_passes_is_green_and_refuses_its_fault():
    entry = registered(even)
    assert framework.run(entry).status == "green"
    assert framework.notices_fault(entry) == (True, "3 is odd")


def test_a_refuted_claim_is_red():
    row = framework.run(registered(even, claim=5))
    assert (row.status, row.problem) == ("red", "5 is odd")


def test_a_crash_is_red_and_is_not_a_refusal():
    def crash(claim, effort):
        return framework.Finding(str(1 / (claim - 2)))

    assert framework.run(registered(crash)).status == "red"

    def crash_on_fault(claim, effort):
        return framework.Finding(str(1 / (claim - 3)))

    caught, words = framework.notices_fault(registered(crash_on_fault))
    assert not caught
    assert "crashed" in words


def test_a_fault_that_the_check_accepts_is_missed():
    caught, words = framework.notices_fault(registered(even, fault=("four", 4)))
    assert not caught
    assert "accepted" in words


def test_only_an_error_of_the_package_is_a_refusal():
    framework.require_refusal(lambda: check_count("records", 0), "a table without slots")
    with pytest.raises(framework.Refuted, match="a table of one slot: not refused"):
        framework.require_refusal(lambda: check_count("records", 1), "a table of one slot")
    with pytest.raises(ZeroDivisionError):
        framework.require_refusal(lambda: 1 / 0, "a crash")


def test_a_nan_refutes():
    with pytest.raises(framework.Refuted):
        framework.require(math.log(2) * math.nan <= 1, "nan")


def test_what_fails_needs_a_counter_example():
    assert framework.run(registered(even, verdict=framework.FAILS)).status == "red"


def test_the_same_key_twice_is_refused():
    registry: dict[str, framework.Statement] = {}
    options = {"evidence": (), "claim": 2, "fault": ("three", 3), "scope": "", "registry": registry}
    framework.statement("toy", "two is even", **options)(even)
    with pytest.raises(ValueError, match="twice"):
        framework.statement("toy", "two is even", **options)(even)


def test_same_refuses_what_differs():
    framework.same("(x + 1)**2", "x**2 + 2*x + 1", "square")
    with pytest.raises(framework.Refuted, match="square"):
        framework.same("(x + 1)**2", "x**2 + 1", "square")


def test_a_row_is_stale_until_its_source_is_accepted(tmp_path, capsys):
    entry, path = registered(even), tmp_path / "licences.json"
    assert [row.status for row in command.check([entry], 1, licences.load(path))] == ["stale"]
    assert command.accept([entry], 1, path) == 0
    assert [row.status for row in command.check([entry], 1, licences.load(path))] == ["green"]
    index = json.loads(path.read_text())
    index["toy"]["bounds.theorem_5_1:condition_number"] = "0" * 16
    assert licences.stale(entry, index) == ["bounds.theorem_5_1:condition_number"]
    assert "--accept" in capsys.readouterr().out


def test_accept_refuses_a_red_row(tmp_path):
    path = tmp_path / "licences.json"
    assert command.accept([registered(even, claim=5)], 1, path) == 1
    assert licences.stale(registered(even), licences.load(path))


def test_a_licence_for_what_does_not_exist_is_red(tmp_path):
    entry = registered(even, licenses=("bounds.theorem_5_1:no_such_function", "no_such_module:f"))
    assert licences.missing(entry) == list(entry.licenses)
    assert [row.status for row in command.check([entry], 1, {})] == ["red"]
    assert command.accept([entry], 1, tmp_path / "licences.json") in (0, 1)
    assert licences.load(tmp_path / "licences.json").get("toy", {}) == {}


def test_an_edit_of_a_licensed_function_turns_its_row_red_and_is_undone():
    def kappa_is_right(claim, effort):
        framework.require(theorem_5_1.condition_number(regularization=2.0, smoothness=4.0) == 3.0, "κ")
        return framework.Finding("exact")

    entry = registered(kappa_is_right)
    assert isinstance(theorem_5_1.condition_number, FunctionType)
    made = list(mutation.edits(theorem_5_1.condition_number))
    assert len(made) >= 2
    assert all(mutation.noticed([entry], theorem_5_1.condition_number, code) for _, code in made)
    assert framework.run(entry).status == "green"


def test_the_table_names_every_row_and_escapes_bars():
    entry = registered(even, fault=("|x|", 3))
    text = table.markdown([framework.run(entry)])
    assert "| toy |" in text
    assert "\\|x\\|" in text
    assert "- **toy**: a toy" in text
