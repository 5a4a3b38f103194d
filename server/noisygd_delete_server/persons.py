"""Whom the tables of the stores name, read beside the writer and without a lock."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from noisygd_delete.errors import StoreCorrupt
from noisygd_delete.records import Names, Records
from noisygd_delete.store import training_table
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.store.sources.factory import source_from
from noisygd_delete.store.sources.reading import find_held_ids
from noisygd_delete.store.sources.source import Source

NAMES = ("subject", "id")  # what a name of the table names: a person, or a record
_PATIENCE = 5.0  # seconds: an edit is a few writes and syncs
_PAUSE = 0.02


def subjects_table(layout: Layout, ledger: Ledger) -> Records:
    """The rows and names of a store that holds its own; waits while an edit has changed one of its files and not yet the next.

    Raises:
        StoreCorrupt: they still contradict each other after that.
    """
    last = time.monotonic() + _PATIENCE
    while True:
        try:
            return training_table.load_table(
                layout,
                ledger.plan.records,
                ledger.plan.features,
                with_subjects=ledger.schema.get("subject") is not None,
            )
        except StoreCorrupt:
            if time.monotonic() > last:
                raise
        time.sleep(_PAUSE)


class Persons:
    """The names that the tables of these stores have now.

    names   "subject" or "id"
    """

    def __init__(self, stores: Mapping[str, Path], names: str) -> None:
        self._layouts, self._of_subjects = [Layout.at(path) for path in stores.values()], names == "subject"

    @property
    def any(self) -> bool:
        """Whether any table has names of this kind."""
        return any(self._has(Ledger.read(layout.ledger)) for layout in self._layouts)

    def all(self) -> Iterator[str]:
        """Every name, perhaps more than once."""
        for layout in self._layouts:
            ledger = Ledger.read(layout.ledger)
            if not self._has(ledger):
                continue
            if ledger.source is None:
                yield from (str(name) for name in self._table(layout, ledger) if name is not None)
                continue
            source = source_from(ledger.source)
            yield from source.names(self._column(source))

    def held(self, wanted: Collection[str]) -> set[str]:
        """Those of these names that a table has."""
        found: set[str] = set()
        for layout in self._layouts:
            ledger = Ledger.read(layout.ledger)
            left = sorted(set(wanted) - found)
            if not left or not self._has(ledger):
                continue
            if ledger.source is None:
                names = self._table(layout, ledger)
                found |= {str(names[slot]) for slot in names.find(left).tolist()}
                continue
            found |= find_held_ids(source_from(ledger.source), left, persons=self._of_subjects)
        return found

    def _has(self, ledger: Ledger) -> bool:
        if not self._of_subjects:
            return True
        told = ledger.schema if ledger.source is None else ledger.source
        return told.get("subject") is not None

    def _column(self, source: Source) -> str:
        return str(source.subject) if self._of_subjects else source.id

    def _table(self, layout: Layout, ledger: Ledger) -> Names:
        records = subjects_table(layout, ledger)
        names = records.owners if self._of_subjects else records.names
        assert names is not None
        return names
