"""Partitions held by Spark executors: one job reads, encodes and keeps them, and every pass is one further job.

* Spark's own reader reads the files. A lost partition is recomputed by Spark's lineage, and the digest of its rows
  shows the driver whether they are the same.
* Answers are results of actions: accumulators would count a row again each time it is recomputed.
* Questions are broadcast, and destroyed after the pass. Everything that Spark writes to disk or sends over the network
  is encrypted; there is no event log and no web UI.

The Spark session is the caller's, if it writes nothing unencrypted, or one created here that leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from noisygd_delete.errors import InvalidParameter, MissingDependency, NoisyGDDeleteError, ProcessLost, SourceError
from noisygd_delete.features.schema import Schema
from noisygd_delete.records import CodedRows, LeftOut

from .. import parquet_files as files
from ..duckdb_tables import ROWS
from .questions import Answer, Encoder, Partition, PartitionQuestion, answer, fault_of
from .table import ClusterRecords

if TYPE_CHECKING:
    import pyarrow

_PIECE = 1 << 22  # most bytes of rows in one value
_LOST = "the cluster does not answer; nothing was published, and an accepted request is finished by the next command"
_OTHER_PYTHON = (
    "the Python of Spark's executors lacks this package, or one that it needs; install the same version there, or let PYSPARK_PYTHON name the "
    "interpreter that has it before the session is started"
)
_LEVEL = "MEMORY_AND_DISK"
_RANK = "noisygd_delete_rank"
_BY_OTHERS = {"Window", "GlobalLimit", "LocalLimit", "Sample"}  # nodes of a query plan
_KEPT = "kind string, content binary"


class SparkCluster:
    """Executors that hold the partitions, as Spark splits the files."""

    def __init__(
        self, session: Any, encoder: Encoder, paths: list[str], *, merged: bool, selection: files.Selection | None
    ) -> None:
        from pyspark import StorageLevel

        self._context, self._encoder = session.sparkContext, encoder
        with _translate_errors(encoder.address):
            read = session.newSession().read.option("mergeSchema", str(merged).lower()).parquet(*paths)
            read, self.left_out = (read, LeftOut()) if selection is None else _rows(read, selection, encoder.address)
        missing = next((name for name in encoder.columns if name not in read.columns), None)
        if missing is not None:
            raise SourceError(f"{encoder.address}: no column {missing!r}; correct the schema or the files")
        encoded = read.select(*map(_quote_identifier, encoder.columns)).mapInArrow(_make_encoder(encoder), _KEPT)
        self._kept = encoded.rdd.map(_pair).persist(getattr(StorageLevel, _LEVEL))
        self.partitions = self._kept.getNumPartitions()

    def ask(self, question: PartitionQuestion) -> list[Answer]:
        """Send a question to every partition and return the answers in partition order."""
        shared = self._context.broadcast(question)
        try:
            answers: list[Answer] = self._kept.mapPartitionsWithIndex(_make_answerer(shared, self._encoder)).collect()
        except Exception as error:  # from py4j, sockets or Spark: the message may quote data
            if "ModuleNotFoundError" in str(error):
                raise MissingDependency(_OTHER_PYTHON) from None
            raise ProcessLost(_LOST) from None
        finally:
            shared.unpersist(blocking=True)
            shared.destroy(blocking=True)
        return answers

    def let_go(self) -> None:
        """Release all rows held by the workers."""
        self._kept.unpersist(blocking=True)


def _rows(read: Any, selection: files.Selection, address: str) -> tuple[Any, LeftOut]:
    """Return the selected rows, and what is left out by the limit of rows per person.

    The rows of a person are ordered by their ids, so that reading them again gives the same rows; shuffled data is
    encrypted.
    """
    from pyspark.sql import Window, functions

    parts = read.rdd.getNumPartitions()
    if selection.query is not None:
        read.createOrReplaceTempView(ROWS)  # in a session of this cluster, without other views
        read = read.sparkSession.sql(f"SELECT * FROM ({selection.query.strip().rstrip(';')}\n) AS everything")
        _check_plan(read, address)
    for column, names in ((selection.id, selection.gone_ids), (selection.subject, selection.gone_subjects)):
        if column is not None and names:
            back = read.where(read[_quote_identifier(column)].cast("string").isin(list(names))).count()
            if back:
                raise SourceError(
                    f"{address}: {back} rows that were deleted since the last release are read there again. Nothing was published; see what the "
                    "query reads, and delete them again"
                )
    if selection.subject is None:
        return read, LeftOut()
    person, name = (read[_quote_identifier(column)] for column in (selection.subject, selection.id))
    all_of_one = (
        Window.partitionBy(person).orderBy(name).rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    )
    most = selection.rows_per_subject
    counted = read.groupBy(person.alias("person")).count()
    more = counted.where(counted["person"].isNull() | (counted["count"] > most))
    left_out = more.agg(functions.count("person"), functions.coalesce(functions.sum("count"), functions.lit(0))).first()
    ranked = read.repartition(parts, person).withColumn(_RANK, functions.count(functions.lit(1)).over(all_of_one))
    return ranked.where(person.isNotNull() & (ranked[_RANK] <= most)), LeftOut(*map(int, left_out))


def _check_plan(read: Any, address: str) -> None:
    """Check that a query selects each row independently of the other rows.

    Raises:
        SourceError: If it does not.
    """
    plan = read._jdf.queryExecution().analyzed().toString()
    lines = [line.lstrip(" :+-").split() for line in plan.splitlines()]
    parts = {words[0] for words in lines if words}
    read_twice = (
        max(sum(words[:1] == [part] for words in lines) for part in ("Relation", "LogicalRDD", "CTERelationRef")) > 1
    )
    if parts & _BY_OTHERS or read_twice:
        raise SourceError(
            f"{address}: the rows to learn from are chosen by {'other rows' if read_twice else 'a window, a limit or a sample'}: a row that goes would change which others are read, and "
            "no figure covers that. Let --query choose each row by itself"
        )


def _quote_identifier(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


@contextmanager
def _translate_errors(address: str) -> Iterator[None]:
    """Translate Spark's errors about its input to `SourceError`, without their messages."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise SourceError(
            f"{address}: {type(error).__name__} of Spark; check the columns, the query (its rows are called {ROWS}), and whether all files are whole"
        ) from None


