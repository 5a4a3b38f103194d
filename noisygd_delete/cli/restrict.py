"""`restrict`, `object` and `lift`, as they are asked for. What they do: `restricting`."""

from __future__ import annotations

from typing import Any

from .requests import STATEMENTS, add_promises
from .shared import run_by, store_command


def register(commands: Any) -> None:
    for name in ("restrict", "object"):
        parser = store_command(
            commands,
            name,
            f"{name} STORE 17 --to aside.bin --aside-key aside.key --request-id 9f2c",
            run_by("restricting", "restrict"),
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
        parser.takes += STATEMENTS
        parser.takes += ("--device", "--memory")
    lift = store_command(
        commands,
        "lift",
        "lift STORE 9f2c --from aside.bin --aside-key aside.key --told 2026-05-20",
        run_by("restricting", "lift"),
    )
    lift.add_argument("token", metavar="REQUEST", help="the request that took them out")
    lift.add_argument("--from", dest="source", required=True, metavar="FILE", help="the file that keeps them")
    lift.add_argument("--aside-key", required=True, metavar="FILE", help="its key")
    lift.add_argument("--told", required=True, metavar="DAY", help="when the person was told that the restriction ends")
    lift.add_argument("--later", action="store_true", help="put the rows back now, leave the release to a later one")
    lift.takes += ("--device", "--memory")
