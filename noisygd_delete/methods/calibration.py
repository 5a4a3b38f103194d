"""The least noise for which N observed publications together stay within the dp budget."""

from __future__ import annotations

from collections.abc import Callable

from ..bounds.search import least_safe
from ..errors import InvalidParameter
from ..privacy.guarantee import Guarantee
from .plan import Plan
from .problem import Problem

Complete = Callable[[float], Plan]


def calibrate(
    problem: Problem,
    single: float,
    asked: float | str | None,
    complete: Complete,
    affordable: Callable[[Guarantee], bool],
    *,
    closed: bool = True,
) -> Plan:
    """The plan with the least σ², starting from `single`, the σ² that one release of any length needs, or (not `closed`) about that.

    `asked` is the caller's σ², if any. `complete` fills in the steps for a given σ². More noise never costs more privacy (each step costs less, and fewer
    steps are needed), so the search brackets the crossing and returns the last value checked affordable.
    """
    if problem.releases == 1 and closed:
        plan = complete(single)
        least = single
    else:
        least = least_safe(
            lambda variance: affordable(complete(variance).together),
            guess=single,
            below=single / 2,
            digits=1e-12,
        )
        plan = complete(least)
    if asked is None:
        return plan
    if isinstance(asked, str):
        raise InvalidParameter(
            "is for Theorem 5.2 (a non-convex loss); leave it out: here more noise saves no steps", noise_variance=asked
        )
    if not asked >= least * (1 - 1e-12):
        raise InvalidParameter(
            f"is below {least:g}, the least that meets the dp budget; leave it out, raise it, or raise the budget",
            noise_variance=asked,
        )
    return complete(asked)
