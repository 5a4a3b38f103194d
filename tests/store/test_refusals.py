"""What the store reads that is not what it wrote: refused by name, and nothing is changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noisygd_delete import EditRequest
from noisygd_delete.errors import InvalidParameter, InvalidRequest, StoreCorrupt, StoreError
from noisygd_delete.records import EditCounts
from noisygd_delete.store import Store, journal
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.tombstones import Tombstones

from .conftest import name, row


def test_a_path_that_no_system_takes_is_no_store(tmp_path: Path) -> None:
    for path in (tmp_path / ("x" * 300), tmp_path / "absent"):
        with pytest.raises(StoreError):
            Store.open(path)


def accepted(store: Store) -> dict:
    """What the journal holds while a replacement is in flight."""
    edits = store.records.resolve(EditRequest.replace({name(3): (row(70), 1.0)}))
    return json.loads(journal.InFlight(2, edits, True, None, (None,), "0" * 64).to_bytes().partition(b"\n")[2])


def sealed(fields: dict) -> bytes:
    return journal.add_checksum(json.dumps(fields).encode())


@pytest.mark.parametrize(
    "damage",
    [
        {"format": 99},
        {"slots": [3, 3]},
        {"slots": [-1]},
        {"labels": [float("nan")]},
        {"labels": []},
        {"labels": [1.0, 1.0]},
        {"subjects": []},
        {"rows": ""},
        {"rows": "not base64"},
        {"rows": "AADAfwAAwH8AAMB/"},  # three NaNs
        {"counts": {**EditCounts(deleted=2).to_dict()}},
        {"width": 10**12},
    ],
    ids=str,
)
def test_a_journal_whose_parts_do_not_fit_is_corrupt_even_under_a_right_seal(path: Path, damage) -> None:
    layout = Layout(path)
    with Store.open(path) as store:
        whole = accepted(store)
        before = (layout.features.read_bytes(), layout.ledger.read_bytes())
    assert journal.InFlight.from_bytes(sealed(whole)).edits.slots.tolist() == whole["slots"]
    with pytest.raises((ValueError, TypeError)):  # also where the size of the table is not known
        journal.InFlight.from_bytes(sealed({**whole, **damage}))
    Disk().replace(layout.request, sealed({**whole, **damage}))
    with pytest.raises(StoreCorrupt, match="request"):
        journal.read_in_flight(layout)
    with pytest.raises(StoreError):
        Store.open(path).close()
    assert (layout.features.read_bytes(), layout.ledger.read_bytes()) == before


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    listed, key = tmp_path / "erased", tmp_path / "erased.key"
    Tombstones.create(listed, key)
    return listed, key


def test_a_list_of_erased_ids_is_read_with_its_key_alone(tmp_path: Path, files) -> None:
    listed, key = files
    Tombstones(listed, key).add(["anna", 7], Disk())
    with pytest.raises(InvalidRequest, match="2 of the 3"):
        Tombstones(listed, key).refuse(["berta", "anna", "7"])
    assert b"anna" not in listed.read_bytes()
    (tmp_path / "link").symlink_to(listed)
    Tombstones.create(tmp_path / "other", tmp_path / "other.key")
    for place, secret, said in (
        (tmp_path / "link", key, "is a link"),
        (listed, tmp_path / "other.key", "not one made with this key"),
        (key, key, "not a list"),
        (tmp_path / "none", key, "cannot be read"),
        (listed, listed, "not the key"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            Tombstones(place, secret)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"no hexadecimal", b"abcd", b"", b"00" * 33])
def test_what_is_no_key_or_no_list_is_said_so(files, content) -> None:
    listed, key = files
    for damaged in (key, listed):
        held = damaged.read_bytes()
        damaged.write_bytes(content)
        with pytest.raises(InvalidParameter, match="not"):
            Tombstones(listed, key)
        damaged.write_bytes(held)
    Tombstones(listed, key)


def test_neither_a_list_nor_its_key_is_ever_overwritten(files, tmp_path: Path) -> None:
    listed, key = files
    held = listed.read_bytes(), key.read_bytes()
    Tombstones.create(tmp_path / "new", key).refuse(
        ["somebody"]
    )  # as after a kill between the two: another list of that key
    with pytest.raises(InvalidParameter, match="never overwritten"):
        Tombstones.create(tmp_path / "new", key)
    with pytest.raises(InvalidParameter, match="never overwritten"):
        Tombstones.create(listed, tmp_path / "new.key")
    assert not (tmp_path / "new.key").exists(), "a key without its list is nobody's"
    with pytest.raises(InvalidParameter, match="cannot write"):
        Tombstones.create(tmp_path / "no folder" / "list", tmp_path / "another.key")
    assert not (tmp_path / "another.key").exists()
    assert (listed.read_bytes(), key.read_bytes()) == held
