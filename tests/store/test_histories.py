"""Random histories of a store against a small model of one, with power failures in between.

A power failure takes back whatever was not synced: contents of files and names in folders, each by itself, in part. SQLite syncs its own
files, which are left as they are. After each step the table, the ledger, what is told and what lies on the disk follow from the model.
"""

from __future__ import annotations

import os
import random
import shutil
import stat
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from noisygd_delete import Budget, EditRequest
from noisygd_delete.errors import InvalidParameter, InvalidRequest, NotLearned, StoreCorrupt
from noisygd_delete.records import NO_EDITS, EditCounts
from noisygd_delete.store import Store, budget, status, verify
from noisygd_delete.store.disk import Disk, is_blank
from noisygd_delete.store.layout import Layout

from .conftest import ROWS, SLOTS, Crash, found, made, name, person, plan, row

SQLITE = (".sqlite", ".sqlite-journal")


class Volatile(Disk):
    """A disk that loses power before the k-th change: `fail` takes back what was not synced."""

    def __init__(self, root: Path, chance: random.Random, fails_at: int) -> None:
        self.root, self.chance, self.left = root, chance, fails_at
        self.contents: dict[int, bytes] = {}
        self.names: dict[Path, dict[str, int]] = {}
        for folder, _, files in os.walk(root):
            self._sync_names(Path(folder))
            for file in files:
                self.contents[Path(folder, file).stat().st_ino] = Path(folder, file).read_bytes()

    def reached(self, operation: str, path: Path) -> None:
        self.left -= 1
        if self.left < 0:
            raise Crash(f"{operation} {path.name}")

    def fsync(self, descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}")
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            self._sync_names(path.resolve())
        else:
            self.contents[os.fstat(descriptor).st_ino] = path.read_bytes()

    def _sync_names(self, folder: Path) -> None:
        self.names[folder] = {file.name: file.stat().st_ino for file in folder.iterdir() if file.is_file()}

    def fail(self) -> None:
        """Each file has its synced content, or the present one; each name is as it was synced, or as it is now."""
        for folder, synced in self.names.items():
            files = {file.name: file for file in folder.iterdir() if file.is_file() and not file.name.endswith(SQLITE)}
            held = {file.stat().st_ino: file.read_bytes() for file in files.values()}
            for missing in {*synced} | {*files}:
                if missing.endswith(SQLITE):
                    continue
                now = files[missing].stat().st_ino if missing in files else None
                inode = self.chance.choice([now, synced.get(missing)])
                if inode is None:
                    (folder / missing).unlink(missing_ok=True)
                    continue
                kept = self.contents.get(inode, b"")
                content = self.chance.choice([kept, held.get(inode, kept)])
                (folder / missing).unlink(missing_ok=True)
                (folder / missing).write_bytes(content)
                (folder / missing).chmod(0o600)


@dataclass
class Model:
    """What is there: records by id, edits that wait, releases, answers."""

    rows: dict[str, tuple[str, bytes, float]]
    waiting: EditCounts = NO_EDITS
    releases: int = 1
    entries: int = 2
    slots: int = SLOTS
    is_out: bool = False
    answers: dict[str, tuple[int, EditCounts]] = field(default_factory=dict)  # position of the entry, edits

    def after(self, request: EditRequest, *, publish: bool) -> Model | None:
        """The model after a request; None if it cannot be carried out."""
        rows = dict(self.rows)
        gone = {*request.deletions, *(who for who, (owner, _, _) in rows.items() if owner in request.subjects)}
        persons = {owner for owner, _, _ in rows.values()}
        if (
            not gone <= set(rows)
            or not set(request.subjects) <= persons
            or not set(request.replacements) <= set(rows) - gone
        ):
            return None
        for who, (new, label) in request.replacements.items():
            rows[who] = (rows[who][0], new.tobytes(), float(label))
        come = request.insertion
        counts = EditCounts(len(gone), len(request.replacements), 0 if come is None else len(come.labels))
        if come is not None:
            if {*come.ids} & set(rows) or len(rows) + len(come.ids) > self.slots:
                return None
            for who, owner, new, label in zip(come.ids, come.subjects, come.rows, come.labels, strict=True):
                rows[who] = (owner, new.tobytes(), float(label))
        rows = {who: kept for who, kept in rows.items() if who not in gone}
        if max(Counter(owner for owner, _, _ in rows.values()).values(), default=0) > 2 and come is not None:
            return None
        waiting = self.waiting + counts
        answers = {**self.answers, request.request_id: (self.entries, counts)}
        released = self.releases + publish
        return Model(
            rows,
            NO_EDITS if publish else waiting,
            released,
            self.entries + 1,
            self.slots,
            self.is_out and not publish,
            answers,
        )


