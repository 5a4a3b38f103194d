"""What a store asks of the place where its rows lie.

A source counts its own history: a `position` (see `store.entry`) says up to where a snapshot was read, or at which point a
deletion was committed, so that "the release read the rows after the deletion" can be checked by anybody from the two texts.

Which rows a release reads. With m = `rows_per_subject`: all rows of a subject that has at most m of them in the table or the query, and
none of a subject that has more (of an id, where the source names no subjects). Rows that name nobody are not read.

    Let k rows of a subject be there, and c(k) be those that are read: all k where k <= m, else none. Rows of others have no part in
    that. So in two worlds that differ in some of one subject's rows alone (k of them, or k' < k) the sums differ by
        k <= m:        the k - k' rows that are missing: at most m
        k' <= m < k:   the k' rows that come in: at most m
        k' > m:        none
    gradients of norm L: mL, which is what a plan for m rows charges for rows against none (2mL for rows against others of the same
    subject). The first m rows by any order would not do: without one of m + 1 rows that one goes and another one comes, 2L, where a
    plan for m = 1 charges L.

A query must choose each row by itself: what a window, a LIMIT or a sample chooses depends on the rows of others, in the same way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol

from ...engine import CurrentRecords
from ...engine.count_tables import CountTables
from ...errors import InvalidParameter, InvalidRequest, SourceError, count
from ...features.schema import Schema, Table
from ...features.schema.files import BLOCK_ROWS
from ...features.schema.values import write_text
from ...records import NONE_LEFT_OUT, EditCounts, LeftOut

_LONGEST_CELL = 1 << 20  # characters
_MOST_HELD = 1 << 24  # characters of one block
_LONGEST_TEXT = 100_000  # characters of a query
_SHOWN = 20  # columns in a message

Accept = Callable[[str, Sequence[str]], None]


@dataclass(frozen=True)
class Done:
    """What was done in a source before, as a later snapshot must show it.

    marks          that deletions left there
    ids, subjects  that were deleted since the last release, as far as this process knows them
    refuse         given the ids of all rows, raises where one was erased before (see `store.suppression`)
    erased_at      position of the last erasure that the ledger knows of
    """

    marks: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    refuse: Callable[[Iterable[str]], None] | None = None
    erased_at: str | None = None


NOTHING_DONE = Done()


@dataclass(frozen=True)
class Snapshot:
    """The rows as they were at one moment. `blocks` can be read once, while the snapshot is open.

    changes   rows changed since an earlier position that was asked about, by the source's own count; None: not counted
    left_out  rows that are not read because of whose they are
    state     by which the source knows them again, where a chain goes on from them; None: it cannot
    unchanged whether they are as in the state that the chain goes on from
    counted   how often two codes of a schema's map stand together in them, by the source itself; None: it does not code as the schema does
    """

    position: str
    blocks: Iterator[Table]
    changes: EditCounts | None = None
    left_out: LeftOut = NONE_LEFT_OUT
    state: str | None = None
    unchanged: bool = False
    counted: Callable[[Schema], CountTables | None] = lambda schema: None


class ReleaseChain(Protocol):
    """Releases that go on from one another (see `chain`), as a source takes part in them."""

    @property
    def state(self) -> str | None:
        """Of the rows that the next one goes on from; None: it goes on from none."""

    @property
    def columns(self) -> Sequence[str]:
        """What a release reads of a row."""

    def take(self, before: Iterable[Table], after: Iterable[Table], state: str | None = None) -> None:
        """Before a deletion in that state is committed: the rows that a release reads of whom it concerns, as they are and as they will be, and the
        state that it leaves, where that is known already."""

    def leave(self, state: str | None) -> None:
        """After it: the state that it left."""


@dataclass(frozen=True)
class Source(ABC):
    """Where rows lie, as public facts: a ledger holds them.

    address   without a password
    id        column with each record's own id; subject: column with the person a record is about
    table     what a deletion deletes from; None: the application deletes
    query     the rows of the table to learn from; None: all of it
    rows_per_subject   m: of a person who has more rows than that, none is read (see above)
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
    one_table: ClassVar[str] = ""  # why there is no table to name, where it is one itself

    def __post_init__(self) -> None:
        count("rows_per_subject", self.rows_per_subject)
        for name in ("address", "id", "subject", "table", "query"):
            value = getattr(self, name)
            if value is not None and not (
                isinstance(value, str) and value.strip() and len(value) <= _LONGEST_TEXT and "\0" not in value
            ):
                raise InvalidParameter(f"{name} of a source must be a text of at most {_LONGEST_TEXT} characters")
        if self.one_table and self.table is not None:
            raise InvalidParameter(f"{self.one_table}; leave --table out")
        if not self.one_table and self.table is None and self.query is None:
            raise InvalidParameter("say which rows: --table NAME, or --query SELECT, or both")

    @abstractmethod
    def snapshot(
        self,
        columns: Sequence[str],
        since: str | None = None,
        done: Done = NOTHING_DONE,
        chain: ReleaseChain | None = None,
    ) -> AbstractContextManager[Snapshot]:
        """One moment of the source, with these columns of every row that a release may read.

        Args:
            since: an earlier position: what changed from there on is counted, where the source counts it.
            done: what it must show.
            chain: whose next release reads it.

        Raises:
            SourceError: the source cannot be reached, does not have these rows, does not show what was done, or finds that it has not
                counted all.
        """

    @abstractmethod
    def check(self) -> None:
        """Raise `InvalidParameter` unless a store may be made over these rows: they name themselves, none of them is read or not because
        of others, and none from a copy. `SourceError`: they are not there."""

    @abstractmethod
    def columns(self) -> list[str]:
        """The names of the columns of the rows there."""

    @abstractmethod
    def every(self, columns: Sequence[str]) -> Generator[Table]:
        """These columns of all rows there, whoever has how many."""

    @abstractmethod
    def names(self, column: str) -> Iterator[str]:
        """What stands in a column of ids or persons, exactly, in all rows there."""

    @abstractmethod
    def position(self) -> str:
        """Where the source stands now: what was committed before this call, a snapshot taken after it covers."""

    @abstractmethod
    def held(self, ids: Sequence[str], subjects: Sequence[str], *, names: bool = False) -> int:
        """How many rows of these there are; or of the names among them that have any, each once. A name that the column's type cannot
        hold has none."""

    def open_rows(
        self, schema: Schema, slots: int, done: Done = NOTHING_DONE
    ) -> AbstractContextManager[tuple[CurrentRecords, str, LeftOut]] | None:
        """The rows where they lie, held by others while this is open, their position and what is left out; None: they are read by
        `snapshot`."""
        return None

    def trace(self, mark: str) -> str | None:
        """What the deletion with this mark left in the source, for later snapshots to show; None: nothing."""
        return mark

    def changes(self, since: str, position: str, columns: Sequence[str]) -> EditCounts | None:
        """What differs in these columns between two positions; None where that cannot be told from the two."""
        return None

    def check_chain(self, instead: str) -> None:
        """Raise `InvalidParameter` unless it can show that nobody else changed rows between two releases, one of which goes on from the other.

        Args:
            instead: what else to do, from `methods.ways_elsewhere`.
        """
        raise InvalidParameter(
            f"{self.address}: nothing there shows that no other program changed rows since a release, from which one by method 'sums' goes on; {instead}, or "
            "give a table of PostgreSQL, a table of a DuckDB file or a Delta table, without a query"
        )

    def state_at(self, position: str) -> str | None:
        """By which the rows at a position are known again, where that needs no connection; None: it does."""
        return None

    def is_in(self, state: str | None) -> bool:
        """Whether the rows are as in this state (`Snapshot.state`)."""
        return False

    def is_watched(self) -> bool:
        """Whether it shows that now, and not only after `watch`."""
        return True

    def delete(
        self,
        ids: Sequence[str],
        subjects: Sequence[str],
        accept: Accept,
        done: Done = NOTHING_DONE,
        chain: ReleaseChain | None = None,
    ) -> str:
        """Delete the rows of these ids and persons in one transaction of the source; the position of its commit.

        Args:
            accept: told, right before the commit, a mark by which `committed` will know this transaction, and the ids of the rows that
                it deletes. Where it raises, nothing is deleted.
            done: by its marks a source that is not as they left it is noticed: a row deleted in a copy would still stand in the source.
            chain: told of it where the rows are still those that it goes on from.

        Raises:
            InvalidRequest: one of them has no row, the source refuses, or a release would still read one; nothing was deleted.
            SourceError: the source cannot be reached, and `committed` tells whether it was done; or it does not show what was done before.
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

    @property
    def _key(self) -> str:
        """The column by which rows are counted as one subject's."""
        return self.subject or self.id

    def _named(self, ids: Sequence[str], subjects: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
        if subjects and self.subject is None:
            raise InvalidRequest("the table does not say whom its records are about; name the records by their ids")
        return [(column, names) for column, names in ((self.id, ids), (self.subject or "", subjects)) if names]

    def _check_columns(self, there: Collection[str]) -> None:
        """Raise `InvalidParameter` unless the rows have the columns that name them: without, nobody can tell who is among them."""
        for what, column in (("id", self.id), ("subject", self.subject)):
            if column is not None and column not in there:
                shown = ", ".join(list(there)[:_SHOWN]) + (", …" if len(there) > _SHOWN else "")
                raise InvalidParameter(
                    f"{self.address}: the rows have no column {column!r} for --{what}; there are: {shown}. Correct --{what}, or let --query give it"
                )

    def _check_names(self, there: Collection[str]) -> None:
        """The same of a deletion."""
        try:
            self._check_columns(there)
        except InvalidParameter as error:
            raise InvalidRequest(
                f"{error}. Until then nobody can see whether a deleted row is read: delete it with your own program, then publish with the number of "
                "rows erased (publish --erased N)"
            ) from None

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
        try:
            texts = list(map(write_text, row))
        except ValueError as error:  # bytes that are no UTF-8 as well; neither message quotes them
            problem = "bytes that are no UTF-8 text" if isinstance(error, UnicodeDecodeError) else error
            raise SourceError(
                f"{source}, record {first + len(cells)}: {problem}; let --query make one number, date or text of it"
            ) from None
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


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def dotted(table: str) -> str:
    """A table's name, perhaps with that of its schema."""
    return ".".join(map(quoted, table.split(".")))


def rows_to_read(rows: str, key: str, most: int) -> str:
    """SQL: those among these rows whose key stands in no more than `most` of them."""
    more = f"SELECT {quoted(key)} AS name FROM ({rows}) AS counted GROUP BY 1 HAVING count(*) > {most}"
    return (
        f"SELECT everything.* FROM ({rows}) AS everything WHERE everything.{quoted(key)} IS NOT NULL "
        f"AND NOT EXISTS (SELECT 1 FROM ({more}) AS more WHERE more.name = everything.{quoted(key)})"
    )


def rows_left_out(rows: str, key: str, most: int) -> str:
    """SQL: how many keys stand in more rows than that, and how many rows these are and those without a key."""
    counted = f"SELECT {quoted(key)} AS name, count(*) AS n FROM ({rows}) AS counted GROUP BY 1"
    return f"SELECT count(name), coalesce(CAST(sum(n) AS BIGINT), 0) FROM ({counted}) AS many WHERE name IS NULL OR n > {most}"


def not_there(what: str, name: str, more: str = "") -> InvalidRequest:
    """A name that was asked for and has no row."""
    return InvalidRequest(
        f"{what} {name!r} is not in the table (never there, or erased already{more}); nothing was changed"
    )


def still_read(rows: int) -> InvalidRequest:
    """Rows that a deletion left where a release would read them."""
    return InvalidRequest(
        f"{rows} rows of those that the request names are still read after their deletion: a trigger or a rule keeps them, row-level "
        "security hides them from the deletion alone, or the query reads a copy (a materialised view). Nothing was changed; let --table "
        "and --query be the rows themselves"
    )


def came_back(address: str, rows: int) -> SourceError:
    """Rows that were deleted and are read again."""
    return SourceError(
        f"{address}: {rows} rows that were deleted since the last release are read there again. Nothing was published; find out who writes "
        "them, and delete them again"
    )


def put_back(address: str) -> SourceError:
    """A source that does not show a deletion that was committed there."""
    return SourceError(
        f"{address}: a deletion that this store committed there is not in its history: a backup that was put back, a copy that was not up "
        "to date when it took over, or another server. Nothing was deleted or published. When the right one is back, it goes on; where this one "
        "stays, carry out again what was deleted since, in a new store"
    )


def require_read_once(address: str, read: Sequence[str], persons: Collection[str]) -> None:
    """Raise `InvalidParameter` where a query reads one of these tables of persons more than once: then rows are chosen by other rows."""
    twice = next((table for table in read if table in persons and read.count(table) > 1), None)
    if twice is not None:
        raise chosen_by_others(address, f"other rows of {twice}, which the query reads more than once")


def chosen_by_others(address: str, how: str) -> InvalidParameter:
    """A query in which other rows decide whether one is read."""
    return InvalidParameter(
        f"{address}: the rows to learn from are chosen by {how}: a row that goes would change which others are read, and no figure covers "
        "that. Let --query (and the views that it reads) choose each row by itself"
    )
