"""The statement of account in words."""

from __future__ import annotations

from typing import Any

from ..privacy.guarantee import FIXED_SCHEDULE, NON_ADAPTIVE
from ..privacy.shown import brief, shown


def statement_text(statement: dict[str, Any], *, releases: bool = True) -> str:
    """`Statement.to_dict()`, one block per question; every figure names its adjacency and unit."""
    blocks = [_releases(statement) if releases else ""]
    blocks += [block(statement) for block in (_cumulative, _deletion, _remaining, _forecast, _lower_bound)]
    blocks += ["\n".join(f"note: {note}" for note in statement["notes"])]
    return "\n\n".join(filter(None, blocks))


def _figures(measured: dict[str, Any]) -> str:
    gdp = "" if measured["gdp"] is None else f"μ={shown(measured['gdp'])}, "
    renyi = measured["renyi"]
    declared = "" if measured["proven"] else " (declared constants, not proven)"
    return (
        f"(ε={shown(measured['epsilon'])}, δ={shown(measured['delta'])}), {gdp}Rényi (q={brief(renyi['order'])}, "
        f"ε={shown(renyi['epsilon'])}), advantage at most {shown(measured['advantage'], percent=True)}{declared}"
    )


def _releases(answers: dict[str, Any]) -> str:
    rows = answers["releases"]
    skipped = answers["count"] - len(rows)
    head = f"{answers['count']} releases" + (f" (the first {skipped} not listed)" if skipped else "")
    head += f"\n  alone: to whoever saw no other model, if {NON_ADAPTIVE}"
    lines = [
        f"  {row['release']:>6}  {row['label']:<9} {row['steps']:>7} steps  {row['edits']:>5} edits  alone: {_figures(row['dp'])}"
        for row in rows
    ]
    return "\n".join([head, *lines])


def _cumulative(answers: dict[str, Any]) -> str:
    measured = answers["dp_cumulative"]
    return (
        f"a record that is still there ({measured['adjacency']}, {measured['unit']}), observed {answers['observed']}, if {FIXED_SCHEDULE}:\n"
        f"  {_figures(measured)}\n"
        f"  ε by conversion: {', '.join(f'{name} {shown(value)}' for name, value in measured['conversions'].items())}\n"
        f"  source: {measured['source']}"
    )


def _deletion(answers: dict[str, Any]) -> str:
    asked = answers["deletion"]
    if asked is None:
        return ""
    lines = [
        f"a record present from release {asked['present_from']}, erased at release {asked['erased_at']} "
        f"({asked['definition-4.1']['unit']}), observed {answers['observed']}, if {FIXED_SCHEDULE}:",
        f"  was it ever there?   {_figures(asked['definition-4.1'])}",
        f"  was it x or x′?      {_figures(asked['pairwise'])}",
        f"  seen only afterwards ({asked['seen_only_afterwards']['adjacency']}): {_figures(asked['seen_only_afterwards'])}",
        f"    (by an observer who came after the erasure, if {NON_ADAPTIVE})",
    ]
    if "adaptive" in asked:
        lines.append(
            f"  requests that saw {asked['adaptive']['models_seen']} earlier models: {_figures(asked['adaptive'])}"
        )
    return "\n".join(lines)


def _remaining(answers: dict[str, Any]) -> str:
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
    counted = "" if counted is None else f"; as the total counts it, in its one measure: ε={shown(counted)}"
    return (
        f"budget: {left['allowed']}\n  {number}; spent so far, if {FIXED_SCHEDULE}: {_figures(left['spent'])}{counted}"
    )


def _forecast(answers: dict[str, Any]) -> str:
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
            f"  {ahead['publications']} publications of {ahead['batch']}{fresh} ({ahead['steps']} steps): adds {_figures(ahead['added'])}; "
            f"in all {_figures(ahead['total'])}; {verdict}"
        )
    return "\n".join(lines)


def _lower_bound(answers: dict[str, Any]) -> str:
    if "lower_bound" not in answers:
        return ""
    bound = answers["lower_bound"]
    return (
        f"attacks with advantage {bound['advantage']:.2%} on both A and Ā rule out (q={brief(bound['order'])}, ε)-deletion under one "
        f"adaptive request for ε below {brief(max(bound['theorem_4_5'], bound['sharp']), 4)} (Theorem 4.5: {brief(bound['theorem_4_5'], 4)})"
    )
