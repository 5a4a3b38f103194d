"""An estimator on a DataFrame of numbers and categories, by what is public of each column: curves where sizes bear them."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest

from noisygd_delete import Budget, NoisyGDClassifier, NoisyGDRegressor
from noisygd_delete.errors import InvalidParameter, InvalidRecords, NothingWorthHaving
from noisygd_delete.estimators import for_table
from noisygd_delete.estimators.rows import check_numbers

from . import test_for_table

BOUNDS = {"age": (0, 100), "town": ["north", "south"], "sum": {"bounds": [0, 1000], "missing": "column"}}
AMPLE = Budget.from_epsilon_delta(dp=(20.0, 1e-5), deletion=(2.0, 1e-5))


def people(rows: int, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Rows alone, of whom those near fifty say yes: a bump, which columns cannot say."""
    table = test_for_table.people(rows, seed)[0][list(BOUNDS)]
    return table, pd.Series(np.where((table["age"] - 50).abs() < 15, "yes", "no"), index=table.index)


@pytest.fixture(scope="module")
def fitted():
    table, labels = people(30_000)
    return NoisyGDClassifier(feature_bounds=BOUNDS).fit(table, labels), table, labels


def test_a_table_that_bears_curves_gets_them(fitted) -> None:
    model, _, _ = fitted
    fresh, truth = people(2000, 9)
    assert model.score(fresh, truth) > 0.9
    assert {shape.name for shape in model.explain().shapes} == set(BOUNDS)
    assert model.plan_.problem.feature_map == model._raw.map.digest
    assert model._curator.records.sparse is not None
    assert list(model.feature_names_in_) == list(BOUNDS)
    with pytest.raises(AttributeError, match="explain"):
        _ = model.coef_
    with pytest.raises(InvalidRecords, match="DataFrame"):
        model.predict([[1, 2, 3]])


def test_several_classes_get_curves_too() -> None:
    table, _ = people(30_000)
    steps = pd.Series(np.select([table["age"] < 35, table["age"] < 65], ["young", "between"], "old"), index=table.index)
    model = NoisyGDClassifier(feature_bounds=BOUNDS).fit(table, steps)
    assert model.plan_.problem.feature_map == model._raw.map.digest
    assert model.score(table[:2000], steps[:2000]) > 0.9
    assert model.delete(["id7"]).status == "published"


@pytest.mark.filterwarnings("ignore:Much may be lost")
def test_a_target_gets_curves_of_few_bins() -> None:
    table, _ = people(30_000)
    far = (table["age"] - 54).abs()  # a valley, which columns cannot say
    model = NoisyGDRegressor(feature_bounds=BOUNDS, target_bounds=(0, 40)).fit(table, far)
    assert model._raw.map.levels == 4
    assert model.score(table[:2000], far[:2000]) > 0.7
    assert {shape.name for shape in model.explain().shapes} == set(BOUNDS)
    assert model.delete(["id7"]).status == "published"
    wide = {**BOUNDS, "age": {"bounds": [0, 10_000], "transform": "signed-log"}}
    model = NoisyGDRegressor(feature_bounds=wide, target_bounds=(0, 40)).fit(table, far)
    assert model._raw.map.levels == 7  # 16 bins of so wide a scale would hold all ages in two
    assert model.score(table[:2000], far[:2000]) > 0.5
    small = NoisyGDRegressor(feature_bounds=wide, target_bounds=(0, 40)).fit(table[:3000], far[:3000])
    assert small._raw.map.levels == 5
    assert small.advice_.undivided_share > 0.8  # more than 16 bins of another scale may lose
    assert small.score(table[-2000:], far[-2000:]) > 0.5


def test_every_verb_takes_rows_of_the_table(fitted) -> None:
    model, table, labels = fitted
    before = model.n_records_
    assert model.delete(["id7", "id8"]).status == "published"
    model.replace({"id9": (table.iloc[:1].assign(age=33), "yes")})
    model.insert(table.iloc[7:8], labels.iloc[7:8], ids=["new"])
    assert model.n_records_ == before - 1
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.predict(table[:50]) == model.predict(table[:50])).all()
    kept = [name for name in table.index if name not in ("id7", "id8", "id9")]
    rows = pd.concat([table.loc[kept], table.iloc[7:8].rename({"id7": "new"}), table.loc[["id9"]].assign(age=33)])
    answers = pd.concat([labels.loc[kept], labels.iloc[7:8], pd.Series(["yes"])])
    copy.attach(rows, answers, ids=[*kept, "new", "id9"])
    assert copy.delete(["id10"]).status == "published"


