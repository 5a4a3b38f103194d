"""Rows that lie elsewhere: in PostgreSQL, a DuckDB file, a Delta table or a folder of Parquet files.

A store of this kind holds plan, model and ledger, never a row or an id: every release reads one snapshot of the source. What an
erasure leaves behind there, `residue` looks for. What runs a store loads on first use: a certificate needs none of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .source import Snapshot, Source
from .verdicts import Place, Residue, Verdicts

if TYPE_CHECKING:
    from .looking import residue
    from .opening import source_at
    from .sourced import SourcedStore, open_store

__all__ = ["Place", "Residue", "Snapshot", "Source", "SourcedStore", "Verdicts", "open_store", "residue", "source_at"]

_HOMES = {"SourcedStore": "sourced", "open_store": "sourced", "residue": "looking", "source_at": "opening"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
