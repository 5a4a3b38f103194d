"""The certificate's sentences. Each number in them is a bound that `Accountant` proves; nothing here computes one.

What a published model still shows is a bound and not nothing, so no sentence says that a model "has forgotten"; a figure for
whoever saw only later models stands with its condition, and beside it the figure that needs none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from ..accountant import Event, Statuses
from ..methods.plan import Plan
from ..privacy.guarantee import NON_ADAPTIVE, Guarantee
from ..privacy.shown import right_of_hundred, shown
from ..register.dates import local_day
from .facts import Erasure

_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

ADAPTIVITY = (
    f"a figure for later models, or for one release alone, holds only if {NON_ADAPTIVE}; the figure for all models holds for "
    "any requester who saw all of them, with the schedule of releases fixed in advance"
)

NOT_COVERED = (
    "models published before the erasure, and copies of them that others hold",
    "backups, snapshots, logs and exports outside the store, and copies of the data held elsewhere",
    "worn or remapped cells of the storage device (encrypt the volume: destroying its key destroys them too)",
    "records of other people that mention this person",
    "other models, embeddings or feature extractors trained on the same data",
    "what the data of everybody else reveals about this person",
    "this is not a statement that the model is anonymous in the sense of the law",
)


def assumptions(plan: Plan) -> list[str]:
    """What the caller answers for, besides the mathematics of the mechanism."""
    timed = plan.method.passes_depend_on_data
    seen = "sees published models" + ("" if timed else " and the time of their publication") + ", not memory or disks"
    return [
        f"every feature row has norm at most {shown(plan.loss.radius)}, by bounds that were not read off the data",
        "preprocessing acts on each record by itself and was fitted to no record of the table",
        *_mapped(plan),
        f"at most {plan.problem.rows_per_subject} row(s) belong to one person; the figures cover all of them together",
        f"the curator's machine is trusted: the observer {seen}",
    ]


def _mapped(plan: Plan) -> list[str]:
    digest = plan.problem.feature_map
    if digest is None:
        return []
    return [
        f"the features are those of a public map, SHA-256 {digest}, that was chosen and trained before the records were read and "
        "without them; what it was trained on is not erased by anything stated here"
    ]


def deadline(erasure: Erasure) -> str | None:
    """How the deadline was counted."""
    if erasure.deadline is None:
        return None
    last, notices = f"the end of {dated(erasure.deadline)} where the request was received", erasure.notices
    if notices.extended_until is not None:
        return f"{last}: extended because of the {notices.extension_reason} (Article 12(3) GDPR)"
    holidays = ", which moved it here" if notices.holidays else ", which the operator states"
    return (
        f"{last}: one month by the calendar (Article 12(3) GDPR); a Saturday or Sunday gives way to the next working day, and so "
        f"does a public holiday{holidays} (Regulation 1182/71, Article 3)"
    )


def dated(when: str | date) -> str:
    """A day as people write it, in no country's order of numbers."""
    day = when if isinstance(when, date) else date.fromisoformat(when)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def timed(when: str, received: str | None = None) -> str:
    """A moment in UTC as people write it, by the day of the place where the request came in."""
    return dated(local_day(when, received))


def in_time(erasure: Erasure) -> str | None:
    """Whether the answer kept the deadline, and by what that was judged."""
    if erasure.in_time is None:
        return None
    told = erasure.notices.informed is not None
    by = "the person was told" if told else "the model was published (when the person was told is not stated)"
    return f"{by} {'in time' if erasure.in_time else 'late'}"


