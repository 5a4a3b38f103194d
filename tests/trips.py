"""How far a command walks through the house: `python -m tests.trips` writes the table in docs/architecture.md.

Entered is a file of the package in which a function was called, from the command's first line to its last; imports are not counted.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parents[1]
PACKAGE, PAGE = HERE / "noisygd_delete", HERE / "docs" / "architecture.md"
TABLE = re.compile(r"(?<=<!-- trips -->\n).*?(?=<!-- /trips -->)", re.DOTALL)


def walk(arguments: Sequence[str]) -> tuple[int, int, int, int]:
    """(rooms, files, functions, modules loaded) of one command, run in a process of its own."""
    told = subprocess.run(
        [sys.executable, "-m", "tests.trips", *arguments], check=False, cwd=HERE, capture_output=True, text=True
    )
    if told.returncode:
        raise RuntimeError(told.stderr)
    return tuple(map(int, told.stdout.split()))  # type: ignore[return-value]


def _watch(arguments: Sequence[str]) -> tuple[int, int, int, int]:
    entered: set[tuple[str, str, int]] = set()
    inside = f"{PACKAGE}/"

    def called(frame, event, _):  # type: ignore[no-untyped-def]
        code = frame.f_code
        function = code.co_flags & inspect.CO_NEWLOCALS and not code.co_name.startswith("<")  # no module, no class body
        if event == "call" and function and code.co_filename.startswith(inside):
            entered.add((code.co_filename, code.co_name, code.co_firstlineno))

    from noisygd_delete.cli import main

    with contextlib.redirect_stdout(io.StringIO()):
        sys.setprofile(called)
        try:
            status = main(list(arguments))
        finally:
            sys.setprofile(None)
    if status:
        raise SystemExit(f"status {status}")
    files = {Path(name).relative_to(PACKAGE) for name, _, _ in entered}
    loaded = sum(name.startswith("noisygd_delete") for name in sys.modules)
    return len({file.parts[0] for file in files}), len(files), len(entered), loaded


def counts() -> dict[str, tuple[int, int, int, int]]:
    """Five trips over a small store made for it: (rooms, files, functions, modules) of each."""
    with tempfile.TemporaryDirectory() as folder:
        table, store, paper, key = (f"{folder}/{name}" for name in ("table.csv", "shop", "paper.json", "key.pem"))
        rows = (f"{number},{number % 90},{'yes' if number % 3 else 'no'}" for number in range(400))
        Path(table).write_text("\n".join(["id,age,label", *rows]))
        trips = {
            "a plan": ["plan", "--records", "400", "--features", "3", "--total-epsilon", "4"],
            "the first model": [
                "quickstart",
                table,
                "--label",
                "label",
                "--output-dir",
                store,
                "--holdout",
                "0",
                "--yes",
            ],
            "a deletion": ["delete", f"{store}/store", "17"],
            "a certificate": ["certificate", f"{store}/store", "--release", "2", "--out", paper, "--key", key],
            "its verification": ["verify-certificate", paper, "--public-key", f"{folder}/key.pem.pub"],
        }
        subprocess.run(
            [sys.executable, "-m", "noisygd_delete", "keygen", key], cwd=HERE, capture_output=True, check=True
        )
        return {name: walk(arguments) for name, arguments in trips.items()}


def table() -> str:
    """Them, as Markdown."""
    walked = counts()
    head = "| trip | rooms | files | functions | own modules loaded |\n|---|---|---|---|---|\n"
    return head + "".join(f"| {name} | {' | '.join(map(str, counts))} |\n" for name, counts in walked.items())


if __name__ == "__main__":
    if sys.argv[1:]:
        print(*_watch(sys.argv[1:]))
    else:
        PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text()))
