"""Rows larger than memory, for the duration of one release, in an encrypted file without a name.

    block k of the file = AES-256-GCM(key, nonce = k, 2,048 rows as float32, or as codes)

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

from noisygd_delete.engine.coded import CodedSums
from noisygd_delete.engine.sums import HeldSums, RowsElsewhere, Sums, check_labels, check_norms, longest_rows
from noisygd_delete.errors import SourceError
from noisygd_delete.features.maps.codec import RowCodec
from noisygd_delete.features.schema import Encoded
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import CodedRows, Rows

BLOCK = 2048  # rows
_TAG, _NONCE = 16, 12  # bytes


def folder() -> Path:
    """Return the folder of the file: TMPDIR, else /var/tmp, because /tmp may be in memory."""
    named, usual = os.environ.get("TMPDIR"), Path("/var/tmp")
    return Path(named) if named else usual if usual.is_dir() else Path(tempfile.gettempdir())


class ScratchRows:
    """An array of shape (slots, columns), written once from the first row on, then read by slices.

    Rows that are not written are zeros.

    Args:
        slots: Number of rows.
        columns: Numbers of a row.
        dtype: Their type.

    Raises:
        SourceError: From every method that reads or writes: if the disk is full, or returns modified data.
    """

    def __init__(self, slots: int, columns: int, dtype: Any = "<f4") -> None:
        self.shape, self.dtype, self.ndim = (slots, columns), np.dtype(dtype), 2
        self.size = slots * columns
        self.nbytes = self.size * self.dtype.itemsize
        self._sealed = BLOCK * columns * self.dtype.itemsize + _TAG
        self._cipher = AESGCM(AESGCM.generate_key(256))
        self._place = folder()
        try:
            self._file = tempfile.TemporaryFile(dir=self._place, buffering=0)  # noqa: SIM115 - closed with the rows
        except OSError as error:
            raise self._failed(error) from None
        self._end = weakref.finalize(self, self._file.close)  # also after an error
        self._waiting = np.zeros((BLOCK, columns), self.dtype)  # the block that is being filled
        self._filled = 0  # rows written, including those of the unfinished block
        self._held: tuple[int, NDArray[Any]] = (-1, self._waiting)  # the block that was read last

    def __len__(self) -> int:
        return self.shape[0]

    def append(self, rows: NDArray[Any]) -> None:
        """Write the next rows, at most as many as there are slots."""
        left = rows
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

    def __getitem__(self, part: Any) -> NDArray[Any]:
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

    def _block(self, block: int) -> NDArray[Any]:
        held = self._held
        if held[0] != block:
            held = self._held = block, self._read(block)  # threads may read concurrently: each returns what it read
        return held[1]

    def _read(self, block: int) -> NDArray[Any]:
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

    Args:
        slots: Number of slots.
        features: Number of features.
        codec: The codes of the rows that are appended; None: they are appended as features.
    """

    def __init__(self, slots: int, features: int, codec: RowCodec | None = None) -> None:
        self._codec, self._features = codec, features
        self.rows = ScratchRows(slots, features) if codec is None else ScratchRows(slots, codec.blocks, codec.dtype)
        self.labels, self.occupied = np.zeros(slots), np.zeros(slots, bool)
        self._filled = 0

    @property
    def slots(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return self._features

    def append(self, block: Encoded) -> None:
        """Append records, at most as many as there are slots."""
        here = slice(self._filled, self._filled + len(block.labels))
        self.labels[here], self.occupied[here] = block.labels, True
        self._filled = here.stop
        self.rows.append(block.rows.codes if isinstance(block.rows, CodedRows) else block.rows)

    def finish(self) -> None:
        """Complete the table."""
        self.rows.finish()

    def parts(self) -> Iterator[tuple[Rows | CodedRows, NDArray[np.float64]]]:
        """Yield the records, block by block."""
        for start in range(0, self._filled, BLOCK):
            here = slice(start, min(start + BLOCK, self._filled))
            rows = self.rows[here]
            yield rows if self._codec is None else CodedRows(rows, self._codec), self.labels[here]

    def close(self) -> None:
        """Close the scratch file."""
        self.rows.close()

    def check(self, loss: Loss, variances: NDArray[np.float64] | None) -> None:
        longest = longest_rows(self._read, range(self.slots), variances)
        check_norms(longest, loss, lambda slot: f"record {slot + 1} of the source")
        check_labels(self.labels, self.occupied, loss)

    def sums(self, loss: Loss) -> Sums:
        looked_up = CodedSums.of(self._read, self.labels, loss) if isinstance(self._read, CodedRows) else None
        return HeldSums(cast("Rows", self._read), self.labels, loss) if looked_up is None else looked_up

    @property
    def _read(self) -> Rows | CodedRows:
        """The rows, typed as an array that is read by slices."""
        rows = cast("Rows", self.rows)
        return rows if self._codec is None else CodedRows(rows, self._codec)
