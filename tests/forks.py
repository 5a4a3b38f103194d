"""Forks of the process that runs the tests, each with a limit: one that waits for a lock which no thread of it can release is ended."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable


def exit_status(child: Callable[[], int | None], seconds: int = 120) -> int:
    """Call `child` in a fork: its status (None: 0), 1 after an exception, the negative number of a signal that ended it."""
    process = os.fork()
    if process == 0:
        status: int | None = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(seconds)
            status = child()
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status or 0)
    ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert ended != -signal.SIGALRM, f"the fork had not ended after {seconds} s"
    return ended
