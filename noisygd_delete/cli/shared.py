"""What every command shares: JSON or text out, and a progress bar on a terminal only."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..engine.noisygd import Progress
from ..errors import InvalidParameter
from ..records import bounded
from .arguments import number
from .streams import tell


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device", help="where steps are taken: cpu, cuda, cuda:1 (default: NOISYGD_DELETE_DEVICE, or cpu)"
    )


def store_command(
    commands: Any, name: str, text: str, example: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """A command that works on a store: its folder, how long to wait for another process, JSON."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=text, epilog=f"example: noisygd-delete {example}", allow_abbrev=False
    )
    parser.add_argument("store", metavar="STORE")
    parser.add_argument(
        "--wait", type=number, default=0.0, metavar="SECONDS", help="wait for another process to finish"
    )
    add_json(parser)
    parser.set_defaults(run=run)
    return parser


def show(parsed: argparse.Namespace, answer: Mapping[str, Any], text: str) -> None:
    """The answer as JSON when asked for, else as text."""
    if parsed.json:
        unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
        text = json.dumps(answer, ensure_ascii=not unicode, indent=2, allow_nan=False)
    tell(text)


def read_certificate(file: str) -> Any:
    """The JSON in a file that is said to hold a certificate."""
    try:
        return bounded.parsed(bounded.text(file, bounded.DOCUMENT))
    except ValueError as error:
        if isinstance(error, InvalidParameter):
            raise
        raise InvalidParameter(f"cannot read a certificate from {file}: {error}") from error


@contextmanager
def progress_bar(
    label: str, total: int, running: Callable[[int], str] | None = None, unit: str = "step"
) -> Iterator[Progress | None]:
    """A bar on stderr while it is a terminal; nothing in a pipe. `running` says where the guarantee stands after k units."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=label, unit=unit, leave=False) as bar:

        def advance(step: int) -> None:
            if step % 16 and step != total and total >= 64:
                return
            if running is not None:
                bar.set_postfix_str(running(step), refresh=False)
            bar.update(step - bar.n)

        yield advance
