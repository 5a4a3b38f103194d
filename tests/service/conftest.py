"""Small stores of many persons, and a service over them that is asked by HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("noisygd_delete_server", reason="noisygd-delete-server is not installed")
from noisygd_delete_server import TokenFile, application, new_token
from noisygd_delete_server.messages import Hooks
from noisygd_delete_server.service import Service
from starlette.testclient import TestClient

from noisygd_delete import Records
from noisygd_delete.curator.stream import Batching
from noisygd_delete.store import Store
from noisygd_delete.store.disk import Disk
from tests.store.conftest import SCHEMA, Crash, CrashAt, plan, tmp_path

from .processes import serving

__all__ = ["serving", "tmp_path"]  # fixtures

ROLES = ("request", "publish", "read", "sign")
SECRET = "whsec_" + "c2VjcmV0LW9mLXRoZS1kZXNrLWZvci10ZXN0cy0xMjM0"


def name(k: int) -> str:
    return f"identifier-token-{k:05d}"


def person(k: int) -> str:
    return f"subject-token-{k // 2:05d}"


def raw(k: int) -> dict[str, Any]:
    """A row as a client sends it."""
    return {"a": 0.1, "b": -0.2, "c": 0.05 * (k % 7), "y": "yes"}


def make_store(path: Path, rows: int = 60, first: int = 0, **changes: Any) -> Path:
    """A store that has learned, of records from the number `first` on."""
    values = np.random.default_rng(first + 7).normal(size=(rows, 3))
    values /= np.linalg.norm(values, axis=1, keepdims=True) * (1 + 2.0**-22)
    numbers = range(first, first + rows)
    table = Records(
        values.astype(np.float32),
        [1.0 - 2 * (k % 2) for k in numbers],
        [name(k) for k in numbers],
        [person(k) for k in numbers],
        slots=rows + 4,
    )
    with Store.create(path, table, SCHEMA, plan(slots=rows + 4, **changes)) as store:
        store.learn()
    return path


def killed_at_every_change(look: Callable[[Disk], object], then: Callable[[], object] = lambda: None) -> int:
    """Looks, each killed one change of the disk later than the one before, until one ends; how many were killed."""
    for at in range(1000):
        try:
            look(CrashAt(at))
            return at
        except Crash:
            then()
    pytest.fail("no look ended")


@dataclass
class Desk:
    """A service, its clients by role, and what it has sent."""

    service: Service
    client: TestClient
    secrets: dict[str, str]
    sent: list[tuple[str, bytes, dict[str, str]]] = field(default_factory=list)

    def headers(self, role: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secrets[role]}"}

    def ask(self, role: str = "request", **asked: Any) -> Any:
        return self.client.post("/requests", json=asked, headers=self.headers(role))

    def look(self, token: str, role: str = "read") -> Any:
        return self.client.get(f"/requests/{token}", headers=self.headers(role))

    def state(self, token: str) -> str:
        return str(self.look(token).json()["state"])

    def get(self, path: str, role: str = "read") -> Any:
        return self.client.get(path, headers=self.headers(role))

    def post(self, path: str, role: str = "publish", **given: Any) -> Any:
        return self.client.post(path, headers=self.headers(role), **given)

    def turn(self) -> None:
        """What the writer and the messenger do when they wake."""
        self.service.writer.turn()
        self.service.messenger.turn()


def token_file(path: Path) -> dict[str, str]:
    """A file with one token for each role; role -> token."""
    secrets = {}
    path.touch(mode=0o600)
    for role in ROLES:
        secrets[role], lines = new_token(role, [role])
        with path.open("a") as file:
            file.write(lines)
    return secrets


Opened = Callable[..., Desk]


@pytest.fixture
def secrets(tmp_path: Path) -> dict[str, str]:
    """The token of each role; their file lies beside the stores."""
    return token_file(tmp_path / "tokens.toml")


@pytest.fixture
def opened(tmp_path: Path, secrets: dict[str, str]) -> Iterator[Opened]:
    """A function that begins a service over stores; their threads do not run, a test takes their turns."""
    begun: list[Any] = []

    def begin(
        *stores: Path, batch: int | None = 2, deadline: float | None = None, answers: int = 200, **options: Any
    ) -> Desk:
        sent: list[Any] = []

        def post(url: str, body: bytes, headers: Any) -> int:
            sent.append((url, body, dict(headers)))
            return answers

        options.setdefault("pace", lambda _: Batching(size=batch, deadline=deadline))
        service = Service(stores, TokenFile.read(tmp_path / "tokens.toml"), post=post, **options)
        client = TestClient(application(service, run=False), raise_server_exceptions=False)
        client.__enter__()
        begun.append(client)
        return Desk(service, client, secrets, sent)

    yield begin
    for client in begun:
        client.__exit__(None, None, None)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return make_store(tmp_path / "people")


@pytest.fixture
def hooks() -> Hooks:
    from noisygd_delete_server.webhooks import secret_from

    return Hooks({"https://desk.example/told": secret_from(SECRET)}, "https://fides.example/api/v1")
