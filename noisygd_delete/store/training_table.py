"""Where the rows of a store lie: what its transactions ask of them, and the table whose rows are in the store itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from ..accountant import Event
from ..curator.curator import Release
from ..curator.learning import check_edit
from ..curator.model import Continuation, Model
from ..engine import CurrentRecords, Execution
from ..errors import InvalidParameter
from ..methods.plan import Plan
from ..records import NONE_LEFT_OUT, EditCounts, EditRequest, Id, Records, check_repeat
from . import answers, journal, table, tie
from .disk import explained
from .entry import Entry
from .opened import OpenedStore

if TYPE_CHECKING:
    from ..features.schema import Encoded
    from .sources.source import Source

NOTHING_CHANGED = "nothing was changed"


class Change(Protocol):
    """A request that the journal holds, as `journal.InFlight` and `sources.journal.Deletion` describe it."""

    @property
    def publish(self) -> bool: ...
    @property
    def counts(self) -> EditCounts: ...
    @property
    def parts(self) -> tuple[tuple[str | None, EditCounts], ...]: ...
    @property
    def requests(self) -> tuple[tuple[str | None, EditCounts, int | None], ...]: ...


Begun = TypeVar("Begun", bound=Change)


class TrainingTable(ABC, Generic[Begun]):
    """The rows of a store, wherever they are.

    source      where that is, if not in the store
    shares_transactions  whether several requests may be carried out in one
    left_out    rows that the release made last did not read, because of whose they are
    facts       what a ledger entry says of the rows that a release was made from
    unfinished  what to do where a transaction cannot go on, and `edited`: what it has done by then
    """

    source: Source | None = None
    shares_transactions: ClassVar[bool] = True
    left_out = NONE_LEFT_OUT
    unfinished: ClassVar[str]
    edited: ClassVar[str]

    @property
    def facts(self) -> Mapping[str, Any]:
        return {}

    @property
    @abstractmethod
    def records(self) -> Records:
        """The table, its rows read as they are needed."""

    def forget(self) -> None:
        """Let go of rows whose files are about to change, or did."""

    @abstractmethod
    def names(self) -> Iterable[Id]:
        """The ids in the table."""

    @abstractmethod
    def find_names(self, wanted: Sequence[str], *, persons: bool = False) -> set[str]:
        """Those of these ids, or persons, that the table has rows of."""

    @abstractmethod
    def rows_among(self, encoded: Encoded) -> int:
        """How many of these rows are in the table: by id, or where they have none by being equal to a row there."""

    def suited(self, plan: Plan) -> Plan:
        """The plan as it is run over these rows; raises `InvalidParameter` where it may not be."""
        return plan

    @abstractmethod
    def counts_of(self, request: EditRequest) -> EditCounts:
        """The edits that a valid request would make."""

    @abstractmethod
    def check_repeat(self, request: EditRequest, edited: EditCounts) -> None:
        """Raise `InvalidRequest` where a request that made these edits cannot have been this one."""

    @abstractmethod
    def begin(self, request: EditRequest, *, publish: bool, note: Callable[[], None]) -> Begun:
        """Refuse what can be refused, `note`, and have the journal hold the request: from then on it will be done."""

    @abstractmethod
    def begun(self) -> Begun | None:
        """What the journal holds.

        Raises:
            StoreCorrupt: it does not belong to this ledger.
        """

    def check(self) -> None:
        """Raise `StoreCorrupt` unless the rows are those that the ledger goes on from."""

    @abstractmethod
    def is_unfinished(self, change: Begun) -> bool:
        """Whether more of what `begun` found is left than to clear the journal."""

    def bears(self, stamp: str) -> bool:
        """Whether rows bear the mark of the edits of this stamp, which are then carried out in part at least."""
        return False

    @abstractmethod
    def carry_out(self, change: Begun) -> tuple[list[Entry], Release]:
        """Edit the rows; doing it twice is doing it once.

        Returns:
            The entries of these edits that the ledger does not hold yet, and the answer to the last while no release covers it.
        """

    def patch(self, pending: EditCounts) -> Continuation | None:
        """What the next draw goes on from in the place of the release before it."""
        return None

    @abstractmethod
    def is_cut(self, pending: EditCounts) -> bool:
        """Whether the next release, by a method that goes on from others, would begin anew: the rows are none that a draw or a patch left."""

    def published(self, event: Event, model: Model, number: int) -> None:
        """A release is about to be entered in the ledger, under this number."""

    def catch_up(self) -> None:
        """What follows from the newest entry."""

    @abstractmethod
    def read(self, plan: Plan, execution: Execution) -> AbstractContextManager[CurrentRecords]:
        """The rows that a release by this plan is made from, while this is open."""

    def changes(self) -> EditCounts | None:
        """What changed since the newest release without this store, by the source's own count; None: it was not counted."""
        return None

    @abstractmethod
    def watch(self) -> EditCounts | None:
        """See `Store.watch`."""

    @abstractmethod
    def note_erased(
        self, counts: EditCounts, position: str | None, request_id: str | None, ids: Sequence[str] = ()
    ) -> None:
        """Enter rows that the application has deleted, of these ids among others."""

    def has_counted(self, position: str | None) -> bool:
        """Whether the newest release has read the rows as they were after this position, and counted what changed up to it."""
        return False


