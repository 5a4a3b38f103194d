"""One writer at a time. The operating system drops the lock when its process ends, however it ends."""

from __future__ import annotations

import os
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path

from ..errors import StoreCorrupt, StoreError, StoreLocked

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
