"""Staged training with partial retraining: stages are published; a deletion keeps the first and reruns the later ones.

Covers any network and any number of requests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..bounds import theorem_5_1
from ..errors import InvalidParameter, check_choice, check_count, check_positive
from ..losses.staged import HEAD, NETWORK, StagedLoss
from ..privacy.budget import Budget
from ..privacy.guarantee import Guarantee, Worlds
from ..privacy.sentences import format_bound
from . import moments
from .base import Condition, Cost, Mechanism
from .budget_split import Amounts
from .noisy_gd_composition import CompositionNoisyGD, check_sampled
from .output_perturbation import OutputPerturbation
from .plan import MOST_STAGES, Calibration, Method, Plan, method_of
from .problem import PlannedGuarantees, Problem, Sampling, WorstCaseRun
from .sampled_steps import SampledSteps, least_multiplier, sampled_epochs

# --- stages ---
#
# The stages of a ladder: the problem of each, and the plan of its run.


MOMENTS = "moments"
STAGE_KINDS = (NETWORK, HEAD, MOMENTS)


@dataclass(frozen=True)
class Stage:
    """One stage of a ladder.

    Attributes:
        kind: "network": noisy steps on the plan's loss, from the previous network stage (the first: from the initial
            law); "head": a logistic or softmax regression on the record and the last network's output for it, always
            solved from 0; "moments": a linear model of the same inputs by least squares on noisy moments, in one pass.
        steps: Noisy steps of a network; of a head the diffusion steps K (None trades noise against passes).
        step_size: η; None takes 1/(λ + curvature) for a network, 1/(λ+β) for a head.
        regularization: λ of this stage; None takes the plan's.
        share: Weight in the budget that the kept stages, or the later ones, share.
        sampling_rate: p; each step of a network uses a Poisson sample of the rows (DP-SGD), at a cost of p passes.
            None: all rows.
    """

    kind: str = NETWORK
    steps: int | None = None
    step_size: float | None = None
    regularization: float | None = None
    share: float = 1.0
    sampling_rate: float | None = None

    def __post_init__(self) -> None:
        check_choice("kind of a stage", self.kind, STAGE_KINDS)
        if self.steps is not None:
            check_count("steps of a stage", self.steps)
        elif self.kind == NETWORK:
            raise InvalidParameter("a network stage needs steps=, the number of noisy steps that it runs")
        for name in ("step_size", "regularization"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
        check_positive("share", self.share)
        if self.kind == MOMENTS and (self.steps, self.step_size) != (None, None):
            raise InvalidParameter("moments are made in one pass: leave steps and step_size out")
        if self.sampling_rate is not None:
            if self.kind != NETWORK:
                raise InvalidParameter(f"sampling_rate belongs to a network stage, not to one of kind {self.kind!r}")
            if not check_positive("sampling_rate", self.sampling_rate) < 1:
                raise InvalidParameter(
                    "must be below 1; leave it out for steps on all rows", sampling_rate=self.sampling_rate
                )

    @property
    def form(self) -> str:
        """Kind of the stage's weights: those of a network, or of a linear model on top of one."""
        return NETWORK if self.kind == NETWORK else HEAD


@dataclass(frozen=True)
class SampledStage(Method):
    """A stage of kind "network" with a sampling rate.

    Attributes:
        sampling_rate: p.
        draws: Number of steps.
        noise_multiplier: z, as charged.
    """

    name: ClassVar[str] = "sampled-steps"
    summary: ClassVar[str] = "a stage of a ladder: noisy steps on samples of the rows"

    sampling_rate: float
    draws: int
    noise_multiplier: float

    def plan(self, problem: Problem) -> Plan:
        """Raise InvalidParameter always: only `Staged` plans this stage, by `plan_sampled_stage`."""
        raise InvalidParameter(
            "steps on samples are a stage of a ladder: method 'staged' with Stage('network', steps, sampling_rate=) "
            "plans them"
        )

    def check_plan(self, plan: Plan) -> None:
        """Check `Method.check_plan`, `check_sampled`, and that σ² is at least that of the noise multiplier z."""
        super().check_plan(plan)
        check_sampled(plan.problem)
        lipschitz = plan.problem.loss.constants.lipschitz * (1 + plan.problem.slack)
        least = (
            plan.calibration.step_size
            * (self.noise_multiplier * lipschitz / (self.sampling_rate * plan.problem.records)) ** 2
            / 2
        )
        if not plan.calibration.noise_variance >= least * (1 - 1e-9):
            raise InvalidParameter(
                f"is below {least:g}, which noise_multiplier={self.noise_multiplier:g} is",
                noise_variance=plan.calibration.noise_variance,
            )

    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """Return the plan of a network stage on Poisson samples; both procedures carry the rate and the draws."""
        run = SampledSteps(
            records=problem.records,
            row_norm=problem.loss.radius,
            proven=problem.loss.constants.proven,
            sampling_rate=self.sampling_rate,
            noise_multiplier=self.noise_multiplier,
            draws=self.draws,
        )
        return Plan.of(problem, run, numbers, sampling=Sampling(self.sampling_rate, self.draws))


