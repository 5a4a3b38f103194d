"""What a short command loads: modules are counted, for time would depend on the machine."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from noisygd_delete import Budget, EditRequest, Schema
from noisygd_delete.cli import arguments, commands
from noisygd_delete.errors import InvalidSchema, StoreCorrupt
from noisygd_delete.store import Store, status, verify
from tests.store.conftest import made, name

HEAVY = (
    "noisygd_delete_sources.source",
    "numpy",
    "scipy",
    "numba",
    "torch",
    "sklearn",
    "pyarrow",
    "cryptography",
    "jinja2",
    "tqdm",
)
ROOMS = ("engine", "planner", "curator", "audit", "estimators", "features")


@pytest.fixture(scope="module", params=["noisy-gd", "objective-perturbation"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a release and a deletion, whose budget and total are (ε, δ): its figures have to be converted."""
    budget = Budget.from_epsilon_delta(dp=(2.0, 1e-6), deletion=(0.5, 1e-6))
    path = made(
        tmp_path_factory.mktemp("start") / "store",
        method=request.param, budget=budget, regularization=2.0, total=(40.0, 1e-6),
    )  # fmt: skip
    with Store.open(path) as opened:
        opened.serve(EditRequest(deletions=(name(3),), request_id="one"))
    return path


def loaded(*arguments: str) -> tuple[str, list[str]]:
    """(what a command says, the modules that its process has at the end)."""
    code = (
        "import sys\nfrom noisygd_delete.cli import main\n"
        "try:\n    status = main(sys.argv[1:])\nexcept SystemExit as stop:\n    status = stop.code\n"
        "print('MODULES', *sys.modules)\nsys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    said, _, modules = done.stdout.partition("MODULES ")
    return said, modules.split()


def own(modules: list[str]) -> list[str]:
    return [name for name in modules if name.startswith("noisygd_delete")]


def beyond(modules: list[str], *more: str) -> list[str]:
    """What was loaded of the heavy libraries, and of the rooms that only work on records."""
    unwanted = (*HEAVY, *(f"noisygd_delete.{room}" for room in (*ROOMS, *more)))
    return [name for name in modules if name in unwanted or name.startswith(tuple(f"{each}." for each in unwanted))]


def test_status_loads_no_array_and_no_library(store: Path) -> None:
    said, modules = loaded("status", str(store))
    assert "spent so far: ε=" in said
    assert "room for" in said
    assert beyond(modules, "reports") == []
    assert len(own(modules)) <= 82


def test_budget_loads_no_array_and_no_library(store: Path) -> None:
    status, _ = loaded("status", str(store))
    said, modules = loaded("budget", str(store), "--explain")
    assert "publications left" in said
    spent = re.search(r"spent so far: (ε=[\d.]+)", status)
    assert spent is not None
    assert f"as the total counts it, in its one measure: {spent[1]}\n" in said  # one figure for one thing
    assert beyond(modules, "reports") == []


def test_the_register_loads_no_array_and_no_library(store: Path) -> None:
    said, modules = loaded("register", "list", str(store))
    assert "one" in said
    assert beyond(modules) == []


def test_help_and_version_load_no_command() -> None:
    for asked, most in (("--help", 12), ("--version", 12)):
        said, modules = loaded(asked)
        assert "noisygd-delete" in said
        assert beyond(modules, "reports", "store", "accountant", "methods") == []
        assert len(own(modules)) <= most


def test_help_on_a_command_loads_none_of_what_the_command_works_with() -> None:
    """One process asks for the help on every command: what all of them load together is little."""
    code = (
        "import contextlib, io, sys\nfrom noisygd_delete.cli import arguments, main\n"
        "for name in arguments.LINES:\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):\n"
        "        main([name, '--help'])\n"
        "    assert name in said.getvalue()\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    assert "noisygd_delete.cli.publish" in modules
    assert beyond(modules) == []
    assert len(own(modules)) <= 150


def test_a_deletion_loads_what_it_runs_and_no_more(store: Path, tmp_path: Path) -> None:
    """Rows here, a dense table, no map: no planner, no source or engine elsewhere, no map, no library of special functions."""
    copy = tmp_path / "store"
    shutil.copytree(store, copy)
    said, modules = loaded("delete", str(copy), name(5), "--request-id", "two")
    assert "1 record erased" in said
    assert {"numpy", "noisygd_delete.engine"} <= set(modules)
    heavy = ("noisygd_delete_sources.source", "scipy", "numba", "torch", "sklearn", "pyarrow", "pandas", "jinja2")
    rooms = ("planner", "audit", "reports", "features.maps.additive")
    unwanted = (*heavy, *(f"noisygd_delete.{room}" for room in rooms))
    assert [
        name for name in modules if name.startswith(tuple(f"{each}." for each in unwanted)) or name in unwanted
    ] == []
    assert len(own(modules)) <= 138


def test_help_says_of_each_command_what_the_command_says() -> None:
    [whole] = commands.parser()._subparsers._group_actions
    said = {choice.dest: choice.help for choice in whole._choices_actions}
    assert said == arguments.LINES
    assert list(whole.choices) == list(arguments.LINES)
    assert commands.overview().format_help() == commands.parser().format_help()


def test_a_schema_that_cannot_be_read_stops_whoever_reads_rows_by_it(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "store"
    shutil.copytree(store, copy)

    def refuse(*_: object) -> Schema:
        raise InvalidSchema("a key of another program")

    monkeypatch.setattr(Schema, "from_dict", refuse)
    assert any("another program" in fault for fault in verify(copy).faults)
    assert status(copy)["releases"] == 2  # what a store says of itself needs none
    with Store.open(copy) as opened:
        with pytest.raises(StoreCorrupt, match="another program"):
            opened.schema
        assert opened.serve(EditRequest(deletions=(name(7),), request_id="three")).release == 3  # nor does erasing
    (copy / "publishers.json").touch()
    with pytest.raises(StoreCorrupt, match="another program"):  # a model is published by it
        Store.open(copy)
