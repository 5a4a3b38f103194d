"""The statement of account: all answers as a dictionary and as text, as printed by `noisygd-delete budget`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from ..bounds import adaptive
from ..errors import NotLearned, check_probability
from ..privacy.guarantee import Guarantee
from ..privacy.sentences import format_bound, format_number
from ..privacy.worlds import FIXED_SCHEDULE, FIXED_TARGET, NON_ADAPTIVE, check_delta
from .accountant import Accountant, Outlook

Measure = Callable[[Guarantee], dict[str, Any]]


def forecast_requests(accountant: Accountant, requests: int, batch: int = 1) -> Outlook:
    """Return the cost of the next `requests` requests if each release covers `batch` of them. Nothing is recorded."""
    return accountant.forecast().outlook(requests, batch)


@dataclass(frozen=True)
class Statement:
    """All answers of an accountant at one δ and one Rényi order.

    Attributes:
        answers: The figures, by question.
        notes: Remarks on how to read them.
    """

    answers: dict[str, Any]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the answers as a JSON-compatible dictionary; an infinite ε is None."""
        return {**finite_or_none(self.answers), "notes": list(self.notes)}

    def text(self) -> str:
        """Return the answers as text."""
        return statement_text(self.to_dict())


def build_report(
    accountant: Accountant,
    *,
    delta: float = 1e-6,
    order: float = 10.0,
    present_from: int = 1,
    erased_at: int | None = None,
    observed: Iterable[int] | None = None,
    models_seen: int | None = None,
    requests: int = 30,
    attack_advantage: float | None = None,
    last: int = 50,
) -> Statement:
    """Return the statement of account of the releases so far.

    Args:
        accountant: The accountant.
        delta: δ of the (ε, δ) figures.
        order: q of the Rényi figures.
        present_from: First release with the record whose deletion is reported (default: the first).
        erased_at: Release that erased it (default: the last release that erased something).
        observed: Release numbers that the observer has seen; default all.
        models_seen: Also report p-adaptive requests, with p = `models_seen`.
        requests: Number of requests in the forecast.
        attack_advantage: Advantage that attacks on A and Ā have reached; Theorem 4.5 then bounds ε_dd from below.
        last: Number of latest releases to list individually.

    Raises:
        NotLearned: If nothing has been released yet.
    """
    if not accountant.releases:
        raise NotLearned("nothing has been released yet; call learn first")
    brief, measure = _measures(check_delta("delta", delta), order)
    seen = None if observed is None else sorted(accountant.resolve_observed(observed))
    total, account = accountant.releases, accountant.account
    erased = account.erasing.number if erased_at is None and account.erasing is not None else erased_at
    answers: dict[str, Any] = {
        "count": total,
        "releases": [
            {
                "release": number,
                "kind": event.kind,
                "label": event.label,
                "steps": event.steps,
                "edits": event.edits,
                "counts": event.counts.to_dict(),
                "dp": brief(dp),
            }
            for (number, event), dp in zip(accountant.latest(last), accountant.dp_of_each(last), strict=True)
        ],
        "observed": "every release" if seen is None else seen,
        "dp_cumulative": measure(accountant.dp_cumulative(seen, present_from=present_from)),
        "deletion": None,
    }
    if erased is not None:
        notions = ("erased-vs-never", "pairwise")
        afterwards = range(erased, total + 1)
        answers["deletion"] = {
            "present_from": present_from,
            "erased_at": erased,
            **{notion: measure(accountant.deletion(present_from, erased, seen, notion=notion)) for notion in notions},
            "seen_only_afterwards": measure(accountant.deletion(present_from, erased, afterwards)),
        }
        if models_seen is not None:
            answers["deletion"]["adaptive"] = {
                "models_seen": models_seen,
                **measure(accountant.deletion_adaptive(models_seen, present_from, erased)),
            }
    if attack_advantage is not None:
        known = {"order": order, "advantage": check_probability("attack_advantage", attack_advantage)}
        answers["lower_bound"] = {
            **known,
            "theorem_4_5": adaptive.deletion_lower_bound(**known),
            "sharp": adaptive.deletion_lower_bound_sharp(**known),
        }
    if accountant.plan is not None:
        left = accountant.remaining()
        answers["remaining"] = {
            "publications": left.publications,
            "capped": accountant.plan.problem.is_capped,
            "allowed": left.allowed,
            "spent": measure(left.spent),
            "spent_of_total": None if left.total is None else left.to_dict()["spent_epsilon"],
        }
        answers["forecast"] = [
            {**asdict(ahead), "added": measure(ahead.added), "total": measure(ahead.total)}
            for ahead in (
                forecast_requests(accountant, requests),
                forecast_requests(accountant, requests, batch=requests),
            )
        ]
    return Statement(answers, tuple(_notes(accountant)))


