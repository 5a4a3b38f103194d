"""From facts to claims: everything that a certificate says, and nothing that its facts do not show.

Each claim is made here, once, for whoever writes a paper and for whoever checks one. A fact that is missing removes its claim, or adds
the condition under which the others still hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..accountant import Accountant, Event, Statuses
from ..accountant.tallies import TallyAccount
from ..bounds.arithmetic import UNIT
from ..errors import InvalidParameter
from ..methods.base import Mechanism
from ..methods.plan import Plan
from ..privacy.guarantee import Guarantee, Worlds, WorstCase
from ..privacy.sentences import success_per_hundred
from ..store.sources.residue_report import Verdicts
from .claims import KEYS, Claim
from .facts import UNKNOWN, Erasure

HARDLY = 0.9  # an advantage that limits little
MOST_ODDS = 100.0  # ε of odds that are claimed: larger ones limit nothing
NOT_COVERED = tuple(key for key, claimable in KEYS.items() if claimable.role == "uncovered")


def claims_of(erasure: Erasure, plan: Plan, history: TallyAccount, delta: float) -> tuple[Claim, ...]:
    """All that a paper about this erasure claims.

    Args:
        plan: under which the release was made. history: every release so far. delta: δ of the (ε, δ) figures.

    Raises:
        InvalidParameter: the facts contradict one another.
    """
    served, accountant = find_serving_release(erasure, plan, history), history.accountant(plan)
    left = tuple(dict.fromkeys(facts.left for facts in accountant.account.mechanisms if facts.left))
    return (
        *_edit_claims(erasure, plan, served, left),
        *_source_claims(erasure, served),
        *_residue(erasure),
        *_figure_claims(erasure, accountant, delta),
        *odds(accountant, delta),
        *(Claim(f"left.{what}", {}) for what in left),
        *conditions_of(plan, accountant, erasure.from_data, history.runs),
        *_deadline_claims(erasure),
        *_notice_claims(erasure, left),
        *(Claim(key, {}) for key in NOT_COVERED),
        *(Claim(f"to-do.{what}", {}) for what in _duties(erasure, total=plan.total is not None)),
    )


def find_serving_release(erasure: Erasure, plan: Plan, history: TallyAccount) -> Event | None:
    """The release that published the edited table; None where none has.

    Raises:
        InvalidParameter: it is not one that the plan and the request could have led to.
    """
    if erasure.release is None:
        if erasure.notices.put_back is not None:
            raise InvalidParameter(
                "lies before any model was published without the rows: there is nothing to certify",
                put_back=erasure.notices.put_back,
            )
        if history.last_model is None or history.last_model.mechanism != plan.mechanism:
            raise InvalidParameter("the last model was not made under the plan of this certificate")
        return None
    event, release = history.served, erasure.release
    if event is None or release != history.about:
        raise InvalidParameter(f"is not in the ledger of {history.releases} releases", release=release)
    if event.mechanism != plan.mechanism:
        raise InvalidParameter(f"release {release} was not made under the plan of this certificate")
    if not event.steps >= (plan.learn_steps if event.fresh else plan.delete_steps):
        raise InvalidParameter(f"release {release} took {event.steps} steps, fewer than its plan asks for")
    if not event.edits >= erasure.rows + erasure.inserted:
        raise InvalidParameter(
            f"release {release} covers {event.edits} edits, fewer than the {erasure.rows} rows erased"
            + (f" and {erasure.inserted} inserted" if erasure.inserted else "")
        )
    chained = not (event.fresh or event.mechanism.shows_order)  # whose figures rest on what changed in between
    if erasure.read_at is not None and erasure.counted is None and chained:
        raise InvalidParameter(
            f"release {release} continues from the model before, and nothing counted what changed in between: where rows lie in a source "
            "of their own, such a release is certified only with a count by a trigger or by versions"
        )
    counts = event.counts
    for name in ("deleted", "replaced", "inserted"):
        if not getattr(counts, name) + counts.unrecorded >= getattr(erasure, name):
            raise InvalidParameter(
                f"release {release} covers {counts.text()}, fewer {name} than the {getattr(erasure, name)} of the request"
            )
    return event


def derive_guarantees(erasure: Erasure, accountant: Accountant) -> dict[str, Guarantee]:
    """What observers can tell, by the key of the figure: about what was erased, from later models alone and from all of them; about
    records that are still there.

    Of a deleted record the plan's own question is answered; of replaced content "this or other content?". A record counts
    as present since the first release, which is the worst case. One that was kept aside and put back is still there.
    """
    plan = accountant.plan
    assert plan is not None
    notions = {}
    if erasure.deleted and erasure.notices.put_back is None:
        notions["erased"] = plan.problem.deletion_notion
    if erasure.replaced:
        notions["replaced"] = Worlds.PAIRWISE
    found = {}
    for what, notion in notions.items():
        if erasure.release is None:  # nothing published since: only what was out before
            world = Worlds.REPLACE if notion == Worlds.PAIRWISE else Worlds.ZERO_OUT
            found[f"{what}.before"] = accountant.dp_cumulative(adjacency=world)
            continue
        from_here = range(erasure.release, accountant.releases + 1)
        found[f"{what}.later"] = accountant.deletion(erased_at=erasure.release, observed=from_here, notion=notion)
        found[f"{what}.all"] = accountant.deletion(erased_at=erasure.release, notion=notion)
    return {**found, "present.one": accountant.dp(), "present.all": accountant.dp_cumulative()}


def are_whole_subjects(erasure: Erasure, rows_per_person: int) -> bool:
    """Whether every row of the persons concerned is gone, so that a figure is about them and not about their rows."""
    return rows_per_person == 1 or erasure.remaining == 0


def _edit_claims(erasure: Erasure, plan: Plan, served: Event | None, left: tuple[str, ...]) -> Iterator[Claim]:
    for key, rows in (("erased", erasure.deleted), ("replaced", erasure.replaced), ("inserted", erasure.inserted)):
        if rows:
            yield Claim(key, {"rows": rows})
    if erasure.edited is not None:
        yield Claim("edited", {"day": erasure.edited})
    for key, when in (("set-aside", erasure.notices.set_aside), ("put-back", erasure.notices.put_back)):
        if when is not None:
            yield Claim(key, {"rows": erasure.rows, "day": when.isoformat()})
    most = plan.problem.rows_per_subject
    if are_whole_subjects(erasure, most):
        yield Claim("person-gone", {"rows_per_person": most})
    elif erasure.remaining is None:
        yield Claim("rows-may-remain", {"rows_per_person": most})
    else:
        yield Claim("rows-remain", {"remaining": erasure.remaining})
    if served is None:
        yield Claim(str(erasure.status), {"rows": erasure.rows})
        return
    origin = "resumed" if not served.fresh else "warm" if served.warm else "fresh"
    if origin == "resumed" and served.mechanism.carries:
        origin = "carried"
    if "base" in left or "extractor" in left:
        origin = "kept"
    yield Claim(f"published.{origin}", {"rows": erasure.rows, "release": erasure.release})
    if erasure.served is not None:
        yield Claim("published.on", {"day": erasure.served})
    if served.counts.unrecorded:
        yield Claim("kinds-unrecorded", {})


def _source_claims(erasure: Erasure, served: Event | None) -> Iterator[Claim]:
    """In which order the source was changed and read, by its own count; and what is known of its other changes."""
    if erasure.deleted_at is None or erasure.read_at is None or served is None:
        return
    yield Claim("source.order", {"deleted_at": erasure.deleted_at, "read_at": erasure.read_at})
    if erasure.counted is None:
        yield Claim("source.uncounted", {})
        return
    counts = served.counts
    edits = {"deleted": counts.deleted, "replaced": counts.replaced, "inserted": counts.inserted}
    yield Claim("source.counted", {"by": erasure.counted, **edits})


def _residue(erasure: Erasure) -> Iterator[Claim]:
    """Places in which the operator's search found what was erased, or which it could not read."""
    for key, verdict in (("residue.found", Verdicts.RESIDUAL), ("residue.unread", Verdicts.NOT_COVERED)):
        places = len([place for place in erasure.residue if place["verdict"] == verdict])
        if places:
            yield Claim(key, {"places": places})


