"""`python -m tests.mutation.rows`: faults drawn in licensed functions, and whether the rows that license them turn red, or only stale.

A row is red where its own check refuses the edited code; it is stale where `proofs_check` sees that licensed code changed. Both are tried in a
fork that has the fault.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from proofs_check import licences
from proofs_check.framework import Statement, run
from proofs_check.mutation import licensed
from proofs_check.sources import Sources
from proofs_check.statements import REGISTRY

from .faults import ROOT, Fault, faults_of, functions_of, module_of
from .runs import Fork, in_forks


def draw_faults(seed: int) -> Iterator[tuple[Fault, list[Statement]]]:
    """Yield distinct faults without end, each with the rows that license it; functions are drawn uniformly."""
    found: list[tuple[list[Fault], list[Statement]]] = []
    for function, rows in licensed(list(REGISTRY.values())).items():
        path = Path(function.__code__.co_filename)
        if not path.is_relative_to(ROOT / "noisygd_delete"):
            continue
        file, name = str(path.relative_to(ROOT)), function.__qualname__
        for other, node in functions_of(ast.parse(path.read_text())):
            if other == name and node.lineno >= function.__code__.co_firstlineno:
                if faults := faults_of(file, name, node):
                    found.append((faults, rows))
                break
    generator, drawn = random.Random(seed), set[Fault]()
    while True:
        faults, rows = generator.choice(sorted(found, key=lambda pair: str(pair[0][0])))
        fault = generator.choice(faults)
        if fault not in drawn:
            drawn.add(fault)
            yield fault, rows


def judge_rows(fault: Fault, rows: list[Statement], seconds: float) -> Fork:
    """Start a fork that answers {"stale": keys, "red": key, "ran": keys}; no red row if the checks take too long."""

    def work(write):
        module = module_of(fault.file).removeprefix("noisygd_delete.")
        edited = Sources(edits={module: ast.unparse(fault.edited())})
        said = {"stale": [row.key for row in rows if licences.current(row, edited) != licences.current(row)]}
        said |= {"red": "", "ran": []}
        write(said)
        fault.apply()
        for row in sorted(rows, key=lambda row: len(row.licenses)):
            said["red"] = row.key if run(row).status == "red" else ""
            said["ran"].append(row.key)
            write(said)
            if said["red"]:
                return

    return Fork(work, seconds, partial=True)


def report(answers: list[tuple[Fault, list[Statement], dict]], seed: int) -> str:
    red = sum(bool(said["red"]) for *_, said in answers)
    stale = sum(bool(said["stale"]) and not said["red"] for *_, said in answers)
    lines = [
        f"Seed {seed}: {len(answers)} faults in licensed functions; {red} turn a row red, {stale} only make it stale, "
        f"{len(answers) - red - stale} neither.",
        "",
    ]
    for fault, rows, said in answers:
        if not said["red"]:
            missed = sorted({row.key for row in rows} - set(said["ran"]))
            lines.append(
                f"- {fault}: {'stale' if said['stale'] else 'NEITHER'}; green: {', '.join(said['ran']) or 'none'}"
                + (f"; not decided in time: {', '.join(missed)}" if missed else "")
            )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.rows", description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=120, help="of the clock, for one fault")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, help="where to write the table")
    options = parser.parse_args()
    drawn = list(islice(draw_faults(options.seed), options.count))
    licences.present()
    answers = []
    begun = (((fault, rows), lambda pair=(fault, rows): judge_rows(*pair, options.seconds)) for fault, rows in drawn)
    for (fault, rows), answer in in_forks(begun, options.workers):
        said = answer or {"stale": [], "red": "", "ran": []}
        answers.append((fault, rows, said))
        print(json.dumps(said), fault, flush=True)
    text = report(answers, options.seed)
    print(text)
    if options.out:
        options.out.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
