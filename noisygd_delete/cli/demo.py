"""`noisygd-delete demo`: learn and delete on scikit-learn's digits, the data that ships with a dependency."""

from __future__ import annotations

import argparse
from typing import Any

from .shared import add_command, progress_bar, show


def register(commands: Any) -> None:
    parser = add_command(commands, "demo", epilog="example: noisygd-delete demo --method theorem")
    parser.add_argument("--method", default="sharp", choices=("theorem", "sharp"), help="default: sharp")
    parser.takes += ("--json",)
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    from .demonstration import demonstrate

    answer = demonstrate(method=parsed.method, progress_bar=progress_bar)
    show(parsed, answer.to_dict(), answer.text())
    return 0
