"""The stages of a ladder, one by one: what is asked of each, and the plan of its run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..bounds import theorem_5_1
from ..errors import InvalidParameter, choice, count, positive
from ..losses.staged import HEAD, NETWORK, Staged
from ..privacy.budget import Budget
from ..privacy.worlds import Worlds
from . import moments
from .composition import Composition
from .minimiser import Minimiser
from .plan import Numbers, Plan
from .problem import Problem
from .sampled_steps import SampledStage, least_multiplier, passes

MOMENTS = "moments"
STAGE_KINDS = (NETWORK, HEAD, MOMENTS)


@dataclass(frozen=True)
class Stage:
    """One rung.

    kind            "network": noisy steps on the plan's loss, from the network stage before it (the first: from the initial law);
                    "head": a logistic or softmax regression on what the last network makes of a record beside the record itself, always solved from 0;
                    "moments": a linear model of the same by least squares on noisy moments, in one pass
    steps           noisy steps of a network; of a head the diffusion steps K (None weighs noise against passes)
    sampling_rate   p: each of the steps of a network on a Poisson sample of the rows (DP-SGD), at a p-th of a pass; None: on all rows
    step_size       η; None takes 1/(λ + curvature) for a network, 1/(λ+β) for a head
    regularization  λ of this stage; None takes the plan's
    share           of the budget that the kept stages, or the later ones, have together
    """

    kind: str = NETWORK
    steps: int | None = None
    step_size: float | None = None
    regularization: float | None = None
    share: float = 1.0
    sampling_rate: float | None = None

    def __post_init__(self) -> None:
        choice("kind of a stage", self.kind, STAGE_KINDS)
        if self.steps is not None:
            count("steps of a stage", self.steps)
        elif self.kind == NETWORK:
            raise InvalidParameter("a network stage needs steps=, the number of noisy steps that it runs")
        for name in ("step_size", "regularization"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        positive("share", self.share)
        if self.kind == MOMENTS and (self.steps, self.step_size) != (None, None):
            raise InvalidParameter("moments are made in one pass: leave steps and step_size out")
        if self.sampling_rate is not None:
            if self.kind != NETWORK:
                raise InvalidParameter(f"sampling_rate belongs to a network stage, not to one of kind {self.kind!r}")
            if not positive("sampling_rate", self.sampling_rate) < 1:
                raise InvalidParameter(
                    "must be below 1; leave it out for steps on all rows", sampling_rate=self.sampling_rate
                )

    @property
    def form(self) -> str:
        """What its weights are: those of a network, or of a linear model on top of one."""
        return NETWORK if self.kind == NETWORK else HEAD


def of_stage(stage: Stage, number: int, problem: Problem, staged: Staged, *, gdp: float, worlds: Worlds) -> Problem:
    """What a stage is trained for by itself, that may cost this μ between two worlds."""
    return replace(
        problem,
        loss=staged.loss_of(number),
        features=staged.features_of(number, problem.features),
        regularization=problem.regularization if stage.regularization is None else stage.regularization,
        budget=Budget.from_gdp(dp=gdp, deletion=gdp),
        # the same Δ under the names that a method calibrates by
        adjacency=Worlds.REPLACE if worlds.between_records else Worlds.ZERO_OUT,
        releases=1,
        utility=False,
        slack_in_budget=False,  # `gdp` has it taken off
        asked_regularization=None,
        model_norm=None,
        one_hot_blocks=None,
        total=None,
        feature_map=None,
    )


def planned(stage: Stage, own: Problem, *, gdp: float, order: float | None) -> Plan:
    """The plan of a stage that costs this μ.

    Args:
        own: as `of_stage` makes it.
        order: at which a stage on samples is counted, as q gdp²/2.
    """
    if stage.kind == HEAD:
        solved = Minimiser(solver="cold", diffusion_steps=stage.steps, step_size=stage.step_size)
        return solved.plan(replace(own, method=solved))
    if stage.kind == MOMENTS:
        return of_moments(own, gdp)
    assert stage.steps is not None
    eta = 1 / own.objective_smoothness if stage.step_size is None else stage.step_size
    if stage.sampling_rate is not None:
        assert order is not None
        return on_samples(own, stage.steps, stage.sampling_rate, eta, gdp, order)
    rate = theorem_5_1.composition_rate(
        sensitivity=own.sensitivity(own.adjacency),
        noise_variance=1.0,
        records=own.records,
        step_size=eta,
        steps=stage.steps,
    )
    noise = 2 * rate / gdp**2
    counted = Composition(learn_steps=stage.steps, delete_steps=stage.steps, step_size=eta, noise_variance=noise)
    return noisy_steps(replace(own, method=counted), eta, noise, stage.steps)


def noisy_steps(problem: Problem, step_size: float, noise_variance: float, steps: int) -> Plan:
    """A network stage of so many passes."""
    numbers = Numbers(
        step_size=step_size,
        noise_variance=noise_variance,
        init_variance=getattr(problem.loss, "init_variance", noise_variance / problem.regularization),
        learn_steps=steps,
        delete_steps_for_deletion=steps,
    )
    return problem.method.assemble(problem, numbers)


def on_samples(problem: Problem, draws: int, rate: float, step_size: float, gdp: float, order: float) -> Plan:
    """A network stage on samples: ε_q = qμ²/2 at the order q. A step adds zL/(pn) to the mean gradient, the slack inside z."""
    multiplier = least_multiplier(
        order=order, allowed=order * gdp**2 / 2, sampling_rate=rate, draws=draws, worlds=problem.adjacency
    )
    lipschitz = problem.loss.constants.lipschitz * (1 + problem.slack)
    noise = step_size * (multiplier * lipschitz / (rate * problem.records)) ** 2 / 2
    sampled = SampledStage(sampling_rate=rate, draws=draws, noise_multiplier=multiplier)
    return noisy_steps(replace(problem, method=sampled), step_size, noise, passes(rate, draws))


def of_moments(problem: Problem, gdp: float) -> Plan:
    """A stage of least squares on noisy moments: one pass, and nothing that a step size or an initial law would say."""
    method = moments.planned(problem, gdp, problem.adjacency)
    return method.assemble(replace(problem, method=method), Numbers(learn_steps=1, delete_steps_for_deletion=1))


def what_runs(stage: Plan) -> str:
    """What a stage runs, in words."""
    method = stage.method
    if isinstance(method, moments.Moments):
        return f"least squares on noisy moments, in one pass, noise of deviation {method.deviation:.4g} on sums of unit rows"
    if isinstance(method, SampledStage):
        return (
            f"{method.draws} noisy steps of size η={stage.step_size:.4g}, each on a random {100 * method.sampling_rate:.3g} % of the rows "
            f"({stage.learn_steps} passes), z={method.noise_multiplier:.4g}"
        )
    if isinstance(method, Minimiser):
        return (
            f"a solve from 0 ({stage.learn_solver_passes} gradient passes by forecast) and {stage.learn_steps} diffusion steps, "
            f"σ²={stage.noise_variance:.4g}"
        )
    return f"{stage.learn_steps} noisy steps of size η={stage.step_size:.4g}, σ²={stage.noise_variance:.4g}"
