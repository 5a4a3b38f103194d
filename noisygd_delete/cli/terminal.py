"""Standard input and output as they may be found: closed, full, without Unicode, or read by somebody who has left; and answers on them."""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from ..errors import InvalidRequest, NoisyGDDeleteError, escape_unprintable

if TYPE_CHECKING:
    from ..engine.noisygd import Progress
    from ..store import Store


MORE = "more: --explain"


class AnswerLost(NoisyGDDeleteError):
    """What a command did stands, and its answer could not be written."""


def open_missing_streams() -> None:
    """Give closed standard streams a place that takes anything, so that no file of a store gets their number."""
    gc.set_threshold(50_000)  # what a command loads lives until its end: no use in looking for garbage among it
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
    escape_unencodable()


def escape_unencodable() -> None:
    """Letters that an output cannot write are written as \\\\-escapes."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def print_answer(text: str) -> None:
    """Print an answer, and see that it left.

    Raises:
        AnswerLost: it did not. BrokenPipeError: nobody listens any more.
    """
    if sys.stdout is None:
        raise AnswerLost("standard output is closed, so the answer is lost; what the command did stands")
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        _discard_output(sys.stdout.fileno())
        raise AnswerLost(
            f"the answer could not be written to standard output ({error.strerror}); what the command did stands"
        ) from error


def print_result(parsed: argparse.Namespace, answer: Mapping[str, Any], text: str) -> None:
    """The answer as JSON when asked for, else as text, as wide as the terminal."""
    if not parsed.json:
        text = wrap_lines("\n".join(map(escape_unprintable, text.split("\n"))))
    else:
        from ..accountant.statement import finite_or_none

        unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
        text = json.dumps(finite_or_none(dict(answer)), ensure_ascii=not unicode, indent=2, allow_nan=False)
    print_answer(text)


def wrap_lines(text: str) -> str:
    """Lines broken between words where a terminal would break them within; anywhere else as they are."""
    if sys.stdout is None or not sys.stdout.isatty():
        return text
    from shutil import get_terminal_size

    width = get_terminal_size().columns
    lines = text.split("\n")
    return "\n".join(line if len(line) <= width else _wrap_line(line, width) for line in lines)


def _wrap_line(line: str, width: int) -> str:
    import textwrap

    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def print_error(text: str, status: int) -> int:
    """One paragraph on standard error, control characters spelled out; returns the exit status."""
    paragraph = escape_unprintable(" ".join(text.split()))
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(paragraph, file=sys.stderr, flush=True)
    return status


def flush_streams(status: int) -> int:
    """The exit status, once everything printed has left; what cannot leave is dropped, so that Python does not stumble over
    it on the way out."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BrokenPipeError:
            _discard_output(stream.fileno())
        except OSError:
            _discard_output(stream.fileno())
            status = status or 2
    return status


def _discard_output(number: int) -> None:
    """From here on, what is written to this descriptor goes nowhere."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)


def standard_input() -> BinaryIO:
    """Standard input as bytes.

    Raises:
        InvalidRequest: it is closed.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise InvalidRequest("standard input is closed; give the name of a file. Nothing was changed")
    try:
        return sys.stdin.buffer
    except AttributeError:  # a text that a test put in its place
        return io.BytesIO(sys.stdin.read().encode("utf-8", "surrogateescape"))


_PATIENCE = 0.5  # seconds of a run that no bar is drawn for: loading what draws it would be a part of them


@contextmanager
def progress_bar(label: str, total: int, unit: str = "step") -> Iterator[Progress | None]:
    """A bar on stderr while it is a terminal, once the run has taken `_PATIENCE` seconds; nothing in a pipe."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    began, bar = time.perf_counter(), cast("Any", None)

    def progress(done: int) -> None:
        nonlocal bar
        if bar is None:
            taken = time.perf_counter() - began
            if taken < _PATIENCE:
                return
            from tqdm.std import tqdm

            bar = tqdm(total=total, desc=label, unit=unit, leave=False, miniters=1)  # drawn ten times a second at most
            bar.start_t -= taken
        bar.update(done - bar.n)

    try:
        yield progress
    finally:
        if bar is not None:
            bar.close()


def publisher_sentence(told: dict[str, Any]) -> str:
    """One publisher in words."""
    name = told["address"] + (f" ({told['model']}@{told['alias']})" if "model" in told else "")
    holds = "no release" if told["release"] is None else f"release {told['release']}"
    if not told["pending"]:
        return f"{name}: holds {holds}" + (f" since {told['since']}" if "since" in told else "")
    why = f": {told['problem']}" if told["problem"] else ""
    return f"{name}: NOT yet as it must be (last known to hold {holds}){why}; the next command tries again"


def print_error_after(store: Store) -> None:
    """One line on standard error for each publisher that does not hold the release in force alone."""
    for told in store.publishers_told():
        if told["pending"]:
            print(publisher_sentence(told), file=sys.stderr)
