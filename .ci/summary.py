"""What .ci/run did, in one table: seconds of every stage, counts of those that are tests, why anything was skipped; last of all, the sum.

python .ci/summary.py FOLDER [STAGE]     FOLDER/stages has a line "name seconds", or "name failed", for each stage in order,
                                         FOLDER/NAME.xml the JUnit report of one that is tests; STAGE: one that was cut off
The last line reads "N passed, N failed, N skipped", for programs. A stage that failed, or was cut off, without a failed test counts as one
failed. The status is 1 where a stage failed or was cut off.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree


class Counts(NamedTuple):
    passed: int
    skipped: int
    failed: int


def counts(report: Path) -> tuple[Counts, Counter[str]]:
    """Of one JUnit report, with the reasons of what was skipped."""
    whole, reasons = Counter[str](), Counter[str]()
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        whole.update({name: int(suite.attrib[name]) for name in ("tests", "skipped", "failures", "errors")})
        reasons.update(skip.attrib.get("message", "no reason given") for skip in suite.iter("skipped"))
    failed = whole["failures"] + whole["errors"]
    return Counts(whole["tests"] - whole["skipped"] - failed, whole["skipped"], failed), reasons


def summary(folder: Path, cut_off: str | None) -> tuple[str, bool]:
    """The table, the reasons and the line to go by; whether all passed."""
    listed = folder / "stages"
    done = [line.split() for line in listed.read_text().splitlines()] if listed.exists() else []
    failures = [name for name, seconds in done if seconds == "failed"]
    rows, every, why, alone = [], [], Counter[tuple[str, str]](), 0
    for name, seconds in [*done, *([(cut_off, "cut off")] if cut_off else [])]:
        report, cells, found = folder / f"{name}.xml", "", Counts(0, 0, 0)
        if report.exists():
            found, reasons = counts(report)
            every.append(found)
            why.update({(name, reason): times for reason, times in reasons.items()})
            cells = "".join(f"{number:>9,}" for number in found)
        alone += seconds in ("failed", "cut off") and not found.failed
        rows.append(f"{name:<12}{seconds:>9}{cells}")
    lines = [f"{'stage':<12}{'seconds':>9}{'passed':>9}{'skipped':>9}{'failed':>9}", *rows]
    lines += [f"skipped in {name}: {times} × {reason}" for (name, reason), times in why.items()]
    if cut_off:
        lines.append(f"CUT OFF in {cut_off}, and what comes after it was not run")
    if failures:
        lines.append(f"FAILED in {', '.join(failures)}")
    tests = sum(found.failed for found in every)
    lines.append(
        f"{sum(found.passed for found in every)} passed, {tests + alone} failed, {sum(found.skipped for found in every)} skipped"
    )
    return "\n".join(lines), not (failures or cut_off)


if __name__ == "__main__":
    text, passed = summary(Path(sys.argv[1]), sys.argv[2] if sys.argv[2:] and sys.argv[2] else None)
    print(text)
    raise SystemExit(not passed)
