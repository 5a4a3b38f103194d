"""The letter to the person who asked: what was done and when, in sentences of their language, both observers, and the remedies.

It says no more than the certificate: every figure is that of `erasure_certificate.guarantees`, as odds of a hundred. It never says
that a model forgot, is anonymous or complies with a law.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from ..accountant.tallies import tallied
from ..errors import InvalidParameter
from ..evidence.deriving import guarantees
from ..evidence.erasure import erasure_in, ledger_of
from ..evidence.notices import text
from ..privacy.guarantee import Guarantee
from ..privacy.shown import right_of_hundred
from ..privacy.worlds import Worlds
from ..register import Decisions, Line, Rights
from ..register.dates import local_day
from ..register.terms import Reasons
from .catalogue import Language, language
from .page import render

_HARDLY = 0.9  # an advantage that limits little
_REASONS = {Reasons.COMPLEXITY: "reason_complexity", Reasons.NUMBER: "reason_number"}


@dataclass(frozen=True)
class Promised:
    """What observers can still tell, as the certificate has it. fresh: the release was learned afresh."""

    guarantees: Mapping[str, Guarantee]
    fresh: bool = False


def promised_in(store: str | Path, line: Line) -> Promised | None:
    """What a letter about this request may promise: what its certificate would; None where nothing was erased or published."""
    ledger = ledger_of(store)
    if line.served is None or not line.served.rows or not ledger.releases:
        return None
    erasure, plan, events = erasure_in(ledger, request_id=line.token)
    history = tallied(events, erasure.release)
    fresh = history.served is not None and history.served.fresh and not history.served.warm
    return Promised(guarantees(erasure, history.accountant(plan)), fresh)


def letter(line: Line, promised: Promised | None, *, code: str, because: str = "", on: date | None = None) -> str:
    """One HTML page for the person.

    Args:
        line: the request, as the register has it on the day of writing.
        promised: where something was erased or replaced.
        code: of the language.
        because: a reason in the words of whoever answers: of a refusal or an extension. It is printed and kept nowhere.

    Raises:
        InvalidParameter: a refusal or an extension without its reason, or a text that no page can show.
    """
    words = language(code)
    text("because", because or None)
    if (line.case.refused or line.case.extended_until) and line.answered is None and not because:
        raise InvalidParameter(
            "because: a refusal or an extension is explained to the person; give the reason in their language"
        )
    received = local_day(line.case.received, line.case.received) if line.case.received else None
    return render(
        "letter.html",
        code=words.code,
        subject=words.say(f"subject_{line.case.right}"),
        controller=line.practice.controller,
        written=words.day(on or line.today),
        reference=words.say("reference", token=line.token, received="–" if received is None else received),
        paragraphs=[" ".join(part) for part in _paragraphs(line, promised, words, because) if part],
    )


def _paragraphs(line: Line, promised: Promised | None, words: Language, because: str) -> Iterator[list[str]]:
    yield _done(line, promised, words)
    yield _limits(line, promised, words)
    yield _decided(line, words, because)
    yield _beside(line, words)
    practice = line.practice
    end = [words.say("contact", contact=practice.contact)] if practice.contact else []
    remedy = words.say("remedy", authority=practice.authority) if practice.authority else words.say("remedy_anywhere")
    yield [*end, remedy, words.say("record")]


def _done(line: Line, promised: Promised | None, words: Language) -> list[str]:
    case, served, where = line.case, line.served, line.case.received
    if case.restricted is not None:
        key, when = ("lifted", case.lifted) if case.lifted is not None else ("restricted", case.restricted)
        return [words.say(key, **{key: when})]
    if served is None or not served.rows:
        waits = line.due is not None and case.decision is None and case.received is not None
        return [words.say("received", received=local_day(str(where), where), due=line.due)] if waits else []
    key = "rectified" if case.right is Rights.RECTIFICATION else "erased"
    said = [words.say(key, edited=local_day(served.edited, where))]
    if served.published is not None:
        fresh = promised is not None and promised.fresh
        origin = "published_fresh" if fresh else "published_resumed"
        return [*said, words.say(origin, published=local_day(served.published, where))]
    if served.withheld:
        said.append(words.say("withheld"))
    elif served.withdrawn is None:
        said.append(words.say("pending", by=case.publish_by) if case.publish_by else words.say("pending_undated"))
    if served.withdrawn is not None:
        said.append(words.say("withdrawn", withdrawn=local_day(served.withdrawn, where)))
    return said


def _limits(line: Line, promised: Promised | None, words: Language) -> list[str]:
    """Both observers, the newcomer's condition in the sentence."""
    if promised is None:
        return []
    said = []
    for what in ("erased", "replaced"):
        everything, later = (promised.guarantees.get(f"{what}.{seen}") for seen in ("all", "later"))
        everything = everything or promised.guarantees.get(f"{what}.before")
        if everything is None:
            continue
        asked = "which" if what == "replaced" or everything.adjacency in (Worlds.PAIRWISE, Worlds.REPLACE) else "used"
        if later is not None:
            said.append(words.say(f"later_{asked}", odds=_odds(later)))
        said.append(words.say(f"{'so_far' if later is None else 'all'}_{asked}", odds=_odds(everything)))
        if everything.with_slack().advantage >= _HARDLY:
            said.append(words.say("hardly"))
    return said


def _odds(guarantee: Guarantee) -> int:
    return right_of_hundred(guarantee.with_slack().advantage)


def _decided(line: Line, words: Language, because: str) -> list[str]:
    case = line.case
    said = []
    if case.refused:
        key = "refused" if case.decision is Decisions.REFUSED else "refused_in_part"
        said.append(words.say(key, ground=words.say(f"ground_{case.ground}"), because=because))
    if case.decision is Decisions.NOT_FOUND:
        said += [words.say("not_found"), words.say("identity")]
    if case.decision is Decisions.OPTED_OUT:
        said.append(words.say("opted_out"))
    if case.extension_reason is not None and case.decision is None and line.answered is None:
        reason = words.say(_REASONS[case.extension_reason])
        said.append(words.say("extended", until=case.extended_until, reason=reason, because=because))
    return said


def _beside(line: Line, words: Language) -> list[str]:
    """What the erasure does not reach, and who else was told."""
    case, practice = line.case, line.practice
    if line.served is None or not line.served.rows:
        return []
    said: list[Any] = [words.say("not_covered")]
    if case.backups_until is not None:
        said.append(words.say("backups", until=case.backups_until))
    if case.recipients is not None and case.recipients_told is not None:
        said.append(words.say("recipients", count=case.recipients, told=case.recipients_told))
    if practice.models and practice.purposes:
        said.append(words.say("purpose", models=practice.models, purposes=practice.purposes))
    return [*said, words.say("not_anonymous"), words.say("certificate")]
