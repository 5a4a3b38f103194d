"""Outside the ledger: how long it is, and its last link; and how often the list of publishers and the register were changed.

An end that was cut off is seen, and a list or a register that was put back from an earlier copy.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import StoreCorrupt
from ..records import bounded
from .disk import Disk, read
from .layout import Layout

_HEADER, _VERSION = 64, slice(60, 64)  # of SQLite: where PRAGMA user_version stands
LOST = "Restore the store from a backup, and carry out again every request made since"


def seal_of(ledger: Path) -> Path:
    return Layout(ledger.parent).seal


def write(disk: Disk, ledger: Path, length: int, digest: str) -> None:
    """A crash before this leaves the former length, which still holds."""
    known, changes = _parts(ledger), max(register_noted(ledger), register_changes(Layout(ledger.parent)))
    kept = {"publishers": known["publishers"]} if "publishers" in known else {}
    _put(disk, ledger, {"entries": length, "sha256": digest, **kept, **({"register": changes} if changes else {})})


def note_list(disk: Disk, ledger: Path, store: str, changes: int) -> None:
    """The list of publishers of the store that marks what it puts there by this id was changed so often. A crash before this leaves one
    change fewer, which the list still has."""
    parts = _parts(ledger)
    if parts:
        _put(disk, ledger, parts | {"publishers": {"store": store, "changes": changes}})


def doubt(disk: Disk, ledger: Path, store: str, changes: int) -> None:
    """Have the list of publishers taken for an earlier one, unless it was changed so often, and the register for one."""
    register = max(register_noted(ledger), register_changes(Layout(ledger.parent))) + 1
    _put(disk, ledger, _parts(ledger) | {"publishers": {"store": store, "changes": changes}, "register": register})


def list_noted(ledger: Path) -> tuple[str, int]:
    """(id, how often the list was changed) as the seal says; nothing and 0 where there was no list."""
    listed = _parts(ledger).get("publishers", {"store": "", "changes": 0})
    return listed["store"], listed["changes"]


def register_changes(layout: Layout) -> int:
    """How often the register was changed, at its own word; 0 where there is none, and where an earlier version did not count."""
    if not layout.register.is_file():
        return 0
    with layout.register.open("rb") as file:
        return int.from_bytes(file.read(_HEADER)[_VERSION], "big")


def is_register_put_back(layout: Layout) -> bool:
    """Whether the register was changed more often than this one: it was put back from an earlier copy, or lost."""
    noted = register_noted(layout.ledger)  # first: a register is written before it
    return register_changes(layout) < noted


def register_noted(ledger: Path) -> int:
    """How often the register was changed before the newest entry, as the seal says."""
    return int(_parts(ledger).get("register", 0))


def sealed(ledger: Path) -> tuple[int, str] | None:
    """(length, last link) as the seal says, None where there is none."""
    parts = _parts(ledger)
    return (parts["entries"], parts["sha256"]) if parts else None


def _put(disk: Disk, ledger: Path, parts: dict[str, Any]) -> None:
    disk.replace(seal_of(ledger), (json.dumps(parts) + "\n").encode())


def _parts(ledger: Path) -> dict[str, Any]:
    """What the seal says; nothing where there is none."""
    path = seal_of(ledger)
    if not path.exists() and not path.is_symlink():
        return {}
    try:
        parts = bounded.parsed(read(path, 1 << 12).decode())
        kinds = {name: type(value) for name, value in parts.items()}
        if (kinds.pop("publishers", dict), kinds.pop("register", int), kinds) != (
            dict,
            int,
            {"entries": int, "sha256": str},
        ):
            raise ValueError("other parts")
        listed = parts.get("publishers", {"store": "", "changes": 0})
        if {name: type(value) for name, value in listed.items()} != {"store": str, "changes": int}:
            raise ValueError("other parts")
    except (ValueError, TypeError, AttributeError) as error:
        raise StoreCorrupt(f"{path}: not a seal of a ledger; put it back from a backup of the store") from error
    return dict(parts)


def missing(ledger: Path) -> StoreCorrupt:
    return StoreCorrupt(f"{seal_of(ledger)}: missing; put it back from a backup of the store. {LOST}")


def cut_off(ledger: Path, length: int, stated: int) -> StoreCorrupt:
    return StoreCorrupt(f"{ledger}: has {length} entries and had {stated}: its end was cut off. {LOST}")


def of_another(ledger: Path) -> StoreCorrupt:
    return StoreCorrupt(f"{ledger}: not the ledger that {seal_of(ledger).name} was made for. {LOST}")
