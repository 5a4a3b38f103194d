"""Answers on standard streams that may be closed, full, without Unicode, or a broken pipe."""

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
    """The answer could not be written; the effect of the command is not undone."""


def prepare_process() -> None:
    """Open closed standard streams on the null device, escape unencodable output, and collect garbage rarely.

    A closed stream would give its descriptor to the next file that is opened, which may be a file of a store.
    """
    gc.set_threshold(50_000)  # objects live until the command ends, so collecting garbage often is wasted time
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
    escape_unencodable()


def escape_unencodable() -> None:
    """Let standard output and standard error write letters outside their encoding as backslash escapes."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def print_answer(text: str) -> None:
    """Print an answer to standard output and flush it.

    Raises:
        AnswerLost: If standard output is closed or cannot be written; it is then redirected to the null device.
        BrokenPipeError: If the reader closed the pipe.
    """
    if sys.stdout is None:
        raise AnswerLost("standard output is closed, so the answer is lost; what the command did remains done")
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        _discard_output(sys.stdout.fileno())
        raise AnswerLost(
            f"the answer could not be written to standard output ({error.strerror}); what the command did remains done"
        ) from error


def print_result(parsed: argparse.Namespace, answer: Mapping[str, Any], text: str) -> None:
    """Print `answer` as one indented JSON object with --json, else `text` wrapped to the terminal.

    Control characters of the text are escaped. Infinite and undefined numbers are null in JSON.

    Raises:
        AnswerLost: As `print_answer`.
    """
    if not parsed.json:
        text = wrap_lines("\n".join(map(escape_unprintable, text.split("\n"))))
    else:
        from ..accountant.statement import finite_or_none

        unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
        text = json.dumps(finite_or_none(dict(answer)), ensure_ascii=not unicode, indent=2, allow_nan=False)
    print_answer(text)


def wrap_lines(text: str) -> str:
    """Return the text with lines wrapped at words to the terminal's width, indented as their first line.

    Unchanged if standard output is no terminal.
    """
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
    """Print one paragraph to standard error, white space joined and control characters escaped, and return `status`.

    A stream that is closed or cannot be written is ignored.
    """
    paragraph = escape_unprintable(" ".join(text.split()))
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(paragraph, file=sys.stderr, flush=True)
    return status


def flush_streams(status: int) -> int:
    """Flush the standard streams and return the exit status; output that cannot be written is dropped.

    Then a status of 0 becomes 2, but for a broken pipe.
    """
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
    """Redirect this descriptor to the null device."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)


def standard_input() -> BinaryIO:
    """Return standard input as a binary stream.

    Raises:
        InvalidRequest: If it is closed.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise InvalidRequest("standard input is closed; give the name of a file. Nothing was changed")
    try:
        return sys.stdin.buffer
    except AttributeError:  # a text stream, replaced by a test
        return io.BytesIO(sys.stdin.read().encode("utf-8", "surrogateescape"))


_PATIENCE = 0.5  # seconds before a bar is drawn; in a shorter run, loading tqdm would take a noticeable part


@contextmanager
def progress_bar(label: str, total: int | None, unit: str = "step") -> Iterator[Progress | None]:
    """Draw a progress bar on a terminal's standard error once the run has taken half a second, and close it at the end.

    Args:
        label: Text of the bar.
        total: Number of steps at its end; None if it is not known, then steps and their rate are drawn.
        unit: Name of a step.

    Yields:
        A function to call with the number of steps done so far; None if standard error is no terminal.
    """
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


def format_destination(destination: dict[str, Any]) -> str:
    """Return the state of one publisher as a sentence: address, the release it holds, and whether one is pending.

    Args:
        destination: An element of `Store.destination_status()`.
    """
    name = destination["address"] + (
        f" ({destination['model']}@{destination['alias']})" if "model" in destination else ""
    )
    holds = "no release" if destination["release"] is None else f"release {destination['release']}"
    if not destination["pending"]:
        return f"{name}: holds {holds}" + (f" since {destination['since']}" if "since" in destination else "")
    why = f": {destination['problem']}" if destination["problem"] else ""
    return f"{name}: pending, last known to hold {holds}{why}; the next command tries again"


def print_outdated_destinations(store: Store) -> None:
    """Print one line to standard error for each destination of the store with a pending update."""
    for destination in store.destination_status():
        if destination["pending"]:
            print(format_destination(destination), file=sys.stderr)