def _figure_claims(erasure: Erasure, accountant: Accountant, delta: float) -> Iterator[Claim]:
    """Each figure with its own conditions, and where it limits little, that it does."""
    plan = accountant.plan
    assert plan is not None
    for key, guarantee in derive_guarantees(erasure, accountant).items():
        what = key.partition(".")[0]
        rows = {"erased": erasure.deleted, "replaced": erasure.replaced, "present": 1}[what]
        whole = what == "present" or (what == "erased" and are_whole_subjects(erasure, plan.problem.rows_per_subject))
        claim = figure_claim(key, guarantee, plan, rows=rows, whole=whole, delta=delta, by_calendar=erasure.by_calendar)
        yield claim
        if what != "present" and claim.values["advantage"] >= HARDLY:
            yield Claim("hardly", {"figure": key})
    if delta * plan.records > 1:
        yield Claim("delta-large", {"delta": delta, "records": plan.records})


def figure_claim(
    key: str, guarantee: Guarantee | WorstCase, plan: Plan, *, rows: int, whole: bool, delta: float, by_calendar: bool
) -> Claim:
    """One figure and the conditions that it holds under.

    Args:
        whole: whether it is about every row of a person. by_calendar: whether publications kept to dates fixed beforehand.
    """
    exact, order, seen = guarantee.with_slack(), plan.budget.order, key.partition(".")[2]
    most = plan.problem.rows_per_subject
    person = (whole or most == 1) and guarantee.rows >= most  # and every release that it is about covers all of them
    values: dict[str, Any] = {
        "rows": rows,
        "unit": "row" if not person else "record" if most == 1 else "person",
        "rows_per_person": guarantee.rows,
        "question": "which" if guarantee.adjacency.between_records else "used",
        "worlds": str(guarantee.adjacency),
        "of_hundred": success_per_hundred(exact.advantage),
        "advantage": exact.advantage,
        "epsilon": _finite_or_none(exact.epsilon(delta)),
        "delta": delta,
        "order": order,
        "renyi": None if order is None else _finite_or_none(exact.renyi(order)),
        "gdp": exact.gdp,
    }
    schedule = "schedule-calendar" if by_calendar else "schedule-fixed"
    blind = ("requests-blind",) if guarantee.non_adaptive else ()
    target = "record-fixed" if key.startswith("present.") else "target-fixed"
    return Claim(key, values, (*blind, target, *((schedule,) if seen in ("all", "before") else ())))


