"""A service on this machine takes three requests by HTTP, erases, publishes once for all, and hands out a signed certificate.

    python examples/service/a_request_by_http.py

Data: a table of 400 invented people, in a folder that is removed at the end. It needs the extra `serve`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path

if find_spec("starlette") is None:
    print("needs the extra serve")
    raise SystemExit(77)

ENGINE = [sys.executable, "-m", "noisygd_delete"]
SCHEMA = """id = "id"
[label]
column = "answer"
classes = ["no", "yes"]
[columns.age]
bounds = [0, 120]
"""


def engine(*words: str) -> str:
    return subprocess.run([*ENGINE, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def call(path: str, body: dict | None = None) -> dict:
    request = urllib.request.Request(address + path, data=body and json.dumps(body).encode())
    request.add_header("Authorization", f"Bearer {token}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    Path("people.csv").write_text(
        "id,age,answer\n"
        + "".join(f"person-{k:03},{20 + k % 60},{'yes' if k % 60 > 30 else 'no'}\n" for k in range(400))
    )
    Path("schema.toml").write_text(SCHEMA)
    engine(
        "init",
        "people",
        "--data",
        "people.csv",
        "--schema",
        "schema.toml",
        "--id",
        "id",
        "--method",
        "sharp",
        "--no-utility",
    )
    engine("learn", "people")
    engine("keygen", "key.pem")
    token = re.findall(
        r"\S{40,}",
        engine("token", "tokens.toml", "--name", "desk", "--role", "request", "--role", "read", "--role", "sign"),
    )[-1]

    # one release for three requests, or for what waits after a minute
    arguments = [
        "serve",
        "people",
        "--tokens",
        "tokens.toml",
        "--key",
        "key.pem",
        "--port",
        "0",
        "--batch",
        "3",
        "--deadline",
        "60",
    ]
    service = subprocess.Popen([*ENGINE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        address = next(line.split()[-1] for line in service.stdout if line.startswith("listening on "))
        began, states = time.monotonic(), []
        for number in (3, 14, 159):
            first = call("/requests", {"request_id": f"desk-{number}", "delete": [f"person-{number:03}"]})
            states.append((time.monotonic() - began, f"person-{number:03}", first["state"]))
        again = call(
            "/requests", {"request_id": "desk-3", "delete": ["person-003"]}
        )  # a desk that is not sure asks twice: done once
        while (last := call("/requests/desk-159"))["state"] != "published":
            time.sleep(0.2)
        states += [
            (time.monotonic() - began, f"person-{number:03}", call(f"/requests/desk-{number}")["state"])
            for number in (3, 14, 159)
        ]
        certificates = call("/requests/desk-14/certificate")
    finally:
        service.terminate()
        service.wait(30)
        service.stdout.close()
    Path("erased.txt").write_text("person-003\nperson-014\nperson-159\n")
    engine("verify", "people", "--absent", "erased.txt")
    left = [file.name for file in Path("people").rglob("*") if file.is_file() and b"person-159" in file.read_bytes()]
    os.chdir("/")

words = json.dumps(certificates)
print("asked by HTTP, answered:", ", ".join(f"{who} {state}" for _, who, state in states[:3]))
print(f"asked again under the same id: {again['state']}, not done twice")
print("later:", ", ".join(f"{who} {state}" for _, who, state in states[3:]))
print(f"a signed certificate of {len(words):,} characters; the erased id is in no file of the store")

assert {state for _, _, state in states[:3]} <= {"accepted", "pending", "published"}
assert {state for _, _, state in states[3:]} == {"published"}
assert '"signature"' in words
assert "person-014" not in words
assert left == []

if picture := os.environ.get("PICTURE"):
    from matplotlib import pyplot

    _, axes = pyplot.subplots(figsize=(7, 2.6), layout="constrained")
    end = states[-1][0]
    for line, (asked, _, _) in enumerate(states[:3]):
        axes.plot([asked / end, 1], [line, line], color="0.7", linewidth=6, zorder=1)
        axes.plot(asked / end, line, "o", color="tab:blue", label="kept on disk, answered" if line == 0 else None)
        axes.plot(1, line, "s", color="tab:green", label="in the published model's certificate" if line == 0 else None)
    axes.set(yticks=range(3), yticklabels=[who for _, who, _ in states[:3]], ylim=(-0.6, 3.6), xticks=[], xlabel="time")
    axes.set_title("Three requests by HTTP, one release", loc="left")
    axes.legend(loc="upper center", ncols=2)
    pyplot.savefig(picture)
