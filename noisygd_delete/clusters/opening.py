"""Engines by name. One is loaded where it is opened."""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib import import_module

from ..errors import choice
from ..schema import Schema
from .table import ClusterRecords

ENGINES = ("ray", "spark")


def opened(
    engine: str, address: str, schema: Schema, slots: int | None
) -> AbstractContextManager[tuple[ClusterRecords, str]]:
    """The rows of a folder of Parquet files, held by the workers of an engine while this is open, and when they were read.

    Args:
        address: a path, or an address that the engine knows: s3://bucket/folder.
        slots: n; None: as many as there are rows.

    Raises:
        MissingDependency: the engine is not installed. SourceError, InvalidSchema, InvalidRecords: the rows are not there, or do not
        fit. InvalidParameter: it does not start, or would leave rows behind in clear.
    """
    room = import_module(f".on_{choice('engine', engine, ENGINES)}", __package__)
    held: AbstractContextManager[tuple[ClusterRecords, str]] = room.opened(address, schema, slots)
    return held
