"""Partitions held by Ray actors, which read their parts of the files, keep the encoded rows and answer questions.

Rows never enter Ray's object store, which may spill to disk unencrypted: questions and answers travel inline in the
calls. A cluster started here has no spilling, listens on this machine only, and its folder is removed with it. An actor
that dies is restarted and reads its part again; the digest of its rows shows the driver whether they are the same.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from noisygd_delete.errors import InvalidParameter, MissingDependency, ProcessLost
from noisygd_delete.features.schema import Schema
from noisygd_delete.records import NONE_LEFT_OUT, LeftOut

from .. import parquet_files as files
from .questions import Answer, Encoder, Partition, PartitionQuestion, answer
from .table import ClusterRecords

_INLINE = 1 << 28  # most bytes of a question or an answer sent inline in its call
_LOST = "the cluster does not answer; nothing was published, and an accepted request is finished by the next command"


class Holder:
    """Ray actor that holds some partitions of the table."""

    def __init__(self, encoder: Encoder, parts: tuple[tuple[int, files.FilePart], ...]) -> None:
        self._encoder, self._parts = encoder, parts
        self._held: dict[int, Partition] = {}

    def answers(self, question: PartitionQuestion) -> list[Answer]:
        """Return the answer of each partition."""
        return [answer(question, number, partial(self._partition, number, part)) for number, part in self._parts]

    def process(self) -> int:
        """Return the process id of this worker."""
        return os.getpid()

    def _partition(self, number: int, part: files.FilePart) -> Partition:
        if number not in self._held:
            batches = files.read_part(self._encoder.address, part, self._encoder.columns)
            self._held[number] = Partition.of(number, self._encoder.encoded(batches))
        return self._held[number]


class RayCluster:
    """Actors that hold the partitions, at most one per CPU of the cluster."""

    def __init__(self, ray: Any, encoder: Encoder, parts: list[files.FilePart]) -> None:
        self._ray, self.partitions = ray, len(parts)
        places = max(1, min(len(parts), int(ray.cluster_resources().get("CPU", 1))))
        kind = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(Holder)
        shares = [tuple((number, parts[number]) for number in range(at, len(parts), places)) for at in range(places)]
        self.holders = [kind.remote(encoder, share) for share in shares]

    def ask(self, question: PartitionQuestion) -> list[Answer]:
        """Send a question to every partition and return the answers in any order."""
        ray = self._ray
        try:
            waiting = [holder.answers.remote(question) for holder in self.holders]
            return [each for share in ray.get(waiting) for each in share]
        except (ray.exceptions.RayError, ConnectionError):
            raise ProcessLost(_LOST) from None

    def let_go(self) -> None:
        """Release all rows held by the workers."""
        for holder in self.holders:
            self._ray.kill(holder)


@contextmanager
def open_rows(
    address: str, schema: Schema, slots: int | None, pinned: files.Pinned | None = None
) -> Iterator[tuple[ClusterRecords, str, LeftOut]]:
    """Open the rows of Parquet files on a Ray cluster, that of RAY_ADDRESS or one on this machine.

    Yields:
        The records, their position in the source and what was left out (see `factory.open_rows`).

    Raises:
        MissingDependency: If Ray is not installed.
        SourceError: If the rows cannot be read.
        InvalidSchema: If a cell does not fit the schema.
        InvalidRecords: If there are too many rows, or none.
    """
    with _connect_ray() as ray:
        position, before = (
            (files.position(), files.list_files(address)) if pinned is None else (pinned.position, pinned.files)
        )
        parts = files.partition_row_groups(address, before, pinned=pinned is not None)
        cluster = RayCluster(ray, Encoder.for_rows(schema, address), parts)
        try:
            records = ClusterRecords(cluster, address=address, width=schema.features, slots=slots, codec=schema.codec)
            if pinned is None:
                files.check_unchanged(address, before, files.list_files(address))
            yield records, position, NONE_LEFT_OUT
        finally:
            cluster.let_go()


@contextmanager
def _connect_ray() -> Iterator[Any]:
    """Yield the connected `ray` module; disconnect afterwards if the connection was made here."""
    try:
        import ray
    except ImportError as error:
        raise MissingDependency("workers of Ray need ray: pip install 'noisygd-delete[engines]'") from error
    if ray.is_initialized():
        yield ray
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no telemetry to Ray's makers
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    folder = None
    if "RAY_ADDRESS" not in os.environ:
        folder = tempfile.mkdtemp(prefix="noisygd-ray-")
        own = {"_temp_dir": folder, "_node_ip_address": "127.0.0.1", "_system_config": _SETTINGS}
        quiet |= {**own, "include_dashboard": False}
    try:
        _connect(ray, quiet)
        yield ray
    finally:
        ray.shutdown()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _connect(ray: Any, settings: dict[str, Any]) -> None:
    try:
        ray.init(**settings)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise InvalidParameter(f"Ray does not start, or RAY_ADDRESS leads nowhere: {type(error).__name__}") from None


_SETTINGS = {
    "automatic_object_spilling_enabled": False,
    "max_direct_call_object_size": _INLINE,
    "task_rpc_inlined_bytes_limit": _INLINE,
}