def of_stage(stage: Stage, number: int, problem: Problem, staged: StagedLoss, *, gdp: float, worlds: Worlds) -> Problem:
    """Return the problem of one stage, with a budget of μ = `gdp` for this neighbouring relation.

    It has the stage's loss, features and λ, one release, and neither utility condition nor slack, total, map or column
    layout.

    Args:
        stage: The stage.
        number: Its position in the ladder, from 0.
        problem: The problem of the ladder.
        staged: The losses of all stages.
        gdp: μ of the dp and of the deletion part, slack deducted.
        worlds: The relation of the budget; the stage's adjacency gives the same Δ.
    """
    return replace(
        problem,
        loss=staged.loss_of(number),
        features=staged.count_columns(number, problem.features),
        regularization=problem.regularization if stage.regularization is None else stage.regularization,
        budget=Budget.from_gdp(dp=gdp, deletion=gdp),
        # the same Δ under the names that methods calibrate by
        adjacency=Worlds.REPLACE if worlds.between_records else Worlds.ZERO_OUT,
        releases=1,
        utility=False,
        slack_in_budget=False,  # already subtracted from `gdp`
        requested_regularization=None,
        model_norm=None,
        one_hot_blocks=None,
        total=None,
        feature_map=None,
    )


def plan_stage(stage: Stage, own: Problem, *, gdp: float, order: float | None) -> Plan:
    """Return the plan of a stage that costs μ = `gdp`, whichever kind it is.

    A head is solved from 0 and diffused (output perturbation), moments are one pass of noisy least squares, and a
    network runs noisy steps by composition, or on samples if it has a sampling rate.

    Args:
        stage: The stage.
        own: Its problem, by `of_stage`.
        gdp: μ.
        order: Rényi order q at which a stage on samples is counted, as q gdp²/2; None only if it is not on samples.
    """
    if stage.kind == HEAD:
        solved = OutputPerturbation(solver="cold", diffusion_steps=stage.steps, step_size=stage.step_size)
        return solved.plan(replace(own, method=solved))
    if stage.kind == MOMENTS:
        return of_moments(own, gdp)
    assert stage.steps is not None
    eta = 1 / own.objective_smoothness if stage.step_size is None else stage.step_size
    if stage.sampling_rate is not None:
        assert order is not None
        return plan_sampled_stage(own, stage.steps, stage.sampling_rate, eta, gdp, order)
    rate = theorem_5_1.composition_rate(
        sensitivity=own.sensitivity(own.adjacency),
        noise_variance=1.0,
        records=own.records,
        step_size=eta,
        steps=stage.steps,
    )
    noise = 2 * rate / gdp**2
    counted = CompositionNoisyGD(learn_steps=stage.steps, delete_steps=stage.steps, step_size=eta, noise_variance=noise)
    return noisy_steps(replace(own, method=counted), eta, noise, stage.steps)


def noisy_steps(problem: Problem, step_size: float, noise_variance: float, steps: int) -> Plan:
    """Return the plan of a network stage with these numbers, by the problem's method, as its learn and as its request.

    Args:
        problem: The problem of the stage, with its method.
        step_size: η.
        noise_variance: σ².
        steps: K_A and K_Ā; passes for steps on samples.
    """
    numbers = Calibration(
        step_size=step_size,
        noise_variance=noise_variance,
        init_variance=getattr(problem.loss, "init_variance", noise_variance / problem.regularization),
        learn_steps=steps,
        delete_steps_for_deletion=steps,
    )
    return method_of(problem).assemble(problem, numbers)


def plan_sampled_stage(problem: Problem, draws: int, rate: float, step_size: float, gdp: float, order: float) -> Plan:
    """Return the plan of a network stage on samples with the least noise at which ε_q ≤ qμ²/2 at the order q.

    A step adds zL/(pn) to the mean gradient, with the slack included in z.

    Args:
        problem: The problem of the stage.
        draws: Number of steps.
        rate: p.
        step_size: η.
        gdp: μ.
        order: q.
    """
    multiplier = least_multiplier(
        order=order, allowed=order * gdp**2 / 2, sampling_rate=rate, draws=draws, worlds=problem.adjacency
    )
    lipschitz = problem.loss.constants.lipschitz * (1 + problem.slack)
    noise = step_size * (multiplier * lipschitz / (rate * problem.records)) ** 2 / 2
    sampled = SampledStage(sampling_rate=rate, draws=draws, noise_multiplier=multiplier)
    return noisy_steps(replace(problem, method=sampled), step_size, noise, sampled_epochs(rate, draws))


