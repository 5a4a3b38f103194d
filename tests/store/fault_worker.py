"""Runs the operations of a store under faults and counts what was lost, done in part, or left behind.

Torch-free and of one thread, so that every attempt may be a fork of it. `tests.store.fault_table` starts it, with the
library of system_calls.c preloaded where system calls are struck. By hand:

python -m tests.store.fault_worker FOLDER '{"trial": "random kills", "count": 20}'     prints the counts as JSON
"""

from __future__ import annotations

import ctypes
import errno
import itertools
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from noisygd_delete import EditRequest, Records
from noisygd_delete.errors import NoisyGDDeleteError, StoreError
from noisygd_delete.evidence.signing import key_id, new_key, read_private, read_public
from noisygd_delete.store import Store, Tombstones, status, verify
from noisygd_delete.store.disk import Disk

from .conftest import ROWS, SCHEMA, contents, found, made, name, person, plan, records, row, traces
from .operations import OPERATIONS, Operation, answered
from .test_put_back import TRANSACTIONS, mixes, moments, opened, put_back

# name -> (what the library does at the chosen call, errno)
STRUCK = {
    "kill -9 before a system call": (1, 0),
    "kill -9 half-way through a write": (2, 0),
    "ENOSPC once": (3, errno.ENOSPC),
    "EIO once": (3, errno.EIO),
    "ENOSPC from then on": (4, errno.ENOSPC),
    "read-only from then on": (4, errno.EROFS),
}
DONE, REFUSED, TRACEBACK = 0, 1, 2
# whoever is still there may be erased next, and then nobody reaches what the file system kept
SOMEBODY = [b"identifier-token-", b"subject-token-", *(row(k).tobytes() for k in (*range(ROWS), 70, 99))]


def attempt(path: Path, operation: Operation, before: Callable[[], None] = lambda: None) -> int:
    """Run the operation in this process and end it; the status says how it went."""
    status_of = TRACEBACK
    try:
        before()
        with Store.open(path) as store:
            operation.run(store)
        status_of = DONE
    except StoreError:
        status_of = REFUSED
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status_of)


def judged(path: Path, operation: Operation, ended: int | None, counts: Counter[str]) -> None:
    """What the attempt left, and that the same request, sent again, completes. `ended` None: the process was killed."""
    accepted = (path / "journal" / "request.json").exists()
    counts["tried"] += 1
    counts["traceback"] += ended == TRACEBACK
    try:
        with Store.open(path) as store:
            happened = operation.happened(store)
            counts["lost"] += ((accepted and operation.journalled) or ended == DONE) and not happened
            counts["in part"] += not operation.whole(store, happened)
            if not happened or operation.journalled:  # a repeat of what has happened changes nothing
                operation.run(store)
            counts["in part"] += not operation.whole(store, True)
            named = [path / f"model-{store.ledger.releases}.safetensors"]
        counts["uncharged"] += sorted(path.glob("model-*")) != named
        counts["left"] += bool(found(path, operation.erased))
        counts["unsound"] += not verify(path).passed
    except NoisyGDDeleteError as error:
        print(f"{operation.name}: {error}", file=sys.stderr)
        counts["unsound"] += 1


def forked(child: Callable[[], None], kill_after: float | None = None, ready: int | None = None) -> int | None:
    """Exit status of a forked child, None if a signal ended it."""
    process = os.fork()
    if process == 0:
        child()
        os._exit(DONE)
    if kill_after is not None and ready is not None:
        os.read(ready, 1)
        time.sleep(kill_after)
        os.kill(process, signal.SIGKILL)
    _, ended = os.waitpid(process, 0)
    return os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else None


def timed(
    path: Path, operation: Operation, kill_after: float | None, before: Callable[[], None] = lambda: None
) -> tuple[int | None, float]:
    """Exit status and seconds of an attempt in a forked child, killed so long after it began, or not at all."""
    reader, writer = os.pipe()

    def ready() -> None:
        before()
        os.write(writer, b".")

    began = time.perf_counter()
    ended = forked(lambda: attempt(path, operation, ready), kill_after, reader)
    os.close(reader)
    os.close(writer)
    return ended, time.perf_counter() - began


def prepared(folder: Path, operation: Operation) -> Path:
    master = folder / f"master-{operation.name}"
    if not master.exists():
        with Store.open(made(master)) as store:
            operation.prepare(store)
    return master


