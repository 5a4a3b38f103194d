"""The index that pandas wrote into a Parquet file: a column of the file, or a range in the metadata only.

One rule for all entry points: if no id column is named, the index names the rows, as in a DataFrame. An index of
several levels, of dates or of fractions names none, and an id column is needed. A file without an index, or with a
range that does not fit its rows, is numbered from 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InvalidSchema
from ...records import limited_io

_UNNAMED = "__index_level_0__"  # as pandas calls a stored index without a name
_LARGEST = 2**62


@dataclass(frozen=True)
class Index:
    """The index of one file.

    Attributes:
        column: Column that holds it; for a range, a column that the reader makes.
        first: Start of a range.
        step: Step of a range; 0: the column is in the file.
        stored: Columns of the file that are index levels.
        problem: Why it names no rows; "" if it does.
    """

    column: str
    first: int = 0
    step: int = 0
    stored: tuple[str, ...] = ()
    problem: str = ""

    @property
    def is_default(self) -> bool:
        """Whether it is 0, 1, 2, …, the default of pandas."""
        return (self.first, self.step) == (0, 1)

    @property
    def text(self) -> str:
        """Description of the names: the range, or the column that holds them."""
        return f"{self.first}, {self.first + self.step}, …" if self.step else f"column {self.column!r}"

    def names_of(self, first: int, rows: int) -> Any:
        """Return the names that a range gives to `rows` rows starting at row `first`, as an Arrow array of int64."""
        import pyarrow

        return pyarrow.array(self.first + self.step * np.arange(first, first + rows, dtype=np.int64))

    def require(self, source: str) -> str:
        """Return the column that names the rows.

        Raises:
            InvalidSchema: If this index names no rows; says why.
        """
        if self.problem:
            raise InvalidSchema(
                f"{source}: its pandas index is {self.problem}, so no request could name a row by it; name the id column with --id COL"
            )
        return self.column


def read_index(schema: Any, rows: int) -> Index | None:
    """Return the index that an Arrow schema's pandas metadata declare; None if there is none, or a range does not fit.

    An index of several levels, or of another type than integers and texts, is returned with its `problem`.
    """
    from pyarrow import types

    from .arrow import is_text

    try:
        told = limited_io.parse_json((schema.metadata or {}).get(b"pandas", b"{}").decode())
        levels = told.get("index_columns", [])
    except (ValueError, AttributeError):
        return None
    if not isinstance(levels, list) or not levels:
        return None
    stored = tuple(level for level in levels if isinstance(level, str) and schema.names.count(level) == 1)
    if len(levels) > 1:
        return Index(_UNNAMED, stored=stored, problem=f"of {len(levels)} levels")
    if stored:
        kind = schema.field(stored[0]).type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        named = is_text(kind) or types.is_integer(kind)
        return Index(stored[0], stored=stored, problem="" if named else "of neither whole numbers nor strings")
    return _range(levels[0], schema.names, rows) if isinstance(levels[0], dict) else None


def _range(level: dict[str, Any], columns: list[str], rows: int) -> Index | None:
    ends: list[Any] = [level.get(key) for key in ("start", "stop", "step")]
    first, stop, step = ends
    whole = all(isinstance(end, int) and not isinstance(end, bool) and abs(end) < _LARGEST for end in ends)
    if level.get("kind") != "range" or not whole or not step or len(range(first, stop, step)) != rows:
        return None
    name: Any = level.get("name")
    own = isinstance(name, str) and name.strip() == name != "" and name not in columns
    return Index(str(name) if own else _UNNAMED, first, step)
