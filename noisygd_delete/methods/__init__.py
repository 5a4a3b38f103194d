"""The registry of methods and mechanisms by name.

To add a method, write its module here and its formulas in `bounds/`, and register it in this file.
Each method is imported on first use, so reading the facts of one kind of release loads no other method.

>>> resolve_method("objective-perturbation", solver="cold").solver
'cold'
>>> resolve_method("noisy-gd", analysis="paper") == resolve_method("noisy-gd:analysis=paper")
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter, NoisyGDDeleteError, check_choice
from ..lazy_imports import Catalogue, on_first_use

if TYPE_CHECKING:
    from ..features.maps.base import PublicMap
    from .base import Mechanism, NoisySteps
    from .counted import CountedRecords
    from .noisy_gd import NoisyGD
    from .noisy_gd_composition import CompositionNoisyGD
    from .noisy_gd_gibbs import GibbsNoisyGD
    from .noisy_gd_paper import PaperNoisyGD
    from .objective_perturbation import ObjectivePerturbation
    from .output_perturbation import OutputPerturbation
    from .plan import Method, Plan
    from .problem import Problem
    from .procedure import Procedure
    from .sampled_steps import SampledGaussian
    from .staged import Staged
    from .stages import Stage
    from .sufficient_statistics import SufficientStatistics

__all__ = [
    "ANALYSES",
    "MECHANISMS",
    "METHODS",
    "CompositionNoisyGD",
    "CountedRecords",
    "GibbsNoisyGD",
    "Mechanism",
    "Method",
    "NoisyGD",
    "NoisySteps",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "PaperNoisyGD",
    "Plan",
    "Problem",
    "Procedure",
    "SampledGaussian",
    "Stage",
    "Staged",
    "SufficientStatistics",
    "compared_methods",
    "external_row_methods",
    "method_variants",
    "resolve_method",
]

__getattr__ = on_first_use(
    __name__,
    {
        **dict.fromkeys(("Mechanism", "NoisySteps"), "base"),
        "CountedRecords": "counted",
        **dict.fromkeys(("NoisyGD", "NoisyGDRun"), "noisy_gd"),
        **dict.fromkeys(("CompositionNoisyGD", "CompositionNoisyGDRun"), "noisy_gd_composition"),
        **dict.fromkeys(("GibbsNoisyGD", "GibbsNoisyGDRun"), "noisy_gd_gibbs"),
        **dict.fromkeys(("PaperNoisyGD", "PaperNoisyGDRun"), "noisy_gd_paper"),
        "ObjectivePerturbation": "objective_perturbation",
        "ObjectivePerturbationRun": "objective_perturbation_run",
        **dict.fromkeys(("OutputPerturbation", "OutputPerturbationRun"), "output_perturbation"),
        **dict.fromkeys(("Method", "Plan"), "plan"),
        "Problem": "problem",
        "Procedure": "procedure",
        **dict.fromkeys(("Moments", "MomentsRun"), "moments"),
        **dict.fromkeys(("SampledGaussian", "SampledSteps"), "sampled_steps"),
        "Staged": "staged",
        "StagedRun": "staged_run",
        **dict.fromkeys(("SampledStage", "Stage"), "stages"),
        **dict.fromkeys(("SufficientStatistics", "SufficientStatisticsRun"), "sufficient_statistics"),
    },
)

_METHODS = {
    "noisy-gd": "NoisyGD",
    "output-perturbation": "OutputPerturbation",
    "objective-perturbation": "ObjectivePerturbation",
    "sufficient-statistics": "SufficientStatistics",
    "staged": "Staged",
}
_ANALYSES = {  # of noisy-gd; the first is the default
    "tight": "NoisyGD",
    "paper": "PaperNoisyGD",
    "composition": "CompositionNoisyGD",
    "theorem-5-2": "GibbsNoisyGD",
}
_STAGE_METHODS = {"moments": "Moments", "sampled-steps": "SampledStage"}  # planned as stages of method "staged" only
_MECHANISMS = {
    **{f"noisy-gd-{analysis}": f"{method}Run" for analysis, method in _ANALYSES.items()},
    **{name: f"{method}Run" for name, method in _METHODS.items() if name != "noisy-gd"},
    "moments": "MomentsRun",
    "sampled-steps": "SampledSteps",
    "sampled-gaussian": "SampledGaussian",  # trains an extractor; makes no plan
    "counted-records": "CountedRecords",  # counts records; trains no model
}
METHODS: Mapping[str, type[Method]] = Catalogue(_METHODS, lambda name: __getattr__(_METHODS[name]))
ANALYSES: Mapping[str, type[Method]] = Catalogue(_ANALYSES, lambda name: __getattr__(_ANALYSES[name]))
STAGE_METHODS: Mapping[str, type[Method]] = Catalogue(_STAGE_METHODS, lambda name: __getattr__(_STAGE_METHODS[name]))
MECHANISMS: Mapping[str, type[Mechanism]] = Catalogue(_MECHANISMS, lambda name: __getattr__(_MECHANISMS[name]))


def resolve_method(method: str | Method, **options: Any) -> Method:
    """Return the method of this name with the given options, or the `Method` instance unchanged.

    Options given as arguments override those in the text; "noisy-gd" without an analysis is analysis "tight".

    Args:
        method: A key of `METHODS`, with options of its own behind it as `--method` takes them
            ("noisy-gd:analysis=paper"), or a `Method` instance, which takes no options.
        options: Fields of the method's dataclass; of "noisy-gd" also `analysis`, a key of `ANALYSES`.

    Raises:
        InvalidParameter: If there is no such method, it has no such option, or options are given with an instance.
    """
    from .plan import Method
    from .specs import parse_spec

    if isinstance(method, Method):
        if options:
            raise InvalidParameter(
                f"{', '.join(sorted(options))}: give the options of a method to the method itself, "
                f"{type(method).__name__}(...), or name the method by a string"
            )
        return method
    name, own = parse_spec("method", method) if isinstance(method, str) else (method, {})
    options = {**own, **options}
    kind = METHODS[check_choice("method", name, tuple(METHODS))]
    if name == "noisy-gd":
        kind = ANALYSES[check_choice("analysis", options.pop("analysis", kind.analysis), tuple(ANALYSES))]
    unknown = sorted(set(options) - _options(kind))
    if unknown:
        raise InvalidParameter(_unknown_message(kind, unknown))
    return kind(**options)


def method_variants() -> dict[str, type[Method]]:
    """Return the class of every method by the text that names it in `--method`.

    These are the entries of `METHODS`, where "noisy-gd" is analysis "tight", then "noisy-gd:analysis=NAME" for every
    other analysis. Methods that are stages only are left out.
    """
    analyses = {f"noisy-gd:analysis={analysis}": kind for analysis, kind in ANALYSES.items() if analysis != "tight"}
    return {**METHODS, **analyses}


def compared_methods() -> tuple[str, ...]:
    """Return the keys of `METHODS` that the planner compares when none is named: those not weighed "never"."""
    return tuple(name for name, kind in METHODS.items() if kind.weighed != "never")


def with_map(method: Method, map: PublicMap | None) -> Method:
    """Return the method with its `map` option set to this public map, if it has that option and the map has a coding.

    The method is returned unchanged otherwise, also for `map` None. The rows of the map have full norm and a constant.
    """
    used = map is not None and map.coding is not None and "map" in _options(type(method))
    return replace(method, map=map) if used else method  # type: ignore[call-arg]


def external_row_methods(problem: Problem) -> str:
    """Return a clause for error messages that names the methods for external rows that arrive in any order.

    Named are those of `METHODS` that have an option `in_place` and whose proof covers the problem's loss in any order;
    if there is none, the clause says so and advises to keep the rows in the store.
    """
    loss = problem.loss
    named = [
        name for name, kind in METHODS.items() if "in_place" in _options(kind) and _is_proven_elsewhere(kind, problem)
    ]
    if not named:
        return f"no method is proven there for the {loss.name} loss: keep the rows in the store"
    return f"plan with method {' or '.join(map(repr, named))}"


def _is_proven_elsewhere(kind: type[Method], problem: Problem) -> bool:
    try:
        kind().allow_any_order().check_any_order(problem, "")
    except NoisyGDDeleteError:
        return False
    return True


def _unknown_message(kind: type[Method], unknown: list[str]) -> str:
    """Return whose options these are, and the remedy."""
    known = sorted(_options(kind))
    if kind.analysis:
        known = [f"analysis (one of {', '.join(ANALYSES)})", *known]
    owners = {name: [spec for spec, other in method_variants().items() if name in _options(other)] for name in unknown}
    belongs = "; ".join(
        f"{name} belongs to {', '.join(map(repr, others))}" if others else f"{name} belongs to no method"
        for name, others in owners.items()
    )
    return (
        f"method {kind.variant_name()!r} has no option {', '.join(unknown)}: {belongs}. Leave it out; the options of "
        f"{kind.variant_name()!r} are {', '.join(known) or 'none'}"
    )


def _options(kind: type[Method]) -> set[str]:
    return {field.name for field in fields(kind)}
