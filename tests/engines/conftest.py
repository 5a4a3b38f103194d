"""One table of people in a folder of Parquet files; one cluster of two workers of each engine for all tests that kill no driver.

`make engines` installs Ray and Spark and runs these; where an engine is missing its tests are skipped, and say so.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import tomllib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from noisygd_delete_sources.factory import open_rows
from noisygd_delete_sources.workers import on_ray, on_spark
from noisygd_delete_sources.workers.table import ClusterRecords

from noisygd_delete import Schema
from tests.sources import conftest as people

ROOT = Path(__file__).parents[2]
N, SLOTS, FILES = 4000, 4200, 4
SCHEMA_FILE = people.SCHEMA_FILE + 'unknown = "zero"\n'
SCHEMA = Schema.from_dict(tomllib.loads(SCHEMA_FILE))


def name(k: int) -> str:
    return f"identifier-token-{k:05d}"


def table(**more: Any) -> Any:
    """The people in Arrow, with these columns besides."""
    pyarrow = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    a, b, y = rng.uniform(-1, 1, N), rng.uniform(0, 10, N), rng.integers(0, 2, N)
    said = [("no", "yes")[label] for label in y]
    return pyarrow.table({"id": [*map(name, range(N))], "a": a, "b": b, "c": ["x", "z"] * (N // 2), "y": said, **more})


def written(folder: Path, ends: Sequence[int] = range(0, N + 1, N // FILES), **more: Any) -> Path:
    """The people in files that end at these rows."""
    parquet = pytest.importorskip("pyarrow.parquet")
    folder.mkdir(parents=True)
    whole = table(**more)
    for number, (first, last) in enumerate(pairwise(ends)):
        parquet.write_table(whole.slice(first, last - first), folder / f"{number:03d}.parquet")
    return folder


def plan(slots: int = SLOTS):
    return people.plan(SCHEMA, slots, regularization=0.05).allow_any_order()


def skip_without(engine: str) -> None:
    """Skip, with the reason, where an engine is not there."""
    library = {"ray": "ray", "spark": "pyspark"}[engine]
    if not find_spec(library):
        pytest.skip(f"{library} is not installed (make engines)")
    if engine == "spark" and shutil.which("java") is None:
        pytest.skip("Java is not installed (Debian: openjdk-17-jre-headless)")


SESSIONS: dict[str, Callable[[], Any]] = {"ray": on_ray._connect_ray, "spark": on_spark.open_session}
OF_TESTS = {  # each file is a partition, little is started, and packed pages would not be seen by those who look for rows
    "spark.sql.files.openCostInBytes": str(1 << 27),
    "spark.sql.shuffle.partitions": "2",
    "spark.rdd.compress": "false",
    "spark.shuffle.compress": "false",
    "spark.broadcast.compress": "false",
}
Start = Callable[[str], Any]


@pytest.fixture(scope="session")
def start(two_workers: None) -> Iterator[Start]:
    """A function that starts an engine, or skips; it runs until the last test has ended, and every command of this process finds it."""
    there: dict[str, Any] = {}
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_spark, "_SETTINGS", on_spark._SETTINGS | OF_TESTS)

        def started(engine: str) -> Any:
            skip_without(engine)
            if engine not in there:
                there[engine] = stack.enter_context(SESSIONS[engine]())
            return there[engine]

        yield started
        mine = [Path(session.conf.get("spark.local.dir")) for name, session in there.items() if name == "spark"]
        assert all(folder.is_dir() for folder in mine)
    assert not any(folder.exists() for folder in mine), "the folder goes with the session"


@contextmanager
def held(engine: str, folder: Path, slots: int = SLOTS) -> Iterator[ClusterRecords]:
    """The people, held by two workers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the engines' own, of their own libraries
        with open_rows(engine, str(folder), SCHEMA, slots) as (records, *_):
            yield records


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Engines put sockets into their folders, whose names may not be long."""
    with tempfile.TemporaryDirectory(prefix="people", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture(autouse=True, scope="session")
def two_workers() -> Iterator[None]:
    """Settings that the engines read, and that their workers inherit."""
    with pytest.MonkeyPatch.context() as patch:
        paths = [str(ROOT), str(ROOT / "packages" / "sources"), *filter(None, [os.environ.get("PYTHONPATH")])]
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        patch.setenv("MASTER", "local-cluster[2,1,1024]")
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.delenv("RAY_ADDRESS", raising=False)
        yield
