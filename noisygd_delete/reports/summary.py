"""The report on a whole store: one HTML file with an embedded picture, no network."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..accountant import Accountant, Event, Remaining
from ..evidence.claims import KEYS, Claim, claim_sentence, claim_terms
from ..evidence.erasure import LedgerStatus
from ..evidence.store_claims import claims_of_store
from ..methods.plan import Plan
from ..planner.advise import guessing_loss
from ..privacy.sentences import format_number
from ..records import NO_EDITS
from ..store.entry import EntryKinds
from ..version import __version__
from . import common
from .certificate_page import audit_name
from .html import content_security_policy, render_template
from .spending import LISTED, POINTS, compute_spending, displayed_releases, draw_curve
from .texts import ORIGINAL, Figure, Language, LocalizedSentence, load_language, localized_sentence, page_labels


@dataclass(frozen=True)
class ReportedRequests:
    """What a report shows of a register of requests; made by the package that keeps one.

    Attributes:
        counts: Numbers of all, open, overdue and undated requests, and the next due date; None without a register.
        open_rows: Rows of the first open requests: for each column a list of sentences, and `marks` and `urgent`.
        all_rows: Rows of all requests; empty if `open_rows` are all.
    """

    counts: Mapping[str, Any] | None = None
    open_rows: Sequence[Mapping[str, Any]] = ()
    all_rows: Sequence[Mapping[str, Any]] = ()


def store_report(
    *,
    plan: Plan,
    events: Iterable[Event],
    times: Sequence[str] | None = None,
    standing: LedgerStatus | None = None,
    requests: ReportedRequests | None = None,
    audit: Sequence[Mapping[str, Any]] = (),
    title: str | None = None,
    delta: float | None = None,
    by_calendar: bool = False,
    code: str = ORIGINAL,
) -> str:
    """Return a self-contained HTML page about every release so far.

    Everything in it is public: the ledger, the plan and bounds. Nothing is measured on the records.

    Args:
        plan: The current plan.
        events: The releases of the ledger.
        times: When each release was made.
        standing: Pending edits, refused publications and a withdrawn model, which the releases do not show.
        requests: What a register shows of its requests; None omits them.
        audit: Results of audit runs: {"name", "measured_lower_bound", "claimed_advantage"}, advantages over guessing.
        title: Title of the page; None takes a default in the language.
        delta: δ of the (ε, δ) figures; None takes the budget's own, or 1e-6.
        by_calendar: Whether publications followed dates fixed beforehand.
        code: Code of the language.
    """
    words = load_language(code)
    accountant = Accountant(plan, events)
    delta = plan.problem.budget.shown_delta if delta is None else delta
    dates = list(times) if times is not None else [None] * accountant.releases
    course = compute_spending(accountant, plan, delta)
    listed = accountant.latest(LISTED) if accountant.releases else []
    listed_rows = zip(listed, course.single[-LISTED:], course.cumulative[-LISTED:], strict=True)
    rows = [
        {
            "release": number,
            "time": _moment(words, dates[number - 1]),
            "kind": event.label,
            "steps": event.steps,
            "edits": common.format_edits(words, event.counts) if event.edits else words.say("none"),
            "single": float(single),
            "cumulative": float(cumulative),
        }
        for (number, event), single, cumulative in listed_rows
    ]
    remaining = accountant.remaining()
    requests = requests or ReportedRequests()
    counts = requests.counts
    every = sum((event.counts for event in accountant.events), NO_EDITS)
    waiting = NO_EDITS if standing is None else standing.pending
    claims = claims_of_store(accountant, plan, delta=delta, by_calendar=by_calendar, waiting=waiting)
    return render_template(
        "report.html",
        words=words,
        policy=content_security_policy(style="'unsafe-inline'"),
        title=words.say("Deletion report") if title is None else title,
        version=__version__,
        plan=plan.to_dict(),
        loss=plan.problem.loss,
        delete_steps=plan.calibration.delete_steps,
        claims={key: claim_sentence(claim, code) for key, claim in claims.items()},
        terms={key: claim_terms(claim, code) for key, claim in claims.items() if KEYS[key].role == "figure"},
        condition=claim_sentence(Claim("requests-blind", {}), code),
        record=claim_sentence(Claim("record-fixed", {}), code),
        schedule=claim_sentence(Claim("schedule-calendar" if by_calendar else "schedule-fixed", {}), code),
        allowed=words.say(common.format_budget(plan)),
        capped=plan.problem.is_capped,
        publications=remaining.publications,
        delta=delta,
        rows=rows,
        releases=accountant.releases,
        listed=LISTED,
        thinned=len(displayed_releases(accountant.releases)) < accountant.releases,
        points=POINTS,
        edits=common.format_edits(words, every),
        pending=None if standing is None else common.format_edits(words, standing.pending),
        counted=lambda counts: common.format_edits(words, counts),
        standing=standing,
        withheld=0 if standing is None else sum(one.kind is EntryKinds.WITHHELD for one in standing.unpublished),
        urgent=(counts is not None and counts["overdue"] > 0)
        or (standing is not None and (standing.pending.total > 0 or standing.withdrawn is not None)),
        counts=counts,
        open_rows=requests.open_rows,
        all_rows=requests.all_rows,
        left_of_budget=_remaining_sentence(remaining, plan),
        spent=_spent_sentence(remaining, plan),
        accuracy=compare_risk_bound(plan) if plan.outlook.excess_risk < math.inf else None,
        picture=draw_curve(course, delta, words) if rows else None,
        audit=[{**row, "name": audit_name(row["name"], page_labels(code))} for row in audit],
    )


def _moment(words: Language, when: str | None) -> str:
    """Return a time in the language; a text that is no time is unchanged."""
    try:
        return "–" if when is None else words.moment(datetime.fromisoformat(when))
    except ValueError:
        return str(when)


def compare_risk_bound(plan: Plan) -> LocalizedSentence | None:
    """Return a sentence that compares the bound on the plan's excess risk with the loss of a constant model.

    Returns None if the loss has no labels.
    """
    if plan.problem.loss.label_kind == "none":
        return None
    kept, guessing = plan.outlook.excess_risk, guessing_loss(plan.problem.loss)
    if kept >= guessing:
        return localized_sentence(
            "That level ({n}) is no less than what a model that says nothing loses ({n2}), so the bound promises nothing of use; `evaluate` "
            "measures the model itself.",
            n=kept,
            n2=Figure(format_number(guessing, 4)),
        )
    return localized_sentence(
        "That level is {n}; a model that says nothing loses {n2}.", n=kept, n2=Figure(format_number(guessing, 4))
    )


def _remaining_sentence(remaining: Remaining, plan: Plan) -> LocalizedSentence:
    """Return a sentence on the part of the total budget that is left."""
    if not plan.problem.is_capped:
        return localized_sentence("no cap was set on the sum of all publications")
    if remaining.publications is None:
        return localized_sentence("the cap on the sum is not touched by further releases")
    if plan.problem.total is None:
        return localized_sentence(
            "{n} more publication(s) fit into the total that was planned, of {n2} releases",
            n=remaining.publications,
            n2=plan.problem.releases,
        )
    return localized_sentence("{n} more publication(s) fit into the total of all", n=remaining.publications)


def _spent_sentence(remaining: Remaining, plan: Plan) -> LocalizedSentence | None:
    """Return a sentence on the part of the total that is spent, as ε and δ."""
    problem = plan.problem
    if problem.total is None or remaining.publications is None:
        return None
    return localized_sentence(
        "ε={n} of {n2} is spent (at δ={n3})",
        n=problem.total.spent(remaining.spent),
        n2=Figure(format_number(problem.total.epsilon)),
        n3=problem.total.delta,
    )
