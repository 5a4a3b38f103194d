"""What was accepted is kept until it is done, and then leaves nothing behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_server import Inbox
from noisygd_delete_server.inbox import Full, Stages

from noisygd_delete.errors import InvalidParameter, StoreCorrupt, StoreError, StoreLocked
from noisygd_delete.store import Store, verify
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.layout import Layout
from tests.store.conftest import SCHEMA, Crash, CrashAt, found, plan, records

from .conftest import Opened, make_store, name, person


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / "store").mkdir()
    return Layout.at(tmp_path / "store")


def test_it_is_there_again_in_order_and_moves_on(layout: Layout) -> None:
    inbox = Inbox(layout)
    kept = [inbox.accept({"request_id": f"t{k}", "contents": {"delete": [str(k)]}}) for k in range(3)]
    inbox.move(kept[1], Stages.EDITED, {"request_id": "t1"})
    inbox.done(kept[0])
    inbox.close()
    again = Inbox(layout)
    assert [one.token for one in again.at(Stages.ACCEPTED)] == ["t2"]
    assert again.find("t1").stage is Stages.EDITED
    assert again.find("t0") is None
    assert again.accept({"request_id": "t3"}).number == 4
    again.close()


def test_two_services_do_not_share_one(layout: Layout) -> None:
    inbox = Inbox(layout)
    with pytest.raises(StoreLocked, match="another service"):
        Inbox(layout)
    inbox.close()
    Inbox(layout).close()


def test_a_full_one_refuses_and_keeps_what_it_has(layout: Layout) -> None:
    inbox = Inbox(layout, most=2)
    for k in range(2):
        inbox.accept({"request_id": str(k)})
    with pytest.raises(Full, match="try again"):
        inbox.accept({"request_id": "2"})
    assert inbox.send({"id": "m"}).number == 3  # messages about what was accepted are never refused
    inbox.close()


def test_a_file_that_no_service_wrote_is_refused_by_name(layout: Layout) -> None:
    inbox = Inbox(layout)
    kept = inbox.accept({"request_id": "t"})
    inbox.close()
    path = layout.service / "accepted" / f"{kept.number:012d}.json"
    path.write_bytes(path.read_bytes().replace(b'"t"', b'"u"'))
    with pytest.raises(StoreCorrupt, match=path.name):
        Inbox(layout)


class Refusing(Disk):
    """A disk that is full from a moment on."""

    full = False

    def write(self, descriptor: int, data: memoryview) -> int:
        if self.full:
            raise OSError(28, "No space left on device")
        return super().write(descriptor, data)


def test_a_full_disk_accepts_nothing_and_loses_nothing(layout: Layout) -> None:
    disk = Refusing()
    inbox = Inbox(layout, disk)
    inbox.accept({"request_id": "kept"})
    disk.full = True
    with pytest.raises(StoreError, match="not accepted"):
        inbox.accept({"request_id": "lost"})
    disk.full = False
    assert inbox.find("lost") is None
    inbox.close()
    again = Inbox(layout)
    assert [one.token for one in again.at(Stages.ACCEPTED)] == ["kept"]
    again.close()


def test_killed_at_every_change_of_the_disk_it_is_before_or_after(layout: Layout) -> None:
    """Accepting, moving on and finishing one request, killed at each change: known with its contents, or done."""
    k = 0
    while True:
        disk = CrashAt(k)
        inbox = None
        step = "nothing"
        try:
            inbox = Inbox(layout, disk)
            kept = inbox.accept({"request_id": "t", "contents": "identifier-token"})
            step = "accepted"
            moved = inbox.move(kept, Stages.EDITED, {"request_id": "t"})
            step = "edited"
            inbox.done(moved)
            step = "done"
        except Crash:
            pass
        finally:
            if inbox is not None:
                inbox.close()
        again = Inbox(layout)
        kept = again.find("t")
        if step == "accepted":
            assert kept is not None
        if step == "edited" and kept is not None:
            assert kept.stage is Stages.EDITED
        if kept is not None:
            again.done(kept)
        again.close()
        assert found(layout.service, [b"identifier-token"]) == []
        if step == "done":
            break
        k += 1
    assert k > 15  # changes of the disk, each a place to die


def test_no_byte_of_an_id_is_left_after_it_was_served(store: Path, opened: Opened) -> None:
    desk = opened(store, batch=4)
    desk.ask(request_id="one", delete=[name(1)])
    desk.ask(request_id="two", subjects=[person(10)])
    erased = [name(1).encode(), person(10).encode(), name(10).encode()]
    assert found(store / "service", erased)
    desk.turn()
    assert found(store, erased) == []
    assert desk.state("one") == "pending"


def test_a_store_with_an_inbox_verifies_and_other_files_in_it_do_not(store: Path, opened: Opened) -> None:
    desk = opened(store)
    desk.ask(request_id="one", delete=[name(1)])
    assert verify(store).passed
    (store / "service" / "accepted" / "notes.txt").touch(mode=0o600)
    assert not verify(store).passed


def test_an_inbox_left_in_another_store_is_not_forgotten(tmp_path: Path, opened: Opened) -> None:
    stores = make_store(tmp_path / "first"), make_store(tmp_path / "second")
    desk = opened(*stores)
    desk.ask(request_id="one", delete=[name(1)])
    desk.service.stop()
    with pytest.raises(InvalidParameter, match="name it first"):
        opened(stores[1], stores[0])


def test_stores_that_cannot_be_served_are_refused(tmp_path: Path, store: Path, opened: Opened) -> None:
    (tmp_path / "other").mkdir()
    twin = make_store(tmp_path / "other" / "people")
    with pytest.raises(InvalidParameter, match="two stores have the name"):
        opened(store, twin)
    with pytest.raises(StoreError):
        opened(tmp_path / "absent")
    Store.create(tmp_path / "new", records(), SCHEMA, plan()).close()
    with pytest.raises(InvalidParameter, match="no model was learned"):
        opened(tmp_path / "new")


def test_a_command_at_work_only_delays(store: Path, opened: Opened) -> None:
    desk = opened(store, batch=1)
    desk.ask(request_id="one", delete=[name(1)])
    desk.service.writer.patience = 0.1
    with Store.open(store), pytest.raises(StoreLocked):
        desk.service.writer.turn()
    desk.turn()
    assert desk.state("one") == "published"


def test_what_was_done_is_noted_before_the_whole_queue_is(
    store: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed again and again, before it has gone through all that waits, gets on nevertheless."""
    desk = opened(store, batch=1)
    monkeypatch.setattr("noisygd_delete_server.writer._TOGETHER", 3)
    for k in range(8):
        desk.ask(request_id=f"t{k}", delete=[name(k)])
    edit_all, releases = Store.edit_all, []

    def killed(self: Store, *arguments: Any, **options: Any) -> Any:
        """Right after the transaction that edits rows."""
        edited = edit_all(self, *arguments, **options)
        if len(releases) == 1:
            raise Crash
        releases.append(edited.release)
        return edited

    monkeypatch.setattr(Store, "edit_all", killed)
    with pytest.raises(Crash):
        desk.turn()
    assert desk.service.inbox.counts()["accepted"] == 5
