"""Sources that are asked by SQL: what a snapshot must show before a row is read, in one order for all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.count_tables import CountTables
from ...errors import InvalidParameter, SourceError
from ...features.maps.additive import Additive
from ...features.maps.coding import NO_ENTRY, Coding
from ...features.schema import Schema, Table
from ...features.schema.columns import Boolean, Category, Numeric
from ...features.schema.values import spellings
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
    quoted,
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

    def _keys_having(self, connection: Any, column: str, names: Sequence[str]) -> list[str]:
        """Whom the rows with these names in a column are about."""
        raise NotImplementedError

    def _keys_of(self, connection: Any, named: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
        """The same of several columns, each once."""
        return list(dict.fromkeys(key for one in named for key in self._keys_having(connection, *one)))

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


# --- counting ---
#
# The pass of sums where the rows lie: how often two codes stand together, by one statement, of one snapshot.
#
# The statement codes each row by its own cells and counts by GROUPING SETS; every table of counts comes back, no row does, and nothing of it is
# kept: no view, no table, no temporary one, nothing spilled. Counts are whole numbers, so the sums are those of the rows read here, bit by bit
# (`CodedMoments.of_counts`). Where a column, its type, or a cell is read otherwise by SQL, nothing is told: then the rows are read.


_SPACE = "".join(map(chr, (code for code in range(1, 0x3001) if chr(code).isspace())))
_LARGEST = "1.7976931348623157e308"
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", 20, 21, 23}
_REAL = {"FLOAT", "DOUBLE", 701}  # float4 of PostgreSQL is written in fewer digits than it has
_TEXT = {"VARCHAR", 25, 1043}
_MOST = 80  # columns: PostgreSQL takes 4,096 grouping sets
_MOST_COUNTS = 1 << 21  # in memory, some 100 bytes each


def statement(schema: Schema, rows: str, types: Mapping[str, Any]) -> str:
    """The pass over these rows, whose columns have these types, in SQL of DuckDB and of PostgreSQL.

    Raises:
        InvalidParameter: a column, its type or the map is none that SQL codes as `schema` does.
    """
    coding, codes, bad = _coding(schema), list[str](), list[str]()
    for place, (name, kind) in enumerate(schema.columns.items()):
        code, wrong = _code(schema, place, name, kind, types)
        codes.append(f"{code} AS c{place}")
        bad.append(wrong)
    label, wrong = _label(schema, types)
    flags = " + ".join(f"CASE WHEN {each} THEN 1 ELSE 0 END" for each in (*bad, wrong) if each)
    chosen = f"SELECT {', '.join(codes)}, {label} AS y, {flags or 0} AS bad FROM ({rows}) AS chosen"
    filled = " + ".join(
        ["1", *(_filled(place, block.last) for place, block in enumerate(coding.blocks))],
    )
    columns = [f"c{place}" for place in range(len(coding.blocks))]
    several = len(schema.classes or ()) > 2
    alone = [f"(m, {column}{', y' * several})" for column in columns] + [
        f"(m, {column})" for column in columns
    ] * several
    sets = ["()", *alone, *(f"(m, {one}, {other})" for one, other in combinations(columns, 2))]
    answer = "y, CAST(NULL AS BIGINT)" if several else "CAST(NULL AS BIGINT), CAST(SUM(y) AS BIGINT)"
    return (
        f"WITH coded AS ({chosen}), filled AS (SELECT coded.*, {filled} AS m FROM coded) "
        f"SELECT m, {', '.join(columns)}, {answer}, COUNT(*), CAST(SUM(bad) AS BIGINT) FROM filled GROUP BY GROUPING SETS ({', '.join(sets)})"
    )


def _coding(schema: Schema) -> Coding:
    if not isinstance(schema.map, Additive) or schema.map.pairs or not schema.intercept or schema.rows != "unit":
        raise InvalidParameter("SQL counts the rows of an additive map without pairs, of unit norm, with a constant")
    if len(schema.columns) != len(schema.map.columns):
        raise InvalidParameter("SQL codes numbers, categories and booleans, none of these with a column for others")
    coding = schema.map.coding
    whole, squares = sum(coding.sizes), sum(size * size for size in coding.sizes)
    if len(coding.sizes) > _MOST or (whole * whole - squares) // 2 > _MOST_COUNTS:
        raise InvalidParameter("has more pairs of codes than one statement counts in memory")
    return coding


def _filled(place: int, last: NDArray[np.intp]) -> str:
    empty = np.flatnonzero(last == NO_ENTRY)
    return f"CASE WHEN c{place} = {int(empty[0])} THEN 0 ELSE 1 END" if len(empty) else "1"


def _code(schema: Schema, place: int, name: str, kind: Any, types: Mapping[str, Any]) -> tuple[str, str]:
    """SQL of a column's code, and of whether a cell is none of its kind."""
    if name not in types:
        raise InvalidParameter(f"is no column of the rows: {name!r}")
    if isinstance(kind, Numeric) and types[name] in _WHOLE | _REAL and not kind.marks():
        return _number(schema, place, name, kind)
    if isinstance(kind, (Category, Boolean)) and types[name] in _WHOLE | _TEXT:
        last = _coding(schema).blocks[place].last
        beyond = len(last) - 1  # no entry
        if isinstance(kind, Category) and kind.unknown == "column":
            beyond = len(kind.values)
        return _listed(name, kind.values, beyond, types[name], refused=kind.unknown not in ("column", "zero"))
    raise InvalidParameter(f"is of a type or a kind that SQL does not code as the schema does: {name!r}")


