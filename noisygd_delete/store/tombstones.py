"""The optional list of erased ids, by which a store refuses an id that was erased before.

A store does not remember the ids it erased, so a file that contains one again is an ordinary insertion. An operator who
wants it refused keeps two files outside the store: a key, and a list of HMAC-SHA256(key, id), one per line. Without the
key the list reveals only the number of erased ids; with it, a guessed id can be tested. The list is data about erased
people: consider that before using it, and destroy the key to make the list meaningless.

    >>> import tempfile
    >>> from noisygd_delete.store import Tombstones
    >>> from noisygd_delete.store.disk import Disk
    >>> folder = tempfile.mkdtemp()
    >>> tombstones = Tombstones.create(f"{folder}/erased.txt", f"{folder}/erased.key")
    >>> tombstones.add(["person-17"], Disk())
    >>> list(tombstones.among(["person-16", "person-17"]))
    ['person-17']
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..errors import InvalidParameter, InvalidRequest
from ..records import EditRequest, Id, Records, SlotEdits, limited_io
from .disk import Disk, explain_disk_errors
from .layout import Lock

_HEADER = "noisygd-delete tombstones 1 "
_KEY_BYTES = 32
_WHAT = "the key of a list of erased ids"
_LONGEST_LIST = 1 << 30  # bytes: sixteen million ids
_PATIENCE = 10.0  # seconds to wait while another store writes to the same list


class Tombstones:
    """The list at `path` with the key at `key`, both made by `Tombstones.create`.

    Raises:
        InvalidParameter: If a file cannot be read, has another format, or belongs to another key.
    """

    def __init__(self, path: str | Path, key: str | Path) -> None:
        self.path = Path(path).absolute()
        if self.path.is_symlink():  # replacing the list would replace the link, not its target
            raise InvalidParameter(f"{path} is a link; give the name of the file itself")
        self._key = limited_io.read_key(key, _KEY_BYTES, _WHAT)
        self._check = _HEADER + self._digest("", purpose=b"list")
        self._read()

    @classmethod
    def create(cls, path: str | Path, key: str | Path) -> Tombstones:
        """Create an empty list and a new key.

        Neither file may exist, except a key without a list, which is then used for the list.
        """
        disk, listed, kept = Disk(), Path(path).absolute(), Path(key).absolute()
        there = kept.exists() and not listed.exists()
        secret = limited_io.read_key(kept, _KEY_BYTES, _WHAT) if there else os.urandom(_KEY_BYTES)
        header = _HEADER + _hmac(secret, b"list", "")
        made: list[Path] = []
        for file, content in ((listed, header),) if there else ((kept, secret.hex()), (listed, header)):
            try:
                disk.place(file, f"{content}\n".encode())
                made.append(file)
            except OSError as error:
                for orphan in made:  # a key without its list is useless
                    disk.erase(orphan)
                if isinstance(error, FileExistsError):
                    raise InvalidParameter(f"{file} exists; a key or a list is never overwritten") from error
                raise InvalidParameter(f"cannot write {file}: {error.strerror}") from error
        return cls(path, key)

    def check_and_record(self, request: EditRequest, edits: SlotEdits, records: Records, disk: Disk) -> None:
        """Refuse insertions of ids that were erased before, and record the ids that are about to be erased.

        After a crash the list may contain an id that is not erased yet; its requester got no answer and will repeat the
        request.
        """
        if request.insertion is not None:
            self.refuse(request.insertion.ids or ())
        names = records.names
        gone = [names[slot] for slot, name in zip(edits.slots.tolist(), edits.ids, strict=True) if name != names[slot]]
        self.add([name for name in gone if name is not None], disk)

    def add(self, ids: Iterable[Id], disk: Disk) -> None:
        """Record these ids as erased, durably and idempotently."""
        with explain_disk_errors(self.path, "no id was erased"):
            lock = Lock(self.path.with_name(f"{self.path.name}.lock"), _PATIENCE)  # several stores may share one list
            try:
                known = dict.fromkeys(self._read())
                new = [digest for digest in dict.fromkeys(map(self._digest, map(str, ids))) if digest not in known]
                if new:
                    disk.replace(self.path, "\n".join([self._check, *known, *new, ""]).encode())
            finally:
                lock.release()

    def refuse(self, ids: Sequence[Id]) -> None:
        """Raise `InvalidRequest` if any of the ids was erased before. The message gives positions, not ids."""
        gone = set(self.among(ids))
        erased = [str(place) for place, name in enumerate(ids, start=1) if name in gone]
        if erased:
            shown = ", ".join(erased[:10]) + (", …" if len(erased) > 10 else "")
            raise InvalidRequest(
                f"{len(erased)} of the {len(ids)} records to insert were erased before, by {self.path} (in order of the file: "
                f"{shown}); nothing was changed. Remove them from the file"
            )

    def among(self, ids: Iterable[Id]) -> Iterator[Id]:
        """Return those of the ids that were erased before."""
        known = set(self._read())
        return (name for name in ids if self._digest(str(name)) in known)

    def _digest(self, name: str, purpose: bytes = b"id") -> str:
        return _hmac(self._key, purpose, name)

    def _read(self) -> list[str]:
        try:
            header, *digests = limited_io.read_file(self.path, _LONGEST_LIST).decode("ascii").splitlines() or [""]
        except UnicodeDecodeError as error:
            raise InvalidParameter(f"{self.path}: not a list of erased ids") from error
        if not hmac.compare_digest(header.encode(), self._check.encode()):
            raise InvalidParameter(f"{self.path}: not a list of erased ids, or not one made with this key")
        return digests


def _hmac(key: bytes, purpose: bytes, name: str) -> str:
    return hmac.new(key, purpose + b"\0" + name.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
