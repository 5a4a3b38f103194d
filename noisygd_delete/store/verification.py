"""Check that a store matches its ledger and holds nothing more, and that given tokens occur nowhere in its bytes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..curator.learning import check_fit
from ..errors import (
    AssumptionViolated,
    InvalidParameter,
    InvalidRecords,
    MissingDependency,
    NoisyGDDeleteError,
    StoreError,
)
from ..extensions import load_extension
from ..records import limited_io
from . import destinations, disk, file_footer, journal, models, names, rollback_guard, training_table
from .byte_search import Needles
from .disk import connect_database, explain_disk_errors, is_blank, read_file
from .layout import JOURNAL, LONGEST_COPY, Layout, Lock
from .ledger import Ledger, read_verified_prefix, write_verified_prefix
from .request_log import RequestLog

_CHUNK = 1 << 22
_SHORTEST = 4


@dataclass(frozen=True)
class Soundness:
    """The checks that were made and every fault found. No fault quotes a row or an id.

    Attributes:
        checked: The checks.
        faults: A message for each fault.
    """

    checked: tuple[str, ...]
    faults: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether no fault was found."""
        return not self.faults

    def to_dict(self) -> dict[str, object]:
        """Return the result as plain values."""
        return {"passed": self.passed, "checked": list(self.checked), "faults": list(self.faults)}


def verify(path: str | Path, *, wait: float = 0.0) -> Soundness:
    """Check the structure of a store. The only file changed is the record of the verified prefix of the ledger.

    Args:
        path: The folder of the store.
        wait: Seconds to wait for the lock.

    Raises:
        StoreError: If there is no store.
        StoreLocked: If another process is writing to it.
    """
    layout = Layout.at(path)
    disk.require_store(layout)
    with explain_disk_errors(
        layout.root, "nothing was checked: `verify` holds the store's lock, so it needs to write there"
    ):
        lock = Lock(layout.lock, wait)
    try:
        checks = {
            "only known files, for the owner only": _files(layout),
            "journal empty": _journal(layout),
            "ledger, plan, schema and model agree": _ledger(layout),
            "records, ledger and journal are of one moment": _moment(layout),
            "slots without an id hold zeros, and no row is here where rows lie elsewhere": _slots(layout),
            "no free pages in the databases": _pages(layout),
        }
        return Soundness(tuple(checks), tuple(fault for faults in checks.values() for fault in _collect_faults(faults)))
    finally:
        lock.release()


def _collect_faults(faults: Iterator[str]) -> Iterator[str]:
    try:
        yield from faults
    except MissingDependency:  # a fault of this machine, not of the store
        raise
    except (NoisyGDDeleteError, OSError) as error:
        yield str(error)


def _files(layout: Layout) -> Iterator[str]:
    half_written = layout.temporaries()  # the next command erases them; `_journal` reports them
    for path in [layout.root, *layout.list_all()]:
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:  # a file of the service, which keeps running
            continue
        if path != layout.root and not layout.is_expected(path) and path not in half_written:
            yield f"{path}: does not belong to the store; remove it"
        elif os.name != "nt" and stat.S_IMODE(mode) & 0o077:
            yield f"{path}: others than its owner may use it; chmod go-rwx"


def _journal(layout: Layout) -> Iterator[str]:
    left = [layout.request] * layout.request.exists() + layout.temporaries()
    left += [path for path in layout.leftovers() if not (path.name.endswith(JOURNAL) and is_blank(path))]
    for path in left:
        yield f"{path}: a request was interrupted; any other command finishes it"


def _ledger(layout: Layout) -> Iterator[str]:
    ledger = Ledger.read(layout.ledger)
    ledger.read_schema()
    before = read_verified_prefix(layout.judged)
    write_verified_prefix(layout.judged, before, ledger.check(before))
    log = RequestLog(layout)
    log.check()
    check_notes = load_extension("hooks", "check-requests") if log.states_anything() else None
    if check_notes is not None:
        check_notes(log)
    yield from filter(None, (rollback_guard.register_fault(layout), destinations.fault(layout)))
    for path, fields in ((layout.plan, ledger.plans[-1]), (layout.schema, ledger.schema)):
        try:
            same = limited_io.parse_json(read_file(path, LONGEST_COPY).decode()) == fields
        except ValueError:
            same = False
        if not same:
            yield f"{path}: differs from the ledger: it was changed by hand, or a relearn was interrupted"
    digest, release = ledger.head.model, ledger.model_release
    for path in layout.models():
        if digest is None or path != layout.model(release):
            yield f"{path}: the ledger does not name this model; any other command removes it"
    if digest is not None:
        models.load_model(layout, ledger.plan, release, digest)


