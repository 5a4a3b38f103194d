"""Audit of a plan by membership tests on synthetic worst-case records.

The tests attack the product's own kernel and compare the results with the accountant's claims. The worst case of every
certificate except Theorem 5.2's is the linear loss with a record of norm R, whose gradient is L in one direction for
all weights. (For weakly convex losses a concave quadratic is added, which turns λ into m.) The other slots are null and
add nothing. No row of any real table is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..accountant import Accountant, Event, EventKinds
from ..errors import AssumptionViolated, check_count, check_positive, check_probability
from ..losses import Linear
from ..methods.plan import Plan
from ..methods.procedure import Minimizer
from ..privacy.guarantee import Guarantee
from ..privacy.worlds import Worlds
from ..records import Records
from .attacks import Attack, LinearLikelihoodRatio, ShadowLikelihoodRatio, count_answers
from .simulation import Chains, Engine, SimulatedNoisyGD, World
from .verdict import AuditResult, AuditRow

_MOST_CHAINS, _MOST_RELEASES = 10_000_000, 1000  # more would not finish
QUESTIONS = 5  # number of questions about a plan with several later releases
CHUNK = 1 << 22  # most numbers in memory for one release of many chains

# maps shadow chains of both worlds, and the numbers of the observed releases, to an attack
Fit = Callable[[Sequence[Chains], Sequence[Chains], Sequence[int]], Attack]


@dataclass(frozen=True)
class Question:
    """Two worlds, the releases an adversary observes, and the accountant's guarantee for them.

    Attributes:
        name: The question as text.
        present: World with the record.
        absent: World without it.
        observed: Numbers of the observed releases, starting at 1.
        claimed: Guarantee of the accountant.
    """

    name: str
    present: World
    absent: World
    observed: frozenset[int]
    claimed: Guarantee


def is_simulated(plan: Plan) -> bool:
    """Return whether `audit` covers the plan: noisy steps on all rows, in one stage, of a method valid for the linear loss."""
    return plan.promise.unbounded and plan.learning.sampling is None and not plan.calibration.stages


def linear_engine(plan: Plan, *, later_releases: int = 1) -> SimulatedNoisyGD:
    """Return the plan's Noisy GD on the linear loss with the plan's L, in one dimension.

    Raises:
        AssumptionViolated: If the plan runs several stages in sequence, or takes its steps on samples: another algorithm.
    """
    numbers = plan.calibration
    if plan.learning.sampling is not None:
        raise AssumptionViolated(
            f"method {plan.method.name!r} takes steps on samples of the rows, and the audit takes them on all; use audit_releases or "
            "audit_one_run (`--by releases`, `--by one-run`), which run the product itself"
        )
    if numbers.stages:
        raise AssumptionViolated(
            f"method {plan.method.name!r} publishes {len(numbers.stages)} stages in a row, and the audit runs one: its figure would be about "
            "another algorithm. Use audit_releases or audit_one_run (`--by releases`, `--by one-run`), which run the product itself"
        )
    run, start = (
        plan.problem.run(step_size=numbers.step_size, noise_variance=numbers.noise_variance),
        plan.learning.start,
    )
    return SimulatedNoisyGD(
        loss=Linear(radius=run["lipschitz"] * plan.problem.rows_per_subject),
        slots=plan.problem.records,
        regularization=run["strong_convexity"],
        step_size=numbers.step_size,
        noise_variance=numbers.noise_variance,
        init_variance=numbers.init_variance,
        learn_steps=_enough(plan),
        delete_steps=numbers.delete_steps,
        later_releases=later_releases,
        from_minimiser=plan.mechanism.fresh,
        linear_term=numbers.linear_term,
        output_noise=numbers.output_noise,
        chain=start.chain if isinstance(start, Minimizer) else 1,
    )


def _enough(plan: Plan) -> int:
    """Return the learning steps after which a record's influence has 98 % of its final size.

    An audit can skip the remaining steps.
    """
    if plan.mechanism.fresh or not plan.problem.strong_convexity > 0:
        return plan.calibration.learn_steps
    return min(
        plan.calibration.learn_steps, math.ceil(4 / (plan.calibration.step_size * plan.problem.strong_convexity))
    )


def recorded_accountant(engine: SimulatedNoisyGD, plan: Plan) -> Accountant:
    """Return an accountant that has recorded exactly the runs of the engine."""
    learned = Event(EventKinds.LEARN, engine.learn_steps, 0, plan.mechanism)
    later = Event(EventKinds.UNLEARN, engine.delete_steps, 1, plan.mechanism)
    return Accountant(plan, [learned] + [later] * engine.later_releases)


def row_of(norm: float, label: float = 1.0) -> Records:
    """Return a table whose only occupied slot holds a record of one feature."""
    return Records([[norm]], [label])


@dataclass(frozen=True)
class Tables:
    """Tables from which the worlds of an audit are built.

    Attributes:
        there: Table with the attacked record.
        other: Neighbour for a present record: another record instead, or none, by the plan's adjacency.
        never: Neighbour for an erased record, by the plan's deletion notion.
        gone: Table after the erasure.
    """

    there: Records
    other: Records
    never: Records
    gone: Records


def make_questions(accountant: Accountant, tables: Tables) -> list[Question]:
    """Return the audit's questions, one for each set of observed releases, with its claim and its two worlds."""
    everything = frozenset(range(1, accountant.releases + 1))

    def of_present(name: str, seen: frozenset[int]) -> Question:
        worlds = World(tables.there, tables.there), World(tables.other, tables.other)
        return Question(name, *worlds, seen, accountant.dp_cumulative(observed=seen))

    def of_erased(name: str, seen: frozenset[int]) -> Question:
        worlds = World(tables.there, tables.gone), World(tables.never, tables.gone)
        return Question(name, *worlds, seen, accountant.deletion(1, 2, seen))

    later = [of_erased("erased record, releases from its erasure on", everything - {1})] if len(everything) > 2 else []
    return [
        of_present("record still there, the learned model", frozenset({1})),
        of_present("record still there, all releases", everything),
        of_erased("erased record, the release that erased it", frozenset({2})),
        *later,
        of_erased("erased record, the learned model and every later one", everything),
    ]


