"""One odd cell stops no file: `predict`, `evaluate` and `insert` leave its row out, say where and why, and go on. Targets are scored as the
file has them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete.reports.evaluation import evaluate
from noisygd_delete.store import Store
from tests.cli.planned import main

CLASSES = 'classes = ["no", "yes"]'
TARGET = "bounds = [0, 10]"
SCHEMA = 'confirmed = true\nid = "id"\n[label]\ncolumn = "y"\n{label}\n[columns.size]\nbounds = [0, 100]\n[columns.town]\ncategories = ["u", "v"]\nunknown = "refuse"\n'
PLAN = ["--method", "noisy-gd", "--regularization", "0.1", "--no-utility", "--no-total"]
ODD = "1,50,u,{0}\n2,SECRET,u,{0}\n3,,v,{0}\n4,50,SECRET,{0}\n5,50,v,{1}\n6,50,u,\n7,70,u,{0}\n"


def store(folder: Path, monkeypatch: pytest.MonkeyPatch, label: str, said: tuple[str, str]) -> None:
    monkeypatch.chdir(folder)
    Path("schema.toml").write_text(SCHEMA.format(label=label))
    rows = [f"{k + 100},{k},{'uv'[k % 2]},{said[k % 2]}" for k in range(80)]
    Path("people.csv").write_text("\n".join(["id,size,town,y", *rows]) + "\n")
    assert main(["init", "store", "--data", "people.csv", "--schema", "schema.toml", "--slots", "100", *PLAN]) == 0
    assert main(["learn", "store"]) == 0


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[dict, str]:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert "SECRET" not in out.replace('"SECRET"', "") + err
    return json.loads(out), err


def test_predict_evaluate_and_insert_go_on(tmp_path: Path, monkeypatch, capsys) -> None:
    store(tmp_path, monkeypatch, CLASSES, ("no", "yes"))
    Path("odd.csv").write_text("id,size,town,y\n" + ODD.format("yes", "maybe"))
    answer, _ = asked(capsys, "predict", "store", "--data", "odd.csv")
    assert sorted(answer["predictions"]) == ["1", "5", "6", "7"], "a row whose label alone is odd is predicted"
    assert len(answer["skipped"]) >= 3
    assert any("line 3" in text and "'size'" in text for text in answer["skipped"])
    assert any("not measured" in text and "'y'" in text for text in answer["skipped"])
    measured, _ = asked(capsys, "evaluate", "store", "--data", "odd.csv")
    assert measured["rows"] == 2
    assert any("line 6" in text for text in measured["skipped"])
    _, told = asked(capsys, "insert", "store", "--data", "odd.csv")
    assert "line 5" in told
    with Store.open("store") as opened:
        assert {"1", "7"} <= set(opened.records.ids)
        assert not {"2", "3", "4", "5", "6"} & set(opened.records.ids)


def test_a_file_of_nothing_but_odd_rows_is_refused(tmp_path: Path, monkeypatch, complaint) -> None:
    store(tmp_path, monkeypatch, CLASSES, ("no", "yes"))
    Path("odd.csv").write_text("id,size,town,y\n1,x,u,no\n")
    for command in ("predict", "evaluate", "insert"):
        assert "column 'size': not a finite number" in complaint(command, "store", "--data", "odd.csv")
    Path("none.csv").write_text("id,town,y\n1,u,no\n")
    assert main(["predict", "store", "--data", "none.csv"]) == 2, "a column that is missing is no odd cell"


def test_a_replacement_is_of_all_its_rows_or_none(tmp_path: Path, monkeypatch) -> None:
    store(tmp_path, monkeypatch, CLASSES, ("no", "yes"))
    Path("odd.csv").write_text("id,size,town,y\n100,1,u,no\n101,x,u,no\n")
    assert main(["replace", "store", "--data", "odd.csv"]) == 2


def test_targets_beyond_the_bounds_count_as_they_are(tmp_path: Path, monkeypatch, capsys) -> None:
    """By numpy on the file's own numbers: a model that is a thousand off is not called right because the bound is ten."""
    store(tmp_path, monkeypatch, TARGET, ("1", "9"))
    truths = [5.0, 9.0, 1000.0, -300.0]
    Path("later.csv").write_text("id,size,town,y\n" + "".join(f"{k},50,u,{truth}\n" for k, truth in enumerate(truths)))
    said, _ = asked(capsys, "predict", "store", "--data", "later.csv")
    apart = np.array([said["predictions"][str(k)] for k in range(4)]) - truths
    assert said["mean_absolute_error"] == pytest.approx(np.abs(apart).mean())
    assert said["mean_absolute_error"] > 300
    with Store.open("store") as opened:
        found = evaluate(opened, "later.csv")
    assert found.r2 == pytest.approx(1 - (apart**2).sum() / ((truths - np.mean(truths)) ** 2).sum())
    assert found.mean_absolute_error == pytest.approx(np.abs(apart).mean())
    assert found.baseline == pytest.approx(np.median(truths))
