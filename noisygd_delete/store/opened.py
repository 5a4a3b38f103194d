"""The files of one store as the process that holds its lock sees them. A ledger entry is what makes something happen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..curator.curator import Release
from ..curator.model import Continuation, Model
from ..records import NO_EDITS, EditCounts
from . import answers, candidate, models, tie
from .disk import Disk
from .entry import Entry, EntryKinds, now
from .layout import Layout
from .ledger import Ledger
from .lock import Lock

if TYPE_CHECKING:
    from ..features.schema import Schema
    from .suppression import Tombstones


class OpenedStore:
    """Layout, lock and ledger of a store that is held for writing; `enter` is the one way in which it changes.

    `tombstones`: a list kept outside the store, of ids that were erased.
    """

    def __init__(self, layout: Layout, disk: Disk, lock: Lock, ledger: Ledger) -> None:
        self.layout, self.disk, self.lock, self.ledger = layout, disk, lock, ledger
        self.tombstones: Tombstones | None = None

    @property
    def schema(self) -> Schema:
        from ..features.schema import Schema  # a deletion asks for none

        self.ledger.require_readable_schema()
        schema = Schema.from_dict(self.ledger.schema, str(self.layout.schema), self.layout.root)
        return replace(schema, named_map=self.ledger.plan.problem.feature_map)

    @property
    def with_subjects(self) -> bool:
        return self.ledger.schema.get("subject") is not None  # the one key of the schema that every run needs

    @property
    def pending(self) -> EditCounts:
        """Edits that no release covers yet."""
        return self.ledger.head.pending_counts

    def model(self) -> Model | None:
        """The model in force, if there is one."""
        digest = self.ledger.head.model
        if digest is None:
            return None
        return models.load_model(self.layout, self.ledger.plan, self.ledger.model_release, digest)

    def patch(self) -> Continuation | None:
        """What covers the edits that wait; None where nothing does."""
        return candidate.patch_now(self.layout, self.ledger)

    def enter(self, *entries: Entry) -> None:
        """Commit entries: the instant at which their requests have happened."""
        self.lock.require()
        self.ledger = self.ledger.append(self.disk, *entries)
        tie.note(self.disk, self.layout, self.ledger.length, self.ledger.digest)

    def entry_of_edits(self, answer: Release, **facts: Any) -> Entry:
        """The entry that rows were edited, and a release will cover them."""
        head = self.ledger.head
        return entry_of(EntryKinds.EDIT, answer, head.model, withdrawn=head.withdrawn, **facts)


def entry_of(kind: EntryKinds, release: Release, model: str | None, **facts: Any) -> Entry:
    """The entry that keeps an answer. `model`: the digest of the one in force from then on."""
    waiting = NO_EDITS if "event" in facts else release.counts
    return Entry(
        kind=kind,
        time=now(),
        pending=waiting.total,
        waiting=waiting.to_dict(),
        model=model,
        answer=answers.kept(release),
        request_id=release.request_id,
        **facts,
    )