def _listed(name: str, listed: Sequence[str], beyond: int, type: Any, *, refused: bool) -> tuple[str, str]:
    text = f"TRIM(BOTH {_literal(_SPACE)} FROM CAST({quoted(name)} AS VARCHAR)) COLLATE {quoted('C')}"
    cases = " ".join(f"WHEN {_literal(value)} THEN {code}" for code, value in enumerate(listed))
    other = f"COALESCE({text}, '') NOT IN ({', '.join(map(_literal, listed))})"
    one_way = type in _WHOLE and any(value.isdecimal() for value in listed)  # of writing a number
    otherwise = bool(spellings(tuple(listed))) and not one_way
    meant = f"{other} AND COALESCE({text}, '') <> ''" if otherwise else ""
    wrong = other if refused else meant
    return f"CASE {text} {cases} ELSE {beyond} END", wrong


def _number(schema: Schema, place: int, name: str, kind: Numeric) -> tuple[str, str]:
    ends, codes = _steps(schema, place, kind)
    value = f"CAST({quoted(name)} AS DOUBLE PRECISION)"
    finite = f"{value} BETWEEN CAST('-{_LARGEST}' AS DOUBLE PRECISION) AND CAST('{_LARGEST}' AS DOUBLE PRECISION)"
    wrong = f"{quoted(name)} IS NOT NULL AND NOT ({finite})"
    coded = _searched(value, ends, codes)
    if kind.indicator:
        empty = str(1 << schema.map.levels)  # type: ignore[union-attr]
    elif kind.missing is not None:
        empty = str(codes[int(np.searchsorted(ends, kind.missing, "right"))])
    else:
        empty, wrong = "0", f"NOT COALESCE({finite}, FALSE)"
    return f"CASE WHEN {quoted(name)} IS NULL THEN {empty} ELSE {coded} END", wrong


def _searched(value: str, ends: NDArray[np.float64], codes: list[int]) -> str:
    """SQL of the code of a value: that behind as many ends as are not above it."""
    if not len(ends):
        return str(codes[0])
    middle = len(ends) // 2
    below, above = (
        _searched(value, ends[:middle], codes[: middle + 1]),
        _searched(value, ends[middle + 1 :], codes[middle + 1 :]),
    )
    return f"CASE WHEN {value} < CAST('{float(ends[middle])!r}' AS DOUBLE PRECISION) THEN {below} ELSE {above} END"


