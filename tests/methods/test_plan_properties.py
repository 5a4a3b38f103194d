"""Every kind of plan at random sizes and budgets: within its budget, read back to the bit, no figure below the exact law of linear losses."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisygd_delete import Accountant, Budget, losses, make_plan
from noisygd_delete.accountant import PrivacyFilter
from noisygd_delete.errors import AssumptionViolated, BudgetExceeded
from noisygd_delete.methods import (
    CompositionNoisyGD,
    GibbsNoisyGD,
    NoisyGD,
    ObjectivePerturbation,
    OutputPerturbation,
    PaperNoisyGD,
    Stage,
    Staged,
    SufficientStatistics,
)
from noisygd_delete.methods.plan import Plan
from noisygd_delete.methods.serialization import mechanism_from_dict, plan_from_dict
from noisygd_delete.privacy.guarantee import Guarantee
from noisygd_delete.privacy.worlds import ADJACENCIES, DELETION_NOTIONS

from ..bank import PROBLEMS, plan_by
from ..oracles import linear_release

LOGISTIC, SIGMOID = losses.Logistic(1.0), losses.Sigmoid(1.0)
NETWORK = losses.MultilayerPerceptron(radius=1.0, classes=2, hidden=3)
CONVEX = [LOGISTIC, losses.Softmax(0.7, classes=3), losses.PseudoHuber(1.0, delta=0.5), losses.Linear(1.0)]
CURVED = [*CONVEX, losses.OneVsRest(1.0, classes=3), losses.clip_loss(LOGISTIC, 0.6), SIGMOID]
BASE, AGAIN, SAMPLED = Stage("network", 6), Stage("network", 3, share=2.0), Stage("network", 9, sampling_rate=0.1)
NO_MU, ZERO_OUT, ERASED = {"measures": ("renyi", "pairs")}, {"adjacency": ["zero-out"]}, {"notion": ["erased-vs-never"]}

# how a kind is planned: its methods, losses, and what it does not cover; how far its figures may lie above those of the linear loss
KINDS: dict[str, dict[str, Any]] = {
    "tight": {"methods": [NoisyGD(), NoisyGD(exact=False), NoisyGD(in_place=False)], "losses": CONVEX, "room": 1.05, "regularization": (1e-3, 3.0)},
    "tight, weakly convex": {"methods": [NoisyGD()], "losses": [SIGMOID], "room": 1 + 1e-9},
    "printed": {"methods": [PaperNoisyGD(), PaperNoisyGD(exact=False)], "losses": CONVEX[:3], "room": 2.7, "regularization": (1e-4, 5.0), **NO_MU, **ERASED},
    "diffused": {"methods": [OutputPerturbation(solver=solver, exact=exact) for solver in ("warm", "cold", "fixed") for exact in (None, False)],
                 "losses": [*CONVEX, SIGMOID], "room": 1.05},
    "perturbed": {"methods": [ObjectivePerturbation(solver=solver, chain=chain) for solver in ("warm", "cold", "fixed") for chain in (1, 3)],
                  "losses": CURVED[:1] + CURVED[2:6], "room": 1.3},
    "perturbed, by curves": {"methods": [ObjectivePerturbation()], "losses": [CURVED[1], SIGMOID], "room": 1.6, "rows": [1], **NO_MU},
    "composed": {"methods": [CompositionNoisyGD(requests_per_learn=4)], "losses": [SIGMOID, NETWORK], "room": 1 + 1e-9, "used": 0.75},
    "composed of samples": {"methods": [CompositionNoisyGD(batches=5, learn_steps=8, delete_steps=2, requests_per_learn=4)], "losses": [NETWORK],
                            "room": 1 + 1e-6, "rows": [1], "samples": True, "used": 0.75, **NO_MU, **ZERO_OUT, **ERASED},
    "ladder": {"methods": [Staged((BASE, AGAIN)), Staged((BASE, AGAIN, Stage("head", 4)), level=1), Staged((BASE, Stage("moments"))), Staged((BASE, AGAIN), level=-1)],
               "losses": [NETWORK], "room": 1.05},
    "ladder of samples": {"methods": [Staged((SAMPLED, AGAIN)), Staged((BASE, SAMPLED)), Staged((SAMPLED, Stage("moments")))], "losses": [NETWORK],
                          "room": 1.05, "rows": [1], "samples": True, "used": 0.75, **NO_MU, **ZERO_OUT},
    "sums": {"methods": [SufficientStatistics(), SufficientStatistics(joiners=False)], "losses": [LOGISTIC, losses.Softmax(0.5, 3), losses.Squared(2.0)],
             "room": math.inf, "releases": [2, 9, 300]},  # of all times to come and go the dearest: tests/bounds/test_markov_sums.py
    "near the Gibbs law": {"methods": [GibbsNoisyGD(form=form, noise_variance="cheapest") for form in ("printed", "sharper")], "losses": [SIGMOID],
                           "room": 1 + 1e-9, "measures": ("renyi",), "rows": [1], "records": (50, 500), "features": (5, 8), "used": 0.0, **ERASED},
}  # fmt: skip
MEASURES: dict[str, Callable[[float, float], Budget]] = {
    "renyi": lambda dp, share: Budget(order=4, dp=dp, deletion=dp * share),
    "pairs": lambda dp, share: Budget.from_epsilon_delta(dp=(dp, 1e-6), deletion=(dp * share, 1e-7)),
    "gdp": lambda dp, share: Budget.from_gdp(dp=dp, deletion=dp * share),
}


@st.composite
def plans(draw: st.DrawFn, kind: str) -> Plan:
    """A plan of this kind at random sizes, from which none is refused."""
    facts = KINDS[kind]
    measure = draw(st.sampled_from(facts.get("measures", tuple(MEASURES))))
    budget = MEASURES[measure](draw(st.floats(0.3, 4)), draw(st.floats(0.2 if "samples" in facts else 0.02, 1)))
    features = draw(st.integers(*facts.get("features", (2, 12))))
    return make_plan(
        draw(st.sampled_from(facts["losses"])),
        records=draw(st.integers(*facts.get("records", (2000, 10**6)))),
        features=features,
        regularization=draw(st.floats(*facts.get("regularization", (0.12, 2.0)))),
        budget=budget,
        method=draw(st.sampled_from(facts["methods"])),
        adjacency=draw(st.sampled_from(facts.get("adjacency", list(map(str, ADJACENCIES))))),
        deletion_notion=draw(st.sampled_from(facts.get("notion", list(map(str, DELETION_NOTIONS))))),
        releases=draw(st.sampled_from(facts.get("releases", [1, 2, 17]))),
        rows_per_subject=draw(st.sampled_from(facts.get("rows", [1, 3]))),
        weighting=draw(st.sampled_from(["by-row", "auto"])),
        one_hot_blocks=draw(st.sampled_from([None, (features - 1, 0)])),
        batch=draw(st.integers(1, 5)),
        dtype=draw(st.sampled_from(["float32", "float64"])),
    )


def spent(guarantee: Guarantee, budget: Budget, part: str) -> float:
    """Share of the budget that a figure takes, the rounding of sums included."""
    told, amount = guarantee.with_slack(), getattr(budget, part)
    if budget.measure == "gdp":
        assert told.gdp is not None
        return told.gdp / amount
    return (told.renyi(budget.order) if budget.order else told.epsilon(getattr(budget, f"{part}_delta"))) / amount


def check_budget(plan: Plan, *, used: float = 0.98, **_: Any) -> None:
    """What it is planned for fits, in the filter and in the account too; the scarcer of its two parts is used up."""
    budget, releases = plan.problem.budget, plan.problem.releases
    together, erased = plan.dp_observed() if releases > 1 else plan.dp, spent(plan.deletion, budget, "deletion")
    assert used <= max(spent(together, budget, "dp"), erased) <= 1 + 1e-9
    assert together.renyi(1.5) <= plan.allowed.renyi(1.5) * (1 + 1e-9)
    assert 0.9 <= spent(plan.allowed, budget, "dp") <= 1 + 1e-9, "the filter's cap is the budget"
    if releases > 20:
        return
    accountant, gate = Accountant(plan), PrivacyFilter.for_plan(plan)
    for _ in range(releases):
        event = accountant.planned_event()
        gate.admit(event)
        accountant.record(event)
    observed = accountant.dp_cumulative()
    assert spent(observed, budget, "dp") <= 1 + 1e-9
    assert observed.renyi(2.0) == pytest.approx(plan.dp_observed().renyi(2.0), rel=1e-9)
    if plan.mechanism.fresh and releases > 1:
        assert Accountant(plan).remaining().publications == releases
        assert not accountant.affordable(event)
        with pytest.raises(BudgetExceeded):
            gate.admit(event)


def check_reading(plan: Plan) -> None:
    """A file, a ledger and a problem give the same plan, with the same figures to the bit."""
    assert mechanism_from_dict(json.loads(json.dumps(plan.mechanism.to_dict()))) == plan.mechanism
    assert json.loads(json.dumps(plan.summary(), allow_nan=False))["method"] == plan.method.name
    plan.method.check_plan(plan)
    stored = json.loads(json.dumps(plan.to_dict()))
    if isinstance(plan.problem.loss, losses.Squared):  # it has no constants: planned and explained, never stored
        assert plan.explain()
        with pytest.raises(AssumptionViolated, match="not Lipschitz"):
            plan_from_dict(stored)
        return
    read = plan_from_dict(stored)
    assert read == plan
    assert (read.dp, read.deletion, read.dp_observed()) == (plan.dp, plan.deletion, plan.dp_observed())


def check_figures(plan: Plan, present: int, gone: int, *, room: float, samples: bool = False, **_: Any) -> None:
    """No figure of the run is below the exact law of the worst linear losses, and none far above."""
    run, order, numbers = plan.mechanism, 2.0, plan.calibration
    exposure: Callable[[int], int] = run.exposure
    if run.method == "objective-perturbation":
        present = gone = 1
    if run.method == "staged":
        present, gone = numbers.learn_steps, numbers.delete_steps
    if run.carries:
        present, gone, exposure = min(present, plan.problem.releases - 1), 1, int
    for worlds in (*ADJACENCIES, *DELETION_NOTIONS):
        for later in (0, gone):
            steps = {"steps_with": exposure(present), "steps_without": exposure(later) if later else 0}
            stated = run.interval(worlds.about, worlds, **steps).renyi(order)
            true = linear_release.renyi(run, order, worlds.between_records, present, later)
            assert stated >= true * (1 - 1e-9) - 1e-30, (worlds, present, later)
            assert stated < 1e-12 or true > 0, "what leaves nothing is charged next to nothing"
            if not (later or (samples and worlds.between_records)):
                assert stated <= true * room, (worlds, stated / true)
        assert run.interval(worlds.about, worlds, steps_with=0).renyi(order) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_keeps_its_budget_reads_back_and_states_no_less_than_is_true(kind: str) -> None:
    @settings(max_examples=4 if "samples" in KINDS[kind] else 15, deadline=None)
    @given(plan=plans(kind), present=st.integers(1, 60), gone=st.integers(1, 40))
    def check(plan: Plan, present: int, gone: int) -> None:
        check_budget(plan, **KINDS[kind])
        check_reading(plan)
        check_figures(plan, present, gone, **KINDS[kind])

    check()


@pytest.mark.parametrize("name", [name for name in PROBLEMS if hasattr(plan_by(name).mechanism, "lipschitz")])
def test_a_figure_of_half_the_influence_is_seen(name: str) -> None:
    """The planted fault: the figures of a loss half as steep."""
    run, steps = plan_by(name).mechanism, plan_by(name).calibration.learn_steps or 1
    fault = replace(run, lipschitz=run.lipschitz / 2).interval("dp", "replace", steps_with=run.exposure(steps))
    assert fault.renyi(2.0) < linear_release.renyi(run, 2.0, True, steps)
