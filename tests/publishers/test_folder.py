"""A folder holds one release, the one in force, whatever happened on the way; and nothing of any earlier one."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from noisygd_delete_compliance.request_rows import line_of
from noisygd_delete_server.publishers import publish_to, unpublish
from noisygd_delete_server.publishers.address import RELEASE
from noisygd_delete_server.publishers.folder import CURRENT, MARK
from noisygd_delete_sources import residue

from noisygd_delete.errors import InvalidParameter, PublisherError, StoreCorrupt
from noisygd_delete.store import Store, status, verify
from noisygd_delete.store.destinations import name_of
from tests.store.conftest import SCHEMA, Crash, CrashAt, found, name, plan, records

from .conftest import coefficients, delete, ended, founded, served

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links")


def lies(out: Path) -> list[str]:
    """Everything in the folder but the files of releases."""
    return sorted(path.name for path in out.iterdir())


def in_order(path: Path, out: Path) -> bool:
    """Whether the folder holds what the ledger of the store says, whole, and nothing else."""
    with Store.open(path) as store:
        return in_force(store, out)


def in_force(store: Store, out: Path) -> bool:
    """The same of a store that is open."""
    head, behind, path = store.ledger.head, store.destinations_behind, store.path
    named = name_of(store.ledger.model_release, head.model) if head.in_force else None
    file = path / f"model-{store.ledger.model_release}.safetensors"
    if named is None:
        return not behind and lies(out) in ([], [MARK])
    facts = json.loads((out / CURRENT / "facts.json").read_text())
    digests = {file: hashlib.sha256((out / named / file).read_bytes()).hexdigest() for file in facts["files"]}
    return (
        not behind
        and lies(out) == sorted([MARK, CURRENT, named])
        and os.readlink(out / CURRENT) == named
        and digests == facts["files"]
        and (out / CURRENT / "model.safetensors").read_bytes() == file.read_bytes()
    )


def test_the_release_in_force_lies_there_and_no_earlier_one(path: Path, out: Path) -> None:
    assert in_order(path, out)
    before = coefficients(path / "model-1.safetensors")
    assert found(out, before) != []
    with Store.open(path) as store:
        delete(store)
        assert in_force(store, out)
        assert found(out, before) == []
        assert found(out, after := coefficients(path / "model-2.safetensors")) != []
        store.withdraw()
        assert lies(out) == [MARK]
        assert found(out, after) == []
        delete(store, 4)
        assert in_force(store, out)
        assert unpublish(store, f"folder:{out}").problem is None
        assert store.destinations == ()
        with pytest.raises(InvalidParameter, match="does not publish there"):
            unpublish(store, f"folder:{out}")
        delete(store, 5)
    assert lies(out) == [MARK]
    assert verify(path).passed


def test_what_the_disk_gets_back_is_overwritten(path: Path, out: Path) -> None:
    """A file that was open before shows what is on the disk after its name has gone."""
    before = coefficients(path / "model-1.safetensors")
    with ExitStack() as stack:
        files = [stack.enter_context(file.open("rb", buffering=0)) for file in (out / CURRENT).iterdir()]
        assert len(files) == 6
        assert any(needle in file.readall() for file in files for needle in before)
        with Store.open(path) as store:
            delete(store)
        for file in files:
            file.seek(0)
            content = file.readall()
            assert content
            assert not any(content)


def test_a_withheld_release_takes_the_old_one_away(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Store.create(tmp_path / "store", records(), SCHEMA, plan(releases=2)) as store:
        publish_to(store, f"folder:{out}")
        store.learn()
        delete(store, 0)
        assert in_force(store, out)
        delete(store)
        assert store.ledger.head.model is None
    assert lies(out) == [MARK]


def test_a_failure_keeps_nothing_back_and_is_made_good(path: Path, out: Path) -> None:
    """The folder's place is taken: the release is in the ledger, the register says where the old model still lies."""
    away = out.rename(out.with_name("elsewhere"))
    out.write_text("a file")
    with Store.open(path) as store:
        delete(store)
        assert store.ledger.releases == 2
        (behind,) = store.destinations_behind
    assert "not a folder" in behind.problem
    (told,) = status(path)["publishers"]
    assert (told["pending"], told["release"]) == (True, 1)
    line = line_of(path, "r3")
    assert (line.served.still_at, line.served.withdrawn) == ((f"folder:{out}",), None)
    assert line.to_dict()["still_at"] == f"folder:{out}"
    assert line.closed is None
    out.unlink()
    away.rename(out)
    Store.open(path).close()
    assert in_order(path, out)
    assert line_of(path, "r3").served.still_at == ()
    assert line_of(path, "r3").served.withdrawn is not None


