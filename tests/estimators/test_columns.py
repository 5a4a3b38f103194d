"""`feature_bounds` as a dict: every column is named, missing values are declared, and faults are told in a DataFrame's terms."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")

import pandas

from noisygd_delete import Budget, NoisyGDClassifier
from noisygd_delete.errors import InvalidParameter, InvalidRecords

RNG = np.random.default_rng(0)
NAMES = [f"person-{k}" for k in range(200)]
X = pandas.DataFrame(
    {"age": RNG.uniform(0, 90, 200), "income": RNG.uniform(0, 9, 200), "town": ["u", "b"] * 100}, index=NAMES
)
Y = (X["age"] > 45).astype(int).to_numpy()
PUBLIC = {"age": (0, 120), "income": (0, 10), "town": ["u", "b"]}
GAPS = {"age": {"bounds": [0, 120], "missing": "column"}}


def classifier(bounds) -> NoisyGDClassifier:
    return NoisyGDClassifier(
        feature_bounds=bounds,
        method="output-perturbation",
        regularization=1e-2,
        budget=Budget(order=2, dp=100.0, deletion=10.0),
    )


@pytest.mark.parametrize(
    ("columns", "left_out"),
    [(columns, name) for columns in (list(PUBLIC), ["age", "income"]) for name in columns],
)
def test_a_column_without_public_facts_is_an_error(left_out: str, columns: list[str]) -> None:
    bounds = {name: PUBLIC[name] for name in columns if name != left_out}
    with pytest.raises(InvalidParameter, match=left_out):
        classifier(bounds).fit(X[columns], Y)


def test_the_columns_that_are_read_are_counted() -> None:
    model = classifier(PUBLIC).fit(X, Y)
    assert (model.n_features_in_, list(model.feature_names_in_)) == (3, list(X))


@pytest.mark.parametrize("named", [{"age": (0, 120), "income": (0, 10)}, PUBLIC], ids=["numbers", "table"])
@pytest.mark.parametrize("rows", [[7], [3, 9, 11]])
def test_missing_values_name_column_and_remedy_and_the_remedy_works(named: dict[str, object], rows: list[int]) -> None:
    gaps = X[list(named)].copy()
    gaps.loc[[NAMES[row] for row in rows], "age"] = np.nan
    with pytest.raises(InvalidRecords, match=f"'age'.*{len(rows)} row") as refused:
        classifier(named).fit(gaps, Y)
    assert '"missing": "column"' in str(refused.value)
    model = classifier(named | GAPS).fit(gaps, Y)
    assert model.predict(gaps).shape == (200,)
    assert model.delete([NAMES[rows[0]]]).edits == 1
