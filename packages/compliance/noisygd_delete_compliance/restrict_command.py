"""`noisygd-delete restrict`, `object` and `lift`: remove records for a time and restore them.

Removed records are kept encrypted outside the store.
"""

from __future__ import annotations

import argparse
import hashlib
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisygd_delete.cli.arguments import store_command
from noisygd_delete.cli.statements import STATEMENTS, add_promises, format_request_ids, stated_facts, with_request_id
from noisygd_delete.cli.terminal import print_error
from noisygd_delete.dates import day_now, parse_day
from noisygd_delete.errors import InvalidParameter

from .case import RequestCase, Rights
from .register import Register

if TYPE_CHECKING:
    from noisygd_delete.store import Store

    from .restricted_records import RestrictedRecords


def register(commands: Any) -> None:
    """Add the commands `restrict`, `object` and `lift` to the parser."""
    for name in ("restrict", "object"):
        parser = store_command(
            commands,
            name,
            f"{name} STORE 17 --to archive.bin --archive-key archive.key --request-id 9f2c",
            restrict,
        )
        parser.add_argument("ids", nargs="*", metavar="ID", help="records to take out")
        parser.add_argument("--subject", action="append", default=[], metavar="S", help="every record of this person")
        parser.add_argument(
            "--to", required=True, metavar="FILE", help="where they are kept, encrypted; outside the store"
        )
        parser.add_argument(
            "--archive-key", required=True, metavar="FILE", help="its key; a new one where there is no file"
        )
        parser.add_argument("--request-id", metavar="TOKEN", help="random token of this request; `lift` names it")
        parser.add_argument(
            "--no-publish", action="store_true", help="edit the rows now, leave the release to a later one"
        )
        add_promises(parser)
        parser.take(*STATEMENTS, "--device", "--memory")
    parser = store_command(
        commands,
        "lift",
        "lift STORE 9f2c --from archive.bin --archive-key archive.key --informed 2026-05-20",
        lift,
    )
    parser.add_argument("token", metavar="REQUEST", help="the request that took them out")
    parser.add_argument("--from", dest="source", required=True, metavar="FILE", help="the file that keeps them")
    parser.add_argument("--archive-key", required=True, metavar="FILE", help="its key")
    parser.add_argument(
        "--informed", required=True, metavar="DAY", help="when the person was informed that the restriction ends"
    )
    parser.add_argument(
        "--no-publish", action="store_true", help="put the rows back now, leave the release to a later one"
    )
    parser.take("--device", "--memory")


def restrict(parsed: argparse.Namespace) -> int:
    """Run `restrict` or `object` and return its exit status."""
    from noisygd_delete.cli.release import open_store, publishes_now, report_release, tracking_progress
    from noisygd_delete.errors import InvalidRequest
    from noisygd_delete.evidence.atomic_write import check_output, check_outside_store
    from noisygd_delete.records import EditRequest

    from .restricted_records import BEGINS, RestrictedRecords

    for option, file in (("--to", parsed.to), ("--archive-key", parsed.archive_key)):
        check_outside_store(option, file)
    place = check_output("--to", parsed.to, begins=BEGINS, inputs=[parsed.archive_key]).path
    token = parsed.request_id or RestrictedRecords.token_of(place)  # an interrupted command is continued under its id
    request = with_request_id(EditRequest.delete(parsed.ids, subjects=parsed.subject, request_id=token))
    with open_store(parsed) as store:
        check_own_rows(store)
        if "inserted" not in store.plan.promise.edits:
            raise InvalidParameter(
                "the plan accepts no insertion, so no record could be restored; plan one that does (plan --method sufficient-statistics:joiners=true --out FILE), and "
                f"relearn {parsed.store} --plan FILE first"
            )
        right = Rights.RESTRICTION if parsed.command == "restrict" else Rights.OBJECTION
        case = RequestCase(right=right, **stated_facts(parsed))
        case = replace(case, restricted=day_now(case.received))
        note = Register(store.request_log).adding(case, keep_right=True)

        with tracking_progress(parsed, parsed.command, store.plan) as execution:
            try:
                done = store.repeats(request)
            except InvalidRequest as error:
                if parsed.request_id is not None:
                    raise
                raise InvalidParameter(
                    f"{place} holds other records, of another request; give the name of a new file"
                ) from error
            if not done:
                store.dry_run(request, publish=False)  # raises if the request is impossible, before a file is made
                restricted = RestrictedRecords.of(store.records, request)
                warn_restricted(parsed.command, store, restricted, back=False)
                restricted.write(place, Path(parsed.archive_key), str(request.request_id))
            release = store.serve(request, publish=publishes_now(parsed, store), note=note, execution=execution)
            if parsed.withdraw:
                store.withdraw()
        return report_release(parsed, store, release)


