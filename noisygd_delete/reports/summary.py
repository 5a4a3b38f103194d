"""The report on a whole store: one HTML file with an embedded picture, no network."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..accountant import Accountant, Event, Remaining
from ..evidence.claims import KEYS, Claim, claim_sentence, claim_terms
from ..evidence.erasure import LedgerStatus
from ..evidence.store_claims import claims_of_store
from ..methods.plan import Plan
from ..planner.advise import guessing_loss
from ..privacy.guarantee import Guarantee
from ..privacy.sentences import format_bound, format_number
from ..records import NO_EDITS
from ..store.entry import EntryKinds
from ..version import __version__
from . import common
from .certificate_page import audit_name
from .html import content_security_policy, render_template
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


Curve = NDArray[np.float64]
POINTS = 160
LISTED = 200  # latest releases, listed individually
_BLUE, _ORANGE, _GREY = "#1f5f8b", "#c2601c", "#5b6575"
_WIDE, _LEFT, _TOP, _FOOT, _HIGH = 340.0, 44.0, 26.0, 200.0, 236.0  # a font size of 10 is readable on a phone


@dataclass(frozen=True)
class SpendingCurves:
    """Privacy cost of a present record after each of these releases: ε at δ, rounding slack included.

    Attributes:
        release: Numbers of the releases.
        single: ε of that release alone.
        cumulative: ε of all releases so far.
        allowed: ε of the cap on the sum; None if there is none at this δ.
    """

    release: Curve
    single: Curve
    cumulative: Curve
    allowed: float | None


def displayed_releases(releases: int) -> list[int]:
    """Return the releases that a report shows: the last `LISTED`, and at most `POINTS` of those before."""
    first = max(1, releases - LISTED + 1)
    before = np.unique(np.linspace(1, first - 1, POINTS).astype(int)) if first > 1 else np.array([], int)
    return [*map(int, before), *range(first, releases + 1)]


def compute_spending(accountant: Accountant, plan: Plan, delta: float) -> SpendingCurves:
    """Return ε at δ of each displayed release alone and of all releases up to it, and the cap."""

    def epsilons(guarantees: Sequence[Guarantee]) -> Curve:
        known = {guarantee: guarantee.with_slack().epsilon(delta) for guarantee in dict.fromkeys(guarantees)}
        return np.array([known[guarantee] for guarantee in guarantees])  # equal releases have equal cost

    numbers = displayed_releases(accountant.releases)
    return SpendingCurves(
        release=np.array(numbers, dtype=float),
        single=epsilons(accountant.dp_of_each(at=numbers)),
        cumulative=epsilons(accountant.dp_cumulative_of_each(numbers)),
        allowed=_cap(plan, delta),
    )


def _cap(plan: Plan, delta: float) -> float | None:
    """Return ε at δ of the cap on the sum; None if there is none, or none at this δ."""
    problem = plan.problem
    if problem.total is not None:
        return problem.total.epsilon if problem.total.delta == delta else None
    return plan.allowed.epsilon(delta) if problem.releases > 1 else None


def draw_curve(curve: SpendingCurves, delta: float, words: Language) -> str:
    """Return the picture as an <svg> element; infinite values are not drawn."""
    first, last = curve.release[0], curve.release[-1]
    finite = [one for one in (*curve.cumulative, *curve.single, curve.allowed or 0.0) if math.isfinite(one)]
    most = 1.08 * max(finite) or 1.0

    def across(release: float) -> float:
        return _LEFT + 8 + float((release - first) / max(1.0, last - first)) * (_WIDE - _LEFT - 16)

    def up(epsilon: float) -> float:
        return _FOOT - epsilon / most * (_FOOT - _TOP)

    def line(x: float, y: float, to: float, colour: str, more: str = "") -> str:
        return f'<line x1="{x:.1f}" x2="{to:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}"{more}/>'

    def text(x: float, y: float, label: str, more: str = "") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(label)}</text>'

    def places(values: Curve) -> list[tuple[float, float]]:
        return [(across(x), up(value)) for x, value in zip(curve.release, values, strict=True) if math.isfinite(value)]

    parts = []
    for tick in _ticks(0.0, most):
        parts.append(line(_LEFT, up(tick), _WIDE - 4, "#e4e8ee" if tick else _GREY))
        parts.append(text(_LEFT - 5, up(tick) + 3.5, words.numbers(format_number(tick)), ' text-anchor="end"'))
    parts += [
        text(across(tick), _FOOT + 14, f"{tick:.0f}", ' text-anchor="middle"') for tick in _ticks(first, last, least=1)
    ]
    parts.append(text((_LEFT + _WIDE) / 2, _HIGH - 6, words.say("release"), ' text-anchor="middle"'))
    middle = (_TOP + _FOOT) / 2
    scale = words.say("ε at δ = {n}", n=words.numbers(format_bound(delta)))
    parts.append(text(10, middle, scale, f' text-anchor="middle" transform="rotate(-90 10 {middle:.1f})"'))
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places(curve.cumulative))
    parts.append(f'<polyline points="{joined}" fill="none" stroke="{_BLUE}" stroke-width="1.5"/>')
    dot = '<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="2.2" fill="{}"/>'
    square = '<rect class="{}" x="{:.1f}" y="{:.1f}" width="4" height="4" fill="{}"/>'
    parts += [square.format("alone", x - 2, y - 2, _GREY) for x, y in places(curve.single)]
    parts += [dot.format("all", x, y, _BLUE) for x, y in places(curve.cumulative)]
    # above the picture, where no curve can run through it
    parts += [dot.format("", _LEFT + 4, 8.5, _BLUE), text(_LEFT + 11, 12, words.say("all releases so far"))]
    parts += [square.format("", _LEFT + 122, 6.5, _GREY), text(_LEFT + 131, 12, words.say("one release alone"))]
    if curve.allowed is not None:
        dashed = ' stroke-dasharray="5 3" stroke-width="1.3"'
        parts.append(line(_LEFT, up(curve.allowed), _WIDE - 4, _ORANGE, dashed))
        parts += [line(_LEFT + 236, 8.5, _LEFT + 250, _ORANGE, dashed), text(_LEFT + 254, 12, words.say("budget"))]
    label = escape(words.say("picture: what the releases reveal, one by one and together"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE:g} {_HIGH:g}" role="img" aria-label="{label}" '
        f'font-family="sans-serif" font-size="10" fill="#1d2430">{"".join(parts)}</svg>'
    )


def _ticks(first: float, last: float, least: float = 0.0) -> list[float]:
    """Return at most seven round numbers between `first` and `last`."""
    span = max(last - first, least)
    unit = 10.0 ** math.floor(math.log10(span / 6))
    step = max(least, next(unit * times for times in (1, 2, 5, 10) if span <= 6 * unit * times))
    return [step * number for number in range(math.ceil(first / step), math.floor(last / step) + 1)]