class TableHere(TrainingTable[journal.InFlight]):
    """Rows in files of the store, edited in place slot by slot."""

    unfinished = "the request is in the journal; free space or fix permissions, and the next command finishes it"
    edited = "the rows are edited"

    def __init__(self, files: OpenedStore) -> None:
        self._files = files
        self._records: Records | None = None
        self._begun: journal.InFlight | None = None
        self._noted = True  # whether the table says that the ledger holds what was begun

    @property
    def records(self) -> Records:
        if self._records is None:
            ledger = self._files.ledger
            self._records = table.load(self._files.layout, ledger.plan, with_subjects=self._files.with_subjects)
        return self._records

    def forget(self) -> None:
        self._records = None

    def names(self) -> Iterable[Id]:
        return self.records.ids

    def find_names(self, wanted: Sequence[str], *, persons: bool = False) -> set[str]:
        names = self.records.owners if persons else self.records.names
        return set() if names is None or not wanted else {str(names[slot]) for slot in names.find(wanted).tolist()}

    def rows_among(self, encoded: Encoded) -> int:
        return table.rows_in_table(self.records, encoded)

    def counts_of(self, request: EditRequest) -> EditCounts:
        return check_edit(self.records, self._files.ledger.plan, request).counts

    def check_repeat(self, request: EditRequest, edited: EditCounts) -> None:
        check_repeat(self.records, request, edited)

    def begin(self, request: EditRequest, *, publish: bool, note: Callable[[], None]) -> journal.InFlight:
        files, ledger = self._files, self._files.ledger
        edits = check_edit(self.records, ledger.plan, request)
        if files.tombstones is not None:
            files.tombstones.mind(request, edits, self.records, files.disk)
        left = None if edits.beside is None else len(edits.beside)
        change = journal.InFlight(ledger.length, edits, publish, request.request_id, left=(left,), link=ledger.digest)
        with explained(files.layout.root, NOTHING_CHANGED):
            note()
            journal.accept(files.disk, files.layout, change)
        return change

    def begun(self) -> journal.InFlight | None:
        ledger, layout = self._files.ledger, self._files.layout
        self._begun = change = journal.in_flight(layout)
        if change is not None:
            journal.require_base(change.base, change.link, ledger)
            self._noted = tie.is_noted(layout, ledger.length, ledger.digest)
            if not self._noted and ledger.length - change.base > len(change.requests) + 1:
                raise tie.put_back(layout.ids)
        return change

    def check(self) -> None:
        tie.check(self._files.layout, self._files.ledger, self._begun)

    def is_unfinished(self, change: journal.InFlight) -> bool:
        if change.base == self._files.ledger.length:
            return True
        if not self._noted:  # of a table that was put back together with its journal; else the edits are done already
            self._apply(change)
        return False

    def bears(self, stamp: str) -> bool:
        ties = map(tie.tie_of, tie.files(self._files.layout))
        return any(one is not None and one.stamp.hex() == stamp for one in ties)

    def carry_out(self, change: journal.InFlight) -> tuple[list[Entry], Release]:
        self._apply(change)
        if self._records is not None:
            self._records.note_rows(change.counts)
            if table.has_long_names(self._records):
                self.forget()  # what is mapped shows every change, but for these
        ledger = self._files.ledger
        pending, entries, spent = self._files.pending, list[Entry](), answers.spent(ledger)
        for request_id, counts, left in change.requests:
            pending += counts
            answer = replace(answers.pending(ledger, pending, request_id, spent), remaining=left)
            entries.append(self._files.entry_of_edits(answer))
        return entries, answer

    def _apply(self, change: journal.InFlight) -> None:
        table.apply(self._files.disk, self._files.layout, change.edits, change.stamp)

    def patch(self, pending: EditCounts) -> Continuation | None:
        return self._files.patch() if pending.total else None

    def is_cut(self, pending: EditCounts) -> bool:
        return bool(pending.total) and self._files.patch() is None

    def read(self, plan: Plan, execution: Execution) -> AbstractContextManager[CurrentRecords]:
        return nullcontext(self.records)

    def watch(self) -> EditCounts | None:
        raise InvalidParameter(
            f"{self._files.layout.root}: its rows are in the store, where nothing changes them unseen"
        )

    def note_erased(
        self, counts: EditCounts, position: str | None, request_id: str | None, ids: Sequence[str] = ()
    ) -> None:
        raise InvalidParameter(
            f"{self._files.layout.root}: its rows are in the store, which deletes them itself; erased and position belong to a store "
            "whose rows lie elsewhere"
        )
