"""`noisygd-delete stream`: serve many requests, with one release per batch."""

from __future__ import annotations

import argparse
import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import groupby, islice
from pathlib import Path
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from ..errors import InvalidRequest, check_count, check_positive
from .arguments import add_command, parse_integer, parse_number
from .remaining_budget import left_text
from .statements import STATEMENTS, record_facts, stated_facts
from .terminal import print_outdated_destinations, print_result, progress_bar, standard_input

if TYPE_CHECKING:
    from ..curator.stream import Batching, Calendar, StreamSummary
    from ..curator.stream.parsing import Numbered
    from ..records import EditRequest
    from ..store.ledger import Ledger

_WITHHELD, _REFUSED = 3, 2
_AT_ONCE = 500  # lines of a file held in memory at once


def register(commands: Any) -> None:
    """Add the `stream` command and its options to the parser."""
    parser = add_command(
        commands,
        "stream",
        epilog='example: noisygd-delete stream STORE requests.jsonl --batch 10; a line: {"request_id": "f81d4fae", '
        '"delete": ["17"]}. Run the same command again after a kill: what was served costs nothing.',
    )
    parser.add_argument("store", metavar="STORE")
    parser.add_argument("requests", metavar="FILE", help="JSON lines, or CSV if it ends in .csv; - for standard input")
    parser.add_argument("--csv", action="store_true", help="read CSV whatever the name")
    when = parser.add_argument_group("publication")
    add_batches(when)
    parser.take("--wait", *STATEMENTS, "--tombstones", "--tombstone-key", "--device", "--memory", "--json")
    parser.set_defaults(run=stream)


def stream(parsed: argparse.Namespace) -> int:
    """Serve every request of a file, pipe or standard input, publish in batches, and print a summary.

    Rows are erased at once. Lines that cannot be read are refused and counted; requests served before are answered at
    no cost. A pipe waits for its first line before the store is locked.

    Returns:
        3 if a release was withheld by the budget, else 2 if a request was refused, else 0.
    """
    from ..curator.stream import Stream
    from ..curator.stream.parsing import parse_requests
    from ..records import limited_io
    from .release import open_store

    table = parsed.csv or parsed.requests.endswith(".csv")
    with _open_source(parsed.requests) as file, ExitStack() as held:
        listening = None if file.seekable() else _Listening(file)
        if listening is not None:
            listening.begun()  # other processes may use the store until the first line arrives
        facts = stated_facts(parsed)
        store = held.enter_context(open_store(parsed))
        batching = batching_from(parsed, store.ledger, ends=listening is None)
        more = (lambda: False) if listening is None else listening.more
        stream = Stream(store, batching, observable=(), execution=parsed.execution, more=more)
        if listening is None:
            total = sum(1 for _ in limited_io.iterate_lines(file, error=InvalidRequest))
            file.seek(0)
            arrivals = limited_io.iterate_lines(file, error=InvalidRequest)
        else:
            total, arrivals = 0, listening.lines(lambda: stream.due, stream.tick)
        stream.tick()
        with progress_bar("stream", total, unit="request") as progress:
            arrived = _until_end(parse_requests(arrivals, store.schema, table=table))
            # a file's lines are available at once; a pipe's next line may never come
            most = min(stream.batching.size or 1, _AT_ONCE) if listening is None else 1
            while together := list(islice(arrived, most)):
                for sound, part in groupby(together, lambda one: not isinstance(one[1], InvalidRequest)):
                    numbers, answers = zip(*part, strict=True)
                    if sound:
                        sources = (f"line {line}" for line in numbers)
                        stream.push_all(list(zip(cast("Sequence[EditRequest]", answers), sources, strict=True)))
                        record_facts(facts, store, cast("Sequence[EditRequest]", answers))
                    for refused in () if sound else answers:
                        stream.refuse(str(refused))
                if progress is not None:
                    progress(together[-1][0])
        stream.flush()
        summary, left = stream.summary(), store.accountant.remaining().to_dict()
        print_outdated_destinations(store)
    text = f"{_format_summary(summary, left['delta'])}\n{left_text(left)}"
    print_result(parsed, {**summary.to_dict(), "left": left}, text)
    return _WITHHELD if summary.withheld else _REFUSED if summary.refused else 0


def _until_end(requests: Iterator[Numbered]) -> Iterator[Numbered]:
    """Yield the requests; turn a read error after the first one into a refused request.

    Requests read before the error are served and published.
    """
    last = 0
    try:
        for last, request in requests:
            yield last, request
    except (InvalidRequest, OSError) as error:
        if not last:
            raise
        yield last, InvalidRequest(f"after line {last}: {error}")


@contextmanager
def _open_source(source: str) -> Iterator[BinaryIO]:
    """Open a file, a pipe or standard input as bytes; one that is not seekable is left open for its reader thread."""
    file: BinaryIO = standard_input() if source == "-" else _open_file(source)
    if source == "-":
        with suppress(OSError):  # a separate reader, which the exit of this process does not wait for
            file = os.fdopen(os.dup(file.fileno()), "rb")
    try:
        yield file
    finally:
        if file.seekable():
            file.close()


def _open_file(source: str) -> BinaryIO:
    try:
        return Path(source).open("rb")
    except OSError as error:
        raise InvalidRequest(f"{source}: cannot be read ({error.strerror}); nothing was changed") from error


