"""`noisygd-delete learn`: train from the initial law and publish the first model."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import store_command
from .statements import add_request_id
from .terminal import show


def register(commands: Any) -> None:
    parser = store_command(commands, "learn", "learn STORE", learn)
    parser.takes += ("--dry-run", "--explain", "--device", "--memory")
    add_request_id(parser)


def learn(parsed: argparse.Namespace) -> int:
    from .budget_left import warning
    from .release import open_store, released

    with open_store(parsed) as store:
        if parsed.dry_run:
            from .asked_plan import described

            show(parsed, {**store.plan.summary(), **warning(store.plan)}, described(parsed, store.plan))
            return 0
        return released(
            parsed, "learn", store.plan, lambda how: store.learn(request_id=parsed.request_id, execution=how), store
        )
