"""A table of MariaDB as a source: what every source must do, and what its loose comparisons must not."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_sources import mysql, source_at

from noisygd_delete import EditRequest
from noisygd_delete.errors import InvalidParameter, InvalidRequest, SourceError
from noisygd_delete.evidence import new_key, sign_document, verify_certificate
from noisygd_delete.store import Store, verify
from tests.sources.rows import records_of
from tests.store.conftest import memory_folder

from .conftest import ROWS, SCHEMA, SLOTS, learned, name, people, tmp_path
from .test_postgres import paper

__all__ = ["tmp_path"]  # a fixture
pymysql = pytest.importorskip("pymysql", reason="pymysql is not installed")


class Maria:
    """A server of the tests' own, reached by a socket."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.socket = folder, folder / "socket"
        whom = ["--user=mysql"] if os.geteuid() == 0 else []
        data = f"--datadir={folder / 'data'}"
        make = ["mariadb-install-db", data, "--auth-root-authentication-method=normal", "--skip-test-db", *whom]
        subprocess.run(make, check=True, capture_output=True, timeout=120)
        self._run = ["mariadbd", "--no-defaults", data, f"--socket={self.socket}", "--skip-networking", *whom]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            ping = ["mariadb-admin", "ping", f"--socket={self.socket}"]
            if subprocess.run(ping, capture_output=True, check=False, timeout=60).returncode == 0:
                return
            time.sleep(0.1)
        raise AssertionError("MariaDB does not start")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def ask(self, text: str, *values: Any, database: str) -> Any:
        with (
            pymysql.connect(
                unix_socket=str(self.socket), user="root", database=database or None, autocommit=True
            ) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(text, values or None)
            return cursor.fetchall()


@pytest.fixture(scope="module")
def maria() -> Iterator[Maria]:
    if not shutil.which("mariadbd"):
        pytest.skip("MariaDB is not installed (Debian: mariadb-server)")
    with memory_folder() as folder:
        if os.geteuid() == 0:
            shutil.chown(folder, "mysql", "mysql")
        made = Maria(folder)
        made.ask("CREATE USER clerk@localhost", database="")
        yield made
        made.kill()


class Database:
    def __init__(self, maria: Maria) -> None:
        self.maria, self.name = maria, f"test_{uuid.uuid4().hex[:10]}"
        maria.ask(f"CREATE DATABASE {self.name}", database="")
        self.ask(
            "CREATE TABLE people (id varchar(60) PRIMARY KEY, person varchar(60), a double, b decimal(8, 4), c varchar(3), y varchar(3))"
        )
        rows = ", ".join(str(row) for row in people())
        self.ask(f"INSERT INTO people VALUES {rows}")
        maria.ask(f"GRANT SELECT, DELETE, INSERT, CREATE ON {self.name}.* TO clerk@localhost", database="")
        self.address = f"mysql://clerk@/{self.name}?socket={maria.socket}"

    def ask(self, text: str, *values: Any) -> Any:
        return self.maria.ask(text, *values, database=self.name)

    def store(self, folder: Path, table: str = "people") -> Store:
        return learned(folder, source_at(self.address, id="id", table=table))


@pytest.fixture
def database(maria: Maria) -> Database:
    return Database(maria)


def test_from_the_first_model_to_the_certificate(database: Database, tmp_path: Path) -> None:
    key = tmp_path / "controller.pem"
    new_key(key)
    with database.store(tmp_path / "store") as store:
        assert len(records_of(store.source, SCHEMA, SLOTS)[0]) == ROWS
        release = store.serve(EditRequest.delete([name(3)], request_id="r"))
        assert (release.counts.deleted, store.ledger.releases) == (1, 2)
        assert store.serve(EditRequest.delete([name(3)], request_id="r")).counts.deleted == 1, (
            "sent again, told as before"
        )
        assert len(records_of(store.source, SCHEMA, SLOTS)[0]) == ROWS - 1
        assert verify_certificate(sign_document(paper(store, "r"), key)).passed
    assert database.ask("SELECT count(*) FROM people WHERE id = %s", name(3)) == ((0,),)


@pytest.mark.parametrize(
    ("key", "values", "known", "others"),
    [
        ("bigint", "1000 + n", "17", ("17abc", "017", " 17", "17.0", "abc", "9" * 30, "")),
        ("varchar(60)", "concat('n', n)", "Anna", ("anna", "ANNA", "Anna ", "\u00c4nna", "Anna\0")),
        ("uuid", "uuid()", "9b2f0c1e-2d3a-4b5c-8d7e-0123456789ab", ("9b2f0c1e", "nobody")),
        ("decimal(10,2)", "1000 + n", "3.50", ("3.5", "3.500", "3.50x")),
    ],
)
def test_names_are_compared_to_the_byte(
    database: Database, tmp_path: Path, key: str, values: str, known: str, others: tuple[str, ...]
) -> None:
    database.ask(f"CREATE TABLE keyed (id {key} PRIMARY KEY, a double, b decimal(8, 4), c varchar(3), y varchar(3))")
    numbered = "SELECT *, row_number() OVER (ORDER BY id) AS n FROM people"
    database.ask(f"INSERT INTO keyed SELECT {values}, a, b, c, y FROM ({numbered}) AS p")
    database.ask("INSERT INTO keyed VALUES (%s, 0, 1, 'x', 'no')", known)
    if key == "bigint":
        database.ask("INSERT INTO keyed VALUES (0, 0, 1, 'x', 'no')")
    with database.store(tmp_path / "store", "keyed") as store:
        before = database.ask("SELECT count(*) FROM keyed")
        for other in others:
            with pytest.raises(InvalidRequest):
                store.serve(EditRequest.delete([other]))
            assert database.ask("SELECT count(*) FROM keyed") == before
        assert store.serve(EditRequest.delete([known])).counts.deleted == 1
    assert database.ask("SELECT count(*) FROM keyed")[0][0] == before[0][0] - 1


@pytest.mark.parametrize("check", ["check_names", "check_persons"])
def test_a_collation_without_case_decides_nothing(database: Database, tmp_path: Path, check: str) -> None:
    from . import test_names_by_bytes as by_bytes

    kind = "varchar(40) COLLATE utf8mb4_unicode_ci"
    database.ask("DROP TABLE people")
    database.ask(f"CREATE TABLE people (id {kind}, person {kind}, a double, b int, c varchar(10), y varchar(10))")
    for row in by_bytes.ROWS:
        database.ask("INSERT INTO people VALUES (%s, %s, 0.5, %s, 'x', 'no')", *row)
    getattr(by_bytes, check)((database.address, lambda text: list(database.ask(text))), tmp_path)


KEEPING = {
    "a trigger that raises": "CREATE TRIGGER keep BEFORE DELETE ON people FOR EACH ROW SIGNAL SQLSTATE '45000'",
    "a foreign key": "CREATE TABLE orders (who varchar(60), FOREIGN KEY (who) REFERENCES people (id)) SELECT id AS who FROM people WHERE c = 'z'",
}


@pytest.mark.parametrize("how", KEEPING)
def test_a_row_that_is_kept_refuses_its_own_request(database: Database, tmp_path: Path, how: str) -> None:
    database.ask(KEEPING[how])
    with database.store(tmp_path / "store") as store:
        length = store.ledger.length
        with pytest.raises(InvalidRequest, match="refuses the deletion") as told:
            store.serve(EditRequest.delete([name(3)]))
        assert "identifier-token" not in str(told.value)
        assert (store.ledger.length, store.pending_edits) == (length, 0)
        if "foreign" in how:
            assert store.serve(EditRequest.delete([name(4)])).counts.deleted == 1


def test_what_is_no_table_of_transactions_is_refused(database: Database, tmp_path: Path) -> None:
    database.ask("CREATE VIEW some AS SELECT * FROM people LIMIT 10")
    database.ask("CREATE TABLE old ENGINE=MyISAM AS SELECT * FROM people")
    for table in ("some", "old"):
        with pytest.raises(InvalidParameter, match="no table of InnoDB"):
            source_at(database.address, id="id", table=table).check()
    with pytest.raises(SourceError, match="no such table"):
        source_at(database.address, id="id", table="none").check()
    for wrong in ({"query": "SELECT * FROM people", "table": "people"}, {"table": None}):
        with pytest.raises(InvalidParameter, match="--table"):
            source_at(database.address, id="id", **wrong)
    with pytest.raises(InvalidParameter, match="password"):
        source_at(f"mysql://clerk:secret@/{database.name}", id="id", table="people")


@pytest.mark.parametrize("kind", ["binary(16)", "varbinary(20)", "bit(8)", "double"])
def test_a_key_of_bytes_or_floats_is_named_by_a_column_with_its_text(
    database: Database, tmp_path: Path, kind: str
) -> None:
    database.ask(f"CREATE TABLE keyed (code {kind} PRIMARY KEY, a double, b decimal(8, 4), c varchar(3), y varchar(3))")
    database.ask("INSERT INTO keyed SELECT row_number() OVER (ORDER BY id), a, b, c, y FROM people LIMIT 50")
    with pytest.raises(InvalidParameter, match="no request can name by one text each"):
        source_at(database.address, id="code", table="keyed").check()
    database.ask("ALTER TABLE keyed ADD COLUMN id CHAR(64) AS (LOWER(HEX(code)))")
    with database.store(tmp_path / "store", table="keyed") as store:
        assert store.source is not None
        one = sorted(store.source.names("id"))[7]
        assert store.serve(EditRequest.delete([one], request_id="r")).release == 2
    assert database.ask("SELECT count(*) FROM keyed WHERE LOWER(HEX(code)) = %s", one) == ((0,),)


def test_nothing_is_deleted_in_an_earlier_copy_and_the_right_one_goes_on(database: Database, tmp_path: Path) -> None:
    tables = ("people", "noisygd_delete_deletions")

    def change(there: str, instead: str) -> None:
        """What is there is set aside under one name, and what stands under the other comes instead."""
        for table in tables:
            database.ask(f"RENAME TABLE {table} TO {there}_{table}, {instead}_{table} TO {table}")

    with database.store(tmp_path / "store") as store:
        store.serve(EditRequest.delete([name(5)], request_id="q"))
        for table in tables:
            database.ask(f"CREATE TABLE then_{table} LIKE {table}")
            database.ask(f"INSERT INTO then_{table} SELECT * FROM {table}")
        store.serve(EditRequest.delete([name(3)], request_id="r"))
        change(there="now", instead="then")
        for k in range(5):  # others have deleted since
            database.ask("INSERT INTO noisygd_delete_deletions VALUES (%s, %s)", 90 + k, uuid.uuid4().hex)
        with pytest.raises(SourceError, match="not in its history"):
            store.publish(force=True)
        for publish in (False, True):
            with pytest.raises(SourceError, match="not in its history"):
                store.serve(EditRequest.delete([name(4)], request_id="s"), publish=publish)
        both = database.ask("SELECT count(*) FROM people WHERE id IN (%s, %s)", name(3), name(4))
        assert both == ((2,),)
        change(there="then", instead="now")
        assert store.serve(EditRequest.delete([name(4)], request_id="s")).release == 4
    assert verify(tmp_path / "store").passed


def test_a_lock_elsewhere_ends_in_an_answer(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = mysql._SESSION
    assert first.count("lock_wait_timeout = 10") == 2, "without which a lock is waited for a day"
    monkeypatch.setattr(mysql, "_SESSION", (first.replace("timeout = 10", "timeout = 1"), *others))
    with database.store(tmp_path / "store") as store:
        with pymysql.connect(unix_socket=str(database.maria.socket), user="root", database=database.name) as other:
            other.cursor().execute("SELECT * FROM people WHERE id = %s FOR UPDATE", [name(3)])
            with pytest.raises(SourceError, match="holds a lock"):
                store.serve(EditRequest.delete([name(3)], request_id="r"))
        assert store.serve(EditRequest.delete([name(3)], request_id="r")).counts.deleted == 1


def test_a_server_that_is_killed_loses_and_doubles_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Right before the commit, and right after it."""
    with database.store(tmp_path / "store") as store:
        commit = pymysql.connections.Connection.commit

        def dies(connection: Any) -> None:
            database.maria.kill()
            commit(connection)

        monkeypatch.setattr(pymysql.connections.Connection, "commit", dies)
        with pytest.raises(SourceError):
            store.serve(EditRequest.delete([name(3)], request_id="before"))
        monkeypatch.undo()
        database.maria.start()

        def done_and_dies(connection: Any) -> None:
            commit(connection)
            database.maria.kill()
            raise pymysql.OperationalError(2013, "lost")

        monkeypatch.setattr(pymysql.connections.Connection, "commit", done_and_dies)
        with pytest.raises(SourceError):
            store.serve(EditRequest.delete([name(4)], request_id="after"))
        monkeypatch.undo()
        database.maria.start()
        assert store.serve(EditRequest.delete([name(4)], request_id="after")).counts.deleted == 1
        assert store.serve(EditRequest.delete([name(3)], request_id="before")).counts.deleted == 1
        assert database.ask("SELECT count(*) FROM people") == ((ROWS - 2,),)