def struck(folder: Path, fault: str, stride: int, only: list[str]) -> Counter[str]:
    """Every `stride`-th system call of every operation."""
    library, counts, copy, below = ctypes.CDLL(None), Counter[str](), folder / "copy", folder / "below"
    library.faults_calls.restype = ctypes.c_long
    kind, code = STRUCK[fault]

    def arm(copy: Path, at: int, what: int) -> None:
        library.faults_arm(os.fsencode(copy), ctypes.c_long(at), what, code)

    below.mkdir(exist_ok=True)
    library.faults_watch(os.fsencode(copy), os.fsencode(below))
    for operation in OPERATIONS:
        if only and operation.name not in only:
            continue
        master = prepared(folder, operation)
        shutil.copytree(master, copy)
        arm(copy, -1, 0)
        with Store.open(copy) as store:
            operation.run(store)
        total = library.faults_calls()
        library.faults_arm(b"", ctypes.c_long(-1), 0, 0)
        shutil.rmtree(copy)
        counts["calls"] += total
        for at in range(random.Random(operation.name).randrange(stride), total, stride):
            shutil.copytree(master, copy)
            ended = forked(lambda at=at, operation=operation: attempt(copy, operation, lambda: arm(copy, at, kind)))
            judged(copy, operation, ended, counts)
            counts["below"] += bool(found(below, SOMEBODY))
            for piece in below.iterdir():
                piece.unlink()
            shutil.rmtree(copy)
    return counts


def random_kills(folder: Path, count: int, seed: int = 7) -> Counter[str]:
    """SIGKILL at instants that nobody chose: evenly over the run of each operation and a little beyond it."""
    chance, counts, longest = random.Random(seed), Counter[str](), {}
    copy = folder / "copy"
    for number in range(count):
        operation = OPERATIONS[number % len(OPERATIONS)]
        master = prepared(folder, operation)
        for instant in [None] * (operation.name not in longest) + [0.0]:
            shutil.copytree(master, copy)
            wait = None if instant is None else chance.uniform(0, 1.2 * longest[operation.name])
            ended, seconds = timed(copy, operation, wait)
            if instant is None:
                longest[operation.name] = seconds
            else:
                counts["inside"] += (copy / "journal" / "request.json").exists() or ended is None
                judged(copy, operation, ended, counts)
            shutil.rmtree(copy)
    return counts


def below_the_files(folder: Path, count: int) -> Counter[str]:
    """A table of many pages loses most of its records, or takes in many; every other time the process is killed at some
    system call. Nothing that the file system is handed back may hold anybody's id."""
    library, counts, copy, below = ctypes.CDLL(None), Counter[str](), folder / "copy", folder / "below"
    chance, many, calls = random.Random(16), 300, 60
    names = [f"{name(k)}-{'long' * 40}" for k in range(2 * many)]
    with Store.create(
        folder / "many",
        Records([row(k % ROWS) for k in range(many)], np.ones(many), names[:many], names[:many], slots=2 * many),
        SCHEMA,
        plan(slots=2 * many),
    ) as store:
        store.learn()
    new = [row(k % ROWS) for k in range(many)]
    requests = [
        EditRequest.delete(names[5 : many - 5], request_id="r"),
        EditRequest.insert(names[many:], new, np.ones(many), subjects=names[many:], request_id="r"),
        EditRequest.delete(names[3:many:7], request_id="r"),
    ]
    below.mkdir(exist_ok=True)
    for number in range(count):
        request = requests[number % len(requests)]
        shutil.copytree(folder / "many", copy)
        library.faults_watch(os.fsencode(copy), os.fsencode(below))
        at = chance.randrange(calls) if number % 2 else -1
        whole = Operation("many", lambda store, request=request: store.serve(request), answered, lambda *_: True)
        forked(lambda at=at, whole=whole: attempt(copy, whole, lambda: arm(library, copy, at)))
        with Store.open(copy) as store:
            store.serve(request)
            counts["lost"] += set(request.deletions) & set(store.records.ids) != set()
        counts["tried"] += 1
        counts["left"] += bool(found(copy, [gone.encode() for gone in request.deletions]))
        counts["unsound"] += not verify(copy).passed
        counts["below"] += bool(found(below, SOMEBODY))
        for piece in below.iterdir():
            piece.unlink()
        shutil.rmtree(copy)
    return counts