def _measures(delta: float, order: float) -> tuple[Measure, Measure]:
    """Return two functions that evaluate a guarantee at one δ and one order, including its rounding slack.

    The first returns the figures; the second also conversions, source and assumptions.
    """

    @cache
    def brief(exact: Guarantee) -> dict[str, Any]:
        guarantee = exact.with_slack()
        return {
            "adjacency": str(guarantee.adjacency),
            "unit": guarantee.unit,
            "renyi": {"order": order, "epsilon": guarantee.renyi(order)},
            "gdp": guarantee.gdp,
            "epsilon": guarantee.epsilon(delta),
            "delta": delta,
            "advantage": guarantee.advantage,
            "proven": guarantee.proven,
        }

    @cache
    def measure(guarantee: Guarantee) -> dict[str, Any]:
        return {
            **brief(guarantee),
            "advantage_between_records": guarantee.with_slack().advantage_between_records,
            "conversions": guarantee.with_slack().conversions(delta),
            "source": guarantee.source,
            "assumptions": list(guarantee.assumptions),
        }

    return brief, measure


def _notes(accountant: Accountant) -> Iterable[str]:
    account = accountant.account
    yield "The observed releases are the caller's assertion; the default, every release, is the safe choice."
    if any(facts.slack for facts in account.mechanisms):
        yield "The theorems speak of real numbers; the rounding slack of this machine's gradient sums is included in every figure."
    if account.relearned:
        yield (
            "A fresh learn forgets every erased record, but for the records that are still there it is one more publication: "
            "their cumulative cost goes on growing."
        )
    yield from dict.fromkeys(note for facts in account.mechanisms for note in facts.notes)
    if accountant.plan is not None and accountant.plan.problem.is_capped:
        yield "A publication beyond the budget is withheld; an erasure is carried out on the rows all the same."


