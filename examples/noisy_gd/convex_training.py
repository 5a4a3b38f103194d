"""Train a convex model by noisy gradient descent, delete records, and ask the accountant.

    python examples/noisy_gd/convex_training.py

The learner A runs K_A noisy steps from the initial law; the unlearner Abar resumes from the published model and runs K_Abar
steps, computed from Theorem 5.1 (`paper`) or from its tight analysis (`tight`). Nothing else is kept between releases.

Data: breast biopsies that ship with scikit-learn, 569 rows and 30 features.
"""

import os
import pickle

import numpy as np
from sklearn.datasets import load_breast_cancer

from noisygd_delete import Accountant, Budget, EditRequest, Records, learn, losses, make_plan, unlearn
from noisygd_delete.accountant import Event

measurements, benign = load_breast_cancer(return_X_y=True)
# Public ranges: what the instrument can show, not what these patients have. Each row is scaled by itself to norm at most 1.
largest = np.array([30, 40, 200, 2600, 0.2, 0.4, 0.5, 0.25, 0.4, 0.1, 3, 5, 22, 550, 0.04, 0.14, 0.4, 0.06, 0.08, 0.03,
                    37, 50, 260, 4300, 0.25, 1.1, 1.3, 0.3, 0.7, 0.21])  # fmt: skip
rows = np.clip(2 * measurements / largest - 1, -1, 1) / np.sqrt(31)
rows = np.column_stack([rows, np.full(len(rows), 1 / np.sqrt(31))])  # the constant column
labels = np.where(benign, 1.0, -1.0)
train, test = slice(0, 455), slice(455, None)

results = {}
for method in ("noisy-gd:analysis=paper", "noisy-gd"):
    plan = make_plan(
        losses.Logistic(radius=1.0),
        records=455,
        features=rows.shape[1],
        regularization=1e-2,
        budget=Budget(order=8, dp=20.0, deletion=0.5),  # (q, eps_dp) and (q, eps_dd) of the article
        method=method,
    )
    records = Records(rows[train], labels[train])
    model = learn(records, plan)
    accountant = Accountant(plan)
    accountant.record(Event("learn", plan.calibration.learn_steps, 0, plan.mechanism))

    stored = pickle.dumps(model)  # all that may survive beside the rows: the published model
    after = unlearn(records, EditRequest.delete([7, 19]), pickle.loads(stored), plan)
    accountant.record(Event("unlearn", plan.calibration.delete_steps, 2, plan.mechanism))

    accuracy = np.mean(np.sign(rows[test] @ after.weights) == labels[test])
    eps_dp, eps_dd = accountant.epsilon_dp(observed=[2]), accountant.epsilon_dd()
    everything = accountant.epsilon_dd(observed=[1, 2])
    saved = 455 * (plan.calibration.learn_steps - plan.calibration.delete_steps)
    results[method] = (plan.calibration.learn_steps, plan.calibration.delete_steps)
    print(
        f"{method:>23}: K_A = {plan.calibration.learn_steps}, K_Abar = {plan.calibration.delete_steps}, gradients saved per request: {saved:,}"
    )
    print(f"{'':>23}  accuracy on held-out rows {accuracy:.1%}; eps_dp = {eps_dp:.3g}, eps_dd = {eps_dd:.3g} (q = 8);")
    print(f"{'':>23}  an observer of both releases: {everything:.3g}")
    assert eps_dp <= 20.0
    assert eps_dd <= 0.5 < everything
    assert accuracy > 0.7

assert results["noisy-gd"][1] < results["noisy-gd:analysis=paper"][1]
if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 2.4), layout="constrained")
    for line, (learned, deleted) in enumerate(results.values()):
        axes.barh([line + 0.2, line - 0.2], [learned, deleted], height=0.35, color=["0.7", "tab:green"])
    axes.set(yticks=range(len(results)), yticklabels=list(results), xlabel="noisy steps: learn (gray), delete (green)")
    axes.set_title("Deletion resumes from the published model", loc="left")
    pyplot.savefig(picture)
