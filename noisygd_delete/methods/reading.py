"""Plans and mechanisms from JSON, also as version 0.1 wrote them: a file may say anything, so every field is checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar, get_type_hints

import msgspec

from ..errors import InvalidParameter, real
from ..losses import from_dict as loss_from_dict
from ..privacy.budget import Budget, Total
from . import FORMER_METHODS, MECHANISMS, METHODS, STAGE_METHODS
from .base import Mechanism
from .plan import MOST_STAGES, Method, Numbers, Plan, method_of
from .problem import Problem

T = TypeVar("T")

_ALWAYS = (
    *("step_size", "noise_variance", "init_variance", "learn_steps", "delete_steps_for_deletion"),
    "delete_steps_for_utility",
)
_OLD_OPTIONS = (
    *("step_size", "noise_variance", "solver", "diffusion_steps", "gradient_tolerance"),
    *("learn_steps", "delete_steps", "requests_per_learn", "fresh_learn", "excess_risk"),
)


def typed(kind: type[T], given: Mapping[str, Any], what: str, **read: Any) -> T:
    """A dataclass from its fields: each of the type that the class declares, finite, none unknown or missing.

    Args:
        read: fields that were read already, in place of what the file has there.

    Raises:
        InvalidParameter: `what` cannot be read; says which field and why.
    """
    if not isinstance(given, Mapping):
        raise InvalidParameter(f"not {what}: expected an object, found {type(given).__name__}")
    hints = _hints(kind)  # type: ignore[arg-type]
    _check_known(kind, given, what)
    converted: dict[str, Any] = {}
    for name in given.keys() - read.keys():
        try:
            converted[name] = msgspec.convert(given[name], hints[name])
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            raise InvalidParameter(f"not {what}: {name}: {error}") from error
        _check_parts(given[name], converted[name], f"{what}: {name}")
        if isinstance(converted[name], float):
            real(name, converted[name])
            if converted[name] == 0 and math.copysign(1.0, converted[name]) < 0:  # a signed paper has one form
                raise InvalidParameter(f"not {what}: {name}: zero is written 0.0, never -0.0")
    try:
        return kind(**converted, **read)
    except TypeError as error:
        raise InvalidParameter(f"not {what}: {error}") from error


def _check_known(kind: type, given: Mapping[str, Any], what: str) -> None:
    unknown = sorted(set(given) - {field.name for field in fields(kind)})
    if unknown:
        raise InvalidParameter(f"not {what}: unknown {', '.join(map(repr, unknown))}")


def _check_parts(given: Any, made: Any, what: str) -> None:
    """Refuse what lies inside a part under a name that the part does not know: msgspec passes over it."""
    if isinstance(given, (list, tuple)):
        for one, other in zip(given, made, strict=True):
            _check_parts(one, other, what)
    elif isinstance(given, Mapping) and not isinstance(made, Mapping):
        _check_known(type(made), given, what)
        for name in given:
            _check_parts(given[name], getattr(made, name), f"{what}: {name}")


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of a class's fields; looking them up takes far longer than checking them."""
    return get_type_hints(kind)


def mechanism_from_dict(given: Mapping[str, Any]) -> Mechanism:
    """Read back `Mechanism.to_dict`."""
    given = _modern_mechanism(given)
    kind: type[Mechanism] = _known(MECHANISMS, given, "method")
    facts = {name: value for name, value in given.items() if name != "method"}
    if given["method"] in FORMER_METHODS:
        facts = kind.in_parts(facts)  # type: ignore[attr-defined]
    inner = {name: _stages(facts[name], mechanism_from_dict, "method") for name in ("kept", "later") if name in facts}
    return typed(kind, facts, "the facts of a release", **inner)


def _stages(given: Any, read: Callable[[Mapping[str, Any]], T], inside: str) -> tuple[T, ...]:
    """Descriptions inside another one, in a row; none of which may hold further ones, so that no file is read without end."""
    if not isinstance(given, (list, tuple)) or len(given) > MOST_STAGES:
        raise InvalidParameter(f"not the stages of a ladder: expected a list of at most {MOST_STAGES}")
    for one in given:
        if not isinstance(one, Mapping) or {"kept", "later", "stages"} & one.keys():
            raise InvalidParameter(
                f"not a stage of a ladder: expected an object with a {inside} and no stages of its own"
            )
    return tuple(read(one) for one in given)


