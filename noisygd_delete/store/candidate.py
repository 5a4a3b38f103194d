"""A release drawn from the table before its edits are carried out, by a method that carries noise over between releases.

    journal → draw from the current table → this file durable → journal records the draw → rows overwritten
        → ledger entry → file erased

If the release comes later, a patch is drawn instead (`curator.carried_noise`). Before the ledger entry it replaces
the previous patch in a separate file, until a release covers it.

Until the journal records the draw, the rows are unchanged: the draw is destroyed and repeated. From then on it is the
release, and is never repeated from an edited table. If it cannot be read, the chain is cut: the next release begins a
new one. The file holds what is about to be published and public facts, and nothing of the exact sums.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..accountant import Accountant, Event
from ..curator.model import Continuation, Model, Training
from ..curator.release import Release, record_release
from ..errors import InvalidParameter, StoreError, check_count
from ..methods.plan import Plan
from ..methods.procedure import CarriedSums
from ..records import limited_io
from . import file_footer, journal
from .disk import Disk, read_file
from .layout import Layout
from .ledger import Ledger
from .models import pack_model, plain_answer, unpack_model

_SUMS = "<i8"
_MOST_SAID = 1 << 20  # bytes in addition to the numbers


@dataclass(frozen=True)
class DrawnRelease:
    """A release drawn before its edits.

    Attributes:
        stamp: The stamp of the edits that it covers (`InFlight.stamp`).
        event: The event that the ledger will record.
        model: The model.
    """

    stamp: str
    event: Event
    model: Model

    def keep(self, disk: Disk, path: Path) -> None:
        """Write it durably."""
        told = json.dumps({"stamp": self.stamp, "event": plain_answer(self.event.to_dict())}).encode()
        disk.replace(path, journal.add_checksum(told + b"\n" + pack_model(self.model, "candidate")))

    def release(self, accountant: Accountant) -> Release:
        """Return the release, accounted for after those of `accountant`."""
        return record_release(accountant.what_if(), self.event, Training(self.model, 1, 0.0))


@dataclass(frozen=True)
class DrawnPatch:
    """A patch drawn before its edits.

    Attributes:
        stamp: The stamp of the table after the edits that it covers (over a source: the release and the state of its rows).
        after: What the next draw continues from.
    """

    stamp: str
    after: Continuation

    def keep(self, disk: Disk, path: Path) -> None:
        """Write it durably, after erasing the previous patch."""
        told = {"stamp": self.stamp, "draws": self.after.number, "patches": self.after.patches}
        assert self.after.sums is not None
        data = json.dumps(told).encode() + b"\n" + self.after.sums.astype(_SUMS).tobytes()
        disk.erase(path)
        disk.replace(path, journal.add_checksum(data))


def kept_candidate(path: Path, plan: Plan, stamp: str | None = None) -> DrawnRelease | DrawnPatch | None:
    """Return what was drawn for the edits of this stamp, or of any if None; None if it cannot be read."""
    try:
        told, _, data = journal.strip_checksum(read_file(path, _longest_candidate(plan))).partition(b"\n")
        fields = limited_io.parse_json(told.decode())
        own = str(fields["stamp"])
        if stamp not in (own, None):
            return None
        if "event" in fields:
            return DrawnRelease(own, Event.from_dict(fields["event"]), unpack_model(data, plan))
        from ..curator.carried_noise import moments_of

        begin = plan.learning.start
        assert isinstance(begin, CarriedSums)
        sums = np.frombuffer(data, _SUMS).astype(np.int64)
        if len(sums) != moments_of(begin, plan.shape).size:
            return None
        number, patches = check_count("draws", fields["draws"]), check_count("patches", fields["patches"], minimum=0)
        return DrawnPatch(own, Continuation(number, sums, patches=patches))
    except (OSError, StoreError, InvalidParameter, ValueError, KeyError, TypeError, AssertionError):
        return None


def _longest_candidate(plan: Plan) -> int:
    """Return the maximum size in bytes of a draw by this plan: sums and weights of 64 bits, and the header."""
    from ..curator.carried_noise import moments_of

    begin = plan.learning.start
    numbers = math.prod(plan.shape) + (moments_of(begin, plan.shape).size if isinstance(begin, CarriedSums) else 0)
    return 2 * 8 * numbers + _MOST_SAID


def patch_now(layout: Layout, ledger: Ledger) -> Continuation | None:
    """Return the patch after the last release that covers the current table, if any.

    Over a source, the patch is valid only if the rows are still those it was drawn for; this is not checked here.
    """
    known = file_footer.tie_of(layout.ids) if ledger.source is None and layout.patch.exists() else None
    stamp = None if known is None else known.stamp.hex()
    found = kept_candidate(layout.patch, ledger.plan, stamp) if known is not None or ledger.source is not None else None
    if not isinstance(found, DrawnPatch) or found.after.number != ledger.account.since_fresh:
        return None
    return found.after if found.after.patches else None
