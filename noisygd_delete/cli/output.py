"""What every command shares: JSON or text out, and a progress bar on a terminal only."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..noisygd import Progress

DELTA = 1e-6  # of the (ε, δ) figures that commands show without being asked for another


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def show(parsed: argparse.Namespace, answer: Mapping[str, Any], text: str) -> None:
    """The answer as JSON when asked for, else as text."""
    print(json.dumps(answer, ensure_ascii=False, indent=2, allow_nan=False) if parsed.json else text)


@contextmanager
def progress_bar(label: str, total: int, running: Callable[[int], str] | None = None) -> Iterator[Progress | None]:
    """A bar on stderr while it is a terminal; nothing in a pipe. `running` says where the guarantee stands after k steps."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=label, unit="step", leave=False) as bar:

        def advance(step: int) -> None:
            if step % 16 and step != total and total >= 64:
                return
            if running is not None:
                bar.set_postfix_str(running(step), refresh=False)
            bar.update(step - bar.n)

        yield advance
