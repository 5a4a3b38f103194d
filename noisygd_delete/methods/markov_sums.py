"""Markov sums: least squares from noisy second moments, many releases on one budget; the noise of each is recomputed, not kept.

A release's noise is carried on from the one before it, so a record costs something when it comes, while it stays and when it goes
(`bounds.markov_sums`), and nothing after that. The releases since the last fresh learn are accounted together, as one chain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from ..bounds import markov_sums
from ..errors import InvalidParameter, PlanInfeasible, count, positive, scale
from ..losses.base import Loss
from ..privacy.guarantee import NON_ADAPTIVE, Guarantee
from ..privacy.worlds import Worlds
from . import procedure
from .base import Condition, Cost, Mechanism, Method
from .plan import Plan
from .problem import Problem

BITS = 14  # of the grid, for rows of norm 1: its rounding costs about a percent of the noise at 200 columns
MOST_FEATURES, MOST_RELEASES = 1 << 12, 1 << 16  # numbers that get noise, and draws planned, one by one
_LABEL_RATIO, _RIDGE_SHARE = 0.6, 0.25  # β/R, and of the noise in the ridge: chosen on Adult
_EXACT = 1 << 53  # sums below it are exact in float64
_WIDEST = 1 << 72  # of σ²: what a draw carries on then fits into 64 bits, whatever is drawn
_TRIES = 64
_SOURCE = "Markov sums: a chain of exact discrete Gaussian releases, the noise of each recomputed from the one before"
_CONDITIONS = (
    "every edit of the table went through the curator, and each model was made from one release",
    "rows of all releases count together: one that left and comes back, under whatever id or person, is one row more",
)


@dataclass(frozen=True, kw_only=True)
class SumsRun(Mechanism):
    """Facts of a chain of draws, the same for each: where a draw stands in it tells its c and σ².

    features, outputs  D and k of the matrix and the label sums
    norm_squared       R², in steps of the grid: no row is longer
    label_weight       β, in steps
    variance           V, in steps²: of every draw, or about that
    releases           T, draws that the schedule is for
    joiners            whether rows may be inserted; else a row is there from the first draw of a chain
    rows_per_subject   m rows of one person count as one record, rows that were erased included
    """

    method: ClassVar[str] = "sums"
    source: ClassVar[str] = _SOURCE
    continues: ClassVar[bool] = True

    features: int
    outputs: int
    norm_squared: int
    label_weight: int
    variance: float
    releases: int
    joiners: bool = True
    rows_per_subject: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("features", "outputs", "norm_squared", "label_weight", "rows_per_subject"):
            count(name, getattr(self, name))
        count("releases", self.releases, maximum=MOST_RELEASES)
        positive("variance", self.variance)
        if not self.charges(Worlds.REPLACE)[0] < math.inf:
            raise InvalidParameter("is too little noise for the grid", variance=self.variance)

    @property
    def rows(self) -> int:
        return self.rows_per_subject

    def exposure(self, steps: int) -> int:
        return 1

    def check_steps(self, steps: int) -> None:
        if steps:
            raise InvalidParameter("must be 0: a release by 'sums' has no noisy steps", steps=steps)

    def check_inserted(self, *, fresh: bool) -> None:
        if not (fresh or self.joiners):
            raise InvalidParameter("must be true: the release took in new records", joiners=False)

    @property
    def draws(self) -> list[tuple[float, float]]:
        """(c, σ²) of each draw; c = 0 for the first."""
        return markov_sums.equaliser(releases=self.releases, variance=self.variance)

    def apart(self, *, between_records: bool) -> float:
        """Δ of one row, in steps²."""
        facts = {"norm_squared": self.norm_squared, "label_weight": self.label_weight}
        return markov_sums.sensitivity(between_records=between_records, **facts)

    def charges(self, worlds: Worlds) -> tuple[float, ...]:
        """μ² after each draw, of the record that costs most, whenever it came and went; a cap whatever the requests depend on."""
        return _charges(self, worlds.between_records)

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        """Of a record in so many draws of a chain, and in none of those after: all of them observed."""
        charges = self.charges(worlds)
        if steps_with > self.releases and steps_with < math.inf:  # beyond the schedule: no draw that it knows
            return {"gdp_squared": math.inf}
        number = min(steps_with + (1 if steps_without else 0), self.releases)
        return {"gdp_squared": charges[int(number) - 1]}

    def conditions(self) -> tuple[Condition, ...]:
        own = {"method": self.method}
        return (
            *super().conditions(),
            ("sums-carried", own),
            ("sums-all-rows", {"rows_per_person": self.rows_per_subject}),
            ("exact-noise", own),
            ("machine-trusted", {}),
        )


@lru_cache(maxsize=256)
def _charges(run: SumsRun, between_records: bool) -> tuple[float, ...]:
    draws, weight = run.draws, run.label_weight
    apart = run.apart(between_records=between_records)
    rounded = markov_sums.rounding(features=run.features, outputs=run.outputs, label_weight=weight)
    least = min(variance for _, variance in draws)
    factor = markov_sums.gaussian_factor(variance=least, label_weight=weight) * float(run.rows_per_subject) ** 2
    worst = markov_sums.worst_charges(draws=draws, apart=apart, rounded=rounded, joiners=run.joiners)
    return tuple(each * factor for each in worst)


@dataclass(frozen=True)
class SumsPlan:
    """T releases that are μ-GDP together, of the second moments and label sums of a table. `plan_sums` makes it.

    loss              what the weights predict by; its radius bounds every row
    records           n, slots; features: D, the constant column included
    releases          T, the learn among them
    gdp               μ of all releases together, between the `adjacency` worlds
    variance          V, in steps² of the grid
    joiners           whether rows may be inserted; else the budget covers those there from the first, and is worth more
    rows_per_subject  m rows of one person count as one record, rows that were erased included
    label_weight      β, in steps
    regularization    λ of the least squares, per slot
    """

    loss: Loss
    records: int
    features: int
    releases: int
    gdp: float
    variance: int
    adjacency: Worlds
    joiners: bool
    rows_per_subject: int
    label_weight: int
    regularization: float
    bits: int  # of the grid: numbers of a row are multiples of 2^−bits

    @property
    def _facts(self) -> dict[str, Any]:
        return {
            "records": self.records, "features": self.features, "outputs": self.outputs, "norm_squared": self.norm_squared,
            "label_weight": self.label_weight, "releases": self.releases, "joiners": self.joiners, "rows_per_subject": self.rows_per_subject,
        }  # fmt: skip

    @cached_property
    def run(self) -> SumsRun:
        """What the accountant sees."""
        return SumsRun(**self._facts, variance=float(self.variance))

    @cached_property
    def draws(self) -> list[tuple[Fraction, int]]:
        """(c, σ²) of each release, σ² rounded up; c = 0 for the first."""
        return [(Fraction(carry), math.ceil(variance)) for carry, variance in self.run.draws]

    @property
    def outputs(self) -> int:
        return self.loss.outputs

    @property
    def norm_squared(self) -> int:
        """R² in steps², rounded down."""
        return norm_squared(self.loss)

    @property
    def ridge(self) -> float:
        """Added to the noisy matrix: nλ, and a share of what its noise moves it by (the norm of a symmetric Gaussian matrix)."""
        noise = math.sqrt(2.0 * self.variance * self.features)
        return self.records * self.regularization * 4.0**self.bits + _RIDGE_SHARE * noise

    def charges(self, worlds: Worlds) -> tuple[float, ...]:
        """μ² after each release, of the record that costs most, every release observed; a cap whatever the requests depend on."""
        return self.run.charges(worlds)

    def observed(self, worlds: Worlds, releases: int) -> Guarantee:
        """Of the first so many releases together."""
        return self._guarantee(worlds, self.charges(worlds)[releases - 1])

    def later(self, worlds: Worlds = Worlds.DEFINITION_4_1) -> Guarantee:
        """An erased record, all later releases and none before: exactly nothing, if requests did not depend on earlier models."""
        return self._guarantee(worlds, 0.0).assuming(NON_ADAPTIVE)

    def _guarantee(self, worlds: Worlds, squared: float) -> Guarantee:
        most = f"no person ever had more than {self.rows_per_subject} rows, those that were erased included"
        assumed = (*_CONDITIONS, most) if self.rows_per_subject > 1 else _CONDITIONS
        kept: dict[str, Any] = {"rows": self.rows_per_subject, "source": _SOURCE, "assumptions": assumed}
        return Guarantee(about=worlds.about, adjacency=worlds, gdp_squared=squared, **kept)


def plan_sums(
    loss: Loss,
    *,
    records: int,
    features: int,
    releases: int,
    gdp: float = 1.0,
    adjacency: str = Worlds.REPLACE,
    joiners: bool = True,
    rows_per_subject: int = 1,
    regularization: float = 1e-3,
) -> SumsPlan:
    """The least noise with which so many releases are `gdp`-GDP together, whenever a record comes and goes.

    Args:
        loss: `Logistic` (labels ±1) or `Softmax` (classes), whose radius bounds the rows' norm.
        joiners: False where no row will ever be inserted: about a third less noise.

    Raises:
        InvalidParameter: a value is outside its range, or the sums would not be exact.
    """
    if loss.label_kind not in ("binary", "class") or not math.isfinite(loss.radius):
        raise InvalidParameter(f"sums are for classes: take losses.Logistic or losses.Softmax, not {loss.name}")
    sizes = {"records": records, "features": features, "releases": releases, "rows_per_subject": rows_per_subject}
    most = {"features": MOST_FEATURES, "releases": MOST_RELEASES}
    for name, value in sizes.items():
        count(name, value, maximum=most.get(name, 2**53))
    allowed = positive("gdp", gdp)
    bits, weight = grid_of(loss)
    plan = SumsPlan(
        loss=loss, **sizes, gdp=float(gdp), variance=1, adjacency=Worlds(adjacency), joiners=bool(joiners),
        label_weight=weight, regularization=scale("regularization", regularization), bits=bits,
    )  # fmt: skip
    _check_exact(loss, records)
    found = _least_noise(plan._facts, allowed**2, plan.adjacency)
    if found is None:
        raise InvalidParameter("takes more noise than the grid carries; raise it, or ask for fewer releases", gdp=gdp)
    return replace(plan, variance=int(found.variance))


def grid_of(loss: Loss) -> tuple[int, int]:
    """(bits, β in steps): public, from the radius alone."""
    bits = BITS + 1 - math.frexp(loss.radius)[1]
    return bits, math.floor(_LABEL_RATIO * math.ldexp(loss.radius, bits) + 0.5)


def norm_squared(loss: Loss) -> int:
    """R² in steps² of the grid."""
    return math.floor(math.ldexp(loss.radius * loss.radius, 2 * grid_of(loss)[0]))


def _check_exact(loss: Loss, records: int) -> None:
    if not records * norm_squared(loss) < _EXACT:
        raise InvalidParameter(
            f"is more than {_EXACT // norm_squared(loss)}, up to which sums of rows of norm {loss.radius:g} are exact; scale the rows down",
            records=records,
        )


def _least_noise(facts: dict[str, Any], squared: float, worlds: Worlds) -> SumsRun | None:
    """The run with the least V, checked, whose releases together have at most this μ²; None where the grid does not carry it.

    A draw has at least V/(1 + √(T/2)), of which Gaussian DP takes 144 max(2, β²): `gaussian_factor`.
    """
    least = 1000 * facts["label_weight"] ** 2 * (1 + math.isqrt(facts["releases"]))
    apart = markov_sums.sensitivity(
        norm_squared=facts["norm_squared"], label_weight=facts["label_weight"], between_records=worlds.between_records
    )
    variance = float(max(math.ceil(apart**2 / squared), least))
    for _ in range(_TRIES):
        if variance > _WIDEST:
            break
        run = SumsRun(**facts, variance=variance)
        spent = run.charges(worlds)[-1]
        if spent <= squared:
            return run
        variance = float(math.ceil(variance * spent / squared * (1 + 2.0**-40)))
    return None


@dataclass(frozen=True)
class Sums(Method):
    """V such that all releases together are within the dp budget, whenever a record comes and goes; deletion is owed to nobody who saw
    later models alone.

    joiners  whether rows may be inserted; without, about a third less noise
    """

    name: ClassVar[str] = "sums"
    summary: ClassVar[str] = (
        "many publications: least squares from sums whose noise is carried on; a row that left leaves nothing"
    )
    for_streams: ClassVar[bool] = True
    compared: ClassVar[bool] = False

    joiners: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.joiners, bool):
            raise InvalidParameter("must be true or false", joiners=self.joiners)

    @property
    def covers_unbounded(self) -> bool:
        return False

    @property
    def takes(self) -> tuple[str, ...]:
        return ("deleted", "inserted") if self.joiners else ("deleted",)

    def plan(self, problem: Problem) -> Plan:
        _check_covered(problem)
        squared = problem.budget.dp_gdp() ** 2
        run = _least_noise(self._facts(problem), squared, problem.adjacency)
        if run is None:
            raise PlanInfeasible(
                f"{problem.budget.describe()} over {problem.releases} releases takes more noise than the grid carries; raise the budget, or "
                "ask for fewer releases",
            )
        return Plan(
            problem=problem,
            step_size=0.0,
            noise_variance=math.ldexp(run.variance, -2 * grid_of(problem.loss)[0]),
            init_variance=0.0,
            learn_steps=0,
            delete_steps_for_deletion=0,
            delete_steps_for_utility=0,
            learn_solver_passes=1,
            delete_solver_passes=1,
        )

    def _facts(self, problem: Problem) -> dict[str, Any]:
        return {
            "records": problem.records,
            "features": problem.features,
            "outputs": problem.loss.outputs,
            "norm_squared": norm_squared(problem.loss),
            "label_weight": grid_of(problem.loss)[1],
            "releases": problem.releases,
            "joiners": self.joiners,
            "rows_per_subject": problem.rows_per_subject,
        }

    def check_plan(self, plan: Plan) -> None:
        super().check_plan(plan)
        _check_covered(plan.problem)

    def mechanism(self, plan: Plan) -> SumsRun:
        variance = math.ldexp(plan.noise_variance, 2 * grid_of(plan.loss)[0])
        return SumsRun(**self._facts(plan.problem), variance=variance)

    def start(self, plan: Plan, *, learning: bool) -> procedure.Start:
        bits, weight = grid_of(plan.loss)
        noise = math.sqrt(2.0 * plan.noise_variance * plan.features)  # the norm of a symmetric Gaussian matrix
        ridge = plan.records * plan.regularization + _RIDGE_SHARE * noise
        run = self.mechanism(plan)
        return procedure.Carried(run.draws, bits, run.norm_squared, weight, math.ldexp(ridge, 2 * bits))

    def deletion(self, plan: Plan) -> Guarantee:
        """Exactly nothing: what is carried on is noise alone."""
        return plan.mechanism.interval("deletion", plan.problem.deletion_notion, steps_with=0).assuming(NON_ADAPTIVE)

    def excess_risk(self, plan: Plan) -> float:
        return math.inf

    def weight_deviation(self, plan: Plan) -> float:
        return math.inf

    def noise(self, plan: Plan) -> str:
        return f"V={plan.noise_variance:.6g}"

    def words(self, plan: Plan) -> tuple[str, ...]:
        at_once = plan.mechanism.interval("dp", plan.problem.adjacency, steps_with=1).gdp_squared
        together = plan.mechanism.interval("dp", plan.problem.adjacency, steps_with=math.inf).gdp_squared
        who = "whenever a record comes and goes" if self.joiners else "whenever a record goes; none may be inserted"
        return (
            f"Sums: every release is least squares from second moments and label sums with noise of variance V={plan.noise_variance:.6g} (a row "
            f"of norm 1 counts 1), carried on from the release before: {plan.releases} releases together cost {together / at_once:.4g} times what "
            f"the first costs alone in μ², {who}; fresh noise would cost {plan.releases} times.",
            "Exactly: sums are whole numbers of a public grid and the noise is an exact discrete Gaussian. What a release carries on is "
            "recomputed from the release before and the table as that one left it, so rows go after the draw. Edits that no draw was made for "
            "(a deletion that is published later) end the chain: the next release begins another, and the costs of both add up.",
        )


def _check_covered(problem: Problem) -> None:
    loss = problem.loss
    if loss.label_kind not in ("binary", "class") or not math.isfinite(loss.radius) or loss.loss_of_fit != 1:
        raise InvalidParameter(
            f"is least squares for classes: take losses.Logistic or losses.Softmax, not {loss.name}", method="sums"
        )
    count("features", problem.features, maximum=MOST_FEATURES)
    if problem.releases < 2:
        raise InvalidParameter(
            "must be at least 2 by method 'sums', whose noise is planned for all of them: state how many releases there will be",
            releases=problem.releases,
        )
    count("releases", problem.releases, maximum=MOST_RELEASES)
    _check_exact(loss, problem.records)
