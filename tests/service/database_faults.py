"""The table of faults of the service over a database: kills, locks, crashes, triggers, slow peers, a backup put back.

python -m tests.service.database_faults [--out FILE] [--quick] [--patience SECONDS] [--key KIND] [--fault WORDS]      `make database-faults` writes the committed table

A server of its own, a role that is no superuser, keys of three types; `noisygd-delete serve` as a process of its own with a webhook that
trickles, one that answers, and a client like Fides; models go to a folder, and to MLflow where it is installed. The oracle asks the
database and the ledger, past the service.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
from noisygd_delete_server.publishers import publish_to
from noisygd_delete_sources import source_at

from noisygd_delete.cli import main as main_command
from noisygd_delete.evidence.verification import verify_certificate
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger
from tests.sources.conftest import Server, learned, plan, server_folder, started
from tests.store.conftest import memory_folder

from .conftest import SECRET, token_file
from .privacy_desk import PrivacyDesk
from .processes import Serving, Trickle, half_open, mother

BAD = ("lost", "twice", "false papers", "stopped")
_PATIENCE = (
    120.0  # seconds until something that does not move is called stopped; `--patience`: on a machine that others load
)
UUID = "md5(n::text)::uuid"
KEYS = {  # kind -> (the table, whose rows the store is over, how its key is written)
    "text": (
        "CREATE TABLE people AS SELECT 'person-' || n AS id, {rows}",
        "ALTER TABLE people ADD PRIMARY KEY (id)",
        "'person-' || n",
    ),
    "uuid": (
        f"CREATE TABLE people AS SELECT {UUID} AS id, {{rows}}",
        "ALTER TABLE people ADD PRIMARY KEY (id)",
        f"({UUID})::text",
    ),
    "composite": (
        "CREATE TABLE parts AS SELECT n % 7 AS region, n AS number, {rows}",
        "ALTER TABLE parts ADD PRIMARY KEY (region, number); "
        "CREATE VIEW people AS SELECT region || '/' || number AS id, a, b, c, y FROM parts",
        "(n % 7) || '/' || n",
    ),
}
ROWS = "((n * 37) % 256 - 128) / 128.0::float8 AS a, (n * 53 % 160) / 16.0 AS b, substr('xz', 1 + n % 2, 1) AS c, CASE WHEN n % 3 = 0 THEN 'yes' ELSE 'no' END AS y"
MARKS = (
    "CREATE SCHEMA noisygd_delete",
    "CREATE TABLE noisygd_delete.marks (mark text PRIMARY KEY)",
    "GRANT USAGE ON SCHEMA noisygd_delete TO clerk",
    "GRANT SELECT, INSERT ON noisygd_delete.marks TO clerk",
)


class World:
    """A database with one table of persons, a store over it, and a service that is started and killed."""

    def __init__(self, mother: subprocess.Popen[str], folder: Path, server: Server, kind: str, rows: int) -> None:
        self.mother, self.folder, self.server, self.kind, self.chance = (
            mother,
            folder,
            server,
            kind,
            random.Random(kind),
        )
        self.database = f"of_{kind}"
        made, keyed, written = KEYS[kind]
        self._run("postgres", f"CREATE DATABASE {self.database}")
        table = "parts" if kind == "composite" else "people"
        self.table = table
        for each in (
            f"{made.format(rows=ROWS)} FROM generate_series(1, {rows}) AS n",
            *keyed.split("; "),
            "GRANT SELECT, DELETE ON ALL TABLES IN SCHEMA public TO clerk",
            "CREATE TABLE kept (id text)",
            "GRANT SELECT ON kept TO clerk",
            *MARKS,
        ):
            self.run(each)
        self.ids = [
            str(name)
            for (name,) in self.run(
                f"SELECT {written} FROM generate_series(1, {rows}) AS n ORDER BY md5(n::text || 'x')"
            )
        ]
        self.path = folder / f"store-{kind}"
        address = f"postgresql://clerk@/{self.database}?host={server.folder}"
        source = source_at(address, id="id", table="people")
        with learned(self.path, source, of=plan(slots=rows + 64, regularization=0.05)) as store:
            publish_to(store, f"folder:{folder / f'out-{kind}'}")
            if find_spec("mlflow"):
                publish_to(store, f"mlflow:sqlite:///{folder / f'mlflow-{kind}.db'}", model="people")
        self.secrets = json.loads((folder / "secrets.json").read_text())
        self.desk = PrivacyDesk(self.path)
        self.trickle = Trickle(1.0)
        hooks = "".join(
            f'[[webhook]]\nurl = "{url}"\nsecret_file = "{folder / "secret"}"\n'
            for url in (self.desk.address + "/told", self.trickle.address)
        )
        (folder / f"hooks-{kind}.toml").write_text(f'{hooks}[fides]\nurl = "{self.desk.address}/api"\nnames = "id"\n')
        self.asked: dict[str, str] = {}
        self.start()

    def _run(self, database: str, text: str) -> list[Any]:
        with psycopg.connect(self.server.address(database), autocommit=True) as connection:
            cursor = connection.execute(text)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []

    def run(self, text: str) -> list[Any]:
        return self._run(self.database, text)

    def start(self) -> None:
        options = (
            "--batch",
            "6",
            "--key",
            str(self.folder / "key.pem"),
            "--hooks",
            str(self.folder / f"hooks-{self.kind}.toml"),
        )
        self.service = Serving(self.mother, self.folder, str(self.path), *options)

    def kill(self, how: int = signal.SIGKILL) -> float:
        """End the service; seconds that it took."""
        began = time.monotonic()
        self.service.end(how)
        return time.monotonic() - began

    def call(self, method: str, path: str, role: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        return self.service.call(method, path, self.secrets[role], body, **headers)

    def ask(self, count: int, names: list[str] | None = None) -> list[str]:
        """New requests, each sent until it is accepted; every third as Fides sends it. Their ids."""
        tokens = []
        for name in names or [self.ids.pop() for _ in range(count)]:
            token = f"{self.kind}-{len(self.asked)}"
            self.asked[token] = name
            tokens.append(token)
            threading.Thread(target=self._sent, args=(token, name, len(self.asked) % 3 == 0), daemon=True).start()
        return tokens

    def _sent(self, token: str, name: str, as_fides: bool) -> None:
        body: dict[str, Any] = {"request_id": token, "delete": [name]}
        path, headers = "/requests", {}
        if as_fides:
            body = {"privacy_request_id": token, "identity": {"external_id": name}}
            path, headers = "/webhooks/fides", {"reply-to": f"/resume/{token}", "reply-to-token": f"reply-{token}"}
        last = time.monotonic() + _PATIENCE
        while time.monotonic() < last and self.call("POST", path, "request", body, **headers)[0] not in (200, 202):
            time.sleep(0.3)

    def settled(self, tokens: list[str], patience: float | None = None) -> dict[str, str]:
        """How each request ended; "none" where it did not."""
        last, states = time.monotonic() + (patience or _PATIENCE), dict[str, str]()
        while time.monotonic() < last:
            for token in tokens:
                _, answer = self.call("GET", f"/requests/{token}", "read")
                states[token] = answer.get("state", "none") if answer else "none"
            left = [
                token
                for token, state in states.items()
                if state not in ("published", "refused", "quarantined", "answered")
            ]
            if not left:
                break
            self.call("POST", "/publish", "publish", {})
            time.sleep(0.5)
        return {token: states.get(token, "none") for token in tokens}

    def present(self, name: str) -> int:
        with psycopg.connect(self.server.address(self.database), autocommit=True) as connection:
            found = connection.execute("SELECT count(*) FROM people WHERE id::text = %s", [name]).fetchone()
        return int(found[0]) if found else 0

    def judged(self, tokens: list[str], kept: list[str], states: dict[str, str]) -> Counter[str]:
        """What the database and the ledger say of these requests, of which the database keeps the rows of some."""
        found: Counter[str] = Counter(tried=len(tokens))
        ledger = Ledger.read(Layout.at(self.path).ledger)
        times = Counter(
            ledger.entry(place).answer.get("request_id") for place in range(ledger.length) if ledger.entry(place).answer
        )
        edits = Counter(
            ledger.entry(place).answer["request_id"]
            for place in range(ledger.length)
            if (ledger.entry(place).answer or {}).get("request_id") in tokens and ledger.edits_at(place).total
        )
        for token in tokens:
            there, state = self.present(self.asked[token]), states[token]
            found["refused alone"] += token in kept and state in ("refused", "quarantined") and there == 1
            found["lost"] += (
                state == "none"
                or (state == "published") != (there == 0)
                or (token not in kept and state != "published")
            )
            found["twice"] += edits[token] > 1 or (times[token] > 2)
            last, code, papers = time.monotonic() + _PATIENCE, 503, None
            while (
                code in (0, 503) and time.monotonic() < last
            ):  # while a release is made, a caller is told to come again
                code, papers = self.call("GET", f"/requests/{token}/certificate", "sign")
            if code == 200:
                sound = all(verify_certificate(one["certificate"]).passed for one in papers["certificates"])
                found["false papers"] += there > 0 or not sound
            else:
                found["lost"] += state == "published"
        probe = self.ask(1)
        found["stopped"] += list(self.settled(probe).values()) != ["published"]
        found["false papers"] += len(self.desk.faults)
        for fault in self.desk.faults:
            print(fault, file=sys.stderr)
        self.desk.faults.clear()
        return found

    def end(self) -> None:
        self.kill()
        self.desk.close()
        self.trickle.close()


def killed(world: World, hurry: bool) -> Counter[str]:
    tokens = list[str]()
    for _ in range(2 if hurry else 8):
        tokens += world.ask(6)
        time.sleep(world.chance.uniform(0.05, 2.5))
        world.kill()
        world.start()
    return world.judged(tokens, [], world.settled(tokens))


def locked(world: World, hurry: bool) -> Counter[str]:
    """Somebody holds the table; the service says so, and ends in seconds when it is told to, though somebody waits for a certificate."""
    before = world.ask(1)
    world.settled(before)
    with psycopg.connect(world.server.address(world.database)) as connection:
        connection.execute(f"LOCK TABLE {world.table} IN ACCESS EXCLUSIVE MODE")  # type: ignore[arg-type]
        tokens = world.ask(6)
        time.sleep(2 if hurry else 12)
        waits = threading.Thread(
            target=world.call, args=("GET", f"/requests/{before[0]}/certificate", "sign"), daemon=True
        )
        waits.start()
        time.sleep(0.5)
        took = world.kill(signal.SIGTERM)
    world.start()
    found = world.judged(tokens, [], world.settled(tokens))
    found["stopped"] += took > 20
    return found


def crashed(world: World, hurry: bool) -> Counter[str]:
    """The server dies and comes back, again and again."""
    tokens = list[str]()
    for _ in range(1 if hurry else 4):
        tokens += world.ask(6)
        time.sleep(world.chance.uniform(0.05, 1.5))
        world.server.stop()
        time.sleep(0.5)
        world.server.start()
    return world.judged(tokens, [], world.settled(tokens))


def cut(world: World, hurry: bool) -> Counter[str]:
    """Every session of the service is ended by the server, as a failover does."""
    tokens = list[str]()
    for _ in range(2 if hurry else 8):
        tokens += world.ask(4)
        time.sleep(world.chance.uniform(0.02, 0.6))
        world.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'clerk'")
    return world.judged(tokens, [], world.settled(tokens))


def triggered(world: World, hurry: bool) -> Counter[str]:
    """A trigger keeps some rows, one raises, and a foreign key waits for the commit."""
    some = [world.ids.pop() for _ in range(9)]
    text = "region || '/' || number" if world.kind == "composite" else "id::text"
    old = text.replace("region", "OLD.region").replace("number", "OLD.number").replace("id:", "OLD.id:")
    names = ", ".join(f"'{name}'" for name in some[:3])
    raising = ", ".join(f"'{name}'" for name in some[3:5])
    for each in (
        f"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF {old} IN ({raising}) THEN RAISE EXCEPTION 'no'; END IF; "
        f"IF {old} IN ({names}) THEN RETURN NULL; END IF; RETURN OLD; END$$",
        f"CREATE TRIGGER keep BEFORE DELETE ON {world.table} FOR EACH ROW EXECUTE FUNCTION keep()",
        f"CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF {old} = '{some[5]}' THEN RAISE EXCEPTION 'no'; END IF; RETURN NULL; END$$",
        f"CREATE CONSTRAINT TRIGGER later AFTER DELETE ON {world.table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION later()",
    ):
        world.run(each)
    tokens = world.ask(9, some)
    states = world.settled(tokens)
    found = world.judged(tokens, tokens[:6], states)
    world.run(f"DROP TRIGGER keep ON {world.table}")
    world.run(f"DROP TRIGGER later ON {world.table}")
    world.run("DROP FUNCTION keep, later")
    return found


def slow(world: World, hurry: bool) -> Counter[str]:
    """Half-open connections by the hundred beside requests; the webhook that trickles is there in every row."""
    with_open = half_open(world.service.port, 100 if hurry else 600)
    tokens = world.ask(6)
    found = world.judged(tokens, [], world.settled(tokens))
    for one in with_open:
        one.close()
    return found


def odd(world: World, hurry: bool) -> Counter[str]:
    """Names that are in no table, or that the key's type cannot hold, between sound ones: they are refused, each alone."""
    names = ["nobody", "9" * 40, "00000000-0000-0000-0000-000000000000", "a/b", "1/", "' OR 1=1 --", "\u4e2d"]
    tokens = world.ask(len(names), names)
    sound = world.ask(6)
    states = world.settled(tokens + sound)
    found = world.judged(sound, [], states)
    found["tried"] += len(tokens)
    found["refused alone"] += sum(states[token] == "refused" for token in tokens)
    found["lost"] += sum(states[token] != "refused" for token in tokens)
    return found


