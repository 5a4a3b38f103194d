"""Attacks a loss's constants from its *values* alone: central differences, random search, then Nelder-Mead.

`value(scores)` maps (m, outputs) to (m,) in float64. Nothing here knows a formula for a gradient or a Hessian. Slope and curvature are
two- and three-point differences along one direction: averages of the derivatives with weights that are not negative, so they stay below
the constants of a C^{1,1} loss, even across a kink of its derivative. (A fourth-order formula has negative weights, and overshoots there.)
"""

import numpy as np
from scipy.optimize import minimize


def gradient(value, scores, step=1e-5):
    """Fourth-order central differences, shape (m, outputs)."""
    columns = []
    for j in range(scores.shape[1]):
        shift = np.zeros(scores.shape[1])
        shift[j] = step
        near = value(scores + shift) - value(scores - shift)
        far = value(scores + 2 * shift) - value(scores - 2 * shift)
        columns.append((8 * near - far) / (12 * step))
    return np.stack(columns, axis=-1)


def hessian(value, scores, step=1e-3):
    """Fourth-order central differences of `gradient` at the same step, shape (m, outputs, outputs)."""
    columns = []
    for j in range(scores.shape[1]):
        shift = np.zeros(scores.shape[1])
        shift[j] = step
        near = gradient(value, scores + shift, step) - gradient(value, scores - shift, step)
        far = gradient(value, scores + 2 * shift, step) - gradient(value, scores - 2 * shift, step)
        columns.append((8 * near - far) / (12 * step))
    matrices = np.stack(columns, axis=-1)
    return (matrices + matrices.swapaxes(-1, -2)) / 2


def largest(objective, outputs, rng, draws=200):
    """The largest value of `objective(scores)` that random search and Nelder-Mead find."""
    starts = np.concatenate([scale * rng.standard_normal((draws, outputs)) for scale in (0.3, 1.0, 3.0, 10.0, 30.0)])
    values = objective(starts)
    best = float(np.max(values))
    for start in starts[np.argsort(values)[-2:]]:
        found = minimize(lambda z: -float(objective(z[None])[0]), start, method="Nelder-Mead", options={"maxiter": 200})
        best = max(best, -float(found.fun))
    return best


def slope(value, scores, step=1e-5):
    """|dℓ/du| along the gradient's direction u, shape (m,)."""
    found = gradient(value, scores, step)
    size = np.linalg.norm(found, axis=-1, keepdims=True)
    shift = step * np.divide(found, size, out=np.zeros_like(found), where=size > 0)
    return np.abs(value(scores + shift) - value(scores - shift)) / (2 * step)


def curvature(value, scores, which, step=1e-3):
    """d²ℓ/du² along the eigenvector u number `which` of the Hessian (0: the least eigenvalue, -1: the largest), shape (m,)."""
    shift = step * np.linalg.eigh(hessian(value, scores, step))[1][..., which]
    return (value(scores + shift) - 2 * value(scores) + value(scores - shift)) / step**2


def constants(value, outputs, rng):
    """What the attack reaches for rows of norm 1: (L, β₊, β₋, ω)."""
    steepest = largest(lambda z: slope(value, z), outputs, rng)
    upper = largest(lambda z: curvature(value, z, -1), outputs, rng)
    lower = largest(lambda z: -curvature(value, z, 0), outputs, rng)
    top = largest(value, outputs, rng)
    bottom = -largest(lambda z: -value(z), outputs, rng)
    return steepest, upper, max(0.0, lower), top - bottom
