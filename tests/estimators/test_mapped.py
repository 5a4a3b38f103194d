"""A public map in a pipeline: the estimator sees the map's rows, the plan its digest, edits go through it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the estimators are scikit-learn's")

from sklearn.base import clone

from noisygd_delete import Budget, NoisyGDClassifier, RecordWisePipeline, maps
from noisygd_delete.errors import AssumptionViolated
from noisygd_delete.estimators import MappedRows, make_mapped_pipeline

RNG = np.random.default_rng(1)
ROWS = RNG.uniform(-1, 1, (300, 2))
LABELS = np.where(ROWS[:, 0] * ROWS[:, 1] > 0, "same", "other")
MAP = maps.BinsAndCrosses((0, 0), bins=4, buckets=64)


def pipeline(**options) -> RecordWisePipeline:
    given = {"method": "noisy-gd", "regularization": 1e-2, "utility": False, **options}
    return make_mapped_pipeline(
        MAP, NoisyGDClassifier(random_state=0, budget=Budget(order=2, dp=200.0, deletion=50.0), **given)
    )


def test_a_map_makes_a_linear_model_see_what_is_not_linear() -> None:
    model = pipeline(slots=301).fit(ROWS, LABELS)
    assert model.score(ROWS, LABELS) > 0.8  # logistic regression on the two numbers: .70
    inner = model[-1]
    np.testing.assert_array_equal(inner._curator.records.features[:300], MAP.rows(ROWS))
    assert inner.plan_.problem.feature_map == MAP.digest
    model.delete([3])
    model.replace({5: ([0.5, 0.5], "same")})
    model.insert([[0.1, -0.1]], ["other"])
    rows = inner._curator.records.features
    np.testing.assert_array_equal(rows[5], MAP.rows([[0.5, 0.5]])[0])
    assert MAP.rows([[0.1, -0.1]])[0].tolist() in rows.tolist()
    assert MAP.rows(ROWS[3:4])[0].tolist() not in rows.tolist()
    inner.relearn()
    assert inner.plan_.problem.feature_map == MAP.digest
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(ROWS), model.predict(ROWS))


def test_the_digest_follows_the_pipeline_that_is_fitted() -> None:
    model = pipeline().fit(ROWS, LABELS)
    other = clone(model).set_params(map__map=maps.BinsAndCrosses((0, 0), bins=4, buckets=50)).fit(ROWS, LABELS)
    assert other[-1].plan_.problem.feature_map == maps.BinsAndCrosses((0, 0), bins=4, buckets=50).digest
    bare = model[-1].fit(MAP.rows(ROWS), LABELS)
    assert bare.plan_.problem.feature_map is None  # nobody saw the map make these rows


def test_texts_are_records_too() -> None:
    texts = [f"good fine {k}" if k % 2 else f"bad poor {k}" for k in range(200)]
    labels = np.arange(200) % 2
    model = make_mapped_pipeline(maps.HashedNgrams(longest=1, buckets=128), pipeline()[-1]).fit(texts, labels)
    assert model.score(texts, labels) > 0.9
    model.delete([0])
    model.replace({1: ("fine", 1)})


def test_two_maps_are_refused() -> None:
    two = [("one", MappedRows(MAP)), ("two", MappedRows(maps.BinsAndCrosses((0,) * 75))), ("model", pipeline()[-1])]
    with pytest.raises(AssumptionViolated, match=r"maps\.Chain"):
        RecordWisePipeline(two).fit(ROWS[:40], LABELS[:40])
