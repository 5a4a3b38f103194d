"""`noisygd-delete register`: the request register of a store: deadlines, decisions, notifications, retention."""

from __future__ import annotations

import argparse
import hashlib
import secrets
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from noisygd_delete.cli.arguments import Intermixed, add_command, options_of, parse_integer
from noisygd_delete.cli.statements import STATEMENTS
from noisygd_delete.cli.terminal import print_result
from noisygd_delete.dates import MOST_HOLIDAYS, parse_day
from noisygd_delete.errors import InvalidParameter, escape_unprintable
from noisygd_delete.evidence.atomic_write import check_output
from noisygd_delete.evidence.notices import Reasons, find_overclaims
from noisygd_delete.records import limited_io

from .case import TEXTS, Channels, Decisions, Grounds, RegisterPolicy, RequestCase, Rights
from .register import Register
from .request_rows import line_of, policy_of, register_lines
from .row import RegisterRow, export_csv
from .statements import notified_recipients, record_acknowledged, record_backup_expiry, record_decision, record_informed

if TYPE_CHECKING:
    from noisygd_delete.store import Store

_TABLE = b"request_id,state,due,late,right"  # how every such CSV file begins
_LISTED = 50


def register(commands: Any) -> None:
    """Add the `register` command and its options to the parser."""
    parser = add_command(
        commands,
        "register",
        description="One line per request: received, due, decided, edited, published, informed. It holds no name and no free text; its "
        "request ids are pseudonyms and can be forgotten (prune). The engine decides nothing here: a person does, and states it.",
        epilog="example: noisygd-delete register list STORE",
    )
    actions: Any = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=Intermixed, required=True)
    for name, (text, example, run) in _ACTIONS.items():
        one = actions.add_parser(
            name,
            help=text,
            description=text,
            epilog=f"example: noisygd-delete register {name} STORE {example}".rstrip(),
            allow_abbrev=False,
        )
        one.add_argument("store", metavar="STORE")
        if name not in _OF_ALL:
            one.add_argument("token", metavar="REQUEST")
        one.take(*([] if name in _READING else ["--wait"]), "--json")
        one.set_defaults(run=run)
    _add_options(actions.choices)
    for one in actions.choices.values():
        one.set_defaults(options=options_of(one))


def _add_options(actions: dict[str, Intermixed]) -> None:
    def add(name: str, option: str, value: str | None = None, text: str = "", **more: Any) -> None:
        how = {"action": "store_true"} if value is None and "choices" not in more else {"metavar": value}
        actions[name].add_argument(option, help=text, **how, **more)

    add("list", "--open", None, "only those where something is left to do")
    add("list", "--out", "FILE", "write all of it as CSV here")
    add("list", "--html", "FILE", "write it as a page here, a hundred requests at a time")
    add("list", "--page", "N", "which hundred; default: 1", type=parse_integer, default=1)
    add("receive", "--request-id", "TOKEN", "your random token for it; default: a new one")
    add("receive", "--right", None, "the right exercised; default: erasure", choices=list(map(str, Rights)))
    grounds = list(map(str, Grounds))
    add("refuse", "--ground", None, "article of the GDPR, or an exemption elsewhere", choices=grounds, required=True)
    add("refuse", "--in-part", None, "only a part was refused; the rest was erased")
    add("extend", "--until", "DAY", "the new deadline", required=True)
    reasons = list(map(str, Reasons))
    add("extend", "--reason", None, "batching alone is a weak one", choices=reasons, required=True)
    add("inform", "--certificate", "FILE", "the certificate that they were sent: its SHA-256 is noted")
    add("letter", "--out", "FILE", "write the page here", required=True)
    add("letter", "--because", "TEXT", "why it was refused, or takes longer; printed, kept nowhere", default="")
    add("recipients", "--count", "N", "how many", required=True, type=parse_integer)
    add("backups", "--until", "DAY", "", required=True)
    add("settings", "--holidays", "FILE", "public holidays of the place, one day a line (2026-12-25)")
    kept = "a closed request is kept N years after the end of its year"
    add("settings", "--keep-years", "N", kept, type=parse_integer)
    for name, text in _TEXTS.items():
        add("settings", f"--{name}", "TEXT", text)
    add("settings", "--review", "DAY", "when the impact assessment is looked at again")
    add("prune", "--request-id", "TOKEN", "this one, whatever its time")
    for name, what in _ON.items():
        add(name, "--on", "DAY", f"when {what} (2026-05-04); default: today")
    actions["receive"].take(*STATEMENTS)
    actions["prune"].take("--dry-run")
    for name in ("list", "letter"):
        actions[name].take("--language")


