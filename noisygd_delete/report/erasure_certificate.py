"""The erasure certificate: what was erased, by which run, and what an observer can still learn.

It has two halves. The facts (identity, request, action, the plan, the ledger) are public and chosen by the caller; the
statement (guarantees, assumptions, plain words, what is not covered, what is left to do) is a function of the facts, so
that anybody can recompute it. No name, id of a record, row or label enters either.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from .. import __version__
from ..accountant import Accountant, Event
from ..errors import InvalidParameter, choice, count
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee, stated_delta
from . import words

FORMAT = "noisygd-delete/erasure-certificate/1"
STATUSES = ("published", "withheld", "pending")
ORDER = 10.0  # of the Rényi figures where the budget names none


@dataclass(frozen=True)
class Erasure:
    """The facts of one erasure, as the operator states them.

    release      number of the release that published the edited table; None while none has
    status       "published"; "withheld": rows erased, the budget allowed no publication, the old model is withdrawn;
                 "pending": rows erased, the model will follow with the next release
    rows         rows erased by the request
    request_id   the caller's random token: never a name or an address
    received, served   times, ISO 8601 in UTC
    model_before, model_after   SHA-256 of the model files
    checked      what was checked on the store afterwards, in words, with the result
    audit        results of an audit run, if any: {"name", "measured_lower_bound", "claimed_advantage"}
    controller   who answers for the data (an organisation)
    ledger_entries, ledger_sha256   length of the store's hash chain when this was issued, and its last link: what
                 `verify --certificate` holds a store against
    """

    rows: int
    release: int | None
    status: str = "published"
    request_id: str | None = None
    received: str | None = None
    served: str | None = None
    model_before: str | None = None
    model_after: str | None = None
    checked: str | None = None
    audit: tuple[Mapping[str, Any], ...] = ()
    controller: str | None = None
    ledger_entries: int | None = None
    ledger_sha256: str | None = None

    def __post_init__(self) -> None:
        count("rows", self.rows)
        if (self.ledger_entries is None) != (self.ledger_sha256 is None):
            raise InvalidParameter("ledger_entries and ledger_sha256 describe the same state: give both or neither")
        choice("status", self.status, STATUSES)
        if (self.release is None) != (self.status != "published"):
            raise InvalidParameter(f"status={self.status!r} and release={self.release!r} contradict each other")
        for name in ("received", "served"):
            when = getattr(self, name)
            if when is not None:
                object.__setattr__(self, name, _utc(name, when))

    @property
    def deadline(self) -> str | None:
        """One calendar month after receipt (Article 12(3) GDPR)."""
        if self.received is None:
            return None
        start = datetime.fromisoformat(self.received)
        year, month = divmod(start.year * 12 + start.month, 12)
        month += 1
        day = min(start.day, calendar.monthrange(year, month)[1])
        return start.replace(year=year, month=month, day=day).isoformat()


def _utc(name: str, when: str) -> str:
    try:
        moment = datetime.fromisoformat(when)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(
            f"{name}={when!r} must be a time in ISO 8601, for example 2026-05-04T09:30:00Z"
        ) from error
    if moment.tzinfo is None:
        raise InvalidParameter(f"{name}={when!r} needs a time zone, for example a trailing Z")
    return moment.astimezone(UTC).isoformat()


def erasure_certificate(
    erasure: Erasure, *, plan: Plan, events: Iterable[Event], delta: float | None = None, issued: str | None = None
) -> dict[str, Any]:
    """The certificate as a JSON object; `sign` it, then hand it out.

    Args:
        plan: the plan under which the release was made. events: every release so far, in order.
        delta: δ of the (ε, δ) figures; None: the budget's own, or 1e-6.
        issued: time of issue, ISO 8601; default now.

    Raises:
        InvalidParameter: facts that contradict one another or the ledger.
    """
    facts = {
        "format": FORMAT,
        "identity": {
            "certificate_id": str(uuid4()),
            "software": "noisygd-delete",
            "version": __version__,
            "issued": _utc("issued", issued) if issued else datetime.now(UTC).replace(microsecond=0).isoformat(),
            "controller": erasure.controller,
        },
        "request": {
            "request_id": erasure.request_id,
            "received": erasure.received,
            "served": erasure.served,
            "deadline": erasure.deadline,
            "rows": erasure.rows,
        },
        "action": {
            "status": erasure.status,
            "release": erasure.release,
            "model_before_sha256": erasure.model_before,
            "model_after_sha256": erasure.model_after,
        },
        "evidence": {
            "checked": erasure.checked,
            "audit": [dict(result) for result in erasure.audit],
            "ledger_entries": erasure.ledger_entries,
            "ledger_sha256": erasure.ledger_sha256,
        },
        "public_facts": {
            "plan": plan.to_dict(),
            "ledger": [event.to_dict() for event in events],
            "delta": stated_delta("delta", plan.budget.shown_delta if delta is None else delta),
        },
    }
    return {**facts, "statement": statement(facts)}


def erasure_of(facts: Mapping[str, Any]) -> Erasure:
    """The `Erasure` a certificate was made from; contradictions are refused."""
    request, action = facts["request"], facts["action"]
    erasure = Erasure(
        rows=request["rows"],
        release=action["release"],
        status=action["status"],
        request_id=request["request_id"],
        received=request["received"],
        served=request["served"],
        model_before=action["model_before_sha256"],
        model_after=action["model_after_sha256"],
        checked=facts["evidence"]["checked"],
        audit=tuple(facts["evidence"]["audit"]),
        controller=facts["identity"]["controller"],
        ledger_entries=facts["evidence"]["ledger_entries"],
        ledger_sha256=facts["evidence"]["ledger_sha256"],
    )
    if request["deadline"] != erasure.deadline:
        raise InvalidParameter(f"deadline={request['deadline']!r} is not one month after {erasure.received!r}")
    return erasure


def statement(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Everything the certificate concludes, from its facts alone.

    Raises:
        InvalidParameter: the facts contradict one another.
    """
    erasure = erasure_of(facts)
    plan = Plan.from_dict(facts["public_facts"]["plan"])
    delta = stated_delta("delta", facts["public_facts"]["delta"])
    accountant = Accountant(plan, (Event.from_dict(event) for event in facts["public_facts"]["ledger"]))
    order = plan.budget.order or ORDER
    promises = guarantees(erasure, accountant)
    served = None if erasure.release is None else _served(erasure, accountant)
    return {
        "run": {
            "kind": None if served is None else served.kind,
            "steps": None if served is None else served.steps,
            "gradient_evaluations": None
            if served is None
            else plan.gradient_evaluations["learn" if served.fresh else "delete"],
            "gradient_evaluations_of_learning": plan.gradient_evaluations["learn"],
            "releases_so_far": len(accountant.events),
        },
        "guarantees": {name: figures(promise, order=order, delta=delta) for name, promise in promises.items()},
        "theorem": plan.dp.source,
        "adaptivity": words.ADAPTIVITY,
        "loss": {**plan.loss.to_dict(), "constants": _finite(asdict(plan.loss.constants))},
        "assumptions": [*plan.dp.assumptions, *words.assumptions(plan)],
        "plain_words": words.plain(erasure.status, erasure.rows, promises, order=order, delta=delta),
        "not_covered": list(words.NOT_COVERED),
        "to_do": words.to_do(erasure.status),
    }