def put_back(world: World, hurry: bool) -> Counter[str]:
    """A backup from before a deletion is put in the place of the server's folder."""
    world.server.stop()
    backup = world.folder / "backup"
    shutil.rmtree(backup, ignore_errors=True)
    subprocess.run(["cp", "-a", str(world.server.data), str(backup)], check=True)
    world.server.start()

    def restore() -> None:
        world.server.stop()
        world.server.data.rename(world.server.folder / "right")
        subprocess.run(["cp", "-a", str(backup), str(world.server.data)], check=True)
        world.server.start()

    return an_older_one(world, restore)


def cut_off(world: World, hurry: bool) -> Counter[str]:
    """A standby that was cut off before a deletion takes over at the server's address."""
    follower = world.server.standby()
    world.server.wait_for(follower)
    follower.stop()
    return an_older_one(world, lambda: world.server.fail_over(follower, "right"))


def an_older_one(world: World, take_its_place: Callable[[], None]) -> Counter[str]:
    """An older state answers at the server's address: no release and no new paper comes of it. When the right one is back, what waited goes on."""
    tokens = world.ask(6)
    found = world.judged(tokens, [], world.settled(tokens))
    releases = Ledger.read(Layout.at(world.path).ledger).releases
    take_its_place()
    for _ in range(40):  # its counter runs past the one of the history that was lost
        world.run("SELECT pg_current_xact_id()")
    later = world.ask(3)
    states = world.settled(later, 12.0)
    found["false papers"] += sum(state == "published" for state in states.values())
    found["false papers"] += Ledger.read(Layout.at(world.path).ledger).releases > releases
    found["told"] += world.call("GET", "/health", "read")[0] == 503 or "quarantined" in states.values()
    world.server.stop()
    shutil.rmtree(world.server.data)
    (world.server.folder / "right").rename(world.server.data)
    world.server.start()
    for _ in range(20):  # what was set aside meanwhile is tried again where somebody asks
        aside = [token for token, state in world.settled(later, 20.0).items() if state == "quarantined"]
        for token in aside:
            world.call("POST", f"/requests/{token}/retry", "publish", {})
        if not aside:
            break
        time.sleep(1)
    return found + world.judged(later, [], world.settled(later))


