"""What the estimators take where nothing but public bounds is given: the advice, a total, and an honest refusal."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from noisygd_delete import Budget, NoisyGDClassifier, NoisyGDRegressor
from noisygd_delete.errors import (
    BudgetExceeded,
    InvalidParameter,
    NothingPromised,
    NothingWorthHaving,
    NotLearned,
    ReleaseWithheld,
)
from noisygd_delete.privacy.budget import Total


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    rows = rng.uniform(0, 10, (6_000, 3))
    return rows, np.where(rows[:, 0] > rows[:, 1], "left", "right"), 0.3 * rows[:, 0] - 0.2 * rows[:, 2]


def test_defaults_learn_and_say_what_was_chosen(table) -> None:
    rows, sides, _ = table
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NoisyGDClassifier(feature_bounds=(0, 10)).fit(rows, sides)
    assert model.score(rows, sides) > 0.97
    assert model.plan_.method.name == model.advice_.chosen.method
    assert "noisy-gd" in {way.method for way in model.advice_.comparison.candidates}
    assert model.plan_.problem.budget == Budget.from_epsilon_delta(dp=(1.2, 1e-6), deletion=(0.12, 1e-6))
    assert model.plan_.problem.adjacency == "zero-out"
    assert model.accountant_.remaining().publications >= 30
    assert model.delete([5]).status == "published"


def test_a_regression_needs_no_norm_of_its_model(table) -> None:
    rows, _, target = table
    model = NoisyGDRegressor(feature_bounds=(0, 10), target_bounds=(-3, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning at every good fit would warn of nothing
        model.fit(rows, target)
    assert "always saying the most frequent class or the median" in model.advice_.caution
    assert model.score(rows, target) > 0.9


def test_a_bad_forecast_warns(table) -> None:
    rows, sides, _ = table
    with pytest.warns(NothingPromised, match="Much may be lost"):
        NoisyGDClassifier(feature_bounds=(0, 10)).fit(rows[:250], sides[:250])


def test_a_spent_total_withdraws_the_model_and_erases_all_the_same(table) -> None:
    rows, sides, _ = table
    asked = {"feature_bounds": (0, 10), "method": "output-perturbation", "regularization": 0.01, "total": (2.6, 1e-6)}
    model = NoisyGDClassifier(**asked).fit(rows[:2_000], sides[:2_000])
    assert model.plan_.problem.total == Total(2.6, 1e-6, gdp=True)
    with pytest.warns(ReleaseWithheld):
        assert model.delete([1]).status == "withheld"
    assert model.n_records_ == 1_999
    with pytest.raises(NotLearned, match="withheld"):
        model.predict(rows[:3])
    with pytest.raises(BudgetExceeded, match="larger total"):
        model.relearn()
    model.set_params(total=None).relearn()
    assert model.plan_.problem.total is None
    assert model.predict(rows[:3]).shape == (3,)


def test_too_few_records_are_refused_and_a_named_method_learns_from_them(table) -> None:
    rows, sides, _ = table
    with pytest.raises(NothingWorthHaving, match=r"records in place of 27.*name a method"):
        NoisyGDClassifier(feature_bounds=(0, 10)).fit(rows[:25], sides[:25])
    with pytest.warns(NothingPromised):
        NoisyGDClassifier(feature_bounds=(0, 10), method="noisy-gd").fit(rows[:25], sides[:25])


def test_what_is_given_is_honoured(table) -> None:
    rows, sides, _ = table
    given = {"feature_bounds": (0, 10), "regularization": 0.02, "proof": "by-hand", "total": None}
    model = NoisyGDClassifier(**given).fit(rows[:3_000], sides[:3_000])
    assert (model.plan_.problem.regularization, model.plan_.problem.total) == (0.02, None)
    assert model.plan_.method.proof == "by-hand"
    with pytest.raises(InvalidParameter, match="chooses λ"):
        NoisyGDClassifier(feature_bounds=(0, 10), ridge="given").fit(rows, sides)
    with pytest.raises(InvalidParameter, match="proof"):
        NoisyGDClassifier(feature_bounds=(0, 10), proof="hearsay").fit(rows, sides)
