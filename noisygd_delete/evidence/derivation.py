"""Derivation of claims from facts: everything that a certificate states, and nothing beyond its facts.

Issuing and verification use the same derivation. A missing fact removes its claim, or adds the condition under which
the others still hold.
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
from ..privacy.guarantee import Guarantee, WorstCase
from ..privacy.sentences import success_per_hundred
from ..privacy.worlds import Worlds
from .claims import KEYS, Claim
from .facts import UNKNOWN, Erasure, Verdicts

HARDLY = 0.9  # an advantage from which on a figure limits little
MOST_ODDS = 100.0  # largest ε of claimed odds: larger ones limit nothing
NOT_COVERED = tuple(key for key, claimable in KEYS.items() if claimable.role == "uncovered")


def claims_of(erasure: Erasure, plan: Plan, history: TallyAccount, delta: float) -> tuple[Claim, ...]:
    """Return all claims of a certificate of this erasure.

    Args:
        erasure: The stated facts.
        plan: The plan under which the release was made.
        history: Every release so far.
        delta: δ of the (ε, δ) figures.

    Raises:
        InvalidParameter: If the facts contradict each other.
    """
    served, accountant = check_serving_release(erasure, plan, history), history.accountant(plan)
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
        *(Claim(f"to-do.{what}", {}) for what in _duties(erasure, total=plan.problem.total is not None)),
    )


def check_serving_release(erasure: Erasure, plan: Plan, history: TallyAccount) -> Event | None:
    """Return the release that the erasure names, checked against plan, steps and edits; None if it names none.

    Raises:
        InvalidParameter: If the plan and the request could not have led to this release.
    """
    if erasure.release is None:
        if erasure.notices.lifted is not None:
            raise InvalidParameter(
                "precedes every model published without the rows: there is nothing to certify",
                lifted=erasure.notices.lifted,
            )
        if history.last_model is None or history.last_model.mechanism != plan.mechanism:
            raise InvalidParameter("the last model was not made under the plan of this certificate")
        return None
    event, release = history.served, erasure.release
    if event is None or release != history.about:
        raise InvalidParameter(f"is not in the ledger of {history.releases} releases", release=release)
    if event.mechanism != plan.mechanism:
        raise InvalidParameter(f"release {release} was not made under the plan of this certificate")
    if not event.steps >= (plan.calibration.learn_steps if event.fresh else plan.calibration.delete_steps):
        raise InvalidParameter(f"release {release} took {event.steps} steps, fewer than its plan asks for")
    if not event.edits >= erasure.rows + erasure.inserted:
        raise InvalidParameter(
            f"release {release} covers {event.edits} edits, fewer than the {erasure.rows} rows erased"
            + (f" and {erasure.inserted} inserted" if erasure.inserted else "")
        )
    chained = not (event.fresh or event.mechanism.shows_order)  # its figures depend on the changes in between
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
    """Return what observers can learn, by the key of the figure.

    The figures concern what was erased, from later models alone and from all models, and records that are still
    present. For a deleted record they answer the plan's own question; for replaced content "this or other content?". A
    record counts as present since the first release, which is the worst case. A restricted record that was restored is
    still present.
    """
    plan = accountant.plan
    assert plan is not None
    notions = {}
    if erasure.deleted and erasure.notices.lifted is None:
        notions["erased"] = plan.problem.deletion_notion
    if erasure.replaced:
        notions["replaced"] = Worlds.PAIRWISE
    found = {}
    for what, notion in notions.items():
        if erasure.release is None:  # nothing published since: only earlier releases count
            world = Worlds.REPLACE if notion == Worlds.PAIRWISE else Worlds.ZERO_OUT
            found[f"{what}.before"] = accountant.dp_cumulative(adjacency=world)
            continue
        from_here = range(erasure.release, accountant.releases + 1)
        found[f"{what}.later"] = accountant.deletion(erased_at=erasure.release, observed=from_here, notion=notion)
        found[f"{what}.all"] = accountant.deletion(erased_at=erasure.release, notion=notion)
    return {**found, "present.one": accountant.dp(), "present.all": accountant.dp_cumulative()}


def are_whole_subjects(erasure: Erasure, rows_per_person: int) -> bool:
    """Return whether all rows of the persons concerned are gone, so that a figure is about persons rather than rows."""
    return rows_per_person == 1 or erasure.remaining == 0


def _edit_claims(erasure: Erasure, plan: Plan, served: Event | None, left: tuple[str, ...]) -> Iterator[Claim]:
    for key, rows in (("erased", erasure.deleted), ("replaced", erasure.replaced), ("inserted", erasure.inserted)):
        if rows:
            yield Claim(key, {"rows": rows})
    if erasure.edited is not None:
        yield Claim("edited", {"day": erasure.edited})
    for key, when in (("restricted", erasure.notices.restricted), ("restriction-lifted", erasure.notices.lifted)):
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
    """Yield the order in which the source was changed and read, and what its own count shows of other changes."""
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
    """Yield the places in which the operator's search found erased content, or which it could not read."""
    for key, verdict in (("residue.found", Verdicts.RESIDUAL), ("residue.unread", Verdicts.NOT_COVERED)):
        places = len([place for place in erasure.residue if place["verdict"] == verdict])
        if places:
            yield Claim(key, {"places": places})