def taken_over(world: World, hurry: bool) -> Counter[str]:
    """The server dies, and a standby that has everything takes over at its address."""
    follower = world.server.standby()
    before = world.ask(3)
    world.settled(before)
    world.server.wait_for(follower)
    world.server.fail_over(follower, "former")
    tokens = before + world.ask(3)
    found = world.judged(tokens, [], world.settled(tokens))
    shutil.rmtree(world.server.folder / "former")
    return found


TRIALS: dict[str, Callable[[World, bool], Counter[str]]] = {
    "kill -9 of the service at a random instant": killed,
    "a lock elsewhere, and SIGTERM while it lasts": locked,
    "the server dies and comes back": crashed,
    "every session is cut": cut,
    "triggers that keep or refuse rows, at once and at the commit": triggered,
    "half-open connections": slow,
    "names that no table has or its key cannot hold": odd,
    "a standby takes over": taken_over,
    "a standby that was cut off takes over, then the right one": cut_off,
    "a backup is put back, then the right one": put_back,
}


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    programs = server_folder()
    if programs is None:
        raise SystemExit("PostgreSQL is not installed (Debian: postgresql)")
    with started(programs, "postgres" if os.geteuid() == 0 else None) as server:
        with psycopg.connect(server.address(), autocommit=True) as connection:
            connection.execute("CREATE ROLE clerk LOGIN")
        yield server


