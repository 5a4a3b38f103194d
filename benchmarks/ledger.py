"""What an old store costs: whole commands on a store of many releases over the same on one of ten."""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from noisygd_delete.accountant import serialization as written
from noisygd_delete.store import file_footer, rollback_guard, verify
from noisygd_delete.store import ledger as places
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.entry import link_entry
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger

from . import report
from .timing import processor_of_children, ratio, rounds

ROOT = Path(__file__).parents[1]
FEW = 10
RECORDS = 200


def begun(folder: Path, method: str = "noisy-gd:analysis=paper") -> Path:
    """A store of 200 records with a learn and one deletion."""
    table, schema, store = folder / "people.csv", folder / "schema.toml", folder / "begun"
    names = [f"p{k},{k % 7},{k % 3},{'yes' if k % 2 else 'no'}" for k in range(RECORDS)]
    table.write_text("\n".join(["name,age,income,buys", *names]))
    schema.write_text(
        'id = "name"\nrows = "unit"\n[label]\ncolumn = "buys"\nclasses = ["no", "yes"]\n'
        "[columns.age]\nbounds = [0, 10]\n[columns.income]\nbounds = [0, 5]\n"
    )
    sizes = ["--method", method, "--regularization", "0.1", "--dp", "1", "--deletion", "0.5", "--no-total"]
    plan = str(folder / "plan.toml")
    run("plan", *sizes, "--out", plan)
    run("init", str(store), "--data", str(table), "--schema", str(schema), "--plan", plan)
    run("learn", str(store))
    run("delete", str(store), "p0", "--request-id", "request-2")
    return store


def run(*words: str) -> None:
    """One whole command."""
    subprocess.run([sys.executable, "-m", "noisygd_delete", *words], cwd=ROOT, capture_output=True, check=True)


def grown(store: Path, target: Path, releases: int) -> Path:
    """A copy of the store whose last release was made again and again, until there are so many: every link as it would
    have been written, every request id another.
    """
    shutil.copytree(store, target)
    layout = Layout.at(target)
    ledger = Ledger.read(layout.ledger)
    last, now, length = ledger.head, ledger.releases, ledger.length + releases - ledger.releases
    digest, account, event = ledger.digest, ledger.account, ledger.accountant.last
    with sqlite3.connect(layout.ledger) as connection:
        for number in range(now + 1, releases + 1):
            account.record(event)
            answer = {**(last.answer or {}), "release": number, "request_id": f"request-{number}"}
            entry = replace(last, request_id=f"request-{number}", answer=answer, account=written.to_dict(account))
            body, digest = link_entry(digest, entry)
            connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (length - releases + number, body, digest))
            places.write_places(connection, places.places_of([entry], length - releases + number, number - 1))
    connection.close()
    layout.model(now).rename(layout.model(releases))
    rollback_guard.write(Disk(), layout.ledger, length, digest)
    file_footer.note(Disk(), layout, length, digest)
    return target


def _commands(store: Path, names: Iterator[int]) -> dict[str, Callable[[], None]]:
    """What is measured of one store. Every change erases a record of its own."""
    paper, signed, key = (
        ("--out", str(store.with_suffix(".html"))),
        store.with_suffix(".json"),
        store.with_suffix(".pem"),
    )
    if not key.exists():
        run("keygen", str(key))

    def stream() -> None:
        requests = store.with_suffix(".jsonl")
        name = f"p{next(names)}"
        requests.write_text(json.dumps({"request_id": f"token-of-{name}", "delete": [name]}) + "\n")
        run("stream", str(store), str(requests))

    def certificate() -> None:
        run("certificate", str(store), "--release", "2", "--out", str(signed), "--key", str(key))

    def verify_certificate() -> None:
        if not signed.exists():
            certificate()
        run("verify-certificate", str(signed))

    return {
        "stream, one request": stream,
        "delete": lambda: run("delete", str(store), f"p{next(names)}"),
        "status": lambda: run("status", str(store)),
        "budget": lambda: run("budget", str(store)),
        "certificate": certificate,
        "verify-certificate": verify_certificate,
        "verify": lambda: run("verify", str(store)),
        "report": lambda: run("report", str(store), *paper),
    }


