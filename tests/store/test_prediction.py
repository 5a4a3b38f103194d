"""Predictions for a file: in the words and units of the schema, scored where the file has the answers, and only there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Budget, Records, Schema, losses, make_plan
from noisygd_delete.errors import NotLearned
from noisygd_delete.store import Store
from noisygd_delete.store.prediction import predict

from .conftest import made

PRICES = Schema.from_dict(
    {
        "id": "id",
        "label": {"column": "price", "bounds": [0, 200]},
        "columns": {"size": {"bounds": [0, 10]}},
    }
)


def test_a_target_is_told_in_its_own_unit_with_its_mean_error(tmp_path: Path) -> None:
    sizes = np.linspace(0, 10, 40)
    table = "id,size,price\n" + "".join(f"h{k},{size:.3f},{100 + 8 * size:.3f}\n" for k, size in enumerate(sizes))
    (tmp_path / "houses.csv").write_text(table)
    (tmp_path / "sizes.csv").write_text("size\n" + "".join(f"{size:.3f}\n" for size in sizes))
    encoded = PRICES.encode_file(tmp_path / "houses.csv")
    learned = make_plan(
        losses.PseudoHuber(1.0, 1.0),
        records=40,
        features=encoded.rows.shape[1],
        regularization=0.01,
        budget=Budget.from_gdp(dp=50.0, deletion=10.0),
        method="noisy-gd",
        utility=False,
    )
    rows = Records(encoded.rows, encoded.labels, encoded.ids)
    with Store.create(tmp_path / "store", rows, PRICES, learned) as store:
        with pytest.raises(NotLearned):
            predict(store, tmp_path / "houses.csv")
        store.learn()
        scored, blind = predict(store, tmp_path / "houses.csv"), predict(store, tmp_path / "sizes.csv")
        (tmp_path / "others.csv").write_text(table.replace("\nh", "\ng"))
        assert predict(store, tmp_path / "others.csv").rows_in_table == 0  # the same rows under other ids
    prices = np.array(scored.labels, dtype=float)
    truth = 100 + 8 * np.round(sizes, 3)
    assert scored.mean_absolute_error == pytest.approx(np.abs(prices - truth).mean(), abs=1e-2)
    assert scored.accuracy is None
    assert (prices >= 0).all()
    assert (prices <= 200).all()
    assert list(scored.names)[:2] == ["h0", "h1"]
    assert scored.rows_in_table == 40
    assert np.array(blind.labels, dtype=float) == pytest.approx(prices)
    assert (blind.mean_absolute_error, list(blind.names)[:2], blind.rows_in_table) == (None, ["1", "2"], 0)


def test_a_class_is_told_by_its_name_with_the_share_predicted_right(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    cells = rng.uniform(-1, 1, (30, 3))
    lines = [f"q{k},{k},{','.join(f'{x:.4f}' for x in row)}" for k, row in enumerate(cells)]
    answers = ["yes" if k % 2 else "no" for k in range(30)]
    (tmp_path / "new.csv").write_text(
        "id,person,a,b,c,y\n" + "".join(f"{line},{answer}\n" for line, answer in zip(lines, answers, strict=True))
    )
    with Store.open(made(tmp_path / "store")) as store:
        found = predict(store, tmp_path / "new.csv")
    right = np.mean([told == answer for told, answer in zip(found.labels, answers, strict=True)])
    assert found.accuracy == pytest.approx(right)
    assert set(found.labels) <= {"no", "yes"}
    assert found.mean_absolute_error is None