def _list(parsed: argparse.Namespace) -> int:
    lines = [line for line in register_lines(parsed.store) if line.of_a_person]
    if parsed.out is not None:
        check_output("--out", parsed.out, begins=_TABLE).write(export_csv(lines))
    if parsed.open:
        lines = [line for line in lines if line.closed is None]
    if parsed.html is not None:
        _write_page(parsed, lines)
    answer = {"requests": [line.to_dict() for line in lines], "overdue": sum(line.overdue for line in lines)}
    written = [f"wrote {file}" for file in (parsed.out, parsed.html) if file is not None]
    print_result(parsed, answer, "\n".join(written) or _format_table(lines))
    return 0


def _write_page(parsed: argparse.Namespace, lines: list[RegisterRow]) -> None:
    from noisygd_delete.reports.html import PAGE
    from noisygd_delete.store.layout import Layout
    from noisygd_delete.store.rollback_guard import is_register_restored

    from .register_page import register_page

    out = check_output("--html", parsed.html, begins=PAGE, inputs=[parsed.out])
    placed = [(None, line) for line in lines]
    controller = policy_of(parsed.store).controller
    restored = is_register_restored(Layout.at(parsed.store))
    out.write(register_page(placed, code=parsed.language, page=parsed.page, controller=controller, restored=restored))


def _format_table(lines: list[RegisterRow]) -> str:
    if not lines:
        return "no requests"
    head = f"{'due':<12}{'state':<11}{'right':<15}{'received':<12}{'informed':<12}request"
    rows = [
        f"{_format_day(line.due):<12}{line.state:<11}{line.right:<15}{(line.case.received or '–')[:10]:<12}{_format_day(line.answered):<12}"
        + escape_unprintable(line.token)
        + (f"  ({'; '.join(line.marks)})" if line.marks else "")
        for line in lines[:_LISTED]
    ]
    more = [f"... and {len(lines) - _LISTED} more (--json, or --out FILE for all)"] if len(lines) > _LISTED else []
    overdue = sum(line.overdue for line in lines)
    return "\n".join([head, *rows, *more, f"{len(lines)} request{'' if len(lines) == 1 else 's'}, {overdue} overdue"])


def _show(parsed: argparse.Namespace, token: str | None = None) -> int:
    line = line_of(parsed.store, token or parsed.token)
    print_result(parsed, line.to_dict(), _format_line(line))
    return 0


def _format_line(line: RegisterRow) -> str:
    values = {name: value for name, value in line.to_dict().items() if value not in (None, "")}
    return "\n".join(f"{name.replace('_', ' '):<20}{value}" for name, value in values.items())


def _receive(parsed: argparse.Namespace) -> int:
    token = parsed.request_id or secrets.token_hex(16)
    case = RequestCase(
        right=Rights(parsed.right or Rights.ERASURE),
        channel=None if parsed.channel is None else Channels(parsed.channel),
        received=parsed.received or datetime.now().astimezone().isoformat(),
        identity_checked=True if parsed.identity_checked else None,
    )
    with _open_store(parsed) as store:
        Register(store.request_log).receive({token: case})
    return _show(parsed, token)


