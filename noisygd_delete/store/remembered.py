"""How far `verify` has judged a long ledger: what lies before is read and hashed again, and not judged again.

The note names a link, so that it holds for these very entries and no others. Whoever can write it can write the ledger and its seal too.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..records import bounded
from ..version import __version__
from .disk import Disk, read

WORTH = 1000  # from so many entries on, judging takes longer than a note


class Judged(NamedTuple):
    """The entries up to a link, and the rows of the table of places up to there (`places.digest`), judged by this version."""

    entries: int
    link: str
    places: str
    version: str = __version__


def remembered(path: Path) -> Judged | None:
    """What is noted there; None where nothing is, or nothing that this version wrote."""
    if path.exists() or path.is_symlink():
        with suppress(ValueError, TypeError):
            found = Judged(**bounded.parsed(read(path, 1 << 12).decode()))
            if list(map(type, found)) == [int, str, str, str] and found.version == __version__:
                return found
    return None


def remember(path: Path, before: Judged | None, now: Judged) -> None:
    """Note it where that saves time. A disk that refuses costs time later, and nothing else."""
    if now != before and now.entries >= WORTH:
        with suppress(OSError):
            Disk().replace(path, (json.dumps(now._asdict()) + "\n").encode())
