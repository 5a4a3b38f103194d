"""Outside the ledger: how long it is, and its last link. An end that was cut off is seen."""

from __future__ import annotations

import json
from pathlib import Path

from ..errors import StoreCorrupt
from ..records import bounded
from .disk import Disk, read
from .layout import Layout

LOST = "Restore the store from a backup, and carry out again every request made since"


def seal_of(ledger: Path) -> Path:
    return Layout(ledger.parent).seal


def write(disk: Disk, ledger: Path, length: int, digest: str) -> None:
    """A crash before this leaves the former length, which still holds."""
    seal = {"entries": length, "sha256": digest}
    disk.replace(seal_of(ledger), (json.dumps(seal) + "\n").encode())


def sealed(ledger: Path) -> tuple[int, str] | None:
    """(length, last link) as the seal says, None where there is none."""
    path = seal_of(ledger)
    if not path.exists() and not path.is_symlink():
        return None
    try:
        seal = bounded.parsed(read(path, 1 << 12).decode())
        if (
            set(seal) != {"entries", "sha256"}
            or type(seal["entries"]) is not int
            or not isinstance(seal["sha256"], str)
        ):
            raise ValueError("other parts")
    except (ValueError, TypeError) as error:
        raise StoreCorrupt(f"{path}: not a seal of a ledger; put it back from a backup of the store") from error
    return seal["entries"], seal["sha256"]


def missing(ledger: Path) -> StoreCorrupt:
    return StoreCorrupt(f"{seal_of(ledger)}: missing; put it back from a backup of the store. {LOST}")


def cut_off(ledger: Path, length: int, stated: int) -> StoreCorrupt:
    return StoreCorrupt(f"{ledger}: has {length} entries and had {stated}: its end was cut off. {LOST}")


def of_another(ledger: Path) -> StoreCorrupt:
    return StoreCorrupt(f"{ledger}: not the ledger that {seal_of(ledger).name} was made for. {LOST}")
