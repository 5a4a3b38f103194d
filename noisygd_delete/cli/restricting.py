"""`restrict`, `object` and `lift`: records taken out of the table for a time, kept encrypted outside, and put back."""

from __future__ import annotations

import argparse
import hashlib
from dataclasses import replace
from datetime import date
from pathlib import Path

from ..curator.curator import Release
from ..engine import Execution
from ..errors import InvalidParameter, InvalidRequest
from ..evidence.outputs import output, outside
from ..records import EditRequest
from ..register import Rights
from ..register.dates import day, day_now
from ..store import Store
from ..store.aside import BEGINS, Aside, read_key
from .changing import open_store, released
from .requests import case_from, with_token

_RIGHTS = {"restrict": Rights.RESTRICTION, "object": Rights.OBJECTION}


def restrict(parsed: argparse.Namespace) -> int:
    for option, file in (("--to", parsed.to), ("--aside-key", parsed.aside_key)):
        outside(option, file)
    place = output("--to", parsed.to, begins=BEGINS, inputs=[parsed.aside_key]).path
    token = parsed.request_id or Aside.token_of(place)  # of a command that was interrupted, this one goes on from there
    request = with_token(EditRequest.delete(parsed.ids, subjects=parsed.subject, request_id=token))
    with open_store(parsed) as store:
        _own_rows(store)
        case = case_from(parsed, store, request, _RIGHTS[parsed.command])
        case = replace(case, restricted=day_now(case.received))

        def run(execution: Execution) -> Release:
            try:
                done = store.repeats(request)
            except InvalidRequest as error:
                if parsed.request_id is not None:
                    raise
                raise InvalidParameter(
                    f"{place} holds other records, of another request; give the name of a new file"
                ) from error
            if not done:
                store.foresee(request, publish=False)  # refuses what cannot be done, before a file is made
                Aside.of(store.records, request).write(place, Path(parsed.aside_key), str(request.request_id))
            release = store.serve(request, publish=not parsed.later, case=case, execution=execution)
            if parsed.withdraw:
                store.withdraw()
            return release

        return released(parsed, parsed.command, store.plan, run, store)


def lift(parsed: argparse.Namespace) -> int:
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
        taken = store.ledger.position(parsed.token)
        if taken is not None and store.ledger.covering(taken) is None:
            raise InvalidParameter(
                f"no model was published since request {parsed.token!r} took the rows out, and none would be without them: publish first (or "
                "relearn, where the budget is spent), then lift; nothing was changed"
            )

        def run(execution: Execution) -> Release:
            request = aside.back(back)
            store.foresee(request, publish=False)
            if case.lifted is None:  # before the rows are there: then no paper calls them gone
                store.register.state(
                    parsed.token, replace(case, lifted=day_now(case.received), informed=case.informed or told)
                )
            return store.serve(request, publish=not parsed.later, execution=execution)

        return released(parsed, parsed.command, store.plan, run, store)


def _own_rows(store: Store) -> None:
    if store.source is not None:
        raise InvalidParameter("the rows lie in a source of their own: restrict them there, and publish")