def sums_killed(folder: Path, count: int) -> Counter[str]:
    """A draw, the overwriting and the release, or a patch, killed anywhere: what was drawn from the table before is the release (the patch that
    the release goes on from), or another draw from it is, and neither the exact sums nor any noise lies in a file, or in what the file system was handed back."""
    from . import test_sums as sums

    library, counts, copy, below = ctypes.CDLL(None), Counter[str](), folder / "copy", folder / "below"
    chance, master, calls = random.Random(34), folder / "master-sums", 130
    if not master.exists():
        made(master, **sums.OWN)
    with Store.open(master) as store:
        rest, exact = sums.rest_of(store), sums.sums_of(store)
    below.mkdir(exist_ok=True)
    longest = 0.0
    for number in range(-1, count):
        run = (sums.delete, sums.insert, sums.delete_a_subject, sums.later)[number % 4]
        operation = Operation("sums", run, answered, lambda *_: True)
        shutil.copytree(master, copy)
        library.faults_watch(os.fsencode(copy), os.fsencode(below))
        at = chance.randrange(calls) if number % 2 and number >= 0 else -1
        wait = chance.uniform(0, longest) if number >= 0 and at < 0 else None
        ended, seconds = timed(copy, operation, wait, lambda at=at: arm(library, copy, at))
        longest = longest or 1.2 * seconds
        accepted, begun = (copy / "journal" / "request.json").exists(), sums.candidate_of(copy)
        counts["inside"] += accepted
        counts["left"] += bool(sums.secrets_on(copy, [exact, rest]))
        counts["traceback"] += ended == TRACEBACK
        with Store.open(copy) as store:
            happened = answered(store)
            counts["lost"] += (accepted or ended == DONE) and not happened
            drawn = sums.patch_of(copy) if run is sums.later else store.model
            counts["in part"] += begun is not None and not (happened and bool((drawn.sums == begun).all()))
            counts["in part"] += not happened and bool((sums.sums_of(store) != exact).any())
            if not happened:
                run(store)
            patched = []
            if run is sums.later:
                left = sums.patch_of(copy).sums - sums.sums_of(store)
                patched = [left, left - rest]
                counts["left"] += bool(sums.secrets_on(copy, patched))
                store.publish()
            after, now = sums.rest_of(store), sums.sums_of(store)
            counts["in part"] += [event.kind for event in store.accountant.events] != ["learn", "unlearn"]
        secrets = [exact, rest, now, after, after - sums.carried(patched[0] if patched else rest, 1), *patched]
        gone = [] if run is sums.insert else traces(3)
        counts["tried"] += number >= 0
        counts["left"] += bool(sums.secrets_on(copy, secrets)) or bool(found(copy, gone))
        counts["below"] += bool(sums.secrets_on(below, secrets)) or bool(found(below, SOMEBODY))
        counts["unsound"] += not verify(copy).passed
        for piece in below.iterdir():
            piece.unlink()
        shutil.rmtree(copy)
    return counts


def sums_elsewhere_killed(folder: Path, count: int) -> Counter[str]:
    """The rows lie in a DuckDB file. Every noise is the same here, so that what a release carries on is known whoever drew it, and how often."""
    from noisygd_delete.engine.moments import IntegerMoments

    from ..sources import test_chains as chains

    counts, chance, longest = Counter[str](), random.Random(34), 0.0
    IntegerMoments.noise = lambda self, *_, **__: np.full(self.size, 12_345, np.int64)  # type: ignore[method-assign]
    for number in range(-1, count):
        place = folder / f"elsewhere-{number}"
        place.mkdir()
        path = chains.made(place / "store", chains.InDuckdb(place))
        with Store.open(path) as store:
            before = chains.exact(store)
        later = bool(number % 2)
        operation = Operation(
            "sums elsewhere",
            lambda store, later=later: chains.remove(store, 3, publish=not later),
            answered,
            lambda *_: True,
        )
        ended, seconds = timed(path, operation, chance.uniform(0, longest) if number >= 0 else None)
        longest = longest or 1.2 * seconds
        counts["inside"] += (path / "journal" / "request.json").exists()
        counts["traceback"] += ended == TRACEBACK
        counts["left"] += bool(chains.secrets_on(path, [before]))
        with Store.open(path) as store:
            gone = not store.source.held([name(3)], []) if store.source else False
            counts["lost"] += ended == DONE and not gone
            counts["lost"] += gone and not store.pending_edits and store.ledger.releases == 1
            if not gone:
                chains.remove(store, 3)
            elif store.pending_edits:
                store.publish()
            kind, noise = store.accountant.events[-1].kind, np.full(len(before), 12_345)
            start = chains.carried(2 * noise, 1, store.plan) if kind == "unlearn" else 0 * noise
            counts["cut"] += kind != "unlearn"
            right = store.ledger.releases == 2 and bool((store.model.sums - chains.exact(store) == start + noise).all())
            counts["in part"] += not right
        counts["unsound"] += not verify(path).passed
        counts["tried"] += number >= 0
        shutil.rmtree(place)
    return counts