def _figure_claims(erasure: Erasure, accountant: Accountant, delta: float) -> Iterator[Claim]:
    """Yield each figure with its conditions, and a limit if it limits little."""
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
    if delta * plan.problem.records > 1:
        yield Claim("delta-large", {"delta": delta, "records": plan.problem.records})


def figure_claim(
    key: str, guarantee: Guarantee | WorstCase, plan: Plan, *, rows: int, whole: bool, delta: float, by_calendar: bool
) -> Claim:
    """Return one figure with the conditions under which it holds.

    Args:
        key: Key of the figure.
        guarantee: The guarantee that it states.
        plan: The current plan.
        rows: Rows erased together.
        whole: Whether it is about every row of a person.
        delta: δ of its (ε, δ) form.
        by_calendar: Whether publications followed dates fixed beforehand.
    """
    exact, order, seen = guarantee.with_slack(), plan.problem.budget.order, key.partition(".")[2]
    most = plan.problem.rows_per_subject
    person = (whole or most == 1) and guarantee.rows >= most  # and every release concerned covers all rows of a person
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
    """Yield the odds that no observer exceeds, however erasures and their times are chosen.

    Yields nothing without an enforced total.
    """
    plan = accountant.plan
    epsilon = None if plan is None else accountant.stopping_epsilon(delta)
    if plan is None or plan.problem.total is None or epsilon is None or not epsilon <= MOST_ODDS:
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
        "total_epsilon": plan.problem.total.epsilon,
        "total_delta": plan.problem.total.delta,
    }
    yield Claim("odds.ever", values, ("total-fixed",))


def _finite_or_none(bound: float) -> float | None:
    """Return None for an infinite bound, as JSON has no infinity."""
    return None if math.isinf(bound) else bound


