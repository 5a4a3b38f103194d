"""Engines by name. One is loaded where it is opened."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module

from ...errors import choice
from ...features.schema import Schema
from ...records import LeftOut
from .files import Pinned
from .table import ClusterRecords

ENGINES = ("ray", "spark")
WITH_SQL = ("spark",)
ROWS = "source"  # what a query calls the rows of the files


@dataclass(frozen=True)
class Selection:
    """Rows among those of the files, as a `Source` says it: `query` calls all of them `source`; none of a person of whom there are more
    than `rows_per_subject`. `gone_ids` and `gone_subjects` must not be among them."""

    id: str
    query: str | None = None
    subject: str | None = None
    rows_per_subject: int = 1
    gone_ids: tuple[str, ...] = ()
    gone_subjects: tuple[str, ...] = ()


def opened(
    engine: str,
    address: str,
    schema: Schema,
    slots: int | None,
    *,
    pinned: Pinned | None = None,
    selection: Selection | None = None,
) -> AbstractContextManager[tuple[ClusterRecords, str, LeftOut]]:
    """The rows of Parquet files, held by the workers of an engine while this is open, their position in the source, and what the
    selection leaves out because of whose it is.

    Args:
        address: a path, or an address that the engine knows: s3://bucket/folder.
        slots: n; None: as many as there are rows.
        pinned: the files; None: all *.parquet files that are in the folder now, and the position is the time.
        selection: rows among them, by an engine of `WITH_SQL`; None: all.

    Raises:
        MissingDependency: the engine is not installed. SourceError, InvalidSchema, InvalidRecords: the rows are not there, or do not
        fit. InvalidParameter: it does not start, or would leave rows behind in clear.
    """
    room = import_module(f".on_{choice('engine', engine, ENGINES)}", __package__)
    how = {"selection": selection} if engine in WITH_SQL else {}
    held: AbstractContextManager[tuple[ClusterRecords, str, LeftOut]] = room.opened(
        address, schema, slots, pinned, **how
    )
    return held
