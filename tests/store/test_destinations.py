"""The release hook: what a store does with its destinations, with and without the package that publishes there."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from noisygd_delete import EditRequest
from noisygd_delete.cli import main
from noisygd_delete.errors import MissingDependency
from noisygd_delete.evidence import erasure_certificate, new_key, sign_document, verify_certificate
from noisygd_delete.evidence.erasure import erasure_in, ledger_of
from noisygd_delete.store import Store, status, verify
from noisygd_delete.store.artifact import Artifact
from noisygd_delete.store.destinations import Destination, DestinationFile, DestinationList, find_hook

from .conftest import name, row

ADDRESSES = ("folder:/srv/a", "s3://bucket/b")
CALLS = list[int | None]


def hold(file: DestinationFile, held: dict[str, str | None], number: int | None) -> None:
    """Write that each of these addresses holds a release, and nothing earlier."""
    found = file.read()
    assert found is not None
    changed = tuple(
        Destination(each.address, held=held[each.address], oldest=number) if each.address in held else each
        for each in found.publishers
    )
    file.write(DestinationList(found.store, changed))


def install(monkeypatch: pytest.MonkeyPatch, hook: Any, *, broken: bool = False) -> None:
    """Install `hook` as the one release hook; None: no distribution has one, or one that cannot be imported."""
    others = metadata.entry_points

    def load() -> Any:
        if broken:
            raise ImportError("half installed")
        return hook

    points = [SimpleNamespace(load=load)] if broken or hook is not None else []

    def entry_points(**asked: str) -> Any:
        return points if asked.get("name") == "on-release" else others(**asked)

    monkeypatch.setattr(metadata, "entry_points", entry_points)


@pytest.fixture
def calls(path: Path, monkeypatch: pytest.MonkeyPatch) -> CALLS:
    """A store with two destinations, of which the hook reaches the first alone; the numbers that it was called with."""
    seen: CALLS = []

    def on_release(artifact: Artifact | None, file: DestinationFile) -> None:
        seen.append(artifact and artifact.release)
        hold(file, {ADDRESSES[0]: artifact and artifact.name}, artifact and artifact.release)

    install(monkeypatch, on_release)
    with Store.open(path) as store, store.changing_destinations(retry=True) as file:
        file.write(DestinationList("a", tuple(map(Destination, ADDRESSES))))
    return seen


def delete(path: Path, k: int) -> int:
    with Store.open(path) as store:
        return store.serve(EditRequest.delete([name(k)], request_id=f"r{k}")).release or 0


def test_the_hook_is_called_after_every_change_until_each_destination_holds_the_release(
    path: Path, calls: CALLS
) -> None:
    assert calls == [1]  # the list was written
    assert delete(path, 3) == 2
    assert calls[1:] == [1, 2]  # on opening, because the second destination is behind; and after the release
    with Store.open(path) as store, store.changing_destinations(retry=False) as file:
        hold(file, dict.fromkeys(ADDRESSES, store.destinations[0].held), 2)
    calls.clear()
    Store.open(path).close()
    assert calls == []  # nothing is behind
    with Store.open(path) as store:
        store.withdraw()
    assert calls == [None]  # no model may be in service
    assert verify(path).passed


def test_without_a_hook_an_erasure_goes_on_and_names_what_is_outstanding(
    path: Path, calls: CALLS, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    install(monkeypatch, None)
    assert find_hook() is None
    received = "2026-05-04T09:30+02:00"
    assert main(["delete", str(path), name(3), "--request-id", "r3", "--received", received]) == 0
    printed = capsys.readouterr().err
    assert all(address in printed for address in ADDRESSES)
    assert printed.count("pip install 'noisygd-delete[serve]'") == len(ADDRESSES)
    listed = status(path)["publishers"]
    assert [(each["address"], each["release"], each["pending"]) for each in listed] == [
        (ADDRESSES[0], 1, True),
        (ADDRESSES[1], None, True),
    ]
    assert verify(path).passed
    erasure, plan, events = erasure_in(ledger_of(path), request_id="r3")
    document = erasure_certificate(erasure, plan=plan, events=events)
    assert [claim["values"]["left"] for claim in document["claims"] if claim["key"] == "elsewhere.left"] == [1]
    new_key(tmp_path / "key.pem")
    assert verify_certificate(sign_document(document, tmp_path / "key.pem"), public_key=tmp_path / "key.pem.pub").passed


def test_without_a_hook_a_release_that_erases_nothing_is_refused_before_anything_changes(
    path: Path, calls: CALLS, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, None)
    before = ledger_of(path).length
    with Store.open(path) as store:
        for refused in (
            lambda: store.publish(force=True),
            store.relearn,
            lambda: store.serve(EditRequest.insert([name(99)], [row(99)], [1.0], subjects=["new"])),
        ):
            with pytest.raises(MissingDependency, match=r"noisygd-delete\[serve\]"):
                refused()
        assert store.ledger.length == before
        store.serve(EditRequest.delete([name(3)], request_id="r3"), publish=False)
        assert store.publish().release == 2  # it covers an erasure


def test_a_hook_that_cannot_be_loaded_counts_as_missing(
    path: Path, calls: CALLS, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, None, broken=True)
    assert find_hook() is None
    assert delete(path, 3) == 2


@pytest.mark.parametrize("how", ["no address", "no number", "two lines"])
def test_a_list_that_no_hook_wrote_is_refused(path: Path, calls: CALLS, how: str) -> None:
    file = path / "publishers.json"
    fields = json.loads(file.read_text())
    changed = {"no address": {"address": ""}, "no number": {"held": "x"}, "two lines": {"address": "folder:/a\nb"}}
    fields["publishers"][0] |= changed[how]
    file.write_text(json.dumps(fields))
    assert any("publishers.json" in fault for fault in verify(path).faults)
