"""SQL common to every source: names, the rows that a release reads, and the sums over the rows as one statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.engine.count_tables import CountTables
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.features.maps.additive import Additive
from noisygd_delete.features.maps.coding import NO_ENTRY, Coding
from noisygd_delete.features.schema import Schema
from noisygd_delete.features.schema.columns import Numeric
from noisygd_delete.features.schema.listed import Boolean, Category
from noisygd_delete.features.schema.spelling import make_spelling_patterns


def quote_identifier(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_table(table: str) -> str:
    """Return the name of a table, with an optional schema, as quoted SQL identifiers."""
    return ".".join(map(quote_identifier, table.split(".")))


def literal(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


NameOf = Callable[
    [str], str
]  # maps SQL for a column to SQL for its names, which are equal if their texts are, byte by byte


def rows_to_read(rows: str, key: str, most: int, name_of: NameOf) -> str:
    """Return SQL for those of these rows whose key occurs in at most `most` of them."""
    more = (
        f"SELECT {name_of(quote_identifier(key))} AS name FROM ({rows}) AS counted GROUP BY 1 HAVING count(*) > {most}"
    )
    own = f"everything.{quote_identifier(key)}"
    return (
        f"SELECT everything.* FROM ({rows}) AS everything WHERE {own} IS NOT NULL "
        f"AND NOT EXISTS (SELECT 1 FROM ({more}) AS more WHERE more.name = {name_of(own)})"
    )


def rows_left_out(rows: str, key: str, most: int, name_of: NameOf) -> str:
    """Return SQL for the number of keys in more than `most` rows, and of these rows and rows without a key."""
    counted = f"SELECT {name_of(quote_identifier(key))} AS name, count(*) AS n FROM ({rows}) AS counted GROUP BY 1"
    return f"SELECT count(name) AS persons, coalesce(sum(n), 0) AS {quote_identifier('rows')} FROM ({counted}) AS many WHERE name IS NULL OR n > {most}"


# --- counting ---
#
# The sums computed inside the source: how often two codes occur together, by one statement on one snapshot.
#
# The statement codes each row by its own cells and counts by GROUPING SETS. It returns tables of counts and no row, and
# leaves nothing in the source: no view, no table, no temporary table, nothing spilled. Counts are whole numbers, so the
# sums equal those of the rows read here, bit by bit (`CodedMoments.of_counts`). If SQL would read a column, its type,
# or a cell differently, there is no result, and the rows are read instead.


_SPACE = "".join(map(chr, (code for code in range(1, 0x3001) if chr(code).isspace())))
_LARGEST = "1.7976931348623157e308"
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", 20, 21, 23}
_REAL = {"FLOAT", "DOUBLE", 701}  # float4 of PostgreSQL is displayed with fewer digits
_TEXT = {"VARCHAR", 25, 1043}
_MOST = 80  # columns: PostgreSQL takes 4,096 grouping sets
_MOST_COUNTS = 1 << 21  # in memory, some 100 bytes each


def statement(schema: Schema, rows: str, types: Mapping[str, Any]) -> str:
    """Return the SQL statement, for DuckDB and PostgreSQL, that counts these rows, whose columns have these types.

    Raises:
        InvalidParameter: If SQL does not code a column, its type or the map as `schema` does.
    """
    coding, codes, bad = _require_coding(schema), list[str](), list[str]()
    for place, (name, kind) in enumerate(schema.columns.items()):
        code, wrong = _code(schema, place, name, kind, types)
        codes.append(f"{code} AS c{place}")
        bad.append(wrong)
    label, wrong = _label(schema, types)
    flags = " + ".join(f"CASE WHEN {each} THEN 1 ELSE 0 END" for each in (*bad, wrong) if each)
    chosen = f"SELECT {', '.join(codes)}, {label} AS y, {flags or 0} AS bad FROM ({rows}) AS chosen"
    filled = " + ".join(
        ["1", *(_not_null_sql(place, block.last) for place, block in enumerate(coding.blocks))],
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


def _require_coding(schema: Schema) -> Coding:
    if not isinstance(schema.map, Additive) or schema.map.pairs or not schema.intercept or schema.rows != "unit":
        raise InvalidParameter("SQL counts the rows of an additive map without pairs, of unit norm, with a constant")
    if len(schema.columns) != len(schema.map.columns):
        raise InvalidParameter("SQL codes numbers, categories and booleans, none of these with a column for others")
    coding = schema.map.coding
    whole, squares = sum(coding.sizes), sum(size * size for size in coding.sizes)
    if len(coding.sizes) > _MOST or (whole * whole - squares) // 2 > _MOST_COUNTS:
        raise InvalidParameter("has more pairs of codes than one statement counts in memory")
    return coding


def _not_null_sql(place: int, last: NDArray[np.intp]) -> str:
    empty = np.flatnonzero(last == NO_ENTRY)
    return f"CASE WHEN c{place} = {int(empty[0])} THEN 0 ELSE 1 END" if len(empty) else "1"


def _code(schema: Schema, place: int, name: str, kind: Any, types: Mapping[str, Any]) -> tuple[str, str]:
    """Return SQL for a column's code, and for whether a cell is not valid for its kind."""
    if name not in types:
        raise InvalidParameter(f"is no column of the rows: {name!r}")
    if isinstance(kind, Numeric) and types[name] in _WHOLE | _REAL and not kind.marks():
        return _number(schema, place, name, kind)
    if isinstance(kind, (Category, Boolean)) and types[name] in _WHOLE | _TEXT:
        last = _require_coding(schema).blocks[place].last
        beyond = len(last) - 1  # no entry
        if isinstance(kind, Category) and kind.unknown == "column":
            beyond = len(kind.values)
        return _listed_sql(name, kind.values, beyond, types[name], refused=kind.unknown not in ("column", "zero"))
    raise InvalidParameter(f"is of a type or a kind that SQL does not code as the schema does: {name!r}")


