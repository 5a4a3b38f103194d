"""Staged training with partial retraining: stages are published; a deletion keeps the first and reruns the later ones.

Covers any network and any number of requests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ..errors import InvalidParameter, check_count
from ..losses.staged import NETWORK, StagedLoss
from ..privacy.sentences import format_bound
from ..privacy.worlds import Worlds
from .budget_split import Amounts
from .noisy_gd_composition import check_sampled
from .plan import MOST_STAGES, Calibration, Method, Plan
from .problem import Problem
from .procedure import PlannedGuarantees, Sampling, WorstCaseRun
from .staged_run import KEPT, StagedRun
from .stages import Stage, describe_stage, of_stage, plan_stage

_MOST_KEPT = 0.5  # of the dp budget, in μ²: upper limit for the kept stages
_ROOM = 1 - 1e-12  # margin for the rounding of sums of squares


@dataclass(frozen=True)
class Staged(Method):
    """Least noise for which the kept stages cost ε_dd, and one release, later stages included, costs ε_dp.

    With l = `level` the stages 0…l are kept by a deletion and l+1…S are rerun on the current rows. For a record of the
    learn that is erased later, Σ_{j≤l} μ_j² is all that an observer of later models learns, after any number of
    requests that did not depend on earlier models; every release observed with the record adds Σ_{j>l} μ_j², whatever
    other requests did. A release costs present records Σ_j μ_j²; `releases` of them share the part of the later stages.

    Attributes:
        stages: Two or more, the first a network.
        level: l; −1 keeps nothing: every deletion is a fresh run of all stages, and ε_dd = 0.
    """

    name: ClassVar[str] = "staged"
    summary: ClassVar[str] = "networks: a published base at ε_dd, later stages run again at every deletion, no horizon"
    weighed: ClassVar[str] = "never"

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
                "deletion runs again; the one-stage case is method 'noisy-gd:analysis=composition'"
            )
        if check_count("level", self.level, minimum=-1) > len(self.stages) - 2:
            raise InvalidParameter(
                f"must lie between -1 (a deletion runs every stage again) and {len(self.stages) - 2} (it runs the last one "
                "again)",
                level=self.level,
            )

    @property
    def has_samples(self) -> bool:
        """Whether a stage uses samples of the rows."""
        return any(stage.sampling_rate is not None for stage in self.stages)

    def _staged(self, problem: Problem) -> StagedLoss:
        return StagedLoss(
            radius=problem.loss.radius, network=problem.loss, kinds=tuple(stage.form for stage in self.stages)
        )

    def plan(self, problem: Problem) -> Plan:
        """Return the plan with every stage calibrated: kept ones to ε_dd, later ones to the rest of ε_dp.

        Kept stages take at most half of the dp budget; the rest is divided by the number of releases. Within either
        group the budget is divided in proportion to `share`. With stages on samples, amounts are counted at Rényi
        orders instead of μ².

        Raises:
            InvalidParameter: If the loss is convex or has no Lipschitz constant, or the kept stages exceed their half.
            AssumptionViolated: If a stage on samples is not covered (`check_sampled`).
        """
        if problem.loss.constants.convex:
            raise InvalidParameter(
                f"is for networks; the {problem.loss.name} loss is convex, and 'noisy-gd', 'output-perturbation' or 'objective-perturbation' forget "
                "more for less: a linear model on what a network computes is the stage Stage('head') of a ladder",
                method="staged",
            )
        if not math.isfinite(problem.loss.constants.lipschitz):
            raise InvalidParameter(f"the {problem.loss.name} loss has no Lipschitz constant; clip its gradients to L")
        if self.has_samples:
            check_sampled(problem)
        amounts, staged, number = self._amounts(problem), self._staged(problem), self.level + 1
        kept, spent = self._kept(problem, staged, amounts)
        left = (amounts.dp - spent) / problem.releases
        numbers = range(number, len(self.stages))
        later = self._calibrated(problem, staged, numbers, left, problem.adjacency, amounts.dp_order)
        return self.assemble(problem, Calibration(stages=(*kept, *later)))

    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """Return the plan of its stages: the numbers of the first one, with the steps and passes of all.

        A learn counts every stage and a request the later ones. The deletion guarantee covers the kept stages of any
        number of requests, and the published model has the loss `losses.staged.StagedLoss`.

        Raises:
            InvalidParameter: If the number of stages differs from the method's.
        """
        stages, number = numbers.stages, self.level + 1
        kept, later = stages[:number], stages[number:]
        if len(stages) != len(self.stages):
            raise InvalidParameter(f"a ladder of {len(self.stages)} stages that keeps {number} has a plan for each")
        rerun = sum(stage.calibration.learn_steps for stage in later)
        numbers = replace(
            stages[0].calibration,
            learn_steps=sum(stage.calibration.learn_steps for stage in kept) + rerun,
            delete_steps_for_deletion=rerun,
            learn_solver_passes=sum(stage.calibration.learn_solver_passes for stage in stages),
            delete_solver_passes=sum(stage.calibration.learn_solver_passes for stage in later),
            horizon=None,
            stages=stages,
            kept=number,
        )
        run = StagedRun(
            records=problem.records,
            row_norm=problem.loss.radius,
            proven=problem.loss.constants.proven,
            slack=problem.slack,
            kept=tuple(stage.mechanism for stage in kept),
            later=tuple(stage.mechanism for stage in later),
            kept_steps=tuple(stage.calibration.learn_steps for stage in kept),
            later_steps=tuple(stage.calibration.learn_steps for stage in later),
        )
        promise = PlannedGuarantees(deletion=WorstCaseRun(steps_without=run.exposure(rerun)), counted_on=self._sampling)
        return Plan.of(problem, run, numbers, promise=promise, model_loss=self._staged(problem))

    def _amounts(self, problem: Problem) -> Amounts:
        """Return the budget's amounts; at the Rényi orders best for the first sampled stage, if there is one."""
        first = self._sampling
        if first is None:
            return Amounts(problem.dp_gdp() ** 2, problem.deletion_gdp() ** 2)
        return Amounts.at_orders(problem, first.rate, first.draws)

    @property
    def _sampling(self) -> Sampling | None:
        """Sampling of the first stage on samples."""
        steps = ((stage.sampling_rate, stage.steps) for stage in self.stages)
        return next((Sampling(rate, draws) for rate, draws in steps if rate is not None and draws is not None), None)

    def _kept(self, problem: Problem, staged: StagedLoss, amounts: Amounts) -> tuple[tuple[Plan, ...], float]:
        """Return the plans of the kept stages and their share of the dp budget, at most `_MOST_KEPT` of it."""
        if self.level < 0:
            return (), 0.0
        dp_per_dd = problem.sensitivity(problem.adjacency) / problem.sensitivity(problem.deletion_notion)
        most = _MOST_KEPT * amounts.dp
        allowed = min(amounts.deletion, most / dp_per_dd**2)
        for _ in range(60):
            numbers, notion = range(self.level + 1), problem.deletion_notion
            kept = self._calibrated(problem, staged, numbers, allowed, notion, amounts.deletion_order)
            spent = amounts.spent(
                [plan.mechanism for plan in kept], [plan.calibration.learn_steps for plan in kept], problem.adjacency
            )
            if spent <= most * (1 + 1e-9):
                return kept, spent
            allowed *= most / spent * (1 - 1e-3)  # replacing a record costs more than a doubled gradient's curve
        raise InvalidParameter(
            "the kept stages cannot be fitted into half of the dp budget; plan with adjacency 'zero-out', or without "
            "sampling_rate"
        )

    def _calibrated(
        self,
        problem: Problem,
        staged: StagedLoss,
        numbers: Sequence[int],
        squared: float,
        worlds: Worlds,
        order: float | None,
    ) -> tuple[Plan, ...]:
        """Return the plans of stages whose μ² sum to `squared`, or whose ε at an order q sum to q/2 times that."""
        whole = math.fsum(self.stages[j].share for j in numbers)
        made = []
        for j in numbers:
            stage = self.stages[j]
            gdp = math.sqrt(squared) * math.sqrt(stage.share / whole) * _ROOM
            own = of_stage(stage, j, problem, staged, gdp=gdp, worlds=worlds)
            made.append(plan_stage(stage, own, gdp=gdp, order=order))
        return tuple(made)

    def check_plan(self, plan: Plan) -> None:
        """Check `Method.check_plan`, and that every stage solves the problem of `of_stage` and its method covers it."""
        super().check_plan(plan)
        staged, problem = self._staged(plan.problem), plan.problem
        for number, (asked, stage) in enumerate(zip(self.stages, plan.calibration.stages, strict=True)):
            due = of_stage(asked, number, problem, staged, gdp=1.0, worlds=problem.adjacency)
            for name in ("loss", "features", "records", "regularization", "rows_per_subject", "dtype"):
                if getattr(stage.problem, name) != getattr(due, name):
                    raise InvalidParameter(f"stage {number} of the ladder has another {name} than the problem")
            stage.method.check_plan(stage)

    def words(self, plan: Plan) -> tuple[str, ...]:
        problem = plan.problem
        notion = problem.deletion_notion
        listed = []
        for number, (stage, asked) in enumerate(zip(plan.calibration.stages, self.stages, strict=True)):
            run = stage.mechanism
            cost = run.interval("deletion", notion, steps_with=run.exposure(stage.calibration.learn_steps))
            delta = problem.budget.shown_delta
            figure = (
                f"(ε={format_bound(cost.epsilon(delta))}, δ={format_bound(delta)})"
                if cost.gdp is None
                else f"μ={format_bound(cost.gdp)}"
            )
            fate = "kept by deletions" if number < plan.calibration.kept else "run again at every deletion"
            listed.append(
                f"  stage {number} ({asked.kind}, {fate}): {describe_stage(stage)}; {figure} between the worlds of deletion"
            )
        passes = plan.count_gradients()
        kept = (
            f"Of what is kept: {KEPT}."
            if plan.calibration.kept
            else "Nothing is kept, so nothing of a deleted record is: ε_dd is 0."
        )
        return (
            "\n".join(["Staged: every stage is published, and nothing else is kept between requests.", *listed]),
            f"A learn takes {passes['learn'] // problem.records} passes over the table, a deletion {passes['delete'] // problem.records}, "
            f"however many there were before: there is no horizon, and no fresh learn falls due. {kept}",
            "The figure for later models alone is false once a request depended on an earlier model: a requester may write what a "
            "model showed of a record into rows that stay. Then every release observed with the record counts in full.",
        )
