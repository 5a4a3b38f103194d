"""`noisygd-delete lift`: put records back whose processing was restricted."""

from __future__ import annotations

import argparse
import hashlib
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from .arguments import store_command
from .restrict import check_own_rows

if TYPE_CHECKING:
    from ..curator.curator import Release


def register(commands: Any) -> None:
    parser = store_command(
        commands,
        "lift",
        "lift STORE 9f2c --from aside.bin --aside-key aside.key --told 2026-05-20",
        lift,
    )
    parser.add_argument("token", metavar="REQUEST", help="the request that took them out")
    parser.add_argument("--from", dest="source", required=True, metavar="FILE", help="the file that keeps them")
    parser.add_argument("--aside-key", required=True, metavar="FILE", help="its key")
    parser.add_argument(
        "--told", required=True, metavar="DAY", help="when the person was told that the restriction ends"
    )
    parser.add_argument("--later", action="store_true", help="put the rows back now, leave the release to a later one")
    parser.takes += ("--device", "--memory")


def lift(parsed: argparse.Namespace) -> int:
    from ..engine import Execution
    from ..register.dates import day, day_now
    from ..store.aside import Aside, read_key
    from .release import open_store, released

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
        check_own_rows(store)
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
