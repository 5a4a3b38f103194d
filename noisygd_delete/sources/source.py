"""What a store asks of the place where its rows lie.

A source counts its own history: a `position` (see `store.position`) says up to where a snapshot was read, or at which point a
deletion was committed, so that "the release read the rows after the deletion" can be checked by anybody from the two texts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from ..engine import CurrentRecords
from ..errors import InvalidParameter, InvalidRequest, SourceError, count
from ..records import EditCounts
from ..schema import Schema, Table
from ..schema.files import BLOCK_ROWS

_LONGEST_CELL = 1 << 20  # characters
_MOST_HELD = 1 << 24  # characters of one block
_LONGEST_TEXT = 100_000  # characters of a query

Accept = Callable[[str, int], None]


@dataclass(frozen=True)
class Snapshot:
    """The rows as they were at one moment. `blocks` can be read once, while the snapshot is open.

    changes  rows changed since an earlier position that was asked about, by the source's own count; None: not counted
    """

    position: str
    blocks: Iterator[Table]
    changes: EditCounts | None = None


@dataclass(frozen=True)
class Source(ABC):
    """Where rows lie, as public facts: a ledger holds them.

    address   without a password
    id        column with each record's own id; subject: column with the person a record is about
    table     what a deletion deletes from; None: the application deletes
    query     the rows of the table to learn from; None: all of it
    rows_per_subject   no more rows of one person are read, the first by id
    """

    address: str
    id: str
    subject: str | None = None
    table: str | None = None
    query: str | None = None
    rows_per_subject: int = 1

    kind: ClassVar[str]
    counts_by: ClassVar[str | None] = None  # what counts changes that nobody tells of: "trigger", "versions"
    uncounted: ClassVar[str] = "it has no way to"  # why nothing does

    def __post_init__(self) -> None:
        count("rows_per_subject", self.rows_per_subject)
        for name in ("address", "id", "subject", "table", "query"):
            value = getattr(self, name)
            if value is not None and not (
                isinstance(value, str) and value.strip() and len(value) <= _LONGEST_TEXT and "\0" not in value
            ):
                raise InvalidParameter(f"{name} of a source must be a text of at most {_LONGEST_TEXT} characters")

    @abstractmethod
    def snapshot(self, columns: Sequence[str], since: str | None = None) -> AbstractContextManager[Snapshot]:
        """One moment of the source, with these columns of every row; `rows_per_subject` is kept to there.

        Args:
            since: an earlier position: what changed from there on is counted, where the source counts it.

        Raises:
            SourceError: the source cannot be reached, does not have these rows, or finds that it has not counted all.
        """

    @abstractmethod
    def position(self) -> str:
        """Where the source stands now: what was committed before this call, a snapshot taken after it covers."""

    @abstractmethod
    def held(self, ids: Sequence[str], subjects: Sequence[str], *, names: bool = False) -> int:
        """How many rows of these there are; or of the names among them that have any, each once."""

    def opened(self, schema: Schema, slots: int) -> AbstractContextManager[tuple[CurrentRecords, str]] | None:
        """The rows where they lie, held by others while this is open, and their position; None: they are read by `snapshot`."""
        return None

    def changes(self, since: str, position: str, columns: Sequence[str]) -> EditCounts | None:
        """What differs in these columns between two positions; None where that cannot be told from the two."""
        return None

    def delete(self, ids: Sequence[str], subjects: Sequence[str], accept: Accept) -> str:
        """Delete the rows of these ids and persons in one transaction of the source; the position of its commit.

        Args:
            accept: told, right before the commit, a mark by which `committed` will know this transaction, and how many rows it
                deletes. Where it raises, nothing is deleted.

        Raises:
            InvalidRequest: one of them has no row, or the source refuses; nothing was deleted.
            SourceError: the source cannot be reached; `committed` tells whether it was done.
        """
        raise self._left_to_the_application()

    def committed(self, mark: str) -> str | None:
        """The position at which the deletion with this mark was committed; None if it was not, and never will be."""
        raise self._left_to_the_application()

    def watch(self, columns: Sequence[str], since: str | None) -> EditCounts | None:
        """Begin to count the changes that nobody tells of, or go on; those of these columns since this position, where they were counted.

        Raises:
            InvalidParameter: this kind of source has no way to.
        """
        raise InvalidParameter(
            f"{self.address}: nothing there counts changes: {self.uncounted}. Plans over such rows start every release anew, so that no figure "
            "depends on the count; certificates say that it was not taken"
        )

    def _left_to_the_application(self) -> InvalidRequest:
        return InvalidRequest(
            f"{self.address}: rows are not deleted there by this program; delete them with your own, then publish with the number "
            "of rows erased (publish --erased N)"
        )

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}


def blocks(
    source: str, names: Sequence[str], rows: Iterable[Sequence[Any]], limit: int = BLOCK_ROWS
) -> Iterator[Table]:
    """Rows as they come, in tables of text, each stripped; what is missing is empty. A record's number stands for its line."""
    cells: list[list[str]] = []
    first, held = 1, 0
    for row in rows:
        texts = ["" if value is None else str(value).strip() for value in row]
        longest = max(map(len, texts), default=0)
        if longest > _LONGEST_CELL:
            raise SourceError(f"{source}, record {first + len(cells)}: a value of {longest} characters is no feature")
        cells.append(texts)
        held += sum(map(len, texts))
        if len(cells) == limit or held > _MOST_HELD:
            yield _table(source, names, cells, first)
            first, cells, held = first + len(cells), [], 0
    if cells:
        yield _table(source, names, cells, first)


def _table(source: str, names: Sequence[str], cells: list[list[str]], first: int) -> Table:
    columns = (list(column) for column in zip(*cells, strict=True))
    return Table(source, dict(zip(names, columns, strict=True)), range(first, first + len(cells)))


def check_named(asked: Sequence[str], found: Iterable[str], what: str) -> None:
    """Raise `InvalidRequest` unless every name that was asked for had a row."""
    missing = next((name for name in asked if name not in set(found)), None)
    if missing is not None:
        raise InvalidRequest(
            f"{what} {missing!r} is not in the table (never there, or erased already); nothing was changed"
        )
