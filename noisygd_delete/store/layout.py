"""Where everything is, and that nothing else is there.

plan.json  schema.json       public: copies of what the ledger says, for people to read
records/features.f32         slots × features, little-endian float32; a free slot is all zeros
records/labels.f64           one little-endian float64 per slot; 0 in a free slot
records/ids.sqlite           slot, id and subject of each record; written anew at each edit, never changed in place
model-<release>.safetensors  the last published model
ledger.sqlite                public facts only; its last entry names the plan and the model in force
seal.json                    how long the ledger is and its last link, so that an end cut off is seen
journal/request.json         the request in flight; absent between requests
lock                         held by the one process that writes; what `init` writes first, it says that the folder is a store's
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import StoreError

FORMAT = 2
READABLE = (1, 2)  # 1: edits were counted, their kinds not recorded
TEMPORARY = ".tmp"
FORMER = ".old"  # second name of a file that is being exchanged for a new one
ROW = "<f4"
LABEL = "<f8"

_MODEL = re.compile(r"model-([1-9][0-9]*)\.safetensors")
JOURNAL = "-journal"
MARK = b"This folder is a store of noisygd-delete: it alone writes, replaces and erases files here.\n"
_SQLITE_LEFTOVERS = (JOURNAL, "-wal", "-shm")


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

    @property
    def plan(self) -> Path:
        return self.root / "plan.json"

    @property
    def schema(self) -> Path:
        return self.root / "schema.json"

    @property
    def records(self) -> Path:
        return self.root / "records"

    @property
    def features(self) -> Path:
        return self.records / "features.f32"

    @property
    def labels(self) -> Path:
        return self.records / "labels.f64"

    @property
    def ids(self) -> Path:
        return self.records / "ids.sqlite"

    @property
    def ledger(self) -> Path:
        return self.root / "ledger.sqlite"

    @property
    def seal(self) -> Path:
        return self.root / "seal.json"

    @property
    def journal(self) -> Path:
        return self.root / "journal"

    @property
    def request(self) -> Path:
        return self.journal / "request.json"

    @property
    def lock(self) -> Path:
        return self.root / "lock"

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

    def databases(self) -> list[Path]:
        return [self.ids, self.ledger]

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
        own = {*self.made_first(), self.records, self.journal, self.request, self.lock, self.former_ids}
        own |= {database.with_name(database.name + end) for database in self.databases() for end in _SQLITE_LEFTOVERS}
        return path in own or (path.parent == self.root and bool(_MODEL.fullmatch(path.name)))

    def made_first(self) -> set[Path]:
        """The files that `init` writes, after the lock."""
        return {self.plan, self.schema, self.features, self.labels, self.ids, self.ledger, self.seal}

    def half_made(self, path: Path) -> bool:
        """Whether `init` can have written this path before it was interrupted."""
        name = path.name
        for end in (TEMPORARY, *_SQLITE_LEFTOVERS):
            name = name.removesuffix(end)
        own = {*self.made_first(), self.records, self.journal, self.lock}
        return path in own or path.with_name(name) in self.made_first()

    @property
    def former_ids(self) -> Path:
        """The ids before an edit, while they are exchanged for those after it."""
        return self.ids.with_name(self.ids.name + FORMER)

    def leftovers(self) -> list[Path]:
        """Journals of databases, which the store erases after every commit, and an exchange of ids not finished."""
        names = [database.with_name(database.name + end) for database in self.databases() for end in _SQLITE_LEFTOVERS]
        return [path for path in (*names, self.former_ids) if path.exists()]
