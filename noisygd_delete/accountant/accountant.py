"""The privacy accountant: answers every question about ε_dp and ε_dd from the releases so far.

Both runs that a guarantee compares restart from the same point at every *observed* model, so a history costs the sum
of its intervals: each observed release costs only the steps since the last observed one. (Theorem 4.3 of the paper,
which would add a fresh ε_dp per release for any pair of algorithms, is false as a general statement and is not used.)
This conditioning also makes the sums valid for adaptive requests by others, as long as the schedule, the set of
observed releases, and which record is erased and when are fixed in advance. A requester who requests the erasure of a
record once he is sure of it stops the sum when it is small: no such sum bounds what he knows. The cap of a total does
(`Accountant.stopping_epsilon`).

Which releases were observed is an assumption passed with each query (default: every release). It is never stored.

Example:
    >>> from noisygd_delete import Accountant, Budget, losses, make_plan
    >>> plan = make_plan(losses.Logistic(radius=1.0), records=5_000, features=10, regularization=1e-2,
    ...                  budget=Budget(order=10, dp=1.0, deletion=0.1))
    >>> accountant = Accountant(plan)
    >>> accountant.record(accountant.planned_event())  # the learn
    1
    >>> accountant.record(accountant.planned_event())  # an unlearn
    2
    >>> round(accountant.deletion_later_releases().renyi(10), 5)
    0.09961
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import Self

from ..errors import InvalidParameter, check_count, check_probability
from ..methods.base import Mechanism, are_contradictory
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee, WorstCase, summarize_guarantee
from ..privacy.worlds import NON_ADAPTIVE, Worlds
from ..records import EditCounts
from .account import CONTRADICTION, Account, hidden_past
from .events import (
    Event,
    EventKinds,
    Known,
    Stretch,
    answer_question,
    compose_costs,
    cost_of_stretch,
    order_stretches,
)
from .forecast import Forecast, Remaining
from .history import EventSource, History, adaptive_deletion


class Accountant:
    """Privacy accounting for a sequence of releases, numbered from 1, and for the budget of their plan.

    A query about all releases, the last one, or the last one that erased something is answered from running sums
    (`account`), in time independent of the number of releases; a query about a subset takes one pass over them.

    Args:
        plan: Supplies the default adjacency and deletion notion. Events of earlier plans keep their own facts.
        events: The releases so far, in order.
    """

    def __init__(self, plan: Plan | None = None, events: Iterable[Event] = ()) -> None:
        self.plan = plan
        self._history = History()
        for _, equal in groupby(events, key=id):  # repetitions of one event object are recorded at once
            event, *others = equal
            self.record(event, 1 + len(others))

    @classmethod
    def from_account(cls, plan: Plan | None, account: Account, past: EventSource | None = None) -> Self:
        """Return the accountant of releases whose sums are known.

        Args:
            plan: The current plan.
            account: The sums of the releases.
            past: Source of the individual releases; without it, only queries that follow from the sums are possible.
        """
        accountant = cls(plan)
        accountant._history = History(account, past)
        return accountant

    @property
    def account(self) -> Account:
        """A copy of the running sums."""
        return self._history.account.copy()

    @property
    def events(self) -> tuple[Event, ...]:
        """All releases, in order."""
        return tuple(self._history)

    @property
    def releases(self) -> int:
        """Number of releases."""
        return len(self._history)

    @property
    def model_release(self) -> int:
        """Number of the last release of a model, as statistics are numbered too; 0 before the first."""
        return self._history.account.model

    @property
    def last(self) -> Event:
        """The last release of a model or an extractor."""
        self._history.number("release", max(1, self.releases))
        assert self._history.account.last is not None
        return self._history.account.last

    def latest(self, number: int) -> list[tuple[int, Event]]:
        """Return the last `number` releases with their numbers."""
        first = self._first(number)
        return list(enumerate(self._history.since(first), start=first))

    def record(self, event: Event, times: int = 1) -> int:
        """Append a release, or `times` equal consecutive ones, and return the number of the last.

        Raises:
            InvalidParameter: If the event contradicts the plan or the chain that it resumes.
        """
        self._agree(event.mechanism)
        self._history.record(event, check_count("times", times))
        return self.releases

    def _agree(self, mechanism: Mechanism) -> None:
        planned = mechanism if self.plan is None else self.plan.mechanism
        if are_contradictory(mechanism, planned):
            raise InvalidParameter(CONTRADICTION)

    def what_if(self, *events: Event) -> Self:
        """Return a copy of the accountant with further releases recorded."""
        other = type(self)(self.plan)
        other._history = self._history.copy()
        for event in events:
            other.record(event)
        return other

    def with_plan(self, plan: Plan) -> Self:
        """Return a copy of the accountant with another plan for the next releases."""
        other = self.what_if()
        other.plan = plan
        for mechanism in self._history.account.mechanisms:
            other._agree(mechanism)
        return other

    # --- the budget and forecasts ---

    def forecast(self) -> Forecast:
        """Return a forecast of further releases; releases added to it are not recorded here.

        Raises:
            InvalidParameter: If the accountant has no plan.
        """
        if self.plan is None:
            raise InvalidParameter(
                "what comes next needs the plan that would make it, and whose budget it is: Accountant(plan)"
            )
        return Forecast(self.plan, self._history.account)

    def planned_event(self, kind: str | None = None, edits: int | EditCounts = 1) -> Event:
        """Return the next release as the plan would run it, as input of `what_if`, `affordable` and forecasts.

        Args:
            kind: One of `EventKinds`. By default an unlearn, or the fresh learn that a plan starts with.
            edits: Number of edits that the release covers.
        """
        return self.forecast().planned_event(kind, edits)

    def affordable(self, event: Event) -> bool:
        """Return whether all releases, including `event`, stay within a budget that covers several releases."""
        return self.plan is None or self.forecast().affordable(event)

    def publication(self, edits: int | EditCounts, *, touched: bool = False) -> Event | None:
        """Return the release that would cover `edits` now, or None if refused: see `Forecast.publication`."""
        return self.forecast().publication(edits, touched=touched)

    def remaining(self) -> Remaining:
        """Return the number of further releases under `releases=N`, and what is spent."""
        return self.forecast().remaining()

    def stopping_epsilon(self, delta: float, *, candidates: int = 1) -> float | None:
        """Return the log odds about a record that no observer ever exceeds, except with probability δ.

        The bound holds over all releases that the plan's total allows, for observers and requesters who choose whose
        record is erased, and when, after seeing models: see `privacy.budget.Total.stopping_epsilon`. The neighbouring
        relation is the plan's adjacency.

        Args:
            delta: Probability for all candidates together.
            candidates: Number of records that could have been chosen.

        Returns:
            ε, rounded up; None if no total is enforced that was fixed before the first release.
        """
        total = None if self.plan is None else self.plan.problem.total
        if total is None or (self.releases and not total.affords(self.dp_cumulative())):
            return None
        return total.stopping_epsilon(
            check_probability("delta", delta), candidates=check_count("candidates", candidates)
        )

    # --- display ---

    def __repr__(self) -> str:
        if not self.releases:
            return "Accountant(no releases)"
        return f"Accountant(releases={self.releases}; all observed: {summarize_guarantee(self.dp_cumulative(), several=True)})"

    # --- the article's two numbers ---

    def epsilon_dp(
        self, *, order: float | None = None, delta: float | None = None, observed: Iterable[int] | None = None
    ) -> float:
        """Return ε_dp: what the observed releases reveal about a record that is still present.

        Args:
            order: Rényi order q > 1; the result is a (q, ε_dp) Rényi bound, as in the article.
            delta: δ in (0, 1) in place of `order`; the result is ε of an (ε, δ) bound. With neither, the measure of the
                plan's budget is used.
            observed: Release numbers from 1. Default: every release.

        Returns:
            ε_dp, rounding slack included; infinite if no such bound exists.

        Raises:
            InvalidParameter: If both or neither of `order` and `delta` can be determined, or a release does not exist.
        """
        return self._epsilon(self.dp_cumulative(observed), order, delta, deletion=False)

    def epsilon_dd(
        self,
        *,
        order: float | None = None,
        delta: float | None = None,
        observed: Iterable[int] | None = None,
        erased_at: int | None = None,
    ) -> float:
        """Return ε_dd: what the observed releases reveal about an erased record (Definition 4.1).

        Args:
            order: Rényi order q > 1; the result is a (q, ε_dd) bound, as in the article.
            delta: δ in (0, 1) in place of `order`; the result is ε of an (ε, δ) bound. With neither, the measure of the
                plan's budget is used.
            observed: Release numbers from 1. Default: only the releases from the erasure on, which is valid if no request
                depended on an earlier model. `range(1, accountant.releases + 1)` is every release and holds for requests
                that adapt to all of them.
            erased_at: The release that served the erasure. Default: the last one.

        Returns:
            ε_dd, rounding slack included; infinite if no such bound exists.

        Raises:
            InvalidParameter: If both or neither of `order` and `delta` can be determined, or a release does not exist.
        """
        erased = max(1, self.releases) if erased_at is None else erased_at
        seen = range(erased, self.releases + 1) if observed is None else observed
        return self._epsilon(self.deletion(1, erased, seen), order, delta, deletion=True)

    def _epsilon(self, guarantee: Guarantee, order: float | None, delta: float | None, *, deletion: bool) -> float:
        if order is None and delta is None and self.plan is not None:
            budget = self.plan.problem.budget
            order, delta = budget.order, budget.deletion_delta if deletion else budget.dp_delta
        if (order is None) == (delta is None):
            raise InvalidParameter("give exactly one of order=, a Rényi order > 1, and delta=", order=order)
        guarantee = guarantee.with_slack()
        return guarantee.epsilon(delta) if order is None else guarantee.renyi(order)  # type: ignore[arg-type]

    # --- a record still present ---

    def resolve_observed(self, observed: Iterable[int] | None) -> Collection[int]:
        """Return the release numbers without repetitions; all of them for None.

        Raises:
            InvalidParameter: If a number does not exist.
        """
        return self._history.resolve_observed(observed)

    def _world(self, about: str, world: str | None) -> str:
        if world is not None:
            return world
        if self.plan is None:
            return "replace" if about == "dp" else "erased-vs-never"
        return self.plan.problem.adjacency if about == "dp" else self.plan.problem.deletion_notion

    def _first(self, last: int | None) -> int:
        return 1 if last is None else max(1, self.releases - check_count("last", last) + 1)

    def _answer(self, about: str, world: str, parts: Counter[Stretch], seen: Collection[int]) -> Guarantee:
        return answer_question(about, world, parts, self.last, seen, self.releases)

    def dp(self, release: int | None = None, *, adjacency: str | None = None) -> Guarantee:
        """Return what one release (default: the last) reveals on its own about a record present since the start."""
        number = self._history.number("release", max(1, self.releases) if release is None else release)
        if number < self.releases:
            return self.dp_cumulative(observed=[number], adjacency=adjacency)
        parts = Counter(self._history.account.last_stretches)
        return self._answer("dp", self._world("dp", adjacency), parts, {number})

    def dp_of_each(
        self, last: int | None = None, *, at: Sequence[int] | None = None, adjacency: str | None = None
    ) -> list[Guarantee]:
        """Return `dp(release)` for each of the last `last` releases (default: all), in one pass.

        Args:
            last: Number of releases.
            at: Numbers of the releases to return instead.
            adjacency: Neighbouring relation (default: the plan's).
        """
        each = self._history.stretches_of_each(self._first(last))
        if at is not None:
            each = [each[number - 1] for number in at]
        return self._alone_each("dp", self._world("dp", adjacency), each)

    def _alone_each(self, about: str, world: str, each: list[tuple[Stretch, ...]]) -> list[Guarantee]:
        """Apply `_alone` to every release. Releases of equal cost are composed once."""
        answers, known = {}, dict[tuple[Guarantee, ...], Guarantee]()
        for parts in dict.fromkeys(each):
            costs = tuple(cost_of_stretch(about, world, stretch) for stretch in parts)
            if costs not in known:
                known[costs] = self._alone(about, world, parts)
            answers[parts] = known[costs]
        return [answers[parts] for parts in each]

    def _alone(self, about: str, world: str, parts: tuple[Stretch, ...]) -> Guarantee:
        """Return what one release reveals if no other was observed."""
        return compose_costs(about, world, Counter(parts), self.last).assuming(NON_ADAPTIVE)

    def dp_cumulative(
        self, observed: Iterable[int] | None = None, *, present_from: int = 1, adjacency: str | None = None
    ) -> Guarantee:
        """Return what all observed releases together reveal about a record still present.

        Args:
            observed: Release numbers; default every release.
            present_from: First release that used the record (default: the first of all, the worst case).
            adjacency: Neighbouring relation (default: the plan's).
        """
        start, seen = self._history.number("present_from", present_from), self.resolve_observed(observed)
        return self._answer("dp", self._world("dp", adjacency), self._history.parts(start, None, seen), seen)

    def dp_cumulative_of_each(self, at: Sequence[int] | None = None) -> list[Guarantee]:
        """Return what all releases up to each one reveal about a record present since the start, in one pass.

        Args:
            at: Release numbers in increasing order (default: all).
        """
        growing, world, known, totals = Account(), self._world("dp", None), Known(), list[Guarantee]()
        wanted = range(1, self.releases + 1) if at is None else at
        for event in self._history:
            growing.record(event)
            if len(totals) < len(wanted) and growing.releases == wanted[len(totals)]:
                totals.append(growing.compose_all("dp", world, known))
        return totals

    # --- an erased record ---

    def deletion(
        self,
        present_from: int = 1,
        erased_at: int | None = None,
        observed: Iterable[int] | None = None,
        *,
        notion: str | None = None,
    ) -> Guarantee:
        """Return what the observed releases reveal about a record present from one release and erased at another.

        Args:
            present_from: First release that used the record (default: the first of all, the worst case).
            erased_at: Release that served its erasure (default: the last).
            observed: Release numbers; default every release, under which requests by others may be adaptive. Passing
                only those from `erased_at` on is valid for an observer who came after the erasure *if no request
                depended on an earlier model*: a request that did may have copied the erased record into records that
                stay.
            notion: Deletion notion (default: the plan's).
        """
        world = self._world("deletion", notion)
        start, erased = self._history.lifetime(present_from, erased_at)
        seen = self.resolve_observed(observed)
        composed = self._answer("deletion", world, self._history.parts(start, erased, seen), seen)
        return _least(composed, world, self._history.hidden_past(erased, seen))

    def deletion_observed(self) -> Guarantee:
        """Return `deletion()` for what the last release erased, with every release observed.

        Holds under adaptive requests by others, if which record is erased, and when, was fixed in advance. Takes time
        independent of the number of releases.
        """
        self._history.number("release", max(1, self.releases))
        return self._history.account.deletion_observed(self._world("deletion", None))

    def deletion_of_each(self, last: int | None = None, *, notion: str | None = None) -> list[Guarantee]:
        """Return `deletion(1, release, [release])` for each of the last `last` releases (default: all), in one pass.

        The first release erases nothing and has no entry.
        """
        world, first = self._world("deletion", notion), self._first(last)
        each = self._history.erased_by(first)
        found = self._alone_each("deletion", world, [parts for parts, _ in each])
        for place, (parts, hidden) in enumerate(each):
            if hidden is not None:
                composed = self._answer("deletion", world, Counter(parts), {first + place})
                found[place] = _least(composed, world, hidden)
        return found[1:] if first == 1 else found

    def costliest_deletion(self, shown: Collection[int]) -> WorstCase | None:
        """Return the worst case over all erasures, separately for each measure.

        Args:
            shown: Release numbers that the observer saw before the erasure; every release from the erasure on is
                observed too.

        Returns:
            The erasures that include the maximum of every measure (advantage, ε at each δ, Rényi divergence at each
            order); None if nothing was erased. No single erasure need attain all of them: plans of one history may be
            bounded in different measures.
        """
        account, end, world = self._history.account, self.releases + 1, self._world("deletion", None)
        if account.erasing is None:
            return None
        if len(shown) == self.releases:  # an observer of everything learns most of the latest erasure, in every figure
            return WorstCase((self.deletion(1, account.erasing.number),))
        # an upper bound: includes releases before the erasure, and those since an earlier one if rows have no fixed order
        later = order_stretches(account.published)
        if shown:
            answers = []
            for number in self._history.dearest(shown):
                seen = [*filter(number.__gt__, shown), *range(number, end)]
                composed = self._answer("deletion", world, self._history.parts(1, number, seen) + later, seen)
                answers.append(_least(composed, world, self._history.hidden_past(number, seen)))
        else:
            answers = []
            for one in sorted(account.costly, key=lambda one: one.number):
                parts = Counter(one.parts)
                parts.update(later)
                composed = self._answer("deletion", world, parts, range(one.number, end))
                answers.append(_least(composed, world, one.hidden))
        if any(facts.fading for facts in account.mechanisms):
            # closeness depends on the edits of each release, so the latest release of a stretch need not cost most
            each, first = self.deletion_of_each(), min(shown, default=end)
            answers += [
                each[n - 2] for n, event in enumerate(self._history, 1) if 1 < n <= first and event.counts.erased
            ]
        return WorstCase.of(answers)

    def deletion_later_releases(self) -> Guarantee:
        """Return what the last release alone reveals about what it erased: Definition 4.1, as the plan guarantees it.

        Valid only if requests did not depend on earlier models: a request that did may have copied the erased record
        into records that stay. `deletion()` over every observed release holds for any requests by others. Under Theorem
        5.2 the value depends on the edits and steps of every release since the last fresh learn.

        Raises:
            InvalidParameter: If the accountant has no plan and the value depends on it.
        """
        last, account = self.last, self._history.account
        if account.trained > (last.kind is EventKinds.EXTRACTOR):  # no deletion takes back what it learned
            return self.deletion(1, self.releases, range(self.releases, self.releases + 1))
        if last.kind is not EventKinds.UNLEARN:
            return self._alone("deletion", self._world("deletion", None), ())
        hidden = hidden_past(last.mechanism, account.closeness)
        if hidden is not None:
            return hidden
        if self.plan is None:
            raise InvalidParameter(
                "deletion_later_releases() states what a plan promises: Accountant(plan); deletion() needs no plan"
            )
        return self.plan.deletion

    def deletion_adaptive(
        self, models_seen: int, present_from: int = 1, erased_at: int | None = None, *, notion: str | None = None
    ) -> Guarantee:
        """Return the deletion guarantee under p-adaptive requests.

        Requesters saw any p models before the erasure, and it is unknown which. The observer sees every release from
        `erased_at` on (see `history.adaptive_deletion`).

        Args:
            models_seen: p.
            present_from: First release that used the record.
            erased_at: Release that served its erasure (default: the last).
            notion: Deletion notion (default: the plan's).
        """
        seen, world = check_count("models_seen", models_seen, minimum=0), self._world("deletion", notion)
        start, erased = self._history.lifetime(present_from, erased_at)
        return adaptive_deletion(self.events, world, models_seen=seen, present_from=start, erased_at=erased)


def _least(composed: Guarantee, world: str, hidden: Guarantee | None) -> Guarantee:
    """Return the smaller bound at the Rényi order of the second: two runs, or one run against an ideal law."""
    if hidden is None or world != Worlds.ERASED_VS_NEVER:
        return composed
    order = hidden.points[0][0]
    return min(composed, hidden, key=lambda guarantee: guarantee.renyi(order))
