"""What cannot be seen from inside a store: an old copy put back, and erased ids that return in a file."""

from __future__ import annotations

import json
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from noisygd_delete import EditRequest
from noisygd_delete.errors import InvalidParameter, InvalidRequest, StoreError, StoreLocked
from noisygd_delete.evidence.certificate import FORMAT
from noisygd_delete.store import Store, Tombstones, verify
from noisygd_delete.store.disk import Disk
from noisygd_delete.store.layout import Lock
from tests.cli.planned import main

from .conftest import Crash, CrashAt, name, person, row
from .test_crash import Failing


@pytest.fixture
def key(tmp_path: Path) -> Path:
    assert main(["keygen", str(tmp_path / "key.pem")]) == 0
    return tmp_path / "key.pem"


def erase(path: Path, k: int) -> None:
    assert main(["delete", str(path), name(k), "--request-id", f"r{k}"]) == 0


def certified(path: Path, k: int, key: Path) -> Path:
    """The signed certificate of the request that erased record k."""
    file = path.parent / f"certificate-{k}.json"
    assert main(["certificate", str(path), "--request-id", f"r{k}", "--key", str(key), "--out", str(file)]) == 0
    return file


def continues(path: Path, certificate: Path, *more: str) -> bool:
    status = main(["verify", str(path), "--certificate", str(certificate), *more])
    assert status in (0, 5)
    return status == 0


def test_an_old_copy_put_back_passes_verify_and_fails_against_the_last_certificate(path, tmp_path, key, capsys) -> None:
    erase(path, 0)
    first, backup = certified(path, 0, key), tmp_path / "backup"
    shutil.copytree(path, backup)
    erase(path, 1)
    last = certified(path, 1, key)
    assert continues(path, first)
    assert continues(path, last, "--public-key", f"{key}.pub")

    shutil.rmtree(path)
    shutil.copytree(backup, path)
    assert verify(path).passed, "from inside, an old copy is a store like any other"
    assert continues(path, first)
    capsys.readouterr()
    assert not continues(path, last)
    assert "older copy of the store was restored" in capsys.readouterr().out

    erase(path, 2)  # used since: as long as the true ledger again, with the same kinds, steps and counts of edits
    with Store.open(path) as store:
        assert len(store.ledger.entries) == json.loads(last.read_text())["evidence"]["ledger_entries"]
    assert not continues(path, last)
    assert "restored and used" in capsys.readouterr().out


def test_a_signer_who_states_other_releases_is_found_out_by_the_ledger(path, tmp_path, key, capsys) -> None:
    """Everything else follows from what is stated, so that the paper by itself verifies."""
    from noisygd_delete.evidence import erasure_certificate, sign_document, verify_certificate
    from noisygd_delete.evidence.erasure import erasure_in, ledger_of

    for k in range(4):
        erase(path, k)
    erasure, plan, events = erasure_in(ledger_of(path), request_id="r1")
    assert continues(path, certified(path, 1, key))
    for others in (events[:-1], [*events[:-2], replace(events[-2], edits=2), events[-1]]):
        forged = sign_document(erasure_certificate(erasure, plan=plan, events=others), key)
        assert verify_certificate(json.loads(json.dumps(forged))).passed
        file = tmp_path / "forged.json"
        file.write_text(json.dumps(forged))
        capsys.readouterr()
        assert not continues(path, file, "--public-key", f"{key}.pub")
        assert "states other releases than the first 5 of this ledger" in capsys.readouterr().out


def test_a_certificate_that_proves_nothing_is_not_relied_on(path, tmp_path, key, capsys) -> None:
    erase(path, 0)
    good = json.loads(certified(path, 0, key).read_text())
    other = tmp_path / "other.pem"
    assert main(["keygen", str(other)]) == 0
    file = tmp_path / "file.json"

    def refused(certificate: object, *more: str) -> str:
        file.write_text(json.dumps(certificate))
        capsys.readouterr()
        assert not continues(path, file, *more)
        return capsys.readouterr().out

    assert "unsigned" in refused({key: value for key, value in good.items() if key != "signature"})
    assert "unsigned, or altered" in refused(good | {"evidence": good["evidence"] | {"ledger_entries": 1}})
    assert "not by the expected" in refused(good, "--public-key", f"{other}.pub")
    assert FORMAT in refused([1])
    file.write_text("{")
    assert main(["verify", str(path), "--certificate", str(file)]) == 2
    (path / "ledger.sqlite").write_bytes(b"x" * 9000)
    file.write_text(json.dumps(good))
    assert not continues(path, file)


def test_a_certificate_made_without_a_store_says_so(path, key) -> None:
    from noisygd_delete.evidence import Erasure, erasure_certificate, sign_document
    from noisygd_delete.evidence.verification import history_fault

    with Store.open(path) as store:
        events, ledger = store.accountant.events, store.ledger
        paper = erasure_certificate(Erasure(rows=1, release=None, status="pending"), plan=store.plan, events=events)
    assert "does not say" in str(history_fault(ledger, sign_document(paper, key)))
    with pytest.raises(InvalidParameter, match="both or neither"):
        Erasure(rows=1, release=1, ledger_entries=3)


@pytest.fixture
def tombstones(tmp_path: Path) -> Tombstones:
    return Tombstones.create(tmp_path / "erased.txt", tmp_path / "erased.key")


def inserting(k: int) -> EditRequest:
    return EditRequest.insert([name(k)], [row(k)], [1.0], subjects=[person(k)])