def odds(accountant: Accountant, delta: float) -> Iterator[Claim]:
    """The odds that no observer exceeds, whoever chose whose record is erased and when; nothing where no total is enforced."""
    plan = accountant.plan
    epsilon = None if plan is None else accountant.stopping_epsilon(delta)
    if plan is None or plan.total is None or epsilon is None or not epsilon <= MOST_ODDS:
        return
    cap, most = accountant.dp_cumulative() if accountant.releases else plan.dp, plan.problem.rows_per_subject
    values = {
        "unit": "row" if cap.rows < most else "record" if most == 1 else "person",
        "rows_per_person": cap.rows,
        "question": "which" if cap.adjacency.between_records else "used",
        "worlds": str(cap.adjacency),
        "epsilon": epsilon,
        "odds": math.exp(epsilon) * (1 + 8 * UNIT),
        "delta": delta,
        "total_epsilon": plan.total.epsilon,
        "total_delta": plan.total.delta,
    }
    yield Claim("odds.ever", values, ("total-fixed",))


def _finite_or_none(bound: float) -> float | None:
    """JSON has no infinity: a bound that does not exist is null."""
    return None if math.isinf(bound) else bound


def conditions_of(
    plan: Plan, accountant: Accountant, from_data: Sequence[str] | None, runs: Iterable[tuple[Mechanism, int]]
) -> Iterator[Claim]:
    """What every figure assumes: of the plan, of the machine, and of each mechanism that the history has.

    Args:
        from_data: columns whose range or list of values was read off the data; None: not known.
        runs: the mechanism of the releases so far, in their order, and how many releases in a row it made.

    Raises:
        InvalidParameter: a release of a model does not state the norm of its rows.
    """
    norms = _row_norms(runs) or [(plan.loss.radius, 1, 1)]
    radius = {"radius": max(norm for norm, _, _ in norms)}
    if from_data is None:
        yield Claim("ranges-unknown", radius)
    elif from_data:
        yield Claim("ranges-from-data", {**radius, "columns": list(from_data)})
    else:
        yield Claim("ranges-public", radius)
    if plan.problem.feature_map is not None:
        yield Claim("map-public", {"digest": plan.problem.feature_map})
    yield Claim("rows-per-person", {"rows_per_person": plan.problem.rows_per_subject})
    yield Claim("curator-trusted", {})
    if len(norms) > 1:
        for norm, first, last in norms:
            yield Claim("row-norm", {"radius": norm, "first": first, "last": last})
    yield from _unique(
        Claim(key, values) for facts in accountant.account.mechanisms for key, values in facts.conditions()
    )


