"""A worker killed in the middle of a pass, under the commands themselves: the same model, to the last bit, as if nothing had been.

python -m tests.engines.test_killed_worker MARKS ENGINE      `init` and `learn` in this folder; in each a worker waits to be killed
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from noisygd_delete_sources import source_at
from noisygd_delete_sources.workers import on_spark, table
from noisygd_delete_sources.workers.questions import GradientSum, Longest

from noisygd_delete import Curator, Execution
from noisygd_delete.engine import execution
from noisygd_delete.engine.noise import ResearchNoise
from noisygd_delete.methods.plan import Plan
from noisygd_delete.store import Store, verify
from tests.cli.planned import main
from tests.sources.rows import records_of

from .conftest import OF_TESTS, ROOT, SCHEMA, SCHEMA_FILE, SESSIONS, SLOTS, N, Start, held, plan, skip_without, written
from .held_up import LongestHeldUp, held_up, marked
from .test_commands import PLAN
from .test_engines import executes, psutil, pytestmark

__all__ = ["pytestmark"]

SEED = 3
ENDS = {  # where each file ends; sums of whole chunks of 2,048 rows are those of memory, in its order
    "one file": (0, N),
    "empty files": (0, 2048, 2048, N, N),
    "one long file": (0, N - 70, N - 70, N - 60, N - 59, N),
}


def command(marks: Path, engine: str) -> int:
    passes, asked_before = count(), count()

    def longest(*facts: Any) -> Longest:
        return LongestHeldUp(*facts, mark=str(marks / "init")) if next(asked_before) == 0 else Longest(*facts)

    def gradient(*facts: Any) -> GradientSum:
        question = GradientSum(*facts)
        return held_up(question, marks / "learn") if next(passes) == 1 else question

    table.Longest, table.GradientSum = longest, gradient
    execution.noise_source = lambda *_: ResearchNoise(np.random.default_rng(SEED))  # so that two runs can be compared
    where = ["--source", str(Path("files").absolute()), "--engine", engine, "--schema", "schema.toml"]
    on_spark._SETTINGS |= OF_TESTS
    with SESSIONS[engine]():  # one cluster for both commands
        return main(["init", "store", *where, *PLAN]) or main(["learn", "store"])


def kill(mark: Path) -> None:
    """The worker that waits; of Spark, where one has ended before, the executor with it."""
    process = psutil.Process(marked(mark))
    executor = next((each for each in process.parents() if executes(each)), process)
    victim = executor if mark.name == "learn" else process
    victim.kill()
    psutil.wait_procs([victim], timeout=30)


@pytest.mark.parametrize("engine", ["ray", "spark"])
@pytest.mark.parametrize("files", ENDS)
def test_one_file_empty_files_and_one_long_file_give_the_weights_of_memory(
    engine: str, files: str, short_folder: Path, start: Start
) -> None:
    """To the last bit where files end with a chunk; else as near as the roundings that are charged, the same every time."""
    start(engine)
    folder, made = written(short_folder / "files", ENDS[files]), plan()
    memory, _ = records_of(source_at(str(folder), id="id"), SCHEMA, SLOTS)
    with held(engine, folder) as records:
        partitions = records.rows_in
        found, again = (learned(records, made) for _ in range(2))
    if engine == "ray":
        assert partitions == tuple(last - first for first, last in pairwise(ENDS[files]))
    assert found.tobytes() == again.tobytes()
    near_memory(found, memory, made, equal=files != "one long file")


def near_memory(found: np.ndarray, memory: Any, made: Plan, *, equal: bool) -> None:
    in_memory = learned(memory, made)
    start, output = made.learning.start, made.learning.output_noise
    assert np.linalg.norm(found - in_memory) <= 2 * start.tolerance / made.problem.strong_convexity + output * 2.0**-20
    assert found.tobytes() == in_memory.tobytes() or not equal


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_init_and_learn_go_on_to_the_same_bit(engine: str, short_folder: Path) -> None:
    skip_without(engine)
    written(short_folder / "files", ENDS["empty files"])
    (short_folder / "schema.toml").write_text(SCHEMA_FILE)
    asked = [sys.executable, "-m", "tests.engines.test_killed_worker", str(short_folder), engine]
    with subprocess.Popen(asked, cwd=short_folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as driver:
        for step in ("init", "learn"):
            kill(short_folder / step)
        said, _ = driver.communicate(timeout=240)
    assert driver.returncode == 0, said.decode()
    assert verify(short_folder / "store").passed
    with Store.open(short_folder / "store") as store:
        assert store.ledger.releases == 1
        memory, _ = records_of(source_at(str(short_folder / "files"), id="id"), SCHEMA, SLOTS)
        near_memory(store.model.weights, memory, store.ledger.plan, equal=True)


def learned(records: Any, made: Plan) -> np.ndarray:
    curator = Curator(records, made)
    curator.learn(execution=Execution(rng=np.random.default_rng(SEED)))
    return curator.model.weights


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    warnings.simplefilter("ignore")
    sys.exit(command(Path(sys.argv[1]), sys.argv[2]))