def method_from_dict(given: Mapping[str, Any]) -> Method:
    """Read back `Method.to_dict`."""
    name = given.get("name") if isinstance(given, Mapping) else None
    others = (one for one in (STAGE_METHODS, FORMER_METHODS) if isinstance(name, str) and name in one)
    kind: type[Method] = _known(next(others, METHODS), given, "name")
    options = {name: value for name, value in given.items() if name != "name"}
    if "exact" in (option.name for option in fields(kind)):  # which such a plan was, before it said so
        options.setdefault("exact", name in FORMER_METHODS)
    return typed(kind, options, "a method")


def problem_from_dict(given: Mapping[str, Any]) -> Problem:
    """Read back `Problem.to_dict`."""
    if not isinstance(given, Mapping):
        raise InvalidParameter("not the arguments of a plan: expected an object")
    given = _modern_problem(given)
    try:
        read = {
            "loss": loss_from_dict(given["loss"]),
            "budget": Budget(**given["budget"]),
            "method": method_from_dict(given["method"]),
            "total": _total(given.get("total")),
        }
    except (TypeError, KeyError) as error:
        raise InvalidParameter(f"not the arguments of a plan: {error}") from error
    given = {"slack_in_budget": False, **given}  # what version 0.1 left out
    return typed(Problem, given, "the arguments of a plan", **read)


def _total(given: Any) -> Total | None:
    return None if given is None else typed(Total, given, "the total of all publications")


def plan_from_dict(given: Mapping[str, Any]) -> Plan:
    """Read back `Plan.to_dict`; unknown or missing fields are refused."""
    if not isinstance(given, Mapping) or "problem" not in given:
        raise InvalidParameter("not a plan: expected an object with a problem")
    asked, order = given["problem"], given.get("order")
    if isinstance(asked, Mapping) and "certificate" in asked:  # version 0.1 kept what a method chose beside the problem
        if asked.get("start") == "minimiser":
            asked = {
                **asked,
                "diffusion_steps": given.get("learn_steps"),
                "gradient_tolerance": given.get("gradient_tolerance"),
            }
        asked = _modern_problem(asked, order=order)
    missing = sorted(set(_ALWAYS) - given.keys())
    if missing:
        raise InvalidParameter(f"not a plan: missing {', '.join(map(repr, missing))}")
    inner = {"stages": _stages(given["stages"], plan_from_dict, "problem")} if "stages" in given else {}
    listed = {name: value for name, value in given.items() if name not in ("order", "problem")}
    numbers, problem = typed(Numbers, listed, "a plan", **inner), problem_from_dict(asked)
    plan = method_of(problem).assemble(problem, numbers)
    if plan.numbers != numbers:
        raise InvalidParameter(f"not a plan by method {problem.method.name!r}, which has other numbers")
    return plan


def _known(catalogue: Mapping[str, Any], given: Mapping[str, Any], tag: str) -> Any:
    name = given.get(tag) if isinstance(given, Mapping) else None
    if not isinstance(name, str) or name not in catalogue:
        raise InvalidParameter(f"must be one of {', '.join(map(repr, catalogue))}", **{tag: name})
    return catalogue[name]


def _modern_mechanism(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Version 0.1 told methods apart by a certificate, a start and the presence of Theorem 5.2's facts."""
    if not isinstance(given, Mapping) or "method" in given:
        return given
    facts = dict(given)
    if "noise_multiplier" in facts:
        return {**facts, "method": "sampled-gaussian"}
    name, start, gibbs = facts.pop("certificate", None), facts.pop("start", "published"), facts.pop("gibbs", None)
    solved: dict[str, Any] = {key: facts.pop(key) for key in ("gradient_tolerance", "warm") if key in facts}
    if start == "minimiser":
        return {**facts, **solved, "method": "minimiser"}
    return {**facts, "method": name} if gibbs is None else {**facts, "gibbs": gibbs, "method": "near-gibbs"}


def _modern_problem(given: Mapping[str, Any], *, order: float | None = None) -> Mapping[str, Any]:
    """The arguments of a plan of version 0.1: `certificate`, `start` and options of every method side by side."""
    if "method" in given or "certificate" not in given:
        return given
    asked = dict(given)
    name, start = asked.pop("certificate"), asked.pop("start", "published")
    options = {key: asked.pop(key) for key in _OLD_OPTIONS if key in asked}
    if "excess_risk" in options:
        options["excess_risk_target"] = options.pop("excess_risk")
    if order is not None:
        form = "sharper" if name == "sharp" else "printed"
        method = {"name": "near-gibbs", "form": form, "noise_variance": options.get("noise_variance"), "order": order}
    else:
        name = "minimiser" if start == "minimiser" else name
        kind = _known(METHODS, {"name": name}, "name")
        own = {field.name for field in fields(kind)}
        method = {"name": name, **{key: value for key, value in options.items() if key in own}}
    return {**asked, "method": method}
