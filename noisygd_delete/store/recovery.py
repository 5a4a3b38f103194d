"""What a crash can leave behind, and the one direction out of it: forward, to what the ledger says.

A ledger entry is the switch. Everything after it (removing the old model, copying the plan, adding free slots) only
catches up with it, and can be done again at any time. Everything before it is a candidate, and is erased.
"""

from __future__ import annotations

import json
from pathlib import Path

from ..errors import StoreCorrupt
from ..records import bounded
from . import database, names, onward, table, tie
from .disk import Disk, read
from .layout import JOURNAL, TEMPORARY, Layout
from .ledger import Ledger


def adopt(disk: Disk, layout: Layout) -> None:
    """The names of a store of an earlier version, from their database into files of cells. Those under their own names are
    whole: the ids come last; so what came before an interruption is erased, and done again."""
    if layout.former_ids.exists():
        disk.exchange(layout.ids_database)
    if not layout.ids_database.exists():
        return
    database.forget(disk, layout.ids_database)
    if not layout.ids.exists():
        for path in (layout.subjects, layout.long):
            disk.erase(path)
        for path, content in table.adopted(layout):
            temporary = path.with_name(path.name + TEMPORARY)
            disk.erase(temporary)
            disk.create(temporary, content)
            disk.reached("rename", path)
            disk.rename(temporary, path)
            disk.sync_folder(path.parent)
    for end in (JOURNAL, ""):
        disk.erase(layout.ids_database.with_name(layout.ids_database.name + end))


def sweep(disk: Disk, layout: Layout, ledger: Ledger) -> None:
    """Erase half-written files, what journals of databases hold, models that the ledger does not name, and a patch that no edit waits for."""
    current = layout.model(ledger.model_release) if ledger.head.model is not None else None
    if layout.former_register.exists():
        disk.exchange(layout.register)
    for path in layout.temporaries() + [path for path in layout.models() if path != current]:
        disk.erase(path, lasting=False)
    if ledger.head.model is None or (ledger.source is None and not ledger.head.pending):
        disk.erase(layout.patch)
    for path in layout.databases():
        database.forget(disk, path)


def seal(disk: Disk, layout: Layout, ledger: Ledger) -> None:
    """Note outside the ledger how long it is: in seal.json, and where the table is here in its ids. These come last, so a seal that is behind them was
    put back, perhaps with what it tells of."""
    if not ledger.is_sealed:
        put_back = tie.says(layout, ledger.length, ledger.digest)
        ledger.seal(disk)
        if put_back:
            onward.doubt(disk, layout)
    tie.note(disk, layout, ledger.length, ledger.digest)


def catch_up(disk: Disk, layout: Layout, ledger: Ledger) -> None:
    """Bring seal.json, plan.json, schema.json and the number of slots to what the ledger says.

    Raises:
        StoreCorrupt: a file is neither what the ledger says nor what it said before.
    """
    seal(disk, layout, ledger)
    copy(disk, layout.schema, ledger.schema, [ledger.schema])
    if ledger.source is None:
        _room(disk, layout, ledger)
    copy(disk, layout.plan, ledger.plans[-1], ledger.plans)


def _room(disk: Disk, layout: Layout, ledger: Ledger) -> None:
    """Files of rows as long as the plan says."""
    plan = ledger.plan
    owned = ledger.schema.get("subject") is not None
    earlier = [fields["problem"]["records"] for fields in ledger.plans]
    lengths: dict[Path, int] = {}
    for path, size in table.sizes(layout, plan.records, plan.features, with_subjects=owned).items():
        before = [table.sizes(layout, slots, plan.features, with_subjects=owned)[path] for slots in earlier]
        found = tie.length_of(path) if path.is_file() else None
        if found == size + tie.SIZE:  # lengthened, and its tie not written yet
            disk.overwrite(path, [_nothing_of_tie(former, size) for former in before[-2:-1]])
        elif found not in before:
            raise StoreCorrupt(f"{path}: missing, or not {size} bytes long; restore the store from a backup")
        elif found < size:
            disk.extend(path, size + tie.SIZE)
            disk.overwrite(path, [_nothing_of_tie(found, size)])
        lengths[path] = size
    if not all(map(tie.tie_of, tie.files(layout))):
        lengths[layout.long] = names.pieces_in(layout)
        tie.attach(disk, layout, lengths, ledger.length, ledger.digest)


def _nothing_of_tie(former: int, size: int) -> tuple[int, bytes]:
    """Zeros for where the tie of a file lay that is now longer: free slots are there."""
    return former, bytes(min(tie.SIZE, size - former))


def copy(disk: Disk, path: Path, current: dict[str, object], known: list[dict[str, object]]) -> None:
    """Make `path` hold `current`, unless it holds something that was never written to it."""
    try:
        held = bounded.parsed(read(path).decode()) if path.exists() else known[0]
    except ValueError as error:
        raise StoreCorrupt(f"{path}: {_CHANGED}") from error
    if held not in known:
        raise StoreCorrupt(f"{path}: {_CHANGED}")
    if held != current or not path.exists():
        disk.replace(path, as_json(current))


def as_json(fields: dict[str, object]) -> bytes:
    """A public file: for people to read."""
    return (json.dumps(fields, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


_CHANGED = (
    "differs from the ledger: it was changed by hand. A plan changes by `relearn`, a schema by a new store; remove the "
    "file and run any command to have it written again"
)
