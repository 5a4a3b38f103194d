"""The table of faults: every kind tried, how often, and what was lost or left.

python -m tests.store.fault_table [--out FILE] [--quick]      about ten minutes; `make faults` writes the committed table
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .conftest import memory_folder
from .fault_worker import STRUCK

ROOT = Path(__file__).parents[2]
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
BAD = ("in part", "uncharged", "unsound", "traceback", "lost", "left", "below")
BELOW = ("below", "sums")  # trials that look below the file system
OTHERS = {  # trial -> (row of the table, how often in full, how often in a hurry)
    "random kills": ("kill -9 at a random instant", 504, 21),
    "below": ("below the file system: a table of many pages shrinks, grows, is killed", 120, 6),
    "sums": (
        "method `sufficient-statistics`: kill -9 at a random instant, or before a system call, of a deletion, now or published later, or an insertion",
        560,
        12,
    ),
    "sums elsewhere": (
        "method `sufficient-statistics` over a DuckDB file: kill -9 at a random instant of a deletion, now or published later",
        40,
        4,
    ),
    "crowd": ("ten processes at once: deleting, inserting, reading", 10, 1),
    "clock": ("clock anywhere between 1970 and 2106", 70, 7),
    "put back": ("some of the files put back from before a transaction: each, each pair, all but these", 400, 30),
    "swapped": ("the folder or its lock replaced under an open process", 48, 8),
    "keys": ("a key and its other half, killed at each change", 40, 8),
    "bits": ("one bit turned over in the ledger or the model", 1000, 20),
}


def library(folder: Path) -> Path | None:
    """system_calls.c, compiled; None where that is not possible (not Linux, or no C compiler)."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if platform.system() != "Linux" or compiler is None:
        return None
    built = folder / "libfaults.so"
    if not built.exists():
        source = Path(__file__).with_name("system_calls.c")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(built), str(source), "-ldl"], check=True)
    return built


def counts(folder: Path, preload: Path | None = None, **asked: Any) -> dict[str, int]:
    """One trial in a process of its own, with every bad count present."""
    environment = {
        **os.environ,
        **THREADS,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "packages" / "sources")]),
    }
    if preload is not None:
        environment["LD_PRELOAD"] = str(preload)
    command = [sys.executable, "-m", "tests.store.fault_worker", str(folder), json.dumps(asked)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, int] = json.loads(done.stdout)
    if any(found.get(name) for name in BAD):
        print(done.stderr, file=sys.stderr)
    return dict.fromkeys(BAD, 0) | found


def rows(quick: bool) -> Iterator[tuple[str, dict[str, int]]]:
    with memory_folder() as folder:
        preload = library(folder)
        if preload is None:
            print("no C compiler here: system calls are not struck", file=sys.stderr)
        for fault in STRUCK if preload else ():
            yield fault, counts(folder, preload, trial=fault, stride=50 if quick else 1)
        for trial, (text, full, few) in OTHERS.items():
            if preload or trial not in BELOW:
                yield text, counts(folder, preload, trial=trial, count=few if quick else full)


def table(found: list[tuple[str, dict[str, int]]]) -> str:
    lines = [
        "# Faults tried on the store",
        "",
        "Made by `make faults` (`python -m tests.store.fault_table`). Operations: delete, delete now and publish later, delete a",
        "person, replace, insert, publish, relearn with more slots, delete from a store whose names are still a database of an",
        "earlier version; by method `sufficient-statistics` delete, now and later, delete a person, insert. System calls are those that change a file of the store,",
        "SQLite's own included; each of them is struck in turn. After every fault the store is opened, the same request is sent",
        "again, and every file is searched for the erased rows and ids.",
        "",
        "*in part*: neither the state before nor the state after, or done twice. *uncharged*: a model that no ledger entry names.",
        "*unsound*: `verify` finds a fault. *unclear*: a traceback. *lost*: a request accepted or answered that had not happened.",
        "*left*: bytes of an erased row or id; of sums, of the exact sums or of any noise. *below*: the file system was handed back (by removing, replacing or shortening a",
        "file) bytes of anybody's row, id or subject that were not zeros, or of sums and noise; looked for where system calls are struck.",
        "",
        "| fault | tried | in part | uncharged | unsound | unclear | lost | left | below |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    total = {name: sum(counted[name] for _, counted in found) for name in ("tried", *BAD)}
    for fault, counted in [*found, ("**all**", total)]:
        lines.append(f"| {fault} | {counted['tried']} | " + " | ".join(str(counted[name]) for name in BAD) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true")
    parsed = parser.parse_args()
    found = list(rows(parsed.quick))
    text = table(found)
    print(text)
    if parsed.out is not None:
        parsed.out.write_text(text)
    return int(any(counted[name] for _, counted in found for name in BAD))


if __name__ == "__main__":
    raise SystemExit(main())
