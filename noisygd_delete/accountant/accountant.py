"""The releases so far -> every question about ε_dp and ε_dd.

Both worlds of a guarantee restart from the same point at every *observed* model, so a history costs the sum of its
intervals: each observed release costs only the steps since the last observed one. (Theorem 4.3 of the paper, which would
add a fresh ε_dp per release for any pair of algorithms, is false as a general statement and is not used.) This
conditioning is also what makes the sums valid for adaptive requests, as long as the schedule and the set of observed
releases are fixed in advance.

What was observed is an assertion made with each query (default: every release). It is never stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from typing import Self

from ..errors import InvalidParameter, count
from ..methods.base import Mechanism
from ..methods.plan import Plan
from ..privacy.guarantee import NON_ADAPTIVE, Guarantee, in_words
from ..privacy.shown import table_html
from ..records import EditCounts
from .account import CONTRADICTION, Account, hidden_past
from .ahead import Ahead, Remaining
from .events import Event, EventKinds
from .history import History, Past, adaptive_deletion
from .intervals import Known, Stretch, answer, compose, cost, orders


class Accountant:
    """Answers for a sequence of releases, numbered from 1, and for the budget of the plan they follow.

    `plan` supplies the default adjacency and deletion notion; events of earlier plans keep their own facts. A question about
    all releases, the last one, or the last that erased something is answered from running sums (`account`), in time that does
    not grow with their number; one about some of them walks through them once.
    """

    def __init__(self, plan: Plan | None = None, events: Iterable[Event] = ()) -> None:
        self.plan = plan
        self._history = History()
        for _, equal in groupby(events, key=id):  # a run of one event again and again is recorded at once
            event, *others = equal
            self.record(event, 1 + len(others))

    @classmethod
    def resumed(cls, plan: Plan | None, account: Account, past: Past | None = None) -> Self:
        """The accountant of releases whose sums are known. `past`: where the releases themselves are to be had; without it
        only what follows from the sums can be asked."""
        accountant = cls(plan)
        accountant._history = History(account, past)
        return accountant

    @property
    def account(self) -> Account:
        """The sums; the caller's own."""
        return self._history.account.copy()

    @property
    def events(self) -> tuple[Event, ...]:
        """Every release, one by one."""
        return tuple(self._history)

    @property
    def releases(self) -> int:
        """How many."""
        return len(self._history)

    @property
    def model_release(self) -> int:
        """The number of the last release of a model: statistics have numbers too. 0 before the first."""
        return self._history.account.model

    @property
    def last(self) -> Event:
        """The last release of a model, or of an extractor."""
        self._history.number("release", max(1, self.releases))
        assert self._history.account.last is not None
        return self._history.account.last

    def latest(self, number: int) -> list[tuple[int, Event]]:
        """The last releases, each with its number."""
        first = self._first(number)
        return list(enumerate(self._history.since(first), start=first))

    def record(self, event: Event, times: int = 1) -> int:
        """Append a release, or `times` equal ones after each other; returns the number of the last.

        Raises:
            InvalidParameter: the event resumes a chain with other facts than the chain began with.
        """
        self._agree(event.mechanism)
        self._history.record(event, count("times", times))
        return self.releases

    def _agree(self, mechanism: Mechanism) -> None:
        planned = mechanism if self.plan is None else self.plan.mechanism
        if mechanism is not planned and mechanism.contradicts(planned):
            raise InvalidParameter(CONTRADICTION)

    def what_if(self, *events: Event) -> Self:
        """The same as it would be after further releases; this one is not changed. Any query may be put to it."""
        other = type(self)(self.plan)
        other._history = self._history.copy()
        for event in events:
            other.record(event)
        return other

    def under(self, plan: Plan) -> Self:
        """The same releases, the next of which another plan makes."""
        other = self.what_if()
        other.plan = plan
        for mechanism in self._history.account.mechanisms:
            other._agree(mechanism)
        return other

    # --- the budget, and what would come next (see `ahead`) ---

    def ahead(self) -> Ahead:
        """What further releases would cost; nothing that is added there is recorded here.

        Raises:
            InvalidParameter: there is no plan that would make them.
        """
        if self.plan is None:
            raise InvalidParameter(
                "what comes next needs the plan that would make it, and whose budget it is: Accountant(plan)"
            )
        return Ahead(self.plan, self._history.account)

    def planned(self, kind: str | None = None, edits: int | EditCounts = 1) -> Event:
        """The next release as the plan would run it: what `what_if`, `affordable` and forecasts are asked about.

        By default an unlearn, or the fresh learn that a plan begins with.
        """
        return self.ahead().planned(kind, edits)

    def affordable(self, event: Event) -> bool:
        """Whether publishing `event` next keeps the cumulative cost within a budget that covers several releases."""
        return self.plan is None or self.ahead().affordable(event)

    def publication(self, edits: int | EditCounts, *, touched: bool = False) -> Event | None:
        """The release that would cover `edits` now, or None where it has to be withheld: see `Ahead.publication`."""
        return self.ahead().publication(edits, touched=touched)

    @property
    def horizon_spent(self) -> bool:
        """Whether a record erased now could have been through more steps than the plan's composition affords."""
        return self.plan is not None and self.ahead().horizon_spent

    def remaining(self) -> Remaining:
        """Publications left under `releases=N`, and what is spent."""
        return self.ahead().remaining()

    # --- for people ---

    def __repr__(self) -> str:
        if not self.releases:
            return "Accountant(no releases)"
        return f"Accountant({self.releases} releases; a record still there, every one observed: {in_words(self.dp_cumulative(), several=True)})"

    def _repr_html_(self) -> str:
        """For notebooks."""
        facts: dict[str, object] = {"releases": self.releases}
        if self.releases:
            delta = 1e-6 if self.plan is None else self.plan.budget.shown_delta
            total = self.dp_cumulative()
            facts[f"a record still there, every release ({total.adjacency}, {total.unit})"] = in_words(
                total, several=True, delta=delta
            )
            if self.account.erasing is not None:
                erased = self.deletion(1, self.account.erasing.number)
                facts[f"the record erased last, every release ({erased.adjacency})"] = in_words(erased, several=True)
        if self.plan is not None:
            left = self.remaining()
            facts["budget"] = left.allowed
            if self.plan.releases > 1:
                facts["publications left"] = "not limited" if left.publications is None else left.publications
        return table_html("Accountant", facts)

    # --- a record that is still there ---

    def seen(self, observed: Iterable[int] | None) -> Collection[int]:
        """The release numbers, each once; all of them for None. The first that does not exist is refused."""
        return self._history.seen(observed)

    def _world(self, about: str, asked: str | None) -> str:
        if asked is not None:
            return asked
        if self.plan is None:
            return "replace" if about == "dp" else "definition-4.1"
        return self.plan.problem.adjacency if about == "dp" else self.plan.problem.deletion_notion

    def _first(self, last: int | None) -> int:
        return 1 if last is None else max(1, self.releases - count("last", last) + 1)

    def _answer(self, about: str, world: str, parts: Counter[Stretch], seen: Collection[int]) -> Guarantee:
        return answer(about, world, parts, self.last, seen, self.releases)

    def dp(self, release: int | None = None, *, adjacency: str | None = None) -> Guarantee:
        """What one release (default: the last) reveals on its own about a record present since the start."""
        number = self._history.number("release", max(1, self.releases) if release is None else release)
        if number < self.releases:
            return self.dp_cumulative(observed=[number], adjacency=adjacency)
        parts = Counter(self._history.account.alone)
        return self._answer("dp", self._world("dp", adjacency), parts, {number})

    def dp_of_each(
        self, last: int | None = None, *, at: Sequence[int] | None = None, adjacency: str | None = None
    ) -> list[Guarantee]:
        """`dp(release)` for each of the last releases (default: all), or for those named in `at`, in one pass."""
        each = self._history.alone(self._first(last))
        if at is not None:
            each = [each[number - 1] for number in at]
        return self._alone_each("dp", self._world("dp", adjacency), each)

    def _alone_each(self, about: str, world: str, each: list[tuple[Stretch, ...]]) -> list[Guarantee]:
        """`_alone` of every one. Steps without end come to equal costs, which are composed once."""
        answers, known = {}, dict[tuple[Guarantee, ...], Guarantee]()
        for parts in dict.fromkeys(each):
            costs = tuple(cost(about, world, stretch) for stretch in parts)
            if costs not in known:
                known[costs] = self._alone(about, world, parts)
            answers[parts] = known[costs]
        return [answers[parts] for parts in each]

    def _alone(self, about: str, world: str, parts: tuple[Stretch, ...]) -> Guarantee:
        """What one release reveals where no other was observed."""
        return compose(about, world, Counter(parts), self.last).assuming(NON_ADAPTIVE)

    def dp_cumulative(
        self, observed: Iterable[int] | None = None, *, present_from: int = 1, adjacency: str | None = None
    ) -> Guarantee:
        """What all observed releases together reveal about a record that is still there.

        Args:
            observed: release numbers; default every release.
            present_from: the first release that the record took part in (default: the first of all, the worst case).
        """
        start, seen = self._history.number("present_from", present_from), self.seen(observed)
        return self._answer("dp", self._world("dp", adjacency), self._history.parts(start, None, seen), seen)

    def dp_cumulative_of_each(self, at: Sequence[int] | None = None) -> list[Guarantee]:
        """What all releases up to each one (or to those named in `at`, in rising order) reveal about a record present since the
        start, in one pass."""
        growing, world, known, totals = Account(), self._world("dp", None), Known(), list[Guarantee]()
        wanted = range(1, self.releases + 1) if at is None else at
        for event in self._history:
            growing.record(event)
            if len(totals) < len(wanted) and growing.releases == wanted[len(totals)]:
                totals.append(growing.everything("dp", world, known))
        return totals

    # --- a record that was erased ---

    def deletion(
        self,
        present_from: int = 1,
        erased_at: int | None = None,
        observed: Iterable[int] | None = None,
        *,
        notion: str | None = None,
    ) -> Guarantee:
        """What the observed releases reveal about a record present from one release and erased at another.

        Args:
            present_from: the first release that the record took part in (default: the first of all, the worst case).
            erased_at: the release that served its erasure (default: the last).
            observed: release numbers; default every release, the adversary to whom requests may be adaptive. Passing only
                those from `erased_at` on is valid for an observer who came after the erasure *if no request depended on
                an earlier model*: a request that did may have carried the erased record into records that stay.
        """
        world = self._world("deletion", notion)
        start, erased = self._history.lifetime(present_from, erased_at)
        seen = self.seen(observed)
        composed = self._answer("deletion", world, self._history.parts(start, erased, seen), seen)
        return _least(composed, world, self._history.hidden_past(erased, seen))

    def deletion_observed(self) -> Guarantee:
        """`deletion()` of what the last release erased, every release observed: what all the others showed of it.

        Holds under adaptive requests. Time does not grow with the number of releases.
        """
        self._history.number("release", max(1, self.releases))
        return self._history.account.deletion_observed(self._world("deletion", None))

    def deletion_of_each(self, last: int | None = None, *, notion: str | None = None) -> list[Guarantee]:
        """`deletion(1, release, [release])` for each of the last releases (default: all; the first erases nothing and has no
        answer), in one pass."""
        world, first = self._world("deletion", notion), self._first(last)
        each = self._history.erased_by(first)
        found = self._alone_each("deletion", world, [parts for parts, _ in each])
        for place, (parts, hidden) in enumerate(each):
            if hidden is not None:
                composed = self._answer("deletion", world, Counter(parts), {first + place})
                found[place] = _least(composed, world, hidden)
        return found[1:] if first == 1 else found

    def costliest_deletion(self, shown: Collection[int]) -> Guarantee | None:
        """The `deletion(1, …)` of largest advantage, slack included, among all erasures, to an observer of the `shown` releases
        before it and of every one from it on; None where nothing was erased. Who saw everything learns most of the latest erasure.
        """
        account, end, world = self._history.account, self.releases + 1, self._world("deletion", None)
        if account.erasing is None:
            return None
        if len(shown) == self.releases:
            return self.deletion(1, account.erasing.number)
        # of releases before it too, and since an earlier one, where rows come in any order: no less than the truth
        later = orders(account.published)
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
            # how close a hidden past has come depends on the edits of each release: the latest of a stretch need not be the dearest
            each, first = self.deletion_of_each(), min(shown, default=end)
            answers += [
                each[n - 2] for n, event in enumerate(self._history, 1) if 1 < n <= first and event.counts.erased
            ]
        exact = [answer.with_slack() for answer in answers]  # plans may round differently
        return answers[max(range(len(answers)), key=lambda one: (exact[one].advantage, exact[one].total_rate))]

    def forgotten(self) -> Guarantee:
        """What the last release alone reveals about what it erased: Definition 4.1 as the plan states it.

        Only as long as requests did not depend on earlier models: one that did may have written what it saw of the erased
        record into records that stay. `deletion()` over every observed release holds whatever the requests were. Under
        Theorem 5.2 the figure depends on the edits and steps of every release since the last fresh learn.
        """
        last, account = self.last, self._history.account
        if account.trained > (last.kind is EventKinds.EXTRACTOR):  # no deletion takes back what it learned
            return self.deletion(1, self.releases, [self.releases])
        if last.kind is not EventKinds.UNLEARN:
            return self._alone("deletion", self._world("deletion", None), ())
        hidden = hidden_past(last.mechanism, account.closeness)
        if hidden is not None:
            return hidden
        if self.plan is None:
            raise InvalidParameter(
                "forgotten() states what a plan promises: Accountant(plan); deletion() needs no plan"
            )
        return self.plan.deletion

    def deletion_adaptive(
        self, models_seen: int, present_from: int = 1, erased_at: int | None = None, *, notion: str | None = None
    ) -> Guarantee:
        """Deletion under p-adaptive requests: requesters saw any p models before the erasure, nobody knows which.

        The observer sees every release from `erased_at` on (see `adaptive`).
        """
        seen, world = count("models_seen", models_seen, minimum=0), self._world("deletion", notion)
        start, erased = self._history.lifetime(present_from, erased_at)
        return adaptive_deletion(self.events, world, models_seen=seen, present_from=start, erased_at=erased)


def _least(composed: Guarantee, world: str, hidden: Guarantee | None) -> Guarantee:
    """The smaller of two bounds on the same, at the order that the second one speaks of; it is about Definition 4.1."""
    if hidden is None or world != "definition-4.1":
        return composed
    order = hidden.points[0][0]
    return min(composed, hidden, key=lambda guarantee: guarantee.renyi(order))
