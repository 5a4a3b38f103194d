"""Results are named by what they show, by the code that writes them; and that code still fits the package."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.__main__ import MEASUREMENTS
from tests.docs.pages import ROOT, cells

RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.md"))


def writers() -> str:
    places = [ROOT / "Makefile", *(ROOT / "benchmarks").glob("*.py"), *(ROOT / "tests" / "mutation").glob("*.py")]
    return "\n".join(path.read_text() for path in places)


@pytest.mark.parametrize("page", RESULTS, ids=lambda page: page.stem)
def test_a_result_is_written_under_its_name(page: Path) -> None:
    assert not re.search(r"(^|_)[a-z0-9]$", page.stem), "a letter is no name"
    text = writers()
    family = page.stem.partition("_")[0]  # compare_adult, ... are written by one line
    written = any(name in text for name in (f'"{page.stem}"', f'f"{family}_{{', f"results/{page.stem}.md"))
    assert written or f"`make {page.stem}`" in page.read_text()


def test_commands_on_the_results_name_measurements() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    commands = [
        match
        for page in RESULTS
        for match in re.findall(r"python -m benchmarks (\w+)(?: --part (\w+))?", page.read_text())
    ]
    assert len(commands) > 12
    for name, part in commands:
        assert name in MEASUREMENTS
        assert not part or part in import_module(f"benchmarks.{name}").PARTS


def test_every_measurement_still_finds_what_it_imports() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    for name in MEASUREMENTS:
        import_module(f"benchmarks.{name}")


def test_a_way_that_the_planner_has_is_one_that_the_measurements_plan() -> None:
    """One small run of those that plan: a method's option that moved would end it with a traceback."""
    from benchmarks.nonconvex_steps import row
    from benchmarks.speed import _plans, lower_bound
    from noisygd_delete import Records, losses

    assert "1.0000" in lower_bound(1)
    assert len(row(1000, 5, 0.1, 0.1, 0.1)) == 11
    rows = [[0.5, 0.5]] * 300
    assert len(_plans(Records(rows, [1, -1] * 150), losses.Logistic(1.0))) == 5


def test_the_first_page_s_costs_are_those_of_one_committed_run() -> None:
    """Every figure of README's table, by method, is what `python -m benchmarks cost` wrote."""
    rows = cells((ROOT / "benchmarks/results/cost.md").read_text())
    measured = {row[0].strip("`"): row for row in rows if row[0].startswith("`")}
    table = {
        row[0].split("`")[1]: row for row in cells((ROOT / "README.md").read_text()) if len(row) == 6 and "`" in row[0]
    }
    assert table.keys() == measured.keys()
    assert len(table) == 5
    for name, row in table.items():
        for here, there in zip(row[1:5], (measured[name][place] for place in (1, 3, 4, 5)), strict=True):
            assert float(here.strip(" %").replace(",", "")) == float(there.strip(" %").replace(",", "")), name
        assert row[5] == measured[name][8]


def test_the_first_page_s_networks_are_those_of_one_committed_run() -> None:
    rows = cells((ROOT / "benchmarks/results/networks.md").read_text())
    measured = {row[1]: row for row in rows if row[0] == "digits"}
    page = cells((ROOT / "README.md").read_text())
    head = next(place for place, row in enumerate(page) if row[0] == "a torch network on digits")
    for name, accuracy, passes, dp, deletion in page[head + 1 : head + 5]:
        found = measured[name]
        assert (accuracy.replace(" ", ""), passes, dp, deletion) == (found[3].split(" ")[0], *found[4:7])
