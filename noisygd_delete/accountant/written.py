"""An account as JSON, and back: what a store seals with every entry of its ledger."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidParameter, count
from ..methods.base import Mechanism
from ..methods.reading import mechanism_from_dict
from ..records import EditCounts
from .account import Account, Erasing
from .events import Event
from .intervals import Stretch

_ENDLESS = (
    "infinite"  # JSON has no infinity: a closeness that does not exist, of a step size beyond what its bound allows
)


def to_dict(account: Account) -> dict[str, Any]:
    """Every mechanism once, by number from there on."""
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
    told: dict[str, Any] = {}  # only where there are statistics: other accounts read as they always did
    if account.said is not None:
        told["said"] = stretches(Counter([account.said]))
    if account.model != account.releases:
        told["model"] = account.model
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
        **told,
    }


_DESCRIBED: dict[int, tuple[Mechanism, dict[str, Any]]] = {}  # by identity, which holds while the object is held
_MOST_DESCRIBED = 256


def _describe_mechanism(mechanism: Mechanism) -> dict[str, Any]:
    """`Mechanism.to_dict`, once for each: thousands of entries state the same few."""
    held = _DESCRIBED.get(id(mechanism))
    if held is None:
        if len(_DESCRIBED) >= _MOST_DESCRIBED:
            _DESCRIBED.clear()
        held = _DESCRIBED[id(mechanism)] = mechanism, mechanism.to_dict()
    return dict(held[1])


def _event(event: Event, mechanism: int) -> dict[str, Any]:
    """A release whose mechanism is a number."""
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
    """Read back `to_dict`.

    Raises:
        InvalidParameter: it is not one. Whether its sums are those of the releases is another question.
    """
    try:
        account = _read(fields)
    except (TypeError, KeyError, ValueError, IndexError, AttributeError) as error:
        raise InvalidParameter(f"not the sums of an account: {error!r}") from error
    if (account.last is None) != (account.releases == 0) or to_dict(account) != fields:
        raise InvalidParameter("not the sums of an account: parts unknown, missing, or of another kind")
    return account


def _read(fields: Mapping[str, Any]) -> Account:
    mechanisms: Sequence[Mechanism] = [mechanism_from_dict(facts) for facts in fields["mechanisms"]]

    def numbered(number: Any) -> Mechanism:
        return mechanisms[count("mechanism", number, minimum=0)]

    def stretches(listed: Any) -> Counter[Stretch]:
        return Counter({(numbered(n), count("steps", s), 0.0): count("times", times) for n, s, times in listed})

    def erasing(one: Mapping[str, Any]) -> Erasing:
        return Erasing(
            number=count("number", one["number"]),
            mechanism=numbered(one["mechanism"]),
            since=count("since", one["since"], minimum=0),
            steps=count("steps", one["steps"], minimum=0),
            carried=tuple(stretches(one["carried"])),
            closeness=_far(one["closeness"]),
        )

    last, said = fields["last"], tuple(stretches(fields.get("said", [])))
    return Account(
        releases=count("releases", fields["releases"], minimum=0),
        model=count("model", fields.get("model", fields["releases"]), minimum=0),
        said=said[0] if said else None,
        last=None
        if last is None
        else Event(
            **{**last, "mechanism": numbered(last["mechanism"]), "counts": EditCounts.from_dict(last["counts"])}
        ),
        mechanisms=dict.fromkeys(mechanisms),
        published=stretches(fields["published"]),
        since_fresh=count("since_fresh", fields["since_fresh"], minimum=0),
        carried=tuple(stretches(fields["carried"])),
        trained=count("trained", fields["trained"], minimum=0),
        relearned=count("relearned", fields["relearned"], minimum=0),
        closeness=_far(fields["closeness"]),
        erasing=None if fields["erasing"] is None else erasing(fields["erasing"]),
        before=stretches(fields["before"]),
        dearest=tuple(erasing(one) for one in fields["dearest"]),
    )


def _far(value: Any) -> float | None:
    if value is None:
        return None
    return math.inf if value == _ENDLESS else float(value)
