"""Stores whose rows are in a source: PostgreSQL, MySQL, a DuckDB file, a Delta table or a folder of Parquet files.

Such a store holds plan, model and ledger, never a row or an id; every release reads one snapshot of the source.
`residue` searches for what an erasure leaves behind in the source. Modules are imported on first use, because
workers of Ray and Spark need few of them.

    >>> from noisygd_delete_sources import source_at
    >>> source_at("postgresql://clerk@localhost/people", id="id", table="people").kind
    'postgresql'
"""

from typing import TYPE_CHECKING

from noisygd_delete.lazy_imports import on_first_use

if TYPE_CHECKING:
    from .factory import source_at
    from .residue_report import Place, Residue
    from .residue_scan import residue
    from .source import Snapshot, Source

__all__ = ["Place", "Residue", "Snapshot", "Source", "residue", "source_at"]

__getattr__ = on_first_use(
    __name__,
    {
        "residue": "residue_scan",
        "source_at": "factory",
        **dict.fromkeys(("Snapshot", "Source"), "source"),
        **dict.fromkeys(("Place", "Residue"), "residue_report"),
    },
)
