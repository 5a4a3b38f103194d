"""A table, from a file to an erasure, by the command line alone: text, JSON, exit status, and what must not be printed."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Budget, EditRequest, losses, make_plan
from noisygd_delete.cli.release import describe_release
from noisygd_delete.curator.release import Release
from noisygd_delete.store import Store
from noisygd_delete.store.disk import Disk
from tests.cli.planned import main

ROOT = Path(__file__).parents[2]
SCHEMA = """\
[label]
column = "y"
classes = ["no", "yes"]
[columns.a]
bounds = [-10, 10]
[columns.b]
categories = ["u", "v"]
"""
HEAD = "id,person,a,b,y\n"
PLAN = ["--method", "noisy-gd", "--regularization", "0.1", "--rows-per-subject", "2", "--no-utility"]


def line(k: int) -> str:
    return f"identifier-{k:03d},subject-{k // 2:03d},{k - 10},{'uvw'[k % 3]},{'yes' if k % 2 else 'no'}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(HEAD + "".join(map(line, range(20))))
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


def init(*more: str) -> list[str]:
    columns = ["--label", "y", "--id", "id", "--subject", "person"]
    return ["init", "store", "--data", "people.csv", *columns, "--schema", "schema.toml", *PLAN, *more]


@pytest.mark.parametrize("then", ["demand", "automatic"])
def test_a_non_convex_store_under_composition_asks_for_a_fresh_learn_or_runs_it(
    folder: Path, as_json, then: str
) -> None:
    composed = [
        "--method",
        f"noisy-gd:analysis=composition,requests_per_learn=2,fresh_learn={then}",
        "--loss",
        "sigmoid",
    ]
    as_json(*init(*composed))
    as_json("learn", "store")
    assert as_json("delete", "store", "identifier-001")["status"] == "published"
    assert as_json("delete", "store", "identifier-002")["status"] == "published"
    if then == "automatic":
        assert as_json("delete", "store", "identifier-003")["kind"] == "relearn"
    else:
        assert as_json("delete", "store", "identifier-003", status=3)["status"] == "withheld"
        as_json("relearn", "store")
        assert as_json("delete", "store", "identifier-004")["status"] == "published"


def test_from_a_table_to_an_erasure(folder: Path, as_json) -> None:
    dry = as_json(*init("--slots", "25", "--dry-run"))
    assert dry["created"] is False
    assert not (folder / "store").exists()
    made = as_json(*init("--slots", "25"))
    assert (made["records"], made["slots"], made["features"]) == (20, 25, 5)
    assert made["unknown"] == {"b": 6}
    assert made["clipped"] == {"a": 0}
    learned = as_json("learn", "store")
    assert (learned["release"], learned["kind"], learned["status"]) == (1, "learn", "published")
    assert {"dp", "dp_cumulative"} == set(learned["guarantees"])

    assert as_json("delete", "store", "identifier-004", "--dry-run")["edits"] == 1
    (folder / "ids.txt").write_text("identifier-006\n\nidentifier-009\n")
    deleted = as_json("delete", "store", "identifier-004", "--file", "ids.txt", "--request-id", "abc")
    assert (deleted["edits"], deleted["release"]) == (3, 2)
    assert "deletion" in deleted["guarantees"]
    told = as_json("delete", "store", "identifier-004", "--file", "ids.txt", "--request-id", "abc")
    assert (told["release"], told["guarantees"], told["gradient_passes"]) == (2, deleted["guarantees"], 0)
    later = as_json("delete", "store", "--subject", "subject-000", "--no-publish")
    assert (later["status"], later["edits"]) == ("pending", 2)
    assert as_json("publish", "store", "--dry-run")["pending_edits"] == 2
    assert as_json("publish", "store")["edits"] == 2
    assert as_json("publish", "store", "--force")["edits"] == 0

    (folder / "new.csv").write_text(HEAD + line(30) + line(31).replace("21", "99"))
    assert as_json("insert", "store", "--data", "new.csv", "--dry-run")["edits"] == 2
    inserted = as_json("insert", "store", "--data", "new.csv")
    assert (inserted["edits"], inserted["clipped"]["a"], inserted["release"]) == (2, 2, 5)
    replanned = as_json("relearn", "store", "--dp", "2", "--deletion", "0.01", "--slots", "30", "--dry-run")
    assert (replanned["dp"], replanned["method"]) == (2, "noisy-gd")
    again = as_json("relearn", "store", "--dp", "2", "--deletion", "0.01", "--slots", "30")
    assert (again["kind"], again["release"]) == ("relearn", 6)
    state = as_json("status", "store")
    assert (state["slots"], state["records"], state["releases"], state["pending_edits"]) == (30, 17, 6, 0)
    spent = as_json("budget", "store", "--delta", "1e-5", "--order", "4")
    assert [entry["release"] for entry in spent["releases"]] == [1, 2, 3, 4, 5, 6]
    assert {"order", "renyi", "gdp", "epsilon", "delta"} == set(spent["cumulative"])
    assert spent["releases"][1]["deletion"]["renyi"] > 0

    assert as_json("verify", "store")["passed"]
    gone = ["identifier-004", "identifier-006", "identifier-009", "identifier-000", "identifier-001", "subject-000"]
    (folder / "gone.txt").write_text("\n".join(gone))
    assert as_json("verify", "store", "--absent", "gone.txt") == {"passed": True, "tokens": 6, "found": []}
    (folder / "there.txt").write_text("identifier-005\n")
    found = as_json("verify", "store", "--absent", "there.txt", status=5)
    assert found["passed"] is False
    assert "identifier-005" not in json.dumps(found)


def test_every_answer_is_also_text_and_never_repeats_an_erased_id(folder: Path, capsys, printed) -> None:
    (folder / "gone.txt").write_text("identifier-004\nsubject-003\n")
    printed = {}
    for arguments in (
        init(),
        ["learn", "store", "--dry-run"],
        ["learn", "store"],
        ["delete", "store", "identifier-004", "--dry-run"],
        ["delete", "store", "identifier-004"],
        ["delete", "store", "--subject", "subject-003", "--no-publish"],
        ["publish", "store", "--dry-run"],
        ["publish", "store"],
        ["relearn", "store", "--dry-run"],
        ["relearn", "store"],
        ["status", "store"],
        ["budget", "store"],
        ["verify", "store"],
        ["verify", "store", "--absent", "gone.txt"],
    ):
        assert main(arguments) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        assert "identifier-004" not in captured.out
        assert "subject-003" not in captured.out
        printed[" ".join(arguments[:2])] = captured.out
    assert "20 records in 21 slots (1 free)" in printed["init store"]
    assert "sound" not in printed["status store"]
    rows = [line.split() for line in printed["status store"].splitlines() if line.startswith("pending")]
    assert rows == [["pending", "edits", "0"]]
    assert "publications left: " in printed["budget store"]


def test_a_spent_budget_is_status_3_and_the_rows_are_erased(folder: Path, capsys, as_json, complaint) -> None:
    assert main(init("--releases", "2")) == main(["learn", "store"]) == main(["delete", "store", "identifier-001"]) == 0
    capsys.readouterr()
    assert as_json("delete", "store", "identifier-002", "--dry-run")["publication"] == "withheld"
    answer = as_json("delete", "store", "identifier-002", status=3)
    assert answer["status"] == "withheld"
    (folder / "gone.txt").write_text("identifier-002")
    assert as_json("verify", "store", "--absent", "gone.txt")["passed"]
    assert as_json("status", "store")["model"] == "withdrawn"
    assert "exceed the budget" in complaint("relearn", "store", status=3)
    assert main(["delete", "store", "identifier-003"]) == 3
    assert "planned with a larger --dp" in capsys.readouterr().out
    (folder / "requests.jsonl").write_text('{"request_id": "r", "delete": ["identifier-004"]}')
    assert main(["stream", "store", "requests.jsonl", "--batch", "1"]) == 3
    told = capsys.readouterr().out
    assert "1 requests served, 0 answered before, 0 refused; 0 releases" in told
    assert "one release, a record still there" not in told
    assert as_json("relearn", "store", "--dp", "9", "--releases", "5")["edits"] == 3


def test_mistakes_are_one_paragraph_and_status_2(folder: Path, as_json, complaint) -> None:
    draft = ["init", "--data", "people.csv", "--label", "y", "--id", "id", "--draft-schema", "draft.toml"]
    assert "read off the data" in as_json(*draft)["warning"]
    assert "new file" in complaint(*draft)
    assert "--label" in complaint(*draft[:3], "--draft-schema", "other.toml")
    assert "confirmed = false" in complaint("init", "store", "--data", "people.csv", "--schema", "draft.toml")
    assert "no store here" in complaint("learn", "nowhere")
    assert "no column 'who'" in complaint(*init(), "--id", "who")
    assert "contradicts" in complaint(*init(), "--label", "b")
    assert "rows_per_subject=1 is less than the 2 rows" in complaint(*init(), "--rows-per-subject", "1")
    assert "STORE" in complaint("init", "--data", "people.csv", "--schema", "schema.toml")
    assert main(init("--slots", "20")) == 0
    assert "a store already" in complaint(*init())
    assert "empty" in complaint("delete", "store")
    assert "cannot be read" in complaint("delete", "store", "--file", "none.txt")
    assert "cannot be read" in complaint("verify", "store", "--absent", "none.txt")
    assert "cannot be read" in complaint("insert", "store", "--data", "none.csv")
    (folder / "bad.csv").write_text(HEAD + "identifier-050,subject-050,many,u,no\n")
    assert "line 2, column 'a': not a finite number" in complaint("insert", "store", "--data", "bad.csv")
    assert "not in the table" in complaint("delete", "store", "nobody")
    (folder / "new.csv").write_text(HEAD + line(40))
    assert "slots are free" in complaint("insert", "store", "--data", "new.csv")
    assert "may only grow" in complaint("relearn", "store", "--slots", "3")
    assert as_json("verify", "store")["passed"]


def test_a_regression_and_several_classes_pick_their_loss(folder: Path, as_json) -> None:
    for number, (label, loss) in enumerate({
        'column = "a"\nbounds = [-10, 10]': "pseudo-huber",
        'column = "b"\nclasses = ["u", "v", "w"]': "softmax",
    }.items()):  # fmt: skip
        (folder / "schema.toml").write_text(f'id = "id"\n[label]\n{label}\n')
        store = f"store-{number}"
        command = ["init", store, "--data", "people.csv", "--schema", "schema.toml", "--method", "noisy-gd"]
        assert main([*command, "--regularization", "0.1"]) == main(["learn", store]) == 0
        assert main(["relearn", store, "--dp", "2"]) == main(["delete", store, "identifier-003"]) == 0
        assert as_json("status", store)["loss"] == loss


def test_relearning_changes_what_is_asked_and_nothing_else(folder: Path, as_json) -> None:
    (folder / "schema.toml").write_text('id = "id"\n[label]\ncolumn = "a"\nbounds = [-10, 10]\n')
    command = ["init", "store", "--data", "people.csv", "--schema", "schema.toml", "--method", "noisy-gd"]
    assert (
        main([*command, "--regularization", "0.1", "--loss", "pseudo-huber:delta=0.5", "--no-total"])
        == main(["learn", "store"])
        == 0
    )
    with Store.open("store") as store:
        first = store.plan.problem
    for options, changed in (
        ([], {}),
        (["--no-utility"], {"utility": False}),
        (["--loss", "pseudo-huber:delta=0.25"], {"loss": losses.PseudoHuber(radius=1.0, delta=0.25)}),
        (["--dp", "2", "--order", "5"], {"budget": Budget(order=5, dp=2.0, deletion=0.2)}),
        (["--gdp", "--dp", "1"], {"budget": Budget.from_gdp(dp=1.0, deletion=0.1)}),
        (["--regularization", "0.2", "--batch", "3"], {"regularization": 0.2, "batch": 3}),
        (["--delta", "1e-5"], {"budget": Budget.from_epsilon_delta(dp=(1.0, 1e-5), deletion=(0.1, 1e-5))}),
        (["--dp", "2"], {"budget": Budget.from_epsilon_delta(dp=(2.0, 1e-5), deletion=(0.1, 1e-5))}),
    ):
        as_json("relearn", "store", *options)
        with Store.open("store") as store:
            assert store.plan.problem == replace(first, **changed)
            first = store.plan.problem


def test_a_second_writer_is_told_so_and_may_wait(folder: Path, as_json, complaint) -> None:
    assert main(init()) == main(["learn", "store"]) == 0
    with Store.open("store"):
        assert "another process" in complaint("delete", "store", "identifier-001", status=4)
        assert "another process" in complaint("verify", "store", status=4)
        assert as_json("status", "store")["releases"] == 1
        assert len(as_json("budget", "store")["releases"]) == 1
        command = [
            sys.executable,
            *["-m", "noisygd_delete", "delete", "store", "identifier-001", "--wait", "30", "--json"],
        ]
        waiting = subprocess.Popen(
            command, stdout=subprocess.PIPE, cwd=folder, env={"PYTHONPATH": str(ROOT), "PATH": ""}
        )
        time.sleep(1.0)
        assert waiting.poll() is None
    output, _ = waiting.communicate(timeout=60)
    assert waiting.returncode == 0
    assert json.loads(output)["release"] == 2


def test_a_device_is_chosen_or_refused_before_anything_changes(folder: Path, as_json, monkeypatch, complaint) -> None:
    pytest.importorskip("torch", reason="a device needs torch")
    from noisygd_delete.engine.device import DeviceObjective

    seen, descend = [], DeviceObjective.descend
    monkeypatch.setattr(
        DeviceObjective, "descend", lambda self, *a, **k: seen.append(self.device) or descend(self, *a, **k)
    )
    assert main(init("--method", "noisy-gd:exact=false")) == main(["learn", "store", "--device", "cpu:0"]) == 0
    assert [str(place) for place in seen] == ["cpu:0"]
    assert "no CUDA device 99" in complaint("delete", "store", "identifier-001", "--device", "cuda:99")
    monkeypatch.setenv("NOISYGD_DELETE_DEVICE", "gpu")
    assert "device must be" in complaint("delete", "store", "identifier-001")
    assert as_json("status", "store")["pending_edits"] == 0
    assert as_json("delete", "store", "identifier-001", "--device", "cpu")["release"] == 2
    assert len(seen) == 1


def test_status_finishes_what_a_crash_interrupted(folder: Path, capsys, as_json) -> None:
    class Dies(Disk):
        def reached(self, operation: str, path: Path) -> None:
            if (operation, path.name) == ("commit", "ledger.sqlite"):
                raise KeyboardInterrupt

    assert main(init()) == main(["learn", "store"]) == 0
    capsys.readouterr()
    with Store.open("store", disk=Dies()) as store, pytest.raises(KeyboardInterrupt):
        store.serve(EditRequest.delete(["identifier-001"]))
    assert "a request was interrupted" in json.dumps(as_json("verify", "store", status=5))
    assert main(["status", "store", "--json"]) == 0
    captured = capsys.readouterr()
    assert "was finished first: release 2" in captured.err
    assert json.loads(captured.out)["releases"] == 2
    assert as_json("verify", "store")["passed"]


def test_an_interrupt_is_one_line(folder: Path, capsys, monkeypatch: pytest.MonkeyPatch, complaint) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    assert main(init()) == 0
    capsys.readouterr()
    monkeypatch.setattr(Store, "learn", interrupted)
    assert "finished by the next command" in complaint("learn", "store", status=130)


def test_columns_keep_the_order_of_the_schema(folder: Path, as_json) -> None:
    """A row put in later has its values in the same places as the rows that were there, whatever the columns are called."""
    swapped = SCHEMA.replace("[columns.a]", "[columns.zeal]").replace("[columns.b]", "[columns.age]")
    Path("schema.toml").write_text(swapped)
    text = Path("people.csv").read_text().replace(HEAD, "id,person,zeal,age,y\n")
    Path("people.csv").write_text(text)
    as_json(*init("--slots", "21"))
    Path("new.csv").write_text("id,person,zeal,age,y\n" + line(3).replace("-003", "-103").replace("-001", "-101"))
    as_json("learn", "store")
    as_json("insert", "store", "--data", "new.csv")
    with Store.open("store") as store:
        assert store.schema.names == ["zeal", "age=u", "age=v", "age: other", "(constant)"]
        np.testing.assert_array_equal(store.records.features[20], store.records.features[3])


def test_relearning_asks_the_forecast_of_the_ridge_again(folder: Path, as_json) -> None:
    (folder / "schema.toml").write_text('id = "id"\n[label]\ncolumn = "a"\nbounds = [-10, 10]\n')
    command = shlex.split("init store --data people.csv --schema schema.toml --method noisy-gd --clip 0.5")
    ridge = ["--regularization", "0.01", "--ridge", "forecast", "--model-norm", "3", "--no-total"]
    assert main([*command, *ridge]) == main(["learn", "store"]) == 0

    def relearned(*options: str):
        as_json("relearn", "store", *options)
        with Store.open("store") as store:
            return store.plan.problem

    first = relearned()
    assert first.regularization > first.requested_regularization == 0.01
    assert first.loss == losses.clip_loss(losses.PseudoHuber(radius=1.0), 0.5)
    assert relearned("--dp", "100").regularization < first.regularization
    assert relearned("--regularization", "9").requested_regularization == 9
    given = relearned("--ridge", "given", "--regularization", "0.2", "--clip", "0.4")
    assert (given.regularization, given.requested_regularization, given.model_norm) == (0.2, None, None)
    assert given.loss.limit == 0.4


@pytest.mark.parametrize(("rows", "unit"), [(1, "(erased-vs-never),"), (3, "(erased-vs-never, one data subject with at most 3 rows),")])  # fmt: skip
def test_a_release_says_whose_rows_its_figures_are_about(rows: int, unit: str) -> None:
    plan = make_plan(losses.Logistic(radius=1.0), records=500, features=3, regularization=0.05, rows_per_subject=rows,
                     budget=Budget(order=10, dp=1.0, deletion=0.1), method="noisy-gd")  # fmt: skip
    told = Release(
        2, "unlearn", plan.calibration.delete_steps, plan.calibration.delete_steps, 1, {"deletion": plan.deletion}, None
    )
    assert unit in describe_release(told)
