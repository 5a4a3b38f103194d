"""The ladder: published stages, later ones run again at every deletion; what they reveal against exact joint Gaussian laws."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from noisygd_delete_lab.ancestors import Presence, StageRun, ancestor_guarantee, ancestors, stage_runs

from noisygd_delete import Accountant, Budget, losses, make_plan
from noisygd_delete.accountant import Event
from noisygd_delete.methods import Stage, Staged
from noisygd_delete.methods.noisy_gd_composition import CompositionNoisyGDRun
from noisygd_delete.methods.staged_run import KEPT

from . import closed_forms
from .framework import ADVERSARIAL, RIGOROUS, Finding, close, require, require_refusal, statement


def _step(mu: float) -> CompositionNoisyGDRun:
    """One noisy step that is μ-GDP for one row."""
    return CompositionNoisyGDRun(records=1, step_size=2.0, noise_variance=1.0, strong_convexity=1.0, lipschitz=mu)


def _exact(shifts: list[float], reads: list[dict[int, float]], observed: list[int]) -> float:
    """μ of the observed runs: each is a combination of those it reads, a shift, and noise of variance 1."""
    means, mixes = np.zeros(len(shifts)), np.zeros((len(shifts), len(shifts)))
    for run, weights in enumerate(reads):
        means[run] = shifts[run] + sum(weight * means[other] for other, weight in weights.items())
        for other, weight in weights.items():
            mixes[run] += weight * mixes[other]
        mixes[run, run] += 1.0
    least, *_ = np.linalg.lstsq(mixes[observed], means[observed], rcond=1e-13)
    return math.sqrt(float(least @ least))


def _overwritten_starts_forgotten(runs: list[StageRun], **asked):
    """A stage that started at the last published model, taken for one that started below."""
    last: dict[int, int] = {}
    for place, run in enumerate(runs):
        runs[place] = replace(run, parents=tuple(other for other in run.parents or () if other != last.get(run.stage)))
        last[run.stage] = run.number
    return ancestor_guarantee(runs, **asked)


@statement(
    "T5.ancestors",
    "published stages: an observer of the runs O, requesters of the runs V, learn at most (Σ over An(O ∪ V) of (m_e μ_e)²)^½ of a"
    " person, each run once; An: what they read, directly or not",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=ancestor_guarantee,
    fault=("a start at an overwritten model taken for no input", _overwritten_starts_forgotten),
    licenses=(
        "noisygd_delete_lab.ancestors:ancestors",
        "noisygd_delete_lab.ancestors:ancestor_guarantee",
        "noisygd_delete_lab.ancestors:StageRun",
        "noisygd_delete_lab.ancestors:Presence",
    ),
    scope="Random runs of two to four stages with levels that vary, bases learned again, warm and cold starts, rows that come, go and "
    "come back, requesters who read runs and steer later ones; joint laws are Gaussian and exact. Never below, and equal where every run "
    "of the closure is observed. Kernels are Gaussian in the row and linear in what they read; for others the statement is adaptive "
    "composition (Dong, Roth & Su 2022, Cor. 3.3), which is cited.",
)
def _ancestors(claim, effort: int) -> Finding:
    rng, closest = np.random.default_rng(51), math.inf
    for _ in range(250 * effort):
        stages, releases = int(rng.integers(2, 5)), int(rng.integers(2, 7))
        mus = np.exp(rng.uniform(-2, 0.5, stages))
        person = [
            Presence(slot, int(a), int(a + rng.integers(1, 4))) for slot, a in enumerate(rng.integers(0, releases, 2))
        ]
        runs: list[StageRun] = []
        reads: list[dict[int, float]] = []
        current: dict[int, int] = {}
        watched: set[int] = set()
        published: list[list[int]] = []
        for release in range(releases):
            for stage in range(int(rng.integers(0, stages)) if release else 0, stages):
                inputs = [current[j] for j in range(stage)]
                if release and rng.random() < 0.3:
                    inputs.append(current[stage])
                weights = {other: float(rng.uniform(-2, 2)) for other in inputs}
                if runs and rng.random() < 0.3:  # a requester wrote what he saw of a run into the rows of this one
                    looked = int(rng.integers(len(runs)))
                    watched.add(looked)
                    weights[looked] = weights.get(looked, 0.0) + float(rng.uniform(-2, 2))
                number = len(runs)
                runs.append(
                    StageRun(number, stage, _step(float(mus[stage])), 1, release, tuple(inputs), group="linear")
                )
                reads.append(weights)
                current[stage] = number
            published.append(sorted(current.values()))
        shifts = [sum(one.within(run) for one in person) * float(mus[run.stage]) for run in runs]
        parents = {run.number: run.parents or () for run in runs}
        for _ in range(3):
            chosen = rng.choice(releases, int(rng.integers(1, releases + 1)), replace=False)
            seen = sorted({run for release in chosen for run in published[int(release)]})
            asked = {
                "about": "deletion",
                "worlds": "erased-vs-never",
                "person": person,
                "observed": seen,
                "seen_by_requesters": watched,
            }
            stated = claim(list(runs), **asked).gdp
            truth = _exact(shifts, reads, seen)
            require(truth <= stated * (1 + 1e-8) + 1e-9, f"runs {seen} of {len(runs)}: {truth} above {stated}")
            closure = sorted(ancestors(parents=parents, seen={*seen, *watched}))
            whole = _exact(shifts, reads, closure)
            require(abs(whole - stated) <= 1e-6 * stated + 1e-9, f"all of An observed: {whole}, stated {stated}")
            charges = dict(enumerate(shifts))
            close(
                closed_forms.ancestor_gdp(parents=parents, charges=charges, seen=[*seen, *watched]),
                stated,
                "the sum in numbers",
            )
            closest = min(closest, 1 - truth / stated) if stated else closest
    return Finding(f"closest approach {closest:.1e}")


def _base_forgotten(account: Accountant, start: int, end: int, observed: list[int]) -> float:
    """The kept stages taken for forgotten once the record is erased."""
    full = account.deletion(start, end, observed).gdp or 0.0
    learned = [event for event in account.events[: end - 1] if event.kind != "unlearn"]
    if not learned or start > 1:
        return full
    kept = math.fsum(
        (stage.interval("deletion", "erased-vs-never", steps_with=steps).gdp_squared)
        for stage, steps in zip(learned[-1].mechanism.kept, learned[-1].mechanism.kept_steps, strict=True)  # type: ignore[attr-defined]
    )
    return math.sqrt(max(full**2 - kept, 0.0))


def _account(account: Accountant, start: int, end: int, observed: list[int]) -> float:
    return account.deletion(start, end, observed).gdp or 0.0


@statement(
    "T5.product",
    "the ladder's releases: a record of the learn costs Σ of the kept stages' μ² for ever, and the later stages' for every release"
    " observed with it; with one level and one learn √(Σ_{j≤l} μ_j² + p Σ_{j>l} μ_j²)",
    evidence=(RIGOROUS, ADVERSARIAL),
    claim=SimpleNamespace(deletion=_account),
    fault=("the kept stages taken for forgotten", SimpleNamespace(deletion=_base_forgotten)),
    licenses=(
        "noisygd_delete_lab.ancestors:stage_runs",
        *(f"methods.staged:Staged.{name}" for name in ("plan", "assemble", "_amounts", "_kept", "_calibrated")),
        "methods.staged:StagedRun",
    ),
    scope="Plans with network, head and moments stages, every level, both adjacencies: the budgets are met with the slack included; random histories of "
    "learns, requests and fresh learns with random lifetimes and observers, against the sum over ancestors and, for a scalar ladder, exact laws.",
)
def _product(claim, effort: int) -> Finding:
    rng, checked = np.random.default_rng(52), 0
    ladders = [
        (Stage("network", 6), Stage("network", 3)),
        (Stage("network", 6), Stage("head", 4)),
        (Stage("network", 6), Stage("network", 3, share=2.0), Stage("head", 2)),
        (Stage("network", 6), Stage("moments")),
    ]
    for _ in range(6 * effort):
        stages = ladders[int(rng.integers(4))]
        level = int(rng.integers(-1, len(stages) - 1))
        adjacency = str(rng.choice(["replace", "zero-out"]))
        plan = make_plan(
            losses.MultilayerPerceptron(radius=1.0, hidden=3),
            records=50,
            features=4,
            regularization=0.01,
            budget=Budget(order=8, dp=(dp := math.exp(rng.uniform(-1, 1))), deletion=dp * rng.uniform(0.05, 1)),
            method=Staged(stages=stages, level=level),
            adjacency=adjacency,
            releases=int(rng.choice([1, 3])),
        )
        require(plan.problem.budget.affords(plan.dp.with_slack()), f"{plan.dp.with_slack().renyi(8)} above {dp}")
        require(
            plan.problem.budget.affords(plan.deletion.with_slack()),
            f"{plan.deletion.with_slack().renyi(8)} above {plan.problem.budget.deletion}",
        )
        budget = plan.problem.budget
        kept = min(budget.deletion, dp / 2 / (4 if adjacency == "replace" else 1)) * (level >= 0)  # at most half of dp
        close(plan.dp_observed().with_slack().renyi(8), dp, "the budget of all releases is used", 1e-6)
        close(plan.deletion.with_slack().renyi(8), kept, "what the kept stages may show", 1e-6)
        account = Accountant(plan)
        account.record(account.planned_event())
        for _ in range(int(rng.integers(1, 7))):
            account.record(account.planned_event("relearn" if rng.random() < 0.2 else "unlearn"))
        events, runs = account.events, stage_runs(account.events)
        models, current = list[list[int]](), dict[int, int]()
        for number, event in enumerate(events, start=1):
            current = {} if event.kind != "unlearn" else current
            current = {**current, **{run.stage: run.number for run in runs if run.table == number}}
            models.append(sorted(current.values()))
        for _ in range(12):
            start, end = sorted(int(k) for k in rng.choice(np.arange(1, len(events) + 1), 2, replace=False))
            seen = [
                int(k)
                for k in rng.choice(np.arange(1, len(events) + 1), int(rng.integers(1, len(events) + 1)), replace=False)
            ]
            observed = {run for release in seen for run in models[release - 1]}
            person = [Presence(0, start, end)]
            right = ancestor_guarantee(runs, "deletion", "erased-vs-never", person=person, observed=observed).gdp or 0.0
            found = claim.deletion(account, start, end, seen)
            require(right <= found * (1 + 1e-9) + 1e-12, f"{start} to {end}, {seen} observed: {found} below {right}")
            require(found <= right * (1 + 1e-9) + 1e-9, f"{start} to {end}, {seen} observed: {found} above {right}")
            checked += 1
        single = Accountant(plan)
        single.record(single.planned_event())
        number = int(rng.integers(1, 6))
        single.record(single.planned_event("unlearn"), number)
        costs = [
            stage.mechanism.interval("deletion", "erased-vs-never", steps_with=stage.calibration.learn_steps).gdp or 0.0
            for stage in plan.calibration.stages
        ]
        kept, later = costs[: plan.calibration.kept], costs[plan.calibration.kept :]
        closed = closed_forms.fixed_level_gdp(kept=kept, later=later, observed=number)
        close(claim.deletion(single, 1, number + 1, list(range(1, number + 2))), closed, "one level, all observed")
        lone = closed_forms.fixed_level_gdp(kept=kept, later=later, observed=0)
        require(
            abs(claim.deletion(single, 1, number + 1, [number + 1]) - lone) <= 1e-9, "one level, later models alone"
        )
    _refusals()
    mus, reads, shifts = (0.3, 0.5), [dict[int, float]()], [0.3]
    events = [Event("learn", 2, 0, _scalar(mus)), *[Event("unlearn", 1, 1, _scalar(mus))] * 4]
    for release in range(5):  # θ_0, then heads on it; the record leaves with the last release
        reads.append({0: 1.0})
        shifts.append(mus[1] if release < 4 else 0.0)
    for seen in ([5], [1, 5], [1, 2, 3, 4, 5]):
        truth = _exact(shifts, reads, [0, *seen])
        found = claim.deletion(Accountant(events=events), 1, 5, seen)
        require(truth <= found * (1 + 1e-9), f"{seen}: {truth} above {found}")
        require(found <= truth * (1 + 1e-6), f"{seen}: {found} though the truth is {truth}")
    return Finding(f"{checked} lifetimes equal; exact on a scalar ladder")


def _refusals() -> None:
    """Of what the law does not cover: stages that are none, samples of several rows of a person; and what is said to stay."""
    asked = {"records": 50, "features": 4, "regularization": 0.01, "budget": Budget(order=8, dp=1.0, deletion=0.5)}
    network, ladder = losses.MultilayerPerceptron(radius=1.0, hidden=3), (Stage("network", 6), Stage("head", 4))
    sampled = (Stage("network", 6, sampling_rate=0.2), Stage("head", 4))
    for loss, stages, what in (
        (losses.Logistic(radius=1.0), ladder, "a loss without stages"),
        (network, sampled, "samples of persons of several rows"),
        (network, sampled[:1] * 2, "samples alone of persons of several rows"),
    ):
        require_refusal(
            lambda a=loss, b=stages: make_plan(a, method=Staged(stages=b, level=0), rows_per_subject=2, **asked), what
        )
    whole = _scalar((0.3, 0.5))
    for wrong in (
        {"later": (), "later_steps": ()},
        {"later_steps": ()},
        {"kept_steps": (1, 1)},
        {"later_steps": (0,)},
        {"later": (whole,), "later_steps": (2,)},
        {"records": 2},
        {"slack": -1.0},
    ):
        require_refusal(lambda wrong=wrong: replace(whole, **wrong), f"no ladder: {list(wrong)}")
    require_refusal(lambda: whole.check(3), "steps of neither a learn nor a request")
    for run, left in ((whole, "base"), (replace(whole, kept=(), kept_steps=()), "")):
        owed = run.interval("deletion", "erased-vs-never", steps_with=3, steps_without=2)
        present = run.interval("dp", "zero-out", steps_with=3)
        require(run.left == left and (KEPT in owed.assumptions) == bool(left), f"{run.left!r} stays of a ladder")
        require(KEPT not in present.assumptions, "nothing is erased of a record that is there")


def _scalar(mus: tuple[float, float]):
    from noisygd_delete.methods.staged_run import StagedRun

    return StagedRun(records=1, kept=(_step(mus[0]),), later=(_step(mus[1]),), kept_steps=(1,), later_steps=(1,))