def _pair(row: Any) -> tuple[str, bytes]:
    """Return a row as types that Python pickles, the content as bytes."""
    return row[0], bytes(row[1])


def _make_encoder(encoder: Encoder) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """Return the function from the batches of a partition to the kept pieces."""

    def encode(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        for kind, content in pack_partition(encoder, batches):
            yield pyarrow.record_batch({"kind": [kind], "content": pyarrow.array([content], pyarrow.binary())})

    return encode


def pack_partition(encoder: Encoder, batches: Iterable[pyarrow.RecordBatch]) -> Iterator[tuple[str, bytes]]:
    """Yield a partition as pieces: its facts, labels and rows; or the error that prevents it."""
    try:
        held = Partition.of(0, encoder.encoded(batches))
    except NoisyGDDeleteError as error:
        yield "fault", json.dumps(fault_of(error)).encode()
        return
    facts = {"digest": held.digest.hex(), "clipped": held.clipped, "unknown": held.unknown}
    yield "facts", json.dumps(facts).encode()
    stored = held.rows.codes if isinstance(held.rows, CodedRows) else held.rows
    for kind, numbers in (("labels", held.labels), ("rows", stored)):
        view = np.ascontiguousarray(numbers).reshape(-1).view(np.uint8).data
        for at in range(0, len(view), _PIECE):
            yield kind, bytes(view[at : at + _PIECE])


def _make_answerer(broadcast: Any, encoder: Encoder) -> Callable[[int, Iterator[Any]], Iterator[Answer]]:
    """Return the function by which a partition answers the broadcast question."""

    def answers(number: int, pieces: Iterator[Any]) -> Iterator[Answer]:
        yield answer(broadcast.value, number, lambda: unpack_partition(encoder, number, pieces))

    return answers


def unpack_partition(encoder: Encoder, number: int, pieces: Iterable[tuple[str, bytes]]) -> Partition:
    """Return the partition packed by `pack_partition`."""
    from noisygd_delete import errors

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
    codec, rows = encoder.schema.codec, numbers["rows"]
    return Partition(
        number,
        np.frombuffer(rows, np.float32).reshape(-1, encoder.schema.features)
        if codec is None
        else CodedRows(np.frombuffer(rows, codec.dtype).reshape(-1, codec.blocks), codec),
        np.frombuffer(numbers["labels"], np.float64),
        bytes.fromhex(facts["digest"]),
        facts["clipped"],
        facts["unknown"],
    )


@contextmanager
def open_rows(
    address: str,
    schema: Schema,
    slots: int | None,
    pinned: files.Pinned | None = None,
    *,
    selection: files.Selection | None = None,
) -> Iterator[tuple[ClusterRecords, str, LeftOut]]:
    """Open the rows of Parquet files on Spark.

    The session is the active one, or a new one by the environment's settings (spark-defaults.conf, MASTER), by default
    on this machine.

    Yields:
        The records, their position in the source and what was left out (see `factory.open_rows`).

    Raises:
        MissingDependency: If Spark or Java is not installed.
        SourceError: If the rows cannot be read.
        InvalidSchema: If a cell does not fit the schema.
        InvalidRecords: If there are too many rows, or none.
        InvalidParameter: If the active session would write rows unencrypted.
    """
    with open_session() as session:
        position, before = files.position(), [] if pinned else list_files(session, address)
        paths = [path for path, _, _ in before]
        if pinned is not None:
            position, paths = pinned.position, list(map(literal, pinned.paths))
        encoder = Encoder.for_rows(schema, address)
        cluster = SparkCluster(session, encoder, paths, merged=pinned is not None, selection=selection)
        try:
            records = ClusterRecords(cluster, address=address, width=schema.features, slots=slots, codec=schema.codec)
            if pinned is None:
                files.check_unchanged(address, before, list_files(session, address))
            yield records, position, cluster.left_out
        finally:
            cluster.let_go()


_JAVA = 17  # oldest version that Spark 4 supports
_NEEDED = {  # required also of a session started by the caller
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


def list_files(session: Any, address: str) -> list[tuple[str, int, int]]:
    """Return path, size and time of every Parquet file in a folder, on any file system known to this Spark.

    Raises:
        SourceError: If the folder cannot be read, or holds a table's log or no Parquet file.
    """
    from py4j.protocol import Py4JError

    try:
        folder = session._jvm.org.apache.hadoop.fs.Path(address)
        system = folder.getFileSystem(session._jsc.hadoopConfiguration())
        everything = list(system.listStatus(folder))
        found = [each for each in everything if each.isFile()]
        files_there = [(each.getPath().toString(), each.getLen(), each.getModificationTime()) for each in found]
    except Py4JError as error:
        raise SourceError(f"{address}: {type(error).__name__}; is the folder there, and may it be read?") from None
    files.check_no_log(address, (each.getPath().getName() for each in everything))
    files_there = sorted(each for each in files_there if each[0].endswith(".parquet"))
    files.check_number(address, len(files_there))
    return files_there


def literal(path: str) -> str:
    """Return a local path with pattern characters escaped."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", path)


@contextmanager
def open_session() -> Iterator[Any]:
    """Yield the caller's active session, which stays open; or a new one with a folder that is removed with it.

    Raises:
        MissingDependency: If Spark or Java is not installed.
        InvalidParameter: If Spark does not start, or would write rows unencrypted.
    """
    try:
        from pyspark import SparkContext
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingDependency("executors of Spark need pyspark: pip install 'noisygd-delete[engines]'") from error
    if SparkContext._active_spark_context is not None:  # also one started by another thread of the caller
        there = SparkSession.builder.getOrCreate()
        check_settings(there)
        yield there
        return
    require_java()
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


def require_java() -> None:
    """Raise `MissingDependency` unless Spark finds a supported Java."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java") if home is None else shutil.which(os.path.join(home, "bin", "java"))
    found = None
    if java is not None:
        with suppress(OSError, subprocess.TimeoutExpired):
            version = subprocess.run(
                [java, "-version"], capture_output=True, text=True, errors="replace", timeout=60, check=False
            ).stderr
            found = re.search(r'version "(?:1\.)?(\d+)', version)
    if found is None or int(found[1]) < _JAVA:
        why = (
            "there is none"
            if java is None
            else "what is there does not run"
            if found is None
            else f"Java {found[1]} is there"
        )
        raise MissingDependency(
            f"Spark needs Java {_JAVA} or later (Debian: openjdk-17-jre-headless; JAVA_HOME, else PATH, says where), and {why}"
        )


def check_settings(session: Any) -> None:
    """Check that a session started by the caller writes no rows or iterates unencrypted.

    Raises:
        InvalidParameter: If it would.
    """
    settings = session.sparkContext.getConf()
    for name, wanted in _NEEDED.items():
        if settings.get(name, "false") != wanted:
            raise InvalidParameter(
                f"this Spark session has {name} = {settings.get(name, 'false')}: what it writes to disks could hold rows or iterates in "
                f"clear. Start it with {name} = {wanted}"
            )
