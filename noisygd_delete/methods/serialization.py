"""Plans and mechanisms from JSON. A file may contain anything, so every field is checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar, get_type_hints

import msgspec

from ..errors import InvalidParameter, check_real
from ..losses import from_dict as loss_from_dict
from ..privacy.budget import Budget, Total
from . import ANALYSES, MECHANISMS, METHODS, STAGE_METHODS
from .base import Mechanism
from .plan import MOST_STAGES, Calibration, Method, Plan, method_of
from .problem import Problem

T = TypeVar("T")

_ALWAYS = (
    *("step_size", "noise_variance", "init_variance", "learn_steps", "delete_steps_for_deletion"),
    "delete_steps_for_utility",
)


# forecasts and search settings of a plan: a certificate omits them, since no claim follows from them
FORECASTS = (
    *("learn_solver_passes", "delete_solver_passes", "utility", "utility_tolerance", "requested_regularization"),
    *("model_norm", "rows_a_person"),
)


def parse_dataclass(kind: type[T], given: Mapping[str, Any], what: str, **read: Any) -> T:
    """Return an instance of a dataclass from its fields, each of its declared type and finite, none unknown or missing.

    Fields with a default may be missing (`check_complete` forbids it). A float -0.0 is refused, and unknown fields of
    nested parts too.

    Args:
        kind: The dataclass.
        given: The fields as read.
        what: Name of the object for messages.
        **read: Fields already parsed, which replace those of the file.

    Raises:
        InvalidParameter: If `given` cannot be read; the message names the field and the reason.
    """
    if not isinstance(given, Mapping):
        raise InvalidParameter(f"not {what}: expected an object, found {type(given).__name__}")
    hints = _field_types(kind)  # type: ignore[arg-type]
    _check_known(kind, given, what)
    converted: dict[str, Any] = {}
    for name in given.keys() - read.keys():
        try:
            converted[name] = msgspec.convert(given[name], hints[name])
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            raise InvalidParameter(f"not {what}: {name}: {error}") from error
        _check_parts(given[name], converted[name], f"{what}: {name}")
        if isinstance(converted[name], float):
            check_real(name, converted[name])
            if converted[name] == 0 and math.copysign(1.0, converted[name]) < 0:  # a signed document has one form
                raise InvalidParameter(f"not {what}: {name}: zero is written 0.0, never -0.0")
    try:
        return kind(**converted, **read)
    except TypeError as error:
        raise InvalidParameter(f"not {what}: {error}") from error


def _check_known(kind: type, given: Mapping[str, Any], what: str) -> None:
    unknown = sorted(set(given) - {field.name for field in fields(kind)})
    if unknown:
        raise InvalidParameter(f"not {what}: unknown {', '.join(map(repr, unknown))}")


def check_complete(given: Any, written: Any, what: str, *, optional: Sequence[str] = ()) -> None:
    """Check that a description has every field that the object writes, so that no default is used silently.

    Args:
        given: The description as read.
        written: The description that the resulting object writes.
        what: Name of the object for messages.
        optional: Fields that may be missing.

    Raises:
        InvalidParameter: If a field is missing, also in a nested part.
    """
    if isinstance(given, Mapping) and isinstance(written, Mapping):
        missing = sorted(name for name in written if name not in given and name not in optional)
        if missing:
            raise InvalidParameter(f"not {what}: missing {', '.join(map(repr, missing))}")
        for name in written:
            if name in given:
                check_complete(given[name], written[name], f"{what}: {name}", optional=optional)
    elif isinstance(given, (list, tuple)) and isinstance(written, (list, tuple)):
        for one, other in zip(given, written, strict=True):
            check_complete(one, other, what, optional=optional)


def _check_parts(given: Any, made: Any, what: str) -> None:
    """Check that no nested part has an unknown field, which msgspec would ignore."""
    if isinstance(given, (list, tuple)):
        for one, other in zip(given, made, strict=True):
            _check_parts(one, other, what)
    elif isinstance(given, Mapping) and not isinstance(made, Mapping):
        _check_known(type(made), given, what)
        for name in given:
            _check_parts(given[name], getattr(made, name), f"{what}: {name}")


@cache
def _field_types(kind: type) -> dict[str, Any]:
    """Return the types of a class's fields; cached, since looking them up takes far longer than checking them."""
    return get_type_hints(kind)


