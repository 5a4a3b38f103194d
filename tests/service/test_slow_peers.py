"""Peers that are slow on purpose: receivers, clients that never finish asking, a lock that somebody else holds."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from noisygd_delete_server import messages
from noisygd_delete_server.inbox import Inbox
from noisygd_delete_server.messages import Hooks, Messenger, post_once
from noisygd_delete_server.webhooks import secret_from

from noisygd_delete.store import Store, status
from noisygd_delete.store.layout import Layout

from .conftest import SECRET, make_store, name
from .processes import Begin, Receiver, Trickle, half_open


@pytest.fixture
def trickling() -> Iterator[str]:
    """A receiver that answers a byte a tenth of a second, without end."""
    peer = Trickle(0.1)
    yield peer.address
    peer.close()


@pytest.fixture
def prompt() -> Iterator[tuple[str, list[bytes]]]:
    got: list[bytes] = []
    peer = Receiver(lambda path, headers, body: got.append(body) or 204)
    yield peer.address + "/", got
    peer.close()


def test_a_receiver_that_trickles_is_cut_off(trickling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_PATIENCE", 1.0)
    began = time.monotonic()
    with pytest.raises(OSError, match=r".*"):
        post_once(trickling, b"{}", {"content-type": "application/json"})
    assert time.monotonic() - began < 60  # it would go on for hours


def test_one_that_trickles_stops_no_other(
    tmp_path: Path, trickling: str, prompt: tuple[str, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "_PATIENCE", 120.0)
    url, got = prompt
    inbox = Inbox(Layout.at(make_store(tmp_path / "people", rows=6)))
    messenger = Messenger(inbox, Hooks({trickling: secret_from(SECRET), url: secret_from(SECRET)}))
    messenger.start()
    for k in range(20):
        messenger.tell("published", {"request_id": f"t{k}"})
    last = time.monotonic() + 60
    while len(got) < 20 and time.monotonic() < last:
        time.sleep(0.05)
    assert {json.loads(body)["data"]["request_id"] for body in got} == {f"t{k}" for k in range(20)}
    began = time.monotonic()
    messenger.end()
    messenger.join(began + 1)  # the attempt under way is made again another time
    assert time.monotonic() - began < 30
    inbox.close()


@pytest.mark.skipif(os.name == "nt", reason="forks")
def test_others_are_served_beside_a_thousand_half_open_connections(
    tmp_path: Path, store: Path, secrets: dict[str, str], serving: Begin
) -> None:
    with serving(tmp_path, str(store), "--batch", "1") as service:
        opened = half_open(service.port, 1100)
        for k in range(10):
            asked = {"request_id": f"t{k}", "delete": [name(k)]}
            code, answer = service.call("POST", "/requests", secrets["request"], asked)
            assert code in (200, 202), answer
        slow = socket.create_connection(("127.0.0.1", service.port))
        slow.settimeout(30)
        slow.sendall(b"GET /live HTTP/1.1\r\n")
        began = time.monotonic()
        assert slow.recv(1) == b""  # cut off
        assert time.monotonic() - began < 15
        for connection in (*opened, slow):
            connection.close()
        assert service.call("GET", "/live", secrets["read"])[0] == 200
        assert service.end() == 0


@pytest.mark.skipif(os.name == "nt", reason="forks")
def test_a_body_in_chunks_of_a_byte_is_read_in_time(
    tmp_path: Path, store: Path, secrets: dict[str, str], serving: Begin
) -> None:
    """100,000 chunks: their lengths were added up anew at each."""
    body = json.dumps({"request_id": "t", "delete": [name(1)]}).encode().ljust(100_000)
    with serving(tmp_path, str(store), "--batch", "1") as service:
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            connection.settimeout(60)
            head = f"POST /requests HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {secrets['request']}\r\n"
            connection.sendall(head.encode() + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
            chunks = (b"1\r\n" + body[k : k + 1] + b"\r\n" for k in range(len(body)))
            connection.sendall(b"".join(chunks) + b"0\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 202")
        assert service.end() == 0


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_lock_elsewhere_keeps_nobody_from_stopping_it(
    tmp_path: Path, store: Path, secrets: dict[str, str], serving: Begin
) -> None:
    with serving(tmp_path, str(store), "--batch", "1") as service:
        with Store.open(store, wait=30):
            asked = {"request_id": "t", "delete": [name(1)]}
            assert service.call("POST", "/requests", secrets["request"], asked)[0] == 202
            time.sleep(1.5)
            lines = half_open(service.port, 20)
            began = time.monotonic()
            assert service.end() == 0
            assert time.monotonic() - began < 15
            for connection in lines:
                connection.close()
        assert status(store)["releases"] == 1
    with serving(tmp_path, str(store), "--batch", "1") as service:  # and what was accepted is done
        last = time.monotonic() + 30
        while status(store)["releases"] < 2 and time.monotonic() < last:
            time.sleep(0.1)
        assert status(store)["releases"] == 2
        assert service.end() == 0
