"""The files of a store. A store holds nothing else.

plan.json  schema.json       public: copies of the plan and schema in the ledger, for people to read
records/features.f32         slots × features, little-endian float32; a free slot is all zeros
records/rows.codes           in its place for rows of an additive map: slots × blocks, unsigned integers of one or more
                             bytes, little-endian; a free slot is all zeros
records/labels.f64           one little-endian float64 per slot; 0 in a free slot
records/ids.names            one cell per slot with the id of its record, zeros in a free slot (see `names`)
records/subjects.names       one cell per slot with the subject of its record, if the table has subjects
records/long.names           ids and subjects too long for a cell; it and those above end in a footer
                             (see `file_footer`)
model-<release>.safetensors  the last published model
ledger.sqlite                public facts only; its last entry determines the plan and the model
register.sqlite              request ids with their salts, and what was stated about each request; can be forgotten
                             (see `request_log`); absent before the first request id
seal.json                    length and last link of the ledger, so that truncation is detected; the newest change
                             of the publisher list and of the register (see `rollback_guard`)
judged.json                  the prefix of the ledger that `verify` has checked (see `ledger`); absent for a short one
publishers.json              external locations the current model is published to, and their contents
                             (see `destinations`); absent if there are none
held-out.json                salted digests of the names that `quickstart` held out for evaluation (see `held_out`);
                             absent if there are none
patch.bin                    noisy sums that the next release continues from, while edits are pending (see `candidate`);
                             absent otherwise
journal/request.json         the request in progress; absent between requests
service/                     pending requests of the service, which it manages itself (see noisygd-delete-server);
                             absent unless one ran
lock                         held by the one process that writes; `init` writes it first, to mark the folder as a store
"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import StoreCorrupt, StoreError, StoreLocked

FORMAT = 1
LONGEST_COPY = 1 << 27  # bytes of plan.json or schema.json
TEMPORARY = ".tmp"
FORMER = ".old"  # second name of a file that is being replaced
ROW = "<f4"
LABEL = "<f8"

_MODEL = re.compile(r"model-([1-9][0-9]*)\.safetensors")
_SERVICE = re.compile(r"service(/lock|/(accepted|quarantined|edited|refused|outgoing)(/[0-9]{12}\.json(\.tmp)?)?)?")
JOURNAL = "-journal"
MARK = b"This folder is a store of noisygd-delete: it alone writes, replaces and erases files here.\n"
LEFTOVERS = (JOURNAL, "-wal", "-shm")  # suffixes of SQLite's files next to a database


class _Inside:
    """A path inside the store, given by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, layout: Layout, kind: type[Layout] | None = None) -> Path:
        return layout.root / self.name


