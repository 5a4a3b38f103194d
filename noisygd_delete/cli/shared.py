"""What every command shares: JSON or text out, and a progress bar on a terminal only."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from ..errors import InvalidParameter
from .arguments import Intermixed
from .overview import LINES
from .streams import fitted, tell

if TYPE_CHECKING:
    from ..engine.noisygd import Progress

MORE = "more: --explain"
_PATIENCE = 0.5  # seconds of a run that no bar is drawn for: loading what draws it would be a part of them


def run_by(module: str, name: str) -> Callable[[argparse.Namespace], int]:
    """A command's work: a function of another module of this room, which loads when it is called. Help and a wrong argument need
    nothing of what the work needs."""
    return partial(_run, module, name)


def _run(module: str, name: str, parsed: argparse.Namespace) -> int:
    return int(getattr(import_module(f".{module}", __package__), name)(parsed))


def add_command(commands: Any, name: str, **words: Any) -> Intermixed:
    """A command, of which the first help says what `LINES` has; `words` are those of its own help."""
    parser: Intermixed = commands.add_parser(name, help=LINES[name], allow_abbrev=False, **words)
    return parser


def store_command(commands: Any, name: str, example: str, run: Callable[[argparse.Namespace], int]) -> Intermixed:
    """A command that works on a store: its folder, how long to wait for another process, JSON."""
    parser = add_command(commands, name, epilog=f"example: noisygd-delete {example}")
    parser.add_argument("store", metavar="STORE")
    parser.takes += ("--wait", "--json")
    parser.set_defaults(run=run)
    return parser


def show(parsed: argparse.Namespace, answer: Mapping[str, Any], text: str) -> None:
    """The answer as JSON when asked for, else as text, as wide as the terminal."""
    if not parsed.json:
        text = fitted(text)
    else:
        unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
        text = json.dumps(answer, ensure_ascii=not unicode, indent=2, allow_nan=False)
    tell(text)


def read_certificate(file: str) -> Any:
    """The JSON in a file that is said to hold a certificate."""
    from ..records import bounded

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
    bar = _Bar(label, total, running, unit)
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """Drawn once a run has taken `_PATIENCE` seconds, then ten times a second at most. What it says beside the steps is
    computed anew only while that takes less than a hundredth of the time."""

    def __init__(self, label: str, total: int, running: Callable[[int], str] | None, unit: str) -> None:
        self._words: dict[str, Any] = {"total": total, "desc": label, "unit": unit, "leave": False}
        self._running, self._bar = running, cast("Any", None)
        self._began = time.perf_counter()
        self._next = self._speaks = self._began + _PATIENCE

    def __call__(self, step: int) -> None:
        now = time.perf_counter()
        if now < self._next:
            return
        if self._bar is None:
            from tqdm.std import tqdm

            self._bar = tqdm(**self._words)
            self._bar.start_t -= now - self._began
        if self._running is not None and now >= self._speaks:
            before = time.perf_counter()
            self._bar.set_postfix_str(self._running(step), refresh=False)
            after = time.perf_counter()
            self._speaks = after + 99 * (after - before)
        self._bar.n = step
        self._bar.refresh()
        self._next = time.perf_counter() + 0.1

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
