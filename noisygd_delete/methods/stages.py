"""The stages of a ladder: the problem of each, and the plan of its run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..bounds import theorem_5_1
from ..errors import InvalidParameter, check_choice, check_count, check_positive
from ..losses.staged import HEAD, NETWORK, StagedLoss
from ..privacy.budget import Budget
from ..privacy.worlds import Worlds
from . import moments
from .noisy_gd_composition import CompositionNoisyGD, check_sampled
from .output_perturbation import OutputPerturbation
from .plan import Calibration, Method, Plan, method_of
from .problem import Problem
from .procedure import Sampling
from .sampled_steps import SampledSteps, least_multiplier, sampled_epochs

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