@dataclass(frozen=True)
class Layout:
    """Paths inside the store at `root`."""

    root: Path

    @classmethod
    def at(cls, path: str | Path) -> Layout:
        """Return the layout of the store at a path, with symbolic links resolved once.

        Raises:
            StoreError: If the path cannot be resolved.
        """
        try:
            return cls(Path(path).resolve())
        except (OSError, RuntimeError, ValueError) as error:  # a cycle of links, a zero byte
            raise StoreError(f"{str(path)!r}: not the name of a folder; check the path") from error

    plan = _Inside("plan.json")
    schema = _Inside("schema.json")
    records = _Inside("records")
    features, codes = _Inside("records/features.f32"), _Inside("records/rows.codes")
    labels = _Inside("records/labels.f64")
    ids = _Inside("records/ids.names")
    subjects = _Inside("records/subjects.names")
    long = _Inside("records/long.names")
    ledger = _Inside("ledger.sqlite")
    # the register before ids were forgotten, while it is being replaced
    register, former_register = _Inside("register.sqlite"), _Inside(f"register.sqlite{FORMER}")
    seal = _Inside("seal.json")
    judged = _Inside("judged.json")
    publishers = _Inside("publishers.json")
    held_out = _Inside("held-out.json")
    patch = _Inside("patch.bin")
    journal = _Inside("journal")
    # the request before it recorded a draw, while it is being replaced
    request, former_request = _Inside("journal/request.json"), _Inside(f"journal/request.json{FORMER}")
    candidate = _Inside("journal/draw.bin")  # a release drawn before its edits are carried out
    lock = _Inside("lock")
    service = _Inside("service")

    def model(self, release: int) -> Path:
        """Return the path of the model of a release."""
        return self.root / f"model-{release}.safetensors"

    def models(self) -> list[Path]:
        """Return every model file, whether or not the ledger names it."""
        return sorted(path for path in self.root.iterdir() if _MODEL.fullmatch(path.name))

    def temporaries(self) -> list[Path]:
        """Return half-written files of the store that a crash left behind."""
        folders = [folder for folder in (self.root, self.records, self.journal) if folder.is_dir()]
        found = (path for folder in folders for path in folder.iterdir() if path.name.endswith(TEMPORARY))
        return sorted(path for path in found if self.is_expected(path.with_name(path.name.removesuffix(TEMPORARY))))

    def holding_rows(self) -> list[Path]:
        """Return every file of the table."""
        return sorted(self.records.iterdir()) if self.records.is_dir() else []

    def databases(self) -> list[Path]:
        """Return the databases that exist; the ledger is always included."""
        return [path for path in (self.register, self.ledger) if path == self.ledger or path.exists()]

    def list_all(self) -> Iterator[Path]:
        """Yield every file and folder under the root; links are yielded, not followed."""
        pending = [self.root]
        while pending:
            for path in sorted(pending.pop().iterdir()):
                yield path
                if path.is_dir() and not path.is_symlink():
                    pending.append(path)

    def is_expected(self, path: Path) -> bool:
        """Return whether a path under the root belongs to the layout, including SQLite's journals."""
        own = {place.name for place in vars(Layout).values() if isinstance(place, _Inside)}
        within = path.relative_to(self.root).as_posix()
        if within in own or _MODEL.fullmatch(within) or _SERVICE.fullmatch(within):
            return True
        return any(path == file.with_name(file.name + end) for file in self.databases() for end in LEFTOVERS)

    def leftovers(self) -> list[Path]:
        """Return existing database journals and files left by an interrupted exchange.

        The store zeroes the journals after every commit.
        """
        names = [database.with_name(database.name + end) for database in self.databases() for end in LEFTOVERS]
        return [path for path in (*names, self.former_register, self.former_request) if path.exists()]


# --- lock ---
#
# One writer at a time. The operating system releases the lock when its process ends, however it ends.


_POLL_SECONDS = 0.05
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Lock:
    """An exclusive lock on a file, held until `release`.

    Raises:
        StoreLocked: If another holder, in this or another process, still has it after `wait` seconds.
        StoreCorrupt: If the path is a pipe or a device.
    """

    def __init__(self, path: Path, wait: float = 0.0) -> None:
        self._path, self._descriptor = path, -1
        deadline = time.monotonic() + wait
        try:
            while not self._taken():
                if not time.monotonic() < deadline:
                    raise StoreLocked(
                        f"{path.parent}: another process is writing to this store; try again when it is done, "
                        "or give a longer --wait"
                    )
                time.sleep(_POLL_SECONDS)
        except BaseException:
            self.release()
            raise

    def _taken(self) -> bool:
        """Return whether this object now holds the lock on the file that currently has this name."""
        if self._descriptor < 0 or not self._is_there:
            self.release()
            self._descriptor = os.open(self._path, _FLAGS, 0o600)
            if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
                raise StoreCorrupt(f"{self._path}: not a plain file; move it away")
        return try_lock(self._descriptor) and self._is_there

    @property
    def _is_there(self) -> bool:
        with suppress(OSError):
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path, follow_symlinks=False))
        return False

    def require(self) -> None:
        """Raise `StoreError` unless the locked file still has its name.

        Otherwise another process may hold the lock on the file that has the name now.
        """
        if not self._is_there:
            raise StoreError(
                f"{self._path.parent}: moved or replaced, or its lock file removed, while this process had it open: another process may be "
                "writing there. Nothing more is changed; close this one, see that a single store is there, and run the command again"
            )

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> bool:
        """Lock an open file; return False if it is locked already."""
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Lock an open file; return False if it is locked already."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
