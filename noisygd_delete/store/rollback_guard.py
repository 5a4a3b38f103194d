"""Outside the ledger: how long it is, and its last link; and which state the list of publishers and the register were in.

Each of their changes has a random mark, and each keeps the marks it came by: the register all, the list its own and the one before that
the seal noted. So an end that was cut off is seen, and a list or a register from another time: from an earlier one, or from one that was
undone when a copy of the whole store was put back.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

from ..errors import StoreCorrupt
from ..records import limited_io
from .disk import Disk, connect_database, read_file
from .layout import Layout

_NO_LIST = {"store": "", "mark": ""}
LOST = "Restore the store from a backup, and carry out again every request made since"


def seal_of(ledger: Path) -> Path:
    return Layout(ledger.parent).seal


def mark() -> str:
    """Of one change: no other has it."""
    return secrets.token_hex(8)


def write(disk: Disk, ledger: Path, length: int, digest: str) -> None:
    """A crash before this leaves the former length, which still holds."""
    known = _parts(ledger)
    newest, own = _register(Layout(ledger.parent), known.get("register", ""))
    register = newest if own else ""
    kept = {name: known[name] for name in ("publishers", "register") if name in known}
    _write_seal(
        disk, ledger, {"entries": length, "sha256": digest} | kept | ({"register": register} if register else {})
    )


def note_list(disk: Disk, ledger: Path, store: str, change: str) -> None:
    """The list of publishers of the store that marks what it puts there by this id was changed. A crash before this leaves the mark
    of the change before, which the list still has."""
    parts = _parts(ledger)
    if parts:
        _write_seal(disk, ledger, parts | {"publishers": {"store": store, "mark": change}})


def note_register(disk: Disk, ledger: Path, change: str) -> None:
    """The register was written anew, and has come by this change. A crash before this leaves the mark before, which it came by as well."""
    parts = _parts(ledger)
    if parts:
        _write_seal(disk, ledger, parts | {"register": change})


def mark_untrusted(disk: Disk, ledger: Path, store: str) -> None:
    """Have the list of publishers and the register taken for those of another time."""
    _write_seal(disk, ledger, _parts(ledger) | {"publishers": {"store": store, "mark": mark()}, "register": mark()})


def list_noted(ledger: Path) -> tuple[str, str]:
    """(id, mark of the newest change of the list) as the seal says. Nothing where there was no list."""
    listed = _parts(ledger).get("publishers", _NO_LIST)
    return listed["store"], listed["mark"]


def register_fault(layout: Layout) -> str | None:
    """What is wrong with a register of another time, and what to do; None where it is the newest, as far as anybody can tell."""
    if (layout.register.exists() and not layout.register.is_file()) or not is_register_restored(layout):
        return None
    return (
        f"{layout.register}: put back from an earlier copy, or lost: what was noted of requests since is missing, and what was forgotten since "
        "is back. Put the newest back: only by it are those requests certified and lifted. Where it is lost, note them again, and "
        "`register settings` with --controller makes this one the register"
    )


def is_register_restored(layout: Layout) -> bool:
    """Whether the register did not come by the change that was its newest at the newest entry: it is of another time, or lost."""
    noted = register_noted(layout.ledger)  # first: a register is written before it
    return not _register(layout, noted)[1]


def register_noted(ledger: Path) -> str:
    """The mark of the register's newest change before the newest entry, as the seal says. Nothing where there was no register."""
    noted: str = _parts(ledger).get("register", "")
    return noted


def _register(layout: Layout, noted: str) -> tuple[str, bool]:
    """(the mark of the register's newest change, whether it came by the change that was noted). A register that is not there came by nothing alone."""
    newest, known = None, None
    if layout.register.exists() and layout.register.stat().st_size:
        with connect_database(layout.register) as connection:
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'changes'").fetchone():
                newest = connection.execute("SELECT mark FROM changes ORDER BY rowid DESC LIMIT 1").fetchone()
                known = connection.execute("SELECT 1 FROM changes WHERE mark = ?", (noted,)).fetchone()
    return (newest[0] if newest else ""), noted == "" or known is not None


def read_seal(ledger: Path) -> tuple[int, str] | None:
    """(length, last link) as the seal says, None where there is none."""
    parts = _parts(ledger)
    return (parts["entries"], parts["sha256"]) if parts else None


def _write_seal(disk: Disk, ledger: Path, parts: dict[str, Any]) -> None:
    disk.replace(seal_of(ledger), (json.dumps(parts) + "\n").encode())


def _parts(ledger: Path) -> dict[str, Any]:
    """What the seal says; nothing where there is none."""
    path = seal_of(ledger)
    if not path.exists() and not path.is_symlink():
        return {}
    try:
        parts = limited_io.parse_json(read_file(path, 1 << 12).decode())
        listed = parts.get("publishers", _NO_LIST)
        if (
            set(parts) - {"publishers", "register"} != {"entries", "sha256"}
            or set(listed) != set(_NO_LIST)
            or type(parts["entries"]) is not int
            or not all(isinstance(text, str) for text in (parts["sha256"], parts.get("register", ""), *listed.values()))
        ):
            raise ValueError("other parts")
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise StoreCorrupt(f"{path}: not a seal of a ledger; put it back from a backup of the store") from error
    return dict(parts)


def missing_seal_error(ledger: Path) -> StoreCorrupt:
    return StoreCorrupt(f"{seal_of(ledger)}: missing; put it back from a backup of the store. {LOST}")


def truncated_ledger_error(ledger: Path, length: int, stated: int) -> StoreCorrupt:
    return StoreCorrupt(f"{ledger}: has {length} entries and had {stated}: its end was cut off. {LOST}")


def foreign_seal_error(ledger: Path) -> StoreCorrupt:
    return StoreCorrupt(f"{ledger}: not the ledger that {seal_of(ledger).name} was made for. {LOST}")
