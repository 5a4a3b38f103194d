"""Starts services as forks of one process that has imported everything: a start takes no time, a kill is as real.

python -m tests.service.forking [MODULE...]     imports these too; reads {"arguments": [...], "log": "..."} a line; prints the fork's number and, when it ended, its status
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module

from noisygd_delete.cli.commands import main

for module in (
    "uvicorn",
    "noisygd_delete_server.serve",
    "noisygd_delete_server.api",
    "noisygd_delete.store.store",
    *sys.argv[1:],
):
    import_module(module)


def forks() -> None:
    """Serve what standard input asks for, one after the other."""
    for line in sys.stdin:
        asked = json.loads(line)
        fork = os.fork()
        if fork == 0:
            log = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            for number in (1, 2):
                os.dup2(log, number)
            os._exit(main(asked["arguments"]))
        print(fork, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]), flush=True)


if __name__ == "__main__":
    forks()
