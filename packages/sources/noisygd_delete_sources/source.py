"""The interface between a store and the source of its rows.

A source counts its own history: a `position` (see `store.position`) identifies up to where a snapshot was read, or at
which point a deletion was committed, so that "the release read the rows after the deletion" can be checked by anyone
from the two texts.

Which rows a release reads. With m = `rows_per_subject`: all rows of a subject that has at most m of them in the table
or the query, and none of a subject that has more (of an id, if the source names no subjects). Rows without a name are
not read.

    Let a subject have k rows, of which c(k) are read: all k if k <= m, else none. Rows of others have no influence on
    that. So for two datasets that differ in some rows of one subject only (k of them, or k' < k), the sums differ by
        k <= m:        the k - k' missing rows: at most m
        k' <= m < k:   the k' rows that are then read: at most m
        k' > m:        none
    gradients of norm L: mL, which is what a plan for m rows charges for rows versus none (2mL for rows versus other
    rows of the same subject). Reading the first m rows in any order would be wrong: removing one of m + 1 rows then
    removes one and adds another, 2L, where a plan for m = 1 charges L.

One rule of comparison. A name means the rows whose id, or person, is written exactly so: texts are compared byte by
byte, whatever a column's own equality treats as equal (a case-insensitive collation, citext, the loose comparisons of
MySQL, 1.0 and 1.00). This rule alone decides, in every kind of source, which rows count as one person's and which are
found, deleted and searched for. An index finds candidates; bytes decide.

A query must choose each row by itself: what a window, a LIMIT or a sample chooses depends on the rows of others, in the
same way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol

from noisygd_delete.engine import CurrentRecords
from noisygd_delete.engine.count_tables import CountTables
from noisygd_delete.errors import InvalidParameter, InvalidRequest, SourceError, UnknownName, check_count
from noisygd_delete.features.schema import Schema, Table
from noisygd_delete.features.schema.cells import write_text
from noisygd_delete.features.schema.files import BLOCK_ROWS
from noisygd_delete.records import NONE_LEFT_OUT, EditCounts, LeftOut

from .sql import quote_identifier, rows_left_out, rows_to_read, statement, tables_of

_LONGEST_CELL = 1 << 20  # characters
_MOST_HELD = 1 << 24  # characters of one block
_LONGEST_TEXT = 100_000  # characters of a query
_SHOWN = 20  # columns in a message

Accept = Callable[[str, Sequence[str]], None]


@dataclass(frozen=True)
class SourceHistory:
    """What was done in a source before; a later snapshot must show it.

    Attributes:
        marks: The marks that deletions left there.
        ids: Ids deleted since the last release, as far as this process knows them.
        subjects: Subjects deleted since the last release, as far as this process knows them.
        refuse: Called with the ids of all rows; raises if one was erased before (see `store.tombstones`).
        erased_at: The position of the last erasure in the ledger.
        definition: The definition of the rows that the last release read (`Snapshot.definition`).
    """

    marks: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    refuse: Callable[[Iterable[str]], None] | None = None
    erased_at: str | None = None
    definition: str | None = None


NOTHING_DONE = SourceHistory()


@dataclass(frozen=True)
class Snapshot:
    """The rows at one moment. `blocks` can be read once, while the snapshot is open.

    Attributes:
        position: The position of the snapshot.
        blocks: The rows.
        changes: Rows changed since a given earlier position, by the source's own count; None if not counted.
        left_out: Rows that are not read because of the subject they belong to.
        state: Identifies the state of the rows, from which a chain continues; None if the source cannot identify it.
        unchanged: Whether the rows are in the state that the chain continues from.
        definition: What the rows are read from and how, if the source's count of changes relies on it.
        counted: Returns, for a schema, how often two codes of its feature map occur together, as counted by the source
            itself; None if its coding differs from the schema's.
    """

    position: str
    blocks: Iterator[Table]
    changes: EditCounts | None = None
    left_out: LeftOut = NONE_LEFT_OUT
    state: str | None = None
    unchanged: bool = False
    definition: str | None = None
    counted: Callable[[Schema], CountTables | None] = lambda schema: None


class ReleaseChain(Protocol):
    """A chain of releases that continue from one another (see `carried_noise`), as seen by a source."""

    @property
    def state(self) -> str | None:
        """The state of the rows that the next release continues from; None if it continues from none."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns that a release reads."""

    def take(self, before: Iterable[Table], after: Iterable[Table], state: str = "") -> None:
        """Called in that state, before a deletion is committed.

        Args:
            before: The rows that a release reads of the affected subjects, before the deletion.
            after: The same after the deletion.
            state: The state after the deletion, if it is known already.
        """

    def leave(self, state: str | None) -> None:
        """Called after the deletion with the state after it."""