def _served(erasure: Erasure, accountant: Accountant) -> Event:
    number = count("release", erasure.release)
    if number > len(accountant.events):
        raise InvalidParameter(f"release={number} is not in the ledger of {len(accountant.events)} releases")
    event = accountant.events[number - 1]
    assert accountant.plan is not None
    if event.mechanism != accountant.plan.mechanism:
        raise InvalidParameter(f"release {number} was not made under the plan of this certificate")
    if not event.steps >= (accountant.plan.learn_steps if event.fresh else accountant.plan.delete_steps):
        raise InvalidParameter(f"release {number} took {event.steps} steps, fewer than its plan asks for")
    if not event.edits >= erasure.rows:
        raise InvalidParameter(
            f"release {number} covers {event.edits} edits, fewer than the {erasure.rows} rows erased"
        )
    return event


def guarantees(erasure: Erasure, accountant: Accountant) -> dict[str, Guarantee]:
    """The four promises: about the erased record from later models and from all of them; about those still there.

    A record counts as present since the first release, which is the worst case.
    """
    plan = accountant.plan
    assert plan is not None
    notion = plan.problem.deletion_notion
    if erasure.release is None:  # nothing published since: only what was out before
        seen = accountant.dp_cumulative(adjacency="replace" if notion == "pairwise" else "zero-out")
        later = {"erased_all_models": seen}
    else:
        _served(erasure, accountant)
        from_here = range(erasure.release, len(accountant.events) + 1)
        later = {
            "erased_later_models": accountant.deletion(erased_at=erasure.release, observed=from_here),
            "erased_all_models": accountant.deletion(erased_at=erasure.release),
        }
    return {**later, "existing_one_release": accountant.dp(), "existing_all_models": accountant.dp_cumulative()}


def figures(guarantee: Guarantee, *, order: float, delta: float) -> dict[str, Any]:
    """One promise in every measure, with the rounding slack of the machine included."""
    slackened = guarantee.with_slack()
    return {
        "about": guarantee.about,
        "adjacency": guarantee.adjacency,
        "rows_per_subject": guarantee.rows,
        "renyi": {"order": order, **_finite({"epsilon": slackened.renyi(order)})},
        "approximate": {**_finite({"epsilon": slackened.epsilon(delta)}), "delta": delta},
        "gdp": slackened.gdp,
        "advantage": slackened.advantage,
        "slack": guarantee.slack,
        "proven": guarantee.proven,
    }


def _finite(numbers: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: a constant or a bound that does not exist is null."""
    return {name: None if value == float("inf") else value for name, value in numbers.items()}


BLOCKS = ("format", "identity", "request", "action", "evidence", "public_facts", "statement", "signature")
