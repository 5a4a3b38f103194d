"""The ridge of the forecast: what a larger λ′ costs in the objective with λ, and how near the best ridge the balance is."""

from __future__ import annotations

import math

import numpy as np
import sympy as sp
from scipy.optimize import minimize

from noisygd_delete.bounds import objective_perturbation

from . import closed_forms
from .framework import ADVERSARIAL, SYMBOLIC, Finding, close, require, same, statement


@statement(
    "RIDGE.cost",
    "with λ′ ≥ λ: excess risk in L_λ ≤ excess risk in L_λ′ + (λ′−λ)B²/2 for every model, where ‖θ*_λ‖ ≤ B",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=objective_perturbation.ridge_cost,
    fault=("half of it", lambda **facts: objective_perturbation.ridge_cost(**facts) / 2),
    licenses=("bounds.objective_perturbation:ridge_cost",),
    scope="The identity L_λ = L_λ′ − (λ′−λ)‖θ‖²/2 symbolically; random logistic and quadratic objectives, each at random models, at "
    "its two minimisers and near 0, with B = ‖θ*_λ‖ exactly.",
)
def _cost(claim, effort: int) -> Finding:
    loss, lam, more, norm = sp.symbols("l lambda lambda2 N", positive=True)
    same(loss + lam * norm / 2, loss + more * norm / 2 - (more - lam) * norm / 2, "L_λ = L_λ′ − (λ′−λ)‖θ‖²/2")
    require(abs(claim(requested=0.25, used=1.0, model_norm=3.0) - 3.375) < 1e-12, "(λ′ − λ)B²/2")
    generator, closest = np.random.default_rng(71), math.inf
    for trial in range(60 * effort):
        dimension = int(generator.integers(1, 4))
        rows = generator.standard_normal((20, dimension)) * math.exp(generator.uniform(-2, 1))
        target = generator.standard_normal(dimension) * math.exp(generator.uniform(-1, 2))
        few, many = np.sort(np.exp(generator.uniform(-6, 2, 2)))

        def data(weights: np.ndarray, rows=rows, target=target, quadratic=trial % 2) -> float:
            # a quadratic may be nearly flat, so that the regulariser alone holds the minimiser
            if quadratic:
                return float(((rows @ (weights - target)) ** 2).mean() / 2)
            return float(np.logaddexp(0, -(rows @ weights) * np.sign(rows @ target)).mean())

        def objective(weights: np.ndarray, regularization: float, data=data) -> float:
            return data(weights) + regularization / 2 * float(weights @ weights)

        best = {lam: minimize(objective, np.zeros(dimension), (lam,), tol=1e-13).x for lam in (few, many)}
        bound = claim(requested=few, used=many, model_norm=float(np.linalg.norm(best[few])))
        for weights in (best[many], best[few], 1e-3 * target, best[many] + generator.standard_normal(dimension)):
            paid = objective(weights, few) - objective(best[few], few)
            other = objective(weights, many) - objective(best[many], many)
            require(paid <= other + bound + 1e-9, f"λ={few:.3g}, λ′={many:.3g}: {paid} above {other} + {bound}")
            if bound > 1e-6:
                closest = min(closest, 1 - (paid - other) / bound)
    for used in (10.0, 1000.0):  # the loss −θ, of minimiser 1/λ, at θ = 0: the nearest approach as λ′ grows
        paid, other = 1 / 2, 1 / (2 * used)
        bound = claim(requested=1.0, used=used, model_norm=1.0)
        require(paid <= other + bound, "the linear loss at 0")
    return Finding(f"closest approach {closest:.2g}")


def _balance_fault(cost, *, regularization, model_norm, most, accuracy=0.01):
    return 3 * objective_perturbation.balanced_ridge(
        cost, regularization=regularization, model_norm=model_norm, most=most, accuracy=accuracy
    )


@statement(
    "RIDGE.balance",
    "the ridge with F(λ′) = λ′B²/2 costs at most twice the best; √a/B, the best, for F = a/(2λ′)",
    evidence=(SYMBOLIC, ADVERSARIAL),
    claim=objective_perturbation.balanced_ridge,
    fault=("three times that ridge", _balance_fault),
    licenses=("bounds.objective_perturbation:balanced_ridge",),
    scope="The derivative of a/(2λ′) + λ′B²/2 symbolically; random falling costs (powers, steps, infinite below a threshold) against "
    "the least sum on a fine grid, within the stated accuracy; agreement with objective perturbation's closed form √d s/(nB).",
)
def _balance(claim, effort: int) -> Finding:
    a, used, norm = sp.symbols("a lambda B", positive=True)
    total = a / (2 * used) + used * norm**2 / 2
    same(sp.solve(sp.diff(total, used), used)[0], sp.sqrt(a) / norm, "the best ridge")
    generator, worst = np.random.default_rng(72), 0.0
    for trial in range(200 * effort):
        scale, power = math.exp(generator.uniform(-9, 3)), generator.uniform(0.3, 3) if trial % 4 else 1.0
        edge = math.exp(generator.uniform(-8, 0)) if trial % 3 == 0 else 0.0
        stairs = generator.uniform(0.2, 1.5) if trial % 5 == 0 else 0.0
        bound, asked = math.exp(generator.uniform(-1, 3)), math.exp(generator.uniform(-9, 0))

        def cost(ridge_: float, scale=scale, power=power, edge=edge, stairs=stairs) -> float:
            if ridge_ <= edge:
                return math.inf
            level = math.exp(stairs * math.floor(math.log(ridge_) / stairs)) if stairs else ridge_
            return scale * level**-power

        found = claim(cost, regularization=asked, model_norm=bound, most=1e9)
        require(found >= asked, f"λ′={found} below λ={asked}")
        require(cost(found) <= found * bound**2 / 2, "the noise still costs more than the regulariser at λ′")
        grid = asked * np.exp(np.linspace(0, 30, 3001))
        least = min(cost(value) + value * bound**2 / 2 for value in grid)
        ratio = (cost(found) + found * bound**2 / 2) / least
        require(ratio <= 2 * 1.02 or found == asked, f"λ′={found} costs {ratio} times the least")
        worst = max(worst, ratio) if found > asked else worst
        if power == 1 and not edge and not stairs:
            best = max(asked, math.sqrt(2 * scale) / bound)
            close(found, best, "√a/B", tolerance=0.011)
    for noise in (1.0, 30.0):
        facts = {"regularization": 1e-4, "model_norm": 8.0}
        closed = closed_forms.forecast_ridge(dimension=108, noise=noise, records=26_000, **facts)
        found = claim(lambda used, s=noise: 108 * s**2 / (2 * used * 26_000**2), most=1e9, **facts)
        close(found, closed, "√d s/(nB)", tolerance=0.011)
    return Finding(f"at most {worst:.3f} times the best ridge's cost")
