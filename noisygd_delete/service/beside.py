"""The table of a store as it is read beside the writer, without a lock."""

from __future__ import annotations

import time

from ..errors import StoreCorrupt
from ..records import Records
from ..store import table
from ..store.layout import Layout
from ..store.ledger import Ledger

_PATIENCE = 5.0  # seconds: an edit is a few writes and syncs
_PAUSE = 0.02


def table_beside(layout: Layout, ledger: Ledger) -> Records:
    """The rows and names of a store that holds its own; waits while an edit has changed one of its files and not yet the next.

    Raises:
        StoreCorrupt: they still contradict each other after that.
    """
    last = time.monotonic() + _PATIENCE
    while True:
        try:
            return table.load(layout, ledger.plan, with_subjects=ledger.schema.get("subject") is not None)
        except StoreCorrupt:
            if time.monotonic() > last:
                raise
        time.sleep(_PAUSE)
