"""SQL as every source understands it: names, the rows that a release reads, and the pass of sums as one statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.count_tables import CountTables
from ...errors import InvalidParameter
from ...features.maps.additive import Additive
from ...features.maps.coding import NO_ENTRY, Coding
from ...features.schema import Schema
from ...features.schema.columns import Boolean, Category, Numeric
from ...features.schema.values import spellings


def quote_identifier(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def quote_table(table: str) -> str:
    """A table's name, perhaps with that of its schema."""
    return ".".join(map(quote_identifier, table.split(".")))


def literal(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


NameOf = Callable[
    [str], str
]  # SQL of a column to SQL of the names in it, which are equal where their texts are, byte by byte


def rows_to_read(rows: str, key: str, most: int, name_of: NameOf) -> str:
    """SQL: those among these rows whose key stands in no more than `most` of them."""
    more = (
        f"SELECT {name_of(quote_identifier(key))} AS name FROM ({rows}) AS counted GROUP BY 1 HAVING count(*) > {most}"
    )
    own = f"everything.{quote_identifier(key)}"
    return (
        f"SELECT everything.* FROM ({rows}) AS everything WHERE {own} IS NOT NULL "
        f"AND NOT EXISTS (SELECT 1 FROM ({more}) AS more WHERE more.name = {name_of(own)})"
    )


def rows_left_out(rows: str, key: str, most: int, name_of: NameOf) -> str:
    """SQL: how many keys stand in more rows than that, and how many rows these are and those without a key."""
    counted = f"SELECT {name_of(quote_identifier(key))} AS name, count(*) AS n FROM ({rows}) AS counted GROUP BY 1"
    return f"SELECT count(name) AS persons, coalesce(sum(n), 0) AS {quote_identifier('rows')} FROM ({counted}) AS many WHERE name IS NULL OR n > {most}"


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
    """SQL of a column's code, and of whether a cell is none of its kind."""
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
    one_way = type in _WHOLE and any(value.isdecimal() for value in listed)  # of writing a number
    otherwise = bool(spellings(tuple(listed))) and not one_way
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
    """SQL of the code of a value: that behind as many ends as are not above it."""
    if not len(ends):
        return str(codes[0])
    middle = len(ends) // 2
    below, above = (
        _search_sql(value, ends[:middle], codes[: middle + 1]),
        _search_sql(value, ends[middle + 1 :], codes[middle + 1 :]),
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
    place, wrong = _listed_sql(name, kind.values, 0, types[name], refused=True)
    return (f"2 * ({place}) - 1" if len(kind.values) == 2 else place), wrong


def tables_of(schema: Schema, found: Sequence[Sequence[Any]]) -> CountTables | None:
    """The tables out of the answer's rows, each of which says by its codes which table it is of; None: a cell was not of its column's kind, or
    written otherwise than listed."""
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
