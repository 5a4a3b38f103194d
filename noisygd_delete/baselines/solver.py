"""The minimiser of a table's objective, for baselines that need one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ..errors import AssumptionViolated, positive
from ..gradient import Objective
from ..losses.base import Loss
from ..records import Records
from .base import Weights


@dataclass(frozen=True)
class Solution:
    """Weights (outputs, features), the passes over the table they took, and the final gradient norm."""

    weights: Weights
    passes: int
    residual: float


def minimise(records: Records, loss: Loss, *, regularization: float, tolerance: float = 1e-6) -> Solution:
    """argmin L_D from 0 by L-BFGS, to gradient norm ≤ `tolerance`; deterministic, so a function of the records alone.

    Raises:
        AssumptionViolated: the tolerance was not reached.
    """
    tolerance = positive("tolerance", tolerance)
    objective = Objective(records, loss, regularization=regularization, dtype="float64")
    shape = (loss.outputs, records.features.shape[1])
    size = shape[0] * shape[1]

    def value_and_gradient(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(shape)
        return objective.value(weights), objective.gradient(weights).ravel()

    found = minimize(
        value_and_gradient,
        np.zeros(size),
        jac=True,
        method="L-BFGS-B",
        options={"gtol": tolerance / math.sqrt(size), "ftol": 0.0, "maxiter": 10_000, "maxfun": 20_000},
    )
    weights = np.asarray(found.x).reshape(shape)
    residual = float(np.linalg.norm(objective.gradient(weights)))
    if not residual <= tolerance:
        raise AssumptionViolated(f"the solver stopped at gradient norm {residual:.3g} > tolerance={tolerance:g}")
    return Solution(weights, int(found.nfev), residual)
