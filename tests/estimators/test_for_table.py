"""A DataFrame as it is: numbers, categories, gaps; every verb of the pipeline on raw rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from noisygd_delete import Budget, NoisyGDClassifier, NoisyGDRegressor
from noisygd_delete.errors import InvalidParameter, InvalidRecords, PrivatePreprocessing
from noisygd_delete.estimators import for_table

COLUMNS = {
    "age": {"bounds": [0, 100]},
    "town": {"categories": ["north", "south"], "unknown": "column"},
    "sum": {"bounds": [0, 1000], "transform": "log1p", "missing": "column"},
}
BUDGET = Budget.from_epsilon_delta(dp=(2.0, 1e-5), deletion=(0.2, 1e-5))


def people(rows: int = 3000, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    generator = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "town": generator.choice(["north", "south", "elsewhere"], rows),
            "age": generator.integers(18, 90, rows),
            "sum": np.where(generator.random(rows) < 0.1, np.nan, generator.uniform(0, 1000, rows)),
            "name": [f"p{number}" for number in range(rows)],  # not named among the columns: never read
        },
        index=[f"id{number}" for number in range(rows)],
    )
    paid = (np.abs(table["age"] - 50) < 15) ^ (table["town"] == "south") & (generator.random(rows) < 0.5)
    return table, paid.map({True: "yes", False: "no"})


@pytest.fixture(scope="module")
def fitted():
    table, labels = people()
    model = for_table(COLUMNS, NoisyGDClassifier(budget=BUDGET, adjacency="zero-out", total=None, slots=3010))
    return model.fit(table, labels), table, labels


def test_a_bump_that_columns_cannot_say_is_learned(fitted) -> None:
    model, table, labels = fitted
    columns = for_table(COLUMNS, NoisyGDClassifier(budget=BUDGET, adjacency="zero-out", total=None), kind="columns")
    fresh, truth = people(2000, 9)
    assert model.score(fresh, truth) > columns.fit(table, labels).score(fresh, truth) + 0.05
    assert model[-1].plan_.problem.feature_map == model.steps[0][1].map.digest
    assert model[-1]._curator.records.sparse is not None


def test_every_verb_takes_raw_rows(fitted) -> None:
    model, table, labels = fitted
    before = model[-1].n_records_
    assert model.delete(["id7", "id8"]).status == "published"
    assert "id7" not in model[-1].ids_
    new = table.iloc[:1].assign(age=33)
    model.replace({"id9": (new, "yes")})
    model.insert(table.iloc[7:8], labels.iloc[7:8], ids=["new"])
    assert model[-1].n_records_ == before - 1
    shapes = {shape.name: shape for shape in model.explain().shapes}
    assert set(shapes) == set(COLUMNS)
    assert shapes["town"].labels == ("north", "south", "other")
    assert shapes["age"].edges[-1] == 100
    assert shapes["sum"].missing is not None
    middle = [value for value, edge in zip(shapes["age"].values, shapes["age"].edges, strict=False) if 40 < edge < 60]
    ends = [value for value, edge in zip(shapes["age"].values, shapes["age"].edges, strict=False) if 20 < edge < 30]
    assert np.mean(middle) > np.mean(ends)


def test_order_of_columns_and_kinds_of_cells_do_not_matter(fitted) -> None:
    model, table, _ = fitted
    rows = model.steps[0][1].transform(table).toarray()
    other = table[["sum", "name", "age", "town"]].astype({"age": float, "town": "category"})
    assert np.array_equal(model.steps[0][1].transform(other).toarray(), rows)
    assert np.array_equal(model.steps[0][1].transform(table.iloc[5:6]).toarray(), rows[5:6])  # a row by itself
    assert clone(model).steps[0][1].map.digest == model.steps[0][1].map.digest


def test_a_unit_in_a_cell_changes_nothing() -> None:
    rows = for_table({"share": {"bounds": [0, 100], "unit": "%"}}, NoisyGDClassifier()).steps[0][1]
    typed = rows.transform(pd.DataFrame({"share": [30.0, 5.5]})).toarray()
    texts = rows.transform(pd.DataFrame({"share": ["30%", "5.5 %"]})).toarray()
    np.testing.assert_array_equal(texts, typed)
    assert (typed[0] != typed[1]).any()


def test_what_does_not_fit_is_refused(fitted) -> None:
    model, table, labels = fitted
    with pytest.raises(InvalidRecords, match="no column 'sum'"):
        model.predict(table.drop(columns="sum"))
    with pytest.raises(InvalidRecords, match="DataFrame"):
        model.predict(table[["age", "sum"]].to_numpy())
    with pytest.raises(InvalidParameter, match="kind"):
        for_table(COLUMNS, NoisyGDClassifier(budget=BUDGET), kind="splines").fit(table, labels)
    bounds = {**COLUMNS, "age": {"bounds": [10, 10]}}
    with pytest.raises(Exception, match="age"):
        for_table(bounds, NoisyGDClassifier(budget=BUDGET)).fit(table, labels)


def test_a_target_has_curves_too() -> None:
    table, _ = people()
    target = table["age"].to_numpy() / 50 - 1
    named = {"method": "objective-perturbation", "regularization": 0.01, "adjacency": "zero-out", "budget": BUDGET}
    model = for_table(COLUMNS, NoisyGDRegressor(target_bounds=(-1, 1), **named))
    shapes = model.fit(table, np.clip(target, -1, 1)).explain()
    assert shapes.shapes[0].name == "age"
    assert "target" in shapes.unit


@pytest.mark.parametrize("other", [pd.Series([1, 2]), LogisticRegression(), None])
def test_what_is_no_estimator_of_this_package_is_refused_by_name(other) -> None:
    with pytest.raises(InvalidParameter, match=f"a {type(other).__name__} erases nothing; give a NoisyGDClassifier"):
        for_table(COLUMNS, other)


def test_a_learner_that_leaves_its_pipeline_names_no_map(fitted) -> None:
    """Its next rows are not the map's, and the next plan must not say so; nor are they spared the look for a fitted scaler."""
    table, labels = people(400)
    model = for_table(COLUMNS, NoisyGDClassifier(method="objective-perturbation", regularization=0.02, total=None)).fit(
        table, labels
    )
    learner = model[-1].set_params(feature_bounds=(-100, 100))
    learner.relearn()
    assert learner.plan_.problem.feature_map
    numbers = table[["age", "age"]].to_numpy(float)
    assert learner.fit(numbers, labels.to_numpy()).plan_.problem.feature_map is None
    with pytest.warns(PrivatePreprocessing, match="StandardScaler"):
        learner.fit((numbers - numbers.mean(0)) / numbers.std(0), labels.to_numpy())
