"""Who hears of what was done: a server like Fides, and a receiver of signed webhooks."""

from __future__ import annotations

import random
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from noisygd_delete_compliance.request_rows import line_of
from noisygd_delete_server import Replayed, Verifier

from noisygd_delete.errors import InvalidRequest

from .conftest import SECRET


class PrivacyDesk:
    """Who hears of what was done: Fides, which is called back with the token that it gave, and a receiver of signed webhooks.
    Now and then it does not answer."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.resumed: Counter[str] = Counter()
        self.told: Counter[str] = Counter()
        self.faults: list[str] = []
        self._verifier, self._mutex = Verifier(SECRET), threading.Lock()
        desk = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                with desk._mutex:
                    code = desk.heard(self.path, dict(self.headers), body)
                self.send_response(code)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._draw = random.Random(3)

    def heard(self, path: str, headers: dict[str, str], body: bytes) -> int:
        if self._draw.random() < 0.1:
            return 503
        if path.startswith("/api/resume/"):
            token = path.removeprefix("/api/resume/")
            if headers.get("Authorization", headers.get("authorization")) != f"Bearer reply-{token}":
                self.faults.append(f"{path}: not the token that was given")
            self.resumed[token] += 1
            self._check_published(token)
            return 200
        try:
            message = self._verifier.check(headers, body)
            self.told[f"{message['type']} {message['data']['request_id']}"] += 1
            if message["type"] == "request.published":
                self._check_published(message["data"]["request_id"])
        except Replayed:
            pass
        except InvalidRequest as error:
            self.faults.append(str(error))
        return 200

    def _check_published(self, token: str) -> None:
        """By the ledger a release covers it, at the moment when somebody is told so."""
        line = line_of(self._path, token)
        if line.served is None or line.served.published is None or line.served.still_at:
            self.faults.append(f"{token}: told before it was so")

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
