"""Whole commands over `import numpy`: time, and the package's own modules that each loads."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

from . import report
from .ledger import ROOT, begun
from .timing import processor_of_children, ratio, rounds

NUMPY = "python -c 'import numpy'"
OPEN = ("status", "budget", "verify", "register list")


def commands(store: Path) -> dict[str, Callable[[], tuple[str, ...]]]:
    """Words after `python`, by what is measured of a store. Every deletion erases a record of its own."""
    cli, here, names = ("-m", "noisygd_delete"), str(store), count(1)
    adult = ["--records", "26000", "--features", "108", "--regularization", "1e-3", "--dp", "1", "--deletion", "0.1"]
    paper = str(store.with_suffix(".html"))
    return {
        NUMPY: lambda: ("-c", "import numpy"),
        "--version": lambda: (*cli, "--version"),
        "--help": lambda: (*cli, "--help"),
        "delete --help": lambda: (*cli, "delete", "--help"),
        **{word: partial(tuple, (*cli, *word.split(), here)) for word in OPEN},
        "plan": lambda: (*cli, "plan", *adult),
        "delete": lambda: (*cli, "delete", here, f"p{next(names)}"),
        "report": lambda: (*cli, "report", here, "--out", paper),
    }


def modules(words: tuple[str, ...]) -> int:
    """The package's own modules that a command loads."""
    shown = subprocess.run(
        [sys.executable, "-X", "importtime", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stderr
    return sum("| " in line and line.split("|")[-1].strip().startswith("noisygd_delete") for line in shown.splitlines())


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks start_up")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--method", default="objective-perturbation")
    chosen = parser.parse_args(arguments)
    measured = report.commit()
    with tempfile.TemporaryDirectory() as folder:
        # compiled once, as an installed package is
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        measured_commands = commands(begun(Path(folder), chosen.method))

        def whole(words: Callable[[], tuple[str, ...]]) -> Callable[[], object]:
            return lambda: subprocess.run([sys.executable, *words()], cwd=ROOT, capture_output=True, check=True)

        calls: dict[str, tuple[Callable[[], object], int]] = {
            name: (whole(words), 1) for name, words in measured_commands.items()
        }
        clock, processor = (rounds(calls, chosen.repeats, by) for by in (time.perf_counter, processor_of_children))
        own = {name: modules(words()) for name, words in measured_commands.items()}
    lines = [
        [name, f"{ratio(processor, name, NUMPY):.2f}", f"{ratio(clock, name, NUMPY):.2f}", str(own[name])]
        for name in calls
    ]
    body = f"""\
Whole processes, compiled, on a store of 200 records by `{chosen.method}` with one deletion: medians of {chosen.repeats} interleaved
runs over an interpreter that imports numpy, by processor time and by the clock, in which a deletion waits for its syncs; and the
modules of this package that each loads.

{report.table(["command", "processor", "clock", "own modules"], lines)}"""
    command = " ".join(["python -m benchmarks start_up", *arguments])
    report.write("start_up", "Start-up of commands", command, body, measured)
    print(body)
