"""What did all those releases cost? Questions to the accountant, and a budget that says no.

python examples/officer/accountant_queries.py
"""

import os

from noisygd_delete import Accountant, Budget, losses, make_plan
from noisygd_delete.accountant import Event

plan = make_plan(
    losses.Logistic(radius=1.0),
    records=26_000,
    features=108,
    regularization=1e-3,
    budget=Budget(order=10, dp=1.0, deletion=0.1),
    method="sharp",
    releases=6,  # six publications together stay within the dp part
)

# An accountant needs public facts only: it can answer before anything is run, or far away from the data.
accountant = Accountant(plan)
accountant.record(Event("learn", plan.learn_steps, 0, plan.mechanism))
for edits in (1, 4, 1):
    accountant.record(Event("unlearn", plan.delete_steps, edits, plan.mechanism))

print("record still there, each release:", [round(accountant.dp(i).epsilon(1e-6), 3) for i in range(1, 5)])
together = accountant.dp_cumulative()
print(f"record still there, all four together: ε={together.epsilon(1e-6):.3f}, μ={together.gdp:.3f}")

# The same history, told by what the adversary saw. Fewer observed releases cost less.
last_only = accountant.dp_cumulative(observed=[4])
print(f"record still there, only the last was seen: ε={last_only.epsilon(1e-6):.3f}")

# A record erased at release 3, for three observers.
after = accountant.deletion(erased_at=3, observed=[3, 4])
one_before = accountant.deletion(erased_at=3, observed=[2, 3, 4])
everything = accountant.deletion(erased_at=3)
for name, answer in (("came after", after), ("kept one older model", one_before), ("kept all models", everything)):
    print(
        f"erased at release 3, an observer who {name}: ε={answer.epsilon(1e-6):.3f}, advantage {answer.advantage:.1%}"
    )

remaining = accountant.remaining()
print(f"publications left: {remaining.publications}")

assert after.gdp < one_before.gdp < everything.gdp < together.gdp
assert after.renyi(10) <= plan.budget.deletion
assert remaining.publications == 2
for _ in range(2):
    event = Event("unlearn", plan.delete_steps, 1, plan.mechanism)
    assert accountant.affordable(event)
    accountant.record(event)
assert not accountant.affordable(event)
assert accountant.dp_cumulative().renyi(10) <= plan.budget.dp

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 3), layout="constrained")
    observers = {"came after": after, "kept one older model": one_before, "kept all models": everything}
    axes.barh(list(observers), [answer.advantage for answer in observers.values()], color="tab:blue")
    axes.axvline(together.advantage, color="0.4", linestyle="--", label="a record still there, every model seen")
    axes.set(xlim=(0, 1), xlabel="advantage over guessing, at most")
    axes.set_title("An observer of the erasure at release 3 who …", loc="left")
    axes.legend(loc="lower right")
    pyplot.savefig(picture)
