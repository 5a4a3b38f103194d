"""Conversion of an account to and from JSON: a store includes it in every entry of its ledger."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidParameter, check_count
from ..methods.base import Mechanism
from ..methods.serialization import mechanism_from_dict
from ..records import EditCounts
from .account import Account, Erasing
from .events import Event, Stretch

_ENDLESS = "infinite"  # JSON has no infinity: the closeness is infinite if the step size exceeds what its bound allows


def to_dict(account: Account) -> dict[str, Any]:
    """Return the account as a JSON-compatible dictionary; mechanisms are listed once and referred to by index."""
    numbers = {mechanism: number for number, mechanism in enumerate(account.mechanisms)}

    def stretches(counted: Counter[Stretch]) -> list[list[Any]]:
        return [[numbers[mechanism], steps, times] for (mechanism, steps, _), times in counted.items()]

    def carried(held: tuple[Stretch, ...]) -> list[list[Any]]:
        return stretches(Counter(held))

    def erasing(one: Erasing) -> dict[str, Any]:
        return {
            "number": one.number,
            "mechanism": numbers[one.mechanism],
            "since": one.since,
            "steps": one.steps,
            "carried": carried(one.carried),
            "closeness": _closeness(one.closeness),
        }

    last = account.last
    optional: dict[str, Any] = {}  # only if there are statistics: the format of other accounts is unchanged
    if account.statistic is not None:
        optional["statistic"] = stretches(Counter([account.statistic]))
    if account.model != account.releases:
        optional["model"] = account.model
    return {
        "releases": account.releases,
        "mechanisms": [_describe_mechanism(mechanism) for mechanism in account.mechanisms],
        "last": None if last is None else _event(last, numbers[last.mechanism]),
        "published": stretches(account.published),
        "since_fresh": account.since_fresh,
        "carried": carried(account.carried),
        "trained": account.trained,
        "relearned": account.relearned,
        "closeness": _closeness(account.closeness),
        "erasing": None if account.erasing is None else erasing(account.erasing),
        "before": stretches(account.before),
        "dearest": [erasing(one) for one in account.dearest],
        **optional,
    }


_DESCRIBED: dict[int, tuple[Mechanism, dict[str, Any]]] = {}  # by id, valid while the object is referenced here
_MOST_DESCRIBED = 256


def _describe_mechanism(mechanism: Mechanism) -> dict[str, Any]:
    """Return `Mechanism.to_dict()`, cached: thousands of entries contain the same few mechanisms."""
    held = _DESCRIBED.get(id(mechanism))
    if held is None:
        if len(_DESCRIBED) >= _MOST_DESCRIBED:
            _DESCRIBED.clear()
        held = _DESCRIBED[id(mechanism)] = mechanism, mechanism.to_dict()
    return dict(held[1])


def _event(event: Event, mechanism: int) -> dict[str, Any]:
    """Return a release as a dictionary, with its mechanism as an index."""
    return {
        "kind": str(event.kind),
        "steps": event.steps,
        "edits": event.edits,
        "mechanism": mechanism,
        "counts": event.counts.to_dict(),
    }


def _closeness(value: float | None) -> float | str | None:
    return _ENDLESS if value == math.inf else value


def from_dict(fields: Mapping[str, Any]) -> Account:
    """Parse the output of `to_dict`.

    Raises:
        InvalidParameter: If `fields` is not such an output. Whether the sums are those of the releases is not checked.
    """
    try:
        account = _parse_account(fields)
    except (TypeError, KeyError, ValueError, IndexError, AttributeError) as error:
        raise InvalidParameter(f"not the sums of an account: {error!r}") from error
    if (account.last is None) != (account.releases == 0) or to_dict(account) != fields:
        raise InvalidParameter("not the sums of an account: parts unknown, missing, or of another kind")
    return account


def _parse_account(fields: Mapping[str, Any]) -> Account:
    mechanisms: Sequence[Mechanism] = [mechanism_from_dict(facts) for facts in fields["mechanisms"]]

    def numbered(number: Any) -> Mechanism:
        return mechanisms[check_count("mechanism", number, minimum=0)]

    def stretches(listed: Any) -> Counter[Stretch]:
        return Counter(
            {(numbered(n), check_count("steps", s), 0.0): check_count("times", times) for n, s, times in listed}
        )

    def erasing(one: Mapping[str, Any]) -> Erasing:
        return Erasing(
            number=check_count("number", one["number"]),
            mechanism=numbered(one["mechanism"]),
            since=check_count("since", one["since"], minimum=0),
            steps=check_count("steps", one["steps"], minimum=0),
            carried=tuple(stretches(one["carried"])),
            closeness=_far(one["closeness"]),
        )

    last, statistics = fields["last"], tuple(stretches(fields.get("statistic", [])))
    return Account(
        releases=check_count("releases", fields["releases"], minimum=0),
        model=check_count("model", fields.get("model", fields["releases"]), minimum=0),
        statistic=statistics[0] if statistics else None,
        last=None
        if last is None
        else Event(
            **{**last, "mechanism": numbered(last["mechanism"]), "counts": EditCounts.from_dict(last["counts"])}
        ),
        mechanisms=dict.fromkeys(mechanisms),
        published=stretches(fields["published"]),
        since_fresh=check_count("since_fresh", fields["since_fresh"], minimum=0),
        carried=tuple(stretches(fields["carried"])),
        trained=check_count("trained", fields["trained"], minimum=0),
        relearned=check_count("relearned", fields["relearned"], minimum=0),
        closeness=_far(fields["closeness"]),
        erasing=None if fields["erasing"] is None else erasing(fields["erasing"]),
        before=stretches(fields["before"]),
        dearest=tuple(erasing(one) for one in fields["dearest"]),
    )


def _far(value: Any) -> float | None:
    if value is None:
        return None
    return math.inf if value == _ENDLESS else float(value)
