"""A stream of requests in which people leave because of what the models show, served within one budget.

    python examples/streams/adaptive_stream.py

Data: a synthetic table of 2,000 people; nothing is downloaded.
"""

import os

import numpy as np

from noisygd_delete import Budget, Curator, EditRequest, Records, losses, make_plan
from noisygd_delete.curator.stream import Adaptive, Batching, NonAdaptive, interact

PEOPLE, REQUESTS = 2_000, 40

rng = np.random.default_rng(0)
rows = rng.standard_normal((PEOPLE, 4))
labels = np.where(rows @ [2.0, -1.0, 0.5, 0.0] + rng.standard_normal(PEOPLE) > 0, 1, -1)
rows /= np.linalg.norm(rows, axis=1, keepdims=True)

# Eight publications of which every one is observed cost at most `dp` together.
plan = make_plan(
    losses.Logistic(radius=1.0),
    records=PEOPLE,
    features=4,
    regularization=2e-2,
    method="sharp",
    budget=Budget.from_epsilon_delta(dp=(4.0, 1e-6), deletion=(0.1, 1e-6)),
    releases=8,
)


class WorstServed:
    """Of those still there, whoever the newest model serves worst asks to leave: requests that depend on every model."""

    def __init__(self) -> None:
        self.here = list(range(PEOPLE))
        self.asked = 0

    def __call__(self, seen):
        if self.asked == REQUESTS:
            return None
        newest = seen[max(seen)]
        margins = newest.scores(rows[self.here])[:, 0] * labels[self.here]
        self.asked += 1
        return EditRequest.delete([self.here.pop(int(margins.argmin()))], request_id=f"request-{self.asked}")


def serve(requester):
    """Rows are zeroed at once; the model follows in the batches for which the budget's publications last."""
    curator = Curator(Records(rows, labels), plan)
    curator.learn()
    report = interact(curator, requester, Batching.within_budget(curator.accountant, edits=REQUESTS))
    return curator, report


curator, report = serve(Adaptive(WorstServed()))
print(f"{report.served} requests in {len(report.publications)} releases of {plan.delete_steps} steps each")
print(f"a record still there, every release seen: advantage at most {report.present.advantage:.1%}")
print(f"an erased record, requests that saw every model: at most {report.erased.advantage:.1%}")

# The same number of requests in an order fixed beforehand. Somebody who came after an erasure then learns much less about it;
# somebody who kept every model learns as much as before: the bounds speak of the worst requester of its kind.
fixed, fixed_report = serve(NonAdaptive(EditRequest.delete([number]) for number in range(REQUESTS)))
print(
    f"an erased record, requests fixed beforehand, seen from its erasure on: at most {fixed_report.erased.advantage:.1%}"
)

# One more request is still carried out on the rows. Its model would exceed the budget: it is withheld, the old one withdrawn.
last = curator.delete([curator.records.ids[np.flatnonzero(curator.records.occupied)[0]]])
print(f"one request more: {last.status}")

assert report.served == REQUESTS
assert [entry.edits for entry in report.publications] == [6, 6, 6, 6, 6, 6, 4]
assert len(curator.records) == PEOPLE - REQUESTS - 1
assert report.present.epsilon(1e-6) <= 4.0
assert fixed_report.erased.epsilon(1e-6) <= 0.1
assert fixed_report.erased.advantage < report.erased.advantage <= report.present.advantage
assert report.erased == report.everything == fixed_report.everything
assert report.steps < plan.learn_steps * REQUESTS / 10  # against learning afresh for every request
assert last.status == "withheld"

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 3), layout="constrained")
    for name, told in (("requests saw every model", report), ("requests fixed beforehand", fixed_report)):
        axes.bar(name, told.erased.advantage, color="tab:orange" if told is report else "tab:green")
    axes.axhline(report.present.advantage, color="0.4", linestyle="--")
    axes.text(0.5, report.present.advantage, "a record still there", ha="center", va="bottom", color="0.3")
    axes.set(ylim=(0, 1), ylabel="advantage over guessing, at most")
    axes.set_title("An erased record, seen from its erasure on", loc="left")
    pyplot.savefig(picture)