def test_an_erased_id_that_returns_is_refused_where_the_operator_wants_it(path, tombstones) -> None:
    with Store.open(path) as store:
        store.serve(EditRequest.delete([name(0)]))
        store.serve(inserting(0))  # without a list, an ordinary insertion
    with Store.open(path, tombstones=tombstones) as store:
        store.serve(EditRequest.delete([name(0)], subjects=[person(2)]))
        store.serve(EditRequest.replace({name(5): (row(50), 1.0)}))
        before = store.ledger.digests
        for erased in (0, 2, 3):
            for ask in (store.dry_run, store.serve):
                with pytest.raises(InvalidRequest, match="1 of the 1 records to insert were erased before") as caught:
                    ask(inserting(erased))
                assert name(erased) not in str(caught.value)
        assert store.ledger.digests == before
        store.serve(inserting(20))
        store.serve(EditRequest.delete([name(20)]))
    kept = tombstones.path.read_text()
    assert len(kept.splitlines()) == 1 + 4
    assert "token" not in kept
    with pytest.raises(InvalidRequest, match="order of the file: 1, 2"):
        tombstones.refuse([name(0), name(20), "never seen"])
    for file in (tombstones.path, tombstones.path.with_name("erased.key")):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_id_is_noted_before_it_is_erased_whatever_happens(path, tombstones, tmp_path: Path) -> None:
    """Death at every write: whenever the row is gone, its id is on the list. A list that cannot be written stops it."""
    disk = CrashAt()
    request = EditRequest.delete([name(3)], request_id="r")
    shutil.copytree(path, tmp_path / "whole")
    shutil.copy(tombstones.path, tmp_path / "empty.txt")
    with Store.open(tmp_path / "whole", disk=disk, tombstones=tombstones) as store:
        store.serve(request)
    for at in range(len(disk.points)):
        shutil.copytree(path, tmp_path / "copy")
        shutil.copy(tmp_path / "empty.txt", tombstones.path)
        with (
            pytest.raises(Crash),
            Store.open(tmp_path / "copy", disk=CrashAt(at), tombstones=tombstones) as store,
        ):
            store.serve(request)
        with Store.open(tmp_path / "copy") as store:
            gone = name(3) not in store.records
        assert not gone or len(tombstones.path.read_text().splitlines()) == 2
        with Store.open(tmp_path / "copy", tombstones=tombstones) as store:
            store.serve(request)
        assert len(tombstones.path.read_text().splitlines()) == 2
        shutil.rmtree(tmp_path / "copy")
    before = (path / "ledger.sqlite").read_bytes()
    with Store.open(path, disk=Failing("write", 0), tombstones=tombstones) as store:
        with pytest.raises(StoreError, match="no id was erased"):
            store.serve(EditRequest.delete([name(4)]))
        assert name(4) in store.records
    assert (path / "ledger.sqlite").read_bytes() == before


def test_a_list_shared_by_two_stores_is_written_by_one_at_a_time(tombstones, monkeypatch) -> None:
    monkeypatch.setattr("noisygd_delete.store.tombstones._PATIENCE", 0.05)
    lock = Lock(tombstones.path.with_name("erased.txt.lock"))
    with pytest.raises(StoreLocked):
        tombstones.add(["someone"], Disk())
    lock.release()
    tombstones.add(["someone"], Disk())
    with pytest.raises(InvalidRequest):
        tombstones.refuse(["someone"])


def test_the_commands_with_a_list(path, tmp_path: Path, capsys) -> None:
    files = [str(tmp_path / "list.txt"), str(tmp_path / "list.key")]
    assert main(["keygen", files[1], "--tombstones", files[0]]) == 0
    options = ["--tombstones", files[0], "--tombstone-key", files[1]]
    erase(path, 0)
    assert main(["delete", str(path), name(1), *options]) == 0
    new = tmp_path / "new.csv"
    new.write_text(f"id,person,a,b,c,y\n{name(0)},p,0.1,0.2,0.3,yes\n{name(1)},p,0.1,0.2,0.3,yes\n")
    capsys.readouterr()
    assert main(["insert", str(path), "--data", str(new), *options]) == 2
    error = capsys.readouterr().err
    assert "1 of the 2 records" in error
    assert "order of the file: 2" in error
    lines = tmp_path / "requests.jsonl"
    as_row = {"id": name(1), "person": "p", "a": 0.1, "b": 0.2, "c": 0.3, "y": "yes"}
    lines.write_text(json.dumps({"request_id": "s", "insert": [as_row]}))
    assert main(["stream", str(path), str(lines), *options]) == 2
    assert main(["insert", str(path), "--data", str(new), *options[:2]]) == 2
    assert "go together" in capsys.readouterr().err
    inside = ["--tombstones", str(path / "list.txt"), "--tombstone-key", files[1]]
    assert main(["insert", str(path), "--data", str(new), *inside]) == 2
    assert "inside the store" in capsys.readouterr().err
    schema = tmp_path / "schema.toml"
    schema.write_text(
        'rows = "unit"\nintercept = false\nid = "id"\nsubject = "person"\n[label]\ncolumn = "y"\nclasses = ["no", "yes"]\n'
        + "".join(f"[columns.{letter}]\nbounds = [-1, 1]\n" for letter in "abc")
    )
    making = ["init", str(tmp_path / "again"), "--data", str(new), "--schema", str(schema), "--method", "noisy-gd"]
    assert main([*making, *options]) == 2
    assert "were erased before" in capsys.readouterr().err
    assert not (tmp_path / "again").exists()
    assert main(["insert", str(path), "--data", str(new)]) == 0  # opt-in: without the list nothing is remembered
