"""Two features at a time over real databases: keys of two types, one table locked, requests set aside, backups put back, kills.

The oracle asks the databases and the ledgers, past the service: a row is gone where its request is published and nowhere else, once.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("noisygd_delete_server", reason="noisygd-delete-server is not installed")
import psycopg
from noisygd_delete_server import writer
from noisygd_delete_server.inbox import Stages
from noisygd_delete_sources import source_at

from noisygd_delete.store import status, verify
from noisygd_delete.store.ledger import Ledger
from tests.sources.conftest import database, learned, server, statement, tmp_path

from .conftest import Opened, opened, token_file
from .processes import Begin, serving
from .test_process import edits_of

__all__ = ["database", "opened", "server", "serving", "tmp_path"]  # fixtures
pytestmark = pytest.mark.filterwarnings("ignore")
IMPATIENT = "&options=-c%20lock_timeout%3D200ms"


@pytest.fixture
def two(database: str, tmp_path: Path) -> tuple[Path, Path]:
    """Stores over a table with keys of text and one with whole numbers; the names 1, 2, … stand in both."""
    statement(
        database, "CREATE TABLE texts AS SELECT (row_number() OVER (ORDER BY id))::text AS id, a, b, c, y FROM people"
    )
    statement(database, "CREATE TABLE numbers AS SELECT id::bigint AS id, a, b, c, y FROM texts")
    made = []
    for table in ("texts", "numbers"):
        statement(database, f"ALTER TABLE {table} ADD PRIMARY KEY (id)")
        made.append(tmp_path / table)
        learned(made[-1], source_at(database + IMPATIENT, id="id", table=table)).close()
    return made[0], made[1]


def present(database: str | psycopg.Connection[Any], name: str) -> list[int]:
    """How many rows of this name the two tables have, asked beside others or by the session that has locked one."""
    asked = "SELECT count(*) FROM texts WHERE id = $1 UNION ALL SELECT count(*) FROM numbers WHERE id = $1::bigint"
    if isinstance(database, str):
        with psycopg.connect(database) as own:
            return present(own, name)
    return [number for (number,) in psycopg.RawCursor(database).execute(asked, [name]).fetchall()]


LOCKS = {
    "all of it": "LOCK TABLE {} IN ACCESS EXCLUSIVE MODE",
    "its writing": "LOCK TABLE {} IN SHARE MODE",
    "one row": "SELECT FROM {} WHERE id::text = '7' FOR UPDATE",
}


@pytest.mark.parametrize("table", ["texts", "numbers"])
@pytest.mark.parametrize("locked", LOCKS)
def test_a_request_to_two_databases_of_which_one_is_locked(
    two: tuple[Path, Path], database: str, opened: Opened, monkeypatch: pytest.MonkeyPatch, table: str, locked: str
) -> None:
    """It is set aside alone, done to the end once the lock is gone, in each database once; what a store has begun is not dropped."""
    monkeypatch.setattr(writer, "_AGAIN", 0.0)
    desk = opened(*two, batch=1)
    with psycopg.connect(database) as other:
        other.execute(LOCKS[locked].format(table))  # type: ignore[arg-type]
        assert desk.ask(delete=["7"], request_id="both").status_code == 202
        for _ in range(writer._TRIES):
            desk.turn()
        begun = [int(Ledger.read(path / "ledger.sqlite").position("both") is not None) for path in two]
        assert begun == [int(table == "numbers" and locked != "all of it"), 0]
        assert present(other, "7") == [1 - begun[0], 1]
        (waits,) = desk.service.waiting()
        assert (waits.state, waits.tries) == ("quarantined", writer._TRIES)
        assert "lock" in str(waits.reason)
        dropped = desk.post("/requests/both/drop").status_code
        assert (dropped == 409) == bool(begun[0])
        if locked == "one row":  # the others go on beside it
            assert desk.ask(delete=["8"], request_id="beside").status_code == 202
            desk.turn()
            assert desk.state("beside") == "published"
    if begun[0]:
        assert desk.post("/requests/both/retry").status_code in (200, 202)
        desk.turn()
        desk.turn()
        assert desk.state("both") == "published"
        assert [edits_of(path)["both"] for path in two] == [1, 1]
        assert present(database, "7") == [0, 0]
    else:
        desk.turn()
        assert desk.state("both") == "refused"
        assert present(database, "7") == [1, 1]
    assert all(verify(path).passed for path in two)


def test_a_request_set_aside_for_a_backup_is_done_when_the_right_one_is_back(
    two: tuple[Path, Path], database: str, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two databases is as it was before a deletion; and what a decided request was stays decided."""
    monkeypatch.setattr(writer, "_AGAIN", 0.0)
    statement(database, "CREATE TABLE kept AS SELECT * FROM numbers")
    desk = opened(*two, batch=1)
    desk.ask(delete=["3"], request_id="before")
    desk.turn()
    assert present(database, "3") == [0, 0]
    statement(database, "CREATE TABLE of_both AS SELECT * FROM noisygd_delete.marks")
    statement(database, "DELETE FROM noisygd_delete.marks")
    statement(database, "INSERT INTO numbers SELECT * FROM kept WHERE id = 3")
    made = [status(path)["releases"] for path in two]
    desk.ask(delete=["4"], request_id="later")
    for _ in range(writer._TRIES + 1):
        desk.turn()
    assert [status(path)["releases"] for path in two] == made
    assert present(database, "4") == [1, 1]
    assert desk.state("later") == "quarantined"
    statement(database, "INSERT INTO noisygd_delete.marks SELECT * FROM of_both")
    statement(database, "DELETE FROM numbers WHERE id = 3")
    assert desk.post("/requests/later/retry").status_code in (200, 202)
    desk.turn()
    desk.turn()
    assert desk.state("later") == "published"
    assert [edits_of(path) for path in two] == [Counter(before=1, later=1)] * 2
    assert present(database, "4") == [0, 0]
    assert not desk.service.inbox.at(Stages.QUARANTINED)


