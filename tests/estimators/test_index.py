"""A DataFrame's index names its rows: after a split or a filter, a request reaches the row that its owner means, or is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from noisygd_delete import NoisyGDClassifier, NoisyGDRegressor, RecordWisePipeline
from noisygd_delete.errors import InvalidRecords, InvalidRequest

pandas = pytest.importorskip("pandas", reason="pandas is not installed")
preprocessing = pytest.importorskip("sklearn.preprocessing", reason="scikit-learn is not installed")
from sklearn.model_selection import train_test_split  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

ROWS = 60
SETTINGS: dict[str, Any] = {"feature_bounds": (0, 1), "method": "noisy-gd", "regularization": 0.5, "row_norm": "bounds"}
SETTINGS["slots"] = ROWS + 5


def table(index: Any = None) -> tuple[Any, Any]:
    """Rows that are told apart: the first feature is the row's number over their count."""
    numbers = np.arange(ROWS)
    frame = pandas.DataFrame({"a": numbers / ROWS, "b": 1 - numbers / ROWS}, index=index)
    return frame, pandas.Series(np.where(numbers % 2, "yes", "no"), index=index)


def gone(model: Any) -> set[int]:
    """Rows of `table` that the model's table no longer holds, told by their content and not by their name."""
    estimator = model[-1] if hasattr(model, "steps") else model
    held = estimator._curator.records
    rows = held.features[held.occupied].astype(float)
    return set(range(ROWS)) - {round(ROWS * (first / constant + 1) / 2) for first, _, constant in rows}


def split() -> tuple[Any, Any, set[int]]:
    rows, _, labels, _ = train_test_split(*table(), test_size=0.4, random_state=1)
    return rows, labels, set(range(ROWS)) - set(rows.index)


def record_wise() -> Any:
    steps = [("f", preprocessing.FunctionTransformer(np.asarray)), ("model", NoisyGDClassifier(**SETTINGS))]
    return RecordWisePipeline(steps)


@pytest.mark.parametrize("make", [lambda: NoisyGDClassifier(**SETTINGS), record_wise], ids=["estimator", "pipeline"])
@pytest.mark.parametrize("labels_as", [lambda y: y, np.asarray, list], ids=["series", "array", "list"])
def test_after_a_split_a_row_goes_by_its_index(make: Any, labels_as: Any) -> None:
    rows, labels, left_out = split()
    model = make().fit(rows, labels_as(labels))
    name = int(rows.index[7])
    model.delete([name])
    assert gone(model) == left_out | {name}
    with pytest.raises(InvalidRequest):
        model.delete([next(iter(left_out))])  # the position of somebody, and the name of nobody here


def test_a_pipeline_that_loses_the_index_finds_it_at_the_labels() -> None:
    rows, labels, left_out = split()
    model = make_pipeline(preprocessing.FunctionTransformer(np.asarray), NoisyGDClassifier(**SETTINGS)).fit(
        rows, labels
    )
    name = int(rows.index[3])
    model[-1].delete([name])
    assert gone(model) == left_out | {name}


def test_a_regressor_and_texts_too() -> None:
    rows, _ = table([f"p{k}" for k in range(ROWS)])
    model = NoisyGDRegressor(**SETTINGS, target_bounds=(0, 1)).fit(rows, rows["a"])
    model.delete(["p17"])
    assert gone(model) == {17}
    assert "p17" not in model.ids_
    assert len(model.ids_) == ROWS - 1


def test_positions_stay_positions_and_given_ids_win() -> None:
    rows, labels = table()
    model = NoisyGDClassifier(**SETTINGS).fit(rows, labels)
    assert model.ids_ == list(range(ROWS))
    model = NoisyGDClassifier(**SETTINGS).fit(rows[::-1], labels[::-1], ids=range(100, 100 + ROWS))
    model.delete([100])
    assert gone(model) == {ROWS - 1}


