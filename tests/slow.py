"""Which tests take more than a second or two: `python -m tests.slow REPORT.xml...` writes tests/slow.txt from JUnit reports.

A function is slow where a case of it is. What no report speaks of stays as it was, and so does what took between `LEAST` and `MOST`; what is
gone leaves.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests" / "slow.txt"
LEAST, MOST = 0.8, 2.0  # seconds of a processor; waiting for disks and other processes comes on top


def measured(reports: Iterable[Path]) -> dict[str, float]:
    """Test function -> processor seconds of its slowest case."""
    found: dict[str, float] = {}
    for report in reports:
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            seconds = [
                float(entry.attrib["value"])
                for entry in case.iter("property")
                if entry.attrib["name"] == "processor seconds"
            ]
            if seconds and "file" in case.attrib:
                name = "::".join([case.attrib["file"], case.attrib["name"].partition("[")[0]])
                found[name] = max(found.get(name, 0.0), *seconds)
    return found


def exists(name: str) -> bool:
    """Whether "tests/room/test_file.py::test_name" is there."""
    file, _, test = name.partition("::")
    path = ROOT / file
    return path.is_file() and any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == test
        for node in ast.walk(ast.parse(path.read_text()))
    )


def listed(seconds: dict[str, float], before: Iterable[str]) -> list[str]:
    """The list made anew."""
    kept = {name for name in before if exists(name) and seconds.get(name, MOST) > LEAST}
    return sorted(kept | {name for name, most in seconds.items() if most > MOST})


if __name__ == "__main__":
    seconds = measured(map(Path, sys.argv[1:]))
    names = listed(seconds, LIST.read_text().split())
    LIST.write_text("".join(f"{name}\n" for name in names))
    print(
        f"{len(names)} functions listed; those measured took {sum(seconds.values()):.0f} s of processor time in their slowest cases"
    )