def some_request(chance: random.Random, model: Model, number: int) -> EditRequest:
    """Of people who are there, mostly; new ones take free names."""
    names = sorted(model.rows)
    here = chance.sample([*names, name(70 + number)], min(len(names), chance.randrange(1, 3)))
    kind, token = chance.randrange(5), f"request-{number}"
    if kind == 0:
        return EditRequest.delete(here, request_id=token)
    if kind == 1:
        return EditRequest.delete(
            subjects=[chance.choice([*(owner for owner, _, _ in model.rows.values()), "nobody"])], request_id=token
        )
    new = {who: (row(100 + 10 * number + k), chance.choice([-1.0, 1.0])) for k, who in enumerate(here)}
    if kind == 2:
        return EditRequest.replace(new, request_id=token)
    owners = [chance.choice([person(number), f"subject-token-new-{number}"]) for _ in here]
    ids = [name(chance.choice([40 + number, int(who[-4:])])) for who in here]
    rows, labels = zip(*new.values(), strict=True)
    if kind == 3 or len(set(ids)) < len(ids):
        return EditRequest.insert([name(50 + number)], rows[:1], labels[:1], subjects=owners[:1], request_id=token)
    added = EditRequest.insert(ids, rows, labels, subjects=owners).insertion
    gone = chance.sample(sorted(set(names) - set(ids)), 1) if set(names) - set(ids) else []
    return EditRequest(tuple(gone), insertion=added, request_id=token)


def check(path: Path, model: Model) -> None:
    """Everything that follows from the model."""
    with Store.open(path) as store:
        table = store.records
        slots = zip(table.ids_by_slot, table.subjects_by_slot, table.features, table.labels, strict=True)
        here = {who: (owner, new.tobytes(), float(label)) for who, owner, new, label in slots if who is not None}
        assert here == model.rows
        assert (store.ledger.length, store.ledger.releases, store.pending_edits) == (
            model.entries,
            model.releases,
            model.waiting.total,
        )
        assert store.ledger.head.pending_counts == model.waiting
        for token, (position, counts) in model.answers.items():
            assert (store.ledger.position(token), store.ledger.edits_at(position)) == (position, counts)
        if model.is_out:
            with pytest.raises(NotLearned, match="taken out of service"):
                store.model
        else:
            assert store.model.weights.shape == (3,)
        with pytest.raises(InvalidParameter, match="relearn"):
            store.learn()
    told = status(path)
    expected = {
        "store": str(path), "slots": model.slots, "records": len(model.rows), "source": None, "changes_counted_by": None, "features": 3,
        "loss": "logistic", "method": "noisy-gd", "releases": model.releases, "pending_edits": model.waiting.total,
        "pending": model.waiting.to_dict(), "model": "withdrawn" if model.is_out else f"model-{model.releases}.safetensors",
        "request_in_flight": False, "publishers": [], "patch": None, "reserve": None, "nearly_spent": False,
    }  # fmt: skip
    assert {key: told[key] for key in expected} == expected
    assert verify(path).faults == ()
    layout = Layout(path)
    assert [file.name for file in layout.models()] == [f"model-{model.releases}.safetensors"]
    assert all(map(is_blank, layout.leftovers()))


def traces(before: Model, after: Model) -> list[bytes]:
    """What must be gone: ids, and rows that nobody has any more."""
    rows = {new for _, new, _ in after.rows.values()}
    ids = [who.encode() for who in set(before.rows) - set(after.rows)]
    return [*ids, *(new for _, new, _ in before.rows.values() if new not in rows)]


