"""What differs between two versions of a Delta table, counted by row: nothing is kept but the numbers.

Only the files that one of the two versions has are read. A row that was written into another file as it was counts as nothing; one
that is gone from the older version's files and has come with the same id in the newer one's is a row that was replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...records import EditCounts
from .by_sql import quoted

if TYPE_CHECKING:
    import duckdb

_COUNTED = """WITH gone AS MATERIALIZED (SELECT {0} FROM older EXCEPT ALL SELECT {0} FROM newer),
come AS MATERIALIZED (SELECT {0} FROM newer EXCEPT ALL SELECT {0} FROM older),
lost AS (SELECT {1} AS name, count(*) AS n FROM gone GROUP BY 1),
won AS (SELECT {1} AS name, count(*) AS n FROM come GROUP BY 1)
SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM come),
(SELECT CAST(coalesce(sum(least(lost.n, won.n)), 0) AS BIGINT) FROM lost JOIN won ON lost.name = won.name)"""


def difference(
    connection: duckdb.DuckDBPyConnection, before: Any, after: Any, id_column: str, columns: Sequence[str]
) -> EditCounts | None:
    """Rows deleted, replaced and inserted between two versions, by these columns (the ids among them).

    None where the files of the earlier one are gone, or hide rows in a way that is not read here.
    """
    import duckdb
    import pyarrow

    try:
        older, newer = (table.to_pyarrow_dataset() for table in (before, after))
        names = [{fragment.path for fragment in dataset.get_fragments()} for dataset in (older, newer)]
        connection.register("older", _only(older, names[0] - names[1]))
        connection.register("newer", _only(newer, names[1] - names[0]))
        listed = ", ".join(map(quoted, columns))
        found = connection.execute(_COUNTED.format(listed, quoted(id_column))).fetchone()
    except (duckdb.Error, pyarrow.ArrowException, OSError, ValueError, NotImplementedError, _refusals()):
        return None
    assert found is not None
    gone, come, kept = map(int, found)
    return EditCounts(deleted=gone - kept, replaced=kept, inserted=come - kept)


def _only(dataset: Any, names: set[str]) -> Any:
    """The part of a table that lies in these files."""
    from pyarrow import dataset as parts

    chosen = [fragment for fragment in dataset.get_fragments() if fragment.path in names]
    if not chosen:
        return dataset.schema.empty_table()
    return parts.FileSystemDataset(chosen, dataset.schema, dataset.format, dataset.filesystem)


def _refusals() -> type[Exception]:
    from deltalake.exceptions import DeltaError

    return DeltaError
