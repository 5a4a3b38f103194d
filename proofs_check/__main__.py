"""`python -m proofs_check`: run, compare with the index, write the table, exit non-zero unless every row is green."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from . import coq_files, framework, licences, mutation, table
from .statements import REGISTRY


def selected(keys: list[str] | None) -> list[framework.Statement]:
    unknown = [key for key in keys or [] if key not in REGISTRY]
    if unknown:
        raise SystemExit(f"unknown statement {', '.join(unknown)}; one of {', '.join(REGISTRY)}")
    return [entry for key, entry in REGISTRY.items() if not keys or key in keys]


def show(row: framework.Row) -> None:
    mark = {"green": "ok   ", "red": "RED  ", "stale": "STALE"}[row.status]
    margin = row.finding.margin if row.finding else ""
    print(
        f"{mark} {row.statement.key:<16} {row.statement.verdict:<20} {row.seconds:6.1f} s  {row.problem or margin}",
        flush=True,
    )


def check(entries: list[framework.Statement], effort: int, index: dict[str, dict[str, str]]) -> list[framework.Row]:
    """Run every check; a green check of changed source is stale."""
    rows = []
    for entry in entries:
        row = framework.run(entry, effort)
        changed, missing = licences.stale(entry, index), licences.missing(entry)
        if missing:
            row = framework.Row(entry, "red", None, f"licenses what does not exist: {', '.join(missing)}", row.seconds)
        if row.status == "green" and changed:
            note = f"changed since it was accepted: {', '.join(changed)}; run --accept"
            row = framework.Row(entry, "stale", row.finding, note, row.seconds)
        show(row)
        rows.append(row)
    return rows


def accept(entries: list[framework.Statement], effort: int, path: Path) -> int:
    """Re-run the rows whose licensed source changed, and record the source of those that pass."""
    index, refused = licences.load(path), 0
    for entry in entries:
        if not licences.stale(entry, index):
            continue
        row = framework.run(entry, effort)
        show(row)
        if row.status == "green" and not licences.missing(entry):
            index[entry.key] = licences.current(entry)
        else:
            refused += 1
    known = {*REGISTRY, *(entry.key for entry in entries)}
    index = {key: index[key] for key in index if key in known}
    licences.save(index, path)
    print(f"{path.name} written; {refused} row(s) refused")
    return 1 if refused else 0


def mutants(entries: list[framework.Statement]) -> int:
    """Plant the named fault of every row; the score is the share that their own checks refuse."""
    noticed = 0
    for entry in entries:
        caught, words = framework.notices_fault(entry)
        noticed += caught
        print(
            f"{'caught' if caught else 'MISSED'} {entry.key:<16} {entry.fault_name}\n       {words.splitlines()[-1][:200]}",
            flush=True,
        )
    print(f"mutation score: {noticed}/{len(entries)}")
    return 0 if noticed == len(entries) else 1


def code_mutants(entries: list[framework.Statement], every: int) -> int:
    """Small edits of the licensed functions themselves; the survivors are listed."""
    caught, made, survivors = mutation.survey(entries, every)
    print("\n".join(f"survived: {description}" for description in survivors))
    print(f"edits of licensed code noticed: {caught}/{made} ({mutation.share(caught, made):.0%})")
    return 0


def run_coq(arguments: list[str]) -> int:
    """Compile the Coq development, or prove the figures of one certificate."""
    parser = argparse.ArgumentParser(prog="python -m proofs_check coq", description=coq_files.__doc__)
    parser.add_argument(
        "certificate", nargs="?", type=Path, help="JSON file (the whole development is compiled if none)"
    )
    parser.add_argument("--out", type=Path, help="write the certificate's Coq file here, and do not compile it")
    options = parser.parse_args(arguments)
    reason = None if options.out else coq_files.why_not()
    if reason:
        print(reason)
        return 2
    started = time.perf_counter()
    if options.certificate is None:
        with coq_files.temporary_build() as folder:
            coq_files.ASSUMPTIONS.write_text(coq_files.assumptions(folder))
        print(f"{len(coq_files.theorems())} theorems compiled in {time.perf_counter() - started:.0f} s")
        return 0
    from . import coq_certificate  # loads the whole package

    text, missing = coq_certificate.read_source_text(options.certificate)
    for key, why in missing.items():
        print(f"not covered: {key} ({why})")
    if options.out:
        options.out.write_text(text)
        return 0
    lemmas = text.count("\nLemma ") - text.count("_range : ")
    problem = "no figure is covered" if not lemmas else coq_certificate.prove(text)
    print(problem or f"{lemmas} figures proven in {time.perf_counter() - started:.0f} s, {len(missing)} not covered")
    return 1 if problem else 0


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["coq"]:
        return run_coq(given[1:])
    parser = argparse.ArgumentParser(prog="python -m proofs_check", description=__doc__)
    parser.add_argument("statements", nargs="*", help="keys of statements, such as G.12 (all of them if none)")
    parser.add_argument("--long", action="store_true", help="ten times the random searches")
    parser.add_argument("--mutants", action="store_true", help="plant one fault in every row; print the score")
    parser.add_argument("--code-mutants", type=int, metavar="N", help="try every N-th small edit of the licensed code")
    parser.add_argument("--accept", action="store_true", help="re-check rows whose licensed source changed; record it")
    parser.add_argument(
        "--results", type=Path, default=Path(__file__).with_name("RESULTS.md"), help="the Markdown table"
    )
    options = parser.parse_args(given)
    entries = selected(options.statements)
    effort = 10 if options.long else 1
    if options.mutants:
        return mutants(entries)
    if options.code_mutants:
        return code_mutants(entries, options.code_mutants)
    if options.accept:
        return accept(entries, effort, licences.INDEX)
    started = time.perf_counter()
    rows = check(entries, effort, licences.load())
    if not options.statements:
        options.results.write_text(table.markdown(rows))
    bad = [row.statement.key for row in rows if row.status != "green"]
    print(f"{len(rows)} statements in {time.perf_counter() - started:.0f} s; {len(bad)} red or stale {' '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