@contextmanager
def locked_elsewhere(database: str, table: str) -> Iterator[None]:
    with psycopg.connect(database) as other:
        other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")  # type: ignore[arg-type]
        yield


def test_killed_and_ended_while_a_lock_waits(
    two: tuple[Path, Path], database: str, tmp_path: Path, serving: Begin
) -> None:
    """A process that waits for somebody's lock ends in seconds, also while a certificate is asked for; killed, it loses and doubles nothing."""
    patient = tmp_path / "patient"
    learned(patient, source_at(database, id="id", table="numbers")).close()
    secrets = token_file(tmp_path / "tokens.toml")

    def state(service: Any, token: str) -> str:
        _, told = service.call("GET", f"/requests/{token}", secrets["read"])
        return told["state"] if told else "none"

    def published(service: Any, *tokens: str) -> bool:
        last = time.monotonic() + 90
        while time.monotonic() < last and {state(service, token) for token in tokens} != {"published"}:
            time.sleep(0.1)
        return {state(service, token) for token in tokens} == {"published"}

    def ask(service: Any, token: str, name: str) -> None:
        code, _ = service.call("POST", "/requests", secrets["request"], {"request_id": token, "delete": [name]})
        assert code == 202

    arguments = (str(patient), "--batch", "1")
    with serving(tmp_path, *arguments) as service:
        ask(service, "first", "1")
        assert published(service, "first")
        with locked_elsewhere(database, "numbers"):
            ask(service, "second", "2")
            time.sleep(1.0)
            codes: list[int] = []
            asking = threading.Thread(
                target=lambda: codes.append(service.call("GET", "/requests/first/certificate", secrets["sign"])[0])
            )
            asking.start()
            time.sleep(0.5)
            began = time.monotonic()
            assert service.end(signal.SIGTERM) == 0
            assert time.monotonic() - began < 10, "what a container gives"
            asking.join()
            assert set(codes) <= {200, 409, 422, 503}, "not a fault"
    with locked_elsewhere(database, "numbers"):
        for _ in range(3):
            with serving(tmp_path, *arguments) as service:
                time.sleep(0.7)
                os.kill(service.number, signal.SIGKILL)
                service.end(signal.SIGKILL)
    with serving(tmp_path, *arguments) as service:
        ask(service, "third", "3")
        assert published(service, "second", "third")
    assert edits_of(patient) == Counter(first=1, second=1, third=1)
    assert statement(database, "SELECT FROM numbers WHERE id IN (1, 2, 3)") == 0
    assert statement(database, "SELECT FROM numbers") == 197
