"""Stores that the code of 0.2.0 made, one of every kind of map and of every method: each opens, is sound, and deletes.

Learned there, and record r1 deleted. A release by `near-gibbs` is foreseen and not made: it takes most of a minute.
"""

from __future__ import annotations

import json
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from noisygd_delete import EditRequest, Store
from noisygd_delete.cli import main
from noisygd_delete.features.maps.catalogue import _CLASSES, _OF_THE_LAB
from noisygd_delete.methods import METHODS

ROOT = Path(__file__).parents[2]
STORES = sorted((ROOT / "tests" / "samples" / "version-0.2" / "stores").glob("*.zip"))
TEXTS = {"ngrams", "sentences"}  # no map of a table: columns of text are hashed by the first, no store names the second


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry points of the lab's distribution, whatever was installed when this environment was made."""
    groups = tomllib.loads((ROOT / "lab" / "pyproject.toml").read_text())["project"]["entry-points"]
    folder = tmp_path / "installed" / "noisygd_delete_lab-0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: noisygd-delete-lab\nVersion: 0\n")
    lines = [f"{name} = {value}" for name, value in groups["noisygd_delete.maps"].items()]
    (folder / "entry_points.txt").write_text("\n".join(["[noisygd_delete.maps]", *lines]) + "\n")
    monkeypatch.syspath_prepend(folder.parent)


def unpacked(sample: Path, folder: Path) -> Path:
    store = folder / "store"
    with zipfile.ZipFile(sample) as packed:
        packed.extractall(store)
    (store / "journal").mkdir(exist_ok=True)  # empty between releases
    for path in [store, *store.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    return store


def kinds(given: dict | None) -> set[str]:
    return set() if given is None else {given["kind"]}.union(*(kinds(part) for part in given.get("of", ())))


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("sample", STORES, ids=lambda path: path.stem)
def test_it_opens_verifies_and_deletes(sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = unpacked(sample, tmp_path)
    with Store.open(path) as store:
        before, released = len(store.records), len(store.accountant.events)
    assert main(["verify", str(path)]) == 0
    later = "near-gibbs" in sample.stem
    assert main(["delete", str(path), "r4", *["--later"] * later]) == 0
    assert main(["verify", str(path)]) == 0
    with Store.open(path) as store:
        assert (len(store.records), store.pending_edits) == (before - 1, later)
        assert len(store.accountant.events) == released + (not later)
        assert store.accountant.events[-1].kind == "unlearn"
        if later:
            foreseen = store.foresee(EditRequest.delete(["r5"]))
            assert (foreseen["publication"], foreseen["steps"]) == ("published", store.accountant.last.steps)
    assert main(["delete", str(path), "r1"]) == 2, "what 0.2.0 erased is gone"
    capsys.readouterr()


def test_every_kind_of_map_and_every_method_has_a_store(tmp_path: Path) -> None:
    maps, methods = set(), set()
    for sample in STORES:
        with zipfile.ZipFile(sample) as packed:
            maps |= kinds(json.loads(packed.read("schema.json")).get("map"))
            methods.add(json.loads(packed.read("plan.json"))["problem"]["method"]["name"])
    assert maps == {*_CLASSES, *_OF_THE_LAB} - TEXTS
    assert methods == {*METHODS, "sharp-exact"} - {"sums"}  # which came later


@pytest.mark.parametrize("kind", _OF_THE_LAB)
def test_without_the_lab_one_sentence_says_what_to_install(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (sample,) = (sample for sample in STORES if sample.stem.startswith(kind))
    path = unpacked(sample, tmp_path)
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    monkeypatch.setattr(metadata, "entry_points", lambda **_: ())
    assert main(["verify", str(path)]) == 2
    said = capsys.readouterr().err
    assert f"the map '{kind}' belongs to the lab; pip install noisygd-delete-lab" in said
    assert said.count("\n") == 1
    assert {file: file.read_bytes() for file in before} == before
    assert main(["delete", str(path), "r4"]) == 0, "an erasure needs no map"
