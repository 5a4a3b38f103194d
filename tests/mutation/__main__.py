"""`python -m tests.mutation`: draw faults of the package at random, and count how many the fast suite notices.

Functions are drawn uniformly, then one of the edits of each. The tests are collected once; every fault has a fork of that process, in which
the code of the function is replaced and the tests that run the edited line are run, until one fails. What a test runs is measured first.
A survivor is listed with the tests that ran. A run that was interrupted goes on where it was, with the same folder.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from scipy.stats import beta

from .faults import PACKAGES, ROOT, Fault, draw_faults
from .runs import (
    Answer,
    Fork,
    Suite,
    in_forks,
    limit_memory,
    nearest_tests,
    notice,
    order_tests,
    read_tests,
    write_tests,
)

COMPILED = 6  # files of tests, chosen by name, for a function of which no line is measured


def cover(suite: Suite, folder: Path, workers: int, deadline: float) -> bool:
    """Measure what is not measured yet; return whether all is."""
    folder = folder / "covered"
    folder.mkdir(exist_ok=True)
    known = {name.partition("::")[0] for name in read_tests(folder)}
    files: dict[str, list[str]] = {}
    for name in suite.items:
        if (file := name.partition("::")[0]) not in known:
            files.setdefault(file, []).append(name)

    def one(names: list[str]) -> Fork:
        def work(write):
            write_tests(folder, suite, names)
            write(True)

        return Fork(work, 3600)

    begun = (
        (file, lambda names=names: one(names)) for file, names in sorted(files.items()) if time.monotonic() < deadline
    )
    for file, ended in in_forks(begun, workers):
        if not ended:
            print(f"not measured: {file}", flush=True)
    return time.monotonic() < deadline


def survey(suite: Suite, folder: Path, options: argparse.Namespace, deadline: float) -> None:
    """Try the faults that have no answer yet."""
    path = folder / f"answers-{options.seed}.jsonl"
    known = {line["number"] for line in map(json.loads, path.read_text().splitlines())} if path.exists() else set()
    tests = {name: test for name, test in read_tests(folder / "covered").items() if name in suite.items}
    faults = list(islice(draw_faults(options.seed, tuple(options.package or PACKAGES)), options.count))

    def start(fault: Fault) -> Fork | Answer:
        nearest = options.nearest or (COMPILED if fault.is_compiled() else 0)
        names = nearest_tests(fault, suite.items, nearest) if nearest else order_tests(fault, tests)
        return notice(suite, names, tests, fault, options.seconds) if names else Answer("", {}, 0, 0.0)

    begun = (
        ((number, fault), lambda fault=fault: start(fault))
        for number, fault in enumerate(faults)
        if number not in known
        and (not options.only or any(text in str(fault) for text in options.only))
        and time.monotonic() < deadline
    )
    for (number, fault), said in in_forks(begun, options.workers):
        if said is None or (isinstance(said, dict) and "error" in said):
            print(f"not tried: {fault}: {said}", flush=True)
            continue
        answer = said if isinstance(said, Answer) else Answer(**said)
        with path.open("a") as out:
            out.write(json.dumps({"number": number, "fault": str(fault), **asdict(answer)}) + "\n")
        print(f"{answer.seconds:6.1f} s  {answer.noticed or 'SURVIVED':<60} {fault}", flush=True)


def report(folder: Path, seed: int) -> str:
    """Return the table of the answers, and the list of survivors."""
    lines = map(json.loads, (folder / f"answers-{seed}.jsonl").read_text().splitlines())
    answers = sorted(lines, key=lambda line: line["number"])
    if not answers:
        return "no fault was tried\n"
    rooms = Counter(_room(line) for line in answers)
    kept = Counter(_room(line) for line in answers if not line["noticed"])
    made, seen = rooms.total(), rooms.total() - kept.total()
    low = beta.ppf(0.025, seen, made - seen + 1) if seen else 0.0
    high = beta.ppf(0.975, seen + 1, made - seen) if seen < made else 1.0
    rows = ["| package | faults | noticed |", "|---|---|---|"]
    rows += [f"| `{room}` | {rooms[room]} | {rooms[room] - kept[room]} |" for room in sorted(rooms)]
    rows += [f"| all | {made} | {seen} ({seen / made:.0%}; 95 % interval {low:.0%} to {high:.0%}) |", ""]
    rows += [
        f"Seed {seed}; {sum(line['seconds'] for line in answers) / 60:.0f} minutes of one core for the tests; "
        f"{sum(not line['ended'] for line in answers)} noticed by a test that did not end.",
        "",
    ]
    for line in answers:
        if not line["noticed"]:
            ran = ", ".join(f"{Path(file).stem} {n}" for file, n in Counter(line["ran"]).most_common(8))
            more = f" of {len(line['ran'])} files" if len(line["ran"]) > 8 else ""
            rows.append(
                f"- {line['fault']}. Tests that ran: {sum(line['ran'].values())} of {line['covering']} chosen"
                + (f" ({ran}{more})" if ran else "")
            )
    return "\n".join(rows) + "\n"


def _room(line: dict) -> str:
    return line["fault"].split("/")[1]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--count", type=int, default=150, help="faults to try")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--package", action="append", choices=PACKAGES, help="only these packages")
    parser.add_argument("--only", action="append", help="only faults whose description contains this text")
    parser.add_argument("--seconds", type=float, default=60, help="processor seconds for one fault")
    parser.add_argument("--workers", type=int, default=2, help="forks at a time")
    parser.add_argument("--minutes", type=float, default=600, help="begin nothing after this time")
    parser.add_argument(
        "--nearest", type=int, default=0, help="measure nothing; run this many files of tests, chosen by name"
    )
    parser.add_argument("--tests", nargs="+", default=[str(ROOT / "tests")], help="tests that take part")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / ".cache" / "mutation", help="where to keep what was measured"
    )
    parser.add_argument("--out", type=Path, help="where to write the table")
    options = parser.parse_args()
    deadline = time.monotonic() + 60 * options.minutes
    options.folder.mkdir(parents=True, exist_ok=True)

    def work(suite: Suite) -> None:
        limit_memory()
        if options.nearest or cover(suite, options.folder, options.workers, deadline):
            survey(suite, options.folder, options, deadline)

    status = Suite.collect(options.tests, work)
    if (options.folder / f"answers-{options.seed}.jsonl").exists():
        text = report(options.folder, options.seed)
        print(text)
        if options.out:
            options.out.write_text(text)
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
