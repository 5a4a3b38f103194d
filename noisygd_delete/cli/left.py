"""What is left of the budget of all publications, in the same words after every command that publishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..privacy.shown import brief, shown


def left_text(left: Mapping[str, Any]) -> str:
    """`Remaining.to_dict` in a sentence."""
    spent = f"ε={shown(left['spent_epsilon'])} at δ={shown(left['delta'])}"
    if not left["capped"]:
        return f"no cap was set on the sum of all publications: each release has its own budget; so far {spent}"
    total = left["total"]
    cap = (
        left["allowed"]
        if total is None
        else f"the total (ε={brief(total['epsilon'])}, δ={shown(total['delta'])}) of all publications"
    )
    if left["publications"] is None:
        more = "another one costs nothing"
    elif left["publications"]:
        more = f"room for {left['publications']} more"
    else:
        more = "no room for another one: rows are erased when asked, nothing more is published"
    return f"spent so far: {spent}, of {cap}; {more}"