def arm(library: ctypes.CDLL, folder: Path, at: int) -> None:
    library.faults_arm(os.fsencode(folder), ctypes.c_long(at), 1, 0)


def crowd(folder: Path, rounds: int) -> Counter[str]:
    """Ten processes at once on one store: four delete, three insert, three read, all in a hurry."""
    counts = Counter[str]()
    for number in range(rounds):
        path = folder / f"crowd-{number}"
        with Store.create(path, records(slots=20), SCHEMA, plan(slots=20)) as store:
            store.learn()

        def delete(k: int, path: Path = path) -> None:
            for which in (k, k + 4):
                with Store.open(path, wait=120) as store:
                    store.serve(EditRequest.delete([name(which)], request_id=f"d{which}"))
                    store.serve(EditRequest.delete([name(which)], request_id=f"d{which}"))  # an impatient caller

        def insert(k: int, path: Path = path) -> None:
            for which in (50 + k, 60 + k):
                with Store.open(path, wait=120) as store:
                    new = EditRequest.insert(
                        [name(which)], [row(which)], [1.0], subjects=[person(which)], request_id=f"i{which}"
                    )
                    store.serve(new)

        def read(path: Path = path) -> None:
            seen = 0
            while seen < 15:
                state = status(path)
                if not seen <= state["releases"] or not 1 <= state["records"] <= 15:
                    os._exit(TRACEBACK)
                seen = state["releases"]

        jobs: list[Callable[[], Any]] = [lambda k=k: delete(k) for k in range(4)]
        jobs += [lambda k=k: insert(k) for k in range(3)] + [read] * 3
        processes = []
        for job in jobs:
            process = os.fork()
            if process == 0:
                try:
                    job()
                    os._exit(DONE)
                except BaseException:
                    sys.excepthook(*sys.exc_info())
                    os._exit(TRACEBACK)
            processes.append(process)
        ends = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]
        counts["tried"] += len(jobs)
        counts["traceback"] += sum(end != DONE for end in ends)
        with Store.open(path) as store:
            here = {name(8)} | {name(k + 50) for k in range(3)} | {name(k + 60) for k in range(3)}
            counts["lost"] += len(here ^ set(store.records.ids))
            counts["in part"] += [event.edits for event in store.accountant.events] != [0] + [1] * 14
        counts["left"] += bool(found(path, [trace for k in range(8) for trace in traces(k)]))
        counts["unsound"] += not verify(path).passed
        shutil.rmtree(path)
    return counts


def clock_jumps(folder: Path, count: int) -> Counter[str]:
    """The clock stands anywhere between 1970 and 2106 at every call: no decision reads it."""
    from datetime import UTC, datetime

    from noisygd_delete.store import entry

    chance, counts = random.Random(3), Counter[str]()

    class Clock:
        @staticmethod
        def now(zone: Any = None) -> datetime:
            return datetime.fromtimestamp(chance.randrange(1 << 32), UTC)

    entry.datetime = Clock  # type: ignore[attr-defined]
    for number in range(count):
        operation = OPERATIONS[number % len(OPERATIONS)]
        shutil.copytree(prepared(folder, operation), folder / "copy")
        ended = forked(lambda operation=operation: attempt(folder / "copy", operation))
        judged(folder / "copy", operation, ended, counts)
        shutil.rmtree(folder / "copy")
    return counts


def flipped_bits(folder: Path, count: int) -> Counter[str]:
    """One bit of the ledger or of the model turned over: an error, or what was read is what had been written."""
    chance, counts = random.Random(4), Counter[str]()
    path = prepared(folder, OPERATIONS[0])
    with Store.open(path) as store:
        digests, weights = store.ledger.digests, store.model.weights.tobytes()
    files = [path / "ledger.sqlite", path / "model-1.safetensors"]
    for number in range(count):
        file = files[number % 2]
        good = file.read_bytes()
        bad, at = bytearray(good), chance.randrange(len(good))
        bad[at] ^= 1 << chance.randrange(8)
        file.write_bytes(bad)
        counts["tried"] += 1
        try:
            with Store.open(path) as store:
                counts["in part"] += (store.ledger.digests, store.model.weights.tobytes()) != (digests, weights)
        except NoisyGDDeleteError:
            counts["named"] += 1
        except Exception:
            sys.excepthook(*sys.exc_info())
            counts["traceback"] += 1
        file.write_bytes(good)
    return counts


