"""Kills a deleting process at random instants and checks the store after each. One thread, so that it may fork.

python -m tests.store.kill_worker FOLDER KILLS SEED     prints the counts as JSON
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from noisygd_delete import EditRequest
from noisygd_delete.store import Store, verify

from .conftest import SCHEMA, found, name, plan, records, traces

REQUEST = EditRequest.delete([name(3)], request_id="r")


def child(path: Path, ready: int) -> None:
    with Store.open(path) as store:
        os.write(ready, b".")
        store.serve(REQUEST)


def run(path: Path, instant: float | None) -> float:
    """Delete in a new process, killed `instant` seconds after it was ready (None: not killed); seconds it ran."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        child(path, writer)
        os._exit(0)
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    began = time.perf_counter()
    if instant is not None:
        time.sleep(instant)
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return time.perf_counter() - began


def main(folder: Path, kills: int, seed: int) -> dict[str, int]:
    master, copy = folder / "master", folder / "copy"
    with Store.create(master, records(), SCHEMA, plan()) as store:
        store.learn()
    shutil.copytree(master, folder / "timed")
    longest = run(folder / "timed", None)
    chance = random.Random(seed)
    counts = {"kills": kills, "before": 0, "in flight": 0, "after": 0, "lost": 0, "twice": 0, "left": 0, "unsound": 0}
    for _ in range(kills):
        shutil.copytree(master, copy)
        run(copy, chance.uniform(0, 1.2 * longest))
        in_flight = (copy / "journal" / "request.json").exists()
        with Store.open(copy) as store:
            happened = bool(store.ledger.answered("r"))
            counts["in flight" if in_flight else "after" if happened else "before"] += 1
            counts["lost"] += in_flight and not happened
            store.serve(REQUEST)
            counts["twice"] += store.ledger.releases != 2 or len(store.records) != 8
        counts["left"] += bool(found(copy, traces(3)))
        counts["unsound"] += not verify(copy).passed
        shutil.rmtree(copy)
    return counts


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
