"""Public facts of one run and what the run reveals.

A `Mechanism` is what the accountant sees of a run. Every ledger event carries its own, so a change of plan never
changes the meaning of earlier events. Plans and accounts both use `Mechanism.interval`: there is one code path from
constants to guarantees.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from typing import Any, ClassVar, Protocol

from ..errors import InvalidParameter, check_choice, check_count, check_positive, non_negative
from ..privacy.guarantee import Guarantee
from ..privacy.sentences import format_condition
from ..privacy.worlds import Worlds

Cost = dict[str, Any]  # the parts of a `Guarantee` that a run costs
Condition = tuple[str, dict[str, Any]]  # a key of `evidence.claims` and its values

AUTO = "auto"  # instead of a method's name: the planner selects the method; default of `quickstart`, `init`, estimators
DEFAULT_METHOD = "noisy-gd"  # of the library and of `plan`
RIDGES = ("given", "forecast")  # λ as given, or raised from public numbers where the noise requires it
BY_ROW, BY_PERSON = WEIGHTINGS = ("by-row", "by-person")  # a row weighs 1, or 1/k if its person has k rows
# every step of a bound proven on paper, or one of them by rigorous interval arithmetic (`proofs_check`)
PROOFS = ("by-hand", "computer-checked")


class Fading(Protocol):
    """Bound on the distance between a model and a law independent of the erased records.

    It assumes that earlier models were not observed and that requests did not depend on them.
    """

    def distance_after(self, before: float | None, steps: float, edits: int) -> float:
        """Return a bound on the distance between the model and that law after some edits and then some noisy steps.

        The distance is a divergence, as `guarantee_at` takes it; steps reduce it to a positive floor, not to 0.

        Args:
            before: The bound before the edits; None for a run that starts at the prior, where `edits` has no effect.
            steps: Number of noisy steps.
            edits: Number of edits before the steps.
        """

    def guarantee_at(self, closeness: float) -> Guarantee:
        """Return the deletion guarantee of a model at distance `closeness` from that law (Definition 4.1).

        It is about all records erased so far, and covers an observer of this model and of later ones only.
        """

    def forgets(self, *, learn_steps: int, delete_steps: int, batch: int) -> Guarantee:
        """Return `guarantee_at` for the largest distance after a learn and any number of requests.

        Args:
            learn_steps: Noisy steps of the learn, which starts at the prior.
            delete_steps: Noisy steps of each request.
            batch: Largest number of edits of a request.
        """


class NoiseChain(Protocol):
    """A chain of releases, each of which carries over the noise of the previous one."""

    def staying(self, about: str, worlds: str, *, steps_with: float, steps_without: float = 0) -> Guarantee:
        """Return what a chain's releases reveal about a record that has not been erased, as a guarantee.

        This is `Mechanism.interval` for the `steps_with` + `steps_without` releases without the cost of removing the
        record; it is at most as large.

        Args:
            about: "dp" or "deletion", the kind of guarantee.
            worlds: The neighbouring relation, a value of `Worlds`.
            steps_with: Releases of the chain up to the last one with the record.
            steps_without: Later releases of the chain.
        """


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """Public facts of one run, and what the run reveals.

    Attributes:
        records: n, the public dataset size.
        proven: False if constants are only declared by the user.
        slack: Relative rounding slack of the sensitivity.
        row_norm: R, an upper bound on the norm of every feature row in the runs described; None if the bounds hold for
            rows of any norm.
    """

    method: ClassVar[str]  # name of the method, which identifies the mechanism in a ledger
    source: ClassVar[str]  # where the bound is proven
    fresh: ClassVar[bool] = False  # whether every release starts afresh, not from the model published before
    notes: ClassVar[tuple[str, ...]] = ()  # notes that a privacy statement must include if it covers such a run

    records: int
    proven: bool = True
    slack: float = 0.0
    row_norm: float | None = None

    def __post_init__(self) -> None:
        check_count("records", self.records)
        non_negative("slack", self.slack)
        if self.row_norm is not None:
            check_positive("row_norm", self.row_norm)

    @property
    def left(self) -> str:
        """What an erasure does not remove.

        "base" for a model; "extractor" or "statistics" if the run publishes one of these instead of a model; "" if
        nothing remains.
        """
        return ""

    def conditions(self) -> tuple[Condition, ...]:
        """Return the assumptions of the bounds as pairs of a key of `evidence.claims` and its values.

        The base class states one: the number of slots n is public.
        """
        return (("slots-public", {"records": self.records}),)

    @property
    def shows_start(self) -> bool:
        """Whether a request's release may reveal, within a tolerance, that its solver began at the published model."""
        return False

    @property
    def shows_order(self) -> bool:
        """Whether a release may reveal, within a tolerance or a rounding error, the order of its rows.

        The order may reveal an erased record: rows from an external source may arrive in a different order because the
        record was once there.
        """
        return False

    def exposure(self, steps: int) -> int:
        """Return the exposure of a run of `steps` noisy steps, in the unit of `interval`: here `steps` itself.

        A run that draws all its noise at once has exposure 1, whatever `steps` is; a ladder encodes its parts.
        """
        return steps

    def check(self, steps: int, *, fresh: bool | None = None, inserted: bool = False) -> None:  # noqa: B027 - most cover any
        """Check that the bounds cover a release of `steps` noisy steps; the base class accepts every release.

        Args:
            steps: Number of noisy steps.
            fresh: Whether the release starts afresh or at the model published before; None if unknown.
            inserted: Whether the release includes new records.

        Raises:
            InvalidParameter: If the bounds do not cover such a release.
        """

    def interval(self, about: str, worlds: str, *, steps_with: float, steps_without: float = 0) -> Guarantee:
        """Return what the published model reveals about a record, given the common starting point of both datasets.

        The starting point is the initial law or an observed model. With `steps_with` = 0 the record was erased before,
        which reveals something only if `shows_order` and `steps_without` > 0; otherwise the guarantee has cost 0.

        If releases carry over noise (`carries`), all releases of a chain since its fresh run count together, as
        observed: `steps_with` counts up to the last release that holds the record, whenever it was inserted, and
        `steps_without` counts those after it.

        Args:
            about: "dp" or "deletion", the kind of guarantee.
            worlds: The neighbouring relation, a value of `Worlds`.
            steps_with: Steps with the record, as `exposure` counts them. `math.inf` is the supremum over any history:
                then no requester may have seen what the observer did not see, which the caller must add as a condition
                (`Guarantee.assuming`).
            steps_without: Steps after its erasure, as `exposure` counts them.
        """
        between, costs = Worlds(worlds), steps_with or (steps_without and self.shows_order)
        return self._guarantee(about, between, **(self._cost(between, steps_with, steps_without) if costs else {}))

    @abstractmethod
    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost: ...

    def _guarantee(self, about: str, worlds: Worlds, **cost: Any) -> Guarantee:
        """Return a guarantee of this run with the parts in `cost`."""
        facts = {
            "rows": getattr(self, "rows_per_subject", 1),
            "source": self.source,
            "assumptions": assumptions_of(self),
            "proven": self.proven,
            "slack": self.slack,
        }
        return Guarantee(about=about, adjacency=worlds, **{**facts, **cost})

    @property
    def fading(self) -> Fading | None:
        """Bound for models whose earlier releases were not observed; None if none is known."""
        return None

    @property
    def carries(self) -> NoiseChain | None:
        """Bound for releases that carry over the noise of earlier ones; None if each release draws its own."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return {"method": name} and every field as JSON, for `serialization.mechanism_from_dict`."""
        return {"method": self.method, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class WeighedRun(Mechanism):
    """A run whose bounds also hold if each row of a person with k rows weighs 1/k.

    Proof. A person's rows add w Σ ∇ℓ with kw ≤ 1, of norm at most L, whatever k is: the sums with and without the person
    are L apart, and with other rows, in any number, 2L. If one of k ≥ 2 rows goes while the others stay, the sums are
    w_k L + (k − 1)(w_{k−1} − w_k)L ≤ 2L/k ≤ L apart. The mean loss stays as convex and as smooth, since weights are in
    (0, 1]; n counts slots and is fixed. So bounds that use Δ, m and M alone hold with the Δ of one row. An edit changes
    the weights of the person's other rows; once it is made, the table is that of a run without the erased row, so nothing
    of it remains in them. Objective perturbation reads Hessians too: see `ObjectivePerturbationRun.curve`. What adds w v to
    carried sums is in the convex hull of the v of single rows; there an edit takes whole persons, since a changed weight
    is neither a join nor a leave.

    Attributes:
        rows_per_subject: Number of rows of one data subject that count as one record.
        weighting: Whether such a row weighs 1 ("by-row") or 1/k ("by-person").
    """

    rows_per_subject: int = 1
    weighting: str = BY_ROW

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("weighting", self.weighting, WEIGHTINGS)

    @property
    def charged_rows(self) -> int:
        """How many times the influence of one row a person may have: all rows, or once if they share a weight."""
        return 1 if self.weighting == BY_PERSON else self.rows_per_subject

    def conditions(self) -> tuple[Condition, ...]:
        return (*super().conditions(), *self._weighting_conditions())

    def _weighting_conditions(self) -> tuple[Condition, ...]:
        rows = {"rows_per_person": self.rows_per_subject}
        return (("weighed-by-person", rows),) if self.weighting == BY_PERSON else ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as `Mechanism.to_dict`; `weighting` is omitted if it is "by-row"."""
        return {name: value for name, value in super().to_dict().items() if (name, value) != ("weighting", BY_ROW)}


@dataclass(frozen=True, kw_only=True)
class NoisySteps(Mechanism):
    """Public facts of one Noisy-GD run.

    Attributes:
        step_size: η.
        noise_variance: σ²; one step adds N(0, 2ησ² I).
        strong_convexity: m of the objective (λ, or λ − β₋ for weakly convex losses).
        lipschitz: L of one record's loss.
        objective_smoothness: M of the objective, which bounds η; None in ledgers written before it was recorded.
        rows_per_subject: Number of rows of one data subject that count as one record.
    """

    step_size: float
    noise_variance: float
    strong_convexity: float
    lipschitz: float
    objective_smoothness: float | None = field(default=None, compare=False)
    rows_per_subject: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("rows_per_subject", self.rows_per_subject)
        for name in ("step_size", "noise_variance", "strong_convexity", "lipschitz"):
            check_positive(name, getattr(self, name))
        if self.objective_smoothness is not None:
            check_positive("objective_smoothness", self.objective_smoothness)
        limit = self.largest_step_size
        if not self.step_size <= limit * (1 + 1e-12):
            raise InvalidParameter(
                f"must be at most {limit:g}: beyond it a step may carry two models apart, and no bound of method "
                f"{self.method!r} holds",
                step_size=self.step_size,
            )

    @property
    def largest_step_size(self) -> float:
        """Largest η for which the method's bounds hold; infinite if they do not restrict it."""
        return math.inf

    @property
    def _steepest(self) -> float:
        """M, or its smallest possible value if it is unknown."""
        return self.strong_convexity if self.objective_smoothness is None else self.objective_smoothness

    @property
    def noise_scale(self) -> float:
        """τ = σ√(2η), the noise scale of one step."""
        return math.sqrt(2 * self.step_size * self.noise_variance)

    def sensitivity(self, worlds: str) -> float:
        """Return Δ, the distance of the gradient sums of neighbouring datasets, without the rounding slack.

        It is 2L between two records and L against the null record, times `charged_rows`.
        """
        return Worlds(worlds).sensitivity(self.lipschitz, self.charged_rows)

    @property
    def charged_rows(self) -> int:
        """How many times the influence of one row a person may have: all rows."""
        return self.rows_per_subject

    def conditions(self) -> tuple[Condition, ...]:
        own = {"method": self.method}
        return (
            *bounded_gradients(self.lipschitz, proven=self.proven),
            *super().conditions(),
            ("real-arithmetic", own),
            ("gaussian-noise", own),
        )

    def _chain(self) -> dict[str, Any]:
        return {"step_size": self.step_size, "noise_variance": self.noise_variance, "records": self.records}


@dataclass(frozen=True, kw_only=True)
class SingleRelease(Mechanism):
    """A run that draws all its noise at once and therefore counts as one step."""

    steps: ClassVar[int] = 1  # the steps recorded for a release

    def exposure(self, steps: int) -> int:
        return 1

    def check(self, steps: int, *, fresh: bool | None = None, inserted: bool = False) -> None:
        if steps != self.steps:
            raise InvalidParameter(
                f"must be {self.steps}: a release by {self.method!r} has no noisy steps", steps=steps
            )


def are_contradictory(one: Mechanism, other: Mechanism) -> bool:
    """Return whether two equal mechanisms state different values of a fact that equality ignores.

    False if the mechanisms differ in another fact. A value of None, which is unknown, contradicts no value.
    """
    if one is other or one != other:
        return False
    pairs = ((getattr(one, fact.name), getattr(other, fact.name)) for fact in fields(one) if not fact.compare)
    return any(None not in pair and pair[0] != pair[1] for pair in pairs)


@lru_cache(maxsize=1024)
def assumptions_of(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the mechanism's `conditions` as English sentences, in order and without duplicates."""
    return tuple(dict.fromkeys(format_condition(key, values) for key, values in mechanism.conditions()))


def bounded_gradients(lipschitz: float, *, proven: bool) -> tuple[Condition, ...]:
    """Return the conditions that every record's gradient norm is at most L, and, unless `proven`, that L is declared.

    They are (key of `evidence.claims`, values) pairs, for `Mechanism.conditions`.
    """
    norm = ("gradient-norm", {"lipschitz": lipschitz})
    return (norm,) if proven else (norm, ("constants-declared", {}))
