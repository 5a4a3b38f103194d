"""The ladder: published stages; a deletion keeps the first ones and runs the later ones again. Any network, any number of requests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..errors import InvalidParameter, count
from ..losses.staged import NETWORK, Staged
from ..privacy.guarantee import Guarantee
from ..privacy.shown import shown
from ..privacy.worlds import Worlds
from .amounts import Amounts
from .base import Condition, Cost, Mechanism, Method
from .plan import MOST_STAGES, Numbers, Plan
from .problem import Problem
from .procedure import Costliest, Promise, Sampling
from .sampled_steps import check_sampled
from .stages import Stage, of_stage, planned, what_runs

_MOST_KEPT = 0.5  # of the dp budget, in μ²: what the kept stages may take of it at most
_ROOM = 1 - 1e-12  # for the rounding of sums of squares


@dataclass(frozen=True)
class Ladder(Method):
    """Least noise for which the kept stages cost ε_dd and one release, later stages included, ε_dp.

    With l = `level` the stages 0…l are kept by a deletion and l+1…S run again on the current rows. For a record of the learn
    that is erased later, Σ_{j≤l} μ_j² is all that an observer of later models learns, after any number of requests that did not
    depend on earlier models; every release that was observed with the record adds Σ_{j>l} μ_j², whatever the requests did. A release costs present
    records Σ_j μ_j²; `releases` of them share the part of the later stages.

    stages  two or more, the first a network
    level   l; −1 keeps nothing: every deletion is a fresh run of all stages, and ε_dd = 0
    """

    name: ClassVar[str] = "ladder"
    summary: ClassVar[str] = "networks: a published base at ε_dd, later stages run again at every deletion, no horizon"
    compared: ClassVar[bool] = False

    stages: tuple[Stage, ...] = (Stage(NETWORK, 60), Stage(NETWORK, 20))
    level: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "stages", tuple(self.stages))
        if not all(isinstance(stage, Stage) for stage in self.stages):
            raise InvalidParameter(
                "stages must be methods.Stage objects, for example Stage('network', 60), Stage('head')"
            )
        if not 2 <= len(self.stages) <= MOST_STAGES:
            raise InvalidParameter(
                f"{len(self.stages)} stage(s), where 2 to {MOST_STAGES} can be: a base and at least one stage that a "
                "deletion runs again; the one-stage case is method 'composition'"
            )
        if not -1 <= self.level <= len(self.stages) - 2:
            raise InvalidParameter(
                f"must lie between -1 (a deletion runs every stage again) and {len(self.stages) - 2} (it runs the last one "
                "again)",
                level=self.level,
            )

    @property
    def sampled(self) -> bool:
        """Whether a stage takes its steps on samples of the rows."""
        return any(stage.sampling_rate is not None for stage in self.stages)

    def _staged(self, problem: Problem) -> Staged:
        return Staged(
            radius=problem.loss.radius, network=problem.loss, kinds=tuple(stage.form for stage in self.stages)
        )

    def plan(self, problem: Problem) -> Plan:
        if problem.loss.constants.convex:
            raise InvalidParameter(
                f"is for networks; the {problem.loss.name} loss is convex, and 'sharp', 'minimiser' or 'perturbed' forget "
                "more for less: a linear model on what a network computes is the stage Stage('head') of a ladder",
                method="ladder",
            )
        if not math.isfinite(problem.loss.constants.lipschitz):
            raise InvalidParameter(f"the {problem.loss.name} loss has no Lipschitz constant; clip its gradients to L")
        if self.sampled:
            check_sampled(problem)
        amounts, staged, number = self._amounts(problem), self._staged(problem), self.level + 1
        kept, spent = self._kept(problem, staged, amounts)
        left = (amounts.dp - spent) / problem.releases
        numbers = range(number, len(self.stages))
        later = self._calibrated(problem, staged, numbers, left, problem.adjacency, amounts.dp_order)
        return self.assemble(problem, Numbers(stages=(*kept, *later)))

    def assemble(self, problem: Problem, numbers: Numbers) -> Plan:
        """Its numbers are those of its stages: the first one's, and all their steps."""
        stages, number = numbers.stages, self.level + 1
        kept, later = stages[:number], stages[number:]
        if len(stages) != len(self.stages):
            raise InvalidParameter(f"a ladder of {len(self.stages)} stages that keeps {number} has a plan for each")
        rerun = sum(stage.learn_steps for stage in later)
        numbers = replace(
            stages[0].numbers,
            learn_steps=sum(stage.learn_steps for stage in kept) + rerun,
            delete_steps_for_deletion=rerun,
            learn_solver_passes=sum(stage.learn_solver_passes for stage in stages),
            delete_solver_passes=sum(stage.learn_solver_passes for stage in later),
            horizon=None,
            stages=stages,
            kept=number,
        )
        run = LadderRun(
            records=problem.records,
            proven=problem.loss.constants.proven,
            slack=problem.slack,
            kept=tuple(stage.mechanism for stage in kept),
            later=tuple(stage.mechanism for stage in later),
            kept_steps=tuple(stage.learn_steps for stage in kept),
            later_steps=tuple(stage.learn_steps for stage in later),
        )
        promise = Promise(deletion=Costliest(steps_without=run.exposure(rerun)), counted_on=self._sampling)
        return Plan.of(problem, run, numbers, promise=promise, staged=self._staged(problem))

    def _amounts(self, problem: Problem) -> Amounts:
        """What the budget allows; at orders of which the first sampled stage makes most, where there is one."""
        first = self._sampling
        if first is None:
            return Amounts(problem.dp_gdp() ** 2, problem.deletion_gdp() ** 2)
        return Amounts.at_orders(problem, first.rate, first.draws)

    @property
    def _sampling(self) -> Sampling | None:
        """Of the first stage on samples."""
        steps = ((stage.sampling_rate, stage.steps) for stage in self.stages)
        return next((Sampling(rate, draws) for rate, draws in steps if rate is not None and draws is not None), None)

    def _kept(self, problem: Problem, staged: Staged, amounts: Amounts) -> tuple[tuple[Plan, ...], float]:
        """The plans of the kept stages, and what they take of the dp budget: at most `_MOST_KEPT` of it."""
        if self.level < 0:
            return (), 0.0
        dp_per_dd = problem.sensitivity(problem.adjacency) / problem.sensitivity(problem.deletion_notion)
        most = _MOST_KEPT * amounts.dp
        allowed = min(amounts.deletion, most / dp_per_dd**2)
        for _ in range(60):
            numbers, notion = range(self.level + 1), problem.deletion_notion
            kept = self._calibrated(problem, staged, numbers, allowed, notion, amounts.deletion_order)
            spent = amounts.spent(
                [plan.mechanism for plan in kept], [plan.learn_steps for plan in kept], problem.adjacency
            )
            if spent <= most * (1 + 1e-9):
                return kept, spent
            allowed *= most / spent * (1 - 1e-3)  # a curve between two records is more than that of a doubled gradient
        raise InvalidParameter(
            "the kept stages cannot be fitted into half of the dp budget; plan with adjacency 'zero-out', or without "
            "sampling_rate"
        )

    def _calibrated(
        self,
        problem: Problem,
        staged: Staged,
        numbers: Sequence[int],
        squared: float,
        worlds: Worlds,
        order: float | None,
    ) -> tuple[Plan, ...]:
        """The plans of some stages whose μ² are together this much between two worlds, or their ε at an order q q/2 of it."""
        whole = math.fsum(self.stages[j].share for j in numbers)
        made = []
        for j in numbers:
            stage = self.stages[j]
            gdp = math.sqrt(squared) * math.sqrt(stage.share / whole) * _ROOM
            own = of_stage(stage, j, problem, staged, gdp=gdp, worlds=worlds)
            made.append(planned(stage, own, gdp=gdp, order=order))
        return tuple(made)

    def check_plan(self, plan: Plan) -> None:
        """Every stage is what `of_stage` makes of the problem, and covered by its own method."""
        super().check_plan(plan)
        staged, problem = self._staged(plan.problem), plan.problem
        for number, (asked, stage) in enumerate(zip(self.stages, plan.stages, strict=True)):
            due = of_stage(asked, number, problem, staged, gdp=1.0, worlds=problem.adjacency)
            for name in ("loss", "features", "records", "regularization", "rows_per_subject", "dtype"):
                if getattr(stage.problem, name) != getattr(due, name):
                    raise InvalidParameter(f"stage {number} of the ladder has another {name} than the problem")
            stage.method.check_plan(stage)

    def words(self, plan: Plan) -> tuple[str, ...]:
        notion = plan.problem.deletion_notion
        listed = []
        for number, (stage, asked) in enumerate(zip(plan.stages, self.stages, strict=True)):
            run = stage.mechanism
            cost = run.interval("deletion", notion, steps_with=run.exposure(stage.learn_steps))
            delta = plan.budget.shown_delta
            figure = (
                f"(ε={shown(cost.epsilon(delta))}, δ={shown(delta)})" if cost.gdp is None else f"μ={shown(cost.gdp)}"
            )
            fate = "kept by deletions" if number < plan.kept else "run again at every deletion"
            listed.append(
                f"  stage {number} ({asked.kind}, {fate}): {what_runs(stage)}; {figure} between the worlds of deletion"
            )
        passes = plan.gradient_evaluations
        kept = (
            f"Of what is kept: {KEPT}."
            if plan.kept
            else "Nothing is kept, so nothing of a deleted record is: ε_dd is 0."
        )
        return (
            "\n".join(["Ladder: every stage is published, and nothing else is kept between requests.", *listed]),
            f"A learn takes {passes['learn'] // plan.records} passes over the table, a deletion {passes['delete'] // plan.records}, "
            f"however many there were before: there is no horizon, and no fresh learn falls due. {kept}",
            "The figure for later models alone is false once a request depended on an earlier model: a requester may write what a "
            "model showed of a record into rows that stay. Then every release observed with the record counts in full.",
        )


