"""PostgreSQL in a folder of its own, reached by a socket there; and one table of people in every kind of source."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import tomllib
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_sources import Source, source_at

from noisygd_delete import Budget, Schema, losses, make_plan
from noisygd_delete.store import Store

from ..store.conftest import memory_folder, tmp_path

__all__ = ["tmp_path"]  # a fixture

ROWS, SLOTS = 200, 240
SCHEMA_FILE = """id = "id"
[label]
column = "y"
classes = ["no", "yes"]
[columns.a]
bounds = [-1, 1]
[columns.b]
bounds = [0, 10]
[columns.c]
categories = ["x", "z"]
"""
SCHEMA = Schema.from_dict(tomllib.loads(SCHEMA_FILE))


def name(k: int) -> str:
    return f"identifier-token-{k:04d}"


def person(k: int) -> str:
    return f"subject-token-{k // 2:04d}"


def people() -> list[tuple[str, str, float, float, str, str]]:
    """(id, person, a, b, c, y) of everybody; every number is written in few digits, so that every source keeps it."""
    return [
        (name(k), person(k), (k * 37 % 200 - 100) / 128, (k * 53 % 160) / 16, "xz"[k % 2], ("no", "yes")[k % 3 == 0])
        for k in range(ROWS)
    ]


def in_csv(folder: Path) -> Path:
    """A file of all the people."""
    lines = [",".join(map(str, row)) for row in people()]
    (folder / "people.csv").write_text("\n".join(["id,person,a,b,c,y", *lines, ""]))
    return folder / "people.csv"


def plan(schema: Schema = SCHEMA, slots: int = SLOTS, **changes: Any):
    arguments = {
        "regularization": 0.1,
        "budget": Budget(order=4, dp=2.0, deletion=0.5),
        "method": "objective-perturbation",
    }
    loss = losses.Logistic(radius=1.0)
    return make_plan(loss, records=slots, features=schema.features, **{"utility": False, **arguments, **changes})


def learned(path: Path, source: Source, schema: Schema = SCHEMA, of: Any = None, *, watched: bool = False) -> Store:
    """A store over the source, by this plan or the usual one, open: it has learned, and from before that counts what others change."""
    made = Store.create_over(path, source, schema, of or plan())
    if watched:
        made.table.watch()
    made.learn()
    return made


def server_folder() -> Path | None:
    """Where the programs of PostgreSQL are."""
    found = shutil.which("initdb")
    here = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return Path(found).parent if found else here[-1].parent if here else None


@dataclass(frozen=True)
class Server:
    """A server of PostgreSQL that belongs to the tests."""

    folder: Path
    programs: Path
    user: str | None  # root may not run a server

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def run(self, program: str, *arguments: str) -> None:
        whom = {} if self.user is None else {"user": self.user, "group": self.user, "extra_groups": []}
        subprocess.run(
            [self.programs / program, *arguments], cwd=self.folder, check=True, capture_output=True, timeout=60, **whom
        )

    def address(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c fsync=off -c autovacuum=off -c max_prepared_transactions=4"
        log = str(self.folder / "log")
        self.run("pg_ctl", "start", "-w", "-D", str(self.data), "-l", log, "-o", options)

    def stop(self) -> None:
        self.run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", str(self.data))

    def standby(self) -> Server:
        """A copy of this server that follows it asynchronously."""
        folder = self.folder / "standby"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if self.user is not None:
            shutil.chown(folder, self.user, self.user)
        follower = Server(folder, self.programs, self.user)
        self.stop()
        self.run("/bin/cp", "-a", str(self.data), str(follower.data))
        self.start()
        (follower.data / "standby.signal").touch()
        if self.user is not None:
            shutil.chown(follower.data / "standby.signal", self.user)
        with (follower.data / "postgresql.auto.conf").open("a") as settings:
            settings.write(f"primary_conninfo = 'host={self.folder} user=postgres'\n")
        (follower.data / "postmaster.pid").unlink(missing_ok=True)
        follower.start()
        return follower

    def wait_for(self, follower: Server) -> None:
        """Until the standby has applied all that was committed here."""
        import psycopg

        with psycopg.connect(self.address()) as own, psycopg.connect(follower.address(), autocommit=True) as other:
            (position,) = own.execute("SELECT pg_current_wal_lsn()").fetchone() or ()
            until = time.monotonic() + 30
            while other.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [position]).fetchone() != (True,):
                assert time.monotonic() < until, "the standby does not follow"
                time.sleep(0.05)

    def fail_over(self, follower: Server, kept: str) -> None:
        """This server dies, and the standby, stopped or not, takes over at its address; the old folder stays as `kept`."""
        self.stop()
        if (follower.data / "postmaster.pid").exists():
            follower.stop()
        self.data.rename(self.folder / kept)
        follower.data.rename(self.data)
        self.start()
        self.run("pg_ctl", "promote", "-w", "-D", str(self.data))


PEOPLE = "CREATE TABLE people (id text PRIMARY KEY, person text, a double precision, b numeric, c text, y text)"


@contextmanager
def started(programs: Path, user: str | None) -> Iterator[Server]:
    """A server in a new folder, whose data a test may stop, copy and put back."""
    with memory_folder() as folder:
        if user is not None:
            shutil.chown(folder, user, user)
        server = Server(folder, programs, user)
        server.run(
            "initdb",
            "-D",
            str(server.data),
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "-N",
            "--wal-segsize=1",
        )
        server.start()
        try:
            yield server
        finally:
            with suppress(subprocess.CalledProcessError):
                server.stop()


@contextmanager
def another(server: Server, rows: int = 0) -> Iterator[Server]:
    """A server like this one, with a table of so many of the people."""
    with started(server.programs, server.user) as made:
        statement(made.address(), PEOPLE)
        fill(made.address(), people()[:rows])
        yield made


@pytest.fixture
def own(server: Server) -> Iterator[Server]:
    """A server of a test's own, with twenty of the people."""
    with another(server, 20) as made:
        yield made


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    programs = server_folder()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    if not find_spec("psycopg"):
        pytest.skip("psycopg is not installed")
    user = None
    if os.geteuid() == 0:
        import pwd

        if "postgres" not in {entry.pw_name for entry in pwd.getpwall()}:
            pytest.skip("root may not run PostgreSQL, and there is no user postgres")
        user = "postgres"
    with started(programs, user) as made:
        yield made


