"""A first deletion: plan, learn, delete, and ask what is still known.

    python examples/start/first_deletion.py

Data: a synthetic table of 3,000 people; nothing is downloaded.
"""

import os

import numpy as np

from noisygd_delete import Budget, Curator, Records, losses, make_plan

# Five measurements of each person, and a yes/no outcome. Every row is divided by its own norm: a rule that looks at one
# record at a time, so that nothing about the others enters it.
rng = np.random.default_rng(0)
rows = rng.standard_normal((3_000, 5))
labels = np.where(rows @ [2.0, -1.0, 0.5, 0.0, 0.0] + rng.standard_normal(3_000) > 0, 1, -1)
rows /= np.linalg.norm(rows, axis=1, keepdims=True)

# The plan is made before any record is seen: it needs sizes and a budget, no data.
plan = make_plan(
    losses.Logistic(radius=1.0),
    records=3_000,
    features=5,
    regularization=1e-2,
    budget=Budget.from_epsilon_delta(dp=(2.0, 1e-6), deletion=(0.1, 1e-6)),
    method="noisy-gd",
)
print(plan.explain(), end="\n\n")

curator = Curator(Records(rows, labels), plan)
learned = curator.learn()
print(f"learned in {learned.steps} steps, accuracy {learned.model.accuracy(curator.records):.3f}")

# Two people ask to be forgotten. Their rows are zeroed, and the model goes on from the one published before.
release = curator.delete([17, 42])
deletion = release.guarantees["deletion"]
print(f"deleted two records in {release.steps} steps, accuracy {release.model.accuracy(curator.records):.3f}")
print(f"an observer of every later model: (ε={deletion.epsilon(1e-6):.3f}, δ=1e-6), advantage {deletion.advantage:.1%}")

# Somebody who kept the model from before the deletion knows more. The accountant says how much.
everything = curator.accountant.deletion(present_from=1, erased_at=2)
print(
    f"an observer of the old model too: (ε={everything.epsilon(1e-6):.3f}, δ=1e-6), advantage {everything.advantage:.1%}"
)

assert 17 not in curator.records
assert len(curator.records) == 2_998
assert not curator.records.features[[17, 42]].any()
assert release.steps < learned.steps / 3
assert deletion.epsilon(1e-6) <= 0.1
assert everything.epsilon(1e-6) > deletion.epsilon(1e-6)
assert release.model.accuracy(curator.records) > 0.7

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 2.6), layout="constrained")
    observers = {"of every later model": deletion.advantage, "who kept the old model too": everything.advantage}
    axes.barh(list(observers), list(observers.values()), color=["tab:green", "tab:orange"])
    axes.set(xlim=(0, 1), xlabel="advantage over guessing, at most")
    axes.set_title("What an observer … can still tell", loc="left")
    pyplot.savefig(picture)
