"""The minimiser of a table's objective, for baselines that need one."""

from __future__ import annotations

from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.engine.solver import Solution, solve
from noisygd_delete.errors import check_positive
from noisygd_delete.losses.base import Loss
from noisygd_delete.records import Records

__all__ = ["minimise"]


def minimise(records: Records, loss: Loss, *, regularization: float, tolerance: float = 1e-6) -> Solution:
    """Return argmin L_D from 0 to gradient norm ≤ `tolerance`; deterministic, so a function of the records alone.

    Raises:
        AssumptionViolated: If the tolerance was not reached.
    """
    return solve(
        PreciseObjective(records, loss, regularization=regularization),
        start=None,
        tolerance=check_positive("tolerance", tolerance),
        strong_convexity=regularization,
        objective_smoothness=regularization + loss.constants.smoothness,
    )
