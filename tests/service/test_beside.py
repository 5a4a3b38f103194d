"""Tables that are read while the writer changes them: what an edit has begun is waited for, and damage is still damage."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from noisygd_delete_server import persons
from noisygd_delete_server.persons import Persons

from noisygd_delete import EditRequest
from noisygd_delete.errors import StoreCorrupt
from noisygd_delete.store import Store, training_table
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger

from .conftest import Opened, make_store, name, person


def torn(path: Path) -> tuple[Path, bytes]:
    """The store as it is between two files of an edit: an id is gone, and its person is not yet; the file, and what it was."""
    layout = Layout.at(path)
    before = layout.ids.read_bytes()
    one = before.index(name(3).encode())
    layout.ids.write_bytes(before[:one] + bytes(len(before) - one))
    return layout.ids, before


def test_an_edit_under_way_is_waited_for(tmp_path: Path, opened: Opened) -> None:
    path = make_store(tmp_path / "people")
    desk = opened(path)
    desk.ask(request_id="done", delete=[name(1)])
    desk.turn()
    layout, (file, before) = Layout.at(path), torn(path)
    plan = Ledger.read(layout.ledger).plan
    with pytest.raises(StoreCorrupt, match="does not belong"):  # what a reader met who did not wait
        training_table.load_table(layout, plan.problem.records, plan.problem.features, with_subjects=True)
    rest = threading.Timer(0.2, file.write_bytes, [before])
    rest.start()
    assert desk.ask(request_id="done", delete=[name(1)]).json()["state"] == "pending"
    rest.join()


def test_damage_is_told_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_store(tmp_path / "people")
    torn(path)
    monkeypatch.setattr(persons, "_PATIENCE", 0.1)
    with pytest.raises(StoreCorrupt, match="does not belong"):
        Persons({"people": path}, "subject").held([person(3)])


def test_readers_beside_a_writer_meet_no_half_edit(tmp_path: Path) -> None:
    path, read, ended = make_store(tmp_path / "people", rows=400), [0], threading.Event()
    failed: list[Exception] = []

    def reader() -> None:
        persons = Persons({"people": path}, "id")
        while not (ended.is_set() or failed):
            try:
                assert persons.held([name(399)]) == {name(399)}
                read[0] += 1
            except Exception as error:
                failed.append(error)

    thread = threading.Thread(target=reader)
    thread.start()
    try:
        with Store.open(path) as store:
            for k in range(0, 300, 10):
                store.edit_all([EditRequest.delete([name(j)], request_id=f"r{j}") for j in range(k, k + 10)])
    finally:  # or the thread would outlive the tests
        ended.set()
        thread.join(60)
    assert failed == []
    assert read[0] > 10
