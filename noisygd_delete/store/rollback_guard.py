"""The seal, a file outside the ledger that detects a rollback of the ledger, of the publisher list or of the register.

It records the length and last link of the ledger, and the newest change of the list and of the register. Each change
has a random mark. The register stores the marks of all its changes; the list stores its own and the one that the seal
recorded before. So a truncated ledger is detected, and a list or a register that is stale, or from a history that was
undone when a copy of the whole store was restored.
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
    """Return the path of the seal of a ledger."""
    return Layout(ledger.parent).seal


def mark() -> str:
    """Return a random mark, unique to one change."""
    return secrets.token_hex(8)


def write(disk: Disk, ledger: Path, length: int, digest: str) -> None:
    """Record the length and last link of the ledger.

    After a crash before this, the seal has the former length, which is still valid.
    """
    known = _parts(ledger)
    newest, own = _register(Layout(ledger.parent), known.get("register", ""))
    register = newest if own else ""
    kept = {name: known[name] for name in ("publishers", "register") if name in known}
    _write_seal(
        disk, ledger, {"entries": length, "sha256": digest} | kept | ({"register": register} if register else {})
    )


def note_change(disk: Disk, ledger: Path, **changed: Any) -> None:
    """Record the newest change of the publisher list (`publishers`) or of the register (`register`).

    After a crash before this, the seal has the mark of the previous change, which list and register still store.
    """
    parts = _parts(ledger)
    if parts:
        _write_seal(disk, ledger, parts | changed)


def mark_untrusted(disk: Disk, ledger: Path, store: str) -> None:
    """Mark the publisher list and the register as stale."""
    _write_seal(disk, ledger, _parts(ledger) | {"publishers": {"store": store, "mark": mark()}, "register": mark()})


def list_noted(ledger: Path) -> tuple[str, str]:
    """Return the store's id and the mark of the newest change of the list; empty strings if there was no list."""
    listed = _parts(ledger).get("publishers", _NO_LIST)
    return listed["store"], listed["mark"]


def register_fault(layout: Layout) -> str | None:
    """Return what is wrong with a stale register and how to fix it; None if it appears to be the newest."""
    if (layout.register.exists() and not layout.register.is_file()) or not is_register_restored(layout):
        return None
    return (
        f"{layout.register}: restored from an earlier copy, or lost: what was recorded since is missing, and what was forgotten since "
        "is back. Put the newest back: only by it are those requests certified and lifted. Where it is lost, note them again, and "
        "`register settings` with --controller makes this one the register"
    )


def is_register_restored(layout: Layout) -> bool:
    """Return whether the register lacks the change that was its newest at the newest entry: it is stale, or lost."""
    noted = register_noted(layout.ledger)  # read first, because the register is written before the seal
    return not _register(layout, noted)[1]


def register_noted(ledger: Path) -> str:
    """Return the mark of the register's newest change before the newest entry; empty if there was no register."""
    noted: str = _parts(ledger).get("register", "")
    return noted


def _register(layout: Layout, noted: str) -> tuple[str, bool]:
    """Return the mark of the register's newest change, and whether the register contains the recorded change.

    For a missing register, the latter holds only if no change is recorded.
    """
    newest, known = None, None
    if layout.register.exists() and layout.register.stat().st_size:
        with connect_database(layout.register) as connection:
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'changes'").fetchone():
                newest = connection.execute("SELECT mark FROM changes ORDER BY rowid DESC LIMIT 1").fetchone()
                known = connection.execute("SELECT 1 FROM changes WHERE mark = ?", (noted,)).fetchone()
    return (newest[0] if newest else ""), noted == "" or known is not None


def read_seal(ledger: Path) -> tuple[int, str] | None:
    """Return the recorded length and last link; None if there is no seal."""
    parts = _parts(ledger)
    return (parts["entries"], parts["sha256"]) if parts else None


def _write_seal(disk: Disk, ledger: Path, parts: dict[str, Any]) -> None:
    disk.replace(seal_of(ledger), (json.dumps(parts) + "\n").encode())


def _parts(ledger: Path) -> dict[str, Any]:
    """Return the content of the seal; empty without a seal."""
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


def foreign_seal_error(ledger: Path) -> StoreCorrupt:
    """Return the error for a seal whose link differs from the ledger's."""
    return StoreCorrupt(f"{ledger}: not the ledger that {seal_of(ledger).name} was made for. {LOST}")