def _listed_sql(name: str, listed: Sequence[str], beyond: int, type: Any, *, refused: bool) -> tuple[str, str]:
    text = (
        f"TRIM(BOTH {literal(_SPACE)} FROM CAST({quote_identifier(name)} AS VARCHAR)) COLLATE {quote_identifier('C')}"
    )
    cases = " ".join(f"WHEN {literal(value)} THEN {code}" for code, value in enumerate(listed))
    other = f"COALESCE({text}, '') NOT IN ({', '.join(map(literal, listed))})"
    one_way = type in _WHOLE and any(value.isdecimal() for value in listed)  # there is only one way to write the number
    otherwise = bool(make_spelling_patterns(tuple(listed))) and not one_way
    meant = f"{other} AND COALESCE({text}, '') <> ''" if otherwise else ""
    wrong = other if refused else meant
    return f"CASE {text} {cases} ELSE {beyond} END", wrong


def _number(schema: Schema, place: int, name: str, kind: Numeric) -> tuple[str, str]:
    ends, codes = _steps(schema, place, kind)
    value = f"CAST({quote_identifier(name)} AS DOUBLE PRECISION)"
    finite = f"{value} BETWEEN CAST('-{_LARGEST}' AS DOUBLE PRECISION) AND CAST('{_LARGEST}' AS DOUBLE PRECISION)"
    wrong = f"{quote_identifier(name)} IS NOT NULL AND NOT ({finite})"
    coded = _search_sql(value, ends, codes)
    if kind.indicator:
        empty = str(1 << schema.map.levels)  # type: ignore[union-attr]
    elif kind.missing is not None:
        empty = str(codes[int(np.searchsorted(ends, kind.missing, "right"))])
    else:
        empty, wrong = "0", f"NOT COALESCE({finite}, FALSE)"
    return f"CASE WHEN {quote_identifier(name)} IS NULL THEN {empty} ELSE {coded} END", wrong


def _search_sql(value: str, ends: NDArray[np.float64], codes: list[int]) -> str:
    """Return SQL for the code of a value by binary search: `codes[k]` if exactly k ends are at most the value."""
    if not len(ends):
        return str(codes[0])
    middle = len(ends) // 2
    below, above = (
        _search_sql(value, ends[:middle], codes[: middle + 1]),
        _search_sql(value, ends[middle + 1 :], codes[middle + 1 :]),
    )
    return f"CASE WHEN {value} < CAST('{float(ends[middle])!r}' AS DOUBLE PRECISION) THEN {below} ELSE {above} END"


def _steps(schema: Schema, place: int, kind: Numeric) -> tuple[NDArray[np.float64], list[int]]:
    """Return the smallest floats at which the code changes, and the codes between them.

    The floats have shape (ends,) and are found by bisection over all floats; there is one more code than ends.
    """
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
    """Return the smallest float of at least each wanted rank; `rank` must be non-decreasing."""
    low, high = (np.full(len(wanted), _order(value), np.int64) for value in (lower, upper))  # above low, at most high
    while (high > low + 1).any():  # their difference would not fit
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        there = rank(_float(middle)) >= wanted
        low, high = np.where(there, low, middle), np.where(there, middle, high)
    return _float(high)


def _order(value: float) -> int:
    """Return a float's place in the order of floats, as an integer."""
    bits = int(np.float64(value + 0.0).view(np.int64))
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def _float(order: NDArray[np.int64]) -> NDArray[np.float64]:
    size = np.abs(order).view(np.float64)
    return np.where(order < 0, -size, size)


def _label(schema: Schema, types: Mapping[str, Any]) -> tuple[str, str]:
    name, kind = schema.label_column, schema.label
    if not isinstance(kind, Category) or types.get(name) not in _WHOLE | _TEXT:
        raise InvalidParameter(f"is a label that SQL does not code as the schema does: {name!r}")
    place, wrong = _listed_sql(name, kind.values, 0, types[name], refused=True)
    return (f"2 * ({place}) - 1" if len(kind.values) == 2 else place), wrong


def tables_of(schema: Schema, found: Sequence[Sequence[Any]]) -> CountTables | None:
    """Build the count tables from the rows of the result, whose codes identify their table.

    None if a cell was not valid for its column, or was written differently than listed.
    """
    coding = _require_coding(schema)
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