def finite_or_none(value: Any) -> Any:
    """Replace infinities by None for JSON: a bound that does not exist is null."""
    if isinstance(value, dict):
        return {key: finite_or_none(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite_or_none(item) for item in value]
    return None if isinstance(value, float) and value == float("inf") else value


def statement_text(statement: dict[str, Any], *, releases: bool = True) -> str:
    """Format `Statement.to_dict()` as text, one block per question; every figure names its adjacency and unit."""
    blocks = [_format_releases(statement) if releases else ""]
    blocks += [
        block(statement)
        for block in (_format_cumulative, _format_deletion, _format_remaining, _format_forecast, _lower_bound)
    ]
    blocks += ["\n".join(f"note: {note}" for note in statement["notes"])]
    return "\n\n".join(filter(None, blocks))


def _format_figures(measured: dict[str, Any]) -> str:
    gdp = "" if measured["gdp"] is None else f"μ={format_bound(measured['gdp'])}, "
    renyi = measured["renyi"]
    declared = "" if measured["proven"] else " (declared constants, not proven)"
    return (
        f"(ε={format_bound(measured['epsilon'])}, δ={format_bound(measured['delta'])}), {gdp}Rényi (q={format_number(renyi['order'])}, "
        f"ε={format_bound(renyi['epsilon'])}), advantage at most {format_bound(measured['advantage'], percent=True)}{declared}"
    )


def _format_releases(answers: dict[str, Any]) -> str:
    rows = answers["releases"]
    skipped = answers["count"] - len(rows)
    head = f"{answers['count']} releases" + (f" (the first {skipped} not listed)" if skipped else "")
    head += f"\n  alone: for an observer of no other model, if {NON_ADAPTIVE}"
    lines = [
        f"  {row['release']:>6}  {row['label']:<9} {row['steps']:>7} steps  {row['edits']:>5} edits  alone: {_format_figures(row['dp'])}"
        for row in rows
    ]
    return "\n".join([head, *lines])


def _format_cumulative(answers: dict[str, Any]) -> str:
    measured = answers["dp_cumulative"]
    return (
        f"a record that is still there ({measured['adjacency']}, {measured['unit']}), observed {answers['observed']}, if {FIXED_SCHEDULE}:\n"
        f"  {_format_figures(measured)}\n"
        f"  ε by conversion: {', '.join(f'{name} {format_bound(value)}' for name, value in measured['conversions'].items())}\n"
        f"  source: {measured['source']}"
    )


def _format_deletion(answers: dict[str, Any]) -> str:
    deletion = answers["deletion"]
    if deletion is None:
        return ""
    lines = [
        f"a record present from release {deletion['present_from']}, erased at release {deletion['erased_at']} "
        f"({deletion['erased-vs-never']['unit']}), observed {answers['observed']}, if {FIXED_TARGET} and {FIXED_SCHEDULE}:",
        f"  was it ever there?   {_format_figures(deletion['erased-vs-never'])}",
        f"  was it x or x′?      {_format_figures(deletion['pairwise'])}",
        f"  seen only afterwards ({deletion['seen_only_afterwards']['adjacency']}): {_format_figures(deletion['seen_only_afterwards'])}",
        f"    (by an observer who came after the erasure, if {NON_ADAPTIVE})",
    ]
    if "adaptive" in deletion:
        lines.append(
            f"  requests that saw {deletion['adaptive']['models_seen']} earlier models: {_format_figures(deletion['adaptive'])}"
        )
    return "\n".join(lines)


def _format_remaining(answers: dict[str, Any]) -> str:
    if "remaining" not in answers:
        return ""
    left = answers["remaining"]
    if not left["capped"]:
        number = "no cap was set on the sum: each release has its own budget"
    elif left["publications"] is None:
        number = "publications left: not limited, another one costs nothing"
    else:
        number = f"publications left: {left['publications']}"
    counted = left["spent_of_total"]
    counted = "" if counted is None else f"; as the total counts it, in its one measure: ε={format_bound(counted)}"
    return f"budget: {left['allowed']}\n  {number}; spent so far, if {FIXED_SCHEDULE}: {_format_figures(left['spent'])}{counted}"


def _format_forecast(answers: dict[str, Any]) -> str:
    if "forecast" not in answers:
        return ""
    lines = [f"if {answers['forecast'][0]['requests']} more requests came, and {FIXED_SCHEDULE}:"]
    for ahead in answers["forecast"]:
        if not answers["remaining"]["capped"]:
            verdict = "no cap was set on the sum"
        elif ahead["affordable"]:
            verdict = "within the budget"
        else:
            verdict = "beyond the budget: publication would be withheld"
        fresh = f", {ahead['fresh_learns']} of them fresh learns" if ahead["fresh_learns"] else ""
        lines.append(
            f"  {ahead['publications']} publications of {ahead['batch']}{fresh} ({ahead['steps']} steps): adds {_format_figures(ahead['added'])}; "
            f"in all {_format_figures(ahead['total'])}; {verdict}"
        )
    return "\n".join(lines)


def _lower_bound(answers: dict[str, Any]) -> str:
    if "lower_bound" not in answers:
        return ""
    bound = answers["lower_bound"]
    return (
        f"attacks with advantage {bound['advantage']:.2%} on both A and Ā rule out (q={format_number(bound['order'])}, ε)-deletion under one "
        f"adaptive request for ε below {format_number(max(bound['theorem_4_5'], bound['sharp']), 4)} (Theorem 4.5: {format_number(bound['theorem_4_5'], 4)})"
    )