def test_a_failing_destination_does_not_stop_the_next(path: Path, out: Path) -> None:
    second = out.with_name("second")
    with Store.open(path) as store:
        publish_to(store, f"folder:{second}")
        out.rename(out.with_name("away"))
        out.write_text("in the way")
        delete(store)
        assert [each.address for each in store.destinations_behind] == [f"folder:{out}"]
        named = name_of(2, str(store.ledger.head.model))
    assert lies(second) == sorted([MARK, CURRENT, named])


def test_a_publisher_that_never_held_a_release_holds_no_request_open(path: Path) -> None:
    unreached = path.parent / "a disk that is not there" / "out"
    with Store.open(path) as store:
        delete(store)
        publish_to(store, f"folder:{unreached}")
        assert len(store.destinations_behind) == 1
    assert line_of(path, "r3").served.still_at == ()


def copied(master: Path, trial: Path) -> tuple[Path, Path]:
    shutil.rmtree(trial, ignore_errors=True)
    shutil.copytree(master, trial, symlinks=True)
    return trial / "store", trial / "out"


def first(trial: Path, disk: CrashAt) -> None:
    with Store.open(trial / "store", disk=disk) as store:
        publish_to(store, f"folder:{trial / 'out'}")


@pytest.mark.parametrize("operation", [served, first, ended])
def test_a_crash_at_any_point_leaves_one_release_in_the_end(tmp_path: Path, operation) -> None:
    """Every change of folder and list in turn is the last thing that the process does; sometimes so is the next process's."""
    trial, master = tmp_path / "trial", tmp_path / "master"
    path = founded(trial)
    if operation is not first:
        first(trial, CrashAt())
    shutil.copytree(trial, master, symlinks=True)
    whole = CrashAt()
    copied(master, trial)
    operation(trial, whole)
    before, seen = coefficients(master / "store" / "model-1.safetensors"), set()
    begins = min(at for at, (_, name) in enumerate(whole.points) if name.startswith("publishers.json"))
    for at in range(begins, len(whole.points)):  # what comes before is the store's own, and has its own test
        path, out = copied(master, trial)
        with pytest.raises(Crash):
            operation(trial, CrashAt(at))
        if out.exists():
            links = [entry for entry in out.iterdir() if entry.name == CURRENT]
            seen.add((len(links), sum(bool(RELEASE.fullmatch(entry)) for entry in lies(out))))
            assert all((link / "facts.json").is_file() for link in links), (
                "readers of the alias always find a whole release"
            )
        if at % 2:
            with suppress(Crash):  # the next process may have less to do than that
                Store.open(path, disk=CrashAt(at // 8)).close()
        operation(trial, CrashAt())
        assert in_order(path, out)
        assert bool(found(out, before)) == (operation is first)
        assert verify(path).faults == ()
    assert len(seen) >= 2


def test_what_others_put_there_is_named_and_left(path: Path, out: Path) -> None:
    (out / CURRENT / "notes.txt").write_text("years of work")
    (out / "release-notes.txt").write_text("years of work")
    with Store.open(path) as store:
        delete(store)
        (behind,) = store.destinations_behind
        assert "notes.txt: not put there by this program" in behind.problem
        assert line_of(path, "r3").served.still_at == (f"folder:{out}",)
    assert found(out, coefficients(path / "model-2.safetensors")) != []
    (notes,) = out.glob("*/notes.txt")
    assert notes.read_text() == (out / "release-notes.txt").read_text() == "years of work"
    notes.unlink()
    with Store.open(path) as store:
        assert store.destinations_behind == ()
    assert lies(out) == [MARK, CURRENT, os.readlink(out / CURRENT), "release-notes.txt"]


def test_a_folder_belongs_to_one_store(path: Path, out: Path, tmp_path: Path) -> None:
    other = founded(tmp_path / "other")
    held = lies(out)
    with Store.open(other) as store:
        with pytest.raises(PublisherError, match="another store publishes here"):
            publish_to(store, f"folder:{out}")
        assert store.destinations == ()
        delete(store)
    assert lies(out) == held
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with Store.open(path) as store:
        with pytest.raises(PublisherError, match="holds files already"):
            publish_to(store, f"folder:{tmp_path / 'mine'}")
        assert [known.address for known in store.destinations] == [f"folder:{out}"]
        assert store.destinations_behind == ()
    assert lies(tmp_path / "mine") == ["thesis.txt"]


def test_a_place_that_was_taken_before_the_first_release_can_be_given_up(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Store.create(tmp_path / "store", records(), SCHEMA, plan()) as store:
        publish_to(store, f"folder:{out}")
        out.mkdir()
        (out / "thesis.txt").write_text("years of work")
        store.learn()
        assert "holds files already" in store.destinations_behind[0].problem
        assert unpublish(store, f"folder:{out}").problem is None
        assert store.destinations == ()
    assert lies(out) == ["thesis.txt"]


def test_a_link_in_place_of_a_release_is_not_followed(path: Path, out: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "model.json").write_text("years of work")
    (out / "release-7-0123456789ab").symlink_to(tmp_path / "precious")
    with Store.open(path) as store:
        delete(store)
    assert in_order(path, out)
    assert (tmp_path / "precious" / "model.json").read_text() == "years of work"


def test_readers_may_be_others_than_the_owner(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "open"
    out.mkdir(mode=0o755)
    out.chmod(0o755)
    with Store.open(path) as store:
        publish_to(store, f"folder:{out}")
    assert (out / CURRENT).resolve().stat().st_mode & 0o777 == 0o755
    assert {file.stat().st_mode & 0o777 for file in (out / CURRENT).iterdir()} == {0o644}


def test_residue_looks_where_a_store_publishes(path: Path, out: Path) -> None:
    (out / "leaked.csv").write_text("identifier-token-0003,1")
    found = residue([name(3)], str(path)).to_dict()["places"]
    assert any(place["verdict"] == "RESIDUAL" and "leaked.csv" in place["place"] for place in found)
    out.rename(out.with_name("away"))
    out.write_text("a file")
    with Store.open(path) as store:
        delete(store)
    found = residue([name(3)], str(path)).to_dict()["places"]
    assert any("before the current release" in place["place"] and place["verdict"] == "NOT COVERED" for place in found)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("folder:", "not an address"),
        ("somewhere", "not an address"),
        ("s3://key:secret@host/bucket", "no password"),
        ("mlflow:https://me:secret@host", "no password"),
        ("folder:/tmp/a\nb", "one line"),
        ("x" * 2000, "one line"),
        ("", "one line"),
    ],
)
def test_an_address_that_is_none_is_refused(path: Path, address: str, said: str) -> None:
    with Store.open(path) as store, pytest.raises(InvalidParameter, match=said):
        publish_to(store, address)
    assert not (path / "publishers.json").exists()


def test_nothing_is_published_into_a_store(path: Path) -> None:
    with Store.open(path) as store:
        with pytest.raises(InvalidParameter, match="inside the store"):
            publish_to(store, f"folder:{path / 'out'}")
        with pytest.raises(InvalidParameter, match="MLflow's registry"):
            publish_to(store, "folder:/tmp/x", model="people")


def test_a_damaged_list_is_named(path: Path, out: Path) -> None:
    (path / "publishers.json").write_text('{"store": "x", "publishers": [{"address": "folder:/tmp/x", "held": "y"}]}')
    assert any("publishers.json" in fault for fault in verify(path).faults)
    with pytest.raises(StoreCorrupt, match=r"publishers\.json"):
        Store.open(path)
    (path / "publishers.json").unlink()
    Store.open(path).close()


def test_a_store_that_publishes_nowhere_has_no_list(path: Path) -> None:
    with Store.open(path) as store:
        delete(store)
        assert store.destinations == ()
    assert status(path)["publishers"] == []
    assert not (path / "publishers.json").exists()


PLANTED = {
    "its mark, half written": lambda out, release: out / f"{MARK}.tmp",
    "a file of a release": lambda out, release: out / release / "model.safetensors",
    "code of a release": lambda out, release: out / release / "model.py",
    "a half-written release": lambda out, release: out / f"{release}.tmp" / "facts.json",
    "a half-written file": lambda out, release: out / release / "schema.json.tmp",
    "the object in force": lambda out, release: out / "current.json",
    "an object of a release": lambda out, release: out / release / "facts.json",
}


@pytest.mark.parametrize("kind", ["folder:", "file://"])
@pytest.mark.parametrize("planted", PLANTED)
def test_nothing_is_written_through_a_hard_link(tmp_path: Path, planted: str, kind: str) -> None:
    """A stranger gives a name in the folder to a file of ours: it keeps its bytes and its mode, whatever is published and withdrawn."""
    if kind == "file://":
        pytest.importorskip("fsspec")
    victim, out = tmp_path / "victim", tmp_path / "out"
    victim.write_bytes(b"a file of ours")
    victim.chmod(0o400)
    path = founded(tmp_path / "store")

    def plant(release: str) -> None:
        place = PLANTED[planted](out, release)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        os.link(victim, place)

    with Store.open(path) as store:
        named = name_of(1, store.ledger.head.model)
        if planted == "its mark, half written":
            plant(named)
        with suppress(PublisherError, InvalidParameter):
            publish_to(store, f"{kind}{out}")
        if planted != "its mark, half written":
            plant(named)
        for k in range(2):
            delete(store, k + 3)
        with suppress(PublisherError, InvalidParameter):
            unpublish(store, f"{kind}{out}")
    assert victim.read_bytes() == b"a file of ours"
    assert victim.stat().st_mode & 0o777 == 0o400
