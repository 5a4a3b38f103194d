"""Run tests that are collected already in forks of this process: once for what each covers, then once for every fault."""

from __future__ import annotations

import gc
import importlib
import json
import math
import os
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage
import pytest

from .faults import PACKAGES, ROOT, Fault, functions_of_process, module_of

APART = ("sources", "service", "publishers", "docs", "engines", "examples", "proofs_check", "mutation")
GROUP = 2.0  # seconds of one file's tests before those of another file have their turn
SLOWER = 10  # a test that takes this many times its processor time, and 10 s, does not end


@dataclass
class Test:
    """What a test took, and what it ran: lines of each file of the package."""

    seconds: float
    failed: bool
    lines: dict[str, list[int]] = field(repr=False)


@dataclass(frozen=True)
class Answer:
    """What the tests said to one fault.

    Attributes:
        noticed: The first test that failed; "" if none did.
        ran: Tests run, by file.
        covering: Number of tests that run the edited line.
        seconds: Processor seconds.
        ended: False if `noticed` did not end.
    """

    noticed: str
    ran: dict[str, int]
    covering: int
    seconds: float
    ended: bool = True


class Suite:
    """Plugin of pytest that hands the collected tests to `work` instead of running them."""

    def __init__(self, work: Callable[[Suite], None]) -> None:
        self.items: dict[str, pytest.Item] = {}
        self._work, self._failed = work, False

    @classmethod
    def collect(cls, paths: Iterable[str], work: Callable[[Suite], None]) -> int:
        options = ["-m", "not long and not slow", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--capture=no"]
        options += [f"--ignore={ROOT / 'tests' / name}" for name in APART]
        return pytest.main([*options, *paths], plugins=[cls(work)])

    def pytest_configure(self) -> None:
        from hypothesis import settings

        settings.register_profile("mutation", database=None, deadline=None, derandomize=True)
        settings.load_profile("mutation")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        import_package()
        functions_of_process()
        gc.freeze()
        self._work(self)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed = self._failed or report.failed

    def run(self, names: list[str]) -> Iterator[tuple[str, bool]]:
        """Run tests, and yield each name as its test begins (None for failed) and ends."""
        for name, after in zip(names, [*names[1:], None], strict=True):
            self._failed = False
            item = self.items[name]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=self.items[after] if after else None)
            yield name, self._failed


# --- what each test covers ---


def measure(suite: Suite, names: list[str]) -> dict[str, dict[str, Any]]:
    """Run the tests of a file; return, for each, what it took and which lines it ran."""
    include = [str(ROOT / "noisygd_delete" / package / "*") for package in PACKAGES]
    measured = coverage.Coverage(data_file=None, config_file=False, include=include)
    tests: dict[str, dict[str, Any]] = {}
    measured.start()
    measured.switch_context(names[0])
    began = _processor_seconds()
    for (name, failed), after in zip(suite.run(names), [*names[1:], ""], strict=True):
        measured.switch_context(after)
        now = _processor_seconds()
        tests[name] = {"seconds": round(now - began, 3), "failed": failed, "lines": {}}
        began = now
    measured.stop()
    data = measured.get_data()
    for path in data.measured_files():
        for line, contexts in data.contexts_by_lineno(path).items():
            for name in contexts:
                if name in tests:
                    tests[name]["lines"].setdefault(os.path.relpath(path, ROOT), []).append(line)
    return tests


def write_tests(folder: Path, suite: Suite, names: list[str]) -> None:
    """Write what `measure` returns for a file of tests."""
    path = folder / (_file(names[0]).replace("/", "-") + ".json")
    made = path.with_suffix(".part")
    made.write_text(json.dumps(measure(suite, names)))
    made.rename(path)


def read_tests(folder: Path) -> dict[str, Test]:
    """Return what was written."""
    return {
        name: Test(**values)
        for path in sorted(folder.glob("*.json"))
        for name, values in json.loads(path.read_text()).items()
    }


def _file(name: str) -> str:
    return name.partition("::")[0]


def _processor_seconds() -> float:
    return sum(os.times()[:4])


def order_tests(fault: Fault, tests: dict[str, Test]) -> list[str]:
    """Return the tests that run the edited line: short ones that cover little first, one case of each before the next."""
    wanted = set(fault.lines)
    covering = {
        name: test for name, test in tests.items() if not test.failed and wanted & set(test.lines.get(fault.file, ()))
    }
    cases, ranked = Counter[str](), []
    for name, test in sorted(covering.items(), key=lambda pair: pair[1].seconds):
        function = name.partition("[")[0]
        cases[function] += 1
        covered = sum(len(lines) for lines in test.lines.values())
        ranked.append((int(math.log2(cases[function])), (test.seconds + 0.05) * covered, name))
    groups: dict[str, list[list[str]]] = {}
    first: dict[tuple[str, int], tuple[int, float]] = {}
    spent = Counter[str]()
    for rank, cost, name in sorted(ranked):
        file = _file(name)
        parts = groups.setdefault(file, [[]])
        if spent[file] > GROUP * len(parts):
            parts.append([])
        parts[-1].append(name)
        spent[file] += covering[name].seconds
        first.setdefault((file, len(parts)), (rank, cost))
    order = sorted(first, key=lambda key: (key[1], first[key]))
    return [name for file, number in order for name in groups[file][number - 1]]


