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

One rule of comparison. A name means the rows whose id, or person, is written exactly so: texts are compared byte by byte, whatever a column's own
equality takes for the same (a collation that knows no case, citext, the loose comparisons of MySQL, 1.0 and 1.00). Rows are counted as one person's, found,
deleted and looked for by that rule alone, in every kind of source. An index finds what may be equal; bytes decide.

A query must choose each row by itself: what a window, a LIMIT or a sample chooses depends on the rows of others, in the same way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol

from ...engine import CurrentRecords
from ...engine.count_tables import CountTables
from ...errors import InvalidParameter, InvalidRequest, SourceError, UnknownName, check_count
from ...features.schema import Schema, Table
from ...features.schema.files import BLOCK_ROWS
from ...features.schema.values import write_text
from ...records import NONE_LEFT_OUT, EditCounts, LeftOut
from .sql import quote_identifier, rows_left_out, rows_to_read, statement, tables_of

_LONGEST_CELL = 1 << 20  # characters
_MOST_HELD = 1 << 24  # characters of one block
_LONGEST_TEXT = 100_000  # characters of a query
_SHOWN = 20  # columns in a message

Accept = Callable[[str, Sequence[str]], None]


@dataclass(frozen=True)
class SourceHistory:
    """What was done in a source before, as a later snapshot must show it.

    marks          that deletions left there
    ids, subjects  that were deleted since the last release, as far as this process knows them
    refuse         given the ids of all rows, raises where one was erased before (see `store.suppression`)
    erased_at      position of the last erasure that the ledger knows of
    definition     of the rows that the last release read (`Snapshot.definition`)
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
    """The rows as they were at one moment. `blocks` can be read once, while the snapshot is open.

    changes   rows changed since an earlier position that was asked about, by the source's own count; None: not counted
    left_out  rows that are not read because of whose they are
    state     by which the source knows them again, where a chain goes on from them; None: it cannot
    unchanged whether they are as in the state that the chain goes on from
    definition  of what they are read from and how, where the source's count of changes rests on that
    counted   how often two codes of a schema's map stand together in them, by the source itself; None: it does not code as the schema does
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
    """Releases that go on from one another (see `chain`), as a source takes part in them."""

    @property
    def state(self) -> str | None:
        """Of the rows that the next one goes on from; None: it goes on from none."""

    @property
    def columns(self) -> Sequence[str]:
        """What a release reads of a row."""

    def take(self, before: Iterable[Table], after: Iterable[Table], state: str = "") -> None:
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
        """One moment of the source, with these columns of every row that a release may read.

        Args:
            since: an earlier position: what changed from there on is counted, where the source counts it.
            done: what it must show.
            chain: whose next release reads it.

        Raises:
            SourceError: the source cannot be reached, does not have these rows, does not show what was done, or finds that it has not
                counted all.
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
        """Raise `InvalidParameter` unless a store may be made over these rows: they name themselves, none of them is read or not because
        of others, and none from a copy. `SourceError`: they are not there."""
        with self._moment() as (connection, _):
            self._check_plan(connection)
            self._check_columns(self._columns(connection))
            self._check_types(connection)

    def columns(self) -> list[str]:
        """The names of the columns of the rows there."""
        with self._moment() as (connection, _):
            return list(self._columns(connection))

    def every(self, columns: Sequence[str]) -> Generator[Table]:
        """These columns of all rows there, whoever has how many."""
        with self._moment() as (connection, _):
            yield from blocks(self.address, columns, self._cells(connection, columns, self._rows()))

    def names(self, column: str) -> Iterator[str]:
        """What stands in a column of ids or persons, exactly, in all rows there."""
        with self._moment() as (connection, _):
            yield from self._names_in(connection, column)

    def position(self) -> str:
        """Where the source stands now: what was committed before this call, a snapshot taken after it covers."""
        with self._moment() as (_, position):
            return position

    @abstractmethod
    def held(self, ids: Sequence[str], subjects: Sequence[str], *, names: bool = False) -> int:
        """How many rows of these there are; or of the names among them that have any, each once. A name that the column's type cannot
        hold has none."""

    def open_rows(
        self, schema: Schema, slots: int, done: SourceHistory = NOTHING_DONE
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
        with self._moment() as (connection, position):
            return self._is_in(connection, position, state)

    def is_watched(self) -> bool:
        """Whether it shows that now, and not only after `watch`."""
        return True

    def delete(
        self,
        ids: Sequence[str],
        subjects: Sequence[str],
        accept: Accept,
        done: SourceHistory = NOTHING_DONE,
        chain: ReleaseChain | None = None,
    ) -> str:
        """Delete the rows of these ids and persons in one transaction of the source; the position of its commit.

        Args:
            accept: told, right before the commit, a mark by which `committed` will know this transaction, and the ids of the rows that
                it deletes. Where it raises, nothing is deleted.
            done: by its marks a source that is not as they left it is noticed: a row deleted in a copy would still stand in the source.
            chain: told of it where the rows are still those that it goes on from.

        Raises:
            InvalidRequest: one of them has no row, the source refuses, a release would still read one, or others would go too; nothing was deleted.
            SourceError: the source cannot be reached, and `committed` tells whether it was done; or it does not show what was done before.
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
                raise takes_others(taken - len(gone))
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

    def committed(self, mark: str) -> str | None:
        """The position at which the deletion with this mark was committed; None if it was not, and never will be."""
        with self._moment() as (connection, _):
            number = self._number_of(connection, mark)
        return None if number is None else f"version:{number}"

    def watch(self, columns: Sequence[str], since: str | None, definition: str | None = None) -> EditCounts | None:
        """Begin to count the changes that nobody tells of, or go on; those of these columns since this position, where they were counted.

        Raises:
            InvalidParameter: this kind of source has no way to.
        """
        raise InvalidParameter(
            f"{self.address}: nothing there counts changes: {self.uncounted}. Plans over such rows start every release anew, so that no figure "
            "depends on the count; certificates say that it was not taken"
        )

    # What a kind of source says of itself. A connection is that of the kind's own library.

    @abstractmethod
    def _moment(self, *, marking: bool = False) -> AbstractContextManager[tuple[Any, str]]:
        """A connection on one moment of the rows, and its position. `marking`: a mark may be left there by it."""

    @property
    @abstractmethod
    def _table_name(self) -> str: ...

    @property
    def _table_rows(self) -> str:
        return f"SELECT * FROM {self._table_name}"

    @abstractmethod
    def _columns(self, connection: Any) -> Mapping[str, Any]:
        """The columns of the rows there, and their types."""

    @abstractmethod
    def _cells(self, connection: Any, columns: Sequence[str], rows: str) -> Iterator[Sequence[Any]]: ...

    @abstractmethod
    def _check_plan(self, connection: Any, *, again: bool = False) -> None:
        """Raise `InvalidParameter` where a query, or a view under it, reads a copy, or lets other rows decide whether one is read.
        `again`: a view may have been replaced; what a planner puts in by itself on another day is no reason."""

    @abstractmethod
    def _unfit(self, connection: Any, column: str) -> str | None:
        """The type of a column, in the rows that are read or in the table, of which a value has no text or several; None: it has one."""

    @abstractmethod
    def _read_of(self, connection: Any, ids: Sequence[str], subjects: Sequence[str]) -> int:
        """How many rows have one of these names, of the table and of what a release may read: the larger number."""

    def _changed(
        self, connection: Any, since: str, position: str, columns: Sequence[str], definition: str | None
    ) -> EditCounts | None:
        return self.changes(since, position, columns)

    def _definition(self, connection: Any) -> str | None:
        """What the rows are read from and how, where that can change without a row being written and a count would not show it."""
        return None

    def _definition_now(self, connection: Any) -> str | None:
        """The same, by the newest moment."""
        return self._definition(connection)

    def _alone(self, connection: Any) -> bool:
        """Whether the source itself keeps ids from standing twice."""
        return False

    def _answer_in_memory(self, connection: Any, asked: str) -> Sequence[Sequence[Any]] | None:
        """The whole answer, worked out in memory alone; None: this source would write something to its disk for it."""
        return None

    # Of those that rows are deleted from:

    @property
    def _is_deleted_from(self) -> bool:
        return self.table is not None

    def _deletion(self, *, chained: bool) -> AbstractContextManager[tuple[Any, str]]:
        """A connection in a transaction that may write; where it is one of a chain, one view of the rows, and its position."""
        raise NotImplementedError

    def _refusing(self) -> AbstractContextManager[None]:
        """What the source says about the rows of one request refuses that request alone."""
        raise NotImplementedError

    def _delete_rows(self, connection: Any, named: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
        """Delete the rows of these names in a column each, all of which must have one; the ids of the rows."""
        raise NotImplementedError

    @staticmethod
    def _name_of(column: str) -> str:
        """SQL of the texts of a column, compared byte by byte."""
        raise NotImplementedError

    def _rows_taken(self, connection: Any) -> int:
        """How many rows the transaction under way has taken from the table, less those that it brought; or that and any fixed number."""
        raise NotImplementedError

    def _leave_mark(self, connection: Any) -> tuple[str, str]:
        """The mark of the transaction under way, and its position."""
        raise NotImplementedError

    def _number_of(self, connection: Any, mark: str) -> int | None:
        """Which of the deletions that were made here has this mark, where they are numbered; None: none has."""
        raise self._left_to_the_application()

    def _shown(self, connection: Any, position: str, done: SourceHistory) -> bool:
        """Whether the deletions that were made here are in the history of these rows."""
        return all(self._number_of(connection, mark) is not None for mark in done.marks)

    # Of those that a chain goes on over:

    def _state(self, connection: Any, position: str) -> str | None:
        """By which these rows are known again; None: not at all."""
        return None

    def _is_in(self, connection: Any, position: str, state: str | None) -> bool:
        """Whether the rows are as in this state."""
        return state is not None and self._state(connection, position) == state

    def _rows_of(self, connection: Any, keys: Sequence[str]) -> str:
        """SQL of the rows that a release reads of these persons (ids, where the source names no persons)."""
        raise NotImplementedError

    def _keys_having(self, connection: Any, column: str, names: Sequence[str]) -> list[str]:
        """Whom the rows with these names in a column are about."""
        raise NotImplementedError

    def _state_to_come(self, connection: Any, position: str, mark: str, deleted: int) -> str | None:
        """The state that the transaction under way will leave, which deletes so many rows; "": it is known when it is committed; None: never."""
        return ""

    def _state_left(self, connection: Any) -> str | None:
        """The state that the transaction just committed has left."""
        return None

    def _keys_of(self, connection: Any, named: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
        """Whom the rows with these names are about, each once."""
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
        """SQL of all rows there."""
        if self.query is None:
            return self._table_rows
        return self.query.strip().rstrip(";") + "\n"  # its last line may be a comment

    def _rows_to_read(self, connection: Any) -> tuple[str, LeftOut]:
        """SQL of those that a release reads (see `source`), and what that leaves out; nothing where each id is known to be alone."""
        if self.subject is None and self.query is None and self._alone(connection):
            return self._rows(), LeftOut()
        facts = self._rows(), self._key, self.rows_per_subject, self._name_of
        (counted,) = self._cells(connection, ["persons", "rows"], rows_left_out(*facts))
        left_out = LeftOut(*map(int, counted))
        return rows_to_read(*facts) if left_out.rows else self._rows(), left_out

    def _check_types(self, connection: Any) -> None:
        """Raise `InvalidParameter` unless a text names one value of the columns of ids and persons."""
        for column in filter(None, (self.id, self.subject)):
            unfit = self._unfit(connection, column)
            if unfit is not None:
                raise InvalidParameter(
                    f"{self.address}: the column {column!r} is of type {unfit}, whose values no request can name by one text each; name a column of "
                    "whole numbers, text, uuids or dates, or add one to the table that is computed from it"
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

    def _check_there(self, column: str, names: Sequence[str], there: Collection[str], hidden: str = "") -> None:
        """Raise `InvalidRequest` unless all these names are among those of a column."""
        missing = next((name for name in names if name not in there), None)
        if missing is not None:
            raise UnknownName(
                "id" if column == self.id else "subject", missing, why=f"never there, or erased already{hidden}"
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


def still_read_error(rows: int) -> InvalidRequest:
    """Rows that a deletion left where a release would read them."""
    return InvalidRequest(
        f"{rows} rows of those that the request names are still read after their deletion: a trigger or a rule keeps them, row-level "
        "security hides them from the deletion alone, or the query reads a copy (a materialised view). Nothing was changed; let --table "
        "and --query be the rows themselves"
    )


def takes_others(rows: int) -> InvalidRequest:
    """A deletion by which other rows of the table go, or come."""
    if rows < 0:
        return InvalidRequest(
            f"the deletion would bring {-rows} new rows into the table: a trigger there keeps copies. Nothing was changed; let the trigger write elsewhere"
        )
    return InvalidRequest(
        f"{rows} more rows of the table would go than the request names: a foreign key that cascades, or a trigger, takes them along. Nothing was "
        "changed; name those rows in the same request, so that each is erased and certified by its own name"
    )


def returned_rows_error(address: str, rows: int) -> SourceError:
    """Rows that were deleted and are read again."""
    return SourceError(
        f"{address}: {rows} rows that were deleted since the last release are read there again. Nothing was published; find out who writes "
        "them, and delete them again"
    )


def restored_error(address: str) -> SourceError:
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
        raise dependent_selection_error(address, f"other rows of {twice}, which the query reads more than once")


def dependent_selection_error(address: str, how: str) -> InvalidParameter:
    """A query in which other rows decide whether one is read."""
    return InvalidParameter(
        f"{address}: the rows to learn from are chosen by {how}: a row that goes would change which others are read, and no figure covers "
        "that. Let --query (and the views that it reads) choose each row by itself"
    )
