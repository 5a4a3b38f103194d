"""Command-line interface: parse arguments, make one library call, print text or JSON. No arithmetic here.

Exit status: 0 success, 2 usage error, 3 publication refused by the budget, 4 store locked, 5 integrity fault,
6 (`status`) at most three releases are left, 130 interrupted. This module imports nothing heavy, so that an interrupt during the remaining imports is handled.

Example:
    noisygd-delete quickstart people.csv --label income --delete 17
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..lazy_imports import on_first_use
from .terminal import flush_streams, prepare_process, print_error

if TYPE_CHECKING:
    from .commands import main, parser

__all__ = ["main", "parser", "run"]

__getattr__ = on_first_use(__name__, dict.fromkeys(("main", "parser"), "commands"))


def run() -> None:
    """Prepare the streams, run `main` on `sys.argv`, flush, and exit with its status.

    Errors during the imports are reported on standard error: an interrupt with status 130, a failed import, a system
    error or too little memory with 2. A broken pipe is status 0.

    Raises:
        SystemExit: Always, with the exit status.
    """
    prepare_process()
    try:
        from .commands import main

        status = main()
    except KeyboardInterrupt:
        status = print_error("noisygd-delete: interrupted before anything was done", 130)
    except SystemExit as stop:  # raised by argparse, which has printed the reason
        status = stop.code if isinstance(stop.code, int) else 0
    except BrokenPipeError:  # the reader of the help closed the pipe
        status = 0
    except (ImportError, OSError, MemoryError) as error:
        status = print_error(f"noisygd-delete: cannot start ({error}); nothing was changed", 2)
    sys.exit(flush_streams(status))
