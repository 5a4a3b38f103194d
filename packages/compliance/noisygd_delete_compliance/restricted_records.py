"""Records whose processing is restricted (Article 18 GDPR), encrypted in a file outside the store.

The table deletes them, so no release uses them; only the file can restore them. It is decrypted with its key and
under its request id only (AES-256-GCM): destroying the key erases the content. The request id precedes the ciphertext
in clear, so that an interrupted command continues under the id that it had generated.
"""

from __future__ import annotations

import base64
import json
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from noisygd_delete.errors import InvalidParameter
from noisygd_delete.methods.plan import Plan
from noisygd_delete.records import EditRequest, Labels, Records, Rows, limited_io
from noisygd_delete.store.disk import Disk, explain_disk_errors
from noisygd_delete.store.layout import LABEL, ROW

BEGINS = b"noisygd-delete records kept aside "
_FORMAT = BEGINS + b"1\n"
_NONCE, _KEY = 12, 32  # bytes
_LONGEST = 1 << 28  # bytes of a file
_LONGEST_HEAD = 1 << 14


@dataclass(frozen=True)
class RestrictedRecords:
    """The records of one request.

    Attributes:
        ids: The ids.
        subjects: The subjects; None if the table has none.
        rows: Shape (r, features).
        labels: Shape (r,).
    """

    ids: tuple[str, ...]
    subjects: tuple[str, ...] | None
    rows: Rows
    labels: Labels

    @classmethod
    def of(cls, records: Records, request: EditRequest) -> RestrictedRecords:
        """Return the records that a deletion names, from the current table."""
        found = set(records.names.find(list(request.deletions)).tolist())
        if request.subjects and records.owners is not None:
            found |= set(records.owners.find(list(request.subjects)).tolist())
        slots = sorted(found)
        owners = records.owners
        subjects = None if owners is None else tuple(str(owners[slot]) for slot in slots)
        names = tuple(str(records.names[slot]) for slot in slots)
        return cls(names, subjects, np.array(records.features[slots]), np.array(records.labels[slots]))

    def write(self, path: Path, key: Path, token: str) -> None:
        """Encrypt the records into a new file.

        A file left by an interrupted call for the same request is kept if its content is equal.

        Raises:
            InvalidParameter: If the file holds something else, the records are too large, or the key is not valid.
        """
        secret = read_key(key)
        if path.exists():
            if not RestrictedRecords.read(path, key, token).same(self):
                raise InvalidParameter(f"{path} holds other records; give the name of a new file")
            return
        head, nonce = _FORMAT + json.dumps(token).encode() + b"\n", os.urandom(_NONCE)
        sealed = AESGCM(secret).encrypt(nonce, self._body(), head)
        if len(head) + _NONCE + len(sealed) > _LONGEST:
            raise InvalidParameter(
                f"these records take more than the {_LONGEST >> 20} MiB that a file of restricted records may have, and could not be read "
                "back; restrict fewer at a time. Nothing was changed"
            )
        with explain_disk_errors(path, "nothing was changed in the store"):
            Disk().place(path, head + nonce + sealed)

    @classmethod
    def read(cls, path: Path, key: Path, token: str) -> RestrictedRecords:
        """Decrypt the records in a file with its key and under its request id.

        Raises:
            InvalidParameter: If it is not such a file, or belongs to another key or another request.
        """
        secret, data = read_key(key), limited_io.read_file(path, _LONGEST)
        bound_to = _FORMAT + json.dumps(token).encode() + b"\n"
        body = data[len(bound_to) :] if data.startswith(bound_to) else b""
        if not data.startswith(_FORMAT):
            raise InvalidParameter(f"{path}: not a file of restricted records")
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
        """Return the request id of a file; None if there is no such file or it names no request id."""
        if not path.is_file():
            return None
        with limited_io.open_plain(path) as file:
            data = file.read(_LONGEST_HEAD)
        if not data.startswith(_FORMAT):
            return None
        try:
            token = json.loads(data[len(_FORMAT) :].partition(b"\n")[0])
        except ValueError:
            return None
        return token if isinstance(token, str) else None

    def same(self, other: RestrictedRecords) -> bool:
        """Return whether both hold the same records, bit for bit."""
        return self._body() == other._body()

    def warning(self, records: Records, plan: Plan, *, back: bool) -> str:
        """Return a warning for the operator if releases carry noise over from one another, else "".

        Rows that are removed and restored are then counted twice, and the guarantees do not hold for a person who has
        more rows than the plan covers.

        Args:
            records: The table, before the rows are removed, or before they are restored.
            plan: The plan of the store.
            back: Whether the rows are being restored.
        """
        owners, planned, times = records.owners, plan.problem.rows_per_subject, 1 + back
        persons = Counter(self.ids if self.subjects is None else self.subjects)
        held = {name: 1 - back if owners is None else len(owners.find([name])) for name in persons}
        rows = max(times * number + held[name] for name, number in persons.items())
        if not plan.mechanism.carries:
            return ""
        if plan.problem.by_person:
            return (
                "a restored person counts as another, and figures of this store are of persons who come once: they will not hold for this person. A plan "
                "that covers it, before the rows are taken out: --weighting by-row, and `relearn`"
            )
        if rows <= planned:
            return ""
        return (
            f"restored rows count as well as those removed, {rows} of a person; figures of this store are of {planned} and will not hold for this "
            f"person. A plan that covers it, before the rows are taken out: --rows-per-subject {rows}, and `relearn`"
        )

    def back(self, token: str) -> EditRequest:
        """Return the request that restores the records to the table, under this request id."""
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
    """Return the key in a file; create a missing file with a new key."""
    if not path.exists() and not path.is_symlink():
        with explain_disk_errors(path, "nothing was changed"):
            Disk().place(path, os.urandom(_KEY).hex().encode() + b"\n")
    return limited_io.read_key(path, _KEY, "a key of restricted records")
