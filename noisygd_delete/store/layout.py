"""Where everything is, and that nothing else is there.

plan.json  schema.json       public: copies of what the ledger says, for people to read
records/features.f32         slots × features, little-endian float32; a free slot is all zeros
records/labels.f64           one little-endian float64 per slot; 0 in a free slot
records/ids.names            one cell per slot with the id of its record, zeros in a free slot (see `names`)
records/subjects.names       the same with its subject, where the table has subjects
records/long.names           ids and subjects too long for a cell; it and the four above end in a tie (see `tie`)
model-<release>.safetensors  the last published model
ledger.sqlite                public facts only; its last entry names the plan and the model in force
register.sqlite              request ids with their salts, and what was stated about each request: may be forgotten (see
                             `requests`); absent before the first request id
seal.json                    how long the ledger is and its last link, so that an end cut off is seen; how often list of publishers and register changed
judged.json                  how far `verify` has judged the ledger (see `remembered`); absent where that is short
publishers.json              where the model in force is put besides, and what lies there (see `onward`); absent where nobody asked
held-out.json                salted digests of the names that `quickstart` held out to measure on (see `held_out`); absent elsewhere
patch.bin                    sums with noise that the next release goes on from, where edits wait for one (see `candidate`); absent elsewhere
journal/request.json         the request in flight; absent between requests
service/                     what the service was asked and has not finished, kept by itself (see noisygd-delete-server); absent unless one ran
lock                         held by the one process that writes; what `init` writes first, it says that the folder is a store's
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
FORMER = ".old"  # second name of a file that is being exchanged for a new one
ROW = "<f4"
LABEL = "<f8"

_MODEL = re.compile(r"model-([1-9][0-9]*)\.safetensors")
_SERVICE = re.compile(r"service(/lock|/(accepted|aside|edited|refused|outgoing)(/[0-9]{12}\.json(\.tmp)?)?)?")
JOURNAL = "-journal"
MARK = b"This folder is a store of noisygd-delete: it alone writes, replaces and erases files here.\n"
LEFTOVERS = (JOURNAL, "-wal", "-shm")  # of a database, beside it


class _Inside:
    """A place in the store, by its name there."""

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
        """The store that a path leads to, links on the way followed once and for all.

        Raises:
            StoreError: the path leads nowhere.
        """
        try:
            return cls(Path(path).resolve())
        except (OSError, RuntimeError, ValueError) as error:  # links in a circle, a zero byte
            raise StoreError(f"{str(path)!r}: not the name of a folder; check the path") from error

    plan = _Inside("plan.json")
    schema = _Inside("schema.json")
    records = _Inside("records")
    features = _Inside("records/features.f32")
    labels = _Inside("records/labels.f64")
    ids = _Inside("records/ids.names")
    subjects = _Inside("records/subjects.names")
    long = _Inside("records/long.names")
    ledger = _Inside("ledger.sqlite")
    # before some of it was forgotten, while it is exchanged for what is left
    register, former_register = _Inside("register.sqlite"), _Inside(f"register.sqlite{FORMER}")
    seal = _Inside("seal.json")
    judged = _Inside("judged.json")
    publishers = _Inside("publishers.json")
    held_out = _Inside("held-out.json")
    patch = _Inside("patch.bin")
    journal = _Inside("journal")
    # before it said that a release was drawn for it, while the one is exchanged for the other
    request, former_request = _Inside("journal/request.json"), _Inside(f"journal/request.json{FORMER}")
    candidate = _Inside("journal/draw.bin")  # a release that was drawn before its edits are carried out
    lock = _Inside("lock")
    service = _Inside("service")

    def model(self, release: int) -> Path:
        return self.root / f"model-{release}.safetensors"

    def models(self) -> list[Path]:
        """Every model file there is, named by the ledger or not."""
        return sorted(path for path in self.root.iterdir() if _MODEL.fullmatch(path.name))

    def temporaries(self) -> list[Path]:
        """Half-written files of the store's own that a crash left behind."""
        folders = [folder for folder in (self.root, self.records, self.journal) if folder.is_dir()]
        found = (path for folder in folders for path in folder.iterdir() if path.name.endswith(TEMPORARY))
        return sorted(path for path in found if self.expected(path.with_name(path.name.removesuffix(TEMPORARY))))

    def holding_rows(self) -> list[Path]:
        """Every file that a table has here."""
        return sorted(self.records.iterdir()) if self.records.is_dir() else []

    def databases(self) -> list[Path]:
        return [path for path in (self.register, self.ledger) if path == self.ledger or path.exists()]

    def everything(self) -> Iterator[Path]:
        """Every file and folder under the root; links are yielded, not followed."""
        pending = [self.root]
        while pending:
            for path in sorted(pending.pop().iterdir()):
                yield path
                if path.is_dir() and not path.is_symlink():
                    pending.append(path)

    def expected(self, path: Path) -> bool:
        """Whether a path under the root belongs to the layout (databases' own journals do, while in use)."""
        own = {place.name for place in vars(Layout).values() if isinstance(place, _Inside)}
        within = path.relative_to(self.root).as_posix()
        if within in own or _MODEL.fullmatch(within) or _SERVICE.fullmatch(within):
            return True
        return any(path == file.with_name(file.name + end) for file in self.databases() for end in LEFTOVERS)

    def made_first(self) -> set[Path]:
        """The files that `init` writes, after the lock."""
        names = {self.ids, self.subjects, self.long}
        return {self.plan, self.schema, self.features, self.labels, self.ledger, self.seal, self.held_out, *names}

    def half_made(self, path: Path) -> bool:
        """Whether `init` can have written this path before it was interrupted."""
        name = path.name
        for end in (TEMPORARY, *LEFTOVERS):
            name = name.removesuffix(end)
        files = self.made_first()
        return path in files | {self.records, self.journal, self.lock} or path.with_name(name) in files

    def leftovers(self) -> list[Path]:
        """Journals of databases, over which the store writes zeros after every commit, and files that an interrupted exchange left."""
        names = [database.with_name(database.name + end) for database in self.databases() for end in LEFTOVERS]
        return [path for path in (*names, self.former_register, self.former_request) if path.exists()]


# --- lock ---
#
# One writer at a time. The operating system drops the lock when its process ends, however it ends.


_POLL_SECONDS = 0.05
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Lock:
    """An exclusive lock on a file, held until `release`.

    Raises:
        StoreLocked: another process (or another opening in this one) holds it for `wait` seconds from now.
        StoreCorrupt: it is a pipe or a device.
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
        """Whether the file that has this name now is locked by this object."""
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
        """Raise `StoreError` unless the locked file still has its name: else another process may hold what has it now."""
        if not self._is_there:
            raise StoreError(
                f"{self._path.parent}: moved or replaced, or its lock file removed, while this process had it open: another process may be "
                "writing there. Nothing more is changed; close this one, see that a single store is there, and run the command again"
            )

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> bool:
        """Lock an open file, unless somebody else has."""
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Lock an open file, unless somebody else has."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
