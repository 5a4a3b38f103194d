"""What an old store costs: whole commands on a store of many releases over the same on one of ten."""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from noisygd_delete.store.disk import Disk
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Entry, Ledger, _link

from . import report
from .timing import ratio, rounds

ROOT = Path(__file__).parents[1]
FEW = 10
RECORDS = 200


def begun(folder: Path) -> Path:
    """A store of 200 records with a learn and one deletion."""
    table, schema, store = folder / "people.csv", folder / "schema.toml", folder / "begun"
    names = [f"p{k},{k % 7},{k % 3},{'yes' if k % 2 else 'no'}" for k in range(RECORDS)]
    table.write_text("\n".join(["name,age,income,buys", *names]))
    schema.write_text(
        'id = "name"\nrows = "unit"\n[label]\ncolumn = "buys"\nclasses = ["no", "yes"]\n'
        "[columns.age]\nbounds = [0, 10]\n[columns.income]\nbounds = [0, 5]\n"
    )
    sizes = ["--regularization", "0.1", "--dp", "1", "--deletion", "0.5"]
    run("init", str(store), "--data", str(table), "--schema", str(schema), *sizes)
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
    last, now = ledger.head, ledger.releases
    digest, rows = ledger.digests[-1], []
    for number in range(now + 1, releases + 1):
        answer = {**(last.answer or {}), "release": number, "request_id": f"request-{number}"}
        body, digest = _link(digest, replace(last, request_id=f"request-{number}", answer=answer))
        rows.append((len(ledger.entries) + number - now, body, digest))
    with sqlite3.connect(layout.ledger) as connection:
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
    connection.close()
    layout.model(now).rename(layout.model(releases))
    Ledger.read(layout.ledger).seal(Disk())
    return target
