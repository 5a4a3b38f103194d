"""A model card for users of the model, and an annex to a data protection impact assessment (Article 35 GDPR).

All of it comes from plan, ledger and register: figures are claims, rounded up, each with its conditions. A fact that only a
person can state appears as not stated if it is missing. The sentences are in the templates and the catalogue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from noisygd_delete.accountant import Accountant
from noisygd_delete.evidence.claims import KEYS, Claim, claim_sentence, claim_terms
from noisygd_delete.evidence.derivation import NOT_COVERED, conditions_of
from noisygd_delete.evidence.erasure import from_data_of, is_on_calendar, ledger_status
from noisygd_delete.evidence.store_claims import claims_of_store, standing_claim
from noisygd_delete.methods.plan import Plan
from noisygd_delete.privacy.worlds import Worlds
from noisygd_delete.records import NO_EDITS
from noisygd_delete.reports import common
from noisygd_delete.reports.certificate_page import audit_name
from noisygd_delete.reports.html import render_template
from noisygd_delete.reports.summary import compare_risk_bound
from noisygd_delete.reports.texts import ORIGINAL, LocalizedSentence, load_language, localized_sentence, page_labels
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.version import __version__

from .case import RegisterPolicy
from .registry_fields import cumulative_guarantee
from .row import RegisterRow


def model_card(
    ledger: Ledger,
    policy: RegisterPolicy,
    lines: Sequence[RegisterRow],
    *,
    key: str | None = None,
    code: str = ORIGINAL,
) -> str:
    """Return the model card as an HTML page.

    Args:
        ledger: Ledger of the store.
        policy: Statements of the operator.
        lines: Requests of the register.
        key: Id of the key that signs certificates.
        code: Code of the language.
    """
    state, times = ledger_status(ledger), [item.time for item in ledger.outline]
    edits = sum((event.counts for event in ledger.events), NO_EDITS)
    by_calendar, words = is_on_calendar(ledger), load_language(code)
    claims = claims_of_store(ledger.accountant, ledger.plan, by_calendar=by_calendar, waiting=state.pending)
    return _sheet(
        "card.html",
        ledger,
        policy,
        lines,
        code,
        key=key,
        first=_day(times[0]),
        last=_day(times[-1]),
        accuracy=_accuracy(ledger.plan),
        edits=common.format_edits(words, edits) if edits.total else None,
        pending=common.format_edits(words, state.pending) if state.pending.total else None,
        withdrawn=None if state.withdrawn is None else _day(state.withdrawn),
        places=[
            {
                "name": place.address + (f" ({place.model}@{place.alias})" if place.model else ""),
                "holds": place,
                "since": None if place.since is None else _day(place.since),
            }
            for place in state.besides
        ],
        claims=list(claims.values()),
        figures=[claim for key, claim in claims.items() if KEYS[key].role == "figure"],
        proofs=cumulative_guarantee(ledger.accountant, ledger.plan).source.split(" + "),
        budget=common.format_budget(ledger.plan),
    )


def assessment(
    ledger: Ledger,
    policy: RegisterPolicy,
    lines: Sequence[RegisterRow],
    *,
    audit: Sequence[Mapping[str, Any]] = (),
    code: str = ORIGINAL,
) -> str:
    """Return the annex to an impact assessment: the risks that this processing adds, and what bounds them.

    Args:
        ledger: Ledger of the store.
        policy: Statements of the operator.
        lines: Requests of the register.
        audit: Rows of an audit (`check_audit_rows`).
        code: Code of the language.
    """
    people = [line for line in lines if line.of_a_person]
    backups = [line.case.backups_until for line in people if line.case.backups_until is not None]
    rows, columns = ledger.plan.shape
    return _sheet(
        "assessment.html",
        ledger,
        policy,
        lines,
        code,
        weights=rows * columns,
        risks=_risks(ledger.accountant, ledger.plan, by_calendar=is_on_calendar(ledger)),
        uncovered=[Claim(key, {}) for key in NOT_COVERED],
        audit=[{**row, "name": audit_name(row["name"], page_labels(code))} for row in audit],
        wait=max((_days_waited(line) for line in people if line.served is not None and line.served.rows), default=None),
        backups=max(backups, default=None),
        recipients=sum(line.case.recipients or 0 for line in people),
    )


def _sheet(
    template: str, ledger: Ledger, policy: RegisterPolicy, lines: Sequence[RegisterRow], code: str, **values: Any
) -> str:
    words, plan, people = load_language(code), ledger.plan, [line for line in lines if line.of_a_person]
    return render_template(
        template,
        package=__package__,
        words=words,
        plan=plan,
        statements=policy,
        releases=ledger.releases,
        people=len(people),
        overdue=sum(line.overdue for line in people),
        written=date.today(),
        conditions=list(
            conditions_of(
                plan, ledger.accountant, from_data_of(ledger), ((event.mechanism, 1) for event in ledger.events)
            )
        ),
        unit=Claim("rows-per-person", {"rows_per_person": plan.problem.rows_per_subject}),
        claimed=lambda claim: claim_sentence(claim, code),
        terms=lambda claim: claim_terms(claim, code),
        version=__version__,
        **values,
    )


def _accuracy(plan: Plan) -> list[LocalizedSentence]:
    if not plan.outlook.excess_risk < float("inf"):
        return [localized_sentence("no bound is promised")]
    bound = localized_sentence(
        "objective at most {n} above its minimum: a proven bound, not a measurement.", n=plan.outlook.excess_risk
    )
    return [one for one in (bound, compare_risk_bound(plan)) if one is not None]


def _days_waited(line: RegisterRow) -> int:
    """Return the days from the edit of the rows to the release without them, or to today."""
    assert line.served is not None
    until = line.today if line.served.published is None else _day(line.served.published)
    return max(0, (until - _day(line.served.edited)).days)


def _day(when: str) -> date:
    return datetime.fromisoformat(when).date()


def _risks(accountant: Accountant, plan: Plan, *, by_calendar: bool = False) -> dict[str, Claim]:
    """Return the figures for a record still present against an observer of every model, by question.

    The questions are whether it was used, and which of two contents it has. Before the first release, the plan's own
    question is answered for the planned model.
    """
    if not accountant.releases:
        claim = standing_claim("present.one", plan.dp, plan, by_calendar)
        return {claim.values["question"]: claim}
    worlds = {"used": Worlds.ZERO_OUT, "which": Worlds.REPLACE}
    return {
        question: standing_claim("present.all", accountant.dp_cumulative(adjacency=world), plan, by_calendar)
        for question, world in worlds.items()
    }
