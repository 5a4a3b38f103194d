"""A file in a stranger's folder is read within limits: longer than memory, it is refused or of no use, and nothing else changes."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest

from noisygd_delete import Budget, EditRequest
from noisygd_delete.errors import InvalidRequest, StoreError
from noisygd_delete.store import Store, journal, verify
from noisygd_delete.store.layout import Layout

from .conftest import made, name

LENGTH = 1 << 29  # bytes, in no block of the disk
MEMORY = 1 << 28
SUMS = {"method": "sufficient-statistics", "releases": 8, "budget": Budget.from_gdp(dp=2.0, deletion=0.5)}


def lengthen(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.touch(mode=0o600)
    with path.open("r+b") as file:
        file.truncate(LENGTH)


PLACES = (
    "journal/request.json",
    "journal/draw.bin",
    "patch.bin",
    "plan.json",
    "schema.json",
    "seal.json",
    "judged.json",
    "publishers.json",
    "held-out.json",
    "model-1.safetensors",
    "records/features.f32",
    "records/ids.names",
    "register.sqlite-journal",
    "lock",
)


@pytest.mark.parametrize(
    ("method", "place"),
    [*(("noisy-gd", place) for place in PLACES), *(("sufficient-statistics", place) for place in PLACES[:3])],
)
def test_a_file_longer_than_memory(tmp_path: Path, method: str, place: str) -> None:
    """`sufficient-statistics` reads patches and draws. It is neither held in memory nor written out, a hole being erased already."""
    changes = SUMS if method == "sufficient-statistics" else {}
    path = made(tmp_path / "store", **changes)
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(1)], request_id="r"), publish=False)
    lengthen(path / place)
    tracemalloc.start()
    for ask in (lambda: Store.open(path).close(), lambda: deleted(path), lambda: verify(path)):
        with suppress(StoreError):
            ask()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MEMORY
    assert sum(file.stat().st_blocks * 512 for file in path.rglob("*")) < MEMORY


def deleted(path: Path) -> None:
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(2)], request_id="q"))


def test_a_request_that_could_not_be_read_back_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "store")
    monkeypatch.setattr(journal, "longest_request", lambda layout: 200)
    with Store.open(path) as store:
        with pytest.raises(InvalidRequest):
            store.serve(EditRequest.delete([name(1)], request_id="r"))
        assert name(1) in store.records
    monkeypatch.undo()
    deleted(path)


def test_the_longest_request_is_read_back(tmp_path: Path) -> None:
    """All rows of a table replaced by ones with the longest names, in letters that JSON writes with twelve characters."""
    path = made(tmp_path / "store")
    with Store.open(path) as store:
        store.serve(EditRequest.delete(list(store.records.ids)), publish=False)
        long = [f"{k}" + "𝔞" * 998 for k in range(9)]
        rows = [[0.1, 0.2, 0.3]] * 9
        store.serve(EditRequest.insert(long, rows, [1.0] * 9, subjects=[f"p{one}" for one in long]), publish=False)
        assert sorted(store.records.ids) == sorted(long)
    assert not journal.read_in_flight(Layout.at(path))