def _refuse_request(parsed: argparse.Namespace, line: RegisterRow) -> RequestCase:
    how = Decisions.REFUSED_IN_PART if parsed.in_part else Decisions.REFUSED
    return record_decision(line, how, _day_of(parsed, line), ground=parsed.ground)


def _extend_deadline(parsed: argparse.Namespace, line: RegisterRow) -> RequestCase:
    informed = _day_of(parsed, line)
    return line.case.extended(parsed.until, parsed.reason, informed=informed, holidays=line.policy.holidays)


def _record_informed(parsed: argparse.Namespace, line: RegisterRow) -> RequestCase:
    digest = None
    if parsed.certificate is not None:
        digest = hashlib.sha256(limited_io.read_file(parsed.certificate, limited_io.DOCUMENT)).hexdigest()
    return record_informed(line, _day_of(parsed, line), certificate=digest)


_STATED: dict[str, Callable[[argparse.Namespace, RegisterRow], RequestCase]] = {  # statements about a request
    "refuse": _refuse_request,
    "not-found": lambda parsed, line: record_decision(line, Decisions.NOT_FOUND, _day_of(parsed, line)),
    "opted-out": lambda parsed, line: record_decision(line, Decisions.OPTED_OUT, _day_of(parsed, line)),
    "extend": _extend_deadline,
    "acknowledge": lambda parsed, line: record_acknowledged(line, _day_of(parsed, line)),
    "inform": _record_informed,
    "recipients": lambda parsed, line: notified_recipients(line, parsed.count, _day_of(parsed, line)),
    "backups": lambda parsed, line: record_backup_expiry(line, parsed.until),
}


def _letter(parsed: argparse.Namespace) -> int:
    from noisygd_delete.reports.html import PAGE

    from .letter import promised_in, render_letter

    out = check_output("--out", parsed.out, begins=PAGE)
    line = line_of(parsed.store, parsed.token)
    out.write(render_letter(line, promised_in(parsed.store, line), code=parsed.language, because=parsed.because))
    warnings = find_overclaims({"because": parsed.because})
    answer = {"letter": parsed.out, "language": parsed.language, "warnings": list(warnings)}
    print_result(parsed, answer, "\n".join([f"wrote {parsed.out}", *warnings]))
    return 0


def _state(parsed: argparse.Namespace) -> int:
    with _open_store(parsed) as store:
        line = line_of(parsed.store, parsed.token)
        Register(store.request_log).state(parsed.token, _STATED[parsed.action](parsed, line))
    return _show(parsed)


def _settings(parsed: argparse.Namespace) -> int:
    given = {
        name: getattr(parsed, name) for name in (*TEXTS, "keep_years", "review") if getattr(parsed, name) is not None
    }
    if parsed.holidays is not None:
        given["holidays"] = _read_holidays(parsed.holidays)
    with _open_store(parsed) as store:
        register = Register(store.request_log)
        policy = register.policy
        if given:
            policy = replace(policy, **given)
            register.adopt(policy)
    warnings = find_overclaims({name: getattr(policy, name) for name in TEXTS})
    print_result(
        parsed, {**policy.to_dict(), "warnings": list(warnings)}, "\n".join([_settings_text(policy), *warnings])
    )
    return 0


def _settings_text(policy: RegisterPolicy) -> str:
    stated = policy.to_dict() | {"holidays": f"{len(policy.holidays)} days"}
    return "\n".join(f"{name.replace('_', ' '):<20}{value}" for name, value in stated.items())


def _read_holidays(file: str) -> tuple[date, ...]:
    lines = [line for line in limited_io.split_lines(limited_io.read_text(file, limited_io.KEY)) if line.strip()]
    if len(lines) > MOST_HOLIDAYS:
        raise InvalidParameter(f"{file}: more than {MOST_HOLIDAYS} days; give the holidays of the coming years only")
    return tuple(parse_day(f"{file}, line {number}", line) for number, line in enumerate(lines, start=1))


