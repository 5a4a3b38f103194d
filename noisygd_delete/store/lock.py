"""One writer at a time. The operating system drops the lock when its process ends, however it ends."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from ..errors import StoreLocked

_POLL_SECONDS = 0.05


class Lock:
    """An exclusive lock on a file, held until `release`.

    Raises:
        StoreLocked: another process (or another opening in this one) holds it for `wait` seconds from now.
    """

    def __init__(self, path: Path, wait: float = 0.0) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        deadline = time.monotonic() + wait
        try:
            while not _try(self._descriptor):
                if not time.monotonic() < deadline:
                    raise StoreLocked(
                        f"{path.parent}: another process is writing to this store; try again when it is done, "
                        "or give a longer --wait"
                    )
                time.sleep(_POLL_SECONDS)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


if sys.platform == "win32":
    import msvcrt

    def _try(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
