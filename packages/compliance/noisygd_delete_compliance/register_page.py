"""The request register as HTML pages, overdue and next due requests first.

Every day is that of the place of receipt. A page contains no name, no record number and no row. A request is identified
by its id, a pseudonym, which is shown in the register itself and in no report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any

from noisygd_delete.dates import local_day
from noisygd_delete.errors import check_count
from noisygd_delete.evidence.notices import Reasons
from noisygd_delete.reports.html import render_template
from noisygd_delete.reports.summary import ReportedRequests
from noisygd_delete.reports.texts import (
    ORIGINAL,
    Language,
    LocalizedSentence,
    language_codes,
    load_language,
    localized_sentence,
)
from noisygd_delete.store.ledger import Ledger
from noisygd_delete.version import __version__

from .case import Decisions, RequestCase
from .register import register_of
from .request_rows import lines_of
from .row import RegisterRow, sort_by_urgency, urgency_key

PAGE_LINES = 100  # requests on one page
_FIRST = 5  # open requests on the first screen of a report
_DIGITS = 16  # of a certificate's digest: enough to identify it
_REASONS = {Reasons.COMPLEXITY: "the complexity", Reasons.NUMBER: "the number of requests"}
_DECIDED = {
    Decisions.REFUSED: "refused on {day}",
    Decisions.REFUSED_IN_PART: "refused in part on {day}",
    Decisions.NOT_FOUND: "no record found on {day}",
    Decisions.OPTED_OUT: "opted out on {day}, no record erased: several persons have what was given",
}

Placed = tuple[str | None, RegisterRow]  # its store, if there are several, and the row


def register_page(
    lines: Sequence[Placed],
    *,
    code: str = ORIGINAL,
    page: int = 1,
    here: str | None = None,
    controller: str | None = None,
    waiting: int = 0,
    restored: bool = False,
    on: date | None = None,
) -> str:
    """Return one page of the register as HTML, without scripts or network access.

    Args:
        lines: Every request, with the name of its store if the register covers several.
        code: Code of the language.
        page: Number of the page, from 1; a number beyond the last gives the last.
        here: Address of this page, for links to the others; None in a file.
        controller: The organisation responsible for the data.
        waiting: Requests that a service has accepted and not yet carried out, so that they are not in the register.
        restored: Whether the register was restored from an earlier copy.
        on: Date of the page; None means today.

    Raises:
        InvalidParameter: If there is no such language, or the page is below 1.
    """
    check_count("page", page, minimum=1, maximum=10**9)
    people = sorted(
        ((store, line) for store, line in lines if line.of_a_person), key=lambda placed: urgency_key(placed[1])
    )
    last = max(1, -(-len(people) // PAGE_LINES))
    page = min(page, last)
    shown = people[(page - 1) * PAGE_LINES : page * PAGE_LINES]
    words = load_language(code)
    return render_template(
        "register.html",
        package=__package__,
        words=words,
        controller=controller,
        written=on or date.today(),
        version=__version__,
        counts=count_requests([line for _, line in people]),
        waiting=waiting,
        restored=restored,
        page=page,
        last=last,
        here=here,
        languages=[(one, load_language(one).name) for one in language_codes()],
        rows=[row_of(line, words, store=store, token=True) for store, line in shown],
    )


def requests_in_report(ledger: Ledger, code: str, *, most: int) -> ReportedRequests:
    """Return what the report on a store shows of its register.

    Args:
        ledger: Ledger of the store.
        code: Code of the language.
        most: Largest number of requests that are listed.
    """
    return reported_requests(lines_of(ledger, register_of(ledger.path.parent)), code, most=most)


def reported_requests(lines: Iterable[RegisterRow], code: str, *, most: int) -> ReportedRequests:
    """Return what a report shows of the requests of persons, as `requests_in_report`.

    It counts them and lists the most urgent open ones; if there are others, it also lists up to `most` of all, by urgency.
    """
    words = load_language(code)
    people = sort_by_urgency(line for line in lines if line.of_a_person)
    left = [line for line in people if line.closed is None][:_FIRST]
    return ReportedRequests(
        counts=count_requests(people),
        open_rows=[row_of(line, words) for line in left],
        all_rows=[] if len(left) == len(people) else [row_of(line, words) for line in people[:most]],
    )


def count_requests(lines: Sequence[RegisterRow]) -> dict[str, Any]:
    """Return the numbers of all, open, overdue and undated requests, and the next due date."""
    left = [line for line in lines if line.closed is None]
    dues = [line.due for line in left if line.due is not None]
    return {
        "all": len(lines),
        "left": len(left),
        "overdue": sum(line.overdue for line in left),
        "undated": sum(line.due is None for line in left),
        "next": min(dues, default=None),
    }


def row_of(line: RegisterRow, words: Language, *, store: str | None = None, token: bool = False) -> dict[str, Any]:
    """Return the cells of one request, each a list of sentences in the language.

    Args:
        line: The request.
        words: The language.
        store: Name of its store, if the register covers several.
        token: Whether to include the request's id.
    """
    case, served = line.case, line.served
    cells = {
        "due": _due(line),
        "request": _request(line, store),
        "done": _done_sentences(line),
        "answer": _answer(line, case),
        "kept": _retention_sentences(line, case),
    }
    marks = [localized_sentence(word) for word in line.late]
    marks += (
        [localized_sentence("informed before anything was done, which is no answer")] if line.informed_early else []
    )
    marks += [
        localized_sentence("a model that used the rows is still at {text}", text=at)
        for at in (served.still_at if served else ())
    ]
    return {
        **{name: [_to_html(words, text) for text in texts] for name, texts in cells.items()},
        "token": line.token if token else None,
        "marks": [words.say(mark) for mark in marks],
        "urgent": line.overdue,
    }


def _to_html(words: Language, text: LocalizedSentence) -> str:
    """Return a sentence in the language, with non-breaking spaces in dates."""
    whole = {
        name: words.day(value).replace(" ", "\N{NO-BREAK SPACE}")
        for name, value in text.values.items()
        if isinstance(value, date)
    }
    return words.say(text.key, **{**text.values, **whole})


def _due(line: RegisterRow) -> Iterator[LocalizedSentence]:
    if line.due is None:
        yield localized_sentence("not known: receipt not stated" if line.closed is None else "receipt not stated")
    else:
        yield localized_sentence("{day}", day=line.due)
    yield localized_sentence(str(line.state))
    if line.case.extension_reason is not None:
        yield localized_sentence(f"extended because of {_REASONS[line.case.extension_reason]}")


def _request(line: RegisterRow, store: str | None) -> Iterator[LocalizedSentence]:
    case = line.case
    yield localized_sentence(str(line.right))
    if case.received is None:
        yield localized_sentence("receipt not stated")
    else:
        yield localized_sentence("received {day}", day=local_day(case.received, case.received))
    if case.channel is not None:
        yield localized_sentence(f"by {case.channel}")
    if case.identity_checked is not None:
        yield localized_sentence("identity checked" if case.identity_checked else "identity not checked")
    if store is not None:
        yield localized_sentence("table “{text}”", text=store)


def _done_sentences(line: RegisterRow) -> Iterator[LocalizedSentence]:
    case, served = line.case, line.served

    def at(when: str) -> date:
        return local_day(when, case.received)

    if served is None or not served.rows:
        yield localized_sentence("no rows edited")
    else:
        for what, rows in line.done.items():
            yield localized_sentence(f"rows {what} {{day}}: {{n}}", day=at(served.edited), n=rows)
        if served.published is not None:
            yield localized_sentence("published {day}, release {n}", day=at(served.published), n=served.release)
        elif served.withheld:
            yield localized_sentence("publication withheld by the budget")
        elif case.publish_by is None:
            yield localized_sentence("not published yet")
        else:
            yield localized_sentence("not published yet, promised by {day}", day=case.publish_by)
        if served.withdrawn is not None:
            yield localized_sentence("model before withdrawn {day}", day=at(served.withdrawn))
    if case.restricted is not None:
        yield localized_sentence("restricted {day}", day=case.restricted)
    if case.lifted is not None:
        yield localized_sentence("restriction lifted {day}", day=case.lifted)


def _answer(line: RegisterRow, case: RequestCase) -> Iterator[LocalizedSentence]:
    if case.decision is not None and case.decided is not None:
        yield localized_sentence(_DECIDED[case.decision], day=case.decided)
    if case.ground is not None:
        yield localized_sentence(f"ground.{case.ground}")  # same text as in the letter
    if line.answered is None and case.acknowledged is not None:
        yield localized_sentence("receipt confirmed {day}", day=case.acknowledged)
    yield (
        localized_sentence("person not informed")
        if line.answered is None
        else localized_sentence("person informed {day}", day=line.answered)
    )
    if line.answered is not None and case.informed_again is not None:
        yield localized_sentence("informed again {day}", day=case.informed_again)
    if case.recipients is not None and case.recipients_informed is not None:
        yield localized_sentence("{n} recipient(s) informed {day}", n=case.recipients, day=case.recipients_informed)
    elif case.recipients is not None:
        yield localized_sentence("{n} recipient(s) informed", n=case.recipients)


def _retention_sentences(line: RegisterRow, case: RequestCase) -> Iterator[LocalizedSentence]:
    """Yield the retention periods; missing statements are named only if rows were edited."""
    edited = line.served is not None and line.served.rows > 0
    if case.backups_until is not None:
        yield localized_sentence("backups until {day}", day=case.backups_until)
    elif edited:
        yield localized_sentence("backups: not stated")
    if case.certificate is not None:
        yield localized_sentence("certificate {text}", text=f"{case.certificate[:_DIGITS]}…")
    elif edited and line.answered is not None:
        yield localized_sentence("certificate not noted")
    yield (
        localized_sentence("kept while open")
        if line.retain_until is None
        else localized_sentence("kept until {day}", day=line.retain_until)
    )
