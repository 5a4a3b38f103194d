"""Every way of learning and deleting, by name. Adding one: its file here, its formulas in `bounds/`, one line in `METHODS`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..errors import InvalidParameter, choice
from .base import Mechanism, Method, NoisySteps
from .composition import Composition, CompositionRun
from .counted import CountedRecords
from .interleaved import Interleaved, InterleavedRun
from .ladder import Ladder
from .ladder_run import LadderRun
from .minimiser import Minimiser, MinimiserRun
from .moments import Moments, MomentsRun
from .near_gibbs import NearGibbs, NearGibbsRun
from .perturbed import Perturbed
from .perturbed_run import PerturbedRun
from .plan import Plan
from .problem import Problem
from .procedure import Procedure
from .sampled_gaussian import SampledGaussian
from .sampled_steps import SampledStage, SampledSteps
from .sharp import Sharp, SharpRun
from .stages import Stage
from .theorem import Theorem, TheoremRun

__all__ = [
    "MECHANISMS",
    "METHODS",
    "Composition",
    "CountedRecords",
    "Interleaved",
    "Ladder",
    "Mechanism",
    "Method",
    "Minimiser",
    "NearGibbs",
    "NoisySteps",
    "Perturbed",
    "Plan",
    "Problem",
    "Procedure",
    "SampledGaussian",
    "Sharp",
    "Stage",
    "Theorem",
    "of",
]

METHODS: dict[str, tuple[type[Method], type[Mechanism]]] = {
    "theorem": (Theorem, TheoremRun),
    "sharp": (Sharp, SharpRun),
    "minimiser": (Minimiser, MinimiserRun),
    "perturbed": (Perturbed, PerturbedRun),
    "interleaved": (Interleaved, InterleavedRun),
    "composition": (Composition, CompositionRun),
    "ladder": (Ladder, LadderRun),
    "near-gibbs": (NearGibbs, NearGibbsRun),
}
STAGE_METHODS: dict[str, tuple[type[Method], type[Mechanism]]] = {  # which a ladder plans
    "moments": (Moments, MomentsRun),
    "sampled-steps": (SampledStage, SampledSteps),
}
MECHANISMS: dict[str, type[Mechanism]] = {
    **{name: run for name, (_, run) in {**METHODS, **STAGE_METHODS}.items()},
    "sampled-gaussian": SampledGaussian,  # trains an extractor, plans nothing
    "counted-records": CountedRecords,  # counts of the records, no model
}


def of(method: str | Method, **options: Any) -> Method:
    """A method by name, with options of its own; a method that is one already takes none.

    Raises:
        InvalidParameter: there is no such method, or it has no such option.
    """
    if isinstance(method, Method):
        if options:
            raise InvalidParameter(
                f"{', '.join(sorted(options))}: give the options of a method to the method itself, "
                f"{type(method).__name__}(...), or name the method by a string"
            )
        return method
    kind, _ = METHODS[choice("method", method, tuple(METHODS))]
    known = [field.name for field in fields(kind)]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InvalidParameter(f"{_unknown(method, unknown)} Options of {method!r}: {', '.join(known)}")
    return kind(**options)


def _unknown(method: str, unknown: list[str]) -> str:
    gone = {"certificate", "start"} & set(unknown)
    if gone:
        return f"{', '.join(sorted(gone))}: the way of learning and deleting is one word, method='theorem', 'sharp', 'minimiser', ..."
    owners = {name: [other for other, (kind, _) in METHODS.items() if name in _options(kind)] for name in unknown}
    belongs = "; ".join(
        f"{name} belongs to {', '.join(map(repr, others))}" if others else f"{name} belongs to no method"
        for name, others in owners.items()
    )
    return f"method={method!r} has no option {', '.join(unknown)}: {belongs}."


def _options(kind: type[Method]) -> set[str]:
    return {field.name for field in fields(kind)}
