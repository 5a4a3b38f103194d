"""A list of publishers put back from an earlier copy, or lost: places named since may hold models that nobody would look for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from noisygd_delete_server.publishers import publish_to

from noisygd_delete.cli import main
from noisygd_delete.evidence import erasure_certificate
from noisygd_delete.evidence.erasure import erasure_in, ledger_of
from noisygd_delete.store import Store, verify
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.rollback_guard import read_seal
from tests.store.conftest import deaths

from .test_folder import delete


def put_back(path: Path, copy: Path) -> None:
    Layout(path).publishers.unlink()
    if Layout(copy).publishers.exists():
        shutil.copy(Layout(copy).publishers, Layout(path).publishers)


def delete_in(path: Path) -> None:
    with Store.open(path) as store:
        delete(store)


def keys(path: Path, request: str) -> set[str]:
    erasure, plan, events = erasure_in(ledger_of(path), request_id=request)
    return {claim["key"] for claim in erasure_certificate(erasure, plan=plan, events=events)["claims"]}


@pytest.fixture
def moments(path: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A store that publishes to one place, and later to a second; (that store, its copy of before)."""
    with Store.open(path) as store:
        publish_to(store, f"folder:{tmp_path / 'first'}")
    shutil.copytree(path, tmp_path / "earlier")
    with Store.open(path) as store:
        publish_to(store, f"folder:{tmp_path / 'second'}")
    return path, tmp_path / "earlier"


@pytest.mark.parametrize("how", ["earlier", "from before the first", "removed"])
def test_papers_know_of_places_that_a_list_put_back_does_not_name(
    moments: tuple[Path, Path], tmp_path: Path, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, earlier = moments
    if how != "earlier":
        Layout(earlier).publishers.unlink()
    assert verify(path).passed
    put_back(path, earlier)
    (fault,) = verify(path).faults
    assert "publishers.json" in fault
    with Store.open(path) as store:
        delete(store)
        assert any(place.address == "unknown:" for place in store.destinations_behind)
    assert sorted(place.name for place in (tmp_path / "second").iterdir()) != []  # still the model of before
    assert "elsewhere.unknown" in keys(path, "r3")
    for place in ("first", "second"):
        assert main(["publish-to", str(path), f"folder:{tmp_path / place}"]) == 6
    capsys.readouterr()
    assert main(["publish-to", str(path), "unknown:", "--unpublish"]) == 0
    with Store.open(path) as store:
        assert [place.release for place in store.destinations] == [2, 2]
        assert store.destinations_behind == ()
    assert {"elsewhere.none", "elsewhere.unknown"} & keys(path, "r3") == {"elsewhere.none"}
    assert verify(path).passed


def test_the_same_list_put_back_is_none(moments: tuple[Path, Path], tmp_path: Path) -> None:
    path, _ = moments
    shutil.copytree(path, tmp_path / "now")
    with Store.open(path) as store:
        delete(store)
    shutil.copytree(path, tmp_path / "later")
    put_back(path, tmp_path / "later")
    assert verify(path).passed
    assert "elsewhere.none" in keys(path, "r3")
    put_back(path, tmp_path / "now")
    assert not verify(path).passed


def test_a_list_of_a_time_that_was_undone_is_put_back(moments: tuple[Path, Path], tmp_path: Path) -> None:
    """A copy of the whole store was put back, and the list went on from there, as far and further."""
    undone, path = moments
    with Store.open(path) as store:
        for place in ("third", "fourth"):
            publish_to(store, f"folder:{tmp_path / place}")
    assert verify(path).passed
    put_back(path, undone)
    assert not verify(path).passed
    Store.open(path).close()
    delete_in(path)
    assert "elsewhere.unknown" in keys(path, "r3")


def test_a_crash_between_list_and_seal_is_no_list_put_back(path: Path, tmp_path: Path) -> None:
    """At every instant of a change of the list."""

    def publish(store: Store) -> None:
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        publish_to(store, f"folder:{tmp_path / 'out'}")

    for copy, _ in deaths(path, publish):
        with Store.open(copy) as store:
            assert not any(place.address == "unknown:" for place in store.destinations)


def test_a_place_that_is_not_known_is_not_named_by_hand(path: Path) -> None:
    with Store.open(path) as store, pytest.raises(Exception, match="unknown:"):
        publish_to(store, "unknown:")


def test_an_entry_keeps_what_the_seal_says_of_the_list(moments: tuple[Path, Path]) -> None:
    path, _ = moments
    before = Layout(path).seal.read_text()
    with Store.open(path) as store:
        store.withdraw()
    assert '"publishers"' in before
    assert '"publishers"' in Layout(path).seal.read_text()
    assert read_seal(Layout(path).ledger) is not None


def test_a_list_put_back_with_its_seal_is_told_by_the_ids(path: Path, tmp_path: Path) -> None:
    """The ids say how long the ledger is after the seal did."""
    shutil.copytree(path, tmp_path / "earlier")
    with Store.open(path) as store:
        publish_to(store, f"folder:{tmp_path / 'out'}")
        delete(store)
    put_back(path, tmp_path / "earlier")
    shutil.copy(Layout(tmp_path / "earlier").seal, Layout(path).seal)
    assert not verify(path).passed
    Store.open(path).close()
    assert "elsewhere.unknown" in keys(path, "r3")
    assert "register" in " ".join(verify(path).faults)


@pytest.mark.parametrize("lost", ["the folder", "the newer store"])
def test_a_place_named_again_holds_what_is_in_force_whatever_lay_there(path: Path, tmp_path: Path, lost: str) -> None:
    place = tmp_path / "place"
    with Store.open(path) as store:
        publish_to(store, f"folder:{place}")
    shutil.copytree(path, tmp_path / "earlier")
    if lost == "the folder":
        shutil.rmtree(place)
    else:
        delete_in(path)
        shutil.rmtree(path)
        shutil.copytree(tmp_path / "earlier", path)
    with Store.open(path) as store:
        publish_to(store, f"folder:{place}")
        (held,) = store.destinations
        assert (held.release, held.problem) == (store.ledger.model_release, None)
    assert [each.name for each in place.glob("release-*")] == [held.held]
