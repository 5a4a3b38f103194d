"""What every command shares: JSON or text out, and a progress bar on a terminal only."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..noisygd import Progress


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def store_command(
    commands: Any, name: str, text: str, example: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """A command that works on a store: its folder, how long to wait for another process, JSON."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=text, epilog=f"example: noisygd-delete {example}", allow_abbrev=False
    )
    parser.add_argument("store", metavar="STORE")
    parser.add_argument("--wait", type=float, default=0.0, metavar="SECONDS", help="wait for another process to finish")
    add_json(parser)
    parser.set_defaults(run=run)
    return parser


def show(parsed: argparse.Namespace, answer: Mapping[str, Any], text: str) -> None:
    """The answer as JSON when asked for, else as text."""
    print(json.dumps(answer, ensure_ascii=False, indent=2, allow_nan=False) if parsed.json else text)


@contextmanager
def progress_bar(label: str, total: int) -> Iterator[Progress | None]:
    """A bar on stderr while it is a terminal; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=label, unit="step", leave=False) as bar:
        yield lambda step: bar.update(step - bar.n) if step % 16 == 0 or total < 64 or step == total else None
