"""The statement of account: every answer at once, as a dictionary and as text. What `noisygd-delete budget` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from ..bounds import adaptive
from ..errors import NotLearned, probability
from ..privacy.guarantee import Guarantee, stated_delta
from .accountant import Accountant
from .ahead import Outlook
from .text import statement_text

Measure = Callable[[Guarantee], dict[str, Any]]


def forecast(accountant: Accountant, requests: int, batch: int = 1) -> Outlook:
    """What the next `requests` requests would cost if each publication covered `batch` of them. Nothing is recorded."""
    return accountant.ahead().outlook(requests, batch)


@dataclass(frozen=True)
class Statement:
    """Every answer of an accountant at one δ and one order. `to_dict` for programs, `text` for people."""

    answers: dict[str, Any]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; an infinite ε is null."""
        return {**_finite(self.answers), "notes": list(self.notes)}

    def text(self) -> str:
        return statement_text(self.to_dict())


def report(
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
    """Answer everything about the releases so far.

    Args:
        delta: δ of the (ε, δ) figures. order: q of the Rényi figures.
        present_from, erased_at: the lifetime of the record whose deletion is asked about; default: there from the first
            release, erased at the last release that erased something.
        observed: release numbers an observer has seen; default all.
        models_seen: also answer for p-adaptive requests, p = `models_seen`.
        requests: size of the month in the forecast.
        attack_advantage: an advantage that attacks on A and Ā have reached; Theorem 4.5 then bounds ε_dd from below.
        last: how many of the latest releases to list one by one.
    """
    if not accountant.releases:
        raise NotLearned("nothing has been released yet; call learn first")
    brief, measure = _measures(stated_delta("delta", delta), order)
    seen = None if observed is None else sorted(accountant.seen(observed))
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
        notions = ("definition-4.1", "pairwise")
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
        known = {"order": order, "advantage": probability("attack_advantage", attack_advantage)}
        answers["lower_bound"] = {
            **known,
            "theorem_4_5": adaptive.deletion_lower_bound(**known),
            "sharp": adaptive.deletion_lower_bound_sharp(**known),
        }
    if accountant.plan is not None:
        left = accountant.remaining()
        answers["remaining"] = {
            "publications": left.publications,
            "capped": accountant.plan.capped,
            "allowed": left.allowed,
            "spent": measure(left.spent),
            "spent_of_total": None if left.total is None else left.to_dict()["spent_epsilon"],
        }
        answers["forecast"] = [
            {**asdict(ahead), "added": measure(ahead.added), "total": measure(ahead.total)}
            for ahead in (forecast(accountant, requests), forecast(accountant, requests, batch=requests))
        ]
    return Statement(answers, tuple(_notes(accountant)))


def _measures(delta: float, order: float) -> tuple[Measure, Measure]:
    """Figures of a guarantee at one δ and one order, its rounding slack included: in brief, and with conversions, source and
    assumptions.
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
    yield "What was observed is an assertion of whoever asks; the default, every release, is the safe one."
    if any(facts.slack for facts in account.mechanisms):
        yield "The theorems speak of real numbers; the rounding slack of this machine's gradient sums is included in every figure."
    if account.relearned:
        yield (
            "A fresh learn forgets every erased record, but for the records that are still there it is one more publication: "
            "their cumulative cost goes on growing."
        )
    yield from dict.fromkeys(note for facts in account.mechanisms for note in facts.notes)
    if accountant.plan is not None and accountant.plan.capped:
        yield "A publication beyond the budget is withheld; an erasure is carried out on the rows all the same."


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and value == float("inf") else value
