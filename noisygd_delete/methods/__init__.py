"""The registry of methods and mechanisms by name.

To add a method, write its module here and its formulas in `bounds/`, and register it in this file.
Each method is imported on first use, so reading the facts of one kind of release loads no other method.

>>> resolve_method("perturbed", solver="cold").solver
'cold'
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
    from .composition import Composition
    from .counted import CountedRecords
    from .ladder import Ladder, Stage
    from .minimiser import Minimiser
    from .near_gibbs import NearGibbs
    from .perturbed import Perturbed
    from .plan import Method, Plan
    from .problem import Problem, Procedure
    from .sampled_steps import SampledGaussian
    from .sharp import Sharp
    from .sums import MarkovSums
    from .theorem import Theorem

__all__ = [
    "MECHANISMS",
    "METHODS",
    "Composition",
    "CountedRecords",
    "Ladder",
    "MarkovSums",
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
    "compared_methods",
    "external_row_methods",
    "order_free_methods",
    "resolve_method",
]

__getattr__ = on_first_use(
    __name__,
    {
        **dict.fromkeys(("Mechanism", "NoisySteps"), "base"),
        **dict.fromkeys(("Composition", "CompositionRun"), "composition"),
        "CountedRecords": "counted",
        **dict.fromkeys(("Ladder", "LadderRun", "SampledStage", "Stage"), "ladder"),
        **dict.fromkeys(("Minimiser", "MinimiserRun"), "minimiser"),
        **dict.fromkeys(("NearGibbs", "NearGibbsRun"), "near_gibbs"),
        "Perturbed": "perturbed",
        "PerturbedRun": "perturbed",
        **dict.fromkeys(("Method", "Plan"), "plan"),
        "Problem": "problem",
        "Procedure": "problem",
        **dict.fromkeys(("Moments", "MomentsRun"), "moments"),
        **dict.fromkeys(("SampledGaussian", "SampledSteps"), "sampled_steps"),
        **dict.fromkeys(("MarkovSums", "MarkovSumsRun"), "sums"),
        **dict.fromkeys(("Sharp", "SharpRun"), "sharp"),
        **dict.fromkeys(("Theorem", "TheoremRun"), "theorem"),
    },
)

_METHODS = {
    "theorem": "Theorem",
    "sharp": "Sharp",
    "minimiser": "Minimiser",
    "perturbed": "Perturbed",
    "sums": "MarkovSums",
    "composition": "Composition",
    "ladder": "Ladder",
    "near-gibbs": "NearGibbs",
}
_STAGE_METHODS = {"moments": "Moments", "sampled-steps": "SampledStage"}  # planned as stages of a ladder only
_MECHANISMS = {
    **{name: f"{method}Run" for name, method in _METHODS.items()},
    "moments": "MomentsRun",
    "sampled-steps": "SampledSteps",
    "sampled-gaussian": "SampledGaussian",  # trains an extractor; makes no plan
    "counted-records": "CountedRecords",  # counts records; trains no model
}
METHODS: Mapping[str, type[Method]] = Catalogue(_METHODS, lambda name: __getattr__(_METHODS[name]))
STAGE_METHODS: Mapping[str, type[Method]] = Catalogue(_STAGE_METHODS, lambda name: __getattr__(_STAGE_METHODS[name]))
MECHANISMS: Mapping[str, type[Mechanism]] = Catalogue(_MECHANISMS, lambda name: __getattr__(_MECHANISMS[name]))


def resolve_method(method: str | Method, **options: Any) -> Method:
    """Return the method of this name with the given options, or the `Method` instance unchanged.

    Args:
        method: A key of `METHODS`, or a `Method` instance, which takes no options.
        options: Fields of the method's dataclass.

    Raises:
        InvalidParameter: If there is no such method, it has no such option, or options are given with an instance.
    """
    from .plan import Method

    if isinstance(method, Method):
        if options:
            raise InvalidParameter(
                f"{', '.join(sorted(options))}: give the options of a method to the method itself, "
                f"{type(method).__name__}(...), or name the method by a string"
            )
        return method
    kind = METHODS[check_choice("method", method, tuple(METHODS))]
    known = [field.name for field in fields(kind)]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InvalidParameter(f"{_unknown_message(method, unknown)} Options of {method!r}: {', '.join(known)}")
    return kind(**options)


def compared_methods() -> tuple[str, ...]:
    """Return the names of the methods that the planner compares when none is named."""
    return tuple(name for name, kind in METHODS.items() if kind.weighed != "never")


def order_free_methods() -> tuple[str, ...]:
    """Return the names of the methods that allow a different row order in every release, as in an external source."""
    from .plan import Method

    return tuple(name for name, kind in METHODS.items() if kind.check_any_order is not Method.check_any_order)


def with_map(method: Method, map: PublicMap | None) -> Method:
    """Return the method with its `map` option set to this public map, if it has the option and the map has a coding.

    The rows of the map have full norm and a constant.
    """
    used = map is not None and map.coding is not None and "map" in _options(type(method))
    return replace(method, map=map) if used else method  # type: ignore[call-arg]


def external_row_methods(problem: Problem) -> str:
    """Return which methods to plan with for external rows that arrive in any order, as a clause for error messages."""
    loss = problem.loss
    named = [
        name for name, kind in METHODS.items() if "in_place" in _options(kind) and _is_proven_elsewhere(kind, problem)
    ]
    if not named:
        return f"no method is proven there for the {loss.name} loss: keep the rows in the store"
    return f"plan with method {' or '.join(map(repr, named))}"


def _is_proven_elsewhere(kind: type[Method], problem: Problem) -> bool:
    try:
        kind().in_any_order().check_any_order(problem, "")
    except NoisyGDDeleteError:
        return False
    return True


def _unknown_message(method: str, unknown: list[str]) -> str:
    owners = {name: [other for other, kind in METHODS.items() if name in _options(kind)] for name in unknown}
    belongs = "; ".join(
        f"{name} belongs to {', '.join(map(repr, others))}" if others else f"{name} belongs to no method"
        for name, others in owners.items()
    )
    return f"method {method!r} has no option {', '.join(unknown)}: {belongs}."


def _options(kind: type[Method]) -> set[str]:
    return {field.name for field in fields(kind)}
