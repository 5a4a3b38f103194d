"""The results as Markdown."""

from __future__ import annotations

from collections import Counter

from .coq_files import section
from .framework import FAILS, REPAIRED, Row


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _licence(row: Row) -> str:
    return ", ".join(f"`{name}`" for name in row.statement.licenses) or "none"


def markdown(rows: list[Row]) -> str:
    """The table, then what fails with its counter-example, then what each row checked and what it did not."""
    verdicts = Counter(row.statement.verdict for row in rows)
    status = Counter(row.status for row in rows)
    lines = [
        "# Statements and their checks",
        "",
        "Written by `python -m proofs_check`. Numbers G.x, F.x, B.x are those of Chourasia & Shah (ICML 2023); Guo x those of",
        "Guo et al. (ICML 2020); S.x the sharp, weakly convex, bounded-range and loss statements of this package;",
        "OP.x those of objective perturbation; T.x those of networks and ladders; M.x those of Markov sums; DP x those of lectures.",
        "",
        f"{len(rows)} statements: " + ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()) + ". "
        "Checks: " + ", ".join(f"{count} {name}" for name, count in status.items()) + ".",
        "",
        "| statement | what it says | verdict | evidence | margin | licenses | planted fault | check |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        entry = row.statement
        margin = row.finding.margin if row.finding else row.problem.splitlines()[-1]
        cells = [
            entry.key, entry.title, entry.verdict, ", ".join(entry.evidence), margin, _licence(row), entry.fault_name, row.status,
        ]  # fmt: skip
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    lines += ["", "## What fails, and what needs a repair", ""]
    for row in rows:
        if row.statement.verdict in (FAILS, REPAIRED) and row.finding and row.finding.counterexample:
            lines += [f"**{row.statement.key}** ({row.statement.verdict}): {row.finding.counterexample}", ""]
    lines += [*section(), "", "## What each row checked, and what it did not", ""]
    lines += [f"- **{row.statement.key}**: {row.statement.scope}" for row in rows]
    return "\n".join(lines) + "\n"
