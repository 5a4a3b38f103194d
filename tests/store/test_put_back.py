"""Any of a store's files put back from a copy that was made at another moment: seen, whichever they are.

The oracle knows nothing of ties: a store is the copy of one moment in all of its files, or it is none.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from itertools import combinations, islice
from pathlib import Path

import pytest

from noisygd_delete import EditRequest
from noisygd_delete.cli import main
from noisygd_delete.errors import StoreCorrupt, StoreError
from noisygd_delete.evidence.erasure import ledger_of, ledger_status
from noisygd_delete.reports import store_report
from noisygd_delete.store import Store, transaction, verify
from noisygd_delete.store.layout import Layout

from .conftest import Crash, CrashAt, changes, contents, crashed, made, name, person, plan, row
from .operations import OPERATIONS

LONG = "long-" * 60
INSERT = EditRequest.insert([name(99)], [row(99)], [1.0], subjects=[LONG], request_id="i")
TRANSACTIONS: dict[str, Callable[[Store], object]] = {
    "delete": lambda store: store.serve(EditRequest.delete([name(3)], request_id="r")),
    "delete later": lambda store: store.serve(EditRequest.delete([name(3)]), publish=False),
    "delete a person": lambda store: store.serve(EditRequest.delete(subjects=[person(3)], request_id="r")),
    "replace": lambda store: store.serve(EditRequest.replace({name(3): (row(70), 1.0)}, request_id="r")),
    "insert": lambda store: store.serve(INSERT),
    "several": lambda store: store.edit_all([EditRequest.delete([name(k)], request_id=f"r{k}") for k in (3, 4, 6)]),
    "publish": lambda store: store.publish(force=True),
    "withdraw": lambda store: store.withdraw(),
    "grow": OPERATIONS[-1].run,
}
RECORDS = ("features.f32", "labels.f64", "ids.names", "subjects.names", "long.names")


def in_parts(path: Path) -> list[str]:
    """Every file that says what the store is: a lock says nothing, and a model is looked up by what the ledger says of it."""
    kept = (file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
    return sorted(file for file in kept if file != "lock")


def same(one: Path, other: Path, file: str) -> bool:
    return (one / file).exists() == (other / file).exists() and (
        not (one / file).exists() or (one / file).read_bytes() == (other / file).read_bytes()
    )


def put_back(store: Path, copy: Path, files: tuple[str, ...]) -> None:
    for file in files:
        (store / file).unlink(missing_ok=True)
        if (copy / file).exists():
            shutil.copy(copy / file, store / file)


def content(store: Store) -> tuple[object, ...]:
    """What a store is: its history, its table, its model."""
    held, model = store.records, store._files.model()
    names = held.ids_by_slot, held.subjects_by_slot
    weights = None if model is None else model.weights.tobytes()
    return (
        store.ledger.digests,
        *names,
        held.features.tobytes(),
        held.labels.tobytes(),
        weights,
        store.plan.problem.records,
    )


def opened(path: Path) -> tuple[object, ...] | None:
    """What whoever opens it gets, None where it is refused; then `verify` says so too."""
    try:
        with Store.open(path) as store:
            return content(store)
    except StoreCorrupt:
        assert verify(path).faults, "what is refused is told by verify"
        return None


def moments(tmp_path: Path, transaction: str) -> tuple[Path, Path]:
    """A store before and after the transaction; it has a long name and something pending where that is what is published."""
    tmp_path.mkdir(exist_ok=True)
    before, after = tmp_path / "before", tmp_path / "after"
    with Store.open(made(before)) as store:
        long = EditRequest.insert([LONG], [row(80)], [1.0], subjects=["p"], request_id="first")
        store.serve(long)
        store.serve(EditRequest.delete([name(8)], request_id="second"))
    shutil.copytree(before, after)
    with Store.open(after) as store:
        TRANSACTIONS[transaction](store)
    return before, after


def mixes(before: Path, after: Path) -> Iterator[tuple[str, ...]]:
    """Every single file, every pair, and every pair left out: put back from the earlier copy."""
    files = sorted({*in_parts(before), *in_parts(after)})
    changed = tuple(file for file in files if not same(before, after, file))
    whole = tuple(file for file in changed if file.startswith("records/"))
    seen = {*combinations(changed, 1), *combinations(changed, 2), whole}
    seen |= {tuple(file for file in changed if file not in left) for left in seen}
    yield from (mix for mix in sorted(seen) if mix and set(mix) != set(changed))


@pytest.mark.parametrize("transaction", TRANSACTIONS)
def test_no_mix_of_two_moments_is_taken_for_a_store(tmp_path: Path, transaction: str, record_property) -> None:
    before, after = moments(tmp_path, transaction)
    store, tried, refused, wrong = tmp_path / "mixed", 0, 0, []

    def of(*mix: str) -> tuple[object, ...] | None:
        shutil.copytree(after, store)
        put_back(store, before, mix)
        found = opened(store)
        shutil.rmtree(store)
        return found

    states = [of(), of(*in_parts(before), *in_parts(after))]
    assert None not in states
    assert states[0] != states[1]
    # the others change the same files: each of them tries another third
    first, step = (0, 1) if transaction in ("publish", "withdraw") else (list(TRANSACTIONS).index(transaction) % 3, 3)
    for mix in islice(mixes(before, after), first, None, step):
        tried += 1
        found = of(*mix)
        refused += found is None
        wrong += [mix] if found is not None and found not in states else []
    record_property("evidence", f"{transaction}: {tried} mixes, {refused} refused")
    assert refused >= 3
    assert wrong == []


def test_a_tie_that_is_not_looked_at_is_missed(tmp_path: Path, monkeypatch) -> None:
    """The power of the test above: without the check, a table put back is trained on again."""
    before, after = moments(tmp_path, "delete")
    put_back(after, before, tuple(f"records/{file}" for file in RECORDS))
    assert opened(after) is None
    monkeypatch.setattr("noisygd_delete.store.file_footer.check", lambda *_: None)
    assert name(3) in opened(after)[1]


@pytest.mark.parametrize("files", [("journal/request.json",), ("ledger.sqlite", "seal.json"), ("records",)])
def test_what_is_put_back_beside_a_request_in_flight(tmp_path: Path, files: tuple[str, ...]) -> None:
    """At every instant of a deletion a copy is made; another deletion follows; then parts of the copy come back."""
    first, disk = made(tmp_path / "first"), CrashAt()
    shutil.copytree(first, tmp_path / "whole")
    with Store.open(tmp_path / "whole", disk=disk) as store:
        TRANSACTIONS["delete"](store)
        between, points = content(store), len(disk.points)
        store.serve(EditRequest.delete([name(5)], request_id="later"))
        last = content(store)
    for at in range(0, points, 3):
        copy, mixed = tmp_path / f"copy-{at}", tmp_path / f"mixed-{at}"
        shutil.copytree(first, copy)
        with pytest.raises(Crash), Store.open(copy, disk=CrashAt(at)) as store:
            TRANSACTIONS["delete"](store)
        shutil.copytree(tmp_path / "whole", mixed)
        wanted = tuple(f"records/{file}" for file in RECORDS) if files == ("records",) else files
        put_back(mixed, copy, wanted)
        try:
            with Store.open(mixed) as store:
                gone = set(store.records.ids).isdisjoint({name(3), name(5)})
                assert gone, "nobody who was erased is back"
                assert store.ledger.digests == last[0] != between[0], "no entry was lost"
        except StoreCorrupt:
            assert not verify(mixed).passed
        shutil.rmtree(copy)
        shutil.rmtree(mixed)


def test_rows_of_an_unfinished_request_are_not_taken_for_those_of_an_older_ledger(tmp_path: Path) -> None:
    """All but the records comes back from before a deletion, at every instant of the next one: the rows know a later ledger."""
    first, second = made(tmp_path / "first"), made(tmp_path / "second")
    with Store.open(second) as store:
        store.serve(EditRequest.delete([name(0)]))
    others = tuple({*in_parts(first), "journal/request.json"} - {f"records/{file}" for file in RECORDS})
    for at in range(0, len(changes(second, TRANSACTIONS["delete"])), 2):
        mixed = tmp_path / "mixed"
        shutil.copytree(second, mixed)
        assert crashed(mixed, TRANSACTIONS["delete"], at)
        put_back(mixed, first, others)
        with pytest.raises(StoreCorrupt):
            Store.open(mixed)
        shutil.rmtree(mixed)


def test_a_ledger_shorter_than_its_journal_is_not_taken_for_a_request_that_happened(tmp_path: Path) -> None:
    first = made(tmp_path / "first")
    made(tmp_path / "second")
    with Store.open(tmp_path / "second") as store:
        store.serve(EditRequest.delete([name(0)]))
    disk = CrashAt()
    with Store.open(tmp_path / "second", disk=disk) as store:
        pass
    with pytest.raises(Crash), Store.open(tmp_path / "second", disk=CrashAt(len(disk.points) + 5)) as store:
        TRANSACTIONS["delete"](store)
    assert (tmp_path / "second" / "journal" / "request.json").exists()
    put_back(tmp_path / "second", first, ("ledger.sqlite", "seal.json", "model-1.safetensors", "model-2.safetensors"))
    with pytest.raises(StoreCorrupt, match="restored"):
        Store.open(tmp_path / "second")
    assert (tmp_path / "second" / "journal" / "request.json").exists(), "the request is not thrown away"


@pytest.mark.skipif(os.name == "nt", reason="links")
@pytest.mark.parametrize("how", ["moved and replaced", "moved", "lock removed", "lock replaced"])
def test_a_store_that_is_no_longer_there_is_not_written_to(path: Path, how: str) -> None:
    away, lock = path.with_name("away"), Layout(path).lock
    with Store.open(path) as store:
        if how.startswith("moved"):
            path.rename(away)
            if how == "moved and replaced":
                shutil.copytree(away, path)
        else:
            lock.unlink()
            if how == "lock replaced":
                Store.open(path).close()
        kept = contents(path)
        for act in TRANSACTIONS.values():
            with pytest.raises(StoreError, match="moved or replaced, or its lock file removed"):
                act(store)
        assert kept == contents(path)
    if how != "moved":
        with Store.open(path) as store:
            store.serve(EditRequest.delete([name(3)]))
        assert verify(path).passed


def test_a_store_that_goes_while_a_release_is_made_gets_no_entry(path: Path, monkeypatch) -> None:
    right = transaction.make_release

    def loses_lock(*given):
        patch.undo()  # once
        Layout(path).lock.unlink()
        Store.open(path, wait=0).close()  # another process, which finishes the request
        return right(*given)

    with Store.open(path) as store, monkeypatch.context() as patch:
        patch.setattr(transaction, "make_release", loses_lock)
        with pytest.raises(StoreError, match="lock file removed"):
            store.serve(EditRequest.delete([name(3)], request_id="r"))
    with Store.open(path) as store:
        assert store.ledger.length == 3
        assert name(3) not in store.records
    assert verify(path).passed


def test_what_a_backup_owes_is_erased_again_by_the_list(tmp_path: Path, capsys) -> None:
    path, backup = made(tmp_path / "store"), tmp_path / "backup"
    files = ["--tombstones", str(tmp_path / "list"), "--tombstone-key", str(tmp_path / "key")]
    assert main(["keygen", files[3], "--tombstones", files[1]]) == 0
    assert main(["delete", str(path), name(0), *files]) == 0
    shutil.copytree(path, backup)
    assert main(["delete", str(path), name(1), name(2), *files]) == 0
    assert main(["verify", str(path), *files]) == 0
    shutil.rmtree(path)
    backup.rename(path)
    assert main(["verify", str(path)]) == 0, "from inside, a whole copy is a store"
    capsys.readouterr()
    assert main(["verify", str(path), *files]) == 5
    assert "2 records were erased before" in capsys.readouterr().out
    assert main(["delete", str(path), "--reapply"]) == 2
    assert main(["delete", str(path), "--reapply", *files]) == 0
    with Store.open(path) as store:
        assert not {name(k) for k in range(3)} & set(store.records.ids)
    assert main(["verify", str(path), *files]) == 0
    capsys.readouterr()
    assert main(["delete", str(path), "--reapply", *files]) == 0
    assert "nothing was changed" in capsys.readouterr().out


@pytest.mark.parametrize("how", ["an earlier one", "removed", "of a time that was undone"])
def test_a_register_put_back_alone_is_told_until_somebody_says_that_it_is_the_register(
    path: Path, tmp_path: Path, how: str
) -> None:
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(3)], request_id="first"))
    shutil.copytree(path, tmp_path / "earlier")
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(4)], request_id="second"))
    assert verify(path).passed
    if how == "of a time that was undone":  # as long as the new one, and longer
        shutil.move(path, tmp_path / "undone")
        shutil.move(tmp_path / "earlier", path)
        shutil.move(tmp_path / "undone", tmp_path / "earlier")
        with Store.open(path) as store:
            store.serve(EditRequest.delete([name(6)], request_id="another second"))
        assert verify(path).passed
    shutil.move(Layout(path).register, tmp_path / "newest")
    if how != "removed":
        shutil.copy(Layout(tmp_path / "earlier").register, Layout(path).register)

    def told() -> tuple[bool, bool, str]:
        page = store_report(
            plan=plan(), events=ledger_of(path).events, standing=ledger_status(ledger_of(path)), requests=[]
        )
        return verify(path).passed, "register was put back" in page, page

    assert told()[:2] == (False, True)
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(5)], request_id="third"))
    assert told()[:2] == (False, True), "a later request does not hide it"
    assert main(["register", "settings", str(path), "--controller", "C"]) == 0
    assert told()[:2] == (True, False)
    adopted = shutil.copy(Layout(path).register, tmp_path / "adopted")
    shutil.copy(tmp_path / "newest", Layout(path).register)
    assert told()[:2] == (False, True), "it lacks what was noted in the one that was made the register"
    shutil.copy(adopted, Layout(path).register)
    assert told()[:2] == (True, False)
    with Store.open(path) as store:
        store.request_log.forget(["third"])
    forgotten = shutil.copy(Layout(path).register, tmp_path / "forgotten")
    shutil.copy(adopted, Layout(path).register)
    assert told()[:2] == (False, True), "what was forgotten is back"
    shutil.copy(forgotten, Layout(path).register)
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(7)], request_id="fourth"))
    assert told()[:2] == (True, False)


def test_a_seal_put_back_with_the_register_of_its_time_is_told(path: Path, tmp_path: Path) -> None:
    """The ids of the table know a longer ledger than the seal: so the register that the seal describes may be old too."""
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(3)], request_id="first"))
    shutil.copytree(path, tmp_path / "earlier")
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(4)], request_id="second"))
        store.request_log.forget(["first"])
    assert verify(path).passed
    for file in ("seal", "register"):
        shutil.copy(getattr(Layout(tmp_path / "earlier"), file), getattr(Layout(path), file))
    Store.open(path).close()  # the seal is made anew
    assert any("register.sqlite" in fault for fault in verify(path).faults)
