"""`evaluate` and `predict --probabilities`, against measures counted by hand from what `predict` says of each row."""

from __future__ import annotations

import csv
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.cli.planned import main

PLAN = ["--method", "noisy-gd", "--no-utility", "--regularization", "0.01", "--dp", "50", "--deletion", "5"]
LABELS = {
    "two": '[label]\ncolumn = "y"\nclasses = ["no", "yes"]\n',
    "three": '[label]\ncolumn = "y"\nclasses = ["low", "middle", "high"]\n',
    "target": '[label]\ncolumn = "y"\nbounds = [0, 30]\n',
}
SCHEMA = 'id = "id"\n{}[columns.a]\nbounds = [-10, 10]\n[columns.b]\nbounds = [-10, 10]\n'


def table(kind: str, first: int, rows: int, *, ids: bool = True) -> str:
    rng = np.random.default_rng(first)
    lines = ["id,a,b,y" if ids else "a,b,y"]
    for number in range(first, first + rows):
        a, b = rng.uniform(-10, 10, 2).round(2)
        value = a + b + rng.normal(0, 4)
        label = {
            "two": "yes" if value > 5 else "no",
            "three": "low" if value < -4 else "high" if value > 4 else "middle",
            "target": f"{min(max(15 + value / 2, 0), 30):.3f}",
        }[kind]
        lines.append(",".join([*([f"r{number}"] if ids else []), str(a), str(b), label]))
    return "\n".join(lines) + "\n"


def learned(kind: str, rows: int = 600, *options: str) -> None:
    Path("people.csv").write_text(table(kind, 0, rows))
    Path("schema.toml").write_text(SCHEMA.format(LABELS[kind]))
    assert main(["init", "store", "--data", "people.csv", "--schema", "schema.toml", *PLAN, *options]) == 0
    assert main(["learn", "store"]) == 0


@pytest.fixture(scope="module", params=list(LABELS))
def kind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp(request.param))
        learned(request.param)
        yield request.param


def truth_of(path: str) -> list[str]:
    with Path(path).open() as file:
        return [row["y"] for row in csv.DictReader(file)]


def test_every_measure_is_what_counting_by_hand_gives(kind: str, as_json) -> None:
    Path("held-out.csv").write_text(table(kind, 9000, 251))
    told = as_json("evaluate", "store", "--data", "held-out.csv")
    asked = [] if kind == "target" else ["--probabilities"]
    said = as_json("predict", "store", "--data", "held-out.csv", *asked)
    truth, found = truth_of("held-out.csv"), list(said["predictions"].values())
    assert (told["rows"], told["rows_in_table"], told["beats_baseline"]) == (251, 0, True)
    if kind == "target":
        errors = [float(t) - f for t, f in zip(truth, found, strict=True)]
        mean = sum(map(float, truth)) / 251
        middle = sorted(map(float, truth))[125]
        assert told["baseline"] == pytest.approx(middle, abs=1e-5)
        assert told["mean_absolute_error"] == pytest.approx(sum(map(abs, errors)) / 251, rel=1e-6)
        assert told["root_mean_squared_error"] == pytest.approx(math.sqrt(sum(e * e for e in errors) / 251), rel=1e-6)
        spread = sum((float(t) - mean) ** 2 for t in truth)
        assert told["r2"] == pytest.approx(1 - sum(e * e for e in errors) / spread, rel=1e-6)
        assert told["baseline_mean_absolute_error"] == pytest.approx(
            sum(abs(float(t) - middle) for t in truth) / 251, rel=1e-5
        )
        assert told["accuracy"] is None
        return
    names, odds = said["classes"], list(said["probabilities"].values())
    assert told["classes"] == names
    right = [t == f for t, f in zip(truth, found, strict=True)]
    assert told["accuracy"] == pytest.approx(sum(right) / 251)
    assert told["baseline"] == max(names, key=truth.count)
    assert told["baseline_accuracy"] == pytest.approx(max(map(truth.count, names)) / 251)
    recalls = [sum(r for r, t in zip(right, truth, strict=True) if t == name) / truth.count(name) for name in names]
    assert told["balanced_accuracy"] == pytest.approx(sum(recalls) / len(names))
    logs = [math.log(row[names.index(t)]) for row, t in zip(odds, truth, strict=True)]
    assert told["log_loss"] == pytest.approx(-sum(logs) / 251, rel=1e-4)
    assert told["confusion"] == [
        [sum(t == one and f == other for t, f in zip(truth, found, strict=True)) for other in names] for one in names
    ]
    areas = []
    for place, name in enumerate(names if len(names) > 2 else names[1:], len(names) == 2):
        scores = [(row[place], t == name) for row, t in zip(odds, truth, strict=True)]
        inside, outside = [s for s, is_it in scores if is_it], [s for s, is_it in scores if not is_it]
        wins = sum((a > b) + (a == b) / 2 for a in inside for b in outside)
        areas.append(wins / len(inside) / len(outside))
    assert told["auc"] == pytest.approx(sum(areas) / len(areas), abs=1e-4)
    apart = 0.0
    for low, high in pairwise(k / 10 for k in range(11)):
        inside = [
            (max(row), r) for row, r in zip(odds, right, strict=True) if low <= max(row) < high or max(row) == high == 1
        ]
        apart += abs(sum(chance for chance, _ in inside) - sum(r for _, r in inside))
    assert told["calibration_error"] == pytest.approx(apart / 251, abs=5e-3)
    assert sum(tenth["rows"] for tenth in told["calibration"]) == 251


