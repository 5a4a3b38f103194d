"""The service as a process of its own, asked over a real connection."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
# where a process finds all distributions
PATHS = os.pathsep.join([str(ROOT), *(str(ROOT / "packages" / name) for name in ("compliance", "server", "sources"))])
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Serving:
    """`noisygd-delete serve` in a process of its own, its log in a file."""

    def __init__(self, mother: subprocess.Popen[str], folder: Path, *arguments: str) -> None:
        self.log, self._mother = folder / "log.txt", mother
        self.log.touch(mode=0o600)
        self._started = self.log.stat().st_size
        arguments = ("serve", *arguments, "--tokens", str(folder / "tokens.toml"), "--port", "0")
        assert mother.stdin
        assert mother.stdout
        mother.stdin.write(json.dumps({"arguments": arguments, "log": str(self.log)}) + "\n")
        mother.stdin.flush()
        self.number, self.status = int(mother.stdout.readline()), None
        try:
            self.address = self._listening()
        except BaseException:
            self.end(signal.SIGKILL)
            raise

    def _listening(self) -> str:
        for _ in range(600):
            said = self.log.read_bytes()[self._started :].decode()
            for line in said.splitlines():
                if line.startswith("listening on "):
                    return line.removeprefix("listening on ")
            assert "noisygd-delete serve:" not in said, said
            time.sleep(0.05)
        raise AssertionError("it does not listen")

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def call(self, method: str, path: str, token: str | None, body: Any = None, **headers: str) -> tuple[int, Any]:
        """(status, JSON); status 0 where nobody answers."""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        if token is not None:
            request.add_header("Authorization", f"Bearer {token}")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)
        except (OSError, HTTPException) as error:
            self.failure = repr(error)
            return 0, None

    def kill(self) -> None:
        os.kill(self.number, signal.SIGKILL)

    def end(self, how: int = signal.SIGTERM) -> int:
        """Its exit status, once it has ended; the negative number of a signal that ended it."""
        if self.status is None:
            with suppress(ProcessLookupError):
                os.kill(self.number, how)
            assert self._mother.stdout
            self.status = int(self._mother.stdout.readline())
        return self.status


Begin = Callable[..., AbstractContextManager[Serving]]


@contextmanager
def mother(*modules: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has imported these modules too, and forks services."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.service.forking", *modules]
    environment = {**os.environ, **THREADS, "PYTHONPATH": PATHS, **variables}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin
        process.stdin.close()


@contextmanager
def mother_of_services(*modules: str, **variables: str) -> Iterator[Begin]:
    """What begins services as forks of one process."""
    with mother(*modules, **variables) as process:

        @contextmanager
        def begin(folder: Path, *arguments: str) -> Iterator[Serving]:
            made = Serving(process, folder, *arguments)
            try:
                yield made
            finally:
                made.end(signal.SIGKILL)

        yield begin


@pytest.fixture(scope="module")
def serving() -> Iterator[Begin]:
    with mother_of_services() as begin:
        yield begin


class Receiver:
    """A server on this machine that answers what `heard` says of the path, the headers and the body of a request."""

    def __init__(self, heard: Callable[[str, dict[str, str], bytes], int]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                self.send_response(heard(self.path, dict(self.headers), body))
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Trickle:
    """A receiver that takes any connection and answers a byte now and then, without end."""

    def __init__(self, pause: float) -> None:
        self._socket, self._pause = socket.create_server(("127.0.0.1", 0)), pause
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}/"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._drip, args=(self._socket.accept()[0],), daemon=True).start()

    def _drip(self, one: socket.socket) -> None:
        with one, suppress(OSError):
            for byte in b"HTTP/1.1 200 OK\r\nx-slow: " + b"a" * 10**6:
                one.sendall(bytes([byte]))
                time.sleep(self._pause)

    def close(self) -> None:
        self._socket.close()


def half_open(port: int, count: int) -> list[socket.socket]:
    """Connections that begin to ask and do not go on."""
    opened = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(b"POST /requests HTTP/1.1\r\nHost: x\r\nx: ")
        opened.append(connection)
    return opened
