"""A release that was drawn from the table before its edits, while these are carried out: by a method whose noise is carried on.

    journal → draw from the table as it is → this file durable → the journal says so → rows overwritten → ledger entry → this file erased

Until the journal says so the rows are as they were: what was drawn is destroyed, and drawn again. From then on it is the release, and is
never drawn again from a table that was touched. Where it cannot be read the chain is cut: the next release begins another one.
It holds what is about to be published and public facts; nothing of the exact sums.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from ..accountant import Event
from ..curator.learning import Model
from ..errors import InvalidParameter, StoreError
from ..methods.plan import Plan
from ..records import bounded
from . import answers, journal, models
from .disk import Disk, read
from .layout import Layout


@dataclass(frozen=True)
class DrawnRelease:
    """stamp: of the edits that it covers (`InFlight.stamp`); event: what the ledger will say of it."""

    stamp: str
    event: Event
    model: Model

    def keep(self, disk: Disk, layout: Layout) -> None:
        """Make it durable."""
        told = json.dumps({"stamp": self.stamp, "event": answers.plain(self.event.to_dict())}).encode()
        disk.replace(layout.candidate, journal.sealed(told + b"\n" + models.packed(self.model, "candidate")))


def kept(layout: Layout, plan: Plan, stamp: str) -> DrawnRelease | None:
    """The release that covers the edits of this stamp; None where it cannot be read."""
    try:
        told, _, data = journal.unsealed(read(layout.candidate)).partition(b"\n")
        fields = bounded.parsed(told.decode())
        found = DrawnRelease(fields["stamp"], Event.from_dict(fields["event"]), models.unpacked(data, plan))
    except (OSError, StoreError, InvalidParameter, ValueError, KeyError, TypeError):
        return None
    return found if found.stamp == stamp else None


def destroy(disk: Disk, layout: Layout) -> None:
    """Overwrite it and remove it, if it is there."""
    disk.erase(layout.candidate)
