"""The public noise shape of a schema: read off the schema alone, true of every row it can make, refused where a row breaks it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Records, errors, losses
from noisygd_delete.bounds.objective_perturbation import column_variances
from noisygd_delete.engine import check_records
from noisygd_delete.features.schema import Schema

SCHEMA = {
    "confirmed": True,
    "rows": "unit",
    "intercept": True,
    "label": {"column": "y", "classes": ["no", "yes"]},
    "columns": {
        "age": {"bounds": [0, 100]},
        "work": {"categories": ["a", "b", "c"]},
        "town": {"categories": ["p", "q"], "unknown": "zero"},
        "sex": {"categories": ["m", "f"], "unknown": "refuse"},
    },
}


def test_columns_that_may_be_cold_count_as_numbers() -> None:
    schema = Schema.from_dict(SCHEMA)
    assert schema.one_hot_blocks == (0, 4, 0, 0, 2, 1)  # "work" has its column for other values
    variances = column_variances(blocks=schema.one_hot_blocks)
    assert len(variances) == schema.features
    total = 2 + 2**0.5 + 1  # √4 + √2 + √1
    expected = [1, *[total / 6] * 4, 1, 1, *[total / (3 * 2**0.5)] * 2, total / 3]
    assert variances == pytest.approx(expected)
    assert sum(variances) < schema.features


@pytest.mark.parametrize("rows", ["unit", "clip"])
def test_every_row_of_the_schema_is_as_long_in_the_shape(rows: str, tmp_path: Path) -> None:
    """Cold, unknown and extreme cells included; the float32 rows stay within the radius."""
    schema = {**SCHEMA, "rows": rows, "radius": 1.0 if rows == "unit" else 1.7}
    file = tmp_path / "t.csv"
    file.write_text("age,work,town,sex,y\n0,a,p,m,no\n100,zzz,q,f,yes\n50,b,elsewhere,m,no\n-9,c,,f,yes\n")
    read = Schema.from_dict(schema)
    encoded = read.encode_file(file)
    variances = np.array(column_variances(blocks=read.one_hot_blocks))
    exact = encoded.rows.astype(np.float64)
    plain, shaped = np.linalg.norm(exact, axis=1), np.linalg.norm(exact / np.sqrt(variances), axis=1)
    assert shaped == pytest.approx(plain, rel=1e-6)
    assert shaped.max() <= read.radius
    check_records(Records(encoded.rows, encoded.labels), losses.Logistic(read.radius), variances=variances)


def test_a_cold_row_from_elsewhere_is_refused() -> None:
    """The sheet's trap: a missing category in a row divided by its own norm. 13 % more of Δ than was paid for."""
    variances = np.array(column_variances(blocks=(4, 4, 1)))
    hot = np.array([[1, 0, 0, 0, 0, 1, 0, 0, 1.0]]) / np.sqrt(3)
    cold = np.array([[1, 0, 0, 0, 0, 0, 0, 0, 1.0]]) / np.sqrt(2)
    radius = losses.Logistic(1.0)
    check_records(Records(hot, [1.0]), radius, variances=variances)
    check_records(Records(cold, [1.0]), radius)
    check_records(Records(np.zeros((1, 9)), [1.0]), radius, variances=variances)  # the null record
    colder = np.array([[1, 0, 0, 0, 0, 0, 0, 0, 0.0]])
    with pytest.raises(errors.AssumptionViolated, match="one-hot blocks is cold"):
        check_records(Records(colder, [1.0]), radius, variances=variances)
