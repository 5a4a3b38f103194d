"""`publish-to`: said once, followed by every command that publishes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete.features.schema import published as reader
from tests.cli.planned import main

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links")


def held(out: Path) -> int:
    return json.loads((out / "current" / "facts.json").read_text())["release"]


def test_every_command_that_publishes_moves_the_folder_on(folder: Path, as_json, printed) -> None:
    assert f"folder:{folder / 'out'}: holds release 2 since" in printed("publish-to", "store", "folder:out")
    (told,) = as_json("delete", "store", "identifier-002")["publishers"]
    assert (told["release"], told["pending"], held(folder / "out")) == (3, False, 3)
    (folder / "requests.jsonl").write_text('{"request_id": "s1", "delete": ["identifier-003"]}\n')
    assert main(["stream", "store", "requests.jsonl", "--batch", "1"]) == 0
    assert held(folder / "out") == 4
    assert main(["publish", "store", "--force"]) == 0
    assert held(folder / "out") == 5
    assert "holds release 5" in printed("status", "store")
    assert main(["publish-to", "store", "folder:out", "--unpublish"]) == 0
    assert [path.name for path in (folder / "out").iterdir()] == [".noisygd-delete"]


def test_a_failure_is_one_line_and_the_release_stands(
    folder: Path, capsys: pytest.CaptureFixture[str], printed
) -> None:
    assert main(["publish-to", "store", "folder:out"]) == 0
    (folder / "out").rename(folder / "away")
    (folder / "out").write_text("in the way")
    capsys.readouterr()
    assert (
        main(["delete", "store", "identifier-002", "--request-id", "second", "--received", "2026-05-04T09:30+02:00"])
        == 0
    )
    said = capsys.readouterr()
    assert "release 3" in said.out
    assert len(said.err.splitlines()) == 1
    assert "release 2" in said.err
    assert main(["publish-to", "store"]) == 6
    assert f"a model that used the rows is still at folder:{folder / 'out'}" in printed("register", "list", "store")
    (folder / "out").unlink()
    (folder / "away").rename(folder / "out")
    assert main(["publish-to", "store"]) == 0
    assert held(folder / "out") == 3
    assert "still at" not in printed("register", "list", "store")


def test_a_store_has_publishers_before_its_first_model(folder: Path) -> None:
    init = ["init", "new", "--data", "people.csv", "--schema", "schema.toml", "--method", "noisy-gd"]
    assert main([*init, "--regularization", "0.1", "--no-utility"]) == 0
    assert main(["publish-to", "new", "folder:one"]) == main(["publish-to", "new", "folder:two"]) == 0
    assert main(["learn", "new"]) == 0
    assert held(folder / "one") == held(folder / "two") == 1


def test_what_cannot_be_meant_is_refused(folder: Path, complaint) -> None:
    assert "somewhere" in complaint("publish-to", "store", "somewhere")
    assert "--unpublish" in complaint("publish-to", "store", "--unpublish")
    assert "belong to an ADDRESS" in complaint("publish-to", "store", "--model", "x")


def test_a_model_is_exported_for_other_programs(folder: Path, as_json) -> None:
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    for _ in range(2):  # a second time it is written over
        assert main(["export", "store", "--onnx", "model.onnx", "--plain", "model.json"]) == 0
    session = onnxruntime.InferenceSession((folder / "model.onnx").read_bytes(), providers=["CPUExecutionProvider"])
    (labels,) = session.run(["label"], {"a": np.array([[-9.0], [0.0], [9.0]])})
    plain = reader.load(str(folder / "model.json")).predict({"a": [-9, 0, 9]})
    (folder / "new.csv").write_text("a\n-9\n0\n9\n")
    said = as_json("predict", "store", "--data", "new.csv")["predictions"]
    assert labels.tolist() == plain == list(said.values())


def test_only_an_export_is_written_over(folder: Path, complaint) -> None:
    (folder / "model.onnx").write_bytes(b"somebody's")
    assert "model.onnx" in complaint("export", "store", "--onnx", "model.onnx")
    assert (folder / "model.onnx").read_bytes() == b"somebody's"
    assert "is also one" in complaint("export", "store", "--onnx", "one", "--plain", "one")
    assert "--onnx or --plain" in complaint("export", "store")
