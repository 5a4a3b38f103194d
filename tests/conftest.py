"""Public data sets, found once per session; a test that needs an absent one is skipped with the reason."""

from __future__ import annotations

import gc
import gzip
import json
import os
import random
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

if (
    "PYTEST_XDIST_WORKER" in os.environ
):  # before numpy is there: pools of several workers wait for each other on the same cores
    for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(_name, "1")

import numpy as np
import pytest

from noisygd_delete.features.schema import Encoded, Schema

ROOT = Path(__file__).parents[1]


def data_file(name: str) -> Path:
    """A data file by name: in $NOISYGD_DELETE_DATA, else in shared/data beside the checkout or beside its parents."""
    chosen = os.environ.get("NOISYGD_DELETE_DATA")
    folders = [Path(chosen)] if chosen else [parent / "shared" / "data" for parent in list(ROOT.parents)[:3]]
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    pytest.skip(
        f"{name} is in none of {', '.join(map(str, folders))}; set NOISYGD_DELETE_DATA to the folder that has it"
    )


@pytest.fixture(scope="session")
def adult_file() -> Path:
    """The UCI Adult training table, CSV, gzip."""
    return data_file("adult.csv.gz")


@pytest.fixture(scope="session")
def adult(adult_file: Path) -> Encoded:
    """Adult through examples/schemas/adult.toml: 32,561 unit rows of 108 features, labels −1/+1."""
    return Schema.read(ROOT / "examples" / "schemas" / "adult.toml").encode_file(adult_file)


@pytest.fixture(scope="session")
def mnist() -> tuple[np.ndarray, np.ndarray]:
    """The 10,000 MNIST test images as unit float32 rows (10000, 784), and their digits."""
    folder = data_file("mnist_t10k")
    with gzip.open(folder / "t10k-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float64)
    with gzip.open(folder / "t10k-labels-idx1-ubyte.gz") as file:
        digits = np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)
    rows = pixels / (np.linalg.norm(pixels, axis=1, keepdims=True) * (1 + 2.0**-23))
    return rows.astype(np.float32), digits


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What a command prints on standard output."""
    from tests.cli.planned import main

    def of(*arguments: str, status: int = 0) -> str:
        capsys.readouterr()
        assert main(arguments) == status, (arguments, capsys.readouterr().err)
        return capsys.readouterr().out

    return of


@pytest.fixture
def as_json(printed: Callable[..., str]) -> Callable[..., Any]:
    """What a command answers in JSON."""
    return lambda *arguments, status=0: json.loads(printed(*arguments, "--json", status=status))


@pytest.fixture
def complaint(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What a refused command says: one paragraph on standard error, nothing else, and the exit status expected."""
    from tests.cli.conftest import one_paragraph
    from tests.cli.planned import main

    def of(*arguments: str, status: int = 2) -> str:
        capsys.readouterr()
        assert main(arguments) == status, arguments
        said = capsys.readouterr()
        assert said.out == ""
        return one_paragraph(said.err)

    return of


# Tests of more than a second or two are listed in slow.txt (`python -m tests.slow`) and marked; every test states its processor time in a JUnit report.

_BEGAN = pytest.StashKey[float]()


def processor_seconds() -> float:
    """Of this process, and of the processes that it started and has seen the end of."""
    return sum(os.times()[:4])


def without_case(name: str) -> str:
    """A test's function, from the root of the repository, whatever its parameters."""
    return name.partition("[")[0]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays until the end: it is searched for garbage neither meanwhile nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """At the end all of it goes: DuckDB's library names on the terminal whatever is left of it."""
    gc.unfreeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if seed := config.getoption("--shuffle"):
        drawn = random.Random(seed)
        files = sorted({item.path for item in items})
        drawn.shuffle(files)
        drawn.shuffle(items)
        items.sort(key=lambda item: files.index(item.path))
    slow = set((ROOT / "tests" / "slow.txt").read_text().split())
    for item in items:
        if without_case(item.nodeid) in slow:
            item.add_marker("slow")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[_BEGAN] = processor_seconds()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    if _BEGAN in item.stash:
        item.user_properties.append(("processor seconds", f"{processor_seconds() - item.stash[_BEGAN]:.2f}"))


# `--table=FILE` writes what the tests recorded with `record_property("evidence", ...)`: the table of the long suite.


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffle", metavar="SEED", help="run the files, and the tests of each, in an order drawn with this seed"
    )
    parser.addoption("--table", metavar="FILE", help="write the evidence that tests recorded as a Markdown table")


_TITLES = {
    "long-suite": ("Long statistical suite", "Made by `make long`. Each test states its own false-alarm rate."),
    "desk-to-registry": (
        "From a privacy desk to a model registry, killed on the way",
        "Made by `make desk-to-registry`: a client like Fides, rows in PostgreSQL, releases in MLflow, signed webhooks. The service is killed with\n"
        "SIGKILL at instants drawn up to three seconds after it started; the receiver of messages answers 503 one time in ten.",
    ),
}
_EVIDENCE: list[tuple[str, str, str]] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call":
        for name, value in report.user_properties:
            if name == "evidence":
                _EVIDENCE.append((report.nodeid.removeprefix("tests/"), report.outcome, str(value)))


def pytest_sessionfinish(session: pytest.Session) -> None:
    target = session.config.getoption("--table")
    if target and not hasattr(session.config, "workerinput"):
        rows = "\n".join(f"| `{test}` | {outcome} | {value} |" for test, outcome, value in sorted(_EVIDENCE))
        title, made = _TITLES.get(Path(target).stem, ("What tests recorded", "By `pytest --table`."))
        Path(target).write_text(f"# {title}\n\n{made}\n\n| test | outcome | evidence |\n|---|---|---|\n{rows}\n")
