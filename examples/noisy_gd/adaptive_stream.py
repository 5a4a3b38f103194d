"""Run Algorithm 1: a requester who chooses deletions because of what a published model revealed.

    python examples/noisy_gd/adaptive_stream.py

Two worlds differ in one record: it votes +1 or -1. The requester sees the first model, guesses the vote, and deletes, with the
target itself, all other records that vote the other way. An attacker reads only the models published afterwards. Exact
retraining would let the attacker win nearly always; under noisy gradient descent the advantage stays below the accountant's
figure for the releases that requester and attacker saw. The time and the target of the deletion are fixed beforehand.

Data: 41 synthetic records with one feature.
"""

import os

import numpy as np

from noisygd_delete import Budget, Curator, EditRequest, Records, losses, make_plan
from noisygd_delete.audit import Counts
from noisygd_delete.curator.stream import Adaptive, interact

TARGET, HALF, RUNS = 0, 20, 1500
PLAN = make_plan(
    losses.Linear(radius=1.0),
    records=2 * HALF + 1,
    features=1,
    regularization=0.1,
    budget=Budget.from_gdp(dp=0.8, deletion=0.1),
    method="noisy-gd",
    utility=False,
)


def choose_deletions(seen):
    """Return the one request of the stream, given the models seen so far."""
    if len(seen) > 1 or choose_deletions.done:
        return None
    choose_deletions.done = True
    votes_plus = seen[1].weights[0] < 0  # a record at +1 pushes the weight down
    return EditRequest.delete([TARGET, *(range(1, HALF + 1) if not votes_plus else range(HALF + 1, 2 * HALF + 1))])


def run_once(vote: float, rng: np.random.Generator) -> tuple[float, Curator]:
    rows = np.concatenate([[vote], np.ones(HALF), -np.ones(HALF)])[:, None]
    curator = Curator(Records(rows, np.zeros(len(rows))), PLAN)
    curator.learn(rng)
    choose_deletions.done = False
    interact(curator, Adaptive(choose_deletions, observable=(1,)), rng=rng)
    return float(curator.model.weights[0]), curator


rng = np.random.default_rng(0)
plus = [run_once(1.0, rng) for _ in range(RUNS)]
minus = [run_once(-1.0, rng) for _ in range(RUNS)]
hits, alarms = (sum(weight < 0 for weight, _ in runs) for runs in (plus, minus))
measured = Counts(hits, RUNS, alarms, RUNS, error=1e-3)

accountant = plus[0][1].accountant
alone = accountant.deletion(1, 2, [2], notion="pairwise").advantage
both = accountant.deletion(1, 2, [1, 2], notion="pairwise").advantage
error = np.sqrt(0.5 / RUNS)  # at most, of the estimate
print(f"membership advantage of the attack in {2 * RUNS:,} streams: {measured.estimate:.3f} +/- {error:.3f}")
print(f"bound for the later model alone, requests fixed beforehand: {alone:.3f} (exceeded: the request was adaptive)")
print(f"bound for every release that the requester or the attacker saw: {both:.3f}")

assert measured.advantage > alone  # the figure for non-adaptive requests does not cover this requester
assert measured.advantage <= both  # the figure over the observed releases does

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 2.4), layout="constrained")
    figures = {"later model alone": alone, "measured attack": measured.estimate, "all observed releases": both}
    axes.barh(list(figures), list(figures.values()), color=["tab:orange", "tab:red", "tab:green"])
    axes.set(xlim=(0, 1), xlabel="membership advantage")
    axes.set_title("An adaptive requester beats the non-adaptive bound only", loc="left")
    pyplot.savefig(picture)
