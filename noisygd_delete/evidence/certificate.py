"""The erasure certificate: facts, the claims that follow from them, and a signature.

The operator states the facts (identity, request, action, evidence, plan, releases), each checked against its range
(`facts`). The claims are derived from them (`derivation`): keys of one table (`claims`), with values and conditions.
The file contains no prose: its sentences come from a catalogue, so that no wording can exceed the claim. It contains no
name, record id, row or label; the request id is the caller's own token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from ..accountant import Event
from ..accountant.tallies import MOST_TALLIES, Tally, TallyAccount, tally_events
from ..dates import fact_to_json, local_day, parse_datetime
from ..errors import InvalidParameter, check_count
from ..methods.plan import Plan
from ..methods.serialization import FORECASTS, plan_from_dict
from ..privacy.sentences import WRITTEN, round_up
from ..privacy.worlds import check_delta
from ..version import __version__
from .claims import CATALOGUE, KEYS, Claim, claim_sentence, claim_terms
from .derivation import claims_of
from .facts import Erasure, check_certificate_id, check_chronological, check_released, check_version
from .notices import Notices

FORMAT = "noisygd-delete/erasure-certificate/1"
SOFTWARE = "noisygd-delete"
BLOCKS = ("format", "identity", "request", "action", "evidence", "public_facts", "claims", "signature")
_REQUEST = ("request_id", "received", "edited", "served", "rows", "replaced", "inserted", "remaining")
_EVIDENCE = (
    "checked", "audit", "ledger_entries", "ledger_sha256", "from_data", "by_calendar", "deleted_at", "read_at", "counted", "residue", "publishers",
)  # fmt: skip
_FACTS = {  # by block, name in the file -> field of `Erasure`
    "request": {name: name for name in _REQUEST},
    "action": {
        "status": "status",
        "release": "release",
        "model_before_sha256": "model_before",
        "model_after_sha256": "model_after",
    },
    "evidence": {name: name for name in _EVIDENCE},
}


_SINCE: dict[str, int] = {}  # facts added by a later catalogue -> its number; `Erasure` has a default for each


def erasure_certificate(
    erasure: Erasure, *, plan: Plan, events: Iterable[Event], delta: float | None = None, issued: str | None = None
) -> dict[str, Any]:
    """Return the certificate as a JSON object, to be signed with `sign_document`.

    Args:
        erasure: The stated facts.
        plan: The plan under which the release was made.
        events: Every release so far, in order.
        delta: δ of the (ε, δ) figures; None takes the budget's own, or 1e-6.
        issued: Time of issue, ISO 8601; None means now.

    Raises:
        InvalidParameter: If the facts contradict each other or the ledger.
    """
    history = tally_events(list(events), erasure.release)
    when = parse_datetime("issued", datetime.now(UTC).isoformat() if issued is None else issued)
    facts = {
        **facts_to_json(erasure, certificate_id=str(uuid4()), issued=when),
        "public_facts": {
            "plan": plan_facts(plan),
            "ledger": [tally.to_dict() for tally in history.tallies],
            "delta": check_delta("delta", plan.problem.budget.shown_delta if delta is None else delta),
        },
    }
    check_stated_facts(erasure, plan, history)
    claims = claims_of(erasure, plan, history, facts["public_facts"]["delta"])
    return {**facts, "claims": [claim_to_json(claim) for claim in claims]}


def claim_to_json(claim: Claim) -> dict[str, Any]:
    """Return a claim as written in the file; bounds are rounded up, so that every digit can be compared."""
    units = KEYS[claim.key].values
    values = {
        name: round_up(value, WRITTEN) if units[name] == "bound" and value is not None else value
        for name, value in claim.values.items()
    }
    return Claim(claim.key, values, claim.conditions).to_dict()


def plan_facts(plan: Plan) -> dict[str, Any]:
    """Return the plan as a dictionary without its forecasts, on which no figure depends; each of its stages likewise."""
    facts = {name: value for name, value in plan.to_dict().items() if name not in FORECASTS}
    facts["problem"] = {name: value for name, value in facts["problem"].items() if name not in FORECASTS}
    if plan.calibration.stages:
        facts["stages"] = [plan_facts(stage) for stage in plan.calibration.stages]
    return facts


def check_stated_facts(erasure: Erasure, plan: Plan, history: TallyAccount) -> None:
    """Check the number of ledger entries and the published releases against the history, and the plan against its method.

    Raises:
        InvalidParameter: If they contradict each other.
    """
    if erasure.ledger_entries is not None and not erasure.ledger_entries > history.releases:
        raise InvalidParameter(
            f"is too few: {history.releases} releases and the beginning have one each",
            ledger_entries=erasure.ledger_entries,
        )
    check_released(history.releases, erasure.publishers)
    plan.method.check_plan(plan)


def facts_to_json(
    erasure: Erasure, *, certificate_id: str, issued: str, made_by: str = __version__, catalogue: int = CATALOGUE
) -> dict[str, Any]:
    """Return the stated facts by block, in the only form in which they are written.

    Args:
        erasure: The stated facts.
        certificate_id: UUID of the certificate.
        issued: Time of issue, ISO 8601.
        made_by: Version of the software that writes it.
        catalogue: Number of the catalogue of claims.

    Raises:
        InvalidParameter: If a fact is out of range, or days are in the wrong order.
    """
    when = parse_datetime("issued", issued)
    check_chronological(
        edited=erasure.edited, served=erasure.served, issued=local_day(when, erasure.received).isoformat()
    )
    erasure.notices.follow(edited=erasure.edited, received=erasure.received, issued=when)
    blocks = {
        block: {name: fact_to_json(getattr(erasure, fact)) for name, fact in facts.items()}
        for block, facts in _facts_of(catalogue).items()
    }
    blocks["request"]["notices"] = erasure.notices.to_dict()
    return {
        "format": FORMAT,
        "identity": {
            "certificate_id": check_certificate_id(certificate_id),
            "software": SOFTWARE,
            "version": check_version(made_by),
            "catalogue": check_catalogue(catalogue),
            "issued": when,
            "controller": erasure.controller,
        },
        **blocks,
    }


def _facts_of(catalogue: int) -> dict[str, dict[str, str]]:
    """Return the facts that a certificate of this catalogue states, by block."""
    return {
        block: {name: fact for name, fact in facts.items() if _SINCE.get(name, 1) <= catalogue}
        for block, facts in _FACTS.items()
    }


def check_catalogue(number: Any) -> int:
    """Return the number of a catalogue of claims.

    Raises:
        InvalidParameter: If it is not a whole number between 1 and that of the newest catalogue.
    """
    if check_count("catalogue", number) > CATALOGUE:
        raise InvalidParameter(
            f"must be at most {CATALOGUE}; verify the certificate with the version that issued it", catalogue=number
        )
    return int(number)


def erasure_of(certificate: Mapping[str, Any]) -> Erasure:
    """Return the `Erasure` that a certificate was made from.

    Raises:
        InvalidParameter: If the facts contradict each other.
    """
    known = _facts_of(check_catalogue(certificate["identity"]["catalogue"]))
    facts = {fact: certificate[block][name] for block, facts in known.items() for name, fact in facts.items()}
    notices = Notices(**certificate["request"]["notices"])
    return Erasure(**facts, notices=notices, controller=certificate["identity"]["controller"])


def read_history(certificate: Mapping[str, Any]) -> tuple[Plan, TallyAccount, float]:
    """Return the plan, the releases and δ of a certificate, every field checked for its type."""
    public = certificate["public_facts"]
    if set(public) != {"plan", "ledger", "delta"}:
        raise InvalidParameter("public_facts are plan, ledger and delta")
    ledger, about = public["ledger"], certificate["action"]["release"]
    if not isinstance(ledger, list) or len(ledger) > MOST_TALLIES:
        raise InvalidParameter(f"the ledger must be a list of at most {MOST_TALLIES}")
    listed = [Tally.from_dict(fields) for fields in ledger]
    tallies = TallyAccount(listed, None if about is None else check_count("release", about))
    return plan_from_dict(public["plan"]), tallies, check_delta("delta", public["delta"])


def plain_words(certificate: Mapping[str, Any]) -> list[str]:
    """Return one sentence each for what was done and what an observer can still learn."""
    claims = [Claim(**claim) for claim in certificate["claims"]]
    listed = [claim for claim in claims if KEYS[claim.key].role in ("done", "figure", "odds", "limit")]
    return [
        *(claim_sentence(claim) for claim in listed if not claim.key.startswith("present.")),
        *(
            claim_terms(claim)
            for claim in listed
            if claim.key in ("erased.all", "replaced.all", "erased.before", "replaced.before")
        ),
    ]
