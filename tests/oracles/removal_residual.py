"""Certified removal, the plain way: gradients by loops, minimisers by bisection or scipy, one-dimensional laws by numerics."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def logistic_gradient(w, rows, labels, ridge):
    """∇ of Σ log(1 + e^{−y⟨w, x⟩}) + (ridge/2)‖w‖², one record at a time."""
    total = ridge * w
    for x, y in zip(rows, labels, strict=True):
        total = total - y * x / (1 + np.exp(y * (x @ w)))
    return total


def logistic_minimiser(rows, labels, ridge, b):
    """argmin of the perturbed objective by a quasi-Newton method, polished with numerical Hessians."""

    def value(w):
        return np.logaddexp(0, -labels * (rows @ w)).sum() + ridge / 2 * w @ w + b @ w

    w = minimize(value, np.zeros(rows.shape[1]), method="BFGS", options={"gtol": 1e-9}).x
    for _ in range(20):
        gradient = logistic_gradient(w, rows, labels, ridge) + b
        step = 1e-5
        columns = [
            (
                logistic_gradient(w + step * e, rows, labels, ridge)
                - logistic_gradient(w - step * e, rows, labels, ridge)
            )
            / (2 * step)
            for e in np.eye(len(w))
        ]
        w = w - np.linalg.solve(np.array(columns).T, gradient)
    return w


def one_dimensional_law(x, y, regularization, removed, grid):
    """Newton removal in one dimension, as functions of the trained weight w on `grid`.

    Returns b, the residual u, and log|d(b − u)/db| by finite differences.
    """
    keep = np.arange(len(x)) != removed

    def gradient(w, chosen):
        chance = 1 / (1 + np.exp((y * x)[chosen, None] * w))
        return -((y * x)[chosen, None] * chance).sum(0) + regularization * chosen.sum() * w

    def curvature(w, chosen):
        chance = 1 / (1 + np.exp(-x[chosen, None] * w))
        return ((x**2)[chosen, None] * chance * (1 - chance)).sum(0) + regularization * chosen.sum()

    everyone = np.ones(len(x), bool)
    b = -gradient(grid, everyone)
    moved = grid - (gradient(grid, keep) + b) / curvature(grid, keep)
    u = gradient(moved, keep) + b
    return b, u, np.log(np.abs(np.gradient(b - u, grid) / np.gradient(b, grid)))
