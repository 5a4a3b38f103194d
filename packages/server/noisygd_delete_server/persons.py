"""The names in the tables of the stores, read without a lock while the writer may be running."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from noisygd_delete.errors import StoreCorrupt
from noisygd_delete.records import Names, Records
from noisygd_delete.store import training_table
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.store.source_kinds import ExternalSource, source_from

NAMES = ("subject", "id")  # kinds of names in a table: persons, or records
_PATIENCE = 5.0  # seconds; an edit takes a few writes and syncs
_PAUSE = 0.02


def subjects_table(layout: Layout, ledger: Ledger) -> Records:
    """Return the rows and names of a store with its own table; wait while an edit has written only some of its files.

    Raises:
        StoreCorrupt: If the files still contradict each other after the wait.
    """
    last = time.monotonic() + _PATIENCE
    while True:
        try:
            return training_table.load_table(
                layout,
                ledger.plan.problem.records,
                ledger.plan.problem.features,
                with_subjects=ledger.schema.get("subject") is not None,
                codec=ledger.codec,
            )
        except StoreCorrupt:
            if time.monotonic() > last:
                raise
        time.sleep(_PAUSE)


class Persons:
    """The current names in the tables of these stores.

    Args:
        stores: Name -> folder of each store.
        names: "subject" or "id".
    """

    def __init__(self, stores: Mapping[str, Path], names: str) -> None:
        self._layouts, self._of_subjects = [Layout.at(path) for path in stores.values()], names == "subject"

    @property
    def any(self) -> bool:
        """Whether any table has names of this kind."""
        return any(self._has(Ledger.read(layout.ledger)) for layout in self._layouts)

    def all(self) -> Iterator[str]:
        """Yield every name, possibly more than once."""
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
        """Return those of these names that are in a table."""
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
            found |= source_from(ledger.source).find_held(left, persons=self._of_subjects)
        return found

    def _has(self, ledger: Ledger) -> bool:
        if not self._of_subjects:
            return True
        description = ledger.schema if ledger.source is None else ledger.source
        return description.get("subject") is not None

    def _column(self, source: ExternalSource) -> str:
        return str(source.subject) if self._of_subjects else source.id

    def _table(self, layout: Layout, ledger: Ledger) -> Names:
        records = subjects_table(layout, ledger)
        names = records.owners if self._of_subjects else records.names
        assert names is not None
        return names