def _prune(parsed: argparse.Namespace) -> int:
    with _open_store(parsed) as store:
        gone = _requests_to_prune(register_lines(parsed.store), parsed.request_id)
        if not parsed.dry_run:
            store.request_log.forget(gone)
    what = "would be forgotten" if parsed.dry_run else "forgotten"
    print_result(
        parsed,
        {"forgotten": len(gone), "dry_run": parsed.dry_run},
        f"{len(gone)} request ids {what}; the ledger keeps what they did",
    )
    return 0


def _requests_to_prune(lines: Iterable[RegisterRow], token: str | None) -> list[str]:
    """Return the request ids to forget: the one named, or those past their retention period."""
    if token is None:
        return [line.token for line in lines if line.retain_until is not None and line.retain_until < line.today]
    found = [line.token for line in lines if line.token == token]
    if not found:
        raise InvalidParameter(f"request {token!r} is not in the register; `register list` shows what is")
    return found


def _open_store(parsed: argparse.Namespace) -> Store:
    from noisygd_delete.store import Store

    return Store.open(parsed.store, wait=parsed.wait)


def _day_of(parsed: argparse.Namespace, line: RegisterRow) -> date:
    """Return the day of `--on`; by default today in the time zone of receipt."""
    return line.today if parsed.on is None else parse_day("--on", parsed.on)


def _format_day(when: date | None) -> str:
    return "–" if when is None else when.isoformat()


_OF_ALL = ("list", "receive", "settings", "prune")  # actions that name no request
_READING = ("list", "show", "letter")  # actions that change nothing
_ACTIONS: dict[str, tuple[str, str, Callable[[argparse.Namespace], int]]] = {  # help, example arguments, function
    "list": ("every request, what is late or due first on top", "--open", _list),
    "show": ("all that is known of one request", "9f2c31", _show),
    "receive": ("note a request before anything is done for it", "--right erasure --channel e-mail", _receive),
    "refuse": ("a person refused it, on a ground of the law", "9f2c31 --ground '17(3)(b)'", _state),
    "not-found": (
        "a person looked and found no record; this never means that none was ever used",
        "9f2c31",
        _state,
    ),
    "opted-out": (
        "its identifier belongs to several persons, and a person opted all of them out of sale and sharing (California)",
        "drop-A7kP2xQ9Lm4R",
        _state,
    ),
    "extend": (
        "a later deadline, at most three months from receipt, of which the person was informed within the first month",
        "9f2c31 --until 2026-08-04 --reason complexity",
        _state,
    ),
    "acknowledge": (
        "the person was informed that the request was received, which is no answer: it stays due",
        "9f2c31 --on 2026-05-05",
        _state,
    ),
    "inform": (
        "the person was informed of what was done, after it was done; again when a model without the rows is published later",
        "9f2c31 --on 2026-05-20",
        _state,
    ),
    "letter": (
        "the answer to the person, as one page to print, in their language",
        "9f2c31 --language de --out letter.html",
        _letter,
    ),
    "recipients": ("recipients of the data were informed (Article 19 GDPR)", "9f2c31 --count 3", _state),
    "backups": ("until when backups still hold the rows", "9f2c31 --until 2026-08-01", _state),
    "settings": (
        "what holds for every request: holidays, texts for papers, how long it is kept",
        "--keep-years 3",
        _settings,
    ),
    "prune": (
        "forget request ids, and all stated about them, whose time to be kept is over",
        "--dry-run",
        _prune,
    ),
}
_TEXTS = {
    "controller": "who answers for the data",
    "contact": "how to reach them",
    "authority": "where a person may complain",
    "purposes": "what the models are for",
    "models": "which models they are",
    "source": "where the data come from",
    "lawful-basis": "on which basis they are processed",
    "justification": "why this is necessary, and why with this budget",
}
_ON = {
    **dict.fromkeys(("refuse", "not-found", "opted-out"), "it was decided"),
    "extend": "the person was informed of it",
    "acknowledge": "they were informed of it",
    "inform": "they were informed",
    "recipients": "they were informed",
}
