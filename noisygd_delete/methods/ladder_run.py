"""Public facts of a ladder's releases: stages that a deletion keeps, and stages that it runs again."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..errors import InvalidParameter, count
from ..privacy.guarantee import Guarantee
from ..privacy.worlds import Worlds
from .base import Condition, Cost, Mechanism

KEPT = "the base's ε_dd is not reduced by deletions: what the kept stages showed of an erased record stays until a fresh learn"

_LEARN, _RERUN = 3, 2  # exposures; see `LadderRun`


@dataclass(frozen=True, kw_only=True)
class LadderRun(Mechanism):
    """One learn runs every stage; a request runs the later ones again, on the current rows, from what the kept ones published.

    Every stage is a Gaussian mechanism for whatever values the stages before it took, so an observer pays for each *run of a stage*
    that what he saw rests on, once: the kept stages of the last learn, if the record was there, and the later stages of each
    release that he saw or that carried the record when he saw it. A later stage that was overwritten before anybody saw it rests
    under nothing and costs nothing (`bounds.ladder`, `accountant.ancestors`; networks, statement T5).

    Exposure tells the parts apart where it adds up: a learn counts 3, a request 2. An odd sum has the learn in it, and with it the
    kept stages; the later stages of the last release count unless the record was gone when it ran.

    kept, later              the mechanism of every stage; kept_steps, later_steps: the noisy steps that it runs
    """

    method: ClassVar[str] = "ladder"
    source: ClassVar[str] = (
        "sum over the runs of stages that an observed model rests on, each Gaussian DP for every value of its inputs"
    )
    notes: ClassVar[tuple[str, ...]] = (f"Of the stages that a ladder keeps between requests: {KEPT}.",)
    nested: ClassVar[tuple[str, ...]] = ("kept", "later")

    kept: tuple[Mechanism, ...] = ()
    later: tuple[Mechanism, ...] = ()
    kept_steps: tuple[int, ...] = ()
    later_steps: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.later:
            raise InvalidParameter(
                "a ladder needs a stage that a deletion runs again; give later stages, or take 'composition'"
            )
        if len(self.kept) != len(self.kept_steps) or len(self.later) != len(self.later_steps):
            raise InvalidParameter("every stage of a ladder states its steps: as many numbers as stages")
        for stage, steps in (
            *zip(self.kept, self.kept_steps, strict=True),
            *zip(self.later, self.later_steps, strict=True),
        ):
            stage.check_steps(count("steps of a stage", steps))
            if stage.nested or stage.publishes != "model" or stage.shows_start or stage.records != self.records:
                raise InvalidParameter(
                    f"a run by {stage.method!r} on {stage.records} slots is no stage of this ladder of {self.records}: a stage starts at "
                    "a kept stage or at a public point, never where the last published model was"
                )

    @property
    def left(self) -> str:
        return "base" if self.kept else ""

    def conditions(self) -> tuple[Condition, ...]:
        inner = (condition for stage in (*self.kept, *self.later) for condition in stage.conditions())
        return (("stages-published", {}), *inner)

    @property
    def rows(self) -> int:
        return min(stage.rows for stage in (*self.kept, *self.later))

    @property
    def learn_steps(self) -> int:
        return sum(self.kept_steps) + sum(self.later_steps)

    def exposure(self, steps: int) -> int:
        return _LEARN if steps == self.learn_steps else _RERUN

    def check_steps(self, steps: int) -> None:
        if steps not in (self.learn_steps, sum(self.later_steps)):
            raise InvalidParameter(
                f"is not what this ladder runs: {self.learn_steps} steps to learn and {sum(self.later_steps)} for a request",
                steps=steps,
            )

    def stages_run(self, steps: int) -> tuple[tuple[int, Mechanism, int], ...]:
        runs = zip(
            range(len(self.kept) + len(self.later)),
            (*self.kept, *self.later),
            (*self.kept_steps, *self.later_steps),
            strict=True,
        )
        return tuple(runs)[0 if self.exposure(steps) == _LEARN else len(self.kept) :]

    def interval(self, about: str, worlds: str, *, steps_with: float, steps_without: float = 0) -> Guarantee:
        learned = steps_with == math.inf or steps_with % 2 == 1
        seen = [*(zip(self.kept, self.kept_steps, strict=True) if learned else ())]
        if steps_with and not steps_without:
            seen += zip(self.later, self.later_steps, strict=True)
        parts = [stage.interval(about, worlds, steps_with=stage.exposure(steps)) for stage, steps in seen]
        total = Guarantee.composed([(self.guarantee(about, Worlds(worlds)), 1), *((part, 1) for part in parts)])
        told = self.kept and about == "deletion"
        return replace(total, assumptions=(*total.assumptions, KEPT)) if told else total

    def _cost(self, worlds: Worlds, steps_with: float, steps_without: float) -> Cost:
        raise NotImplementedError  # `interval` composes the stages

    def to_dict(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "records": self.records,
            "proven": self.proven,
            "slack": self.slack,
            "kept": [stage.to_dict() for stage in self.kept],
            "later": [stage.to_dict() for stage in self.later],
            "kept_steps": list(self.kept_steps),
            "later_steps": list(self.later_steps),
        }