@pytest.mark.parametrize("ids", [True, False])
def test_rows_of_the_training_table_are_counted_by_id_and_else_called_alike(kind, ids, printed, as_json) -> None:
    fresh, old = table(kind, 9000, 30, ids=ids), table(kind, 0, 600, ids=ids).splitlines()[1:8]
    Path("mixed.csv").write_text(fresh + "\n".join(old) + "\n")
    Path("fresh.csv").write_text(fresh)
    for command in ("evaluate", "predict"):
        told = as_json(command, "store", "--data", "mixed.csv")
        assert (told["rows_in_table"], told["matched_by"]) == (7, "id" if ids else "content")
        is_said = "of these rows 7 are in the training table" in printed(command, "store", "--data", "mixed.csv")
        assert is_said == ids
        assert "private" not in printed(command, "store", "--data", "fresh.csv")


def test_what_is_printed_names_the_baseline(kind: str, as_json, printed) -> None:
    Path("held-out.csv").write_text(table(kind, 9000, 251))
    told = as_json("evaluate", "store", "--data", "held-out.csv")
    out = printed("evaluate", "store", "--data", "held-out.csv")
    if kind == "target":
        assert f"{told['mean_absolute_error']:.4g}" in out
        assert "the median here" in out
    else:
        assert f"{told['accuracy']:.1%}" in out
        assert f"{told['baseline_accuracy']:.1%}  ('{told['baseline']}', the most frequent class here)" in out
        assert all(str(count) in out for row in told["confusion"] for count in row)
    assert "no better" not in out


def test_a_model_no_better_than_guessing_is_said_to_be(kind: str, as_json, printed) -> None:
    """Labels turned round: whatever was learned is wrong of them. One row: what needs two classes or rows is not defined."""
    rows = [line.rsplit(",", 1) for line in table(kind, 9000, 251).splitlines()[1:]]
    turn = {"no": "yes", "yes": "no", "low": "high", "high": "low", "middle": "middle"}
    turned = [f"{rest},{turn[label] if label in turn else 30 - float(label)}" for rest, label in rows]
    Path("turned.csv").write_text("id,a,b,y\n" + "\n".join(turned) + "\n")
    assert "no better than saying the same for every row" in printed("evaluate", "store", "--data", "turned.csv")
    Path("one.csv").write_text("\n".join(table(kind, 9000, 1).splitlines()[:2]))
    told = as_json("evaluate", "store", "--data", "one.csv")
    assert (told["auc"], told["r2"]) == (None, None)
    assert "not defined" in printed("evaluate", "store", "--data", "one.csv")


def test_probabilities_are_written_beside_the_prediction(kind: str, as_json, complaint) -> None:
    Path("held-out.csv").write_text(table(kind, 9000, 20))
    if kind == "target":
        assert "predicts numbers" in complaint("predict", "store", "--data", "held-out.csv", "--probabilities")
        return
    told = as_json("predict", "store", "--data", "held-out.csv", "--probabilities", "--out", "said.csv")
    assert "probabilities" not in told
    with Path("said.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = {"two": ["no", "yes"], "three": ["low", "middle", "high"]}[kind]
    for row in rows:
        odds = {name: float(row[f"probability of {name}"]) for name in names}
        assert sum(odds.values()) == pytest.approx(1, abs=1e-4)
        assert max(odds, key=odds.__getitem__) == row["predicted y"]
    Path("said.csv").unlink()


def test_bad_files_are_refused_in_one_paragraph(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.csv").write_text("id,a,b,y\n")
    Path("unlabelled.csv").write_text("id,a,b\nx,1,2\n")
    for file in ("empty.csv", "unlabelled.csv", "nowhere.csv"):
        capsys.readouterr()
        assert main(["evaluate", "store", "--data", file]) == 2
        told = capsys.readouterr()
        assert (told.out, "Traceback" in told.err, "\n\n" in told.err) == ("", False, False)


UNREADABLE = {
    "a dot": lambda label: f"{label}.?",
    "empty": lambda label: "",
    "a mark": lambda label: "NA",
    "a word": lambda label: "unknown",
}


@pytest.mark.parametrize(
    ("written", "spoilt"),
    [
        *((written, "all") for written in UNREADABLE),
        ("a dot", "all but one"),
        ("empty", "a tenth"),
        ("a word", "a tenth"),
    ],
)
def test_labels_that_cannot_be_read_are_counted_and_never_measured(
    kind: str, as_json, written: str, spoilt: str, capsys
) -> None:
    """What `predict` measures is what `evaluate` measures, on the labels that can be read; on none, JSON has null and no NaN."""
    header, *lines = table(kind, 9000, 40).splitlines()
    bad = {"all": range(40), "all but one": range(1, 40), "a tenth": range(0, 40, 10)}[spoilt]
    for row in bad:
        cells = lines[row].split(",")
        lines[row] = ",".join([*cells[:-1], UNREADABLE[written](cells[-1])])
    Path("spoilt.csv").write_text("\n".join([header, *lines]) + "\n")
    answer = as_json("predict", "store", "--data", "spoilt.csv")
    assert (answer["rows"], answer["measured"]) == (40, 40 - len(bad))
    assert main(["predict", "store", "--data", "spoilt.csv"]) == 0
    assert "nan" not in capsys.readouterr().out
    measures = ("accuracy", "mean_absolute_error", "r2")
    if spoilt == "all":
        assert [answer[name] for name in measures] == [None] * 3
        assert len(answer["skipped"]) == 2, "where the labels are, and that nothing was measured"
    else:
        found = as_json("evaluate", "store", "--data", "spoilt.csv")
        assert {name: answer[name] for name in measures} == pytest.approx({name: found[name] for name in measures})
        assert found["rows"] == answer["measured"]
