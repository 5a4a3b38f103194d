"""The public facts of one run, and what it reveals.

A `Mechanism` is what the accountant sees of a run: every ledger event carries its own, so a change of plan never changes the meaning of
what happened before. Plans and accounts answer through the same `Mechanism.interval`, so there is one code path from constants to guarantees.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from typing import Any, ClassVar, Protocol

from ..errors import InvalidParameter, check_count, check_positive, non_negative
from ..privacy.guarantee import Guarantee, Worlds
from ..privacy.sentences import format_condition

Cost = dict[str, Any]  # the parts of a `Guarantee` that a run costs
Condition = tuple[str, dict[str, Any]]  # a key of `evidence.claims` and its values

# every step of a bound on paper, or one of them by rigorous interval arithmetic (`proofs_check`)
AUTO = "auto"  # in the place of a method's name: whichever is advised
RIDGES = ("given", "forecast")  # λ as it is given, or raised by public numbers where the noise asks for it
PROOFS = ("by-hand", "computer-checked")


class Fading(Protocol):
    """How far a model is from a law that never saw what was erased, as long as nobody observed the models before, nor requests depended on them."""

    def distance_after(self, before: float | None, steps: float, edits: int) -> float:
        """How far it is after `steps` steps and the edits before them: from how far it was `before`, or from the start (None)."""

    def guarantee_at(self, closeness: float) -> Guarantee:
        """Deletion of everything erased so far, for an observer of a model so close, and of later ones only (Definition 4.1)."""

    def forgets(self, *, learn_steps: int, delete_steps: int, batch: int) -> Guarantee:
        """`forgets_at` after a learn and any number of requests of at most `batch` edits."""


class NoiseChain(Protocol):
    """A chain of releases, each of which carries on the noise of the one before."""

    def staying(self, about: str, worlds: str, *, steps_with: float, steps_without: float = 0) -> Guarantee:
        """`Mechanism.interval` of a record that is still there after all these steps: less, where leaving costs."""


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """Public facts of one run, and what running it reveals.

    records  n, slots
    proven   False where constants are only declared by the user
    slack    relative rounding slack of the sensitivity
    row_norm R: no feature row is longer in the runs that these facts describe; None: their bounds hold for rows of any norm
    """

    method: ClassVar[str]  # the name of the method, by which a ledger tells mechanisms apart
    source: ClassVar[str]  # where the bound is proven
    fresh: ClassVar[bool] = False  # whether every release starts anew, not from the model published before
    notes: ClassVar[tuple[str, ...]] = ()  # what a statement of account must say where such a run took part

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
        """What no erasure takes back: "base", of a model; "extractor" or "statistics", where a run publishes that in the place of a model; ""
        where nothing."""
        return ""

    def conditions(self) -> tuple[Condition, ...]:
        """What the bounds assume, for papers: keys of the catalogue of claims, each with its values (`evidence.claims`)."""
        return (("slots-public", {"records": self.records}),)

    @property
    def shows_start(self) -> bool:
        """Whether, within a tolerance, a request's release may show where its solver started: at the published model."""
        return False

    @property
    def shows_order(self) -> bool:
        """Whether, within a tolerance or a rounding, any release may show the order in which its rows came, and so a record that is gone: rows that
        lie elsewhere may come in another order where it once was."""
        return False

    def exposure(self, steps: int) -> int:
        """What a run of so many noisy steps counts as, in the unit in which `interval` counts them.

        The steps themselves; a run whose noise is all drawn at once counts as one, whatever else it does.
        """
        return steps

    def check(self, steps: int, *, fresh: bool | None = None, inserted: bool = False) -> None:  # noqa: B027 - most cover any
        """Raise `InvalidParameter` where the bounds cover no release of so many steps, or none that begins afresh or (not `fresh`) at the model
        published before (None: not said), or that takes in new records."""

    def interval(self, about: str, worlds: str, *, steps_with: float, steps_without: float = 0) -> Guarantee:
        """What the model published after `steps_with` steps with the record and `steps_without` steps after its erasure (each
        as `exposure` counts them) reveals about it, given the point from which both worlds started (the initial law, or an observed model).

        Without any step with it the record was gone before: that tells nothing but where `shows_order`.

        `steps_with` may be `math.inf`: the supremum over any history. What the observer did not see of that history, nobody
        who made requests may have seen either: whoever takes the supremum says so (`Guarantee.assuming`).

        Where a release `carries` on the noise of the one before, all of a chain from its fresh run on count together, as observed: `steps_with` up
        to the last that holds the record, whenever it came, and `steps_without` after it.
        """
        between, costs = Worlds(worlds), steps_with or (steps_without and self.shows_order)
        return self._guarantee(about, between, **(self._cost(between, steps_with, steps_without) if costs else {}))

    @abstractmethod
    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost: ...

    def _guarantee(self, about: str, worlds: Worlds, **cost: Any) -> Guarantee:
        """A guarantee of this run with the parts in `cost`."""
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
        """What is known of models whose past nobody observed; None where that is nothing."""
        return None

    @property
    def carries(self) -> NoiseChain | None:
        """What is known of releases that carry on the noise of the ones before; None where each draws its own."""
        return None

    def to_dict(self) -> dict[str, Any]:
        return {"method": self.method, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class NoisySteps(Mechanism):
    """Public facts of one Noisy-GD run.

    step_size             η
    noise_variance        σ² (one step adds N(0, 2ησ² I))
    strong_convexity      m of the objective (λ, or λ − β₋ for weakly convex losses)
    lipschitz             L of one record's loss
    objective_smoothness  M of the objective (None in ledgers from before it was kept): what bounds η
    rows_per_subject      m rows of one data subject count as one record
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
        limit = self.largest_step_size
        if not self.step_size <= limit * (1 + 1e-12):
            raise InvalidParameter(
                f"must be at most {limit:g}: beyond it a step may carry two models apart, and no bound of method "
                f"{self.method!r} holds",
                step_size=self.step_size,
            )

    @property
    def largest_step_size(self) -> float:
        """The η up to which the method's bounds hold; infinite where they ask nothing of it."""
        return math.inf

    @property
    def _steepest(self) -> float:
        """M, or the least that it can be."""
        if self.objective_smoothness is None:
            return self.strong_convexity
        return check_positive("objective_smoothness", self.objective_smoothness)

    @property
    def noise_scale(self) -> float:
        """τ = σ√(2η), of one step."""
        return math.sqrt(2 * self.step_size * self.noise_variance)

    def sensitivity(self, worlds: str) -> float:
        """Δ between the two worlds: 2L for x or x′, L against the null record, times rows per subject."""
        return Worlds(worlds).sensitivity(self.lipschitz, self.rows_per_subject)

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
    """A run whose noise is all drawn at once, so that it counts as one step."""

    steps: ClassVar[int] = 1  # that a release says it took

    def exposure(self, steps: int) -> int:
        return 1

    def check(self, steps: int, *, fresh: bool | None = None, inserted: bool = False) -> None:
        if steps != self.steps:
            raise InvalidParameter(
                f"must be {self.steps}: a release by {self.method!r} has no noisy steps", steps=steps
            )


def are_contradictory(one: Mechanism, other: Mechanism) -> bool:
    """Whether two runs that count as equal cannot both be described rightly: each states a fact by which none is told, and another one."""
    if one is other or one != other:
        return False
    pairs = ((getattr(one, fact.name), getattr(other, fact.name)) for fact in fields(one) if not fact.compare)
    return any(None not in pair and pair[0] != pair[1] for pair in pairs)


@lru_cache(maxsize=1024)
def assumptions_of(mechanism: Mechanism) -> tuple[str, ...]:
    """The conditions of its bounds in English, each once, as papers say them."""
    return tuple(dict.fromkeys(format_condition(key, values) for key, values in mechanism.conditions()))


def bounded_gradients(lipschitz: float, *, proven: bool) -> tuple[Condition, ...]:
    """That no record's loss is steeper, as conditions: proven, or declared by the user."""
    norm = ("gradient-norm", {"lipschitz": lipschitz})
    return (norm,) if proven else (norm, ("constants-declared", {}))
