"""Sessions of Spark: the caller's own, if it writes nothing in clear, or one that is made here and leaves nothing; and the files that one
can see."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ...errors import InvalidParameter, MissingDependency, SourceError
from . import files

_JAVA = 17  # the oldest that Spark 4 runs on
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


def listed(session: Any, address: str) -> list[tuple[str, int, int]]:
    """Path, size and time of every Parquet file of a folder, on any file system that this Spark knows."""
    from py4j.protocol import Py4JError

    try:
        folder = session._jvm.org.apache.hadoop.fs.Path(address)
        system = folder.getFileSystem(session._jsc.hadoopConfiguration())
        everything = list(system.listStatus(folder))
        found = [each for each in everything if each.isFile()]
        files_there = [(each.getPath().toString(), each.getLen(), each.getModificationTime()) for each in found]
    except Py4JError as error:
        raise SourceError(f"{address}: {type(error).__name__}; is the folder there, and may it be read?") from None
    files.check_without_a_log(address, (each.getPath().getName() for each in everything))
    files_there = sorted(each for each in files_there if each[0].endswith(".parquet"))
    files.check_number(address, len(files_there))
    return files_there


def literal(path: str) -> str:
    """A path of this machine that Spark shall not read as a pattern."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", path)


@contextmanager
def running() -> Iterator[Any]:
    """The session that the caller has, which stays open; or a new one by the environment's own settings, with a folder that goes with it.

    Raises:
        MissingDependency: Spark or Java is not installed. InvalidParameter: it does not start, or would write rows in clear.
    """
    try:
        from pyspark import SparkContext
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingDependency("executors of Spark need it: pip install 'noisygd-delete[engines]'") from error
    if SparkContext._active_spark_context is not None:  # also one that another thread of the caller has started
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
    """Raise `MissingDependency` unless Spark would find a Java that it runs on."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java") if home is None else shutil.which(os.path.join(home, "bin", "java"))
    found = None
    if java is not None:
        with suppress(OSError, subprocess.TimeoutExpired):
            told = subprocess.run(
                [java, "-version"], capture_output=True, text=True, errors="replace", timeout=60, check=False
            ).stderr
            found = re.search(r'version "(?:1\.)?(\d+)', told)
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
    """Raise `InvalidParameter` where a session that somebody else started would leave rows or iterates behind in clear."""
    settings = session.sparkContext.getConf()
    for name, wanted in _NEEDED.items():
        if settings.get(name, "false") != wanted:
            raise InvalidParameter(
                f"this Spark session has {name} = {settings.get(name, 'false')}: what it writes to disks could hold rows or iterates in "
                f"clear. Start it with {name} = {wanted}"
            )
