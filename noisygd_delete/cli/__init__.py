"""The command line: argument parsing -> one library call -> text or JSON. No arithmetic here.

Exit status: 0 done, 2 usage, 3 publication withheld by budget, 4 locked, 5 integrity; 130 interrupted.

This file imports nothing heavy: an interrupt while the rest is being imported is answered like any other.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .terminal import flush_streams, open_missing_streams, print_error


def parser() -> argparse.ArgumentParser:
    """The whole command line, each command registered by its own module."""
    from .commands import parser

    return parser()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status."""
    from .commands import main

    return main(arguments)


def run() -> None:
    """Console-script entry point."""
    open_missing_streams()
    try:
        status = main()
    except KeyboardInterrupt:
        status = print_error("noisygd-delete: interrupted before anything was done", 130)
    except SystemExit as stop:  # of argparse, which has said why
        status = stop.code if isinstance(stop.code, int) else 0
    except BrokenPipeError:  # whoever read the help has left
        status = 0
    except (ImportError, OSError, MemoryError) as error:
        status = print_error(f"noisygd-delete: cannot start ({error}); nothing was changed", 2)
    sys.exit(flush_streams(status))
