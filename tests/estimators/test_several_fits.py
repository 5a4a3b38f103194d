"""Estimators of scikit-learn that fit several models to the same people warn, and those that fit one do not."""

from __future__ import annotations

import inspect
import warnings
from functools import cache, partial

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

import joblib
from sklearn import model_selection
from sklearn.base import BaseEstimator, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.inspection import permutation_importance
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.discovery import all_estimators

from noisygd_delete import Budget, NoisyGDClassifier, NoisyGDRegressor
from noisygd_delete.errors import FitsAddUp
from noisygd_delete.estimators import DeletionEstimator, base

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 10, (150, 3))
TWO = (X[:, 0] > X[:, 1]).astype(int)
SETTINGS = {
    "feature_bounds": (0, 10),
    "method": "output-perturbation",
    "regularization": 1e-2,
    "row_norm": "bounds",
    "budget": Budget(order=2, dp=100.0, deletion=10.0),
    "total": None,
}
MODELS = {
    "classifier": NoisyGDClassifier(**SETTINGS),
    "regressor": NoisyGDRegressor(target_bounds=(-1, 3), **SETTINGS),
    "pipeline": make_pipeline(FunctionTransformer(), NoisyGDClassifier(**SETTINGS)),
}
LABELS = {"two": TWO, "three": TWO + (X[:, 2] > 5), "columns": np.c_[TWO, 1 - TWO], "one column": TWO[:, None]}
PLANS = cache(base.make_plan)
METAS = {
    name: kind
    for name, kind in all_estimators()
    if {"estimator", "estimators", "regressor"} & set(inspect.signature(kind).parameters)
}


@pytest.fixture(autouse=True)
def _equal_plans_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "make_plan", PLANS)


def settings_of(kind: type, model: BaseEstimator) -> dict[str, object]:
    """Return arguments for a meta-estimator around `model`, small where it has a size."""
    values = {
        "estimator": model,
        "regressor": model,
        "estimators": [("a", clone(model)), ("b", clone(model))],
        "param_grid": {},
        "param_distributions": {},
        "n_iter": 1,
        "cv": 3,
        "n_estimators": 2,
        "n_features_to_select": 2,
        "max_iter": 2,
        "max_trials": 2,
        "min_samples": 0.5,
        "random_state": 0,
    }
    return {name: values[name] for name in inspect.signature(kind).parameters if name in values}


def count_fits(monkeypatch: pytest.MonkeyPatch, fit) -> tuple[int, bool]:
    """Return how many models were fitted, as the fits themselves count, and whether that was warned about."""
    counted, plain = [], DeletionEstimator.fit

    def counting(self, *given, **named):
        counted.append(1)
        return plain(self, *given, **named)

    with warnings.catch_warnings(record=True) as seen, monkeypatch.context() as patched:
        patched.setattr(DeletionEstimator, "fit", counting)
        warnings.simplefilter("always")
        try:
            fit()
        except Exception as error:  # a meta-estimator that gives sample_weight, or wants other targets
            if isinstance(error, FitsAddUp):
                raise
    return len(counted), any(issubclass(one.category, FitsAddUp) for one in seen)


@pytest.mark.parametrize("name", METAS)
@pytest.mark.parametrize("model", MODELS)
def test_several_fits_are_warned_about_and_one_is_not(monkeypatch: pytest.MonkeyPatch, name: str, model: str) -> None:
    for labels in LABELS.values() if model == "classifier" else [TWO]:
        meta = METAS[name](**settings_of(METAS[name], MODELS[model]))
        fits, warned = count_fits(monkeypatch, partial(meta.fit, X, labels))
        assert warned == (fits > 1), fits


def test_members_that_are_no_copies_of_each_other_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    members = [
        ("a", clone(MODELS["classifier"])),
        ("b", clone(MODELS["pipeline"]).set_params(noisygdclassifier__regularization=0.1)),
    ]
    meta = METAS["VotingClassifier"](members)
    assert count_fits(monkeypatch, lambda: meta.fit(X, TWO)) == (2, True)


