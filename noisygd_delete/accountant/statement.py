"""The statement of account: all answers as a dictionary and as text, as printed by `noisygd-delete budget`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from ..bounds import adaptive
from ..errors import NotLearned, check_probability
from ..privacy.guarantee import Guarantee
from ..privacy.worlds import check_delta
from .accountant import Accountant
from .format_statement import statement_text

Measure = Callable[[Guarantee], dict[str, Any]]


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
            for ahead in (accountant.forecast().outlook(requests, batch) for batch in (1, requests))
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