def linear_tables(plan: Plan, norm: float) -> Tables:
    """Return the tables of one record of this norm in one dimension, against the opposite record or none."""
    null = row_of(0.0)
    pair = (Worlds(plan.problem.adjacency), Worlds(plan.problem.deletion_notion))
    other, never = (row_of(-norm) if worlds.between_records else null for worlds in pair)
    return Tables(row_of(norm), other, never, null)


def simulate(engine: Engine, world: World, chains: int, generator: np.random.Generator) -> list[Chains]:
    """Return the engine's releases for many chains, run in pieces that fit in memory."""
    occupied = max(1, len(world.before), len(world.after), world.before.features.shape[1])
    piece = max(1, min(chains, CHUNK // occupied))
    parts = [engine(world, min(piece, chains - start), generator) for start in range(0, chains, piece)]
    return [np.concatenate(release) for release in zip(*parts, strict=True)]


class Jury:
    """Histories of each world, run once: half of them to fit attacks, the other half to count on."""

    def __init__(self, histories: Callable[[World], list[Chains]]) -> None:
        self.histories = cache(histories)

    def answer(self, question: Question, attacks: Mapping[str, Fit], *, error: float, factor: float) -> list[AuditRow]:
        """Return one row per attack on both worlds; the attacks share the error probability."""
        (fitted, present), (against, absent) = self._split(question.present), self._split(question.absent)
        rows = []
        for name, fit in attacks.items():
            attack = fit(fitted, against, sorted(question.observed))
            measured = count_answers(attack, present, absent, error=error / len(attacks))
            rows.append(AuditRow(question.name, name, question.claimed, measured, factor))
        return rows

    def _split(self, world: World) -> tuple[list[Chains], list[Chains]]:
        whole = self.histories(world)
        half = len(whole[0]) // 2
        return [release[:half] for release in whole], [release[half:] for release in whole]


def audit(
    plan: Plan,
    *,
    engine: Engine | None = None,
    chains: int = 20_000,
    later_releases: int = 3,
    false_alarm: float = 0.01,
    factor: float = 3.0,
    rng: np.random.Generator | None = None,
    progress: Callable[[int], None] | None = None,
) -> AuditResult:
    """Compare claimed with measured privacy for one plan.

    Args:
        plan: The plan.
        engine: The engine to audit, on the linear loss in one dimension; None for the product's own kernel with the
            plan's parameters.
        chains: Runs per world; shadow models are fitted to as many additional ones.
        later_releases: Releases published from the erasure on.
        false_alarm: Probability that an honest engine fails anywhere in the report.
        factor: Factor of the claim within which the measured bound must be for a row to pass.
        rng: Random number generator; None for a new one.
        progress: Callback that receives the number of questions answered.

    Raises:
        AssumptionViolated: If the plan's method does not cover the linear loss (Theorem 5.2 covers bounded losses
            only), or the plan runs several stages in sequence.
    """
    if not plan.promise.unbounded:
        raise AssumptionViolated(
            f"method {plan.method.name!r} does not cover the linear loss, the worst case that audit runs: bounded losses only, or (sums) classes"
        )
    check_count("chains", chains, minimum=100, maximum=_MOST_CHAINS)
    check_probability("false_alarm", false_alarm)
    check_positive("factor", factor)
    generator = np.random.default_rng() if rng is None else rng
    honest = linear_engine(plan, later_releases=check_count("later_releases", later_releases, maximum=_MOST_RELEASES))
    audited = make_questions(recorded_accountant(honest, plan), linear_tables(plan, honest.loss.radius))
    jury = Jury(lambda world: simulate(honest if engine is None else engine, world, 2 * chains, generator))
    rows: list[AuditRow] = []
    for done, question in enumerate(audited, start=1):
        exact = LinearLikelihoodRatio(honest, question.present, question.absent, question.observed)
        attacks: dict[str, Fit] = {
            "likelihood ratio": lambda *_, exact=exact: exact,
            "shadow model": ShadowLikelihoodRatio.fit,
        }
        rows += jury.answer(question, attacks, error=false_alarm / len(audited), factor=factor)
        if progress is not None:
            progress(done)
    notes = [
        f"worst case of L={plan.problem.loss.constants.lipschitz:g}: linear loss, one record among null slots, n={plan.problem.records}"
    ]
    if honest.learn_steps < plan.calibration.learn_steps:
        notes.append(
            f"learning was cut to {honest.learn_steps} of {plan.calibration.learn_steps} steps, and so were the claims"
        )
    return AuditResult(tuple(rows), chains, false_alarm, tuple(notes))