@dataclass(frozen=True)
class Source(ABC):
    """Where rows are stored, as public facts that a ledger may hold.

    Attributes:
        address: The address, without a password.
        id: The column with each record's id.
        subject: The column with the person a record is about.
        table: The table that a deletion deletes from; None: the application deletes.
        query: The rows to learn from; None: the whole table.
        rows_per_subject: m; no row is read of a person who has more rows (see above).
    """

    address: str
    id: str
    subject: str | None = None
    table: str | None = None
    query: str | None = None
    rows_per_subject: int = 1

    kind: ClassVar[str]
    counts_by: ClassVar[str | None] = None  # what counts unreported changes: "trigger", "versions"
    uncounted: ClassVar[str] = "it has no way to"  # why nothing counts them
    one_table: ClassVar[str] = ""  # why `table` must be None, if the source is a single table

    def __post_init__(self) -> None:
        check_count("rows_per_subject", self.rows_per_subject)
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

    @contextmanager
    def snapshot(
        self,
        columns: Sequence[str],
        since: str | None = None,
        done: SourceHistory = NOTHING_DONE,
        chain: ReleaseChain | None = None,
    ) -> Iterator[Snapshot]:
        """Open a snapshot of the source with these columns of every row that a release may read.

        Args:
            columns: The columns.
            since: An earlier position; changes from there on are counted if the source counts them.
            done: The history that the snapshot must show.
            chain: The chain whose next release reads the snapshot.

        Raises:
            SourceError: If the source cannot be reached, does not have these rows, does not show the history, or finds
                that its count of changes is incomplete.
        """
        with self._moment(marking=chain is not None) as (connection, position):
            try:
                self._check_plan(connection, again=True)
            except InvalidParameter as error:
                raise SourceError(f"{error}. Nothing was published") from None
            definition = self._definition(connection)
            changes = None if since is None else self._changed(connection, since, position, columns, done.definition)
            self._check_done(connection, position, done)
            rows, left_out = self._rows_to_read(connection)
            unchanged = chain is not None and self._is_in(connection, position, chain.state)
            yield Snapshot(
                position,
                blocks(self.address, columns, self._cells(connection, columns, rows)),
                changes,
                left_out,
                None if chain is None else self._state(connection, position),
                unchanged,
                definition,
                lambda schema: self._counted_codes(connection, schema, rows),
            )
            if self._definition_now(connection) != definition:
                raise SourceError(
                    f"{self.address}: while rows were read, the table was renamed, or its columns, types, partitions or triggers were changed. "
                    "Nothing was published; try again when that is done"
                )

    def check(self) -> None:
        """Raise unless a store may be created over these rows.

        Raises:
            InvalidParameter: If the rows lack ids, the selection of a row depends on other rows, or a row comes from a
                copy.
            SourceError: If the rows do not exist.
        """
        with self._moment() as (connection, _):
            self._check_plan(connection)
            self._check_columns(self._columns(connection))
            self._check_types(connection)

    def columns(self) -> list[str]:
        """Return the names of the columns of the rows."""
        with self._moment() as (connection, _):
            return list(self._columns(connection))

    def every(self, columns: Sequence[str]) -> Generator[Table]:
        """Yield these columns of all rows, regardless of `rows_per_subject`."""
        with self._moment() as (connection, _):
            yield from blocks(self.address, columns, self._cells(connection, columns, self._rows()))

    def names(self, column: str) -> Iterator[str]:
        """Yield the exact values of a column of ids or persons, of all rows."""
        with self._moment() as (connection, _):
            yield from self._names_in(connection, column)

    def position(self) -> str:
        """Return the current position. A snapshot taken after this call covers everything committed before it."""
        with self._moment() as (_, position):
            return position

    @abstractmethod
    def held(self, ids: Sequence[str], subjects: Sequence[str], *, names: bool = False) -> int:
        """Return the number of rows of these ids and persons.

        With `names`, return the number of those names that have rows, each counted once. A name that the column's type
        cannot represent has no rows.
        """

    def find_held(self, wanted: Sequence[str], *, persons: bool = False) -> set[str]:
        """Return those of the given ids, or persons, that have rows.

        One query serves many names: if none or all have rows, the result is known; otherwise each half is queried.
        """
        if not wanted or (persons and self.subject is None):
            return set()
        found = self.held(*([], wanted) if persons else (wanted, []), names=True)  # a name can have several rows
        if not found or found == len(wanted):
            return set(wanted) if found else set()
        half = len(wanted) // 2
        return {name for part in (wanted[:half], wanted[half:]) for name in self.find_held(part, persons=persons)}

    def open_rows(
        self, schema: Schema, slots: int, done: SourceHistory = NOTHING_DONE
    ) -> AbstractContextManager[tuple[CurrentRecords, str, LeftOut]] | None:
        """Return a context manager for rows held by workers, their position and what is left out.

        None if `snapshot` reads the rows.
        """
        return None

    def trace(self, mark: str) -> str | None:
        """Return what the deletion with this mark left in the source for later snapshots to show; None if nothing."""
        return mark

    def changes(self, since: str, position: str, columns: Sequence[str]) -> EditCounts | None:
        """Return what differs in these columns between two positions; None if the two do not determine it."""
        return None

    def check_chain(self, instead: str) -> None:
        """Raise `InvalidParameter` unless the source can show that no one else changed rows between chained releases.

        Args:
            instead: What else to do, from `methods.external_row_methods`.
        """
        raise InvalidParameter(
            f"{self.address}: nothing there shows that no other program changed rows since a release, from which one by method 'sufficient-statistics' goes on; {instead}, or "
            "give a table of PostgreSQL, a table of a DuckDB file or a Delta table, without a query"
        )

    def state_at(self, position: str) -> str | None:
        """Return the state of the rows at a position, if that needs no connection; otherwise None."""
        return None

    def is_in(self, state: str | None) -> bool:
        """Return whether the rows are in this state (`Snapshot.state`)."""
        with self._moment() as (connection, position):
            return self._is_in(connection, position, state)

    def is_watched(self) -> bool:
        """Return whether the source shows foreign changes now, and not only after `watch`."""
        return True

    def delete(
        self,
        ids: Sequence[str],
        subjects: Sequence[str],
        accept: Accept,
        done: SourceHistory = NOTHING_DONE,
        chain: ReleaseChain | None = None,
    ) -> str:
        """Delete the rows of these ids and persons in one transaction of the source; return the position of its commit.

        Args:
            ids: The ids.
            subjects: The persons.
            accept: Called right before the commit with a mark, by which `find_commit` will recognise this transaction,
                and the ids of the deleted rows. If it raises, nothing is deleted.
            done: The history whose marks the source must show; otherwise a row deleted in a copy would remain in the
                source.
            chain: Notified of the deletion if the rows are still in the state that it continues from.

        Raises:
            InvalidRequest: If a name has no row, the source refuses, a release would still read one, or other rows
                would be deleted too; nothing was deleted.
            SourceError: If the source cannot be reached, in which case `find_commit` determines whether it was done, or
                does not show the history.
        """
        if not self._is_deleted_from:
            raise self._left_to_the_application()
        named = self._named(ids, subjects)
        with self._deletion(chained=chain is not None) as (connection, position):
            self._check_names(self._columns(connection))
            if not self._shown(connection, position, done):
                raise restored_error(self.address)
            before = None
            if chain is not None and self._is_in(connection, position, chain.state):
                own = self._rows_of(connection, self._keys_of(connection, named))
                before = self._read_rows(connection, chain.columns, own)
            taken = self._rows_taken(connection)
            with self._refusing():
                gone = self._delete_rows(connection, named)
            still = self._read_of(connection, ids, subjects)
            if still:
                raise still_read_error(still)
            taken = self._rows_taken(connection) - taken
            if taken != len(gone):
                raise other_rows_error(taken - len(gone))
            mark, committed_at = self._leave_mark(connection)
            state = None
            if chain is not None and before is not None:
                state = self._state_to_come(connection, position, mark, len(gone))
                if state is not None:
                    chain.take(before, self._read_rows(connection, chain.columns, own), state)
            accept(mark, gone)
            with self._refusing():
                connection.commit()
            if chain is not None and state == "":
                chain.leave(self._state_left(connection))
        return committed_at

    def find_commit(self, mark: str) -> str | None:
        """Return the position at which the deletion with this mark was committed.

        None if it was not committed, and never will be.
        """
        with self._moment() as (connection, _):
            number = self._number_of(connection, mark)
        return None if number is None else f"version:{number}"

    def watch(self, columns: Sequence[str], since: str | None, definition: str | None = None) -> EditCounts | None:
        """Start or continue counting unreported changes; return those of these columns since this position, if counted.

        Raises:
            InvalidParameter: If this kind of source cannot count changes.
        """
        raise InvalidParameter(
            f"{self.address}: nothing there counts changes: {self.uncounted}. Plans over such rows start every release anew, so that no figure "
            "depends on the count; certificates say that it was not taken"
        )

    # To be implemented by each kind of source. A connection is an object of its own library.

    @abstractmethod
    def _moment(self, *, marking: bool = False) -> AbstractContextManager[tuple[Any, str]]:
        """Open a connection to one moment of the rows, with its position.

        `marking`: whether it may write a mark there.
        """

    @property
    @abstractmethod
    def _table_name(self) -> str: ...

    @property
    def _table_rows(self) -> str:
        return f"SELECT * FROM {self._table_name}"

    @abstractmethod
    def _columns(self, connection: Any) -> Mapping[str, Any]:
        """Return the columns of the rows and their types."""

    @abstractmethod
    def _cells(self, connection: Any, columns: Sequence[str], rows: str) -> Iterator[Sequence[Any]]: ...

    @abstractmethod
    def _check_plan(self, connection: Any, *, again: bool = False) -> None:
        """Raise `InvalidParameter` if the query, or a view it uses, reads a copy or lets other rows select a row.

        `again`: a repeated check, because a view may have been replaced; operations that the query planner adds by
        itself are then ignored.
        """

    @abstractmethod
    def _unfit(self, connection: Any, column: str) -> str | None:
        """Return the type of a column, as read or in the table, if a value of it has no or several texts; else None."""

    @abstractmethod
    def _read_of(self, connection: Any, ids: Sequence[str], subjects: Sequence[str]) -> int:
        """Return the number of rows with one of these names, in the table or in what a release may read.

        It is the larger of the two numbers.
        """

    def _changed(
        self, connection: Any, since: str, position: str, columns: Sequence[str], definition: str | None
    ) -> EditCounts | None:
        return self.changes(since, position, columns)

    def _definition(self, connection: Any) -> str | None:
        """Return what the rows are read from and how, if that can change without a write, which a count would miss."""
        return None

    def _definition_now(self, connection: Any) -> str | None:
        """Return the definition at the newest moment."""
        return self._definition(connection)

    def _alone(self, connection: Any) -> bool:
        """Return whether the source itself enforces unique ids."""
        return False

    def _answer_in_memory(self, connection: Any, query: str) -> Sequence[Sequence[Any]] | None:
        """Return the complete answer, computed in memory only; None if this source would write to its disk for it."""
        return None

    # For sources that rows are deleted from:

    @property
    def _is_deleted_from(self) -> bool:
        return self.table is not None

    def _deletion(self, *, chained: bool) -> AbstractContextManager[tuple[Any, str]]:
        """Open a connection in a write transaction, with its position.

        If `chained`, it has one consistent view of the rows.
        """
        raise NotImplementedError

    def _refusing(self) -> AbstractContextManager[None]:
        """Convert errors of the source about the rows of one request into a refusal of that request."""
        raise NotImplementedError

    def _delete_rows(self, connection: Any, named: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
        """Delete the rows with these names, given per column; return the ids of the rows.

        Every name must have a row.
        """
        raise NotImplementedError

    @staticmethod
    def _name_of(column: str) -> str:
        """Return SQL for the texts of a column, compared byte by byte."""
        raise NotImplementedError

    def _rows_taken(self, connection: Any) -> int:
        """Return the rows removed minus the rows added by the current transaction, up to a constant."""
        raise NotImplementedError

    def _leave_mark(self, connection: Any) -> tuple[str, str]:
        """Return the mark of the current transaction and its position."""
        raise NotImplementedError

    def _number_of(self, connection: Any, mark: str) -> int | None:
        """Return the number of the deletion with this mark, if deletions are numbered; None if it was not made here."""
        raise self._left_to_the_application()

    def _shown(self, connection: Any, position: str, done: SourceHistory) -> bool:
        """Return whether the history of these rows contains the deletions made by this store."""
        return all(self._number_of(connection, mark) is not None for mark in done.marks)

    # For sources that support a chain:

    def _state(self, connection: Any, position: str) -> str | None:
        """Return the state of these rows; None if it cannot be identified."""
        return None

    def _is_in(self, connection: Any, position: str, state: str | None) -> bool:
        """Return whether the rows are in this state."""
        return state is not None and self._state(connection, position) == state

    def _rows_of(self, connection: Any, keys: Sequence[str]) -> str:
        """Return SQL for the rows that a release reads of these persons (ids, if the source names no persons)."""
        raise NotImplementedError

    def _keys_having(self, connection: Any, column: str, names: Sequence[str]) -> list[str]:
        """Return the persons of the rows with these names in a column."""
        raise NotImplementedError

    def _state_to_come(self, connection: Any, position: str, mark: str, deleted: int) -> str | None:
        """Return the state after the current transaction, which deletes `deleted` rows.

        "" if it is known only after the commit; None if never.
        """
        return ""

    def _state_left(self, connection: Any) -> str | None:
        """Return the state after the transaction just committed."""
        return None

    def _keys_of(self, connection: Any, named: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
        """Return the persons of the rows with these names, each once."""
        return list(dict.fromkeys(key for one in named for key in self._keys_having(connection, *one)))

    def _names_in(self, connection: Any, column: str) -> Iterator[str]:
        rows = f"SELECT CAST({quote_identifier(column)} AS VARCHAR) AS name FROM ({self._rows()}) AS named"
        return (name for (name,) in self._cells(connection, ["name"], rows) if name is not None)

    def _read_rows(self, connection: Any, columns: Sequence[str], rows: str) -> list[Table]:
        return list(blocks(self.address, columns, self._cells(connection, columns, rows)))

    def _counted_codes(self, connection: Any, schema: Schema, rows: str) -> CountTables | None:
        try:
            found = self._answer_in_memory(connection, statement(schema, rows, self._columns(connection)))
        except InvalidParameter:
            return None
        return None if found is None else tables_of(schema, found)

    def _check_done(self, connection: Any, position: str, done: SourceHistory) -> None:
        """Raise `SourceError` unless these rows show what was done before."""
        if not self._shown(connection, position, done):
            raise restored_error(self.address)
        back = self._read_of(connection, done.ids, done.subjects)
        if back:
            raise returned_rows_error(self.address, back)
        if done.refuse is not None:
            done.refuse(self._names_in(connection, self.id))

    def _rows(self) -> str:
        """Return SQL for all rows."""
        if self.query is None:
            return self._table_rows
        return self.query.strip().rstrip(";") + "\n"  # the last line may be a comment

    def _rows_to_read(self, connection: Any) -> tuple[str, LeftOut]:
        """Return SQL for the rows that a release reads (see the module), and what that leaves out.

        Nothing is left out if ids are known to be unique.
        """
        if self.subject is None and self.query is None and self._alone(connection):
            return self._rows(), LeftOut()
        facts = self._rows(), self._key, self.rows_per_subject, self._name_of
        (counted,) = self._cells(connection, ["persons", "rows"], rows_left_out(*facts))
        left_out = LeftOut(*map(int, counted))
        return rows_to_read(*facts) if left_out.rows else self._rows(), left_out

    def _check_types(self, connection: Any) -> None:
        """Raise `InvalidParameter` unless the columns of ids and persons have types with exactly one text per value."""
        for column in filter(None, (self.id, self.subject)):
            unfit = self._unfit(connection, column)
            if unfit is not None:
                raise InvalidParameter(
                    f"{self.address}: the column {column!r} is of type {unfit}, whose values no request can name by one text each; name a column of "
                    "whole numbers, text, uuids or dates, or add one to the table that is computed from it"
                )

    @property
    def _key(self) -> str:
        """The column that determines which rows belong to one subject."""
        return self.subject or self.id

    def _named(self, ids: Sequence[str], subjects: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
        if subjects and self.subject is None:
            raise InvalidRequest("the table does not say whom its records are about; name the records by their ids")
        return [(column, names) for column, names in ((self.id, ids), (self.subject or "", subjects)) if names]

    def _check_columns(self, there: Collection[str]) -> None:
        """Raise `InvalidParameter` unless the rows have the columns for ids and persons."""
        for what, column in (("id", self.id), ("subject", self.subject)):
            if column is not None and column not in there:
                shown = ", ".join(list(there)[:_SHOWN]) + (", …" if len(there) > _SHOWN else "")
                raise InvalidParameter(
                    f"{self.address}: the rows have no column {column!r} for --{what}; there are: {shown}. Correct --{what}, or let --query give it"
                )

    def _check_there(self, column: str, names: Sequence[str], there: Collection[str], hidden: str = "") -> None:
        """Raise `UnknownName` unless all these names occur in a column."""
        missing = next((name for name in names if name not in there), None)
        if missing is not None:
            raise UnknownName(
                "id" if column == self.id else "subject", missing, why=f"never there, or erased already{hidden}"
            )

    def _check_names(self, there: Collection[str]) -> None:
        """Raise `InvalidRequest` for a deletion if the columns for ids and persons are missing."""
        try:
            self._check_columns(there)
        except InvalidParameter as error:
            raise InvalidRequest(
                f"{error}. Until then it is unknown whether a deleted row is read: delete it with your own program, then publish with the number of "
                "rows erased (publish --erased N)"
            ) from None

    def _left_to_the_application(self) -> InvalidRequest:
        return InvalidRequest(
            f"{self.address}: rows are not deleted there by this program; delete them with your own, then publish with the number "
            "of rows erased (publish --erased N)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the description that a ledger holds."""
        return {"kind": self.kind, **asdict(self)}


def blocks(
    source: str, names: Sequence[str], rows: Iterable[Sequence[Any]], limit: int = BLOCK_ROWS
) -> Iterator[Table]:
    """Yield rows as tables of text, each cell stripped; a missing value is empty.

    The record number serves as line number.
    """
    cells: list[list[str]] = []
    first, held = 1, 0
    for row in rows:
        try:
            texts = list(map(write_text, row))
        except ValueError as error:  # also for bytes that are not UTF-8; neither message quotes them
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


def still_read_error(rows: int) -> InvalidRequest:
    """Return the error for rows that a release would still read after their deletion."""
    return InvalidRequest(
        f"{rows} rows of those that the request names are still read after their deletion: a trigger or a rule keeps them, row-level "
        "security hides them from the deletion alone, or the query reads a copy (a materialised view). Nothing was changed; let --table "
        "and --query be the rows themselves"
    )


def other_rows_error(rows: int) -> InvalidRequest:
    """Return the error for a deletion that removes or adds other rows of the table."""
    if rows < 0:
        return InvalidRequest(
            f"the deletion would bring {-rows} new rows into the table: a trigger there keeps copies. Nothing was changed; let the trigger write elsewhere"
        )
    return InvalidRequest(
        f"{rows} more rows of the table would go than the request names: a foreign key that cascades, or a trigger, takes them along. Nothing was "
        "changed; name those rows in the same request, so that each is erased and certified by its own name"
    )


def returned_rows_error(address: str, rows: int) -> SourceError:
    """Return the error for deleted rows that are read again."""
    return SourceError(
        f"{address}: {rows} rows that were deleted since the last release are read there again. Nothing was published; find out who writes "
        "them, and delete them again"
    )


def restored_error(address: str) -> SourceError:
    """Return the error for a source that does not show a deletion that was committed there."""
    return SourceError(
        f"{address}: a deletion that this store committed there is not in its history: a restored backup, a copy that was not up "
        "to date when it took over, or another server. Nothing was deleted or published. When the right one is back, it goes on; where this one "
        "stays, carry out again what was deleted since, in a new store"
    )


def require_read_once(address: str, read: Sequence[str], persons: Collection[str]) -> None:
    """Raise `InvalidParameter` if a query reads one of these tables twice: rows may then select other rows."""
    twice = next((table for table in read if table in persons and read.count(table) > 1), None)
    if twice is not None:
        raise dependent_selection_error(address, f"other rows of {twice}, which the query reads more than once")


def dependent_selection_error(address: str, how: str) -> InvalidParameter:
    """Return the error for a query in which other rows decide whether a row is read."""
    return InvalidParameter(
        f"{address}: the rows to learn from are chosen by {how}: a row that goes would change which others are read, and no figure covers "
        "that. Let --query (and the views that it reads) choose each row by itself"
    )
