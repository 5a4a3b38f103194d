"""`restrict`, `object` and `lift`: records taken out of the table for a time, kept encrypted outside, and put back."""

from __future__ import annotations

import argparse
import hashlib
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from ..curator.curator import Release
from ..engine import Execution
from ..errors import InvalidParameter
from ..records import EditRequest
from ..register import Rights
from ..register.dates import day
from ..report.outputs import output, outside
from ..sources.sourced import SourcedStore
from ..store import Store
from ..store.aside import BEGINS, Aside, read_key
from .change import open_store, released
from .requests import add_promises, add_statements, case_from, with_token
from .shared import add_device, store_command

_RIGHTS = {"restrict": Rights.RESTRICTION, "object": Rights.OBJECTION}


def register(commands: Any) -> None:
    for name, text in (
        (
            "restrict",
            "take records out of the table for a time (Article 18 GDPR): kept encrypted in a file of yours, used by no release",
        ),
        (
            "object",
            "the same for an objection (Article 21 GDPR), until it is decided: then lift, or destroy file and key",
        ),
    ):
        parser = store_command(
            commands, name, text, f"{name} STORE 17 --to aside.bin --aside-key aside.key --request-id 9f2c", _restrict
        )
        parser.add_argument("ids", nargs="*", metavar="ID", help="records to take out")
        parser.add_argument("--subject", action="append", default=[], metavar="S", help="every record of this person")
        parser.add_argument(
            "--to", required=True, metavar="FILE", help="where they are kept, encrypted; outside the store"
        )
        parser.add_argument(
            "--aside-key", required=True, metavar="FILE", help="its key; a new one where there is no file"
        )
        parser.add_argument("--request-id", metavar="TOKEN", help="random token of this request; `lift` names it")
        parser.add_argument(
            "--later", action="store_true", help="take the rows out now, leave the release to a later one"
        )
        add_promises(parser)
        add_statements(parser)
        add_device(parser)
    lift = store_command(
        commands,
        "lift",
        "put records back whose processing was restricted, the person having been told before (Article 18(3) GDPR)",
        "lift STORE 9f2c --from aside.bin --aside-key aside.key --told 2026-05-20",
        _lift,
    )
    lift.add_argument("token", metavar="REQUEST", help="the request that took them out")
    lift.add_argument("--from", dest="source", required=True, metavar="FILE", help="the file that keeps them")
    lift.add_argument("--aside-key", required=True, metavar="FILE", help="its key")
    lift.add_argument("--told", required=True, metavar="DAY", help="when the person was told that the restriction ends")
    lift.add_argument("--later", action="store_true", help="put the rows back now, leave the release to a later one")
    add_device(lift)


def _restrict(parsed: argparse.Namespace) -> int:
    request = with_token(EditRequest.delete(parsed.ids, subjects=parsed.subject, request_id=parsed.request_id))
    for option, file in (("--to", parsed.to), ("--aside-key", parsed.aside_key)):
        outside(option, file)
    place = output("--to", parsed.to, begins=BEGINS, inputs=[parsed.aside_key]).path
    with open_store(parsed) as store:
        _own_rows(store)
        case = replace(case_from(parsed, store, request, _RIGHTS[parsed.command]), restricted=date.today())

        def run(execution: Execution) -> Release:
            if not store.repeats(request):
                store.foresee(request, publish=False)  # refuses what cannot be done, before a file is made
                Aside.of(store.records, request).write(place, Path(parsed.aside_key), str(request.request_id))
            release = store.serve(request, publish=not parsed.later, case=case, execution=execution)
            if parsed.withdraw:
                store.withdraw()
            return release

        return released(parsed, parsed.command, store.plan, run, store)


def _lift(parsed: argparse.Namespace) -> int:
    told = day("--told", parsed.told)
    if told > date.today():
        raise InvalidParameter(
            f"--told {told.isoformat()} is still to come: the person is told before the restriction is lifted"
        )
    key = Path(parsed.aside_key)
    if not key.exists():
        raise InvalidParameter(f"{key}: there is no key; without it nobody can read what was kept aside")
    aside = Aside.read(Path(parsed.source), key, parsed.token)
    back = hashlib.sha256(read_key(key) + parsed.token.encode()).hexdigest()[
        :32
    ]  # the same again, and told by nobody without the key
    with open_store(parsed) as store:
        _own_rows(store)
        case = store.register.case(parsed.token)
        if case is None or case.restricted is None:
            raise InvalidParameter(
                f"request {parsed.token!r} restricted nothing in this store; `register show` says what it did"
            )

        def run(execution: Execution) -> Release:
            release = store.serve(aside.back(back), publish=not parsed.later, execution=execution)
            if case.lifted is None:
                store.register.state(parsed.token, replace(case, lifted=date.today(), informed=case.informed or told))
            return release

        return released(parsed, parsed.command, store.plan, run, store)


def _own_rows(store: Store) -> None:
    if isinstance(store, SourcedStore):
        raise InvalidParameter("the rows lie in a source of their own: restrict them there, and publish")