@pytest.mark.filterwarnings("ignore:Much may be lost")
def test_elsewhere_the_columns_are_read_as_they_are() -> None:
    table, labels = people(8000)
    few = NoisyGDClassifier(feature_bounds=BOUNDS).fit(table[:600], labels[:600])
    named = NoisyGDClassifier(feature_bounds=BOUNDS, method="objective-perturbation").fit(table, labels)
    ages = table["age"].to_numpy() * 1.0
    target = NoisyGDRegressor(feature_bounds=BOUNDS, target_bounds=(0, 100)).fit(table[:1250], ages[:1250])
    assert {len(model.model_.weights.reshape(-1)) for model in (few, named, target)} == {1 + 3 + 2 + 1}
    assert target.score(table, table["age"]) > 0.5
    with pytest.raises(InvalidParameter, match="for_table"):
        few.explain()


def test_advice_is_sought_once_for_curves_that_are_taken(monkeypatch) -> None:
    from noisygd_delete.estimators import base

    sought, right = [], base.advise
    monkeypatch.setattr(
        base, "advise", lambda *given, **facts: sought.append(facts["features"]) or right(*given, **facts)
    )
    table, labels = people(30_000)
    model = NoisyGDClassifier(feature_bounds=BOUNDS).fit(table, labels)
    assert sought == [model.model_.weights.size]
    sought.clear()
    model.relearn()
    assert len(sought) == 1  # under the parameters of now
    NoisyGDClassifier(feature_bounds=BOUNDS).fit(table[:1200], labels[:1200])
    assert sought[1] > sought[2]


@pytest.mark.filterwarnings("ignore::noisygd_delete.errors.NothingPromised")
def test_a_target_has_its_ridge_from_the_columns_of_the_table_not_from_those_of_its_rows() -> None:
    """60 towns are one column: weights that tell by it are short, and so guessed the ridge leaves a model where there was none."""
    generator = np.random.default_rng(4)
    towns = [f"town {number}" for number in range(60)]
    table = pd.DataFrame({"age": generator.uniform(0, 100, 1000), "town": generator.choice(towns, 1000)})
    target = (table["age"] / 100 + generator.normal(0, 0.1, 1000)).clip(0, 1)
    named = {"feature_bounds": {"age": (0, 100), "town": towns}, "target_bounds": (0, 1), "random_state": 0}
    model = NoisyGDRegressor(**named).fit(table, target)
    assert model.plan_.problem.model_norm == pytest.approx(math.sqrt(3))
    assert model.score(table, target) > 0.7
    with pytest.raises(NothingWorthHaving, match="more than all of what guessing loses"):
        NoisyGDRegressor(**named, model_norm=math.sqrt(62), adjacency="replace").fit(table, target)
    curves = for_table({"age": {"bounds": [0, 100]}}, NoisyGDRegressor(target_bounds=(0, 1), budget=AMPLE))
    assert curves.fit(table, target)[-1].plan_.problem.model_norm == pytest.approx(math.sqrt(7))
    given = NoisyGDRegressor(**named, regularization=0.01).fit(table, target)
    assert given.plan_.problem.regularization == 0.01


@pytest.mark.parametrize(
    ("bounds", "error", "words"),
    [
        ((0, 10), InvalidRecords, r"'town' is not of numbers: .*feature_bounds=\{'town': \['a', 'b'\]"),
        ({"size": (0, 10)}, InvalidParameter, "'town'"),
    ],
)
@pytest.mark.parametrize("kind", ["object", "category", "string"])
def test_a_column_of_words_asks_for_its_list(bounds, error, words, kind: str) -> None:
    frame = pd.DataFrame({"size": [1.0, 2.0], "town": pd.Series(["u", "v"], dtype=kind)})
    with pytest.raises(error, match=words):
        NoisyGDClassifier(feature_bounds=bounds).fit(frame, ["no", "yes"])


def test_numbers_written_as_text_are_numbers() -> None:
    frame = pd.DataFrame(
        {"size": ["1.5", "2", "7"], "old": pd.array([True, None, False], dtype="boolean").fillna(False)}
    )
    check_numbers(frame)
