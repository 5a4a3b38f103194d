"""Sources that are asked by SQL: what a snapshot must show before a row is read, in one order for all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from ...engine.count_tables import CountTables
from ...errors import InvalidParameter, SourceError
from ...features.schema import Schema, Table
from ...records import EditCounts, LeftOut
from .source import (
    NOTHING_DONE,
    Done,
    ReleaseChain,
    Snapshot,
    Source,
    blocks,
    came_back,
    put_back,
    rows_left_out,
    rows_to_read,
)


@dataclass(frozen=True)
class SqlSource(Source):
    """Rows of a table or of a query. A connection is that of the kind's own library."""

    @abstractmethod
    def _moment(self, *, marking: bool = False) -> AbstractContextManager[tuple[Any, str]]:
        """A connection on one moment of the rows, and its position. `marking`: a mark may be left there by it."""

    @property
    @abstractmethod
    def _table_name(self) -> str: ...

    @abstractmethod
    def _columns(self, connection: Any) -> Mapping[str, Any]:
        """The columns of the rows there, and their types."""

    @abstractmethod
    def _cells(self, connection: Any, columns: Sequence[str], rows: str) -> Iterator[Sequence[Any]]: ...

    @abstractmethod
    def _names_in(self, connection: Any, column: str) -> Iterator[str]: ...

    @abstractmethod
    def _first(self, connection: Any, asked: str) -> Sequence[Any] | None:
        """The first row of an answer."""

    @abstractmethod
    def _check_plan(self, connection: Any, *, again: bool = False) -> None:
        """Raise `InvalidParameter` where a query, or a view under it, reads a copy, or lets other rows decide whether one is read.
        `again`: a view may have been replaced; what a planner puts in by itself on another day is no reason."""

    @abstractmethod
    def _changed(self, connection: Any, since: str, position: str, columns: Sequence[str]) -> EditCounts | None: ...

    @abstractmethod
    def _shown(self, connection: Any, position: str, done: Done) -> bool:
        """Whether the deletions that were made here are in the history of these rows."""

    @abstractmethod
    def _read_of(self, connection: Any, ids: Sequence[str], subjects: Sequence[str]) -> int:
        """How many rows have one of these names, of the table and of what a release may read: the larger number."""

    def _alone(self, connection: Any) -> bool:
        """Whether the source itself keeps ids from standing twice."""
        return False

    def _state(self, connection: Any, position: str) -> str | None:
        """By which these rows are known again; None: not at all."""
        return None

    def _is_in(self, connection: Any, position: str, state: str | None) -> bool:
        """Whether the rows are as in this state."""
        return state is not None and self._state(connection, position) == state

    def is_in(self, state: str | None) -> bool:
        with self._moment() as (connection, position):
            return self._is_in(connection, position, state)

    def _rows_of(self, connection: Any, keys: Sequence[str]) -> str:
        """SQL of the rows that a release reads of these persons (ids, where the source names no persons)."""
        raise NotImplementedError

    def _read_rows(self, connection: Any, columns: Sequence[str], rows: str) -> list[Table]:
        return list(blocks(self.address, columns, self._cells(connection, columns, rows)))

    def _answer_in_memory(self, connection: Any, asked: str) -> Sequence[Sequence[Any]] | None:
        """The whole answer, worked out in memory alone; None: this source would write something to its disk for it."""
        return None

    @contextmanager
    def snapshot(
        self,
        columns: Sequence[str],
        since: str | None = None,
        done: Done = NOTHING_DONE,
        chain: ReleaseChain | None = None,
    ) -> Iterator[Snapshot]:
        with self._moment(marking=chain is not None) as (connection, position):
            try:
                self._check_plan(connection, again=True)
            except InvalidParameter as error:
                raise SourceError(f"{error}. Nothing was published") from None
            changes = None if since is None else self._changed(connection, since, position, columns)
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
                lambda schema: self._counted_codes(connection, schema, rows),
            )

    def _counted_codes(self, connection: Any, schema: Schema, rows: str) -> CountTables | None:
        from .counting import statement, tables_of

        try:
            found = self._answer_in_memory(connection, statement(schema, rows, self._columns(connection)))
        except InvalidParameter:
            return None
        return None if found is None else tables_of(schema, found)

    def _check_done(self, connection: Any, position: str, done: Done) -> None:
        """Raise `SourceError` unless these rows show what was done before."""
        if not self._shown(connection, position, done):
            raise put_back(self.address)
        back = self._read_of(connection, done.ids, done.subjects)
        if back:
            raise came_back(self.address, back)
        if done.refuse is not None:
            done.refuse(self._names_in(connection, self.id))

    def _rows(self) -> str:
        """SQL of all rows there."""
        if self.query is None:
            return f"SELECT * FROM {self._table_name}"
        return self.query.strip().rstrip(";") + "\n"  # its last line may be a comment

    def _rows_to_read(self, connection: Any) -> tuple[str, LeftOut]:
        """SQL of those that a release reads (see `source`), and what that leaves out; nothing where each id is known to be alone."""
        named = self._key in self._columns(connection)  # queries of earlier versions need not name their rows
        if not named or (self.subject is None and self.query is None and self._alone(connection)):
            return self._rows(), LeftOut()
        facts = self._rows(), self._key, self.rows_per_subject
        left_out = LeftOut(*self._first(connection, rows_left_out(*facts)) or ())
        return rows_to_read(*facts) if left_out.rows else self._rows(), left_out

    def check(self) -> None:
        with self._moment() as (connection, _):
            self._check_plan(connection)
            self._check_columns(self._columns(connection))
            self._check_types(connection)

    def _check_types(self, connection: Any) -> None:
        """Raise `InvalidParameter` unless a text names one value of the columns of ids and persons."""
        for column in filter(None, (self.id, self.subject)):
            unfit = self._unfit(connection, column)
            if unfit is not None:
                raise InvalidParameter(
                    f"{self.address}: the column {column!r} is of type {unfit}, whose values no request can name by one text each; name a column of "
                    "whole numbers, text, uuids or dates, or add one to the table that is computed from it"
                )

    @abstractmethod
    def _unfit(self, connection: Any, column: str) -> str | None:
        """The type of a column, in the rows that are read or in the table, of which a value has no text or several; None: it has one."""

    def every(self, columns: Sequence[str]) -> Generator[Table]:
        with self._moment() as (connection, _):
            yield from blocks(self.address, columns, self._cells(connection, columns, self._rows()))

    def names(self, column: str) -> Iterator[str]:
        with self._moment() as (connection, _):
            yield from self._names_in(connection, column)

    def columns(self) -> list[str]:
        with self._moment() as (connection, _):
            return list(self._columns(connection))

    def position(self) -> str:
        with self._moment() as (_, position):
            return position
