"""A store whose rows come from a public map: through the command line, erased byte by byte, named on paper, and refused where it moved."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Budget, Records, Schema, Store, losses, make_plan, maps
from noisygd_delete.errors import InvalidParameter
from tests.cli.planned import main
from tests.store.conftest import found

SCHEMA = """\
id = "id"
[label]
column = "y"
classes = ["no", "yes"]
[columns.a]
bounds = [-1, 1]
[columns.b]
bounds = [-1, 1]
[map]
kind = "bins"
bins = 4
buckets = 16
"""


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A store of 40 records made by the command line, learned."""
    rng = np.random.default_rng(8)
    lines = ["id,a,b,y"]
    for k in range(40):
        a, b = rng.uniform(-1, 1, 2)
        lines.append(f"person-{k:03d},{a:.6f},{b:.6f},{'yes' if a * b > 0 else 'no'}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "s.toml").write_text(SCHEMA)
    arguments = ["--data", str(tmp_path / "t.csv"), "--schema", str(tmp_path / "s.toml"), "--method", "noisy-gd"]
    assert main(["init", str(tmp_path / "store"), *arguments, "--regularization", "0.5", "--no-utility"]) == 0
    assert main(["learn", str(tmp_path / "store")]) == 0
    return tmp_path


def test_an_erased_record_leaves_no_byte_of_its_mapped_row(made: Path) -> None:
    path = made / "store"
    with Store.open(path) as store:
        slot = store.records.ids.index("person-007")
        row = np.array(store.records.features[slot])
        np.testing.assert_array_equal(row, store.schema.encode(_table(made)).rows[slot])
    needles = [b"person-007", row.tobytes(), *[value.tobytes() for value in row[:-1] if value]]
    assert len(found(path, needles)) >= len(needles)  # all of them are there to be found before
    assert main(["delete", str(path), "person-007"]) == 0
    assert found(path, needles) == []
    assert main(["verify", str(path)]) == 0


def _table(folder: Path):
    from noisygd_delete.features.schema import read_table

    return read_table(folder / "t.csv")


def test_predictions_insertions_and_evaluations_go_through_the_same_map(made: Path, as_json, printed) -> None:
    path = str(made / "store")
    assert main(["delete", path, "person-001"]) == 0
    (made / "new.csv").write_text("id,a,b,y\nlater,0.25,0.5,yes\n")
    assert main(["insert", path, "--data", str(made / "new.csv")]) == 0
    assert "later" in printed("predict", path, "--data", str(made / "new.csv"), "--json")
    with Store.open(path) as store:
        slot = store.records.ids_by_slot.index("later")
        expected = maps.BinsAndCrosses((0, 0), bins=4, buckets=16).rows([[0.25, 0.5]])[0]
        np.testing.assert_array_equal(store.records.features[slot], expected)
    assert 0 <= as_json("evaluate", path, "--data", str(made / "t.csv"))["accuracy"] <= 1


def test_the_digest_stands_in_plan_ledger_and_certificate(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, digest = made / "store", maps.BinsAndCrosses((0, 0), bins=4, buckets=16).digest
    assert main(["delete", str(path), "person-002"]) == 0
    assert json.loads((path / "plan.json").read_text())["problem"]["feature_map"] == digest
    assert main(["keygen", str(made / "key.pem")]) == 0
    paper = ["--key", str(made / "key.pem"), "--out", str(made / "c.json")]
    assert main(["certificate", str(path), "--release", "2", *paper]) == 0
    certificate = json.loads((made / "c.json").read_text())
    assert certificate["public_facts"]["plan"]["problem"]["feature_map"] == digest
    assert {"key": "map-public", "values": {"digest": digest}, "conditions": []} in certificate["claims"]
    capsys.readouterr()
    assert main(["verify-certificate", str(made / "c.json")]) == 0
    assert main(["relearn", str(path), "--regularization", "0.6"]) == 0
    with Store.open(path) as store:
        assert store.plan.problem.feature_map == digest


def test_a_program_whose_map_moved_makes_no_rows_and_still_erases(
    made: Path, monkeypatch: pytest.MonkeyPatch, complaint
) -> None:
    monkeypatch.setattr(maps.BinsAndCrosses, "version", 2)
    path = str(made / "store")
    assert main(["delete", path, "person-003"]) == 0
    assert main(["verify", path]) == 0
    (made / "new.csv").write_text("id,a,b,y\nlater,0.25,0.5,yes\n")
    for command in ("insert", "predict"):
        assert "other features of a record" in complaint(command, path, "--data", str(made / "new.csv"))


def test_a_plan_for_other_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCHEMA)
    schema = Schema.read(tmp_path / "s.toml")
    plan = make_plan(
        losses.Logistic(1.0), records=3, features=27, regularization=0.5, budget=Budget(order=4, dp=2.0, deletion=0.5),
        method="noisy-gd", utility=False,
    )  # fmt: skip
    records = Records(schema.map.rows(np.eye(3, 2)), [1, -1, 1], ["a", "b", "c"])
    with pytest.raises(InvalidParameter, match="another public map"):
        Store.create(tmp_path / "store", records, schema, plan)
    Store.create(tmp_path / "store", records, schema, plan.of_map(schema.feature_map)).close()


def test_a_network_from_a_file_is_needed_to_map_and_not_to_erase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, complaint
) -> None:
    from tests.features.maps.test_networks import written

    network = written(tmp_path / "net.onnx", np.eye(2, 5))
    (tmp_path / "t.csv").write_text("id,a,b,y\n" + "".join(f"p{k},0.{k},-0.{k},{'yn'[k % 2]}\n" for k in range(9)))
    schema = SCHEMA[: SCHEMA.index("kind")].replace('"no", "yes"', '"n", "y"')
    (tmp_path / "s.toml").write_text(schema + 'kind = "onnx"\nfile = "net.onnx"\ninput_shape = [2]\n')
    monkeypatch.chdir(tmp_path)  # names of files begin at the schema's folder, wherever the store is
    arguments = "--data t.csv --schema s.toml --method noisy-gd --regularization 0.5 --no-utility"
    assert main(["init", "one", *arguments.split()]) == 0
    assert main(["learn", "one"]) == 0
    assert main(["delete", "one", "p1", "p2"]) == 0
    (tmp_path / "new.csv").write_text("id,a,b,y\nlater,0.5,0.5,y\n")
    assert main(["insert", "one", "--data", "new.csv"]) == 0
    network.rename(tmp_path / "away.onnx")
    assert main(["delete", "one", "later"]) == 0
    assert main(["verify", "one"]) == 0
    assert "net.onnx: cannot be read" in complaint("insert", "one", "--data", "new.csv")
    network.write_bytes(b"another")
    assert "its SHA-256 is another" in complaint("predict", "one", "--data", "new.csv")
