"""Records kept aside while their processing is restricted (Article 18 GDPR): encrypted, in a file outside the store.

The table forgets them like deleted ones, so no release uses them; the file alone brings them back. It opens with its key and under its
request id only (AES-256-GCM), and without the key it is noise: destroying the key erases what it holds. The request id stands in front
of them, so that a command that was interrupted goes on under the one it had made.
"""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ..errors import InvalidParameter
from ..records import EditRequest, Labels, Records, Rows, bounded
from .disk import Disk, explained
from .layout import LABEL, ROW

BEGINS = b"noisygd-delete records kept aside "
_FORMER, _FORMAT = BEGINS + b"1\n", BEGINS + b"2\n"  # of the former, the request id is not in the file
_NONCE, _KEY = 12, 32  # bytes
_LONGEST = 1 << 28  # bytes of a file
_LONGEST_HEAD = 1 << 14


@dataclass(frozen=True)
class Aside:
    """The records of one request: ids, subjects (None where the table has none), rows (r, features), labels (r,)."""

    ids: tuple[str, ...]
    subjects: tuple[str, ...] | None
    rows: Rows
    labels: Labels

    @classmethod
    def of(cls, records: Records, request: EditRequest) -> Aside:
        """The records that a deletion names, as they are in the table now."""
        found = set(records.names.find(list(request.deletions)).tolist())
        if request.subjects and records.owners is not None:
            found |= set(records.owners.find(list(request.subjects)).tolist())
        slots = sorted(found)
        owners = records.owners
        subjects = None if owners is None else tuple(str(owners[slot]) for slot in slots)
        names = tuple(str(records.names[slot]) for slot in slots)
        return cls(names, subjects, np.array(records.features[slots]), np.array(records.labels[slots]))

    def write(self, path: Path, key: Path, token: str) -> None:
        """Encrypt them into a new file. A file of the same request that an interrupted call left is kept if it holds the same.

        Raises:
            InvalidParameter: the file holds something else, or the key is none.
        """
        secret = read_key(key)
        if path.exists():
            if not Aside.read(path, key, token).same(self):
                raise InvalidParameter(f"{path} holds other records; give the name of a new file")
            return
        head, nonce = _FORMAT + json.dumps(token).encode() + b"\n", os.urandom(_NONCE)
        sealed = AESGCM(secret).encrypt(nonce, self._body(), head)
        if len(head) + _NONCE + len(sealed) > _LONGEST:
            raise InvalidParameter(
                f"these records take more than the {_LONGEST >> 20} MiB that a file of records kept aside may have, and could not be read "
                "back; restrict fewer at a time. Nothing was changed"
            )
        with explained(path, "nothing was changed in the store"):
            Disk().place(path, head + nonce + sealed)

    @classmethod
    def read(cls, path: Path, key: Path, token: str) -> Aside:
        """The records in a file, by its key and under its request id.

        Raises:
            InvalidParameter: it is not such a file, or another key or another request's.
        """
        secret, data = read_key(key), bounded.content(path, _LONGEST)
        if data.startswith(_FORMER):
            body, bound_to = data[len(_FORMER) :], _FORMER + token.encode()
        else:
            bound_to = _FORMAT + json.dumps(token).encode() + b"\n"
            body = data[len(bound_to) :] if data.startswith(bound_to) else b""
            if not data.startswith(_FORMAT):
                raise InvalidParameter(f"{path}: not a file of records kept aside")
        try:
            fields = json.loads(AESGCM(secret).decrypt(body[:_NONCE], body[_NONCE:], bound_to))
        except (InvalidTag, ValueError) as error:
            raise InvalidParameter(
                f"{path}: damaged, or of another request, or not of this key; nothing was changed"
            ) from error
        labels = np.frombuffer(base64.b64decode(fields["labels"]), LABEL).astype(np.float64)
        rows = np.frombuffer(base64.b64decode(fields["rows"]), ROW).astype(np.float32).reshape(len(labels), -1)
        subjects = None if fields["subjects"] is None else tuple(fields["subjects"])
        return cls(tuple(fields["ids"]), subjects, rows, labels)

    @staticmethod
    def token_of(path: Path) -> str | None:
        """The request id that a file was made under; None where there is no file, or it does not say."""
        if not path.is_file():
            return None
        with bounded.opened(path) as file:
            data = file.read(_LONGEST_HEAD)
        if not data.startswith(_FORMAT):
            return None
        try:
            token = json.loads(data[len(_FORMAT) :].partition(b"\n")[0])
        except ValueError:
            return None
        return token if isinstance(token, str) else None

    def same(self, other: Aside) -> bool:
        """Whether both hold the same, bit for bit."""
        return self._body() == other._body()

    def back(self, token: str) -> EditRequest:
        """The request that puts them into the table again, under this request id."""
        return EditRequest.insert(self.ids, self.rows, self.labels, subjects=self.subjects, request_id=token)

    def _body(self) -> bytes:
        rows, labels = np.ascontiguousarray(self.rows, ROW), np.ascontiguousarray(self.labels, LABEL)
        fields = {"ids": self.ids, "subjects": self.subjects}
        coded = {
            "rows": base64.b64encode(rows.tobytes()).decode(),
            "labels": base64.b64encode(labels.tobytes()).decode(),
        }
        return json.dumps({**fields, **coded}).encode()


def read_key(path: Path) -> bytes:
    """The key in a file; a new one where there is no file yet."""
    if not path.exists() and not path.is_symlink():
        with explained(path, "nothing was changed"):
            Disk().place(path, os.urandom(_KEY).hex().encode() + b"\n")
    return bounded.key(path, _KEY, "a key of records kept aside")
