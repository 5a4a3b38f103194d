"""A run of a ladder as the accountant sees it: its stages, and what the releases that rest on them reveal together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..errors import InvalidParameter, check_count
from ..privacy.guarantee import Guarantee
from ..privacy.worlds import Worlds
from .base import Condition, Cost, Mechanism

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
        inner = (condition for stage in (*self.kept, *self.later) for condition in stage.conditions())
        return (("stages-published", {}), *inner)

    @property
    def learn_steps(self) -> int:
        """Steps of all stages of a learn."""
        return sum(self.kept_steps) + sum(self.later_steps)

    def exposure(self, steps: int) -> int:
        return _LEARN if steps == self.learn_steps else _RERUN

    def check(self, steps: int, *, fresh: bool | None = None, inserted: bool = False) -> None:
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
