"""Request ids are pseudonyms: the ledger chains a commitment, and the id can be forgotten with all that was stated."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import pytest
from noisygd_delete_compliance.case import RegisterPolicy, RequestCase
from noisygd_delete_compliance.register import Register
from noisygd_delete_compliance.request_rows import line_of, register_lines

from noisygd_delete import EditRequest
from noisygd_delete.errors import InvalidRequest, NotLearned, StoreCorrupt
from noisygd_delete.store import Store, status, verify, verify_absence
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.layout import Layout
from tests.store.conftest import Crash, CrashAt, name

TOKEN = "a-token-that-nobody-else-has"
RECEIVED = "2026-05-04T09:30:00+02:00"
CASE = RequestCase(received=RECEIVED, channel="e-mail")


def served(path: Path, *, publish: bool = True) -> None:
    with Store.open(path) as store:
        store.serve(
            EditRequest.delete([name(3)], request_id=TOKEN),
            note=Register(store.request_log).adding(CASE),
            publish=publish,
        )


def test_the_ledger_chains_a_salted_commitment_and_the_id_can_be_forgotten(path: Path) -> None:
    assert not Layout.at(path).register.exists()
    assert register_lines(path) == []
    served(path)
    assert [line.token for line in register_lines(path)] == [TOKEN]
    with Store.open(path) as store:
        before = store.ledger.digest
        others = [f"other-{k}" for k in range(60)]
        Register(store.request_log).receive(dict.fromkeys(others, CASE))
        chained = store.ledger.head.commitment
        assert store.ledger.head.request_id is None
        assert store.ledger.position(chained) is None  # a commitment is no id
        assert TOKEN not in store.ledger.path.read_bytes().decode("latin-1")
        with sqlite3.connect(path / "register.sqlite") as connection:
            (salt,) = connection.execute("SELECT salt FROM requests WHERE token = ?", (TOKEN,)).fetchone()
        connection.close()
        assert chained == hashlib.sha256(b"noisygd-delete request\0" + salt + TOKEN.encode()).hexdigest()
        assert len(salt) == 32
        assert store.serve(EditRequest.delete([name(3)], request_id=TOKEN)).answered_before
        store.request_log.forget([TOKEN])
        assert store.ledger.position(TOKEN) is None
        assert store.ledger.digest == before
        assert set(Register(store.request_log).cases()) == set(others)
    assert verify_absence(path, [TOKEN]) == []
    assert verify_absence(path, [salt.hex()]) == []
    assert not any(salt in file.read_bytes() for file in path.rglob("*") if file.is_file())
    assert verify(path).passed
    with Store.open(path) as store, pytest.raises(InvalidRequest, match="is not in the table"):
        store.serve(EditRequest.delete([name(3)], request_id=TOKEN))


def test_a_request_is_in_the_register_before_it_is_done(path: Path) -> None:
    """Whatever the instant of a crash: not done and perhaps noted, or noted and done."""
    seen = set()
    for at in range(10_000):
        disk = CrashAt(at)
        try:
            with Store.open(path, disk=disk) as store:
                store.serve(
                    EditRequest.delete([name(3)], request_id=TOKEN), note=Register(store.request_log).adding(CASE)
                )
            break
        except Crash:
            with Store.open(path, disk=CrashAt()) as store:
                done, case = store.ledger.position(TOKEN) is not None, Register(store.request_log).case(TOKEN)
                assert not done or case == CASE
                seen.add((done, case is not None))
                if done:
                    break
    assert seen >= {(False, False), (False, True), (True, True)}


def test_forgetting_is_whole_or_not_at_all(path: Path) -> None:
    served(path)
    states = set()
    for at in range(1000):
        try:
            with Store.open(path, disk=CrashAt()) as store:
                Register(store.request_log).receive({"kept": CASE, "gone": CASE})
            with Store.open(path, disk=CrashAt(at)) as store:
                store.request_log.forget(["gone"])
            break
        except Crash:
            with Store.open(path, disk=CrashAt()) as store:
                left = set(Register(store.request_log).cases())
                assert left in ({TOKEN, "kept"}, {TOKEN, "kept", "gone"})
                states.add(len(left))
            assert verify(path).passed
    assert states == {2, 3}
    assert {file.name for file in path.iterdir()} >= {"register.sqlite"}
    assert not list(path.glob("register.sqlite.*"))


def test_what_was_stated_is_not_contradicted(path: Path) -> None:
    with Store.open(path) as store:
        Register(store.request_log).receive({TOKEN: CASE})
        with pytest.raises(InvalidRequest, match="received"):
            store.serve(
                EditRequest.delete([name(3)], request_id=TOKEN),
                note=Register(store.request_log).adding(RequestCase(received="2026-05-05T09:30:00+02:00")),
            )
        assert name(3) in store.records
        store.serve(
            EditRequest.delete([name(3)], request_id=TOKEN),
            note=Register(store.request_log).adding(RequestCase(identity_checked=True)),
        )
        assert Register(store.request_log).case(TOKEN) == RequestCase(
            received=RECEIVED, channel="e-mail", identity_checked=True
        )
        with pytest.raises(InvalidRequest, match="not in the register"):
            Register(store.request_log).state("nobody", CASE)


def test_what_holds_for_every_request_is_kept(path: Path) -> None:
    policy = RegisterPolicy(holidays=("2026-12-25",), contact="desk@example.org")
    with Store.open(path) as store:
        Register(store.request_log).receive({TOKEN: CASE})
        Register(store.request_log).adopt(policy)
        assert Register(store.request_log).policy == policy
        assert Register(store.request_log).case(TOKEN) == CASE
    assert verify(path).passed


def test_a_line_says_when_rows_went_and_when_the_old_model_did(path: Path) -> None:
    served(path, publish=False)
    waiting = line_of(path, TOKEN)
    assert (waiting.state, waiting.served.rows, waiting.served.withdrawn) == ("pending", 1, None)
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(4)], request_id="second"), publish=False)
        store.withdraw()
        store.withdraw()  # twice is once
        assert [entry.kind for entry in store.ledger.entries][-3:] == ["edit", "edit", "withdrawn"]
    assert line_of(path, TOKEN).served.withdrawn is not None
    with Store.open(path) as store:
        release = store.publish()
        assert release.counts.deleted == 2
        at = store.ledger.head.time
    for token in (TOKEN, "second"):
        line = line_of(path, token)
        assert (line.state, line.served.release, line.served.published, line.served.rows) == ("published", 2, at, 1)


def test_a_withdrawn_model_serves_nobody_and_the_next_release_starts_from_it(path: Path) -> None:
    with Store.open(path) as store:
        weights = store.model.weights
        store.withdraw()
        with pytest.raises(NotLearned, match="out of service"):
            store.model
        assert status(path)["model"] == "withdrawn"
        store.serve(EditRequest.delete([name(3)]), publish=False)
        with pytest.raises(NotLearned, match="out of service"):
            store.model
    with Store.open(path) as store:
        release = store.publish()
        assert (release.kind, release.status) == ("unlearn", "published")  # from the model withdrawn, not afresh
        assert (store.model.weights != weights).any()
        assert status(path)["model"] == "model-2.safetensors"
    assert verify(path).passed


def test_a_damaged_register_is_named(path: Path) -> None:
    served(path)
    connection = sqlite3.connect(path / "register.sqlite")
    connection.execute('UPDATE requests SET body = \'{"name": "somebody"}\'')
    connection.commit()
    connection.close()
    (path / "register.sqlite-journal").unlink(missing_ok=True)
    assert any("register.sqlite" in fault for fault in verify(path).faults)
    with pytest.raises(StoreCorrupt, match=r"register\.sqlite"):
        register_lines(path)


def test_a_request_takes_one_transaction_of_the_register_and_one_of_the_ledger(path: Path) -> None:
    """Each costs SQLite four syncs, a fifth where it makes a journal anew; the request's journal, rows, model and seal have their own."""
    commits: list[str] = []
    synced: list[str] = []

    class Counting(Disk):
        def reached(self, operation: str, path: Path) -> None:
            if operation in ("commit", "sync"):
                (commits if operation == "commit" else synced).append(path.name)

    def journals() -> list[int]:
        return [(path / f"{kind}.sqlite-journal").stat().st_ino for kind in ("register", "ledger")]

    with Store.open(path, disk=Counting()) as store:
        store.serve(EditRequest.delete([name(3)], request_id="one"), note=Register(store.request_log).adding(CASE))
        made = journals()
        commits.clear()
        synced.clear()
        store.serve(EditRequest.delete([name(4)], request_id="two"), note=Register(store.request_log).adding(CASE))
    assert commits == ["register.sqlite", "ledger.sqlite"]
    assert journals() == made
    assert len(synced) + 4 * len(commits) <= 22, synced
