"""Who hears of what was done: a server like Fides, and a receiver of signed webhooks."""

from __future__ import annotations

import random
import threading
from collections import Counter
from pathlib import Path

from noisygd_delete_compliance.request_rows import line_of
from noisygd_delete_server import Replayed, Verifier

from noisygd_delete.errors import InvalidRequest

from .conftest import SECRET
from .processes import Receiver


class PrivacyDesk:
    """Who hears of what was done: Fides, which is called back with the token that it gave, and a receiver of signed webhooks.
    Now and then it does not answer."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.resumed: Counter[str] = Counter()
        self.told: Counter[str] = Counter()
        self.faults: list[str] = []
        self._verifier, self._mutex, self._draw = Verifier(SECRET), threading.Lock(), random.Random(3)
        self._receiver = Receiver(self.heard)
        self.address, self.close = self._receiver.address, self._receiver.close

    def heard(self, path: str, headers: dict[str, str], body: bytes) -> int:
        with self._mutex:
            return 503 if self._draw.random() < 0.1 else self._taken(path, headers, body)

    def _taken(self, path: str, headers: dict[str, str], body: bytes) -> int:
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
