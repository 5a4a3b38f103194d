"""Random histories of releases under a plan of every method: deletions of any size, fresh learns, earlier plans, statistics, extractors."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from typing import Any

from noisygd_delete import Budget, losses, make_plan
from noisygd_delete.accountant import Event
from noisygd_delete.methods import CountedRecords, Mechanism, Minimiser, Perturbed
from noisygd_delete.methods.plan import Plan
from noisygd_delete.methods.sampled_gaussian import SampledGaussian
from noisygd_delete.records import EditCounts

RENYI, PAIRS = Budget(order=8, dp=1.0, deletion=0.1), Budget.from_epsilon_delta(dp=(2.0, 1e-6), deletion=(0.2, 1e-6))
ROWS = {"records": 2000, "features": 6, "regularization": 1e-2}
METHODS: dict[str, dict[str, Any]] = {
    "theorem": {"loss": losses.Logistic(radius=1.0), "method": "theorem", "budget": RENYI},
    "sharp": {"loss": losses.Logistic(radius=1.0), "method": "sharp", "budget": PAIRS},
    "sharp-exact": {"loss": losses.Logistic(radius=1.0), "method": "sharp-exact", "budget": RENYI},
    "minimiser, cold": {"loss": losses.Logistic(radius=1.0), "method": Minimiser(solver="cold"), "budget": RENYI},
    "minimiser, warm": {"loss": losses.Logistic(radius=1.0), "method": Minimiser(solver="warm"), "budget": RENYI},
    "minimiser, exact": {"loss": losses.Logistic(radius=1.0), "method": Minimiser(exact=True), "budget": PAIRS},
    "perturbed": {"loss": losses.Logistic(radius=1.0), "method": "perturbed", "budget": PAIRS, "utility": False},
    "perturbed, in a row": {"loss": losses.Logistic(radius=1.0), "method": Perturbed(chain=3), "budget": PAIRS, "utility": False},
    "interleaved": {"loss": losses.PseudoHuber(radius=1.0), "method": "interleaved", "budget": RENYI, "releases": 8},
    "composition": {"loss": losses.Sigmoid(radius=1.0), "method": "composition", "budget": RENYI},
    "ladder": {"loss": losses.MultilayerPerceptron(radius=1.0, classes=2, hidden=4), "method": "ladder", "budget": RENYI},
    "near-gibbs": {"loss": losses.Sigmoid(radius=1.0), "method": "theorem", "budget": Budget(order=2, dp=1.9, deletion=0.5),
                   "records": 10, "features": 2, "regularization": 0.05},
}  # fmt: skip


@cache
def plan_by(method: str) -> Plan:
    facts = {**ROWS, **METHODS[method]}
    return make_plan(facts.pop("loss"), **facts)


def history(method: str, seed: int, most: int = 40) -> tuple[Plan, list[Event], int]:
    """(plan in force, releases, the number of one that erased a record under that plan)."""
    chance, plan = random.Random(seed), plan_by(method)
    own = plan.mechanism
    earlier = replace(own, slack=own.slack + 1e-3)  # what a plan before this one ran
    counted = CountedRecords(records=own.records, deviation=64.0)
    phi = SampledGaussian(records=own.records, sampling_rate=0.05, noise_multiplier=2.0)
    mechanism = earlier if seed % 2 else own
    events = [Event("learn", plan.learn_steps, 0, mechanism)]
    for _ in range(chance.randrange(3, most)):
        kind = chance.choice(["unlearn"] * 12 + ["relearn", "statistic", "extractor"][: 1 + seed % 3])
        if kind == "statistic":
            events.append(Event("statistic", 1, 0, counted))
            continue
        if kind == "extractor":
            events.append(Event("extractor", 20, 0, phi))
        if kind != "unlearn":
            kind, mechanism = "relearn", chance.choice((own, earlier))
        events.append(_served(kind, plan, mechanism, EditCounts(*(chance.randrange(3) for _ in range(3)))))
    if mechanism is not own:
        events.append(_served("relearn", plan, own, EditCounts()))
    events.append(_served("unlearn", plan, own, EditCounts(deleted=1, replaced=1)))
    number = chance.choice(
        [n for n, event in enumerate(events, 1) if n > 1 and event.mechanism == own and _whole(event.counts)]
    )
    later = [_served("unlearn", plan, own, EditCounts(inserted=n)) for n in (1, 2)]
    return plan, [*events, *(later if seed % 4 == 0 else [])], number


def _served(kind: str, plan: Plan, mechanism: Mechanism, counts: EditCounts) -> Event:
    return Event(kind, plan.delete_steps if kind == "unlearn" else plan.learn_steps, counts.total, mechanism, counts)


def _whole(counts: EditCounts) -> bool:
    return bool(counts.deleted and counts.replaced)