def _row_norms(runs: Iterable[tuple[Mechanism, int]]) -> list[tuple[float, int, int]]:
    """Return (R, first release, last release) of each stretch of releases whose rows have norm at most R."""
    found: list[tuple[float, int, int]] = []
    number = 0
    for mechanism, releases in runs:
        first, number = number + 1, number + releases
        norm = mechanism.row_norm
        if norm is None and mechanism.left not in ("extractor", "statistics"):
            raise InvalidParameter(
                f"release {first} does not state the norm of its rows; state row_norm", row_norm=norm
            )
        if found and norm in (None, found[-1][0]):  # a statistic has rows of any norm
            found[-1] = (*found[-1][:2], number)
        elif norm is not None:
            found.append((norm, first, number))
    return found


def _unique(claims: Iterable[Claim]) -> list[Claim]:
    found: dict[str, Claim] = {}
    for claim in claims:
        found.setdefault(f"{claim.key} {sorted(claim.values.items())}", claim)
    return list(found.values())


def _deadline_claims(erasure: Erasure) -> Iterator[Claim]:
    """What is known of the deadline; of what was done when, only where the day is stated."""
    last, notices = erasure.deadline, erasure.notices
    if last is None:
        return
    if notices.extended_until is not None:
        yield Claim("deadline.extended", {"day": last, "reason": str(notices.extension_reason)})
    else:
        yield Claim("deadline.holidays" if notices.holidays else "deadline", {"day": last})
    told = None if notices.informed is None else notices.informed.isoformat()
    for what, when in (("erased", erasure.edited), ("published", erasure.served), ("told", told)):
        if when is not None:
            yield Claim("in-time" if when <= last else "late", {"what": what})


def _notice_claims(erasure: Erasure, left: tuple[str, ...]) -> Iterator[Claim]:
    """What the operator states for the person beside the erasure; nothing where nothing was stated."""
    said, rows = erasure.notices, {"rows": erasure.rows}
    for name in ("models", "purposes"):
        if getattr(said, name) is not None:
            yield Claim(name, {name: getattr(said, name)})
    if said.withdrawn is not None:
        kept = "base" in left or "extractor" in left
        yield Claim("model-withdrawn.kept" if kept else "model-withdrawn", {**rows, "day": said.withdrawn.isoformat()})
    elif erasure.status is Statuses.PENDING:
        until = said.publish_by
        yield (
            Claim("model-in-use", rows)
            if until is None
            else Claim("model-in-use.until", {**rows, "day": until.isoformat()})
        )
    yield from _destination_claims(erasure)
    if said.recipients is not None:
        told: Mapping[str, Any] = {"recipients": said.recipients}
        when = said.recipients_told
        yield Claim("recipients", told) if when is None else Claim("recipients.told", {**told, "day": when.isoformat()})
    if said.backups_until is not None:
        yield Claim("backups", {**rows, "day": said.backups_until.isoformat()})
    if said.informed is not None:
        yield Claim("told", {"day": said.informed.isoformat()})
    if said.contact is not None:
        yield Claim("contact", {"contact": said.contact})
    yield Claim("complaint", {}) if said.authority is None else Claim("complaint.to", {"authority": said.authority})
    yield Claim("record-kept", {})


def _destination_claims(erasure: Erasure) -> Iterator[Claim]:
    """What the other places hold to which models are put, and whether all of them are known."""
    named = [place for place in erasure.publishers if place["kind"] != UNKNOWN]
    if len(named) < len(erasure.publishers):
        yield Claim("elsewhere.unknown", {})
    if not named:
        return
    places = {"places": len(named), "kinds": sorted({str(place["kind"]) for place in named})}
    left = len([place for place in named if _may_have_used(place["oldest"], erasure.release)])
    yield Claim("elsewhere.left", {**places, "left": left}) if left else Claim("elsewhere.none", places)


def _may_have_used(oldest: int | None, release: int | None) -> bool:
    """Whether the earliest release that may lie in a place was made before the one without the rows."""
    return oldest is not None and (release is None or oldest < release)


def _duties(erasure: Erasure, *, total: bool) -> Iterator[str]:
    """What the software cannot do for the controller; of rows that came back nothing is to be kept out.

    Args:
        total: whether all publications together have a budget.
    """
    if erasure.status is Statuses.WITHHELD:
        yield "total" if total else "budget"
    if erasure.status is Statuses.PENDING:
        yield "publish"
    yield from ("tell", "recipients")
    if erasure.notices.put_back is None:
        yield from ("withdraw", "backups")
