"""Why retraining is not deletion: two exact models, before and after, hand out the deleted row.

    python examples/attacks/why_retraining_leaks.py

Retraining without the record is often called perfect deletion. But whoever holds the model from before and the one from
after can subtract: at both minima the gradient vanishes, so Hessian × (difference of weights) points along the deleted
row (Bertran et al., "Reconstruction attacks on machine unlearning", 2024). The same attack on Noisy-GD finds noise.
"""

import os

import numpy as np
from scipy.optimize import minimize

from noisygd_delete import Budget, EditRequest, Records, learn, losses, make_plan, unlearn

RECORDS, FEATURES, REGULARIZATION, TRIALS = 2_000, 20, 1e-2, 40

rng = np.random.default_rng(1)
rows = rng.standard_normal((RECORDS, FEATURES))
labels = np.where(rows @ rng.standard_normal(FEATURES) + 2 * rng.standard_normal(RECORDS) > 0, 1.0, -1.0)
rows /= np.linalg.norm(rows, axis=1, keepdims=True)


def objective(weights, table, targets):
    margin = targets * (table @ weights)
    slope = -targets / (1 + np.exp(margin))
    value = np.logaddexp(0, -margin).sum() / RECORDS + REGULARIZATION / 2 * weights @ weights
    return value, table.T @ slope / RECORDS + REGULARIZATION * weights


def retrain(table, targets):
    options = {"maxiter": 5_000, "ftol": 1e-16, "gtol": 1e-12}
    return minimize(objective, np.zeros(FEATURES), (table, targets), "L-BFGS-B", jac=True, options=options).x


def resemblance(before, after, public_rows, deleted):
    """|cosine| between the deleted row and the adversary's guess. The Hessian comes from the rows that stayed: public at worst."""
    p = 1 / (1 + np.exp(-public_rows @ after))
    hessian = (public_rows.T * (p * (1 - p))) @ public_rows / RECORDS + REGULARIZATION * np.eye(FEATURES)
    guess = hessian @ (after - before)
    return abs(guess @ deleted) / np.linalg.norm(guess) / np.linalg.norm(deleted)


plan = make_plan(
    losses.Logistic(radius=1.0),
    records=RECORDS,
    features=FEATURES,
    regularization=REGULARIZATION,
    budget=Budget(order=10, dp=1.0, deletion=0.1),
    method="sharp",
)
records = Records(rows, labels)
exact_before, noisy_before = retrain(rows, labels), learn(records, plan)

exact, noisy, chance = [], [], []
for target in range(TRIALS):
    stayed = np.delete(np.arange(RECORDS), target)
    exact_after = retrain(rows[stayed], labels[stayed])
    noisy_after = unlearn(records, EditRequest.delete([target]), noisy_before, plan)
    exact.append(resemblance(exact_before, exact_after, rows[stayed], rows[target]))
    noisy.append(resemblance(noisy_before.weights, noisy_after.weights, rows[stayed], rows[target]))
    chance.append(abs(rng.standard_normal(FEATURES) @ rows[target]) / np.sqrt(FEATURES))

print(f"|cosine| between the guess and the deleted row, mean of {TRIALS} deletions:")
print(f"  retraining {np.mean(exact):.2f}   Noisy-GD {np.mean(noisy):.2f}   a random guess {np.mean(chance):.2f}")

assert np.mean(exact) > 0.9
assert np.mean(noisy) < 0.35

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 3), layout="constrained")
    for name, found in (("a random guess", chance), ("Noisy-GD", noisy), ("retraining", exact)):
        axes.hist(found, bins=np.linspace(0, 1, 41), alpha=0.6, label=name)
    axes.set(xlabel="|cosine| between the adversary's guess and the deleted row", ylabel="deletions")
    axes.set_title("Two exact models hand out the deleted row", loc="left")
    axes.legend()
    pyplot.savefig(picture)