def survive(path: Path, chance: random.Random, act, fails_at: int) -> bool:
    """Let the act lose power before one of its changes; return whether it did."""
    disk = Volatile(path, chance, fails_at)
    try:
        with Store.open(path, disk=disk) as store:
            act(store)
    except Crash:
        disk.fail()
        return True
    return False


@pytest.mark.parametrize("seed", range(6))
def test_a_history_follows_the_model_whatever_fails(seed: int, tmp_path: Path) -> None:
    chance, path = random.Random(seed), made(tmp_path / "store")
    model = Model({name(k): (person(k), row(k).tobytes(), 1.0 - 2 * (k % 2)) for k in range(ROWS)})
    for number in range(5):
        request, publish = some_request(chance, model, number), chance.random() < 0.5
        after = model.after(request, publish=publish)
        fails_at = chance.choice([10**6, chance.randrange(4, 60)])

        def act(store: Store, request: EditRequest = request, publish: bool = publish) -> object:
            return store.serve(request, publish=publish)

        if after is None:
            with Store.open(path) as store:
                with pytest.raises(InvalidRequest):
                    store.serve(request, publish=publish)
                with pytest.raises(InvalidRequest):
                    store.dry_run(request)
            after = model
        else:
            failed = survive(path, chance, act, fails_at)
            with Store.open(path) as store:
                again = act(store)
                assert again.answered_before or failed
                assert again.requested == after.answers[request.request_id][1]
                assert again.edits == (model.waiting + again.requested).total
        assert found(path, traces(model, after)) == []
        model = after
    if not model.is_out and chance.random() < 0.5:
        survive(path, chance, lambda store: store.withdraw(), chance.choice([2, 10**6]))
        with Store.open(path) as store:
            store.withdraw()
        model.is_out, model.entries = True, model.entries + 1
    check(path, model)


@pytest.mark.parametrize("seed", range(4))
def test_a_store_that_grows_or_publishes_survives_a_power_failure(seed: int, tmp_path: Path) -> None:
    chance, path = random.Random(seed), made(tmp_path / "store")
    model = Model({name(k): (person(k), row(k).tobytes(), 1.0 - 2 * (k % 2)) for k in range(ROWS)})
    request = EditRequest.delete([name(3)], request_id="first")
    with Store.open(path) as store:
        store.serve(request, publish=False)
    model = model.after(request, publish=False) or model
    grown = plan(slots=SLOTS + 5, budget=Budget(order=4, dp=1.0, deletion=0.5))
    acts = [lambda store: store.publish(request_id="second"), lambda store: store.relearn(grown, request_id="second")]
    for fails_at in (chance.randrange(3, 14), chance.randrange(14, 40)):
        survive(path, chance, acts[seed % 2], fails_at)
    with Store.open(path) as store:
        acts[seed % 2](store)
    model.releases, model.entries, model.waiting = 2, model.entries + 1, NO_EDITS
    model.slots = SLOTS + 5 * (seed % 2)
    check(path, model)
    kinds = [(each["kind"], each["edits"], "deletion" in each) for each in budget(path)["releases"]]
    assert kinds == [("learn", 0, False), (("unlearn", "relearn")[seed % 2], 1, True)]


def test_a_disk_that_does_not_sync_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The power of the tests above: without syncs of contents, a power failure leaves a store that is none, or a record that was erased."""
    monkeypatch.setattr(Disk, "_sync", lambda self, descriptor, path: None)
    wrong, path = 0, made(tmp_path / "store")
    for seed in range(6):
        copy, chance = shutil.copytree(path, tmp_path / f"{seed}"), random.Random(seed)
        disk = Volatile(copy, chance, 10**6)
        with Store.open(copy, disk=disk) as store:
            store.serve(EditRequest.delete([name(3)]))
        disk.fail()
        try:
            with Store.open(copy) as store:
                wrong += name(3) in store.records
        except StoreCorrupt:
            wrong += 1
    assert wrong > 2