def mechanism_from_dict(given: Mapping[str, Any]) -> Mechanism:
    """Return the mechanism from the output of `Mechanism.to_dict`, of the kind named by "method" in `MECHANISMS`.

    Raises:
        InvalidParameter: If the kind or a field is unknown, a field is missing or invalid, or a stage is nested in a
            stage.
    """
    kind: type[Mechanism] = _parse_tagged(MECHANISMS, given, "method")
    facts = {name: value for name, value in given.items() if name != "method"}
    inner = {
        name: _parse_stages(facts[name], mechanism_from_dict, "method") for name in ("kept", "later") if name in facts
    }
    made = parse_dataclass(kind, facts, "the facts of a release", **inner)
    check_complete(given, made.to_dict(), "the facts of a release")
    return made


def _parse_stages(given: Any, read: Callable[[Mapping[str, Any]], T], inside: str) -> tuple[T, ...]:
    """Parse a list of nested descriptions, none of which may nest further ones, so that recursion is bounded."""
    if not isinstance(given, (list, tuple)) or len(given) > MOST_STAGES:
        raise InvalidParameter(f"not the stages of a ladder: expected a list of at most {MOST_STAGES}")
    for one in given:
        if not isinstance(one, Mapping) or {"kept", "later", "stages"} & one.keys():
            raise InvalidParameter(
                f"not a stage of a ladder: expected an object with a {inside} and no stages of its own"
            )
    return tuple(read(one) for one in given)


def method_from_dict(given: Mapping[str, Any]) -> Method:
    """Return the method from the output of `Method.to_dict`: its kind by "name" and "analysis", its options by field.

    Missing options take their defaults.

    Raises:
        InvalidParameter: If the kind or an option is unknown, or a value is invalid.
    """
    name = given.get("name") if isinstance(given, Mapping) else None
    kind: type[Method] = _parse_tagged(STAGE_METHODS if name in (*STAGE_METHODS,) else METHODS, given, "name")
    if name == "noisy-gd":
        kind = _parse_tagged(ANALYSES, given, "analysis")
    tags = ("name", "analysis") if kind.analysis else ("name",)
    return parse_dataclass(kind, {name: value for name, value in given.items() if name not in tags}, "a method")


def problem_from_dict(given: Mapping[str, Any]) -> Problem:
    """Return the problem from the output of `Problem.to_dict`, with its loss, budget, method and total.

    Missing fields that have a default take it; `plan_from_dict` refuses them.

    Raises:
        InvalidParameter: If a field is unknown, invalid or missing without a default.
    """
    if not isinstance(given, Mapping):
        raise InvalidParameter("not the arguments of a plan: expected an object")
    try:
        read = {
            "loss": loss_from_dict(given["loss"]),
            "budget": Budget(**given["budget"]),
            "method": method_from_dict(given["method"]),
            "total": _parse_total(given.get("total")),
        }
    except (TypeError, KeyError) as error:
        raise InvalidParameter(f"not the arguments of a plan: {error}") from error
    return parse_dataclass(Problem, given, "the arguments of a plan", **read)


def _parse_total(given: Any) -> Total | None:
    return None if given is None else parse_dataclass(Total, given, "the total of all publications")


def plan_from_dict(given: Mapping[str, Any]) -> Plan:
    """Return the plan from the output of `Plan.to_dict`, rebuilt by its method's `assemble`.

    Forecasts (`FORECASTS`) may be missing.

    Raises:
        InvalidParameter: If a field is unknown, missing or invalid, or the method derives other numbers from these.
    """
    if not isinstance(given, Mapping) or "problem" not in given:
        raise InvalidParameter("not a plan: expected an object with a problem")
    missing = sorted(set(_ALWAYS) - given.keys())
    if missing:
        raise InvalidParameter(f"not a plan: missing {', '.join(map(repr, missing))}")
    inner = {"stages": _parse_stages(given["stages"], plan_from_dict, "problem")} if "stages" in given else {}
    listed = {name: value for name, value in given.items() if name != "problem"}
    numbers, problem = parse_dataclass(Calibration, listed, "a plan", **inner), problem_from_dict(given["problem"])
    plan = method_of(problem).assemble(problem, numbers)
    if plan.calibration != numbers:
        raise InvalidParameter(f"not a plan by method {problem.method.name!r}, which has other numbers")
    check_complete(given, plan.to_dict(), "a plan", optional=FORECASTS)
    return plan


def _parse_tagged(catalogue: Mapping[str, Any], given: Mapping[str, Any], tag: str) -> Any:
    name = given.get(tag) if isinstance(given, Mapping) else None
    if not isinstance(name, str) or name not in catalogue:
        raise InvalidParameter(f"must be one of {', '.join(map(repr, catalogue))}", **{tag: name})
    return catalogue[name]