@pytest.mark.parametrize("times", [1, 3])
def test_one_model_for_each_table_is_no_several_fits(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """One meta-estimator, fitted to other people each time; and plain copies outside any."""
    meta = TransformedTargetRegressor(MODELS["regressor"])
    parts = np.array_split(np.arange(150), 3)[:times]
    fits = count_fits(monkeypatch, lambda: [meta.fit(X[part].copy(), TWO[part].copy()) for part in parts])
    assert fits == (times, False)
    plain = count_fits(monkeypatch, lambda: [clone(MODELS["classifier"]).fit(X[part], TWO[part]) for part in parts])
    assert plain == (times, False)


@pytest.mark.parametrize("inner", [FixedThresholdClassifier, OneVsRestClassifier])
def test_fits_are_counted_through_estimators_inside_each_other(monkeypatch: pytest.MonkeyPatch, inner: type) -> None:
    meta = FixedThresholdClassifier(inner(MODELS["classifier"]))
    assert count_fits(monkeypatch, lambda: meta.fit(X, TWO)) == (1, False)
    search = GridSearchCV(inner(MODELS["classifier"]), {}, cv=3)
    fits, warned = count_fits(monkeypatch, lambda: search.fit(X, TWO))
    assert (fits, warned) == (4, True)


FUNCTIONS = {
    "cross_val_score": partial(model_selection.cross_val_score, cv=3),
    "cross_validate": partial(model_selection.cross_validate, cv=3),
    "cross_val_predict": partial(model_selection.cross_val_predict, cv=3),
    "learning_curve": partial(model_selection.learning_curve, cv=2, train_sizes=[50, 60]),
    "validation_curve": partial(
        model_selection.validation_curve, cv=2, param_name="regularization", param_range=[0.01, 0.1]
    ),
    "permutation_test_score": partial(model_selection.permutation_test_score, cv=2, n_permutations=2),
}
ONE_SPLIT = model_selection.ShuffleSplit(1, random_state=0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_fit_several_models_are_warned_about(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    fits, warned = count_fits(monkeypatch, lambda: FUNCTIONS[name](MODELS["classifier"], X, TWO))
    assert fits > 1
    assert warned
    once = count_fits(
        monkeypatch, lambda: model_selection.cross_validate(MODELS["classifier"], X.copy(), TWO, cv=ONE_SPLIT)
    )
    assert once == (1, False)


PARALLEL = {
    "cross_validate": lambda: model_selection.cross_validate(MODELS["classifier"], X, TWO, cv=3, n_jobs=2),
    "a search": lambda: GridSearchCV(MODELS["classifier"], {}, cv=3, n_jobs=2).fit(X, TWO),
    "members": lambda: METAS["VotingClassifier"](
        [("a", MODELS["classifier"]), ("b", MODELS["pipeline"])], n_jobs=2
    ).fit(X, TWO),
    "classes": lambda: OneVsRestClassifier(MODELS["classifier"], n_jobs=2).fit(X, LABELS["three"]),
    "targets": lambda: METAS["MultiOutputClassifier"](MODELS["classifier"], n_jobs=2).fit(X, LABELS["columns"]),
}


@pytest.mark.parametrize(
    ("name", "backend"), [*((name, "threading") for name in PARALLEL), ("a search", "loky"), ("members", "loky")]
)
def test_fits_in_other_processes_and_threads_are_warned_about_here(name: str, backend: str) -> None:
    with joblib.parallel_config(backend), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        PARALLEL[name]()
    assert any(issubclass(one.category, FitsAddUp) for one in seen)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_one_fitted_model_in_other_processes_and_threads_is_no_several_fits(backend: str) -> None:
    model = clone(MODELS["classifier"]).fit(X, TWO)
    with joblib.parallel_config(backend), warnings.catch_warnings():
        warnings.simplefilter("error", FitsAddUp)
        permutation_importance(model, X, TWO, n_jobs=2, n_repeats=2)
