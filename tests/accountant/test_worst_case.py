"""Every figure about the costliest erasure is the maximum of that figure over all erasures of the ledger."""

import math
import random
from functools import cache

import pytest

from noisygd_delete import Accountant, Budget, losses, make_plan, methods
from noisygd_delete.accountant import Event
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.privacy.guarantee import Guarantee, WorstCase
from noisygd_delete.records import EditCounts

FACTS = {"records": 1000, "features": 1, "adjacency": "zero-out", "utility": False}
DELTAS = (1e-9, 1e-3)
ORDERS = (2.0, 10.0)


@cache
def plans():
    """Plans bounded in different measures: a Rényi rate, μ of Gaussian DP, and curves of objective perturbation."""
    made = []
    for size in (0.3, 0.5, 0.7, 0.9, 1.1):
        gdp, renyi = Budget.from_gdp(dp=size, deletion=0.9 * size), Budget(order=2, dp=size, deletion=0.9 * size)
        made += [
            make_plan(losses.Linear(1.0), regularization=0.1, budget=renyi, method="noisy-gd:analysis=paper", **FACTS),
            make_plan(losses.Linear(1.0), regularization=0.1, budget=gdp, method="noisy-gd", **FACTS),
            make_plan(losses.Linear(1.0), regularization=0.1, budget=gdp, method=methods.ObjectivePerturbation(solver="cold"), **FACTS),
            make_plan(losses.Linear(1.0), regularization=0.1, budget=gdp, method=methods.ObjectivePerturbation(in_place=False), **FACTS),
            make_plan(losses.Logistic(1.0), regularization=0.1, budget=renyi, method=methods.ObjectivePerturbation(), **FACTS),
        ]  # fmt: skip
    return made


def event(kind, plan, deleted):
    steps = plan.calibration.delete_steps if kind == "unlearn" else plan.calibration.learn_steps
    return Event(kind, steps, deleted, plan.mechanism, EditCounts(deleted=deleted))


def ledger(chance):
    """Any plans after each other, or a Rényi rate of steps before fresh Gaussian releases, where the figures disagree most."""
    if chance.random() < 0.5:
        theorem, perturbed = plans()[5 * chance.randrange(1, 5)], plans()[5 * chance.randrange(4) + 2]
        found = [event("learn", theorem, 0), event("unlearn", theorem, 1), event("relearn", perturbed, 1)]
        return found + [event("unlearn", perturbed, 1)] * chance.randint(1, 3)
    found = []
    for plan in chance.sample(plans(), chance.randint(1, 4)):
        found.append(event("relearn" if found else "learn", plan, int(bool(found) and chance.random() < 0.6)))
        found += [event("unlearn", plan, chance.randint(0, 1)) for _ in range(chance.randint(0, 3))]
    return found


def figures(guarantee):
    exact = guarantee.with_slack()
    return {
        "advantage": exact.advantage,
        "gdp": math.inf if exact.gdp is None else exact.gdp,
        **{f"epsilon at {delta}": exact.epsilon(delta) for delta in DELTAS},
        **{f"renyi at {order}": exact.renyi(order) for order in ORDERS},
    }


def over_all_erasures(accountant, shown):
    """The oracle: each figure of each erasure, asked one by one."""
    end = accountant.releases + 1
    erasures = [number for number, one in enumerate(accountant.events, 1) if number > 1 and one.counts.erased]
    each = [
        figures(accountant.deletion(1, number, sorted({*filter(number.__gt__, shown), *range(number, end)})))
        for number in erasures
    ]
    return {name: max(one[name] for one in each) for name in each[0]} if each else None


def check(accountant, shown, worst):
    """What of the worst case is below an erasure's own figure, or (where no order of rows is charged) above every one's."""
    truth = over_all_erasures(accountant, shown)
    if truth is None:
        assert worst is None
        return []
    stated, exact = figures(worst), not any(one.mechanism.shows_order for one in accountant.events)
    return [
        name
        for name, most in truth.items()
        if stated[name] < most * (1 - 1e-9) or (exact and stated[name] > most * (1 + 1e-9))
    ]


def by_advantage(worst):
    """The planted fault: one erasure for all figures, that of the largest advantage."""
    return worst and max(worst.cases, key=lambda case: (case.with_slack().advantage, case.total_rate))


@pytest.mark.parametrize(("ledgers", "power"), [(7, 2), pytest.param(40, 3, marks=pytest.mark.long)])
def test_every_figure_of_the_worst_case_is_its_maximum_over_the_erasures(ledgers, power):
    chance, wrong = random.Random(1), 0
    for _ in range(ledgers):
        accountant = Accountant(plans()[0], ledger(chance))
        releases = range(1, accountant.releases + 1)
        some = sorted(chance.sample(releases, chance.randint(0, accountant.releases)))
        for shown in ((), some, releases):
            worst = accountant.costliest_deletion(shown)
            assert check(accountant, shown, worst) == [], (shown, accountant.events)
            wrong += bool(check(accountant, shown, by_advantage(worst)))
    assert wrong >= power  # the oracle has the power to see one erasure taken for all figures


def test_of_two_erasures_that_exceed_each_other_both_count():
    theorem, perturbed = plans()[20], plans()[12]
    events = [event("learn", theorem, 0), event("unlearn", theorem, 1), event("relearn", perturbed, 1)]
    events += [event("unlearn", perturbed, 1)] * 3
    worst = Accountant(theorem, events).costliest_deletion([3])
    assert len(worst.cases) > 1
    assert worst.to_dict()["cases"] == [case.to_dict() for case in worst.cases]


def test_a_worst_case_is_about_one_pair_of_worlds():
    known, other = Guarantee("deletion", "pairwise", gdp_squared=1.0), Guarantee("deletion", "erased-vs-never")
    assert WorstCase.of([known, known]).cases == (known,)
    for wrong in ([], [known, other]):
        with pytest.raises(InvalidParameter):
            WorstCase.of(wrong)