@pytest.mark.parametrize(
    "index",
    [
        np.arange(ROWS) / 2,
        [True] * ROWS,
        [0, *range(ROWS - 1)],
        pandas.date_range("2026-01-01", periods=ROWS),
        pandas.MultiIndex.from_product([range(6), range(10)]),
        [None, *range(ROWS - 1)],
    ],
    ids=["fractions", "truths", "twice the same", "dates", "two levels", "a gap"],
)
def test_an_index_that_names_nobody_asks_for_ids(index: Any) -> None:
    rows, labels = table(index)
    with pytest.raises(InvalidRecords, match="pass ids="):
        NoisyGDClassifier(**SETTINGS).fit(rows, labels)
    assert NoisyGDClassifier(**SETTINGS).fit(rows, labels, ids=range(ROWS)).ids_ == list(range(ROWS))


def test_rows_and_labels_of_different_people_are_refused() -> None:
    rows, labels = table()
    with pytest.raises(InvalidRecords, match="different indexes"):
        NoisyGDClassifier(**SETTINGS).fit(rows, labels.sample(frac=1, random_state=3))


def test_inserted_and_attached_rows_keep_their_names() -> None:
    rows, labels, left_out = split()
    model = NoisyGDClassifier(**SETTINGS).fit(rows, labels)
    more, said = table()
    new = sorted(left_out)[:2]
    model.insert(more.loc[new], said.loc[new])
    assert set(new) <= set(model.ids_)
    copy = pickle.loads(pickle.dumps(model))
    both = pandas.concat([rows, more.loc[new]])
    copy.attach(both, pandas.concat([labels, said.loc[new]]))
    copy.delete([new[0]])
    assert gone(copy) == left_out - {new[1]}
    with pytest.raises(InvalidRecords, match="ids"):
        pickle.loads(pickle.dumps(model)).attach(
            both.reset_index(drop=True), np.asarray(pandas.concat([labels, said.loc[new]]))
        )


@pytest.mark.parametrize("given", [{}, {"ids": [f"p{row}" for row in range(ROWS)]}])
def test_rows_that_had_names_are_attached_by_name_even_before_any_edit(given: Any) -> None:
    """By their places another person would answer to a name: nothing told of it."""
    rows, labels, _ = split() if not given else (*table(), set())
    back = pickle.loads(pickle.dumps(NoisyGDClassifier(**SETTINGS).fit(rows, labels, **given)))
    with pytest.raises(InvalidRecords, match="pass ids="):
        back.attach(rows.reset_index(drop=True), np.asarray(labels))
    names = given.get("ids", rows.index.tolist())
    assert back.attach(rows.reset_index(drop=True), np.asarray(labels), ids=names).ids_ == names


@pytest.mark.parametrize("what", ["ids", "subjects"])
@pytest.mark.parametrize("make", [lambda: NoisyGDClassifier(**SETTINGS), record_wise], ids=["estimator", "pipeline"])
def test_ids_and_subjects_in_another_order_than_the_rows_are_refused(make: Any, what: str) -> None:
    """By their places a request would erase somebody else's row."""
    rows, labels, _ = split()
    named = pandas.Series([f"p{name}" for name in rows.index], index=rows.index)
    model, prefix = make(), "model__" if hasattr(make(), "steps") else ""
    with pytest.raises(InvalidRecords, match=f"X and {what} have different indexes"):
        model.fit(rows, labels, **{prefix + what: named.sample(frac=1, random_state=1)})
    model.fit(rows, labels, **{prefix + what: named})
    with pytest.raises(InvalidRecords, match=f"X and {what} have different indexes"):
        model.insert(rows.iloc[:2], labels.iloc[:2], **{what: named.iloc[[1, 0]]})


@pytest.mark.parametrize("make", [lambda: NoisyGDClassifier(**SETTINGS), record_wise], ids=["estimator", "pipeline"])
def test_a_replacement_is_one_row_and_a_series_goes_by_its_names(make: Any) -> None:
    rows, labels = table([f"v{row}" for row in range(ROWS)])
    model = make().fit(rows, labels)
    model.replace({"v3": (rows.loc["v9"], "yes")})
    assert gone(model) == {3}
    for row, said in ((rows.loc["v4"][["b", "a"]], "order"), (rows.iloc[[4, 5]], "has 2")):
        with pytest.raises(ValueError, match=said):
            model.replace({"v4": (row, "yes")})
    with pytest.raises(ValueError, match="order"):
        model.insert(rows.loc[["v4"], ["b", "a"]], labels.loc[["v4"]], ids=["new"])
    assert gone(model) == {3}