def fill(address: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Put rows into the table `people`, all at once."""
    import psycopg

    with (
        psycopg.connect(address) as connection,
        connection.cursor() as cursor,
        cursor.copy("COPY people FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row)


def new_database(server: Server, *statements: str, like: str = "template1") -> str:
    """The address of a database of this server's, a copy of another one, in which these statements are carried out."""
    import psycopg

    named = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {named} TEMPLATE {like}")  # type: ignore[arg-type]
    for each in statements:
        statement(server.address(named), each)
    return server.address(named)


def database_of(address: str) -> str:
    return address.partition("?")[0].rpartition("/")[2]


@cache
def with_people(server: Server) -> str:
    """The name of a database with the table `people`, which others are copied from."""
    address = new_database(server, PEOPLE)
    fill(address, people())
    return database_of(address)


@pytest.fixture
def database(server: Server) -> Iterator[str]:
    """The address of a database with the table `people`."""
    import psycopg

    address = new_database(server, like=with_people(server))
    yield address
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {database_of(address)} WITH (FORCE)")  # type: ignore[arg-type]


def statement(address: str, text: str, *values: Any) -> int:
    """What an application does, in a transaction of its own; how many rows."""
    import psycopg

    with psycopg.connect(address) as connection:
        return connection.execute(text, values).rowcount  # type: ignore[arg-type]


@pytest.fixture
def store(database: str, tmp_path: Path) -> Iterator[Store]:
    """A store over the table `people`, which has learned."""
    with learned(tmp_path / "store", source_at(database, id="id", table="people")) as made:
        yield made


@pytest.fixture(params=["duckdb", "delta", "postgres"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """The people in each kind of place from which rows can be deleted, as tables.InDuckdb and the others write them."""
    from . import tables

    if request.param == "postgres":
        return tables.InPostgres(request.getfixturevalue("database"))
    return {"duckdb": tables.InDuckdb, "delta": tables.InDelta}[request.param](tmp_path)