def nearest_tests(fault: Fault, names: Iterable[str], count: int) -> list[str]:
    """Return the tests of the files whose text names the function and its module most, where nothing was measured."""
    room, module, function = fault.file.split("/")[1], Path(fault.file).stem, fault.function.rpartition(".")[2]
    files: dict[str, list[str]] = {}
    for name in names:
        files.setdefault(_file(name), []).append(name)
    importing = {
        path.stem for path in (ROOT / fault.file).parent.glob("*.py") if f".{module} import" in path.read_text()
    }
    ranked = sorted(
        files, key=lambda file: -_nearness(file, room, {module: 2.0, **dict.fromkeys(importing, 1.0)}, function)
    )
    return [name for file in ranked[:count] for name in files[file]]


def _nearness(file: str, room: str, modules: dict[str, float], function: str) -> float:
    text = (ROOT / file).read_text()
    named = 3.0 * (re.search(rf"\b{re.escape(function)}\b", text) is not None) + (Path(file).parts[1] == room)
    named += sum(weight * (re.search(rf"\b{module}\b", text) is not None) for module, weight in modules.items())
    return named + sum(weight * (module in Path(file).stem) for module, weight in modules.items())


# --- forks ---


class Fork:
    """A fork that does some work, and writes JSON; it is ended after `seconds` of the clock.

    Args:
        work: Called with a function that writes an answer in place of the one before.
        seconds: The limit.
        partial: Whether what was written before the limit is an answer.
    """

    def __init__(
        self, work: Callable[[Callable[[object], None]], None], seconds: float, *, partial: bool = False
    ) -> None:
        self._partial, self._late = partial, False
        self._answer = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `answer`
        self._deadline = time.monotonic() + seconds
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            os.setpgid(0, 0)
            quiet = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(quiet, stream)
            try:
                work(self._write)
            except BaseException:
                self._write({"error": traceback.format_exc()})
            finally:
                os._exit(0)

    def _write(self, value: object) -> None:
        os.pwrite(self._answer.fileno(), json.dumps(value).encode().ljust(1 << 16), 0)

    def has_ended(self) -> bool:
        """Return whether the fork has ended; end it if it is late."""
        if time.monotonic() > self._deadline:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self._late = True
            return True
        return os.waitpid(self.pid, os.WNOHANG)[0] != 0

    def answer(self) -> Any:
        """Return the last value written; None if there is none, or the fork was late."""
        with self._answer:
            self._answer.seek(0)
            written = self._answer.read()
        return json.loads(written) if written and (self._partial or not self._late) else None


def notice(suite: Suite, names: list[str], tests: dict[str, Test], fault: Fault, seconds: float) -> Fork:
    """Start tests in a fork that has a fault, until one fails or `seconds` of a core are used."""

    def work(write: Callable[[object], None]) -> None:
        config = next(iter(suite.items.values())).config
        config._tmp_path_factory._basetemp = Path(tempfile.mkdtemp(prefix="fault-"))
        ran, began = Counter[str](), _processor_seconds()
        state = {"noticed": names[0], "ran": ran, "covering": len(names), "seconds": 0.0, "ended": False}
        fault.apply()
        write(state)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        for index, (name, failed) in enumerate(_limited(suite, names, tests)):
            ran[_file(name)] += 1
            spent = _processor_seconds() - began
            done = failed or spent > seconds or index + 1 == len(names)
            state |= {"seconds": spent, "ended": done}
            state["noticed"] = name if failed else "" if done else names[index + 1]
            write(state)
            if done:
                return

    return Fork(work, 60 * seconds)


def _limited(suite: Suite, names: list[str], tests: dict[str, Test]) -> Iterator[tuple[str, bool]]:
    """Run tests as `Suite.run` does; one that takes far more than its time ends this process."""

    def set_limit(name: str) -> None:
        usual = tests[name].seconds if name in tests else 1.0
        signal.setitimer(signal.ITIMER_PROF, SLOWER * usual + 10)

    set_limit(names[0])
    for number, result in enumerate(suite.run(names), 1):
        if number < len(names):
            set_limit(names[number])
        yield result


def in_forks(works: Iterable[tuple[Any, Callable[[], Fork | Answer]]], count: int) -> Iterator[tuple[Any, Any]]:
    """Run forks, `count` at a time, and yield each key with its answer."""
    running: list[tuple[Any, Fork]] = []
    waiting = iter(works)
    while True:
        while len(running) < count and (work := next(waiting, None)) is not None:
            key, start = work
            started = start()
            if isinstance(started, Answer):
                yield key, started
            else:
                running.append((key, started))
        if not running:
            return
        for entry in [entry for entry in running if entry[1].has_ended()]:
            running.remove(entry)
            yield entry[0], entry[1].answer()
        time.sleep(0.02)


def import_package() -> None:
    """Import every module that can have a fault, so that a fork does not import the original later."""
    for package in PACKAGES:
        for path in sorted((ROOT / "noisygd_delete" / package).rglob("*.py")):
            importlib.import_module(module_of(str(path.relative_to(ROOT))))


def limit_memory() -> None:
    """Keep an edited search from taking the machine's memory."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
