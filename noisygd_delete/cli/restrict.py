"""`noisygd-delete restrict` and `object`: records taken out of the table for a time, kept encrypted outside."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from .arguments import store_command
from .statements import STATEMENTS, add_promises, case_from, with_token

if TYPE_CHECKING:
    from ..curator.curator import Release
    from ..store import Store


def register(commands: Any) -> None:
    for name in ("restrict", "object"):
        parser = store_command(
            commands,
            name,
            f"{name} STORE 17 --to aside.bin --aside-key aside.key --request-id 9f2c",
            restrict,
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
        parser.add_argument("--later", action="store_true", help="edit the rows now, leave the release to a later one")
        add_promises(parser)
        parser.takes += STATEMENTS
        parser.takes += ("--device", "--memory")


def restrict(parsed: argparse.Namespace) -> int:
    from ..engine import Execution
    from ..errors import InvalidRequest
    from ..evidence.outputs import output, outside
    from ..records import EditRequest
    from ..register import Rights
    from ..register.dates import day_now
    from ..store.aside import BEGINS, Aside
    from .release import open_store, released

    for option, file in (("--to", parsed.to), ("--aside-key", parsed.aside_key)):
        outside(option, file)
    place = output("--to", parsed.to, begins=BEGINS, inputs=[parsed.aside_key]).path
    token = parsed.request_id or Aside.token_of(place)  # of a command that was interrupted, this one goes on from there
    request = with_token(EditRequest.delete(parsed.ids, subjects=parsed.subject, request_id=token))
    with open_store(parsed) as store:
        check_own_rows(store)
        case = case_from(
            parsed, store, request, Rights.RESTRICTION if parsed.command == "restrict" else Rights.OBJECTION
        )
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


def check_own_rows(store: Store) -> None:
    if store.source is not None:
        raise InvalidParameter("the rows lie in a source of their own: restrict them there, and publish")