def notices(erasure: Erasure) -> list[str]:
    """What the operator states for the person beside the erasure; nothing where nothing was stated."""
    said, it = erasure.notices, "the record" if erasure.rows == 1 else "the records"
    sentences = []
    if said.models or said.purposes:
        what = said.models or "the models trained on this table"
        sentences.append(f"This is about {what}{f', used for {said.purposes}' if said.purposes else ''}.")
    if said.withdrawn is not None:
        sentences.append(
            f"The model that may have used {it} is out of service since {dated(said.withdrawn)}; copies that others hold are not."
        )
    elif erasure.status is not Statuses.PUBLISHED:
        by = f" until {dated(said.publish_by)} at the latest" if said.publish_by else ""
        sentences.append(f"The model in use{by} was trained with {it}.")
    sentences += _besides(erasure, it)
    if said.recipients is not None:
        when = f" on {dated(said.recipients_told)}" if said.recipients_told else ""
        sentences.append(
            f"{said.recipients} recipient(s) of the data were told{when} (Article 19 GDPR); they are named on request."
        )
    if said.backups_until is not None:
        sentences.append(f"Backups may hold {it} until {dated(said.backups_until)}.")
    if said.informed is not None:
        sentences.append(f"The person was told on {dated(said.informed)}.")
    if said.contact is not None:
        sentences.append(f"Questions, and a request to be told more: {said.contact}.")
    where = f"to {said.authority}" if said.authority else "to a supervisory authority"
    sentences.append(f"Whoever finds this answer wrong may complain {where}, or go to court (Articles 77 and 79 GDPR).")
    sentences.append(
        "A record of this request is kept, for as long as it must be possible to show how it was answered."
    )
    return sentences


def _besides(erasure: Erasure, it: str) -> list[str]:
    """What the other places hold to which models are put."""
    if not erasure.publishers:
        return []
    left = len([place for place in erasure.publishers if _may_have_used(place["oldest"], erasure.release)])
    kinds = ", ".join(sorted({place["kind"] for place in erasure.publishers}))
    sentences = [
        f"Models are also put in {len(erasure.publishers)} other place(s) ({kinds}): {len(erasure.publishers) - left} of them hold no model "
        f"that may have used {it}."
    ]
    if left:
        sentences.append(f"In {left} of them a model that may have used {it} may still lie.")
    return sentences


def _may_have_used(oldest: int | None, release: int | None) -> bool:
    """Whether the earliest release that may lie in a place was made before the one without the rows."""
    return oldest is not None and (release is None or oldest < release)


def plain(
    erasure: Erasure,
    served: Event | None,
    promises: Mapping[str, Guarantee],
    figures: Mapping[str, Any],
    *,
    left: Sequence[str],
) -> list[str]:
    """For the person who asked: no symbols but in the last sentences. `left`: what no erasure takes back of the models."""
    sentences = [_done(erasure), *_published(erasure, served), *_order(erasure, served)]
    if erasure.status is Statuses.WITHHELD:
        sentences = [
            f"{sentences[0]} No new model was published, because that would have cost other people more privacy than was "
            "promised; the old model is withdrawn."
        ]
    if erasure.status is Statuses.PENDING:
        it = "it" if erasure.rows == 1 else "them"
        sentences = [
            f"{sentences[0]} The model published now was still trained with {it}: a model computed without {it} will be "
            "published with the next release, and a certificate for it follows."
        ]
    sentences += left
    for what, rows in (("erased", erasure.deleted), ("replaced", erasure.replaced)):
        if rows:
            sentences += _limits(erasure, what, rows, promises)
    terms = [
        f"In the terms of the field, for all models together ({told['adjacency']}): Rényi divergence at order "
        f"{told['renyi']['order']:.12g} at most {shown(told['renyi']['epsilon'])}; (ε={shown(told['approximate']['epsilon'])}, "
        f"δ={shown(told['approximate']['delta'])})."
        for name, told in figures.items()
        if name in ("erased_all_models", "replaced_all_models")
    ]
    return [
        *sentences,
        "Guessing is right 50 times in 100.",
        *terms,
    ]


def _done(erasure: Erasure) -> str:
    """What happened to the rows."""
    when = "" if erasure.edited is None else f"On {timed(erasure.edited, erasure.received)} "
    parts = []
    if erasure.deleted:
        noun = "the record was" if erasure.deleted == 1 else f"{erasure.deleted} records were"
        parts.append(f"{noun} erased from the training data")
    if erasure.replaced:
        noun = "the record" if erasure.replaced == 1 else f"{erasure.replaced} records"
        parts.append(
            f"the earlier content of {noun} was erased and replaced by new content (rectification, Article 16 GDPR)"
        )
    done = f"{when}{'; '.join(parts)}."
    done = done[0].upper() + done[1:]
    if erasure.inserted:
        noun = "a new record" if erasure.inserted == 1 else f"{erasure.inserted} new records"
        done += f" The same request also put {noun} in: nothing was erased for that, and nothing is certified about it."
    return done


