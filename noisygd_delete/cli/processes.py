"""Commands that make releases: on which device, and by how many processes."""

from __future__ import annotations

import argparse
import signal
from dataclasses import replace
from typing import NoReturn

from ..engine import Execution
from ..engine.device_place import check
from ..engine.group import launched_group
from ..errors import ProcessLost
from ..store import follow, leading


def run_together(parsed: argparse.Namespace) -> int:
    """The command, with `parsed.execution`: by this process, or under torchrun by process 0, whom the others follow.

    Where a process of the group dies, torchrun ends the others: the first of them that is left says what that means.
    """
    group = launched_group()
    parsed.execution = execution = Execution(group=group)
    if "device" in parsed:
        place = check(parsed.device or execution.device, group)
        parsed.execution = execution = replace(execution, device=place, memory=getattr(parsed, "memory", None))
    if group.size == 1:
        return int(parsed.run(parsed))
    signal.signal(signal.SIGTERM, _ended)
    if not group.rank:
        with leading(group):
            return int(parsed.run(parsed))
    try:
        follow(getattr(parsed, "store", "."), execution)
    except ProcessLost:
        if group.rank == 1:
            raise
        return 2
    return 0


def _ended(*_: object) -> NoReturn:
    raise ProcessLost(
        "torchrun ended this process, as it does when another one of the group has gone; an accepted request is finished by "
        "the next command, with any number of processes"
    )
