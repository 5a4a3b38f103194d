"""Rows larger than memory, for the duration of one release, in an encrypted file without a name.

    block k of the file = AES-256-GCM(key, nonce = k, 2,048 rows as float32)

The key is drawn for this file alone, is held only by this process and is never written; each block is written once. The
file is unlinked before its first byte is written, so it disappears with the process, however that ends, and what a disk
may keep of it is ciphertext without a key. A modified block is refused. Blocks are those in which the objective reads a
table, so the sums equal those of a table in memory that are computed by matrix products, bit for bit.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from numpy.typing import NDArray

from noisygd_delete.engine.sums import HeldSums, RowsElsewhere, Sums, check_labels, check_norms, longest_rows
from noisygd_delete.errors import SourceError
from noisygd_delete.features.schema import Encoded
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import Rows

BLOCK = 2048  # rows
_TAG, _NONCE = 16, 12  # bytes


def folder() -> Path:
    """Return the folder of the file: TMPDIR, else /var/tmp, because /tmp may be in memory."""
    named, usual = os.environ.get("TMPDIR"), Path("/var/tmp")
    return Path(named) if named else usual if usual.is_dir() else Path(tempfile.gettempdir())


class ScratchRows:
    """A float32 array of shape (slots, features), written once from the first row on, then read by slices.

    Rows that are not written are zeros.

    Raises:
        SourceError: From every method that reads or writes: if the disk is full, or returns modified data.
    """

    def __init__(self, slots: int, features: int) -> None:
        self.shape, self.dtype, self.ndim = (slots, features), np.dtype("<f4"), 2
        self.size = slots * features
        self.nbytes = self.size * self.dtype.itemsize
        self._sealed = BLOCK * features * self.dtype.itemsize + _TAG
        self._cipher = AESGCM(AESGCM.generate_key(256))
        self._place = folder()
        try:
            self._file = tempfile.TemporaryFile(dir=self._place, buffering=0)  # noqa: SIM115 - closed with the rows
        except OSError as error:
            raise self._failed(error) from None
        self._end = weakref.finalize(self, self._file.close)  # also after an error
        self._waiting = np.zeros((BLOCK, features), self.dtype)  # the block that is being filled
        self._filled = 0  # rows written, including those of the unfinished block
        self._held: tuple[int, NDArray[np.float32]] = (-1, self._waiting)  # the block that was read last

    def __len__(self) -> int:
        return self.shape[0]

    def append(self, rows: Rows) -> None:
        """Write the next rows, at most as many as there are slots."""
        left: NDArray[np.float32] = rows
        while len(left):
            at = self._filled % BLOCK
            taken = left[: BLOCK - at]
            self._waiting[at : at + len(taken)] = taken
            self._filled += len(taken)
            left = left[len(taken) :]
            if at + len(taken) == BLOCK:
                self._write(self._filled // BLOCK - 1)

    def finish(self) -> None:
        """Write the last block; the remaining rows are zeros."""
        if self._filled % BLOCK:
            self._waiting[self._filled % BLOCK :] = 0.0
            self._write(self._filled // BLOCK)
        self._waiting = self._waiting[:0].copy()

    def _write(self, block: int) -> None:
        sealed = memoryview(self._cipher.encrypt(_nonce(block), self._waiting.tobytes(), None))
        place = block * self._sealed
        try:
            while sealed:
                done = os.pwrite(self._file.fileno(), sealed, place)
                sealed, place = sealed[done:], place + done
        except OSError as error:
            raise self._failed(error) from None

    def __getitem__(self, part: Any) -> NDArray[np.float32]:
        """Return the rows of a slice, read-only."""
        if not isinstance(part, slice):
            raise TypeError("rows in a scratch file are read by slices")
        start, stop, step = part.indices(len(self))
        if step < 1:
            raise TypeError("rows in a scratch file are read forwards")
        if start // BLOCK == (max(stop, start + 1) - 1) // BLOCK:
            first = start // BLOCK * BLOCK
            return self._block(start // BLOCK)[start - first : max(stop, start) - first : step]
        chosen = np.empty((len(range(start, stop, step)), self.shape[1]), self.dtype)
        at, row = 0, start
        while row < stop:
            first = row // BLOCK * BLOCK
            some = self._block(row // BLOCK)[row - first : stop - first : step]
            chosen[at : at + len(some)] = some
            at, row = at + len(some), row + len(some) * step
        chosen.flags.writeable = False
        return chosen

    def _block(self, block: int) -> NDArray[np.float32]:
        held = self._held
        if held[0] != block:
            held = self._held = block, self._read(block)  # threads may read concurrently: each returns what it read
        return held[1]

    def _read(self, block: int) -> NDArray[np.float32]:
        if block * BLOCK >= self._filled:
            nothing = np.zeros((BLOCK, self.shape[1]), self.dtype)
            nothing.flags.writeable = False
            return nothing
        try:
            sealed = os.pread(self._file.fileno(), self._sealed, block * self._sealed)
            opened = self._cipher.decrypt(_nonce(block), sealed, None)
        except OSError as error:
            raise self._failed(error) from None
        except InvalidTag:
            raise SourceError(
                f"{self._place}: rows in a scratch file came back changed; look after that disk, and try again"
            ) from None
        return np.frombuffer(opened, self.dtype).reshape(BLOCK, -1)

    def close(self) -> None:
        """Close the file and drop its key."""
        self._end()
        self._held = (-1, self._waiting)
        del self._cipher

    def _failed(self, error: OSError) -> SourceError:
        return SourceError(
            f"{self._place}: {self.nbytes / 2**30:.3g} GiB of encrypted rows do not fit there for the time of a release "
            f"({error.strerror}); name another folder by TMPDIR, or let more rows into memory. Nothing was published"
        )


def _nonce(block: int) -> bytes:
    return block.to_bytes(_NONCE, "big")


class ScratchRecords(RowsElsewhere):
    """The current records in order of arrival, with rows in a scratch file and labels in memory.

    Call `append`, then `finish`, and finally `close`.
    """

    def __init__(self, slots: int, features: int) -> None:
        self.rows, self.labels, self.occupied = ScratchRows(slots, features), np.zeros(slots), np.zeros(slots, bool)
        self._filled = 0

    @property
    def slots(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return self.rows.shape[1]

    def append(self, block: Encoded) -> None:
        """Append records, at most as many as there are slots."""
        here = slice(self._filled, self._filled + len(block.labels))
        self.labels[here], self.occupied[here] = block.labels, True
        self._filled = here.stop
        self.rows.append(block.rows)

    def finish(self) -> None:
        """Complete the table."""
        self.rows.finish()

    def parts(self) -> Iterator[tuple[Rows, NDArray[np.float64]]]:
        """Yield the records, block by block."""
        for start in range(0, self._filled, BLOCK):
            here = slice(start, min(start + BLOCK, self._filled))
            yield self.rows[here], self.labels[here]

    def close(self) -> None:
        """Close the scratch file."""
        self.rows.close()

    def check(self, loss: Loss, variances: NDArray[np.float64] | None) -> None:
        longest = longest_rows(self._read, range(self.slots), variances)
        check_norms(longest, loss, lambda slot: f"record {slot + 1} of the source")
        check_labels(self.labels, self.occupied, loss)

    def sums(self, loss: Loss) -> Sums:
        return HeldSums(self._read, self.labels, loss)

    @property
    def _read(self) -> Rows:
        """The rows, typed as an array that is read by slices."""
        return cast("Rows", self.rows)