def rows(quick: bool, count: int, kinds: list[str], words: str = "") -> Iterator[tuple[str, str, Counter[str]]]:
    with mother() as begun, memory_folder() as folder:
        (folder / "secrets.json").write_text(json.dumps(token_file(folder / "tokens.toml")))
        main_command(["keygen", str(folder / "key.pem")])
        (folder / "secret").write_text(SECRET)
        (folder / "secret").chmod(0o600)
        for kind in kinds:
            with served(folder) as server:
                world = World(begun, folder, server, kind, count)
                try:
                    for fault, trial in ((name, trial) for name, trial in TRIALS.items() if words in name):
                        found = trial(world, quick)
                        print(fault, kind, dict(found), file=sys.stderr, flush=True)
                        yield fault, kind, found
                    if find_spec("mlflow"):
                        yield "versions in MLflow at the end: one", kind, versions(world)
                finally:
                    world.end()


def versions(world: World) -> Counter[str]:
    import mlflow

    client = mlflow.MlflowClient(f"sqlite:///{world.folder / f'mlflow-{world.kind}.db'}")
    last, found = time.monotonic() + 60, 2
    while (
        found > 1 and time.monotonic() < last
    ):  # a release that is in the ledger is put there a moment later, then the one before goes
        found = len(client.search_model_versions("name = 'people'"))
        time.sleep(0.2)
    return Counter(tried=1, lost=int(found == 0), twice=int(found > 1))