def put_back_parts(folder: Path, count: int) -> Counter[str]:
    """Some of a store's files are those of before a transaction: it is refused, or it is the store of one of the two moments."""
    counts = Counter[str]()
    for number in itertools.count():
        transaction = list(TRANSACTIONS)[number % len(TRANSACTIONS)]
        before, after = moments(folder / f"moments-{number}", transaction)
        states = [state for state in map(opened, (before, after)) if state is not None]
        counts["unsound"] += len(states) != 2
        for mix in mixes(before, after):
            shutil.copytree(after, folder / "copy")
            put_back(folder / "copy", before, mix)
            counts["tried"] += 1
            try:
                found_state = opened(folder / "copy")
                counts["in part"] += found_state is not None and found_state not in states
            except Exception:
                sys.excepthook(*sys.exc_info())
                counts["traceback"] += 1
            shutil.rmtree(folder / "copy")
            if counts["tried"] >= count:
                return counts
        shutil.rmtree(folder / f"moments-{number}")
    return counts


def swapped_stores(folder: Path, count: int) -> Counter[str]:
    """The folder, or its lock, is another one while a process has the store open: nothing is written, and nothing done twice."""
    counts, path, away = Counter[str](), folder / "copy", folder / "away"
    for number in range(count):
        operation, how = OPERATIONS[number % len(OPERATIONS)], number // len(OPERATIONS) % 3
        shutil.copytree(prepared(folder, operation), path)
        counts["tried"] += 1
        with Store.open(path) as store:
            if how == 0:
                path.rename(away)
                shutil.copytree(away, path)
            else:
                (path / "lock").unlink()
                if how == 2:
                    Store.open(path).close()
            kept = contents(path)
            try:
                operation.run(store)
                counts["lost"] += 1
            except StoreError:
                counts["in part"] += kept != contents(path)
        judged(path, operation, REFUSED, counts)
        counts["tried"] -= 1
        for gone in (path, away):
            shutil.rmtree(gone, ignore_errors=True)
    return counts


def half_written_keys(folder: Path, count: int) -> Counter[str]:
    """A signing key, or the key of a list and the list, killed at every change: no hidden file, and the same call completes."""
    counts, place = Counter[str](), folder / "keys"

    def signing() -> None:
        new_key(place / "key.pem")

    def listing() -> None:
        Tombstones.create(place / "list", place / "list.key")

    for number in range(count):
        make, whole, at = ((signing, "key.pem.pub"), (listing, "list"))[number % 2] + (number // 2 % 10,)
        place.mkdir()

        def killed(at: int = at, make: Callable[[], None] = make) -> None:
            seen = itertools.count()
            Disk.reached = lambda *_: os.kill(os.getpid(), signal.SIGKILL) if next(seen) == at else None  # type: ignore[method-assign]
            make()

        forked(killed)
        counts["tried"] += 1
        counts["left"] += any(file.name.startswith(".") for file in place.iterdir())
        try:
            if not (place / whole).exists():
                make()
            if make is signing:
                fits = key_id(read_private(place / "key.pem").public_key()) == key_id(
                    read_public(place / "key.pem.pub")
                )
                counts["in part"] += not fits
            else:
                Tombstones(place / "list", place / "list.key")
        except NoisyGDDeleteError as error:
            print(error, file=sys.stderr)
            counts["lost"] += 1
        shutil.rmtree(place)
    return counts


def planted(fault: str | None) -> None:
    """A store that is broken on purpose, for the test of these tests."""
    from noisygd_delete.store import journal
    from noisygd_delete.store import transaction as recovery
    from noisygd_delete.store.ledger import Ledger

    if fault == "no journal":
        journal.write_journal = lambda *_: None  # type: ignore[assignment]
        journal.clear_journal = lambda *_: None  # type: ignore[assignment]
    elif fault == "no sweep":
        recovery.sweep_leftovers = lambda *_: None  # type: ignore[assignment]
    elif fault == "journal replaced":
        journal.mark_drawn = journal.write_journal  # what it held is handed back as it is
    elif fault == "no charge":
        append = Ledger.append
        Ledger.append = lambda self, disk, entry: self if entry.event else append(self, disk, entry)  # type: ignore[method-assign]


def main(folder: Path, asked: dict[str, Any]) -> dict[str, int]:
    planted(asked.get("planted"))
    by_count = {
        "random kills": random_kills,
        "below": below_the_files,
        "sums": sums_killed,
        "sums elsewhere": sums_elsewhere_killed,
        "crowd": crowd,
        "clock": clock_jumps,
        "bits": flipped_bits,
        "put back": put_back_parts,
        "swapped": swapped_stores,
        "keys": half_written_keys,
    }
    if asked["trial"] in by_count:
        return by_count[asked["trial"]](folder, asked["count"])
    return struck(folder, asked["trial"], asked["stride"], asked.get("only", []))


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), json.loads(sys.argv[2]))))
