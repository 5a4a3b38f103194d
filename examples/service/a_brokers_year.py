"""A data broker's year: eight of California's deletion lists through the service, one release each, and a status for every line.

    python examples/service/a_brokers_year.py

Every 45 days a list of hashed addresses is put into a folder; here one follows the other. Data: a table of 400 invented people, in a folder
that is removed at the end. It needs noisygd-delete-server.
"""

import base64
import csv
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from datetime import date, timedelta
from importlib.util import find_spec
from pathlib import Path

if find_spec("noisygd_delete_server") is None:
    print("needs noisygd-delete-server")
    raise SystemExit(77)

ENGINE = [sys.executable, "-m", "noisygd_delete"]
PEOPLE, LISTS, EACH = 400, 8, 5
DELETED, NOT_FOUND = "3", "5"
SCHEMA = """id = "id"
[label]
column = "answer"
classes = ["no", "yes"]
[columns.age]
bounds = [0, 120]
"""
DROP = """folder = "drop"
names = "id"
identifiers = "identifiers.csv"
[lists]
Email = ["mail"]
"""


def engine(*words: str) -> str:
    return subprocess.run([*ENGINE, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def person(number: int) -> str:
    return f"person-{number:03}"


def hashed(number: int) -> str:
    """An address as the platform hashes it: SHA-256 of its lower case, in Base64."""
    return base64.b64encode(hashlib.sha256(f"{person(number)}@example.org".encode()).digest()).decode()


def put_list(number: int) -> Path:
    """Five people of the table and one who is not in it; the path of the answers that will come."""
    day = date(2026, 8, 1) + timedelta(days=45 * number)
    name = f"{day:%Y%m%d}_4821_Email.csv"
    lines = [
        f"L{number}line{k:06},{hashed(who)}" for k, who in enumerate([*range(EACH * number, EACH * (number + 1)), 999])
    ]
    Path("drop", name + ".part").write_text("\n".join(["ID,Hash", *lines, ""]))
    Path("drop", name + ".part").rename(Path("drop", name))  # there whole, or not at all
    return Path("drop", "answers", name)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    rows = [f"{person(k)},{20 + k % 60},{'yes' if k % 60 > 30 else 'no'}\n" for k in range(PEOPLE)]
    Path("people.csv").write_text("id,age,answer\n" + "".join(rows))
    Path("identifiers.csv").write_text(
        "id,mail\n" + "".join(f"{person(k)},{person(k).title()}@Example.org\n" for k in range(PEOPLE))
    )
    Path("schema.toml").write_text(SCHEMA)
    Path("drop.toml").write_text(DROP)
    Path("drop").mkdir()
    engine("plan", "--method", "noisy-gd", "--no-utility", "--out", "plan.toml")
    engine("init", "people", "--data", "people.csv", "--schema", "schema.toml", "--id", "id", "--plan", "plan.toml")
    engine("learn", "people")
    engine("keygen", "key.pem")
    made = engine(*["token", "tokens.toml", "--name", "desk", "--role", "read", "--role", "sign"])
    token = re.findall(r"\S{40,}", made)[-1]

    serving = [
        "serve",
        "people",
        "--tokens",
        "tokens.toml",
        "--key",
        "key.pem",
        "--port",
        "0",
        "--batch",
        "5",
        "--deadline",
        "60",
        "--drop",
        "drop.toml",
    ]
    log = Path("service.log")  # a pipe that nobody reads would fill up and stop the service
    with log.open("w") as said:
        service = subprocess.Popen([*ENGINE, *serving], stdout=said, stderr=subprocess.STDOUT)

    def wait_for(happened: Callable[[], bool]) -> None:
        """However slow the machine: as long as the service lives; the tests end an example that takes minutes."""
        while not happened():
            assert service.poll() is None, log.read_text()
            time.sleep(0.1)

    try:
        wait_for(lambda: re.search("^listening on .*\n", log.read_text(), re.MULTILINE) is not None)
        address = re.search(r"^listening on .*?(\S+)$", log.read_text(), re.MULTILINE)[1]
        statuses, releases = [], []
        for number in range(LISTS):
            answers = put_list(number)
            wait_for(answers.exists)
            with answers.open(newline="") as file:
                statuses.append([row["Status"] for row in csv.DictReader(file)])
            releases.append(json.loads(engine("status", "people", "--json"))["releases"])
        asked = urllib.request.Request(f"{address}/requests/drop-L0line000000/certificate")
        asked.add_header("Authorization", f"Bearer {token}")
        with urllib.request.urlopen(asked, timeout=30) as answer:
            certificate = answer.read().decode()
    finally:
        service.terminate()
        service.wait(60)
    gone = [person(k) for k in range(LISTS * EACH)]
    Path("gone.txt").write_text("\n".join([*gone, ""]))
    engine("verify", "people", "--absent", "gone.txt")
    left = json.loads(engine("status", "people", "--json"))["records"]
    os.chdir("/")

for number, (found, release) in enumerate(zip(statuses, releases, strict=True), start=1):
    print(
        f"list {number}: {found.count(DELETED)} deleted, {found.count(NOT_FOUND)} not found; release {release} is out"
    )
print(f"{left} people are left; none of the {len(gone)} erased names is in any byte of the store")

assert statuses == [[DELETED] * EACH + [NOT_FOUND]] * LISTS
assert releases == list(range(2, LISTS + 2))
assert left == PEOPLE - LISTS * EACH
assert '"signature"' in certificate
assert person(0) not in certificate

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 2.6), layout="constrained")
    days = [45 * number for number in range(LISTS)]
    axes.step([*days, 360], [PEOPLE - EACH * k for k in range(1, LISTS + 1)] + [left], where="post", color="tab:blue")
    for day, release in zip(days, releases, strict=True):
        axes.annotate(
            f"release {release}", (day, PEOPLE - EACH * (release - 1)), (3, 4), textcoords="offset points", fontsize=8
        )
    axes.set(xlabel="day of the broker's year", ylabel="people in the table", ylim=(left - 3, PEOPLE + 2))
    axes.set_title("Eight lists, eight releases, every line answered", loc="left")
    pyplot.savefig(picture)