def growth(repeats: int, sizes: list[int], only: list[str] | None, *, processor: bool = False) -> str:
    """Whole commands at every size over the same at ten releases, taken in turn."""
    with tempfile.TemporaryDirectory() as folder:
        start = begun(Path(folder))
        calls = {
            (name, size): call
            for size in (FEW, *sizes)
            for name, call in _commands(grown(start, Path(folder) / f"store-{size}", size), count(1)).items()
            if only is None or name.split(",")[0] in only
        }
        measured = {}
        for name in dict.fromkeys(name for name, _ in calls):
            alike = {str(size): (call, 1) for (other, size), call in calls.items() if other == name}
            measured[name] = rounds(alike, repeats, processor_of_children if processor else time.perf_counter)
    lines = [
        [name, *(f"{ratio(times, str(size), str(FEW)):.2f}" for size in sizes)] for name, times in measured.items()
    ]
    return report.table(["command", *(f"{size:,} releases / {FEW}" for size in sizes)], lines)


def over_floor(repeats: int, size: int) -> str:
    """A first `verify` of a long ledger and a later one, over hashing its file and parsing each line, in one process."""
    with tempfile.TemporaryDirectory() as folder:
        store = grown(begun(Path(folder)), Path(folder) / "long", size)
        layout = Layout.at(store)

        def floor() -> None:
            hashlib.sha256(layout.ledger.read_bytes()).hexdigest()
            with sqlite3.connect(layout.ledger) as connection:
                for (body,) in connection.execute("SELECT body FROM entries"):
                    json.loads(body)
            connection.close()

        def first() -> None:
            layout.judged.unlink(missing_ok=True)
            verify(store)

        calls: dict[str, tuple[Callable[[], object], int]] = {
            "floor": (floor, 1),
            "first": (first, 1),
            "later": (lambda: verify(store), 1),
        }
        gc.set_threshold(50_000)  # as commands have it
        times = rounds(calls, repeats, time.process_time)
    parts = [f"{ratio(times, name, 'floor'):.2f}" for name in ("first", "later")]
    return report.table(["releases", "first verify / floor", "later verify / floor"], [[f"{size:,}", *parts]])


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks ledger")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="+", default=[3000, 10_000])
    parser.add_argument("--only", nargs="+", help="these commands; nothing is written")
    parser.add_argument("--floor", type=int, help="in place of these: `verify` of so many releases over reading alone")
    parser.add_argument(
        "--processor", action="store_true", help="time of a processor in place of the clock: for a busy machine"
    )
    chosen = parser.parse_args(arguments)
    measured = report.commit()
    if chosen.floor:
        body = f"{_FLOOR}\n\n{over_floor(chosen.repeats, chosen.floor)}"
        command = f"python -m benchmarks ledger --floor {chosen.floor} --repeats {chosen.repeats}"
        report.write("verify_over_floor", "`verify` of a long ledger over its floor", command, body, measured)
        print(body)
        return
    body = growth(chosen.repeats, chosen.sizes, chosen.only, processor=chosen.processor)
    print(body)
    if chosen.only is None:
        command = f"python -m benchmarks ledger --repeats {chosen.repeats}"
        report.write("commands_on_long_ledgers", "Commands on a long ledger", command, f"{_NOTE}\n\n{body}", measured)


_FLOOR = (
    "`verify` over its floor, hashing the ledger's file and parsing each line as JSON: processor time in one process."
)
_NOTE = (
    "Whole processes, start included: medians of interleaved runs on a shared machine of two processors, time over that of the "
    "same command on a store of ten releases. 200 records; the releases beyond the first two are entries with links of their own, "
    "as that many deletions leave them."
)
