"""The same release law from every engine, whoever dies on the way, and nothing left in an engine's folders."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from noisygd_delete_sources import source_at
from noisygd_delete_sources.workers.questions import Answer, GradientSum, PartitionQuestion
from noisygd_delete_sources.workers.table import ClusterRecords

from noisygd_delete import Budget, Curator, Execution, Records, learn, losses, make_plan
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.methods import OutputPerturbation
from tests.sources.rows import records_of

from .conftest import FILES, SCHEMA, SLOTS, N, Start, held, name, plan, written
from .held_up import held_up, marked

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # the engines' own, of sockets and of other libraries
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LOSS = losses.Logistic(1.0)
psutil = pytest.importorskip("psutil")


@dataclass
class Table:
    """An open table, and the same in memory; `before` is called with every gradient's number, `turned` makes another question of it, `asked`
    holds what was asked."""

    engine: str
    folder: Path
    records: ClusterRecords
    memory: Records
    before: Callable[[int], None] | None = None
    turned: Callable[[int, GradientSum], PartitionQuestion] | None = None
    asked: list[np.ndarray] = field(default_factory=list)
    answered: list[np.ndarray] = field(default_factory=list)

    def watched(self) -> None:
        cluster = self.records._cluster
        ask = cluster.ask

        def noted(question: PartitionQuestion) -> list[Answer]:
            if isinstance(question, GradientSum):
                if self.before is not None:
                    self.before(len(self.asked))
                self.asked.append(question.weights)
                if self.turned is not None:
                    question = self.turned(len(self.asked) - 1, question)
            answers = list(ask(question))
            self.answered += [each.content for each in answers if isinstance(question, GradientSum)]
            return answers

        cluster.ask = noted

    def release(self, held: ClusterRecords | Records) -> Curator:
        curator = Curator(held, plan())
        curator.learn(execution=Execution(rng=np.random.default_rng(3)))
        return curator

    def workers(self) -> list[int]:
        """Processes that hold partitions, all started by this test."""
        if self.engine == "ray":
            import ray

            return ray.get([each.process.remote() for each in self.records._cluster.holders])
        return [each.pid for each in psutil.Process().children(recursive=True) if executes(each)]


@pytest.fixture(scope="module", params=["ray", "spark"])
def table(request: pytest.FixtureRequest, start: Start) -> Iterator[Table]:
    start(request.param)
    with tempfile.TemporaryDirectory(prefix="people", dir="/tmp") as root:
        folder = written(Path(root) / "files")
        memory, _ = records_of(source_at(str(folder), id="id"), SCHEMA, SLOTS)
        with held(request.param, folder) as records:
            made = Table(request.param, folder, records, memory)
            made.watched()
            yield made


@pytest.fixture(autouse=True)
def fresh(request: pytest.FixtureRequest) -> None:
    if "table" in request.fixturenames:
        made = request.getfixturevalue("table")
        made.before, made.turned, made.asked, made.answered = None, None, [], []


def test_sums_are_those_of_memory_within_the_declared_slack(table: Table) -> None:
    assert table.records.partitions >= 2
    assert (table.records.slots, table.records.rows) == (SLOTS, N)
    ours = PreciseObjective(table.memory, LOSS, regularization=0.05)
    theirs = PreciseObjective(table.records, LOSS, regularization=0.05)
    weights = np.random.default_rng(1).standard_normal(ours.shape)
    bound = ours.gradient_error(float(np.linalg.norm(weights))) + theirs.gradient_error(float(np.linalg.norm(weights)))
    gradients = [theirs.gradient(weights) for _ in range(5)]
    assert len({each.tobytes() for each in gradients}) == 1, "partition after partition, every time"
    assert np.linalg.norm(gradients[0] - ours.gradient(weights)) <= bound < 1e-10
    rows, labels = theirs.strided(50)
    assert rows.shape == (ours.strided(50)[0].shape[0], SCHEMA.features)
    assert len(labels) == len(rows)


def test_the_same_plan_gives_the_same_release_and_the_same_numbers(table: Table) -> None:
    curators = [table.release(held) for held in (table.memory, table.records)]
    ours, theirs = (each.model.weights for each in curators)
    start, output = plan().learning.start, plan().learning.output_noise
    apart = 2 * start.tolerance / plan().problem.strong_convexity + output * 2.0**-20
    assert np.linalg.norm(ours - theirs) <= apart < np.linalg.norm(ours) / 100
    told = [[each.accountant.dp().to_dict(), each.accountant.dp_cumulative().to_dict()] for each in curators]
    assert told[0] == told[1]


@pytest.mark.parametrize(
    "method",
    ["noisy-gd", "noisy-gd:analysis=paper", OutputPerturbation(solver="cold")],
    ids=["noisy-gd", "noisy-gd:analysis=paper", "output-perturbation"],
)
def test_noisy_steps_down_to_the_last_bit_ask_workers_for_sums_alone(table: Table, method: Any) -> None:
    """The same words: as near to a release from memory as the roundings that are charged; the same figures of who is still there."""
    if (table.engine, method) == ("spark", "noisy-gd:analysis=paper"):
        pytest.skip("85 steps of half a second each, which ask nothing that those of sharp do not")
    facts = {"records": SLOTS, "features": SCHEMA.features, "regularization": 0.4, "utility": False}
    asked = make_plan(LOSS, **facts, budget=Budget(order=4, dp=2.0, deletion=0.5), method=method).allow_any_order()
    models = [
        learn(held, asked, execution=Execution(rng=np.random.default_rng(1))).weights
        for held in (table.memory, table.records)
    ]
    mechanism = asked.mechanism
    grid = mechanism.exact.grid(mechanism)
    told = mechanism.interval("deletion", "erased-vs-never", steps_with=0, steps_without=asked.calibration.learn_steps)
    gone = np.sqrt(2 * told.rate) if told.gdp is None else told.gdp  # R_q ≤ q μ²/2
    assert 0 < np.linalg.norm(models[0] - models[1]) + grid <= gone * mechanism.noise_scale + grid


def test_two_killed_workers_change_no_bit_of_a_release(table: Table) -> None:
    whole = table.release(table.records).model.weights
    gradients, table.asked, killed = len(table.asked), [], []

    def kill(number: int) -> None:
        if number == 1:
            victims = [psutil.Process(pid) for pid in table.workers()]
            for victim in victims:
                victim.kill()
            psutil.wait_procs(victims, timeout=30)
            killed.extend(victims)

    table.before = kill
    again = table.release(table.records).model.weights
    assert len(killed) == 2
    assert len(table.asked) == gradients >= 3
    assert again.tobytes() == whole.tobytes()


@pytest.mark.parametrize("victim", ["process", "executor"])
def test_a_worker_killed_in_the_middle_of_a_pass_changes_no_bit_of_a_release(
    table: Table, victim: str, tmp_path: Path
) -> None:
    if victim == "executor" and table.engine == "ray":
        pytest.skip("an actor of Ray is one process")
    whole = table.release(table.records).model.weights
    gradients, table.asked, table.answered = len(table.asked), [], []
    mark, killed = tmp_path / "mark", []

    def kill() -> None:
        process = psutil.Process(marked(mark))
        if victim == "executor":
            process = next(each for each in process.parents() if executes(each))
        killed.append((process.pid, len(table.asked), len(table.answered)))
        process.kill()
        psutil.wait_procs([process], timeout=30)

    table.turned = lambda number, question: held_up(question, mark) if number == 1 else question
    with ThreadPoolExecutor(1) as killer:
        done = killer.submit(kill)
        again = table.release(table.records).model.weights
        done.result()
    ((_, asked, answered),) = killed
    assert (asked, answered) == (2, table.records.partitions), (
        "the second pass was under way, and nothing of it had come"
    )
    assert len(table.asked) == gradients
    assert again.tobytes() == whole.tobytes()


def executes(process: psutil.Process) -> bool:
    """Whether this is an executor of Spark."""
    with contextlib.suppress(psutil.Error):  # it ended meanwhile, or waits to be reaped
        return any("CoarseGrainedExecutorBackend" in word for word in process.cmdline())
    return False


def engine_folders() -> list[Path]:
    """Where the engines of these tests write."""
    found = [*Path("/tmp").glob("noisygd-ray-*"), *Path("/tmp").glob("noisygd-spark-*")]
    if (home := on_spark_home()) is not None:
        found.append(home / "work")
    return found


def on_spark_home() -> Path | None:
    from importlib.util import find_spec

    spec = find_spec("pyspark")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def holding(folders: list[Path], needles: list[bytes]) -> list[Path]:
    """Files that hold one of these, in clear."""
    found = []
    for file in (each for folder in folders for each in folder.rglob("*")):
        try:
            if file.is_file() and any(needle in file.read_bytes() for needle in needles):
                found.append(file)
        except OSError:  # gone in the meantime
            continue
    return found


def needles_of(table: Table) -> list[bytes]:
    """Ids, encoded rows, iterates and what was answered, as bytes."""
    rows = [row.tobytes() for row in table.memory.features[:N:97]]
    return [
        name(17).encode(),
        name(N - 1).encode(),
        *rows,
        *(each.tobytes() for each in table.asked if each.any()),
        *(each.tobytes() for each in table.answered),
    ]


def test_a_release_leaves_no_row_no_id_and_no_iterate_in_the_folders_of_an_engine(table: Table) -> None:
    table.release(table.records)
    needles = needles_of(table)
    assert len(needles) > 2 + N // 97 + FILES
    folders = engine_folders()
    assert holding(folders, needles) == []
    planted = folders[0] / "planted"
    planted.write_bytes(b"x" * 1000 + table.asked[-1].tobytes() + b"x")
    try:
        assert holding(folders, needles) == [planted]
    finally:
        planted.unlink()


def test_accumulators_would_count_rows_twice(table: Table) -> None:
    """The planted fault: sums by accumulator, in a transformation that two actions run. Results of actions count once."""
    if table.engine != "spark":
        pytest.skip("accumulators are Spark's")
    cluster = table.records._cluster
    total = cluster._context.accumulator(0)

    def counting(pieces):
        for kind, content in pieces:
            if kind == "labels":
                total.add(len(content) // 8)
            yield kind

    counted = cluster._kept.mapPartitions(counting)
    counted.count()
    counted.count()
    assert total.value == 2 * N
    assert sum(table.records.rows_in) == N
