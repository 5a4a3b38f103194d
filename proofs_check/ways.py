"""The ways of learning and deleting, as a caller asks for them: the one place where these checks name the planner's options."""

from __future__ import annotations

from typing import Any

from noisygd_delete import Plan, make_plan

WAYS: dict[str, dict[str, Any]] = {
    "noisy-gd:analysis=paper": {"method": "noisy-gd:analysis=paper"},
    "noisy-gd": {"method": "noisy-gd"},
    "cold": {"method": "output-perturbation", "solver": "cold"},
    "warm": {"method": "output-perturbation", "solver": "warm"},
    "objective-perturbation": {"method": "objective-perturbation"},
    "noisy-gd:analysis=composition": {"method": "noisy-gd:analysis=composition"},
}


def planned(way: str, loss: Any, **arguments: Any) -> Plan:
    """`make_plan` by that way; rows are float64, so that the rounding slack is next to nothing."""
    return make_plan(loss, **{"dtype": "float64", **WAYS[way], **arguments})
