"""A small store whose every id, subject and row carries a token that occurs nowhere else."""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Budget, Records, Schema, losses, make_plan
from noisygd_delete.store import Store, verify
from noisygd_delete.store.disk import Disk

SLOTS, ROWS, WIDTH = 12, 9, 3
# databases of tests take gigabytes
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 4 << 30 else None
SCHEMA = Schema.from_dict(
    {
        "intercept": False,
        "id": "id",
        "subject": "person",
        "label": {"column": "y", "classes": ["no", "yes"]},
        "columns": {name: {"bounds": [-1, 1]} for name in ("a", "b", "c")},
    }
)


class Crash(BaseException):
    """The process dies here: nothing catches it."""


class CrashAt(Disk):
    """Dies at the k-th announced change; counts them."""

    def __init__(self, crash_at: int | None = None) -> None:
        self.crash_at, self.points = crash_at, []

    def reached(self, operation: str, path: Path) -> None:
        if len(self.points) == self.crash_at:
            raise Crash(f"{operation} {path.name}")
        self.points.append((operation, path.name))

    def fsync(self, descriptor: int) -> None:
        """A crash of the process alone loses nothing that was written; syncing would only take time."""


Act = Callable[[Store], object]


def nothing(store: Store | Path) -> None:
    """No act."""


def changes(path: Path, act: Act) -> list[tuple[str, str]]:
    """The changes of the disk that the act makes, on a copy, which stays beside the store as `whole`."""
    shutil.copytree(path, path.with_name("whole"))
    disk = CrashAt()
    with Store.open(path.with_name("whole"), disk=disk) as store:
        act(store)
    return disk.points


def crashed(path: Path, act: Act, at: int) -> bool:
    """Act with a crash before the `at`-th change; whether it happened."""
    try:
        with Store.open(path, disk=CrashAt(at)) as store:
            act(store)
    except Crash:
        return True
    return False


def in_flight(path: Path) -> bool:
    """Whether a request was accepted and is not finished."""
    return (path / "journal" / "request.json").exists()


def deaths(path: Path, act: Act, *, again: bool = False, step: int = 1) -> Iterator[tuple[Path, bool]]:
    """Copies of a store in which the act died, before one change after the other, and whether its request had been accepted by then.
    `again`: in every third one the recovery dies as well. What is left of a copy that was looked at is a store that verifies."""
    for at in range(0, len(changes(path, act)), step):
        copy = path.with_name("copy")
        shutil.copytree(path, copy)
        assert crashed(copy, act, at)
        accepted = in_flight(copy)
        if again and at % 3 == 0:
            crashed(copy, nothing, at // 3)
        yield copy, accepted
        assert verify(copy).faults == ()
        shutil.rmtree(copy)
    shutil.rmtree(path.with_name("whole"))


def name(k: int) -> str:
    return f"identifier-token-{k:04d}"


def person(k: int) -> str:
    return f"subject-token-{k // 2:04d}"


def row(k: int) -> np.ndarray:
    """A unit row whose twelve bytes are recognisable."""
    values = np.random.default_rng(1000 + k).normal(size=WIDTH)
    return (values / (np.linalg.norm(values) * (1 + 2.0**-23))).astype(np.float32)


def traces(k: int) -> list[bytes]:
    """The bytes that record k leaves: its id and its row, as a whole and value by value. Its label tells nothing."""
    return [name(k).encode(), row(k).tobytes(), *[value.tobytes() for value in row(k)]]


def found(root: Path, needles: list[bytes]) -> list[str]:
    """Files under `root` that hold any of the byte strings."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return [path.name for path in files for needle in needles if needle in path.read_bytes()]


def plan(slots: int = SLOTS, **changes):
    arguments = {"regularization": 0.5, "budget": Budget(order=4, dp=2.0, deletion=0.5), "method": "noisy-gd"}
    arguments |= {"rows_per_subject": 2, "utility": False, "features": WIDTH} | changes
    return make_plan(losses.Logistic(radius=1.0), records=slots, **arguments)


def records(slots: int = SLOTS) -> Records:
    numbers = range(ROWS)
    labels = [1.0 - 2 * (k % 2) for k in numbers]
    return Records(
        [row(k) for k in numbers], labels, [name(k) for k in numbers], [person(k) for k in numbers], slots=slots
    )


def sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def patch(path: Path, at: int, data: bytes) -> None:
    """Write these bytes over those of a file."""
    whole = path.read_bytes()
    path.write_bytes(whole[:at] + data + whole[at + len(data) :])


@contextmanager
def memory_folder() -> Iterator[Path]:
    """A folder in memory where there is one: a killed process loses nothing there that a disk would have kept, and no test
    waits for a disk."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    with memory_folder() as folder:
        yield folder


def contents(path: Path) -> dict[str, bytes]:
    """Every file of the store with its bytes."""
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}


@cache
def _learned(**facts) -> Path:
    folder = tempfile.mkdtemp(dir=MEMORY)
    atexit.register(shutil.rmtree, folder)
    with Store.create(Path(folder, "store"), records(), SCHEMA, plan(**facts)) as store:
        store.learn()
    return store.path


def made(path: Path, **changes) -> Path:
    """A store there that has learned, by a plan with these changes: a copy of one that is made once."""
    return shutil.copytree(_learned(**changes), path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store that has learned."""
    return made(tmp_path / "store")
