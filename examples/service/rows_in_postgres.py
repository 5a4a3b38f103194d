"""Rows in PostgreSQL: the database keeps the only copy; who is erased there is gone from the model, and from where else, is counted.

    python examples/service/rows_in_postgres.py

Data: a table of 400 invented people in a server of its own, in a folder that is removed at the end. It needs PostgreSQL's programs and the extra
`postgres`; root needs the user `postgres`, for a server does not run as root.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import psycopg
except ImportError:
    psycopg = None

PROGRAMS = Path(shutil.which("initdb") or max(Path("/usr/lib/postgresql").glob("*/bin/initdb"), default="/")).parent
if psycopg is None or not (PROGRAMS / "initdb").exists():
    print("needs PostgreSQL and the extra postgres")
    raise SystemExit(77)

PEOPLE, ERASED = 400, "person-017"
SCHEMA = """id = "id"
[label]
column = "answer"
classes = ["no", "yes"]
[columns.age]
bounds = [0, 120]
"""
OWNER = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}


def server(program: str, *words: str) -> None:
    subprocess.run([PROGRAMS / program, *words], check=True, cwd="/", stdout=subprocess.DEVNULL, timeout=60, **OWNER)


def engine(*words: str) -> str:
    command = [sys.executable, "-m", "noisygd_delete", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def times(folder: Path) -> int:
    """How often the erased person's name stands in the files of a folder."""
    return sum(file.read_bytes().count(ERASED.encode()) for file in folder.rglob("*") if file.is_file())


with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as rows_at, tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    if OWNER:
        shutil.chown(rows_at, "postgres", "postgres")
    data, store = Path(rows_at, "data"), Path(folder, "store")
    server("initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8")
    options = f"-c listen_addresses='' -c unix_socket_directories='{rows_at}' -c wal_recycle=off"
    server("pg_ctl", "start", "-w", "-D", str(data), "-l", f"{rows_at}/log", "-o", options)
    address = f"postgresql://postgres@/postgres?host={rows_at}"
    try:
        with psycopg.connect(address, autocommit=True) as database:
            database.execute("CREATE TABLE people (id text PRIMARY KEY, age int, answer text)")
            people = [(f"person-{k:03}", 20 + k % 60, "yes" if k % 60 > 30 else "no") for k in range(PEOPLE)]
            database.cursor().executemany("INSERT INTO people VALUES (%s, %s, %s)", people)
            Path("schema.toml").write_text(SCHEMA)
            # the store is given an address: it takes no row and no name
            engine(
                *["init", "store", "--source", address, "--table", "people", "--id", "id", "--schema", "schema.toml"]
            )
            engine("learn", "store")
            database.execute("CHECKPOINT")
            places = {"the table's files": data / "base", "the write-ahead log": data / "pg_wal", "the store": store}
            counted = [{name: times(place) for name, place in places.items()}]

            # one transaction in the database, then a model of the rows that are there; the names are counted in its snapshot
            said = engine("delete", "store", ERASED, "--request-id", "9f2c31")
            (left,) = database.execute("SELECT count(*) FROM people").fetchone()
            (there,) = database.execute("SELECT count(*) FROM people WHERE id = %s", [ERASED]).fetchone()
            database.execute("CHECKPOINT")
            counted.append({name: times(place) for name, place in places.items()})

            # the row's bytes stay in the files until the server tidies up: that is the database's work, and its owner's to order
            database.execute("VACUUM FULL people")
            database.execute("ANALYZE people")  # its statistics may name people
            database.execute("VACUUM FULL pg_statistic")
            database.execute("CHECKPOINT")
            counted.append({name: times(place) for name, place in places.items()})
        engine("keygen", "key.pem")
        engine("certificate", "store", "--request-id", "9f2c31", "--key", "key.pem", "--out", "certificate.json")
        engine("verify-certificate", "certificate.json")
        certificate = Path("certificate.json").read_text()
    finally:
        server("pg_ctl", "stop", "-w", "-m", "immediate", "-D", str(data))
    os.chdir("/")

moments = ("learned", "deleted", "vacuumed")
print(said.strip())
print(f"\nHow often the name of {ERASED} stands in")
for name in places:
    print(f"{name:20}" + ", ".join(f"{moment} {count[name]}" for moment, count in zip(moments, counted, strict=True)))

assert left == PEOPLE - 1
assert there == 0
assert counted[0]["the table's files"] > 0
assert counted[2]["the table's files"] == 0
assert all(count["the store"] == 0 for count in counted)
assert ERASED not in certificate

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 2.6), layout="constrained")
    for number, (moment, count) in enumerate(zip(moments, counted, strict=True)):
        bars = axes.barh(
            [place + 0.27 * number for place in range(len(places))], list(count.values()), 0.25, label=moment
        )
        axes.bar_label(bars, padding=3, fontsize=8)
    axes.set_yticks([place + 0.27 for place in range(len(places))], list(places))
    axes.invert_yaxis()
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(
        xlabel="how often the erased person's name stands there",
        xlim=(0, 1.15 * max(map(max, (c.values() for c in counted)))),
    )
    axes.legend(frameon=False, fontsize=8)
    axes.set_title("Erased in the database; the store never held the name", loc="left")
    pyplot.savefig(picture)