def table(found: list[tuple[str, str, Counter[str]]], count: int) -> str:
    lines = [
        "# Faults tried on the service over a database",
        "",
        f"Made by `make database-faults` (`python -m tests.service.database_faults`): PostgreSQL with {count} rows, a role that is no",
        "superuser, keys of three types; a webhook that trickles, one that answers, and a client like Fides beside every row; models go to a",
        f"folder{' and to MLflow' if find_spec('mlflow') else ''}. The database and the ledger are asked past the service.",
        "",
        "*Refused alone*: whose rows the database keeps, or that are nowhere, beside others that are done. *lost*: accepted and not done, or",
        "told to be done and not so. *twice*: in the ledger more than once. *false papers*: a certificate of a row that is there, or that does",
        "not verify; a receiver told before it was so; a release of a backup that was put back. *stopped*: a sound request afterwards is",
        f"not published within {_PATIENCE:g} seconds, or SIGTERM takes over 20 seconds.",
        "",
        "| fault | key | requests | refused alone | " + " | ".join(BAD) + " |",
        "|---|---|---:|---:|" + "---:|" * len(BAD),
    ]
    total: Counter[str] = sum((counted for _, _, counted in found), Counter[str]())
    for fault, kind, counted in [*found, ("**all**", "", total)]:
        numbers = " | ".join(str(counted[name]) for name in ("tried", "refused alone", *BAD))
        lines.append(f"| {fault} | {kind} | {numbers} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--key", action="append", choices=list(KEYS))
    parser.add_argument("--fault", default="", help="only those whose name has these words")
    parser.add_argument("--patience", type=float, default=_PATIENCE)
    parsed = parser.parse_args()
    globals()["_PATIENCE"] = parsed.patience
    found = list(rows(parsed.quick, parsed.rows, parsed.key or list(KEYS), parsed.fault))
    text = table(found, parsed.rows)
    print(text)
    if parsed.out is not None:
        parsed.out.write_text(text)
    return int(any(counted[name] for _, _, counted in found for name in BAD))


if __name__ == "__main__":
    raise SystemExit(main())