def of_moments(problem: Problem, gdp: float) -> Plan:
    """Return the plan of a stage of least squares on noisy moments that cost μ = `gdp`: one pass, no noisy step."""
    method = moments.plan_moments(problem, gdp, problem.adjacency)
    return method.assemble(replace(problem, method=method), Calibration(learn_steps=1, delete_steps_for_deletion=1))


def describe_stage(stage: Plan) -> str:
    """Return a phrase with what a stage runs, its steps or passes and its noise, by the method of its plan."""
    method = stage.method
    if isinstance(method, moments.Moments):
        return f"least squares on noisy moments, in one pass, noise of deviation {method.deviation:.4g} on sums of unit rows"
    if isinstance(method, SampledStage):
        return (
            f"{method.draws} noisy steps of size η={stage.calibration.step_size:.4g}, each on a random {100 * method.sampling_rate:.3g} % of the rows "
            f"({stage.calibration.learn_steps} passes), z={method.noise_multiplier:.4g}"
        )
    if isinstance(method, OutputPerturbation):
        return (
            f"a solve from 0 ({stage.calibration.learn_solver_passes} gradient passes by forecast) and {stage.calibration.learn_steps} diffusion steps, "
            f"σ²={stage.calibration.noise_variance:.4g}"
        )
    return f"{stage.calibration.learn_steps} noisy steps of size η={stage.calibration.step_size:.4g}, σ²={stage.calibration.noise_variance:.4g}"


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
        """Check `Method.check_plan`, and that every stage solves the problem of `of_stage` and its method covers it.

        Raises:
            InvalidParameter: If a stage differs in loss, sizes, λ or dtype, or is not covered.
        """
        super().check_plan(plan)
        staged, problem = self._staged(plan.problem), plan.problem
        for number, (asked, stage) in enumerate(zip(self.stages, plan.calibration.stages, strict=True)):
            due = of_stage(asked, number, problem, staged, gdp=1.0, worlds=problem.adjacency)
            for name in ("loss", "features", "records", "regularization", "rows_per_subject", "dtype"):
                if getattr(stage.problem, name) != getattr(due, name):
                    raise InvalidParameter(f"stage {number} of the ladder has another {name} than the problem")
            stage.method.check_plan(stage)

    def words(self, plan: Plan) -> tuple[str, ...]:
        """Return three paragraphs: stages with noise and cost; passes and what is kept; the limit of ε_dd.

        The limit: the figure for later models alone is false once a request depended on an earlier model.
        """
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


KEPT = "the base's ε_dd is not reduced by deletions: what the kept stages showed of an erased record stays until a fresh learn"

_LEARN, _RERUN = 3, 2  # exposures; see `StagedRun`


