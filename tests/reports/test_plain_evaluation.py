"""The score without noise: a plain fit to the records alone, and nowhere but in the answer to their owner."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noisygd_delete import Records, losses
from noisygd_delete.reports import plain_evaluation
from noisygd_delete.reports.plain_evaluation import fit_without_noise, select_records
from noisygd_delete.store import Store

COLUMNS = 200


@pytest.fixture
def chance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Labels that no column tells, and columns enough to learn them by heart."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    rows = [
        f"{number},"
        + ",".join(f"{value:.3f}" for value in random.uniform(-1, 1, COLUMNS))
        + f",{'ab'[random.integers(2)]}"
        for number in range(800)
    ]
    head = "id," + ",".join(f"x{column}" for column in range(COLUMNS)) + ",y"
    (tmp_path / "people.csv").write_text("\n".join([head, *rows]) + "\n")
    return tmp_path


def quickstart(*more: str) -> list[str]:
    return ["quickstart", "people.csv", "--label", "y", "--yes", "--holdout", "0.2", *more]


def test_it_learns_all_records_and_no_row_kept_apart(chance: Path, as_json: Any) -> None:
    found = as_json(*quickstart())
    apart = found["without_noise"]
    assert apart["learned_from"] == apart["records"] == found["init"]["records"]
    assert abs(apart["accuracy"] - 0.5) < 0.2, (
        "five deviations of a coin: who learned these rows would be right on most"
    )
    own = as_json("evaluate", "people/store", "--data", "people.csv", "--plain")
    assert own["without_noise"]["accuracy"] > 0.66, (
        "nine deviations of a coin: it learned the records, four fifths of the file"
    )
    assert own["accuracy"] < own["without_noise"]["accuracy"] - 0.1, "which noise prevents"


def test_no_file_holds_the_score_or_a_weight(chance: Path, printed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted, measure, fit = [], plain_evaluation.measure_without_noise, plain_evaluation.fit_without_noise

    def keep(*arguments: Any, **options: Any) -> Any:
        fitted.append(fit(*arguments, **options))
        return fitted[-1]

    def mark(store: Store, rows: Any) -> Any:
        return replace(measure(store, rows), accuracy=0.7310585)

    monkeypatch.setattr(plain_evaluation, "fit_without_noise", keep)
    monkeypatch.setattr(plain_evaluation, "measure_without_noise", mark)
    said = printed(*quickstart("--delete", "17"))
    assert "; without noise: 73.1% (not private: do not publish)\n" in said
    weights = fitted[0].weights.ravel()
    marks = [b"7310585", b"73.1%", b"73.1 %", b"not private"]
    marks += [weight.tobytes() for weight in weights] + [
        weight.astype(np.float32).tobytes() for weight in weights if weight
    ]
    marks += [repr(float(weight)).encode()[:12] for weight in weights]
    files = [file for file in chance.rglob("*") if file.is_file()]
    assert {"certificate.json", "certificate.html", "schema.toml"} <= {file.name for file in files}
    for file in files:
        held = file.read_bytes()
        assert not [mark for mark in marks if mark in held], file


@pytest.mark.parametrize("kind", ["binary", "class", "target", "clipped"])
def test_the_fit_is_scikit_learns(kind: str) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    random = np.random.default_rng(1)
    rows = random.normal(size=(900, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    score = rows @ [2.0, -1.0, 0.5, 0.0]
    noise = random.logistic(size=900)
    if kind == "target":
        loss, labels = plain_evaluation._plain_loss(losses.Squared(1.0)), np.clip(score / 3 + noise / 20, -1, 1)
        other = linear_model.Ridge(0.1, fit_intercept=False)
    else:
        labels = (
            np.digitize(score * 4 + noise, [-2, 2]) if kind == "class" else np.where(score * 4 + noise > 0, 1.0, -1.0)
        )
        loss = losses.Softmax(1.0, 3) if kind == "class" else losses.Logistic(1.0)
        if kind == "clipped":
            loss = plain_evaluation._plain_loss(losses.clip_loss(loss, 0.3))
        other = linear_model.LogisticRegression(C=10.0, fit_intercept=False, tol=1e-8, max_iter=1000)
    found = fit_without_noise(Records(rows, labels), loss).weights
    other.fit(rows, labels)
    right = np.asarray(other.coef_) if kind == "class" else np.ravel(other.coef_)
    assert np.linalg.norm(found - right) < 0.04 * np.linalg.norm(right)


def test_a_large_table_is_sampled_evenly() -> None:
    rows = np.eye(7)[np.arange(100) % 7]
    records = Records(
        rows,
        np.arange(100) % 2 * 2 - 1.0,
        ids=[f"p{row}" for row in range(100)],
        subjects=[row // 2 for row in range(100)],
        slots=130,
    )
    some = select_records(records, 40)
    places = [int(str(name)[1:]) for name in some.ids]
    assert len(places) == len(set(places)) == some.slots == 40
    assert places == sorted(places)
    assert max(np.diff(places)) <= 3
    assert max(places) >= 97
    assert np.array_equal(some.features, records.features[places])
    assert some.subjects_by_slot == [place // 2 for place in places]
    assert len(select_records(records, 1000)) == 100
