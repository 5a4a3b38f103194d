"""The statement of account as text, one block per question."""

from __future__ import annotations

from typing import Any

from ..privacy.sentences import format_bound, format_number
from ..privacy.worlds import FIXED_SCHEDULE, FIXED_TARGET, NON_ADAPTIVE


def statement_text(statement: dict[str, Any], *, releases: bool = True) -> str:
    """Format `Statement.to_dict()` as text, one block per question; every figure names its adjacency and unit."""
    blocks = [_format_releases(statement) if releases else ""]
    blocks += [
        block(statement)
        for block in (_format_cumulative, _format_deletion, _format_remaining, _format_forecast, _lower_bound)
    ]
    blocks += ["\n".join(f"note: {note}" for note in statement["notes"])]
    return "\n\n".join(filter(None, blocks))


def _format_figures(measured: dict[str, Any]) -> str:
    gdp = "" if measured["gdp"] is None else f"μ={format_bound(measured['gdp'])}, "
    renyi = measured["renyi"]
    declared = "" if measured["proven"] else " (declared constants, not proven)"
    return (
        f"(ε={format_bound(measured['epsilon'])}, δ={format_bound(measured['delta'])}), {gdp}Rényi (q={format_number(renyi['order'])}, "
        f"ε={format_bound(renyi['epsilon'])}), advantage at most {format_bound(measured['advantage'], percent=True)}{declared}"
    )


def _format_releases(answers: dict[str, Any]) -> str:
    rows = answers["releases"]
    skipped = answers["count"] - len(rows)
    head = f"{answers['count']} releases" + (f" (the first {skipped} not listed)" if skipped else "")
    head += f"\n  alone: for an observer of no other model, if {NON_ADAPTIVE}"
    lines = [
        f"  {row['release']:>6}  {row['label']:<9} {row['steps']:>7} steps  {row['edits']:>5} edits  alone: {_format_figures(row['dp'])}"
        for row in rows
    ]
    return "\n".join([head, *lines])


def _format_cumulative(answers: dict[str, Any]) -> str:
    measured = answers["dp_cumulative"]
    return (
        f"a record that is still there ({measured['adjacency']}, {measured['unit']}), observed {answers['observed']}, if {FIXED_SCHEDULE}:\n"
        f"  {_format_figures(measured)}\n"
        f"  ε by conversion: {', '.join(f'{name} {format_bound(value)}' for name, value in measured['conversions'].items())}\n"
        f"  source: {measured['source']}"
    )


def _format_deletion(answers: dict[str, Any]) -> str:
    deletion = answers["deletion"]
    if deletion is None:
        return ""
    lines = [
        f"a record present from release {deletion['present_from']}, erased at release {deletion['erased_at']} "
        f"({deletion['erased-vs-never']['unit']}), observed {answers['observed']}, if {FIXED_TARGET} and {FIXED_SCHEDULE}:",
        f"  was it ever there?   {_format_figures(deletion['erased-vs-never'])}",
        f"  was it x or x′?      {_format_figures(deletion['pairwise'])}",
        f"  seen only afterwards ({deletion['seen_only_afterwards']['adjacency']}): {_format_figures(deletion['seen_only_afterwards'])}",
        f"    (by an observer who came after the erasure, if {NON_ADAPTIVE})",
    ]
    if "adaptive" in deletion:
        lines.append(
            f"  requests that saw {deletion['adaptive']['models_seen']} earlier models: {_format_figures(deletion['adaptive'])}"
        )
    return "\n".join(lines)


def _format_remaining(answers: dict[str, Any]) -> str:
    if "remaining" not in answers:
        return ""
    left = answers["remaining"]
    if not left["capped"]:
        number = "no cap was set on the sum: each release has its own budget"
    elif left["publications"] is None:
        number = "publications left: not limited, another one costs nothing"
    else:
        number = f"publications left: {left['publications']}"
    counted = left["spent_of_total"]
    counted = "" if counted is None else f"; as the total counts it, in its one measure: ε={format_bound(counted)}"
    return f"budget: {left['allowed']}\n  {number}; spent so far, if {FIXED_SCHEDULE}: {_format_figures(left['spent'])}{counted}"


def _format_forecast(answers: dict[str, Any]) -> str:
    if "forecast" not in answers:
        return ""
    lines = [f"if {answers['forecast'][0]['requests']} more requests came, and {FIXED_SCHEDULE}:"]
    for ahead in answers["forecast"]:
        if not answers["remaining"]["capped"]:
            verdict = "no cap was set on the sum"
        elif ahead["affordable"]:
            verdict = "within the budget"
        else:
            verdict = "beyond the budget: publication would be withheld"
        fresh = f", {ahead['fresh_learns']} of them fresh learns" if ahead["fresh_learns"] else ""
        lines.append(
            f"  {ahead['publications']} publications of {ahead['batch']}{fresh} ({ahead['steps']} steps): adds {_format_figures(ahead['added'])}; "
            f"in all {_format_figures(ahead['total'])}; {verdict}"
        )
    return "\n".join(lines)


def _lower_bound(answers: dict[str, Any]) -> str:
    if "lower_bound" not in answers:
        return ""
    bound = answers["lower_bound"]
    return (
        f"attacks with advantage {bound['advantage']:.2%} on both A and Ā rule out (q={format_number(bound['order'])}, ε)-deletion under one "
        f"adaptive request for ε below {format_number(max(bound['theorem_4_5'], bound['sharp']), 4)} (Theorem 4.5: {format_number(bound['theorem_4_5'], 4)})"
    )