def check_own_rows(store: Store) -> None:
    """Raise InvalidParameter if the rows are in an external source."""
    if store.source is not None:
        raise InvalidParameter("the rows lie in a source of their own: restrict them there, and publish")


def warn_restricted(command: str, store: Store, restricted: RestrictedRecords, *, back: bool) -> None:
    """Print the warning of restricted records that are restored or removed, if there is one."""
    warning = restricted.warning(store.records, store.plan, back=back)
    if warning:
        print_error(f"noisygd-delete {command}: {warning}", 0)


def erasures_since(store: Store, taken: int | None) -> list[str]:
    """Return the erasure requests that were served after position `taken` of the ledger."""
    erasures = [
        token for token, (_, case) in Register(store.request_log).cases().items() if case.right is Rights.ERASURE
    ]
    served = store.ledger.positions(erasures)
    return [token for token in erasures if taken is not None and served.get(token, -1) > taken]


def lift(parsed: argparse.Namespace) -> int:
    """Run `lift` and return its exit status."""
    from noisygd_delete.cli.release import open_store, publishes_now, report_release, tracking_progress

    from .restricted_records import RestrictedRecords, read_key

    informed = parse_day("--informed", parsed.informed)
    if informed > date.today():
        raise InvalidParameter(
            f"--informed {informed.isoformat()} is in the future: the person is informed before the restriction is lifted"
        )
    key = Path(parsed.archive_key)
    if not key.exists():
        raise InvalidParameter(f"{key}: there is no key; without it the restricted records cannot be read")
    restricted = RestrictedRecords.read(Path(parsed.source), key, parsed.token)
    back = hashlib.sha256(read_key(key) + parsed.token.encode()).hexdigest()[
        :32
    ]  # deterministic, and not computable without the key
    with open_store(parsed) as store:
        check_own_rows(store)
        register = Register(store.request_log)
        case = register.case(parsed.token)
        if case is None or case.restricted is None:
            raise InvalidParameter(
                f"request {parsed.token!r}: the register has no restriction under this id; `register show` says what it has"
                f"{store.request_log.lost_ids_in_words(store.ledger.outline)}"
            )
        taken = store.ledger.position(parsed.token)
        if taken is not None and store.ledger.find_covering_release(taken) is None:
            raise InvalidParameter(
                f"no model was published since request {parsed.token!r} took the rows out, and none would be without them: publish first (or "
                "relearn, where the budget is spent), then lift; nothing was changed"
            )

        with tracking_progress(parsed, parsed.command, store.plan) as execution:
            request = restricted.back(back)
            store.dry_run(request, publish=False)
            warn_restricted("lift", store, restricted, back=True)
            if erased := erasures_since(store, taken):
                print_error(
                    f"noisygd-delete lift: since these rows were taken out, {format_request_ids(erased)} requested an erasure, which did not reach them: where it was "
                    "of the same person, delete them now",
                    0,
                )
            if case.lifted is None:  # before the rows return, so that no document calls them erased
                register.state(
                    parsed.token, replace(case, lifted=day_now(case.received), informed=case.informed or informed)
                )
            release = store.serve(request, publish=publishes_now(parsed, store), execution=execution)
        return report_release(parsed, store, release)
