"""`sharp` in exact steps as versions before 0.3 named it: stores that were made so go on, and papers of them are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from ..errors import InvalidParameter
from .exact_steps import ExactSteps
from .plan import Numbers, Plan
from .problem import Problem
from .sharp import Sharp, SharpRun

_FACTS = tuple(fact.name for fact in fields(ExactSteps))


@dataclass(frozen=True, kw_only=True)
class SharpExactRun(SharpRun):
    """Its facts of the steps are written among its own."""

    method: ClassVar[str] = "sharp-exact"
    source: ClassVar[str] = (
        "shifted interpolation (Bok, Su & Altschuler 2024) for Noisy-GD whose every step is an exact discrete Gaussian, roundings charged"
    )

    dimension: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if (
            self.exact is None or self.dimension != self.exact.dimension
        ):  # fewer weights would understate what a run costs
            raise InvalidParameter("must be outputs × features", dimension=self.dimension)

    def to_dict(self) -> dict[str, Any]:
        told = super().to_dict()
        steps = told.pop("exact")
        return {**told, **{name: value for name, value in steps.items() if (name, value) != ("in_place", True)}}

    @staticmethod
    def in_parts(facts: Mapping[str, Any]) -> dict[str, Any]:
        """The facts that `to_dict` wrote, in parts."""
        own = {name: value for name, value in facts.items() if name not in _FACTS}
        return {**own, "exact": {name: facts[name] for name in _FACTS if name in facts}}


@dataclass(frozen=True)
class SharpExact(Sharp):
    """A stored plan's method; a new plan takes `Sharp`."""

    name: ClassVar[str] = "sharp-exact"
    compared: ClassVar[bool] = False

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in super().to_dict().items() if name != "exact"}

    def assemble(self, problem: Problem, numbers: Numbers) -> Plan:
        run = SharpExactRun(**self.run_facts(problem, numbers), dimension=problem.dimension)
        return Plan.of(problem, run, numbers, exactness=run.exactness)
