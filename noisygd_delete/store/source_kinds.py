"""Rows in an external source: the interface of a source to a store, and the kinds of sources that are installed.

A distribution adds a kind by an entry point in the group `noisygd_delete.sources`. Its name is the kind that ledgers
record; its object is a frozen dataclass that implements `ExternalSource`. The engine imports no such distribution.

    [project.entry-points."noisygd_delete.sources"]
    postgresql = "noisygd_delete_sources.postgres:Postgres"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import StoreCorrupt
from ..extensions import require_extension

if TYPE_CHECKING:
    from ..features.schema import Schema
    from ..methods.plan import Plan
    from .training_table import OpenedStore, TrainingTable

_UNDESCRIBED = "the ledger does not describe where the rows are; restore the store from a backup"


@dataclass(frozen=True)
class Erased:
    """The rows that one request, or one transaction, deleted in a source.

    Attributes:
        request_id: The id of the request.
        rows: The number of rows.
        position: The position of the deletion, if known.
        ids: The ids of the rows, if known.
    """

    request_id: str
    rows: int
    position: str | None = None
    ids: tuple[str, ...] = ()


class ExternalSource(Protocol):
    """Where the rows of a store are, described by public facts that its ledger records.

    Attributes:
        address: The address, without a password.
        id: The column of ids.
        subject: The column with the person that a record is about, if any.
    """

    @property
    def address(self) -> str:
        """Where the rows are."""

    @property
    def id(self) -> str:
        """The column of ids."""

    @property
    def subject(self) -> str | None:
        """The column of data subjects; None: one row a person."""

    def to_dict(self) -> dict[str, Any]:
        """Return the description that a ledger records; its key "kind" is the name of the entry point."""

    def check_over(self, schema: Schema, plan: Plan, memory: int | None = None) -> None:
        """Read the rows once and raise unless a store with this schema and plan may be created over them.

        Args:
            schema: The schema of the rows.
            plan: The plan of the store.
            memory: Bytes of rows to hold at a time; None: a quarter of the machine's memory.
        """

    def open_table(self, files: OpenedStore) -> TrainingTable:
        """Return the table of a store whose rows are here."""

    def read_events(self, path: str | Path) -> list[Erased]:
        """Return the deletions that a file of events reports; see `Store.note_erased`."""

    def names(self, column: str) -> Iterator[str]:
        """Yield the exact values of a column of ids or persons, of all rows."""

    def held(self, ids: Sequence[str], subjects: Sequence[str], *, names: bool = False) -> int:
        """Return the number of rows of these ids and persons; with `names`, the number of names that have rows."""

    def find_held(self, wanted: Sequence[str], *, persons: bool = False) -> set[str]:
        """Return those of the given ids, or persons, that have rows."""


def source_from(description: Mapping[str, Any] | None) -> ExternalSource:
    """Return the source that a ledger describes.

    Raises:
        StoreCorrupt: If the description is incomplete or contradicts its kind.
        MissingDependency: If no installed package provides its kind.
    """
    if not isinstance(description, Mapping) or not {"kind", "address", "id"} <= set(description):
        raise StoreCorrupt(_UNDESCRIBED)
    kind = require_extension("sources", description["kind"], "sources", f"a source of kind {description['kind']!r}")
    if not set(description) <= {"kind", *(field.name for field in fields(kind))}:
        raise StoreCorrupt(_UNDESCRIBED)
    source: ExternalSource = kind(**{name: value for name, value in description.items() if name != "kind"})
    return source
