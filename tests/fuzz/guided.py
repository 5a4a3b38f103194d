"""A coverage-guided fuzzer in one page: mutate what reached new lines of the package, and keep what reaches more."""

from __future__ import annotations

import copy
import json
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from noisygd_delete.errors import NoisyGDDeleteError

PACKAGE = str(Path(__file__).parents[2] / "noisygd_delete")
NASTY: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 10**30, 10**400, 0.5, -0.0, 1e-320, 1e308, float("nan"), float("inf"), "",
    "x", "1", "\x00", "\ud800", "../../etc/passwd", "a" * 5000, [], {}, [[]], [None], {"": None}, [1, 2, 3],
)  # fmt: skip
TOKENS = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"'", b",", b";", b"\r", b"\n", b"[" * 3000, b'{"a":' * 3000, b"NaN", b"-Infinity",
    b"1e999", b"9" * 30, b"9" * 5000, b"\\ud800", b"null", b"true", b"[]", b"{}", b"PAR1", b"\x1f\x8b", b"\x80\x04.", b"../",
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """One reader. `read` returns normally only if what it read is right, which it asserts itself."""

    name: str
    seeds: tuple[bytes, ...]
    read: Callable[[bytes], None]
    as_json: bool = False


@dataclass
class Outcome:
    cases: int = 0
    accepted: int = 0
    refused: int = 0
    slowest: float = 0.0
    lines: set[tuple[str, int]] = field(default_factory=set)
    failures: list[tuple[bytes, str]] = field(default_factory=list)


def attempt(target: Target, data: bytes, outcome: Outcome) -> None:
    """One case: a right result or one clear error, within the bounds of a case; anything else is a failure."""
    began = time.process_time()
    outcome.cases += 1
    try:
        target.read(data)
        outcome.accepted += 1
    except NoisyGDDeleteError as error:
        outcome.refused += 1
        if not str(error).strip() or len(str(error)) > 20_000:
            outcome.failures.append((data, f"no clear message: {str(error)[:100]!r}"))
    except Exception as error:
        outcome.failures.append((data, f"{type(error).__name__}: {str(error)[:300]}"))
    outcome.slowest = max(outcome.slowest, time.process_time() - began)


def fuzz(target: Target, cases: int, seed: int) -> Outcome:
    """`cases` mutants; the pool grows by every one that reached a line of the package that none before it had."""
    chance, outcome, pool = random.Random(seed), Outcome(), list(target.seeds)
    lines = outcome.lines
    for number in range(cases):
        data = target.seeds[number] if number < len(target.seeds) else mutant(pool, chance, target.as_json)
        before = len(lines)
        with _traced(lines):
            attempt(target, data, outcome)
        if len(lines) > before and len(data) < 100_000:
            pool.append(data)
    return outcome


class _traced:  # noqa: N801 -- used as a verb
    """Collect the package's lines that run inside."""

    def __init__(self, lines: set[tuple[str, int]]) -> None:
        self.lines = lines

    def __enter__(self) -> None:
        self.before = sys.gettrace()
        if self.before is None:  # else a coverage measurement is running, and guidance is off
            sys.settrace(self.called)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self.before)

    def called(self, frame: FrameType, event: str, argument: object) -> Any:
        return self.line if frame.f_code.co_filename.startswith(PACKAGE) else None

    def line(self, frame: FrameType, event: str, argument: object) -> Any:
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self.line


def mutant(pool: list[bytes], chance: random.Random, as_json: bool) -> bytes:
    """A member of the pool with one to four changes: of values where it is JSON, else of bytes."""
    data = chance.choice(pool)
    if as_json and chance.random() < 0.7:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            value = None
        if value is not None:
            for _ in range(chance.randint(1, 3)):
                value = changed(value, chance)
            return json.dumps(value).encode()
    for _ in range(chance.randint(1, 4)):
        data = cut(data, chance, pool)
    return data


def cut(data: bytes, chance: random.Random, pool: list[bytes]) -> bytes:
    """One change of bytes."""
    at = chance.randint(0, len(data))
    end = min(len(data), at + chance.choice((1, 1, 2, 4, 8, 64)))
    kind = chance.randrange(6)
    if kind == 0 and at < len(data):
        return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
    if kind == 1:
        return data[:at] + chance.choice(TOKENS) + data[at:]
    if kind == 2:
        return data[:at] + data[end:]
    if kind == 3:
        return data[:at] + data[at:end] * chance.choice((2, 3, 50)) + data[end:]
    if kind == 4:
        other = chance.choice(pool)
        return data[:at] + other[chance.randint(0, len(other)) :]
    return data[:at] + chance.randbytes(end - at) + data[end:]


def changed(value: Any, chance: random.Random) -> Any:
    """The same JSON value with one node replaced, removed, doubled or renamed."""
    places = list(nodes(value))
    if not places:
        return copy.deepcopy(chance.choice(NASTY))
    holder, key = chance.choice(places)
    kind = chance.randrange(5)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif kind == 1:
        holder[str(chance.choice(NASTY))[:50]] = copy.deepcopy(holder[key])
    elif kind == 2:
        other, there = chance.choice(places)
        holder[key] = copy.deepcopy(other[there])
    else:
        holder[key] = copy.deepcopy(chance.choice(NASTY))
    return value


def nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of every node below the top."""
    pending = [value]
    while pending:
        holder = pending.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ():
            yield holder, key
            pending.append(holder[key])


def peak_memory(target: Target, data: bytes) -> int:
    """Bytes that Python allocated at most during one case."""
    tracemalloc.start()
    attempt(target, data, Outcome())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak
