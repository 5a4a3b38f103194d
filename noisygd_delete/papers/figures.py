"""What one promise comes to in every measure, for tables that people read."""

from __future__ import annotations

import math
from typing import Any

from ..privacy.guarantee import NON_ADAPTIVE, Guarantee
from ..privacy.shown import WRITTEN, rounded_up

ORDER = 10.0  # of the Rényi figures where the budget names none


def figures(guarantee: Guarantee, *, order: float, delta: float) -> dict[str, Any]:
    """One promise in every measure, with the rounding slack of the machine included, and the condition it holds under; bounds rounded up,
    None where there is none."""
    exact = guarantee.with_slack()
    return {
        "about": guarantee.about,
        "adjacency": str(guarantee.adjacency),
        "rows_per_subject": guarantee.rows,
        "renyi": {"order": order, "epsilon": _written(exact.renyi(order))},
        "approximate": {"epsilon": _written(exact.epsilon(delta)), "delta": delta},
        "gdp": _written(exact.gdp),
        "advantage": _written(exact.advantage),
        "slack": _written(guarantee.slack),
        "proven": guarantee.proven,
        "holds_only_if": NON_ADAPTIVE if guarantee.non_adaptive else None,
    }


def _written(bound: float | None) -> float | None:
    return None if bound is None or math.isinf(bound) else rounded_up(bound, WRITTEN)