def conditions_of(
    plan: Plan, accountant: Accountant, from_data: Sequence[str] | None, runs: Iterable[tuple[Mechanism, int]]
) -> Iterator[Claim]:
    """Yield the assumptions of every figure: on the plan, the machine, and each mechanism of the history.

    Args:
        plan: The current plan.
        accountant: Accountant of the releases so far.
        from_data: Columns whose range or list of values was read off the data; None if not known.
        runs: Mechanisms of the releases so far, in order, each with its number of consecutive releases.

    Raises:
        InvalidParameter: If the release of a model does not state the norm of its rows.
    """
    problem = plan.problem
    norms = _row_norms(runs) or [(problem.loss.radius, 1, 1)]
    radius = {"radius": max(norm for norm, _, _ in norms)}
    if from_data is None:
        yield Claim("ranges-unknown", radius)
    elif from_data:
        yield Claim("ranges-from-data", {**radius, "columns": list(from_data)})
    else:
        yield Claim("ranges-public", radius)
    if problem.feature_map is not None:
        yield Claim("map-public", {"digest": problem.feature_map})
    yield Claim("rows-per-person", {"rows_per_person": problem.rows_per_subject})
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
        if found and norm in (None, found[-1][0]):  # a statistic does not depend on the row norm
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
    """Yield the deadline if it is known, and whether each step with a stated day met it."""
    last, notices = erasure.deadline, erasure.notices
    if last is None:
        return
    if notices.extended_until is not None:
        yield Claim("deadline.extended", {"day": last, "reason": str(notices.extension_reason)})
    else:
        yield Claim("deadline.holidays" if notices.holidays else "deadline", {"day": last})
    informed = None if notices.informed is None else notices.informed.isoformat()
    for what, when in (("erased", erasure.edited), ("published", erasure.served), ("informed", informed)):
        if when is not None:
            yield Claim("in-time" if when <= last else "late", {"what": what})


def _notice_claims(erasure: Erasure, left: tuple[str, ...]) -> Iterator[Claim]:
    """Yield what the operator states for the person besides the erasure."""
    notices, rows = erasure.notices, {"rows": erasure.rows}
    for name in ("models", "purposes"):
        if getattr(notices, name) is not None:
            yield Claim(name, {name: getattr(notices, name)})
    if notices.withdrawn is not None:
        kept = "base" in left or "extractor" in left
        yield Claim(
            "model-withdrawn.kept" if kept else "model-withdrawn", {**rows, "day": notices.withdrawn.isoformat()}
        )
    elif erasure.status is Statuses.PENDING:
        until = notices.publish_by
        yield (
            Claim("model-in-use", rows)
            if until is None
            else Claim("model-in-use.until", {**rows, "day": until.isoformat()})
        )
    yield from _destination_claims(erasure)
    if notices.recipients is not None:
        informed: Mapping[str, Any] = {"recipients": notices.recipients}
        when = notices.recipients_informed
        yield (
            Claim("recipients", informed)
            if when is None
            else Claim("recipients.informed", {**informed, "day": when.isoformat()})
        )
    if notices.backups_until is not None:
        yield Claim("backups", {**rows, "day": notices.backups_until.isoformat()})
    if notices.informed is not None:
        yield Claim("informed", {"day": notices.informed.isoformat()})
    if notices.contact is not None:
        yield Claim("contact", {"contact": notices.contact})
    yield (
        Claim("complaint", {}) if notices.authority is None else Claim("complaint.to", {"authority": notices.authority})
    )
    yield Claim("record-kept", {})


def _destination_claims(erasure: Erasure) -> Iterator[Claim]:
    """Yield what other publishing locations hold, and whether all of them are known."""
    named = [place for place in erasure.publishers if place["kind"] != UNKNOWN]
    if len(named) < len(erasure.publishers):
        yield Claim("elsewhere.unknown", {})
    if not named:
        return
    places = {"places": len(named), "kinds": sorted({str(place["kind"]) for place in named})}
    left = len([place for place in named if _may_have_used(place["oldest"], erasure.release)])
    yield Claim("elsewhere.left", {**places, "left": left}) if left else Claim("elsewhere.none", places)


def _may_have_used(oldest: int | None, release: int | None) -> bool:
    """Return whether the earliest release that a location may hold precedes the one without the rows."""
    return oldest is not None and (release is None or oldest < release)


def _duties(erasure: Erasure, *, total: bool) -> Iterator[str]:
    """Yield what the controller has to do outside this software; restored rows need not be kept out.

    Args:
        erasure: The stated facts.
        total: Whether all publications together have a budget.
    """
    if erasure.status is Statuses.WITHHELD:
        yield "total" if total else "budget"
    if erasure.status is Statuses.PENDING:
        yield "publish"
    yield from ("tell", "recipients")
    if erasure.notices.lifted is None:
        yield from ("withdraw", "backups")
