"""A release that was drawn from the table before its edits, while these are carried out: by a method whose noise is carried on.

    journal → draw from the table as it is → this file durable → the journal says so → rows overwritten → ledger entry → this file erased

Where the release comes later it is a patch that is drawn (`curator.drawing`), and before the ledger's entry it takes the place of the patch
before it in a file of its own, until a release covers it.

Until the journal says so the rows are as they were: what was drawn is destroyed, and drawn again. From then on it is the release, and is
never drawn again from a table that was touched. Where it cannot be read the chain is cut: the next release begins another one.
It holds what is about to be published and public facts; nothing of the exact sums.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..accountant import Event
from ..curator.model import Continuation, Model
from ..errors import InvalidParameter, StoreError, count
from ..methods.plan import Plan
from ..methods.procedure import Carried
from ..records import bounded
from . import answers, journal, models, tie
from .disk import Disk, read
from .layout import Layout
from .ledger import Ledger

_SUMS = "<i8"


@dataclass(frozen=True)
class DrawnRelease:
    """stamp: of the edits that it covers (`InFlight.stamp`); event: what the ledger will say of it."""

    stamp: str
    event: Event
    model: Model

    def keep(self, disk: Disk, path: Path) -> None:
        """Make it durable."""
        told = json.dumps({"stamp": self.stamp, "event": answers.plain(self.event.to_dict())}).encode()
        disk.replace(path, journal.sealed(told + b"\n" + models.packed(self.model, "candidate")))


@dataclass(frozen=True)
class DrawnPatch:
    """stamp: of the table after the edits that it covers (over a source see `sources.chain`); after: what the next draw goes on from."""

    stamp: str
    after: Continuation

    def keep(self, disk: Disk, path: Path) -> None:
        """Make it durable. A patch before it is erased."""
        told = {"stamp": self.stamp, "draws": self.after.number, "patches": self.after.patches}
        assert self.after.sums is not None
        data = json.dumps(told).encode() + b"\n" + self.after.sums.astype(_SUMS).tobytes()
        disk.erase(path)
        disk.replace(path, journal.sealed(data))


def kept(path: Path, plan: Plan, stamp: str | None = None) -> DrawnRelease | DrawnPatch | None:
    """What was drawn for the edits of this stamp, or of any; None where it cannot be read."""
    try:
        told, _, data = journal.unsealed(read(path)).partition(b"\n")
        fields = bounded.parsed(told.decode())
        own = str(fields["stamp"])
        if stamp not in (own, None):
            return None
        if "event" in fields:
            return DrawnRelease(own, Event.from_dict(fields["event"]), models.unpacked(data, plan))
        from ..curator.drawing import moments_of

        begin = plan.learning.start
        assert isinstance(begin, Carried)
        sums = np.frombuffer(data, _SUMS).astype(np.int64)
        if len(sums) != moments_of(begin, plan.shape).size:
            return None
        number, patches = count("draws", fields["draws"]), count("patches", fields["patches"], minimum=0)
        return DrawnPatch(own, Continuation(number, sums, patches=patches))
    except (OSError, StoreError, InvalidParameter, ValueError, KeyError, TypeError, AssertionError):
        return None


def patch_now(layout: Layout, ledger: Ledger) -> Continuation | None:
    """The patch after the last release, which covers the table as it is; over a source, if the rows there are still those of the patch."""
    known = tie.tie_of(layout.ids) if ledger.source is None and layout.patch.exists() else None
    stamp = None if known is None else known.stamp.hex()
    found = kept(layout.patch, ledger.plan, stamp) if known is not None or ledger.source is not None else None
    last = ledger.account.since_fresh
    of_now = isinstance(found, DrawnPatch) and found.after.number == last and found.after.patches
    return found.after if of_now and isinstance(found, DrawnPatch) else None


def destroy(disk: Disk, layout: Layout) -> None:
    """Overwrite it and remove it, if it is there."""
    disk.erase(layout.candidate)