@dataclass(frozen=True, kw_only=True)
class StagedRun(Mechanism):
    """One learn runs every stage; a request reruns the later ones on the current rows, from the kept stages' outputs.

    A run e of a stage reads some rows and the outputs of other runs, its parents. For *every* value of its parents it
    is μ_e-GDP for one row against none. Then all that an observer of the runs O learns about one row is μ-GDP with

        μ² = Σ_{e ∈ An(O)} μ_e²,        each run once; An(O): O, its parents, their parents, ...

    *Proof.* Order An(O) so that parents come first. Given the outputs before it, each run is a μ_e-GDP mechanism,
    whatever those outputs are: adaptive composition (Dong, Roth & Su 2022, Cor. 3.3) bounds the joint law of An(O), of
    which O is a part. ∎ Runs outside An(O), overwritten before they were observed, are integrated out on both sides. A
    run that read no row of the data subject costs 0.

    So an observer pays for the kept stages of the last learn, if the record was there, and for the later stages of each
    release that was observed or that contained the record when observed. Requesters who choose edits by what they saw
    (V) make runs depend on V: then the sum is over An(O ∪ V), for a set fixed in advance or a sum capped beforehand. No
    decay of what a run reveals is claimed.

    Exposure identifies the parts by its sum: a learn counts 3, a request 2. An odd sum includes the learn, and with it
    the kept stages; the later stages of the last release count unless the record was erased when it ran.

    Attributes:
        kept: Mechanisms of the kept stages.
        later: Mechanisms of the later stages.
        kept_steps: Noisy steps of each kept stage.
        later_steps: Noisy steps of each later stage.
    """

    method: ClassVar[str] = "staged"
    source: ClassVar[str] = (
        "sum over the runs of stages that an observed model rests on, each Gaussian DP for every value of its inputs"
    )
    notes: ClassVar[tuple[str, ...]] = (f"Of the stages that a ladder keeps between requests: {KEPT}.",)

    kept: tuple[Mechanism, ...] = ()
    later: tuple[Mechanism, ...] = ()
    kept_steps: tuple[int, ...] = ()
    later_steps: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.later:
            raise InvalidParameter(
                "a ladder needs a stage that a deletion runs again; give later stages, or take 'noisy-gd:analysis=composition'"
            )
        if len(self.kept) != len(self.kept_steps) or len(self.later) != len(self.later_steps):
            raise InvalidParameter("every stage of a ladder states its steps: as many numbers as stages")
        for stage, steps in (
            *zip(self.kept, self.kept_steps, strict=True),
            *zip(self.later, self.later_steps, strict=True),
        ):
            stage.check(check_count("steps of a stage", steps))
            if isinstance(stage, StagedRun) or stage.left or stage.shows_start or stage.records != self.records:
                raise InvalidParameter(
                    f"a run by {stage.method!r} on {stage.records} slots is no stage of this ladder of {self.records}: a stage starts at "
                    "a kept stage or at a public point, never where the last published model was"
                )

    @property
    def left(self) -> str:
        """What an erasure does not remove: "base" if it keeps the first stages, else "" (nothing)."""
        return "base" if self.kept else ""

    def conditions(self) -> tuple[Condition, ...]:
        """Return that the stages are published, and the conditions of every stage."""
        inner = (condition for stage in (*self.kept, *self.later) for condition in stage.conditions())
        return (("stages-published", {}), *inner)

    @property
    def learn_steps(self) -> int:
        """Steps of all stages of a learn."""
        return sum(self.kept_steps) + sum(self.later_steps)

    def exposure(self, steps: int) -> int:
        """Return 3 for the steps of a learn, else 2; an odd sum includes a learn, for `interval`."""
        return _LEARN if steps == self.learn_steps else _RERUN

    def check(self, steps: int, *, fresh: bool | None = None, inserted: bool = False) -> None:
        """Check that `steps` is that of a learn (all stages) or of a request (the later ones), whatever `fresh` is."""
        if steps not in (self.learn_steps, sum(self.later_steps)):
            raise InvalidParameter(
                f"is not what this ladder runs: {self.learn_steps} steps to learn and {sum(self.later_steps)} for a request",
                steps=steps,
            )

    def stages_run(self, steps: int) -> tuple[tuple[int, Mechanism, int], ...]:
        """Return (position, mechanism, steps) of each stage that a release of `steps` noisy steps runs, in order.

        All stages if `steps` is that of a learn, else the later ones.
        """
        runs = zip(
            range(len(self.kept) + len(self.later)),
            (*self.kept, *self.later),
            (*self.kept_steps, *self.later_steps),
            strict=True,
        )
        return tuple(runs)[0 if self.exposure(steps) == _LEARN else len(self.kept) :]

    def interval(self, about: str, worlds: str, *, steps_with: float, steps_without: float = 0) -> Guarantee:
        """Return the sum over the stages that an observed model depends on, each counted once.

        The kept stages count if `steps_with` is odd or infinite (a learn), the later ones if `steps_with` > 0 and
        `steps_without` is 0. A deletion guarantee adds the condition that kept stages are not reduced.
        """
        learned = steps_with == math.inf or steps_with % 2 == 1
        seen = [*(zip(self.kept, self.kept_steps, strict=True) if learned else ())]
        if steps_with and not steps_without:
            seen += zip(self.later, self.later_steps, strict=True)
        parts = [stage.interval(about, worlds, steps_with=stage.exposure(steps)) for stage, steps in seen]
        rows = min(getattr(stage, "rows_per_subject", 1) for stage in (*self.kept, *self.later))
        total = Guarantee.composed(
            [(self._guarantee(about, Worlds(worlds), rows=rows), 1), *((part, 1) for part in parts)]
        )
        told = self.kept and about == "deletion"
        return replace(total, assumptions=(*total.assumptions, KEPT)) if told else total

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        raise NotImplementedError  # `interval` composes the stages

    def to_dict(self) -> dict[str, Any]:
        """Return the facts, with "kept" and "later" as lists of stage mechanisms and of their steps, as JSON."""
        return {
            "method": self.method,
            "records": self.records,
            "proven": self.proven,
            "slack": self.slack,
            "row_norm": self.row_norm,
            "kept": [stage.to_dict() for stage in self.kept],
            "later": [stage.to_dict() for stage in self.later],
            "kept_steps": list(self.kept_steps),
            "later_steps": list(self.later_steps),
        }
