"""Certificates of format 1, written by version 0.1.0: what can still be checked, and what such a paper leaves open.

Its figures are recomputed like those of today. Its sentences are compared with what version 0.1.0 wrote and vouched for no
further, since some of them claim more than a bound; whatever it does not state is named in `NOT_RECOMPUTED`.
"""

from __future__ import annotations

import calendar
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..accountant import Statuses
from ..accountant.tallies import Tallied
from ..errors import InvalidParameter
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee, stated_delta
from ..privacy.worlds import Worlds
from ..register.dates import moment
from . import words
from .checks import REFUSALS, Check, brief, difference
from .erasure_certificate import ORDER, Bound, guarantees, stated, statement
from .facts import Erasure, number

FORMAT = "noisygd-delete/erasure-certificate/1"
ALGORITHM = "Ed25519 over canonical JSON"
_SAME = 1e-12  # relative: figures stand there in full, and another machine's log and exp differ in the last digits

NOT_RECOMPUTED = (
    "whether an edit erased, corrected or inserted a record: a ledger of format 1 only counts edits, so that anything was erased at "
    "all is the operator's word",
    "how many passes a solver was forecast to take, and with them the gradient evaluations: the solver is another one now",
    "when the rows were edited, and the deadline by the calendar of the place where the request was received: format 1 counts a "
    "month of clock time in UTC",
    "its sentences: 'a model that has forgotten' claims more than a bound, and a figure for later models or for one release holds "
    "only if requests did not depend on earlier models. Go by the figures, or ask the controller to issue the paper again with this "
    "version",
)


def canonical(document: Any) -> bytes:
    """What version 0.1.0 signed: names in the order of their code points, fractions as Python writes them."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def checks(certificate: Mapping[str, Any], plan: Plan, history: Tallied) -> list[Check]:
    """Figures, sentences and stated facts of a paper whose plan and ledger were read."""
    try:
        erasure = _facts(certificate)
        figures, sentences = _statement(certificate, erasure, plan, history)
        said = certificate["statement"]
        found = difference({name: said[name] for name in figures}, figures, tolerance=_SAME)
        other = difference({name: part for name, part in said.items() if name not in figures}, sentences)
    except REFUSALS as error:
        return [Check("figures", False, f"cannot be recomputed: {brief(error)}")]
    return [
        Check(
            "figures",
            found is None,
            "recomputed from the plan and the ledger" if found is None else f"recomputing gives another {found}",
        ),
        Check(
            "sentences",
            other is None,
            "as version 0.1.0 wrote them, and not vouched for"
            if other is None
            else f"version 0.1.0 writes another {other}",
        ),
        Check("stated facts", True, "in their ranges, not recomputed: the operator's word"),
    ]


def _facts(certificate: Mapping[str, Any]) -> Erasure:
    """The erasure, every fact of it held to today's ranges and to the one form in which version 0.1.0 wrote it."""
    identity, request, action, evidence = (certificate[n] for n in ("identity", "request", "action", "evidence"))
    published = action["status"] == "published"
    erasure = Erasure(
        rows=request["rows"],
        release=action["release"],
        status=action["status"],
        request_id=request["request_id"],
        received=request["received"],
        edited=None
        if published
        else request["served"],  # of a request without a release, `served` was when rows were edited
        served=request["served"] if published else None,
        model_before=action["model_before_sha256"],
        model_after=action["model_after_sha256"],
        checked=evidence["checked"],
        audit=tuple(evidence["audit"]),
        controller=identity["controller"],
        ledger_entries=evidence["ledger_entries"],
        ledger_sha256=evidence["ledger_sha256"],
    )
    again = stated(erasure, certificate_id=number(identity["certificate_id"]), issued=identity["issued"])
    expected = {
        "identity": {**again["identity"], "version": "0.1.0", "issued": _utc("issued", identity["issued"])},
        "request": {
            "request_id": erasure.request_id,
            "received": _utc("received", request["received"]),
            "served": _utc("served", request["served"]),
            "deadline": _deadline(request["received"]),
            "rows": erasure.rows,
        },
        "action": again["action"],
        "evidence": again["evidence"],
    }
    found = difference({name: certificate[name] for name in expected}, expected)
    if found:
        raise InvalidParameter(f"{found} is not as version 0.1.0 writes it")
    return erasure


def _utc(name: str, when: Any) -> str | None:
    if when is None:
        return None
    moment(name, when)  # a time, with its zone, within a calendar's reach
    return datetime.fromisoformat(when).astimezone(UTC).isoformat()


