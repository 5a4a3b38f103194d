"""The letter to the data subject, in their language: what was done, what observers can learn, and the remedies.

It states no more than the certificate: its statements about models are claims (`evidence.claims`). It never states that
a model forgot, is anonymous or complies with a law.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from noisygd_delete.accountant.tallies import tally_events
from noisygd_delete.dates import local_day
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence.claims import Claim, claim_sentence, conditions_in_words
from noisygd_delete.evidence.derivation import claims_of
from noisygd_delete.evidence.erasure import erasure_in, ledger_of
from noisygd_delete.evidence.notices import Reasons, check_text
from noisygd_delete.reports.html import render_template
from noisygd_delete.reports.texts import Language, load_language

from .case import Decisions
from .row import RegisterRow

_ORIGINS = {
    "published.fresh": "letter.published_fresh",
    "published.warm": "letter.published_resumed",
    "published.resumed": "letter.published_resumed",
    "published.carried": "letter.published_carried",
    "published.kept": "letter.published_kept",
}
_STATED = ("erased", "rectified")
_REASONS = {Reasons.COMPLEXITY: "reason_complexity", Reasons.NUMBER: "reason_number"}


def promised_in(store: str | Path, line: RegisterRow) -> tuple[Claim, ...]:
    """Return the claims that a letter about this request may state: those of its certificate.

    Returns none if nothing was erased or published, or the rows were restored.
    """
    ledger = ledger_of(store)
    if line.served is None or not line.served.rows or not ledger.releases or line.case.lifted is not None:
        return ()
    erasure, plan, events = erasure_in(ledger, request_id=line.token)
    return claims_of(erasure, plan, tally_events(events, erasure.release), plan.problem.budget.shown_delta)


def render_letter(
    line: RegisterRow, promised: Sequence[Claim], *, code: str, because: str = "", on: date | None = None
) -> str:
    """Return the letter to the person as an HTML page.

    Args:
        line: The request, as the register has it on the day of writing.
        promised: The claims of its certificate, if something was erased or replaced.
        code: Code of the language.
        because: Reason of a refusal or an extension, in the controller's words. It is printed and not stored.
        on: Date of the letter; None means today.

    Raises:
        InvalidParameter: If a refusal or an extension has no reason, or a text is not printable.
    """
    words = load_language(code)
    check_text("because", because or None)
    if (line.case.refused or line.case.extended_until) and line.answered is None and not because:
        raise InvalidParameter(
            "because: a refusal or an extension is explained to the person; give the reason in their language"
        )
    received = local_day(line.case.received, line.case.received) if line.case.received else None
    return render_template(
        "letter.html",
        package=__package__,
        code=words.code,
        subject=words.say(f"letter.subject_{line.right}"),
        controller=line.policy.controller,
        written=words.day(on or line.today),
        reference=words.say("letter.reference", token=line.token, received=received)
        if received
        else words.say("letter.reference_undated", token=line.token),
        paragraphs=[" ".join(part) for part in _paragraphs(line, promised, words, because) if part],
    )


def _paragraphs(line: RegisterRow, promised: Sequence[Claim], words: Language, because: str) -> Iterator[list[str]]:
    yield _done_paragraph(line, promised, words)
    yield _limits_paragraph(line, promised, words)
    yield _decided_paragraph(line, words, because)
    yield _beyond_model_paragraph(line, words)
    policy = line.policy
    end = [words.say("letter.contact", contact=policy.contact)] if policy.contact else []
    remedy = (
        words.say("letter.remedy", authority=policy.authority)
        if policy.authority
        else words.say("letter.remedy_anywhere")
    )
    yield [*end, remedy, words.say("letter.record")]


def _done_paragraph(line: RegisterRow, promised: Sequence[Claim], words: Language) -> list[str]:
    case, served, where = line.case, line.served, line.case.received
    if case.restricted is not None:
        key, when = ("lifted", case.lifted) if case.lifted is not None else ("restricted", case.restricted)
        return [words.say(f"letter.{key}", **{key: when})]
    if served is None or not served.rows:
        waits = line.due is not None and case.decision is None and case.received is not None
        return [words.say("letter.received", received=local_day(str(where), where), due=line.due)] if waits else []
    edited = local_day(served.edited, where)
    sentences = [
        words.say(f"letter.{what}", edited=edited, rows=rows) for what, rows in line.done.items() if what in _STATED
    ]
    if served.published is not None:
        origin = next((claim.key for claim in promised if claim.key in _ORIGINS), "published.resumed")
        return [*sentences, words.say(_ORIGINS[origin], published=local_day(served.published, where), rows=served.rows)]
    if served.withheld:
        sentences.append(words.say("letter.withheld"))
    elif served.withdrawn is None:
        key, by = ("pending", {"by": case.publish_by}) if case.publish_by else ("pending_undated", {})
        sentences.append(words.say(f"letter.{key}", rows=served.rows, **by))
    if served.withdrawn is not None:
        sentences.append(words.say("letter.withdrawn", withdrawn=local_day(served.withdrawn, where), rows=served.rows))
    return sentences


def _limits_paragraph(line: RegisterRow, promised: Sequence[Claim], words: Language) -> list[str]:
    """Return what both kinds of observers can learn, with the conditions of each figure, and what no figure covers."""
    sentences, alone = [], False
    for claim in promised:
        what, _, seen = claim.key.partition(".")
        if what in ("erased", "replaced") and seen:
            alone |= claim.values["rows"] > claim.values["rows_per_person"]
            question, rows = claim.values["question"], claim.values["rows"]
            under = {"if": conditions_in_words(claim, words.code)}
            sentences.append(
                words.say(f"letter.{seen}_{question}", odds=claim.values["of_hundred"], rows=rows, **under)
            )
        elif claim.key == "odds.ever":
            sentences.append(_ever(claim, words))
        elif claim.key == "hardly":
            sentences.append(words.say("letter.hardly"))
        elif what == "left" or claim.key in ("rows-remain", "rows-may-remain"):
            sentences.append(claim_sentence(claim, words.code))
    return [*sentences, words.say("letter.alone")] if alone else sentences


def _ever(claim: Claim, words: Language) -> str:
    """Return the sentence on the odds that no observer exceeds, in whole numbers."""
    odds, chance = math.ceil(claim.values["odds"]), math.floor(1 / claim.values["delta"])
    under = {"if": conditions_in_words(claim, words.code)}
    return words.say(f"letter.ever_{claim.values['question']}", odds=odds, chance=chance, **under)


def _decided_paragraph(line: RegisterRow, words: Language, because: str) -> list[str]:
    case = line.case
    sentences = []
    if case.refused:
        key = "refused" if case.decision is Decisions.REFUSED else "refused_in_part"
        sentences.append(words.say(f"letter.{key}", ground=words.say(f"ground.{case.ground}"), because=because))
    if case.decision is Decisions.NOT_FOUND:
        sentences += [words.say("letter.not_found"), words.say("letter.identity")]
    if case.decision is Decisions.OPTED_OUT:
        sentences.append(words.say("letter.opted_out"))
    if case.extension_reason is not None and case.decision is None and line.answered is None:
        reason = words.say(f"letter.{_REASONS[case.extension_reason]}")
        sentences.append(words.say("letter.extended", until=case.extended_until, reason=reason, because=because))
    return sentences


def _beyond_model_paragraph(line: RegisterRow, words: Language) -> list[str]:
    """Return what the erasure does not reach, and which recipients were notified."""
    case, policy = line.case, line.policy
    if line.served is None or not line.served.rows:
        return []
    sentences: list[Any] = [words.say("letter.not_covered")]
    if case.backups_until is not None:
        sentences.append(words.say("letter.backups", until=case.backups_until, rows=line.served.rows))
    if case.recipients is not None and case.recipients_informed is not None:
        sentences.append(words.say("letter.recipients", count=case.recipients, informed=case.recipients_informed))
    if policy.models and policy.purposes:
        sentences.append(words.say("letter.purpose", models=policy.models, purposes=policy.purposes))
    return [*sentences, words.say("letter.not_anonymous"), words.say("letter.certificate")]