def _steps(schema: Schema, place: int, kind: Numeric) -> tuple[NDArray[np.float64], list[int]]:
    """(ends,) the smallest floats from which a number has the next code, found by halving among all floats; and the codes, one more."""
    map = schema.map
    assert isinstance(map, Additive)
    at = sum(width or 1 for width in map.columns[:place]) + sum(gap < place for gap in map.gaps)
    empty = (1 << map.levels) + (place in map.gaps)

    def rank(values: NDArray[np.float64]) -> NDArray[np.int64]:
        inputs = np.zeros((len(values), map.inputs))
        inputs[:, at] = kind.scaled(values)
        code = map.codes(inputs)[:, place]
        return np.where((code == empty) & (place in map.amounts), 0, code + 1)

    lowest, highest = rank(np.array([kind.lower, kind.upper]))
    ends = _smallest(rank, np.arange(lowest + 1, highest + 1), kind.lower, kind.upper)
    ranks = [int(lowest), *rank(ends).tolist()] if len(ends) else [int(lowest)]
    kept = [0, *(k for k in range(1, len(ranks)) if ranks[k] > ranks[k - 1])]
    codes = [empty if ranks[k] == 0 else ranks[k] - 1 for k in kept]
    return np.array([ends[k - 1] for k in kept[1:]]), codes


def _smallest(
    rank: Callable[[NDArray[np.float64]], NDArray[np.int64]], wanted: NDArray[np.int64], lower: float, upper: float
) -> NDArray[np.float64]:
    """The smallest float of at least each rank: `rank` rises."""
    low, high = (np.full(len(wanted), _order(value), np.int64) for value in (lower, upper))  # above low, at most high
    while (high > low + 1).any():  # their difference would not fit
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        there = rank(_float(middle)) >= wanted
        low, high = np.where(there, low, middle), np.where(there, middle, high)
    return _float(high)


def _order(value: float) -> int:
    """Floats in their order, as whole numbers."""
    bits = int(np.float64(value + 0.0).view(np.int64))
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def _float(order: NDArray[np.int64]) -> NDArray[np.float64]:
    size = np.abs(order).view(np.float64)
    return np.where(order < 0, -size, size)


def _label(schema: Schema, types: Mapping[str, Any]) -> tuple[str, str]:
    name, kind = schema.label_column, schema.label
    if not isinstance(kind, Category) or types.get(name) not in _WHOLE | _TEXT:
        raise InvalidParameter(f"is a label that SQL does not code as the schema does: {name!r}")
    place, wrong = _listed(name, kind.values, 0, types[name], refused=True)
    return (f"2 * ({place}) - 1" if len(kind.values) == 2 else place), wrong


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def tables_of(schema: Schema, found: Sequence[Sequence[Any]]) -> CountTables | None:
    """The tables out of the answer's rows, each of which says by its codes which table it is of; None: a cell was not of its column's kind, or
    written otherwise than listed."""
    coding = _coding(schema)
    classes, blocks = len(schema.classes or ()), len(coding.blocks)
    tables = CountTables({}, {})
    for m, *codes, label, signs, number, bad in found:
        if m is None:
            if bad:
                return None
            continue
        there = [place for place in range(blocks) if codes[place] is not None]
        one, other = there[0], there[-1]
        size = (coding.sizes[one], coding.sizes[other] if one != other else 1)
        where = codes[one], codes[other] if one != other else 0
        sums = tables.labels.setdefault((m, one), np.zeros((size[0], classes if classes > 2 else 1), np.int64))
        if label is not None:
            sums[codes[one], label] = number
            continue
        tables.pairs.setdefault((m, one, other), np.zeros(size, np.int64))[where] = number
        if one == other and signs is not None:
            sums[codes[one], 0] = signs
    return tables
