"""Partitions held by executors of Spark: one job reads, encodes and keeps them, and every pass is one more job on what was kept.

* Spark's own reader reads the files; what an executor keeps and loses is read again by Spark's lineage, and the digest of its rows
  tells the driver whether they are the same.
* Answers are results of actions. Accumulators count a row again each time that it is read again.
* What is asked is broadcast, and the broadcast destroyed after the pass. Whatever Spark writes to a disk is encrypted, and so is what
  crosses the network; there is no event log and no page.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidParameter, MissingDependency, NoisyGDDeleteError, ProcessLost, SourceError
from ..schema import Schema
from . import files
from .partition import Encoder, Partition
from .questions import Answer, PartitionQuestion, answer
from .table import ClusterRecords

if TYPE_CHECKING:
    import pyarrow

_PIECE = 1 << 22  # bytes of rows in one value
_LOST = "the cluster does not answer; nothing was published, and an accepted request is finished by the next command"
_OTHER_PYTHON = (
    "the Python of Spark's executors lacks this package, or one that it needs; install the same version there, or let PYSPARK_PYTHON name the "
    "interpreter that has it before the session is started"
)
_LEVEL = "MEMORY_AND_DISK"
_KEPT = "kind string, content binary"
_NEEDED = {  # of a session that somebody else has started, too
    "spark.io.encryption.enabled": "true",
    "spark.eventLog.enabled": "false",
}
_SETTINGS = {
    **_NEEDED,
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.speculation": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.task.maxFailures": "16",
    "spark.sql.adaptive.enabled": "false",
}


class SparkCluster:
    """Executors that hold the partitions, as Spark cuts the files."""

    def __init__(self, session: Any, encoder: Encoder, paths: list[str]) -> None:
        from pyspark import StorageLevel

        self._context = session.sparkContext
        read = session.read.parquet(*paths)
        missing = next((name for name in encoder.columns if name not in read.columns), None)
        if missing is not None:
            raise SourceError(f"{encoder.address}: no column {missing!r}; correct the schema or the files")
        encoded = read.select(*(f"`{name.replace('`', '``')}`" for name in encoder.columns)).mapInArrow(
            _encoding(encoder), _KEPT
        )
        self._kept = encoded.rdd.map(_pair).persist(getattr(StorageLevel, _LEVEL))
        self.partitions = self._kept.getNumPartitions()

    def ask(self, question: PartitionQuestion) -> list[Answer]:
        asked = self._context.broadcast(question)
        try:
            answers: list[Answer] = self._kept.mapPartitionsWithIndex(_answering(asked)).collect()
        except Exception as error:  # of py4j, of sockets, of Spark: its words may quote what it worked on
            if "ModuleNotFoundError" in str(error):
                raise MissingDependency(_OTHER_PYTHON) from None
            raise ProcessLost(_LOST) from None
        finally:
            asked.unpersist(blocking=True)
            asked.destroy(blocking=True)
        return answers

    def let_go(self) -> None:
        """Every row that the workers hold."""
        self._kept.unpersist(blocking=True)


def _pair(row: Any) -> tuple[str, bytes]:
    """As Python pickles it: bytes as they are."""
    return row[0], bytes(row[1])


def _encoding(encoder: Encoder) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """From a partition's batches to what is kept of it."""

    def encode(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        for kind, content in kept(encoder, batches):
            yield pyarrow.record_batch({"kind": [kind], "content": pyarrow.array([content], pyarrow.binary())})

    return encode


def kept(encoder: Encoder, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[tuple[str, bytes]]:
    """A partition as pieces: its facts, then its labels, then its rows; or the fault for which it has none."""
    try:
        held = Partition.of(0, encoder.encoded(batches))
    except NoisyGDDeleteError as error:
        yield "fault", json.dumps([type(error).__name__, str(error)]).encode()
        return
    facts = {"digest": held.digest.hex(), "clipped": held.clipped, "unknown": held.unknown, "width": held.rows.shape[1]}
    yield "facts", json.dumps(facts).encode()
    for kind, numbers in (("labels", held.labels), ("rows", held.rows)):
        view = np.ascontiguousarray(numbers).reshape(-1).view(np.uint8).data
        for at in range(0, len(view), _PIECE):
            yield kind, bytes(view[at : at + _PIECE])


def _answering(asked: Any) -> Callable[[int, Iterator[Any]], Iterator[Answer]]:
    """What a partition answers to the question that was broadcast."""

    def answers(number: int, pieces: Iterator[Any]) -> Iterator[Answer]:
        yield answer(asked.value, number, lambda: _partition(number, pieces))

    return answers


def _partition(number: int, pieces: Iterable[tuple[str, bytes]]) -> Partition:
    """What `kept` was given."""
    from .. import errors

    facts: dict[str, Any] = {}
    numbers: dict[str, bytearray] = {"labels": bytearray(), "rows": bytearray()}
    for kind, content in pieces:
        if kind == "fault":
            name, words = json.loads(content)
            raise getattr(errors, name)(words)
        if kind == "facts":
            facts = json.loads(content)
        else:
            numbers[kind] += content
    return Partition(
        number,
        np.frombuffer(numbers["rows"], np.float32).reshape(-1, facts["width"]),
        np.frombuffer(numbers["labels"], np.float64),
        bytes.fromhex(facts["digest"]),
        facts["clipped"],
        facts["unknown"],
    )


@contextmanager
def opened(address: str, schema: Schema, slots: int | None) -> Iterator[tuple[ClusterRecords, str]]:
    """The rows of a folder of Parquet files, held by Spark while this is open, and when they were read.

    The session that there is, or a new one by the environment's own settings (spark-defaults.conf, MASTER); else this machine's.

    Raises:
        MissingDependency: Spark or Java is not installed. SourceError, InvalidSchema, InvalidRecords: the rows are not there, or do
        not fit. InvalidParameter: a session that is there would write rows in clear.
    """
    with _session() as session:
        position, before = files.position(), _listed(session, address)
        encoder = Encoder.for_rows(schema, address)
        cluster = SparkCluster(session, encoder, [path for path, _, _ in before])
        try:
            records = ClusterRecords(cluster, address=address, width=schema.features, slots=slots)
            files.check_unchanged(address, before, _listed(session, address))
            yield records, position
        finally:
            cluster.let_go()


def _listed(session: Any, address: str) -> list[tuple[str, int, int]]:
    """Path, size and time of every Parquet file of a folder, on any file system that this Spark knows."""
    from py4j.protocol import Py4JError

    try:
        folder = session._jvm.org.apache.hadoop.fs.Path(address)
        system = folder.getFileSystem(session._jsc.hadoopConfiguration())
        found = [each for each in system.listStatus(folder) if each.isFile()]
        files_there = [(each.getPath().toString(), each.getLen(), each.getModificationTime()) for each in found]
    except Py4JError as error:
        raise SourceError(f"{address}: {type(error).__name__}; is the folder there, and may it be read?") from None
    files_there = sorted(each for each in files_there if each[0].endswith(".parquet"))
    files.check_number(address, len(files_there))
    return files_there


@contextmanager
def _session() -> Iterator[Any]:
    try:
        from pyspark import SparkContext
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingDependency("executors of Spark need it: pip install 'noisygd-delete[spark]'") from error
    if SparkContext._active_spark_context is not None:  # also one that another thread of the caller has started
        there = SparkSession.builder.getOrCreate()
        check_settings(there)
        yield there
        return
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise MissingDependency("Spark needs Java 17 or later (Debian: openjdk-17-jre-headless), and there is none")
    folder = tempfile.mkdtemp(prefix="noisygd-spark-")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    building = SparkSession.builder.appName("noisygd-delete")
    for name, value in {**_SETTINGS, "spark.local.dir": folder, "spark.sql.warehouse.dir": folder}.items():
        building = building.config(name, value)
    master = os.environ.get("MASTER")
    if master is not None:
        building = building.master(master)
    if (master or "").startswith("local-cluster"):
        building = building.config("spark.authenticate.secret", secrets.token_hex(32))
    session = None
    try:
        try:
            session = building.getOrCreate()
        except (PySparkException, OSError, RuntimeError) as error:
            raise InvalidParameter(f"Spark does not start: {type(error).__name__}") from None
        yield session
    finally:
        if session is not None:
            session.stop()
        shutil.rmtree(folder, ignore_errors=True)


def check_settings(session: Any) -> None:
    """Raise `InvalidParameter` where a session that somebody else started would leave rows or iterates behind in clear."""
    settings = session.sparkContext.getConf()
    for name, wanted in _NEEDED.items():
        if settings.get(name, "false") != wanted:
            raise InvalidParameter(
                f"this Spark session has {name} = {settings.get(name, 'false')}: what it writes to disks could hold rows or iterates in "
                f"clear. Start it with {name} = {wanted}"
            )
