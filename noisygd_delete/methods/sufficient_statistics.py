"""Sufficient-statistics perturbation with correlated noise: least squares from noisy second moments.

One budget covers many releases. A release carries over noise from the previous one, which is recomputed, not stored. A
record costs privacy when it is inserted, while it is present and when it leaves (`bounds.correlated_sums`), and nothing
after that. The releases since the last fresh learn are accounted together, as one chain.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from ..bounds import correlated_sums
from ..errors import InvalidParameter, PlanInfeasible, check_count, check_positive
from ..losses.base import Loss
from ..losses.logistic import Logistic
from ..losses.softmax import Softmax
from ..losses.squared import Squared
from ..privacy.guarantee import Guarantee
from ..privacy.worlds import Worlds
from . import procedure
from .base import BY_PERSON, Condition, Cost, SingleRelease, WeighedRun
from .forecast import Prospects, estimated_norm
from .plan import Calibration, Method, Plan
from .problem import Problem

BITS = 14  # of the grid, for rows of norm 1: its rounding costs about 1 % of the noise at 200 columns
LABEL_BITS = 10  # of a target's grid
MOST_FEATURES, MOST_RELEASES = 1 << 12, 1 << 16  # limits on the columns of the noisy matrix and on the planned draws
LABEL_RATIO, RIDGE_SHARE = 0.6, 0.25  # β/R, and of the noise in the ridge
_CODED_SHARE = 0.45  # of the noise in the ridges, if it was shrunk
_OF_A_LINE = 0.01  # nats: cost of least squares compared with a model of the odds
_EXACT = 1 << 53  # sums below it are exact in float64
_WIDEST = 1 << 72  # of σ²: the noise carried over then fits into 64 bits, whatever is drawn
_TRIES = 64
SOURCE = "Markov sums: a chain of exact discrete Gaussian releases, the noise of each recomputed from the one before"


@dataclass(frozen=True, kw_only=True)
class SufficientStatisticsRun(WeighedRun, SingleRelease):
    """Facts of a chain of draws, the same for every draw; its position in the chain determines c and σ².

    Attributes:
        features: D of the matrix and the label sums, or more: counted rows have fewer directions than features.
        outputs: k of the label sums.
        norm_squared: R², an upper bound on the squared row norm, in steps² of the grid.
        label_weight: β, in steps.
        variance: V, in steps², of every draw, or approximately that.
        releases: T, the number of draws in the schedule.
        joiners: Whether rows may be inserted; otherwise a row is present from the first draw of a chain.
        rows_per_subject: Number of rows of one data subject that count as one record, including erased rows.
    """

    method: ClassVar[str] = "sufficient-statistics"
    source: ClassVar[str] = SOURCE
    steps: ClassVar[int] = 0

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
            check_count(name, getattr(self, name))
        check_count("releases", self.releases, maximum=MOST_RELEASES)
        check_positive("variance", self.variance)
        if not self.charges(Worlds.REPLACE)[0] < math.inf:
            raise InvalidParameter("is too little noise for the grid", variance=self.variance)

    @property
    def carries(self) -> SufficientStatisticsRun:
        """The run itself: the noise of a release continues that of the release before."""
        return self

    def check(self, steps: int, *, fresh: bool | None = None, inserted: bool = False) -> None:
        super().check(steps)
        if inserted and not (fresh or self.joiners):
            raise InvalidParameter("must be true: the release took in new records", joiners=False)

    @property
    def draws(self) -> list[tuple[float, float]]:
        """(c, σ²) of each draw; c = 0 for the first."""
        return correlated_sums.equalizer_schedule(releases=self.releases, variance=self.variance)

    def apart(self, *, between_records: bool) -> float:
        """Return Δ of one row, the distance of its products and label sums from another row's or from none, in steps².

        Args:
            between_records: Whether two records are compared, or a record and the null record.
        """
        facts = {"norm_squared": self.norm_squared, "label_weight": self.label_weight}
        return correlated_sums.sensitivity(between_records=between_records, **facts)

    def charges(self, worlds: Worlds) -> tuple[float, ...]:
        """Return μ² after each of the draws for the costliest record, whenever it is inserted and erased.

        The values increase, one for each release of the schedule. They are upper bounds whatever the requests depend
        on.
        """
        return _charges(self, worlds.between_records, True)

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float, leaves: bool = True) -> Cost:
        """Return the cost of a record in `steps_with` draws of a chain and in none after them, all of them observed."""
        charges = _charges(self, worlds.between_records, leaves)
        if steps_with > self.releases and steps_with < math.inf:  # beyond the schedule
            return {"gdp_squared": math.inf}
        number = min(steps_with + (1 if steps_without else 0), self.releases)
        return {"gdp_squared": charges[int(number) - 1]}

    def staying(self, about: str, worlds: str, *, steps_with: float, steps_without: float = 0) -> Guarantee:
        """Return `interval` for a record still present after all these draws, without the cost of its removal.

        See `NoiseChain.staying`: `steps_without` > 0 counts as one more draw; infinite beyond the schedule.
        """
        between = Worlds(worlds)
        return self._guarantee(about, between, **self._cost(between, steps_with, steps_without, leaves=False))

    def patched(self, worlds: str, *, draws: int, variance: int) -> Guarantee:
        """Return the deletion guarantee of a record removed by a patch of this variance.

        It covers an observer of the patch and of all `draws` draws before it.

        Args:
            worlds: The neighbouring relation.
            draws: Number of draws before the patch, each with the record.
            variance: σ² of the patch's noise, in the unit of the run's `variance`.
        """
        between, weight = Worlds(worlds), self.label_weight
        apart = self.apart(between_records=between.between_records)
        left = (
            correlated_sums.draw_cost(carry=1, variance=variance, apart=apart, rounded=0.0, left=1)
            * float(self.charged_rows) ** 2
        )
        left *= correlated_sums.gaussian_factor(variance=variance, label_weight=weight)
        stayed = _charges(self, between.between_records, False)[draws - 1]
        return self._guarantee("deletion", between, gdp_squared=stayed + left)

    def conditions(self) -> tuple[Condition, ...]:
        own = {"method": self.method}
        return (
            *super().conditions(),
            ("sums-carried", own),
            ("persons-once", {})
            if self.weighting == BY_PERSON
            else ("sums-all-rows", {"rows_per_person": self.rows_per_subject}),
            ("exact-noise", own),
            ("machine-trusted", {}),
        )


@lru_cache(maxsize=256)
def _charges(run: SufficientStatisticsRun, between_records: bool, leaves: bool) -> tuple[float, ...]:
    draws, weight = run.draws, run.label_weight
    apart = run.apart(between_records=between_records)
    rounded = correlated_sums.rounding_norm(features=run.features, outputs=run.outputs, label_weight=weight)
    least = min(variance for _, variance in draws)
    factor = correlated_sums.gaussian_factor(variance=least, label_weight=weight) * float(run.charged_rows) ** 2
    chain: dict[str, Any] = {"draws": draws, "apart": apart, "rounded": rounded, "joiners": run.joiners}
    worst = correlated_sums.worst_charges(**chain, leaves=leaves)
    return tuple(each * factor for each in worst)


def grid_of(loss: Loss) -> tuple[int, int]:
    """Return (bits, β): the rows' grid has step 2^−bits, between R/2^14 and R/2^15, and β is 0.6 R in those steps.

    β is the weight of the label beside the row. Both are public, since they depend on the radius only.
    """
    bits = BITS + 1 - math.frexp(loss.radius)[1]
    return bits, math.floor(LABEL_RATIO * math.ldexp(loss.radius, bits) + 0.5)


def label_bits(problem: Problem) -> int:
    """Return the bits of a label's grid in [−1, 1]: 10 for targets and for rows weighted by person, else 0."""
    return LABEL_BITS if problem.loss.label_kind == "target" or problem.by_person else 0


