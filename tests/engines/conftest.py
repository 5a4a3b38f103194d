"""One table of people in a folder of Parquet files; one cluster of two workers of each engine for all tests that kill no driver.

`make engines` installs Ray and Spark and runs these; where an engine is missing its tests are skipped, and say so.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from noisygd_delete_sources.factory import open_rows
from noisygd_delete_sources.workers import on_ray, on_spark
from noisygd_delete_sources.workers.table import ClusterRecords

from noisygd_delete import Budget, Schema, losses, make_plan

ROOT = Path(__file__).parents[2]
N, SLOTS, FILES = 4000, 4200, 4
SCHEMA = Schema.from_dict(
    {
        "id": "id",
        "label": {"column": "y", "classes": ["no", "yes"]},
        "columns": {
            "a": {"bounds": [-1, 1]},
            "b": {"bounds": [0, 10]},
            "c": {"categories": ["x", "z"], "unknown": "zero"},
        },
    }
)


def name(k: int) -> str:
    return f"identifier-token-{k:05d}"


def columns(first: int = 0, last: int = N) -> dict[str, list[Any]]:
    rng = np.random.default_rng(0)
    a, b, y = rng.uniform(-1, 1, N), rng.uniform(0, 10, N), rng.integers(0, 2, N)
    part = range(first, last)
    return {
        "id": [name(k) for k in part],
        "a": [float(a[k]) for k in part],
        "b": [float(b[k]) for k in part],
        "c": ["xz"[k % 2] for k in part],
        "y": [("no", "yes")[y[k]] for k in part],
    }


def written(folder: Path, files: int = FILES) -> Path:
    """The people in so many files."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    folder.mkdir(parents=True)
    for part in range(files):
        parquet.write_table(
            pyarrow.table(columns(N * part // files, N * (part + 1) // files)), folder / f"{part:03d}.parquet"
        )
    return folder


def plan(slots: int = SLOTS):
    return make_plan(
        losses.Logistic(1.0),
        records=slots,
        features=SCHEMA.features,
        regularization=0.05,
        budget=Budget(order=4, dp=2.0, deletion=0.5),
        method="objective-perturbation",
        utility=False,
    ).allow_any_order()


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