def _moment(layout: Layout) -> Iterator[str]:
    ledger = Ledger.read(layout.ledger)
    begun = journal.read_in_flight(layout, ledger.codec) if ledger.source is None else None
    if begun is not None:
        journal.require_base(begun.base, begun.link, ledger)
    file_footer.check(layout, ledger, begun)
    if not layout.request.exists() and layout.seal.exists() and not ledger.is_sealed:
        yield f"{layout.seal}: not of this ledger's last entry: restored from a copy, or left by an interrupted command, which the next one completes"


def _slots(layout: Layout) -> Iterator[str]:
    ledger = Ledger.read(layout.ledger)
    if ledger.source is not None:
        yield from (f"{path}: the rows of this store lie elsewhere; remove it" for path in layout.holding_rows())
        return
    with_subjects = ledger.schema.get("subject") is not None
    records = training_table.load_table(
        layout,
        ledger.plan.problem.records,
        ledger.plan.problem.features,
        with_subjects=with_subjects,
        codec=ledger.codec,
    )
    values = records.features if records.coded_rows is None else records.coded_rows.codes
    path, _ = training_table.row_file(layout, ledger.plan.problem.features, ledger.codec)
    occupied = records.occupied
    for start in range(0, records.slots, 1 << 14):
        block = slice(start, start + (1 << 14))
        bits = np.ascontiguousarray(values[block]).view(f"u{values.itemsize}")
        stray = (bits.any(axis=1) | (records.labels[block] != 0)) & ~occupied[block]
        if stray.any():
            yield f"{path}: slot {start + int(stray.argmax())} has no id and is not zero"
    if records.names.first_duplicate is not None:
        yield f"{layout.ids}: two slots have one id"
    if layout.long.exists() and names.stray(layout):
        yield f"{layout.long}: a free piece is not zero"
    try:
        check_fit(records, ledger.plan)
    except (AssumptionViolated, InvalidRecords):  # not quoted: their messages name an id
        yield f"{layout.records}: a row is too long, a label is not of its kind, or a subject has too many rows for the plan"


def _pages(layout: Layout) -> Iterator[str]:
    for path in layout.databases():
        with connect_database(path) as connection:
            if path != layout.register and connection.execute("PRAGMA freelist_count").fetchone()[0]:
                yield f"{path}: has free pages, which may hold erased content"
            if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                yield f"{path}: fails SQLite's integrity check; restore the store from a backup"


def tokens(source: str, text: str) -> list[str]:
    """Return the tokens of a file, one per line. Blank lines are skipped.

    Args:
        source: The name of the file, for messages.
        text: Its content.

    Raises:
        InvalidParameter: If a token is shorter than 4 bytes, or the file has no tokens.
    """
    found = []
    for number, line in enumerate(limited_io.split_lines(text), start=1):
        token = line.strip()
        if token and len(token.encode()) < _SHORTEST:
            raise InvalidParameter(
                f"{source}, line {number}: shorter than {_SHORTEST} bytes, so it would be found by chance; give longer tokens"
            )
        if token:
            found.append(token)
    if not found:
        raise InvalidParameter(f"{source}: no tokens; write one per line: the ids and other texts that must be gone")
    return found


def verify_absence(path: str | Path, wanted: Sequence[str]) -> list[str]:
    """Search the store's bytes and file names for the tokens, in every form that `residue` searches for.

    Tokens are neither stored nor quoted.

    Returns:
        "FILE: token k" for each hit; empty if no token occurs.
    """
    layout = Layout.at(path)
    if not layout.root.is_dir():
        raise StoreError(f"{layout.root}: there is no store here; check the path")
    needles, hits = Needles(wanted), dict[str, None]()
    for file in layout.list_all():
        for number in sorted(needles.among([os.fsencode(file.name)])):
            hits[f"{file.parent}, the name of a file: token {number + 1}"] = None
        if file.is_file() and not file.is_symlink():
            for number in sorted(needles.among(_chunks(file))):
                hits[f"{file}: token {number + 1}"] = None
    return list(hits)


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_CHUNK):
            yield block
