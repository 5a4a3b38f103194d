"""Rows that lie elsewhere: in PostgreSQL, a DuckDB file, a Delta table or a folder of Parquet files.

A store of this kind holds plan, model and ledger, never a row or an id: every release reads one snapshot of the source. What an
erasure leaves behind there, `residue` looks for. What runs a store loads on first use: a certificate needs none of it.
"""

from typing import TYPE_CHECKING

from ...lazy_imports import on_first_use

if TYPE_CHECKING:
    from .factory import source_at
    from .residue_report import Place, Residue, Verdicts
    from .residue_scan import residue
    from .source import Snapshot, Source

__all__ = ["Place", "Residue", "Snapshot", "Source", "Verdicts", "residue", "source_at"]

__getattr__ = on_first_use(
    __name__,
    {
        "residue": "residue_scan",
        "source_at": "factory",
        **dict.fromkeys(("Snapshot", "Source"), "source"),
        **dict.fromkeys(("Place", "Residue", "Verdicts"), "residue_report"),
    },
)
