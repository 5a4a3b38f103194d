"""The erasure certificate: what was erased, by which run, and what an observer can still learn.

It has two halves. The facts (identity, request, action, evidence, the plan, the ledger) are stated by the operator, each in
its range (`facts.py`); the statement (guarantees, assumptions, plain words, what is not covered, what is left to do) is a
function of the facts, so that anybody can recompute it. No name, id of a record, row or label enters either; the request id
is the caller's own token.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from ..accountant import Accountant, Event
from ..accountant.tallies import Tallied, tallied
from ..errors import InvalidParameter
from ..methods.plan import Plan
from ..privacy.guarantee import NON_ADAPTIVE, Guarantee, stated_delta
from ..privacy.shown import WRITTEN, rounded_up
from ..privacy.worlds import Worlds
from ..register.dates import moment
from ..version import __version__
from . import words
from .canonical import canonical
from .elsewhere import made_by
from .facts import STATED, Erasure, in_order, number, version
from .notices import Notices

FORMAT = "noisygd-delete/erasure-certificate/3"
SOFTWARE = "noisygd-delete"
ORDER = 10.0  # of the Rényi figures where the budget names none
BLOCKS = ("format", "identity", "request", "action", "evidence", "public_facts", "statement", "signature")


class Bound(float):
    """An upper bound in a statement. It is written rounded up, so that a reader may compare every digit of it."""

    @classmethod
    def of(cls, value: float | None) -> Bound | None:
        """JSON has no infinity: a bound that does not exist is null."""
        return None if value is None or math.isinf(value) else cls(value)

    @property
    def written(self) -> float:
        return rounded_up(self, WRITTEN)


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
    history = tallied(list(events), erasure.release)
    issued = moment("issued", datetime.now(UTC).isoformat() if issued is None else issued)
    erasure.notices.follow(edited=erasure.edited, received=erasure.received, issued=issued)
    facts = {
        **stated(
            erasure,
            certificate_id=str(uuid4()),
            issued=issued,
        ),
        "public_facts": {
            "plan": plan.to_dict(),
            "ledger": [tally.to_dict() for tally in history.tallies],
            "delta": stated_delta("delta", plan.budget.shown_delta if delta is None else delta),
        },
    }
    return {**facts, "statement": written(statement(facts, erasure, plan, history))}


def stated(
    erasure: Erasure, *, certificate_id: str, issued: str, made_by: str = __version__, named: str = FORMAT
) -> dict[str, Any]:
    """The facts that the operator states, each in the one form in which it is written."""
    when = moment("issued", issued)
    in_order(received=erasure.received, edited=erasure.edited, served=erasure.served, issued=when)
    return {
        "format": named,
        "identity": {
            "certificate_id": number(certificate_id),
            "software": SOFTWARE,
            "version": version(made_by),
            "issued": when,
            "controller": erasure.controller,
        },
        "request": {
            "request_id": erasure.request_id,
            "received": erasure.received,
            "edited": erasure.edited,
            "served": erasure.served,
            "deadline": erasure.deadline,
            "rows": erasure.rows,
            "deleted": erasure.deleted,
            "replaced": erasure.replaced,
            "inserted": erasure.inserted,
            "notices": erasure.notices.to_dict(),
        },
        "action": {
            "status": str(erasure.status),
            "release": erasure.release,
            "model_before_sha256": erasure.model_before,
            "model_after_sha256": erasure.model_after,
        },
        "evidence": {
            "checked": erasure.checked,
            "audit": [dict(result) for result in erasure.audit],
            "ledger_entries": erasure.ledger_entries,
            "ledger_sha256": erasure.ledger_sha256,
            **_elsewhere(erasure),
        },
    }


def _elsewhere(erasure: Erasure) -> dict[str, Any]:
    """What is stated only where rows lie in a source of their own, or where it was looked for what an erasure leaves."""
    found: dict[str, Any] = {}
    if erasure.deleted_at is not None:
        found["source"] = {"deleted_at": erasure.deleted_at, "read_at": erasure.read_at}
    if erasure.counted is not None:
        found["source"]["counted"] = erasure.counted
    if erasure.residue:
        found["residue"] = [dict(place) for place in erasure.residue]
    if erasure.publishers:
        found["publishers"] = [dict(place) for place in erasure.publishers]
    return found


def erasure_of(facts: Mapping[str, Any]) -> Erasure:
    """The `Erasure` a certificate was made from; contradictions are refused."""
    request, action, evidence = facts["request"], facts["action"], facts["evidence"]
    return Erasure(
        rows=request["rows"],
        replaced=request["replaced"],
        inserted=request["inserted"],
        notices=Notices(**request["notices"]),
        release=action["release"],
        status=action["status"],
        request_id=request["request_id"],
        received=request["received"],
        edited=request["edited"],
        served=request["served"],
        model_before=action["model_before_sha256"],
        model_after=action["model_after_sha256"],
        checked=evidence["checked"],
        audit=tuple(evidence["audit"]),
        controller=facts["identity"]["controller"],
        ledger_entries=evidence["ledger_entries"],
        ledger_sha256=evidence["ledger_sha256"],
        deleted_at=evidence.get("source", {}).get("deleted_at"),
        read_at=evidence.get("source", {}).get("read_at"),
        counted=evidence.get("source", {}).get("counted"),
        residue=tuple(evidence.get("residue", ())),
        publishers=tuple(evidence.get("publishers", ())),
    )


def written(value: Any) -> Any:
    """A statement as it is written: bounds rounded up."""
    if isinstance(value, Mapping):
        return {name: written(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [written(inner) for inner in value]
    return value.written if isinstance(value, Bound) else value


def statement(facts: Mapping[str, Any], erasure: Erasure, plan: Plan, history: Tallied) -> dict[str, Any]:
    """Everything the certificate concludes, from its facts alone; `written` puts it on paper.

    Raises:
        InvalidParameter: the facts contradict one another.
    """
    if erasure.ledger_entries is not None and not erasure.ledger_entries > history.releases:
        raise InvalidParameter(
            f"ledger_entries={erasure.ledger_entries} is too few: {history.releases} releases and the beginning have one each"
        )
    made_by(history.releases, erasure.publishers)
    accountant = history.accountant(plan)
    delta, order = stated_delta("delta", facts["public_facts"]["delta"]), plan.budget.order or ORDER
    served = None if erasure.release is None else _served(erasure, plan, history)
    promises = guarantees(erasure, accountant)
    told = {name: figures(promise, order=order, delta=delta) for name, promise in promises.items()}
    constants = asdict(plan.loss.constants)
    return {
        "computed_from_sha256": hashlib.sha256(canonical(facts["public_facts"])).hexdigest(),
        "run": {
            "kind": None if served is None else str(served.kind),
            "steps": None if served is None else served.steps,
            "gradient_evaluations": None
            if served is None
            else plan.gradient_evaluations["learn" if served.fresh else "delete"],
            "gradient_evaluations_of_learning": plan.gradient_evaluations["learn"],
            "releases_so_far": history.releases,
        },
        "guarantees": told,
        "theorem": plan.dp.source,
        "adaptivity": words.ADAPTIVITY,
        "loss": {
            **plan.loss.to_dict(),
            "constants": {
                name: value if isinstance(value, bool) else Bound.of(value) for name, value in constants.items()
            },
        },
        "assumptions": [
            *plan.mechanism.interval("deletion", plan.problem.deletion_notion, steps_with=0).assumptions,
            *words.assumptions(plan),
            *_of_statistics(accountant),
        ],
        "plain_words": words.plain(erasure, served, promises, told, left=_left(accountant)),
        "deadline": words.deadline(erasure),
        "in_time": words.in_time(erasure),
        "notices": words.notices(erasure),
        "stated_by_the_operator": [*STATED, *words.stated_elsewhere(erasure)],
        "not_covered": list(words.NOT_COVERED),
        "to_do": words.to_do(erasure.status, total=plan.total is not None),
    }


def _left(accountant: Accountant) -> tuple[str, ...]:
    """What no erasure takes back of the models, in sentences."""
    mechanisms = accountant.account.mechanisms
    return tuple(dict.fromkeys(facts.left for facts in mechanisms if facts.left))


def _of_statistics(accountant: Accountant) -> list[str]:
    """What the figures assume of numbers about the records that were published beside the models."""
    made = (facts for facts in accountant.account.mechanisms if facts.tells)
    assumed = (text for facts in made for text in facts.interval("dp", Worlds.REPLACE, steps_with=0).assumptions)
    return list(dict.fromkeys(assumed))


def _served(erasure: Erasure, plan: Plan, history: Tallied) -> Event:
    event = history.served
    if event is None or erasure.release != history.about:
        raise InvalidParameter(f"release={erasure.release} is not in the ledger of {history.releases} releases")
    release = history.about
    if event.mechanism != plan.mechanism:
        raise InvalidParameter(f"release {release} was not made under the plan of this certificate")
    if not event.steps >= (plan.learn_steps if event.fresh else plan.delete_steps):
        raise InvalidParameter(f"release {release} took {event.steps} steps, fewer than its plan asks for")
    if not event.edits >= erasure.rows + erasure.inserted:
        raise InvalidParameter(
            f"release {release} covers {event.edits} edits, fewer than the {erasure.rows} rows erased"
            + (f" and {erasure.inserted} inserted" if erasure.inserted else "")
        )
    if erasure.read_at is not None and erasure.counted is None and not event.fresh:
        raise InvalidParameter(
            f"release {release} continues from the model before, and nothing counted what changed in between: where rows lie in a source "
            "of their own, such a release is certified only with a count by a trigger or by versions"
        )
    counts = event.counts
    for name in ("deleted", "replaced", "inserted"):
        if not getattr(counts, name) + counts.unrecorded >= getattr(erasure, name):
            raise InvalidParameter(
                f"release {release} covers {counts.text()}, fewer {name} than the {getattr(erasure, name)} of the request"
            )
    return event


def guarantees(erasure: Erasure, accountant: Accountant) -> dict[str, Guarantee]:
    """The promises: about what was erased, from later models alone and from all of them; about those still there.

    Of a deleted record the plan's own question is answered; of replaced content "this or other content?". A record counts
    as present since the first release, which is the worst case.
    """
    plan = accountant.plan
    assert plan is not None
    notions = {}
    if erasure.deleted:
        notions["erased"] = plan.problem.deletion_notion
    if erasure.replaced:
        notions["replaced"] = Worlds.PAIRWISE
    found = {}
    for what, notion in notions.items():
        if erasure.release is None:  # nothing published since: only what was out before
            world = "replace" if notion == "pairwise" else "zero-out"
            found[f"{what}_all_models"] = accountant.dp_cumulative(adjacency=world)
            continue
        from_here = range(erasure.release, accountant.releases + 1)
        found[f"{what}_later_models"] = accountant.deletion(
            erased_at=erasure.release, observed=from_here, notion=notion
        )
        found[f"{what}_all_models"] = accountant.deletion(erased_at=erasure.release, notion=notion)
    return {**found, "existing_one_release": accountant.dp(), "existing_all_models": accountant.dp_cumulative()}


def figures(guarantee: Guarantee, *, order: float, delta: float) -> dict[str, Any]:
    """One promise in every measure, with the rounding slack of the machine included, and the condition it holds under."""
    exact = guarantee.with_slack()
    return {
        "about": guarantee.about,
        "adjacency": str(guarantee.adjacency),
        "rows_per_subject": guarantee.rows,
        "renyi": {"order": order, "epsilon": Bound.of(exact.renyi(order))},
        "approximate": {"epsilon": Bound.of(exact.epsilon(delta)), "delta": delta},
        "gdp": Bound.of(exact.gdp),
        "advantage": Bound.of(exact.advantage),
        "slack": Bound.of(guarantee.slack),
        "proven": guarantee.proven,
        "holds_only_if": NON_ADAPTIVE if guarantee.non_adaptive else None,
    }
