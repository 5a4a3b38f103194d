"""The service as a process: a crowd of clients, kills at any moment, a stop that loses nothing."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_compliance.register import Register

from noisygd_delete.store import Store, status, verify
from tests.store.conftest import found

from .conftest import make_store, name, person
from .processes import Begin, Serving

pytestmark = pytest.mark.skipif(os.name == "nt", reason="SIGKILL")


def settled(service: Serving, token: str, names: list[str], patience: float = 60.0) -> dict[str, str]:
    """The states of requests once none is on its way any more, or none has moved for so many seconds."""
    states: dict[str, str] = {}
    moved = time.monotonic()
    while time.monotonic() < moved + patience:
        before = dict(states)
        for one in names:
            if states.get(one) not in ("published", "refused"):
                code, answer = service.call("GET", f"/requests/{one}", token)
                states[one] = answer["state"] if code == 200 else str(code)
        if all(state in ("published", "refused") for state in states.values()):
            return states
        if states != before:
            moved = time.monotonic()
        time.sleep(0.1)
    return states


def edits_of(path: Path) -> Counter[str]:
    """How often each request is in the ledger."""
    from noisygd_delete_compliance.request_rows import register_lines

    assert verify(path).passed
    with Store.open(path) as store:
        committed = [entry.commitment for entry in store.ledger.outline if entry.commitment is not None]
        known = {named: token for token, (named, _) in Register(store.request_log).cases().items()}
    assert all(line.served is None or line.served.published for line in register_lines(path))
    return Counter(known[named] for named in committed)


def crowd(service: Serving, token: str, asked: list[tuple[int, Any]], clients: int) -> Counter[str]:
    """Send all of it, shared out among clients at once; (expected status, body) -> how many were answered so."""
    counted: Counter[str] = Counter()
    mutex = threading.Lock()

    def client(part: list[tuple[int, Any]]) -> None:
        for expected, body in part:
            code, _ = service.call("POST", "/requests", token, body)
            with mutex:
                counted[
                    "as expected" if code == expected or (expected == 202 and code == 200) else f"{code} for {expected}"
                ] += 1

    threads = [threading.Thread(target=client, args=(asked[k::clients],)) for k in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counted


def requests_of(count: int, rows: int, seed: int) -> tuple[list[tuple[int, Any]], int]:
    """So many requests: a fifth sent twice, a tenth bad, a tenth for nobody; and how many of them erase."""
    draw = random.Random(seed)
    good = [{"request_id": f"token-{k}", "delete": [name(k)]} for k in range(min(rows, int(count * 0.6)))]
    nobody = [{"request_id": f"nobody-{k}", "delete": [f"unknown-{k}"]} for k in range(count // 10)]
    bad: list[Any] = [
        draw.choice([b"{", {}, {"delete": []}, {"insert": 1}, {"delete": ["a"], "request_id": "../x"}])
        for _ in range(count // 10)
    ]
    again = [draw.choice(good) for _ in range(count - len(good) - len(nobody) - len(bad))]
    asked = [(202, one) for one in (*good, *nobody, *again)]
    asked += [(400 if isinstance(one, bytes) else 422, one) for one in bad]
    draw.shuffle(asked)
    return asked, len(good)


@pytest.mark.parametrize("count", [120, pytest.param(2000, marks=pytest.mark.long)])
def test_a_crowd_is_served_each_once(
    tmp_path: Path, secrets: dict[str, str], serving: Begin, count: int, record_property: Any
) -> None:
    asked, erased = requests_of(count, rows=2000, seed=count)
    path = make_store(tmp_path / "people", rows=max(100, int(count * 0.7)))
    with serving(tmp_path, str(path), "--batch", str(max(10, count // 20)), "--deadline", "1") as service:
        counted = crowd(service, secrets["request"], asked, clients=8)
        names = sorted({one["request_id"] for code, one in asked if code == 202})
        states = Counter(settled(service, secrets["read"], names, 300).values())
        assert service.end() == 0
    record_property(
        "evidence",
        f"{count} requests by 8 clients: {dict(counted)}; {dict(states)}; {status(path)['releases']} releases",
    )
    assert counted == {"as expected": count}
    assert states == {"published": erased, "refused": count // 10}
    assert edits_of(path) == Counter(f"token-{k}" for k in range(erased))
    assert found(path, [name(k).encode() for k in range(0, erased, 7)]) == []
    said = (tmp_path / "log.txt").read_text()
    assert "identifier-token" not in said
    assert "token-1" not in said


@pytest.mark.parametrize("kills", [6, pytest.param(200, marks=pytest.mark.long)])
def test_killed_at_any_moment_each_request_is_done_once(
    tmp_path: Path, secrets: dict[str, str], serving: Begin, kills: int, record_property: Any
) -> None:
    """Two stores, requests under way, kill -9 at random instants; a client sends again what it had no answer to."""
    draw = random.Random(kills)
    rows = 40 + 4 * kills
    stores = make_store(tmp_path / "first", rows), make_store(tmp_path / "second", rows, first=rows // 2)
    sent = 0
    for _ in range(kills):
        with serving(tmp_path, *map(str, stores), "--batch", "2") as service:
            timer = threading.Timer(draw.uniform(0.0, 1.0), service.kill)
            timer.start()
            while 2 * sent < rows:
                code, _ = service.call(
                    "POST",
                    "/requests",
                    secrets["request"],
                    {"request_id": f"token-{sent}", "subjects": [person(2 * sent)]},
                )
                assert code in (0, 200, 202), code
                sent += code != 0
                if code == 0:
                    break
            timer.join()
    with serving(tmp_path, *map(str, stores), "--batch", "2", "--deadline", "0.2") as service:
        names = [f"token-{k}" for k in range(sent)]
        states = settled(service, secrets["read"], names, 600)
        assert service.end() == 0
    record_property("evidence", f"{kills} kills, {sent} requests accepted, all published once")
    assert sent > kills // 2
    assert set(states.values()) == {"published"}
    for path, first in zip(stores, (0, rows // 2), strict=True):
        expected = {f"token-{k}" for k in range(sent) if first <= 2 * k < first + rows}
        done = edits_of(path)
        assert {token: count for token, count in done.items() if count != 1} == {}
        assert expected <= set(done) <= expected | {f"token-{sent}"}
        assert found(path, [person(2 * k).encode() for k in range(sent)]) == []
        assert not list((path / "service").glob("*/*.json")) if (path / "service").exists() else True


def test_a_stop_loses_nothing(store: Path, tmp_path: Path, secrets: dict[str, str], serving: Begin) -> None:
    with serving(tmp_path, str(store), "--batch", "50", "--deadline", "3600") as service:
        assert (
            service.call("POST", "/requests", secrets["request"], {"request_id": "one", "delete": [name(1)]})[0] == 202
        ), service.failure
        assert service.end() == 0
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    (incoming / "may.jsonl").write_text(json.dumps({"request_id": "two", "delete": [name(2)]}) + "\n")
    with serving(tmp_path, str(store), "--batch", "1", "--folder", str(incoming)) as service:
        assert settled(service, secrets["read"], ["one", "two"]) == {"one": "published", "two": "published"}
        assert service.end(signal.SIGINT) == 0