def _deadline(received: str | None) -> str | None:
    """One month by the calendar of UTC, at the same time of day."""
    if received is None:
        return None
    start = datetime.fromisoformat(received)
    year, month = start.year + start.month // 12, start.month % 12 + 1
    day = min(start.day, calendar.monthrange(year, month)[1])
    return start.replace(year=year, month=month, day=day).isoformat()


def _statement(
    certificate: Mapping[str, Any], erasure: Erasure, plan: Plan, history: Tallied
) -> tuple[dict[str, Any], dict[str, Any]]:
    """(figures, sentences) that version 0.1.0 draws from these facts."""
    if any(set(fields) != {"kind", "steps", "edits", "mechanism"} for fields in certificate["public_facts"]["ledger"]):
        raise InvalidParameter("a release of format 1 has kind, steps, edits and mechanism")
    again = _exact(statement(certificate, erasure, plan, history))
    told = {
        name: {part: value for part, value in figures.items() if part != "holds_only_if"}
        for name, figures in again["guarantees"].items()
    }
    promises = guarantees(erasure, history.accountant(plan))
    delta = stated_delta("delta", certificate["public_facts"]["delta"])
    figures = {"run": again["run"], "guarantees": told, "loss": again["loss"]}
    return figures, {
        "theorem": again["theorem"],
        "adaptivity": ADAPTIVITY,
        "assumptions": again["assumptions"],
        "plain_words": _plain(erasure, promises, order=plan.budget.order or ORDER, delta=delta),
        "not_covered": list(words.NOT_COVERED),
        "to_do": words.to_do(erasure.status, total=False),
    }


def _exact(value: Any) -> Any:
    """Bounds as the plain numbers that format 1 holds."""
    if isinstance(value, Mapping):
        return {name: _exact(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(inner) for inner in value]
    return float(value) if isinstance(value, Bound) else value


ADAPTIVITY = (
    "the figure for later models holds if requests did not depend on models published before the erasure; the figure for all "
    "models holds for any requester who saw all of them, with the schedule of releases fixed in advance"
)


def _plain(erasure: Erasure, promises: Mapping[str, Guarantee], *, order: float, delta: float) -> list[str]:
    """The sentences of version 0.1.0 for the person who asked."""
    erased = "The record was" if erasure.rows == 1 else f"{erasure.rows} records were"
    it = "it" if erasure.rows == 1 else "them"
    everything = promises["erased_all_models"]
    if erasure.status is Statuses.PUBLISHED:
        later = promises["erased_later_models"]
        told = [
            f"{erased} erased from the training data, and a model that has forgotten {it} was published.",
            f"If requests did not depend on earlier models: whoever sees every model published since can tell "
            f"{_question(later, erasure.rows)} with an advantage over guessing of {_limit(later)}.",
            f"If requests depended on every earlier model, seen by somebody who kept them all: {_limit(everything)}.",
        ]
    else:
        withheld = erasure.status is Statuses.WITHHELD
        told = [
            f"{erased} erased from the training data. No new model was published, because that would have cost other people more "
            "privacy than was promised; the old model is withdrawn."
            if withheld
            else f"{erased} erased from the training data. The model published now has not forgotten {it} yet: the next publication "
            "will, and a certificate for it follows.",
            f"From the models published {'before' if withheld else 'so far'}, somebody who kept them all can tell "
            f"{_question(everything, erasure.rows)} with an advantage over guessing of {_limit(everything)}.",
        ]
    exact = everything.with_slack()
    return [
        *told,
        "Advantage over guessing: a coin is right half the time; an advantage of 10 % means right at most 55 times in 100 on an "
        "even bet.",
        f"In the terms of the field, for all models together: Rényi divergence at order {order:g} at most {exact.renyi(order):.4g}; "
        f"(ε={exact.epsilon(delta):.4g}, δ={f'{delta:g}'.replace('e-0', 'e-')}).",
    ]


def _question(guarantee: Guarantee, rows: int) -> str:
    one = "the erased record" if rows == 1 else "any one of the erased records"
    if guarantee.adjacency in (Worlds.PAIRWISE, Worlds.REPLACE):
        return f"which of two possible records {one} was"
    return f"whether {one} was ever in the data"


def _limit(guarantee: Guarantee) -> str:
    known = ", which is hardly a limit: an observer who kept earlier models may well know"
    return f"at most {guarantee.at_most}{known if guarantee.with_slack().advantage >= 0.9 else ''}"
