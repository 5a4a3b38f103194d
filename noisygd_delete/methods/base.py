"""What a release ran, as public facts, and what running it reveals.

Every ledger event carries its own `Mechanism`, so a change of plan never changes the meaning of what happened before.
The planner calibrates and the accountant answers through the same `interval`, so there is one code path from constants
to guarantees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..bounds import shifted_interpolation, theorem_5_1
from ..bounds.gibbs import Gibbs
from ..errors import InvalidParameter, choice, count, non_negative, positive
from ..privacy.guarantee import ADJACENCIES, DELETION_NOTIONS, NON_ADAPTIVE, Guarantee

CERTIFICATES = ("theorem", "sharp", "composition")
STARTS = ("published", "minimiser")
WORLDS = (*ADJACENCIES, *DELETION_NOTIONS)

_SOURCES = {
    "theorem": "Chourasia & Shah 2023, Theorem 5.1 (G.9, G.15)",
    "sharp": "shifted interpolation (Bok, Su & Altschuler 2024) for Noisy-GD",
    "minimiser": "shifted interpolation (Bok, Su & Altschuler 2024) for Noisy-GD from the minimiser",
    "composition": "composition of noisy steps, each a Gaussian mechanism (in Rényi form: Chourasia & Shah 2023, G.7)",
    "printed": "Chourasia & Shah 2023, Theorem 5.2 (G.22, G.23)",
    "sharper": "Theorem 5.2's induction with the oscillation of the loss, at every order up to q",
}


@dataclass(frozen=True)
class Mechanism:
    """Public facts of one Noisy-GD run.

    certificate         which mathematics answers for it
    records             n, slots
    step_size           η
    noise_variance      σ² (one step adds N(0, 2ησ² I))
    strong_convexity    m of the objective (λ, or λ − β₋ for weakly convex losses)
    lipschitz           L of one record's loss
    rows_per_subject    m rows of one data subject count as one record
    proven              False where the loss's constants are only declared by the user
    slack               relative rounding slack of the sensitivity
    start               "published" (the last published model; the initial law for a learn) or "minimiser": a solver's
                        answer for the current records, so that every release is a fresh publication
    gradient_tolerance  γ: the solver stops where the gradient's norm is certainly at most this
    warm                whether the solver of a request starts from the published model (else from 0)
    gibbs               facts of Theorem 5.2: a non-convex loss. Once an earlier model was observed only the composition of
                        steps is certified; `forgotten` speaks of models whose past was not
    objective_smoothness  M of the objective (None in ledgers from before it was kept): what bounds η
    """

    certificate: str
    records: int
    step_size: float
    noise_variance: float
    strong_convexity: float
    lipschitz: float
    rows_per_subject: int = 1
    proven: bool = True
    slack: float = 0.0
    start: str = "published"
    gradient_tolerance: float = 0.0
    warm: bool = False
    gibbs: Gibbs | None = None
    objective_smoothness: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        choice("certificate", self.certificate, CERTIFICATES)
        choice("start", self.start, STARTS)
        count("records", self.records)
        count("rows_per_subject", self.rows_per_subject)
        for name in ("step_size", "noise_variance", "strong_convexity", "lipschitz"):
            positive(name, getattr(self, name))
        if self.certificate != "composition" and self.gibbs is None:
            self._check_contraction()
        non_negative("slack", self.slack)
        non_negative("gradient_tolerance", self.gradient_tolerance)
        if self.start == "minimiser" and self.certificate != "sharp":
            raise InvalidParameter("start='minimiser' needs certificate='sharp': no other theorem covers it")

    def _check_contraction(self) -> None:
        """The convex theorems need a step that contracts: η ≤ 2/(m+M) (Lemma G.12), η < 1/M under Theorem 5.1. M ≥ m."""
        least = self.strong_convexity if self.objective_smoothness is None else self.objective_smoothness
        positive("objective_smoothness", least)
        limit = 1 / least
        if self.certificate == "sharp":
            limit = shifted_interpolation.largest_step_size(
                strong_convexity=self.strong_convexity, objective_smoothness=least
            )
        if not self.step_size <= limit * (1 + 1e-12):
            raise InvalidParameter(
                f"step_size={self.step_size:g} must be at most {limit:g}: beyond it a step may carry two models apart, and no bound "
                f"of certificate={self.certificate!r} holds"
            )

    def sensitivity(self, adjacency: str) -> float:
        """Δ between the two worlds: 2L for x or x′ (replace, pairwise), L against the null record, times rows per subject."""
        worlds = 2 if choice("adjacency", adjacency, WORLDS) in ("replace", "pairwise") else 1
        return worlds * self.lipschitz * self.rows_per_subject

    def interval(self, about: str, adjacency: str, *, steps_with: float, steps_without: float = 0) -> Guarantee:
        """What the model published after `steps_with` steps with the record and `steps_without` steps after its erasure
        reveals about it, given the point from which both worlds started (the initial law, or an observed model).

        `steps_with` may be `math.inf`: the supremum over any history. What the observer did not see of that history, nobody
        who made requests may have seen either: whoever takes the supremum says so (`Guarantee.assuming`).
        """
        if steps_with == 0:
            return self._guarantee(about, adjacency)
        if self.start == "minimiser":
            mu = self._solved_gdp(self.sensitivity(adjacency), steps_with, steps_without)
            return self._guarantee(about, adjacency, gdp_squared=mu**2)
        facts = {
            "sensitivity": self.sensitivity(adjacency),
            "noise_variance": self.noise_variance,
            "records": self.records,
            "step_size": self.step_size,
        }
        if self.gibbs or self.certificate == "composition":
            # steps without the record add nothing and take nothing away; each is a Gaussian mechanism, so ε_q = q μ²/2
            rate = theorem_5_1.composition_rate(**facts, steps=steps_with)
            if self.certificate == "theorem":
                return self._guarantee(about, adjacency, source="composition", rate=rate)
            return self._guarantee(about, adjacency, source="composition", gdp_squared=2 * rate)
        if self.certificate == "sharp":
            mu = shifted_interpolation.gdp(
                **facts,
                strong_convexity=self.strong_convexity,
                steps_with_record=steps_with,
                steps_without_record=steps_without,
            )
            return self._guarantee(about, adjacency, gdp_squared=mu**2)
        rate = theorem_5_1.deletion_rate(
            **facts,
            regularization=self.strong_convexity,
            steps_with_record=steps_with,
            steps_without_record=steps_without,
        )
        return self._guarantee(about, adjacency, rate=rate)

    def _solved_gdp(self, sensitivity: float, steps_with: float, steps_without: float) -> float:
        """μ of solve, then diffuse. The solver reads the current records only: a record that is gone by then can show
        in nothing but where, within the tolerance, a warm solver stopped.
        """
        facts = {
            "step_size": self.step_size,
            "strong_convexity": self.strong_convexity,
            "noise_variance": self.noise_variance,
            "records": self.records,
            "gradient_tolerance": self.gradient_tolerance,
        }
        if not steps_without:
            return shifted_interpolation.minimiser_dp_gdp(sensitivity=sensitivity, steps=steps_with, **facts)
        return shifted_interpolation.minimiser_deletion_gdp(steps=steps_without, **facts) if self.warm else 0.0

    def forgotten(self, runs: Sequence[tuple[float, int]]) -> Guarantee | None:
        """Deletion of everything erased so far, for an observer of this model and later ones only (Definition 4.1).

        `runs` are the (steps, edits) of the learn and of every request since. The law π(D) of the current records never
        saw an erased one. Requests must not depend on the models in between. None where Theorem 5.2 does not apply.
        """
        return None if self.gibbs is None else self._near_gibbs(self.gibbs.closeness(runs=runs, **self._chain()))

    def forgets(self, *, learn_steps: int, delete_steps: int, batch: int) -> Guarantee | None:
        """`forgotten` after a learn and any number of requests of at most `batch` edits."""
        if self.gibbs is None:
            return None
        requests = {"learn_steps": learn_steps, "delete_steps": delete_steps, "batch": batch}
        return self._near_gibbs(self.gibbs.worst_closeness(**requests, **self._chain()))

    def _chain(self) -> dict[str, Any]:
        return {"step_size": self.step_size, "noise_variance": self.noise_variance, "records": self.records}

    def _near_gibbs(self, cost: float) -> Guarantee:
        assert self.gibbs is not None
        point = (self.gibbs.order, cost)
        guarantee = self._guarantee("deletion", "definition-4.1", source=self.gibbs.form, points=(point,))
        return guarantee.assuming("no earlier model was observed").assuming(NON_ADAPTIVE)

    def _guarantee(
        self,
        about: str,
        adjacency: str,
        *,
        source: str | None = None,
        gdp_squared: float = 0.0,
        rate: float = 0.0,
        points: tuple[tuple[float, float], ...] = (),
    ) -> Guarantee:
        return Guarantee(
            about=about,
            adjacency=adjacency,
            rows=self.rows_per_subject,
            source=_SOURCES[source or ("minimiser" if self.start == "minimiser" else self.certificate)],
            assumptions=self._assumptions(),
            proven=self.proven,
            slack=self.slack,
            gdp_squared=gdp_squared,
            rate=rate,
            points=points,
        )

    def _assumptions(self) -> tuple[str, ...]:
        constants = "proven" if self.proven else "declared by the user, not proven"
        solved = (
            f"the solver's answer has gradient norm at most {self.gradient_tolerance:.3g} in real arithmetic; its running "
            "time is not observed"
        )
        return (
            *((solved,) if self.start == "minimiser" else ()),
            f"every record's loss has gradient norm at most {self.lipschitz:g} ({constants})",
            f"n={self.records} slots is public and fixed",
            "real arithmetic; the rounding of gradient sums adds the stated slack to the sensitivity",
            "the noise is Gaussian, independent and unknown to the observer",
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Mechanism:
        """Read back `to_dict`; unknown or missing fields are refused."""
        try:
            gibbs = fields.get("gibbs")
            return cls(**{**fields, "gibbs": None if gibbs is None else Gibbs(**gibbs)})
        except TypeError as error:
            raise InvalidParameter(f"not the facts of a release: {error}") from error
