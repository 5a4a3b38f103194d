"""`noisygd-delete register`: the requests of a store; what falls due, what was decided, who was told, what may be forgotten."""

from __future__ import annotations

import argparse
import hashlib
import secrets
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from ..evidence.outputs import output
from ..papers.requests import line_of, practice_of, register_lines
from ..records import bounded
from ..register import (
    Case,
    Channels,
    Decisions,
    Grounds,
    Line,
    Practice,
    Reasons,
    Rights,
    acknowledged,
    backups_last,
    decided,
    export,
    informed,
    recipients_told,
)
from ..register.case import TEXTS, overclaims
from ..register.dates import MOST_HOLIDAYS, day
from .arguments import Intermixed, options_of, whole
from .requests import STATEMENTS
from .shared import add_command, show

if TYPE_CHECKING:
    from ..store import Store

_TABLE = b"request_id,state,due,late,right"  # how every CSV file of it begins
_LISTED = 50


def register(commands: Any) -> None:
    parser = add_command(
        commands,
        "register",
        description="One line per request: received, due, decided, edited, published, told. It holds no name and no free text; its "
        "request ids are pseudonyms and can be forgotten (prune). The engine decides nothing here: a person does, and states it.",
        epilog="example: noisygd-delete register list STORE",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=Intermixed, required=True)
    _looking(actions)
    _deciding(actions)
    _telling(actions)
    _keeping(actions)
    for one in actions.choices.values():
        one.set_defaults(options=options_of(one))


def _action(
    actions: Any,
    name: str,
    text: str,
    example: str,
    run: Callable[[argparse.Namespace], int],
    *,
    one: bool = True,
    writes: bool = True,
) -> Intermixed:
    """An action on a store, and on one request of it."""
    parser: Intermixed = actions.add_parser(
        name,
        help=text,
        description=text,
        epilog=f"example: noisygd-delete register {name} {example}",
        allow_abbrev=False,
    )
    parser.add_argument("store", metavar="STORE")
    if one:
        parser.add_argument("token", metavar="REQUEST")
    if writes:
        parser.takes += ("--wait", "--json")
    parser.set_defaults(run=run)
    return parser