def norm_squared(loss: Loss) -> int:
    """Return R² in steps² of the grid, rounded down."""
    return math.floor(math.ldexp(loss.radius * loss.radius, 2 * grid_of(loss)[0]))


def check_exact(loss: Loss, records: int) -> None:
    """Check that sums of products of this many rows of norm R are exact in float64 (below 2^53 grid units).

    Raises:
        InvalidParameter: If they are not.
    """
    most = (_EXACT - 1) // norm_squared(loss)
    if records > most:
        raise InvalidParameter(
            f"is more than {most}, up to which sums of rows of norm {loss.radius:g} are exact; scale the rows down",
            records=records,
        )


def least_noise(facts: dict[str, Any], squared: float, worlds: Worlds) -> SufficientStatisticsRun | None:
    """Return the run with the least V whose releases together have at most this μ²; None if the grid cannot hold it.

    A draw has variance at least V/(1 + √(T/2)), of which Gaussian DP takes 144 max(2, β²): `gaussian_factor`.

    Args:
        facts: Fields of the run except its variance.
        squared: μ² of all releases together.
        worlds: The neighbouring relation.
    """
    least = 1000 * facts["label_weight"] ** 2 * (1 + math.isqrt(facts["releases"]))
    apart = correlated_sums.sensitivity(
        norm_squared=facts["norm_squared"], label_weight=facts["label_weight"], between_records=worlds.between_records
    )
    variance = float(max(math.ceil(apart**2 / squared), least))
    for _ in range(_TRIES):
        if variance > _WIDEST:
            break
        run = SufficientStatisticsRun(**facts, variance=variance)
        spent = run.charges(worlds)[-1]
        if spent <= squared:
            return run
        variance = float(math.ceil(variance * spent / squared * (1 + 2.0**-40)))
    return None


