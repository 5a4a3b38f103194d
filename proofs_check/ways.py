"""The ways of learning and deleting, as a caller asks for them: the one place where these checks name the planner's options."""

from __future__ import annotations

from typing import Any

from noisygd_delete import Plan, make_plan

WAYS: dict[str, dict[str, Any]] = {
    "theorem": {"method": "theorem"},
    "sharp": {"method": "sharp"},
    "cold": {"method": "minimiser", "solver": "cold"},
    "warm": {"method": "minimiser", "solver": "warm"},
    "perturbed": {"method": "perturbed"},
    "composition": {"method": "composition"},
}


def planned(way: str, loss: Any, **arguments: Any) -> Plan:
    """`make_plan` by that way; rows are float64, so that the rounding slack is next to nothing."""
    return make_plan(loss, **{"dtype": "float64", **WAYS[way], **arguments})
