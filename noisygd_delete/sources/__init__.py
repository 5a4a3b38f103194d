"""Rows that lie elsewhere: in PostgreSQL, a DuckDB file, a Delta table or a folder of Parquet files.

A store of this kind holds plan, model and ledger, never a row or an id: every release reads one snapshot of the source.
"""

from .opening import source_at
from .source import Snapshot, Source
from .sourced import SourcedStore, open_store

__all__ = ["Snapshot", "Source", "SourcedStore", "open_store", "source_at"]