class _Listening:
    """Lines of a stream that cannot be read twice, as they arrive."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._queue: Queue[str | Exception | None] = Queue(maxsize=1000)  # at the end the error, or EOFError
        self._begun = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        from ..records import limited_io

        end: Exception = OSError(
            "reading it broke off"
        )  # the end is always queued, so that no reader waits for a finished thread
        try:
            for line in limited_io.iterate_lines(self._file, error=InvalidRequest):
                self._queue.put(line)
                self._begun.set()
            end = EOFError()
        except (OSError, ValueError) as error:
            end = error
        finally:
            self._queue.put(end)
            self._begun.set()

    def begun(self) -> None:
        """Wait until the first line, or the end, has arrived."""
        self._begun.wait()

    def more(self) -> bool:
        """Return whether another line, or the end, is already available."""
        return not self._queue.empty()

    def lines(self, due: Callable[[], float | None], tick: Callable[[], None]) -> Iterator[str | None]:
        """Yield every line; while none arrives, call `tick` at each deadline of `due`.

        Args:
            due: Returns the seconds until the next deadline; None waits without limit.
            tick: Called at each deadline.

        Raises:
            InvalidRequest: If reading fails before the end of the stream.
        """
        while True:
            try:
                line = self._queue.get(timeout=due())
            except Empty:
                tick()
                continue
            if isinstance(line, EOFError):
                return
            if isinstance(line, Exception):
                raise InvalidRequest(f"the stream ended early: {line}; the requests read before it are carried out")
            yield line


def _format_summary(summary: StreamSummary, delta: float) -> str:
    from ..accountant import Statuses
    from ..privacy.guarantee import describe_guarantee
    from ..privacy.sentences import format_bound
    from ..privacy.worlds import FIXED_TOTAL

    published = [one for one in summary.publications if one.status is not Statuses.WITHHELD]
    lines = [
        f"{summary.served} requests served, {summary.repeated} answered before, {len(summary.refused)} refused; "
        f"{len(published)} releases, {summary.steps} steps, {summary.seconds:.1f} s, "
        f"{summary.gradient_evaluations_per_request:,.0f} record gradients per request"
    ]
    lines += [f"  refused: {reason}" for _, reason in summary.refused]
    if published:
        lines.append(
            f"  {'one release, a record still there':<70}{describe_guarantee(published[-1].dp, delta=delta, several=False)}"
        )
    for name, guarantee in (
        ("all releases, a record still there", summary.present),
        ("an erased record, seen from its erasure on, requests fixed beforehand", summary.erased),
        ("an erased record, every release seen, other requests of any kind", summary.everything),
    ):
        if guarantee is not None:
            lines.append(f"  {name:<70}{describe_guarantee(guarantee, delta=delta, several=True)}")
    if summary.odds is not None:
        epsilon, most = summary.odds[0], format_bound(math.exp(min(summary.odds[0], 700.0)))
        name = "any erased record at any time, over all releases of the total"
        lines.append(
            f"  {name:<70}odds at most {most} to 1 (ε={format_bound(epsilon)}), but for δ={format_bound(summary.odds[1])} per record, "
            f"{FIXED_TOTAL}"
        )
    if summary.withheld:
        lines.append(
            "publication withheld by the budget: the rows are erased, the last model is withdrawn; relearn with a new plan"
        )
    return "\n".join(lines)


_DAY = 86_400.0  # seconds
_WHOLE = 1 << 40  # edits: more than any file has


def add_batches(parser: Any) -> None:
    """Add the batching options --batch, --expect, --period and --deadline to a command or an argument group."""
    parser.add_argument(
        "--batch",
        type=parse_integer,
        metavar="EDITS",
        help="publish when this many edits are pending; pending edits share one release",
    )
    parser.add_argument(
        "--expect",
        type=parse_integer,
        metavar="EDITS",
        help="choose --batch so that the budget's publications last for this many edits",
    )
    parser.add_argument(
        "--period",
        type=parse_number,
        metavar="DAYS",
        help="over which the budget's publications are spread (default 365, or 730 with room for a release every 28 days), where nothing else says when; with --expect, in which the edits "
        "come",
    )
    parser.add_argument(
        "--deadline",
        type=parse_number,
        metavar="SECONDS",
        help="publish no later than this after an edit, and for all that wait then",
    )


def pace_from(parsed: argparse.Namespace, ledger: Ledger) -> Batching | Calendar:
    """Return the batching of --expect, else of --batch, else of --deadline; else the schedule that the budget affords.

    --deadline limits the wait with --expect and --batch too.

    Returns:
        A `Batching`, or a `Calendar` where the default schedule is one.

    Raises:
        InvalidParameter: If a number is not positive.
    """
    from ..curator.stream import Batching
    from ..store.release_schedule import default_schedule

    period = None if parsed.period is None else check_positive("--period", parsed.period) * _DAY
    if parsed.expect is not None:
        return Batching.within_budget(ledger.accountant, edits=parsed.expect, deadline=parsed.deadline, period=period)
    if parsed.batch is not None:
        return Batching(size=check_count("batch", parsed.batch), deadline=parsed.deadline)
    if parsed.deadline is not None:
        return Batching.from_plan(ledger.plan, deadline=parsed.deadline)
    return default_schedule(ledger, period=period)


def batching_from(parsed: argparse.Namespace, ledger: Ledger, *, ends: bool) -> Batching:
    """Return the batching of a stream: that of `pace_from`, a calendar being a deadline of its interval.

    By default a file gets one release, at its end, and a pipe one whenever the calendar's interval has passed since its
    oldest pending edit.

    Args:
        parsed: Arguments of the command.
        ledger: Ledger of the store.
        ends: Whether the stream is a file, whose end is known.
    """
    from ..curator.stream import Batching, Calendar

    limits = (parsed.batch, parsed.expect, parsed.deadline)
    if ends and all(one is None for one in limits):
        return Batching(size=_WHOLE)
    pace = pace_from(parsed, ledger)
    return Batching(size=None, deadline=pace.interval) if isinstance(pace, Calendar) else pace