def _published(erasure: Erasure, served: Event | None) -> list[str]:
    """What was published since, and where it came from."""
    if served is None:
        return []
    when = "A" if erasure.served is None else f"On {timed(erasure.served, erasure.received)} a"
    what = "what was erased" if erasure.replaced else "it" if erasure.rows == 1 else "them"
    trace = f"an earlier model that may have used {what}; a limited statistical trace may remain"
    if not served.fresh:
        origin = f"starting from {trace}"
    elif served.warm:
        origin = f"by a solver that began at {trace}"
    else:
        origin = "learned afresh from the records that remain"
    unknown = (
        [
            "The ledger does not say which of this release's edits were erasures; that the records were erased is the "
            "operator's statement."
        ]
        if served.counts.unrecorded
        else []
    )
    return [f"{when} new model was published, computed without {what}, {origin}.", *unknown]


_COUNTS = {"trigger": "a trigger in the database", "versions": "a comparison of its versions"}


def _order(erasure: Erasure, served: Event | None) -> list[str]:
    """In which order the source was changed and read, by its own count; and what is known of its other changes."""
    if erasure.deleted_at is None or erasure.read_at is None or served is None:
        return []
    if erasure.counted is None:
        others = (
            "What else changed there since the model before was not counted. No figure here depends on it: every model is learned afresh "
            "from the rows of its own moment."
        )
    else:
        others = f"All that changed there since the model before was counted by {_COUNTS[erasure.counted]}: {served.counts.text()}."
    return [
        f"The records lie in a database or in files of the operator. By that source's own count they were deleted at {erasure.deleted_at}, "
        f"and the new model was computed from its state at {erasure.read_at}, which shows the deletion.",
        others,
    ]


def stated_elsewhere(erasure: Erasure) -> list[str]:
    """What else is the operator's word, where rows lie in a source of their own or residue was looked for."""
    stated = []
    if erasure.deleted_at is not None:
        stated.append("at which positions the source was changed and read; that one shows the other is recomputed")
    if erasure.counted is not None:
        stated.append("that all changes of the source were counted, and by what")
    if erasure.residue:
        stated.append("in which places what was erased was looked for, and what was found there")
    if erasure.publishers:
        stated.append("what the other places hold to which models are put, as they were last known")
    return stated


def _limits(erasure: Erasure, what: str, rows: int, promises: Mapping[str, Guarantee]) -> list[str]:
    """What observers can tell: the newcomer under a condition, and beside it whoever kept everything."""
    everything, later = promises[f"{what}_all_models"], promises.get(f"{what}_later_models")
    asked = _question(everything, what, rows)
    if later is None:
        seen = (
            "Of the models published before,"
            if erasure.status is Statuses.WITHHELD
            else "Of the models published so far,"
        )
        return [f"{seen} someone who kept them all is {_limit(everything)} about {asked}."]
    return [
        f"Someone who has only models published since, if {NON_ADAPTIVE}, is {_limit(later)} about {asked}.",
        f"Someone who kept every model, even if requests were chosen after seeing them: {_limit(everything)}.",
    ]


def _question(guarantee: Guarantee, what: str, rows: int) -> str:
    if what == "replaced":
        one = "the record" if rows == 1 else "any one of the records"
        return f"which of two contents {one} held before"
    one = "the erased record" if rows == 1 else "any one of the erased records"
    if guarantee.adjacency in ("pairwise", "replace"):
        return f"which of two possible records {one} was"
    return f"whether {one} was ever in the data"


def _limit(guarantee: Guarantee) -> str:
    advantage = guarantee.with_slack().advantage
    text = f"right at most {right_of_hundred(advantage)} times in 100"
    return f"{text}, which is hardly a limit: they may well know" if advantage >= 0.9 else text


def to_do(status: Statuses, *, total: bool) -> list[str]:
    """What the software cannot do for the controller. `total`: whether all publications together have a budget."""
    steps = [
        "tell the person what was done and when",
        "notify every recipient of the data and of earlier models (Article 19 GDPR)",
        "withdraw earlier models from use, and ask recipients to delete their copies",
        "let backups that hold the record expire, and repeat the erasure after any restore",
    ]
    if status is Statuses.WITHHELD:
        more = "total of all publications" if total else "dp budget"
        steps.insert(0, f"plan a larger {more}, and relearn, before publishing again")
    if status is Statuses.PENDING:
        steps.insert(0, "publish the next release within the deadline")
    return steps