def _on(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--on", metavar="DAY", help=f"when {what} (2026-05-04); default: today")


def _looking(actions: Any) -> None:
    listed = _action(
        actions,
        "list",
        "every request, what is late or due first on top",
        "STORE --open",
        _list,
        one=False,
        writes=False,
    )
    listed.add_argument("--open", action="store_true", help="only those where something is left to do")
    listed.add_argument("--out", metavar="FILE", help="write all of it as CSV here")
    listed.add_argument("--html", metavar="FILE", help="write it as a page here, a hundred requests at a time")
    listed.takes += ("--language",)
    listed.add_argument("--page", type=whole, default=1, metavar="N", help="which hundred; default: 1")
    _action(actions, "show", "all that is known of one request", "STORE 9f2c31", _show, writes=False)


def _deciding(actions: Any) -> None:
    came = _action(
        actions,
        "receive",
        "note a request before anything is done for it",
        "STORE --right erasure --channel e-mail",
        _receive,
        one=False,
    )
    came.add_argument("--request-id", metavar="TOKEN", help="your random token for it; default: a new one")
    came.add_argument("--right", choices=list(map(str, Rights)), help="what was asked; default: erasure")
    came.takes += STATEMENTS
    no = _action(
        actions, "refuse", "a person refused it, on a ground of the law", "STORE 9f2c31 --ground '17(3)(b)'", _refuse
    )
    no.add_argument(
        "--ground",
        required=True,
        choices=list(map(str, Grounds)),
        help="article of the GDPR, or an exemption elsewhere",
    )
    no.add_argument("--in-part", action="store_true", help="only a part was refused; the rest was erased")
    _on(no, "it was decided")
    nobody = _action(
        actions,
        "not-found",
        "a person looked and found no record; this never means that none was ever used",
        "STORE 9f2c31",
        _not_found,
    )
    _on(nobody, "it was decided")
    several = _action(
        actions,
        "opted-out",
        "its identifier belongs to several persons, and a person opted all of them out of sale and sharing (California)",
        "STORE drop-A7kP2xQ9Lm4R",
        _opted_out,
    )
    _on(several, "it was decided")
    longer = _action(
        actions,
        "extend",
        "a later deadline, at most three months from receipt, of which the person was told within the first month",
        "STORE 9f2c31 --until 2026-08-04 --reason complexity",
        _extend,
    )
    longer.add_argument("--until", required=True, metavar="DAY", help="the new deadline")
    longer.add_argument("--reason", required=True, choices=list(map(str, Reasons)), help="batching alone is a weak one")
    _on(longer, "the person was told so")


def _telling(actions: Any) -> None:
    seen = _action(
        actions,
        "acknowledge",
        "the person was told that the request came in, which answers nothing: it stays due",
        "STORE 9f2c31 --on 2026-05-05",
        _acknowledge,
    )
    _on(seen, "they were told so")
    told = _action(
        actions,
        "inform",
        "the person was told what was done, after it was done; again, when a model without the rows is published later",
        "STORE 9f2c31 --on 2026-05-20",
        _inform,
    )
    told.add_argument("--certificate", metavar="FILE", help="the certificate that they were sent: its SHA-256 is noted")
    _on(told, "they were told")
    written = _action(
        actions,
        "letter",
        "the answer to the person, as one page to print, in their language",
        "STORE 9f2c31 --language de --out letter.html",
        _letter,
        writes=False,
    )
    written.add_argument("--out", required=True, metavar="FILE", help="write the page here")
    written.takes += ("--language",)
    written.add_argument(
        "--because", default="", metavar="TEXT", help="why it was refused, or takes longer; printed, kept nowhere"
    )
    others = _action(
        actions,
        "recipients",
        "recipients of the data were told (Article 19 GDPR)",
        "STORE 9f2c31 --count 3",
        _recipients,
    )
    others.add_argument("--count", required=True, type=whole, metavar="N", help="how many")
    _on(others, "they were told")
    backups = _action(
        actions, "backups", "until when backups still hold the rows", "STORE 9f2c31 --until 2026-08-01", _backups
    )
    backups.add_argument("--until", required=True, metavar="DAY")


def _keeping(actions: Any) -> None:
    held = _action(
        actions,
        "settings",
        "what holds for every request: holidays, texts for papers, how long it is kept",
        "STORE --keep-years 3",
        _settings,
        one=False,
    )
    held.add_argument("--holidays", metavar="FILE", help="public holidays of the place, one day a line (2026-12-25)")
    held.add_argument(
        "--keep-years", type=whole, metavar="N", help="a closed request is kept N years after the end of its year"
    )
    held.add_argument("--controller", metavar="TEXT", help="who answers for the data")
    held.add_argument("--contact", metavar="TEXT", help="how to reach them")
    held.add_argument("--authority", metavar="TEXT", help="where a person may complain")
    held.add_argument("--purposes", metavar="TEXT", help="what the models are for")
    held.add_argument("--models", metavar="TEXT", help="which models they are")
    held.add_argument("--source", metavar="TEXT", help="where the data come from")
    held.add_argument("--lawful-basis", metavar="TEXT", help="on which basis they are processed")
    held.add_argument("--justification", metavar="TEXT", help="why this is necessary, and why with this budget")
    held.add_argument("--review", metavar="DAY", help="when the impact assessment is looked at again")
    gone = _action(
        actions,
        "prune",
        "forget request ids, and all stated about them, whose time to be kept is over",
        "STORE --dry-run",
        _prune,
        one=False,
    )
    gone.add_argument("--request-id", metavar="TOKEN", help="this one, whatever its time")
    gone.takes += ("--dry-run",)


def _list(parsed: argparse.Namespace) -> int:
    lines = [line for line in register_lines(parsed.store) if line.of_a_person]
    if parsed.out is not None:
        output("--out", parsed.out, begins=_TABLE).write(export(lines))
    if parsed.open:
        lines = [line for line in lines if line.closed is None]
    if parsed.html is not None:
        _page(parsed, lines)
    answer = {"requests": [line.to_dict() for line in lines], "overdue": sum(line.overdue for line in lines)}
    written = [f"wrote {file}" for file in (parsed.out, parsed.html) if file is not None]
    show(parsed, answer, "\n".join(written) or _table(lines))
    return 0


def _page(parsed: argparse.Namespace, lines: list[Line]) -> None:
    from ..papers.page import PAGE
    from ..papers.register_page import register_page
    from ..store.layout import Layout
    from ..store.seal import is_register_put_back

    out = output("--html", parsed.html, begins=PAGE, inputs=[parsed.out])
    placed = [(None, line) for line in lines]
    controller = practice_of(parsed.store).controller
    put_back = is_register_put_back(Layout.at(parsed.store))
    out.write(register_page(placed, code=parsed.language, page=parsed.page, controller=controller, put_back=put_back))


def _table(lines: list[Line]) -> str:
    if not lines:
        return "no requests"
    head = f"{'due':<12}{'state':<11}{'right':<15}{'received':<12}{'told':<12}request"
    rows = [
        f"{_day(line.due):<12}{line.state:<11}{line.case.right:<15}{(line.case.received or '–')[:10]:<12}{_day(line.answered):<12}"
        f"{line.token}" + (f"  ({'; '.join(line.marks)})" if line.marks else "")
        for line in lines[:_LISTED]
    ]
    more = [f"... and {len(lines) - _LISTED} more (--json, or --out FILE for all)"] if len(lines) > _LISTED else []
    overdue = sum(line.overdue for line in lines)
    return "\n".join([head, *rows, *more, f"{len(lines)} request{'' if len(lines) == 1 else 's'}, {overdue} overdue"])


def _show(parsed: argparse.Namespace) -> int:
    line = line_of(parsed.store, parsed.token)
    show(parsed, line.to_dict(), _words(line))
    return 0


def _words(line: Line) -> str:
    told = {name: value for name, value in line.to_dict().items() if value not in (None, "")}
    return "\n".join(f"{name.replace('_', ' '):<20}{value}" for name, value in told.items())


def _receive(parsed: argparse.Namespace) -> int:
    token = parsed.request_id or secrets.token_hex(16)
    case = Case(
        right=Rights(parsed.right or Rights.ERASURE),
        channel=None if parsed.channel is None else Channels(parsed.channel),
        received=parsed.received or datetime.now().astimezone().isoformat(),
        identity_checked=True if parsed.identity_checked else None,
    )
    with _opened(parsed) as store:
        store.register.receive({token: case})
    return _told(parsed, token)


def _refuse(parsed: argparse.Namespace) -> int:
    how = Decisions.REFUSED_IN_PART if parsed.in_part else Decisions.REFUSED
    return _stated(parsed, lambda line: decided(line, how, _day_of(parsed, line), ground=parsed.ground))


def _not_found(parsed: argparse.Namespace) -> int:
    return _stated(parsed, lambda line: decided(line, Decisions.NOT_FOUND, _day_of(parsed, line)))


def _opted_out(parsed: argparse.Namespace) -> int:
    return _stated(parsed, lambda line: decided(line, Decisions.OPTED_OUT, _day_of(parsed, line)))


def _extend(parsed: argparse.Namespace) -> int:
    return _stated(
        parsed,
        lambda line: line.case.extended(
            parsed.until, parsed.reason, told=_day_of(parsed, line), holidays=line.practice.holidays
        ),
    )


def _acknowledge(parsed: argparse.Namespace) -> int:
    return _stated(parsed, lambda line: acknowledged(line, _day_of(parsed, line)))


def _inform(parsed: argparse.Namespace) -> int:
    digest = None
    if parsed.certificate is not None:
        digest = hashlib.sha256(bounded.content(parsed.certificate, bounded.DOCUMENT)).hexdigest()
    return _stated(parsed, lambda line: informed(line, _day_of(parsed, line), certificate=digest))


def _letter(parsed: argparse.Namespace) -> int:
    from ..papers.letter import letter, promised_in
    from ..papers.page import PAGE

    out = output("--out", parsed.out, begins=PAGE)
    line = line_of(parsed.store, parsed.token)
    out.write(letter(line, promised_in(parsed.store, line), code=parsed.language, because=parsed.because))
    warnings = overclaims({"because": parsed.because})
    answer = {"letter": parsed.out, "language": parsed.language, "warnings": list(warnings)}
    show(parsed, answer, "\n".join([f"wrote {parsed.out}", *warnings]))
    return 0


def _recipients(parsed: argparse.Namespace) -> int:
    return _stated(parsed, lambda line: recipients_told(line, parsed.count, _day_of(parsed, line)))


def _backups(parsed: argparse.Namespace) -> int:
    return _stated(parsed, lambda line: backups_last(line, parsed.until))


def _stated(parsed: argparse.Namespace, change: Callable[[Line], Case]) -> int:
    with _opened(parsed) as store:
        line = line_of(parsed.store, parsed.token)
        if store.register.case(parsed.token) is None:  # the ledger of an earlier version knows it, in clear
            raise InvalidParameter(
                f"request {parsed.token!r} was served by an earlier version; `register receive --request-id` adds it first"
            )
        store.register.state(parsed.token, change(line))
    return _told(parsed, parsed.token)


def _told(parsed: argparse.Namespace, token: str) -> int:
    line = line_of(parsed.store, token)
    show(parsed, line.to_dict(), _words(line))
    return 0


def _settings(parsed: argparse.Namespace) -> int:
    given = {
        name: getattr(parsed, name) for name in (*TEXTS, "keep_years", "review") if getattr(parsed, name) is not None
    }
    if parsed.holidays is not None:
        given["holidays"] = _holidays(parsed.holidays)
    with _opened(parsed) as store:
        practice = store.register.practice
        if given:
            practice = replace(practice, **given)
            store.register.adopt(practice)
    warnings = overclaims({name: getattr(practice, name) for name in TEXTS})
    show(parsed, {**practice.to_dict(), "warnings": list(warnings)}, "\n".join([_settings_text(practice), *warnings]))
    return 0


def _settings_text(practice: Practice) -> str:
    stated = practice.to_dict() | {"holidays": f"{len(practice.holidays)} days"}
    return "\n".join(f"{name.replace('_', ' '):<20}{value}" for name, value in stated.items())


def _holidays(file: str) -> tuple[date, ...]:
    lines = [line for line in bounded.rows(bounded.text(file, bounded.KEY)) if line.strip()]
    if len(lines) > MOST_HOLIDAYS:
        raise InvalidParameter(f"{file}: more than {MOST_HOLIDAYS} days; give the holidays of the coming years only")
    return tuple(day(f"{file}, line {number}", line) for number, line in enumerate(lines, start=1))


def _prune(parsed: argparse.Namespace) -> int:
    with _opened(parsed) as store:
        gone = _over(register_lines(parsed.store), parsed.request_id)
        if not parsed.dry_run:
            store.register.forget(gone)
    what = "would be forgotten" if parsed.dry_run else "forgotten"
    show(
        parsed,
        {"forgotten": len(gone), "dry_run": parsed.dry_run},
        f"{len(gone)} request ids {what}; the ledger keeps what they did",
    )
    return 0


def _over(lines: Iterable[Line], token: str | None) -> list[str]:
    """The request ids to forget: the one named, or those whose time is over."""
    if token is None:
        return [line.token for line in lines if line.retain_until is not None and line.retain_until < line.today]
    found = [line.token for line in lines if line.token == token]
    if not found:
        raise InvalidParameter(f"request {token!r} is not in the register; `register list` shows what is")
    return found


def _opened(parsed: argparse.Namespace) -> Store:
    from ..store import Store

    return Store.open(parsed.store, wait=parsed.wait)


def _day_of(parsed: argparse.Namespace, line: Line) -> date:
    """The day that was said, or the one that it is now where the request came in."""
    return line.today if parsed.on is None else day("--on", parsed.on)


def _day(when: date | None) -> str:
    return "–" if when is None else when.isoformat()