KEPT = "the base's ε_dd is not reduced by deletions: what the kept stages showed of an erased record stays until a fresh learn"

_LEARN, _RERUN = 3, 2  # exposures; see `LadderRun`


@dataclass(frozen=True, kw_only=True)
class LadderRun(Mechanism):
    """One learn runs every stage; a request runs the later ones again, on the current rows, from what the kept ones published.

    Every stage is a Gaussian mechanism for whatever values the stages before it took, so an observer pays for each *run of a stage*
    that what he saw rests on, once: the kept stages of the last learn, if the record was there, and the later stages of each
    release that he saw or that carried the record when he saw it. A later stage that was overwritten before anybody saw it rests
    under nothing and costs nothing (`bounds.ladder`, `accountant.ancestors`; networks, statement T5).

    Exposure tells the parts apart where it adds up: a learn counts 3, a request 2. An odd sum has the learn in it, and with it the
    kept stages; the later stages of the last release count unless the record was gone when it ran.

    kept, later              the mechanism of every stage; kept_steps, later_steps: the noisy steps that it runs
    """

    method: ClassVar[str] = "ladder"
    source: ClassVar[str] = (
        "sum over the runs of stages that an observed model rests on, each Gaussian DP for every value of its inputs"
    )
    notes: ClassVar[tuple[str, ...]] = (f"Of the stages that a ladder keeps between requests: {KEPT}.",)
    nested: ClassVar[tuple[str, ...]] = ("kept", "later")

    kept: tuple[Mechanism, ...] = ()
    later: tuple[Mechanism, ...] = ()
    kept_steps: tuple[int, ...] = ()
    later_steps: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.later:
            raise InvalidParameter(
                "a ladder needs a stage that a deletion runs again; give later stages, or take 'composition'"
            )
        if len(self.kept) != len(self.kept_steps) or len(self.later) != len(self.later_steps):
            raise InvalidParameter("every stage of a ladder states its steps: as many numbers as stages")
        for stage, steps in (
            *zip(self.kept, self.kept_steps, strict=True),
            *zip(self.later, self.later_steps, strict=True),
        ):
            stage.check_steps(count("steps of a stage", steps))
            if stage.nested or stage.publishes != "model" or stage.shows_start or stage.records != self.records:
                raise InvalidParameter(
                    f"a run by {stage.method!r} on {stage.records} slots is no stage of this ladder of {self.records}: a stage starts at "
                    "a kept stage or at a public point, never where the last published model was"
                )

    @property
    def left(self) -> str:
        return "base" if self.kept else ""

    def conditions(self) -> tuple[Condition, ...]:
        inner = (condition for stage in (*self.kept, *self.later) for condition in stage.conditions())
        return (("stages-published", {}), *inner)

    @property
    def rows(self) -> int:
        return min(stage.rows for stage in (*self.kept, *self.later))

    @property
    def learn_steps(self) -> int:
        return sum(self.kept_steps) + sum(self.later_steps)

    def exposure(self, steps: int) -> int:
        return _LEARN if steps == self.learn_steps else _RERUN

    def check_steps(self, steps: int) -> None:
        if steps not in (self.learn_steps, sum(self.later_steps)):
            raise InvalidParameter(
                f"is not what this ladder runs: {self.learn_steps} steps to learn and {sum(self.later_steps)} for a request",
                steps=steps,
            )

    def stages_run(self, steps: int) -> tuple[tuple[int, Mechanism, int], ...]:
        runs = zip(
            range(len(self.kept) + len(self.later)),
            (*self.kept, *self.later),
            (*self.kept_steps, *self.later_steps),
            strict=True,
        )
        return tuple(runs)[0 if self.exposure(steps) == _LEARN else len(self.kept) :]

    def interval(self, about: str, worlds: str, *, steps_with: float, steps_without: float = 0) -> Guarantee:
        learned = steps_with == math.inf or steps_with % 2 == 1
        seen = [*(zip(self.kept, self.kept_steps, strict=True) if learned else ())]
        if steps_with and not steps_without:
            seen += zip(self.later, self.later_steps, strict=True)
        parts = [stage.interval(about, worlds, steps_with=stage.exposure(steps)) for stage, steps in seen]
        total = Guarantee.composed([(self.guarantee(about, Worlds(worlds)), 1), *((part, 1) for part in parts)])
        told = self.kept and about == "deletion"
        return replace(total, assumptions=(*total.assumptions, KEPT)) if told else total

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        raise NotImplementedError  # `interval` composes the stages

    def to_dict(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "records": self.records,
            "proven": self.proven,
            "slack": self.slack,
            "kept": [stage.to_dict() for stage in self.kept],
            "later": [stage.to_dict() for stage in self.later],
            "kept_steps": list(self.kept_steps),
            "later_steps": list(self.later_steps),
        }