@dataclass(frozen=True)
class SufficientStatistics(Method):
    """V such that all releases together are within the dp budget, whenever a record is inserted or erased.

    An observer of later models only learns nothing about an erased record.

    Attributes:
        joiners: Whether rows may be inserted; without, about a third less noise.
        map: The public additive map that makes the rows, of norm R and with a constant, as JSON or as a map object; its
            codes are then counted.
    """

    name: ClassVar[str] = "sufficient-statistics"
    summary: ClassVar[str] = (
        "many publications: least squares from sums whose noise is carried on; a row that left leaves nothing"
    )
    weighed: ClassVar[str] = "for several publications"
    own_ridge: ClassVar[bool] = True
    weighs_persons: ClassVar[bool] = True

    joiners: bool = True
    map: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.joiners, bool):
            raise InvalidParameter("must be true or false", joiners=self.joiners)
        given: Any = self.map
        if given is not None and not isinstance(given, str):
            object.__setattr__(self, "map", json.dumps(given.to_dict()))

    def covers_weights(self, loss: Loss) -> bool:
        """Return True: what a row adds to the sums may be divided by any number, whatever the loss."""
        return True

    def check_any_order(self, problem: Problem, instead: str) -> None:
        """Accept every problem: sums do not depend on the order of the rows."""

    def plan(self, problem: Problem) -> Plan:
        """Return the plan with the least V for all releases together, by the dp budget as a μ.

        The plan's `noise_variance` is V/4^bits, V counted in the unit of the run.

        Raises:
            InvalidParameter: If the loss, the number of features or releases, exactness or the map's width is not
                covered.
            PlanInfeasible: If the budget needs more noise than the grid carries.
        """
        self._check_covered(problem)
        self._check_map(problem.features)
        squared = problem.budget.dp_gdp() ** 2
        run = least_noise(self._facts(problem), squared, problem.adjacency)
        if run is None:
            raise PlanInfeasible(
                f"{problem.budget.describe()} over {problem.releases} releases takes more noise than the grid carries; raise the budget, or "
                "ask for fewer releases",
            )
        variance = math.ldexp(run.variance, -2 * grid_of(problem.loss)[0])
        numbers = Calibration(noise_variance=variance, learn_solver_passes=1, delete_solver_passes=1)
        return self.assemble(problem, numbers)

    def _check_map(self, features: int) -> None:
        from ..features.maps.catalogue import coding_of

        if self.map is not None and features != coding_of(self.map).width:
            raise InvalidParameter(
                f"must be {coding_of(self.map).width}, the map's and the constant", features=features
            )

    def _facts(self, problem: Problem) -> dict[str, Any]:
        return {
            "records": problem.records,
            "row_norm": problem.loss.radius,
            "features": problem.features,
            "outputs": problem.loss.outputs,
            "norm_squared": norm_squared(problem.loss),
            "label_weight": grid_of(problem.loss)[1],
            "releases": problem.releases,
            "joiners": self.joiners,
            "rows_per_subject": problem.rows_per_subject,
            "weighting": problem.weighting,
        }

    def _check_covered(self, problem: Problem) -> None:
        check_loss(problem.loss)
        check_count("features", problem.features, maximum=MOST_FEATURES)
        if problem.releases < 2:
            raise InvalidParameter(
                "must be at least 2 by method 'sufficient-statistics', whose noise is planned for all of them: state how many releases there will be",
                releases=problem.releases,
            )
        check_count("releases", problem.releases, maximum=MOST_RELEASES)
        check_exact(problem.loss, problem.records)

    def check_plan(self, plan: Plan) -> None:
        """Check loss, features, releases and exactness of sums; the loss need not have a Lipschitz constant."""
        self._check_covered(plan.problem)  # the loss need not be Lipschitz: the norms of the sums are bounded

    def assemble(self, problem: Problem, numbers: Calibration) -> Plan:
        """Return the plan whose learn and requests are draws of one chain of sums.

        It retains exactly nothing of an erased record, because only noise is carried over.
        """
        bits, weight = grid_of(problem.loss)
        run = SufficientStatisticsRun(**self._facts(problem), variance=numbers.noise_variance * 4.0**bits)
        carried = procedure.CarriedSums(
            draws=run.draws,
            variance=run.variance,
            bits=bits,
            label_bits=label_bits(problem),
            norm_squared=run.norm_squared,
            label_weight=weight,
            ridge=problem.records * problem.regularization,
            ridge_share=self._ridge_share,
            map=self.map,
            targets=problem.loss.label_kind == "target",
            by_person=problem.by_person,
        )
        edits = ("deleted", "inserted") if self.joiners else ("deleted",)
        promise = procedure.PlannedGuarantees(deletion=procedure.WorstCaseRun(0), edits=edits, unbounded=False)
        return Plan.of(problem, run, numbers, learning=carried, serving=carried, promise=promise)

    @property
    def _ridge_share(self) -> float:
        return RIDGE_SHARE if self.map is None else _CODED_SHARE

    @staticmethod
    def _variance(plan: Plan) -> float:
        """Return V in squared units of the rows."""
        return plan.calibration.noise_variance / 4.0 ** grid_of(plan.problem.loss)[0]

    def outlook(self, plan: Plan) -> Prospects:
        """Return the forecast of least squares with weights of a guessed norm B.

        Bound and deviation are infinite, none being known. With d directions, noisy moments pull the weights by E with
        E‖E‖² = d(kV/β² + VB²/2), which costs ‖E‖²/(2mn²) if no row curves the objective beyond the ridge m; the ridge's
        addition to λ costs half of itself times B².

        In nats: odds of two classes are twice a fit to ±1, near 0; of k classes, k times one to 0 and 1. The poorer fit
        of a linear model counts as a hundredth: on four tables it was .005 to .05, in accuracy .0001 to .006
        (benchmarks/results/sums.md).
        """
        problem, loss = plan.problem, plan.problem.loss
        classes, radius = loss.outputs, loss.radius
        odds = {"target": 1, "binary": 2}.get(loss.label_kind, classes)
        norm, variance = estimated_norm(problem) / odds, self._variance(plan)
        directions = problem.features if plan.learning.coding is None else plan.learning.coding.directions
        pull = directions * variance * (classes / (LABEL_RATIO * radius) ** 2 + norm * norm / 2)
        added = self._ridge_share * math.sqrt(2 * variance * directions) / problem.records
        ridge = problem.regularization + added
        cost = (pull / (ridge * problem.records**2) + added * norm * norm) / 2 * (classes if classes > 1 else 1)
        return Prospects(math.inf, cost + (_OF_A_LINE if odds > 1 else 0.0), math.inf)

    def words(self, plan: Plan) -> tuple[str, ...]:
        problem = plan.problem
        at_once = plan.mechanism.interval("dp", problem.adjacency, steps_with=1).gdp_squared
        together = plan.mechanism.interval("dp", problem.adjacency, steps_with=math.inf).gdp_squared
        who = "whenever a record comes and goes" if self.joiners else "whenever a record goes; none may be inserted"
        return (
            f"Sums: every release is least squares from second moments and label sums with noise of variance V={self._variance(plan):.6g} (a row "
            f"of norm 1 counts 1), carried on from the release before: {problem.releases} releases together cost {together / at_once:.4g} times what "
            f"the first costs alone in μ², {who}; fresh noise would cost {problem.releases} times.",
            "Exactly: sums are whole numbers of a public grid and the noise is an exact discrete Gaussian. What a release carries on is "
            "recomputed from the release before and the table as that one left it, so rows go after the draw. An edit that is published later "
            "leaves a patch, sums with a little noise more, which stays in the store until then: the chain goes on, for noise of at most a quarter "
            "more, and who copies the store meanwhile learns more of the record than releases tell (`status` says how much). Rows in a source that another program changed begin a new chain, charged "
            "beside the first, which a budget for one may not bear.",
        )


def check_loss(loss: Loss) -> None:
    """Check that the loss has sums: logistic, softmax or squared, with a finite radius.

    Raises:
        InvalidParameter: If it has none.
    """
    if not isinstance(loss, (Logistic, Softmax, Squared)) or not math.isfinite(loss.radius):
        raise InvalidParameter(
            f"sums are for classes and targets: take losses.Logistic, losses.Softmax or losses.Squared, not {loss.name}"
        )
