"""The register for people: what is late and due first, a page at a time. Every day is that of the place where the request came in.

It holds no name, no record number and no row. A request is known by its id, a pseudonym, which stands in the register itself and in no
report.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from ..errors import count
from ..register import Case, Line, Served
from ..register.dates import local_day
from ..register.line import need
from ..register.terms import Decisions, Reasons
from ..version import __version__
from .catalogue import language
from .catalogue.readings import ORIGINAL, Reading, reading, written_languages
from .page import dated, render, stylesheet

PAGE_LINES = 100  # requests on one page
_DIGITS = 16  # of a certificate's digest: enough to find it by
_REASONS = {Reasons.COMPLEXITY: "the complexity", Reasons.NUMBER: "the number of requests"}
_DECIDED = {
    Decisions.REFUSED: "refused on {day}",
    Decisions.REFUSED_IN_PART: "refused in part on {day}",
    Decisions.NOT_FOUND: "no record found on {day}",
    Decisions.OPTED_OUT: "opted out on {day}, no record erased: several persons have what was given",
}

_DAY = re.compile(r"(\d{1,2}\.?) (\w+) (\d{4})")

Placed = tuple[str | None, Line]  # the store that holds it, where there are several; the line


def register_page(
    lines: Sequence[Placed],
    *,
    code: str = ORIGINAL,
    page: int = 1,
    here: str | None = None,
    controller: str | None = None,
    waiting: int = 0,
    on: date | None = None,
) -> str:
    """One page of the register as HTML, without a script and without a network.

    Args:
        lines: every request, with the name of its store where the register is of several.
        code: of the language. page: which one, from 1 on; one beyond the last is the last.
        here: the address of this page, for links to the others; None in a file, which has none.
        waiting: requests that a service accepted and has not carried out, so that they are not in the register yet.
        on: the day it is written; default: today.

    Raises:
        InvalidParameter: no such language, or a page below 1.
    """
    count("page", page, minimum=1, maximum=10**9)
    people = sorted(((store, line) for store, line in lines if line.of_a_person), key=lambda placed: need(placed[1]))
    last = max(1, -(-len(people) // PAGE_LINES))
    page = min(page, last)
    shown = people[(page - 1) * PAGE_LINES : page * PAGE_LINES]
    words = reading(code)
    return render(
        "register.html",
        words=words,
        policy=policy(),
        controller=controller,
        written=dated(on or date.today()),
        version=__version__,
        counts=counted([line for _, line in people]),
        waiting=waiting,
        page=page,
        last=last,
        here=here,
        languages=[(one, language(one).sentences["language"]) for one in written_languages()],
        rows=[row_of(line, words, store=store, token=True) for store, line in shown],
    )


def policy() -> str:
    """What the page may load or run: its own style, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(stylesheet().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def counted(lines: Sequence[Line]) -> dict[str, Any]:
    """How many there are, how many are not closed and overdue, and the next day on which one falls due."""
    left = [line for line in lines if line.closed is None]
    dues = [line.due for line in left if line.due is not None]
    return {
        "all": len(lines),
        "left": len(left),
        "overdue": sum(line.overdue for line in left),
        "undated": sum(line.due is None for line in left),
        "next": dated(min(dues)) if dues else None,
    }


def row_of(line: Line, words: Reading, *, store: str | None = None, token: bool = False) -> dict[str, Any]:
    """The cells of one request, each a list of sentences in the language. `token`: with the request's id."""
    case, served = line.case, line.served
    cells = {
        "due": _due(line),
        "request": _request(case, store),
        "done": _done(line, case, served),
        "answer": _answer(line, case),
        "kept": _kept(line, case),
    }
    said = {name: [_unbroken(words.say(text)) for text in texts] for name, texts in cells.items()}
    if case.ground is not None:
        said["answer"].insert(
            1, language(words.code).say(f"ground_{case.ground}")
        )  # as the letter to the person has it
    return {
        **said,
        "token": line.token if token else None,
        "marks": [words.say(mark) for mark in line.marks],
        "urgent": line.overdue,
    }


def _unbroken(text: str) -> str:
    """A text whose days are not broken at the end of a line."""
    return _DAY.sub("\\1\N{NO-BREAK SPACE}\\2\N{NO-BREAK SPACE}\\3", text)


def _due(line: Line) -> Iterator[str]:
    if line.due is None:
        yield "not known: receipt not stated" if line.closed is None else "receipt not stated"
    else:
        yield dated(line.due)
    yield str(line.state)
    if line.case.extension_reason is not None:
        yield f"extended because of {_REASONS[line.case.extension_reason]}"


def _request(case: Case, store: str | None) -> Iterator[str]:
    yield str(case.right)
    yield (
        "receipt not stated" if case.received is None else f"received {dated(local_day(case.received, case.received))}"
    )
    if case.channel is not None:
        yield f"by {case.channel}"
    if case.identity_checked is not None:
        yield "identity checked" if case.identity_checked else "identity not checked"
    if store is not None:
        yield f"table “{store}”"


def _done(line: Line, case: Case, served: Served | None) -> Iterator[str]:
    def at(when: str) -> str:
        return dated(local_day(when, case.received))

    if served is None or not served.rows:
        yield "no rows edited"
    else:
        yield f"{served.rows} {'row' if served.rows == 1 else 'rows'} edited {at(served.edited)}"
        if served.published is not None:
            yield f"published {at(served.published)}, release {served.release}"
        elif served.withheld:
            yield "publication withheld by the budget"
        else:
            by = case.publish_by
            yield "not published yet" if by is None else f"not published yet, promised by {dated(by)}"
        if served.withdrawn is not None:
            yield f"model before withdrawn {at(served.withdrawn)}"
    if case.restricted is not None:
        yield f"restricted {dated(case.restricted)}"
    if case.lifted is not None:
        yield f"restriction lifted {dated(case.lifted)}"


def _answer(line: Line, case: Case) -> Iterator[str]:
    if case.decision is not None and case.decided is not None:
        yield _DECIDED[case.decision].format(day=dated(case.decided))
    if line.answered is None and case.acknowledged is not None:
        yield f"receipt confirmed {dated(case.acknowledged)}"
    yield "person not told" if line.answered is None else f"person told {dated(line.answered)}"
    if line.answered is not None and case.informed_again is not None:
        yield f"told again {dated(case.informed_again)}"
    if case.recipients is not None:
        when = "" if case.recipients_told is None else f" {dated(case.recipients_told)}"
        yield f"{case.recipients} recipient(s) told{when}"


def _kept(line: Line, case: Case) -> Iterator[str]:
    """How long what is kept; what is not stated is named where rows were edited, and it matters."""
    edited = line.served is not None and line.served.rows > 0
    if edited or case.backups_until is not None:
        yield "backups: not stated" if case.backups_until is None else f"backups until {dated(case.backups_until)}"
    if case.certificate is not None:
        yield f"certificate {case.certificate[:_DIGITS]}…"
    elif edited and line.answered is not None:
        yield "certificate not noted"
    yield "kept while open" if line.retain_until is None else f"kept until {dated(line.retain_until)}"
