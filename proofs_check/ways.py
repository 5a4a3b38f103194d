"""The ways of learning and deleting, as a caller asks for them: the one place where these checks name the planner's options."""

from __future__ import annotations

from typing import Any

from noisygd_delete import Plan, make_plan

WAYS: dict[str, dict[str, Any]] = {
    "theorem": {"certificate": "theorem"},
    "sharp": {"certificate": "sharp"},
    "cold": {"certificate": "sharp", "start": "minimiser", "solver": "cold"},
    "warm": {"certificate": "sharp", "start": "minimiser", "solver": "warm"},
    "composition": {"certificate": "composition"},
}


def planned(way: str, loss: Any, **arguments: Any) -> Plan:
    """`make_plan` by that way; rows are float64, so that the rounding slack is next to nothing."""
    return make_plan(loss, **{"dtype": "float64", **WAYS[way], **arguments})
