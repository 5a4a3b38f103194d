"""What users of scikit-learn try first: each thing works, or says why not."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from noisygd_delete import Budget, NoisyGDClassifier, NoisyGDRegressor, RecordWisePipeline, errors, losses
from noisygd_delete.errors import FitsAddUp, InvalidParameter, InvalidRecords, PrivatePreprocessing, ValuesClipped
from noisygd_delete.estimators import scaling
from noisygd_delete.estimators.scaling import RowScaling
from noisygd_delete.planner.defaults import default_slots

WIDE = Budget(order=2, dp=100.0, deletion=10.0)
COMMON = {"budget": WIDE, "method": "noisy-gd", "regularization": 1e-2, "random_state": 0}


def classifier(**options) -> NoisyGDClassifier:
    return NoisyGDClassifier(**{"feature_bounds": ([0, -5, 10], [10, 5, 30]), **COMMON, **options})


def rows(number: int = 160, seed: int = 0):
    rng = np.random.default_rng(seed)
    return rng.uniform([0, -5, 10], [10, 5, 30], (number, 3))


def labels(X, classes: int):
    score = X[:, 0] / 5 + X[:, 1] / 2
    return np.array(["a", "b", "c"])[np.searchsorted([1.0] if classes == 2 else [0.0, 2.0], score)]


# -- coefficients ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row_norm", ["bounds", 2.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_coefficients_are_those_of_the_raw_features(classes, fit_intercept, row_norm) -> None:
    X = rows()
    model = classifier(row_norm=row_norm, fit_intercept=fit_intercept).fit(X, labels(X, classes))
    shape = (1, 3) if classes == 2 else (3, 3)
    assert (model.coef_.shape, model.intercept_.shape) == (shape, shape[:1])
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(
        scores[:, 0] if classes == 2 else scores, model.decision_function(X), rtol=1e-9, atol=1e-9
    )


def test_coefficients_of_a_regression() -> None:
    X = rows()
    y = 3 * X[:, 0] - X[:, 1]
    bounds = {"feature_bounds": ([0, -5, 10], [10, 5, 30]), "target_bounds": (-100, 100)}
    model = NoisyGDRegressor(**bounds, **COMMON).fit(X, y)
    assert (model.coef_.shape, type(model.intercept_)) == ((3,), float)
    np.testing.assert_allclose(X @ model.coef_ + model.intercept_, model.predict(X), rtol=1e-9)


@pytest.mark.parametrize("row_norm", ["unit", 1.5])
def test_there_are_no_coefficients_where_scores_are_not_linear(row_norm) -> None:
    X = rows()
    model = classifier(row_norm=row_norm).fit(X, labels(X, 2))
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match="row_norm='bounds'"):
        _ = model.intercept_
    assert not hasattr(classifier(), "coef_")  # not fitted


def test_coefficients_serve_what_selects_by_them() -> None:
    X = rows()
    selector = SelectFromModel(classifier(row_norm="bounds"), max_features=2).fit(X, labels(X, 2))
    assert selector.get_support().sum() <= 2


# -- probabilities -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_logarithms_of_probabilities_are_finite_in_the_order_of_predictions(classes) -> None:
    X = rows()
    model = classifier(budget=Budget(order=2, dp=1e-3, deletion=1e-4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.NothingPromised)
        model.fit(X, labels(X, classes))
    logarithms = model.predict_log_proba(X)
    assert np.isfinite(logarithms).all()
    np.testing.assert_allclose(np.exp(logarithms), model.predict_proba(X))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert list(model.classes_[logarithms.argmax(axis=1)]) == list(model.predict(X))


# -- weights -----------------------------------------------------------------------------------------------------------


def test_class_weights_are_public_numbers_of_which_ratios_matter() -> None:
    X = rows(400)
    y = labels(X, 2)
    plain = classifier().fit(X, y)
    weighted = classifier(class_weight={"b": 20, "a": 2}).fit(X, y)
    same = classifier(class_weight={"b": 10}).fit(X, y)
    assert (
        weighted.plan_.problem.loss
        == same.plan_.problem.loss
        == losses.with_class_weights(losses.Logistic(1.0), [0.1, 1.0])
    )
    assert weighted.plan_.calibration.noise_variance == pytest.approx(plain.plan_.calibration.noise_variance, rel=1e-5)
    np.testing.assert_array_equal(weighted.predict(X), same.predict(X))
    assert (weighted.predict(X) == "b").sum() > (plain.predict(X) == "b").sum() + 10
    weighted.delete([0])
    assert weighted.n_records_ == 399


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("balanced", "counts the labels of the records"),
        ({"d": 2.0}, r"'d', which is not one of the classes \['a', 'b'\]"),
        ({"a": 0.0}, "class_weight=0.0 must be > 0"),
        ([1.0, 2.0], "must be {class: weight}"),
    ],
)
def test_other_class_weights_are_refused_with_the_reason(weights, message) -> None:
    X = rows()
    with pytest.raises(InvalidParameter, match=message):
        classifier(class_weight=weights).fit(X, labels(X, 2))


def test_sample_weights_are_refused_with_the_reason() -> None:
    X = rows()
    with pytest.raises(InvalidParameter, match="private number for each record"):
        classifier().fit(X, labels(X, 2), sample_weight=np.ones(len(X)))
    classifier().fit(X, labels(X, 2), sample_weight=None)
    with pytest.raises(TypeError, match="'gropus'"):
        classifier().fit(X, labels(X, 2), gropus=np.ones(len(X)))
    assert not sklearn.utils.validation.has_fit_parameter(classifier(), "sample_weight")


# -- sparse rows ---------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::noisygd_delete.errors.ValuesClipped")
def test_sparse_rows_give_the_table_of_dense_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """In blocks of 7 rows here, so that there are many."""
    X = rows()
    X[np.random.default_rng(1).random(X.shape) < 0.6] = 0
    y = labels(X, 2)
    dense = classifier(slots=162).fit(X, y)
    monkeypatch.setattr(scaling, "_CELLS", 21)
    for make in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        thin = classifier(slots=162).fit(make(X), y)
        np.testing.assert_array_equal(thin._curator.records.features, dense._curator.records.features)
        np.testing.assert_array_equal(thin.predict_proba(make(X)), thin.predict_proba(X))
    thin.replace({0: (sparse.csr_matrix(X[5:6]), y[5])})
    thin.insert(sparse.csr_matrix(X[3:5]), y[3:5])
    np.testing.assert_array_equal(thin._curator.records.features[0], dense._curator.records.features[5])
    np.testing.assert_array_equal(thin._curator.records.features[160:], dense._curator.records.features[3:5])


def test_only_a_block_of_sparse_rows_is_ever_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the table itself: 2,000 × 1,000 cells would be 16 MB in float64, a block is 1."""
    monkeypatch.setattr(scaling, "_CELLS", 1 << 17)
    X = sparse.random(2000, 1000, 1e-3, format="csr", random_state=0)
    rows_of = RowScaling(np.zeros(1000), np.ones(1000), "unit", True)
    tracemalloc.start()
    table = rows_of.table(X, 2000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - table.nbytes < 8e6


def test_a_table_that_no_memory_holds_is_refused_before_it_is_made() -> None:
    X = sparse.csr_matrix((3, 100_000))
    with pytest.raises(InvalidRecords, match=r"GiB of memory.*feature_bounds=\(-b, b\)"):
        classifier(feature_bounds=(0, 1), slots=10**9).fit(X, ["a", "b", "a"])


# -- routing -------------------------------------------------------------------------------------------------------------


def test_ids_and_subjects_are_routed_like_any_metadata() -> None:
    X = rows()
    y, ids = labels(X, 2), [f"row-{i}" for i in range(len(X))]
    people = [f"person-{i // 2}" for i in range(len(X))]
    with sklearn.config_context(enable_metadata_routing=True):
        model = classifier(rows_per_subject=2).set_fit_request(ids=True, subjects=True)
        pipe = make_pipeline(FunctionTransformer(), model).fit(X, y, ids=ids, subjects=people)
        assert pipe[-1].delete(subjects=["person-3"]).edits == 2
        assert pipe[-1].delete(["row-0"]).edits == 1
        record_wise = RecordWisePipeline([("model", clone(model))]).fit(X, y, ids=ids, subjects=people)
        assert record_wise.delete(["row-1"]).edits == 1
        with pytest.warns(FitsAddUp):
            found = cross_validate(model, X, y, cv=3, params={"ids": ids, "subjects": people}, return_estimator=True)
        held = found["estimator"][0]._curator.records
        assert "row-159" in held  # the ids of the fold's own rows came along
        assert len(held) == 106 or len(held) == 107


# -- searches, pipelines, copies -----------------------------------------------------------------------------------------


def test_targets_standardized_by_the_records_are_warned_about() -> None:
    X, rng = rows(), np.random.default_rng(0)
    y = 3 + 2 * X[:, 0] + rng.standard_normal(len(X))

    def is_warned(model: Any, targets: Any) -> bool:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, targets)
        return any(issubclass(each.category, PrivatePreprocessing) for each in caught)

    def regressor(bounds: tuple[float, float]) -> NoisyGDRegressor:
        return NoisyGDRegressor(feature_bounds=(-60, 60), target_bounds=bounds)

    assert is_warned(TransformedTargetRegressor(regressor((-6, 6)), transformer=StandardScaler()), y)
    assert not is_warned(regressor((-200, 200)), y)
    assert not is_warned(regressor((0, 1)), (y - y.min()) / (y.max() - y.min())), "shares reach both ends"


def test_scaling_by_the_records_themselves_is_warned_about_in_a_plain_pipeline_and_refused_in_ours() -> None:
    X = rows()
    y = labels(X, 2)
    wide = classifier(feature_bounds=(-4, 4))
    with pytest.warns(PrivatePreprocessing, match="StandardScaler"):
        make_pipeline(StandardScaler(), wide).fit(X, y)
    with pytest.raises(errors.AssumptionViolated, match="learns from the data"):
        RecordWisePipeline([("scale", StandardScaler()), ("model", wide)]).fit(X, y)
    make_pipeline(FunctionTransformer(lambda raw: raw / 10), classifier(feature_bounds=(-1, 3))).fit(X, y)  # no warning


SCALED = {
    "standard": (StandardScaler(), "StandardScaler"),
    "least and largest": (MinMaxScaler(), "MinMaxScaler"),
    "largest": (MaxAbsScaler(), "MaxAbsScaler"),
    "robust": (RobustScaler(), "RobustScaler"),
    "one-hot, dense": (OneHotEncoder(sparse_output=False), "encoder"),
    "one-hot": (OneHotEncoder(), "encoder"),
    "one-hot beside numbers": (
        ColumnTransformer([("town", OneHotEncoder(sparse_output=False), [0])], remainder="passthrough"),
        "encoder",
    ),
}


@pytest.mark.parametrize("step", SCALED)
def test_what_a_plain_pipeline_fits_to_the_records_is_recognised(step: str) -> None:
    transformer, named = SCALED[step]
    X = rows()
    y = labels(X, 2)
    if named == "encoder":
        X = np.column_stack([X[:, 0] // 2, X[:, 1] // 3]) + (0 if "beside" not in step else np.array([0, 0.25]))
    wide = classifier(feature_bounds=(-4, 4))
    with pytest.warns(PrivatePreprocessing, match=named):
        make_pipeline(transformer, wide).fit(X, y)


def test_public_steps_and_raw_rows_are_not_taken_for_fitted_ones() -> None:
    X = rows()
    y = labels(X, 2)
    wide = classifier(feature_bounds=(-5, 40))
    towns = [list(np.unique(X[:, 0] // 2))]
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivatePreprocessing)
        wide.fit(X, y)
        wide.fit(np.column_stack([X, X[:, 0] > 3, X[:, 1] > 1]), y)  # two values of 0 and 1 are nothing but that
        listed = ColumnTransformer([("town", OneHotEncoder(categories=towns), [0])])
        coded = np.column_stack([X[:, 0] // 2, X[:, 1]])
        RecordWisePipeline([("towns", listed), ("model", wide)]).fit(coded, y)
    with pytest.warns(PrivatePreprocessing, match="encoder"):
        make_pipeline(listed, wide).fit(coded, y)  # nothing tells a public list from a fitted one here


def test_values_beyond_public_bounds_are_counted_and_many_are_warned_about() -> None:
    X = rows()
    y = labels(X, 2)
    X[:40, 1] += 20
    for given in (X, sparse.csr_array(X)):
        with pytest.warns(ValuesClipped, match=r"1 \(25(\.0)? %\)"):
            model = classifier().fit(given, y)
        assert model.clipped_ == {0: 0, 1: 40, 2: 0}
        assert not hasattr(pickle.loads(pickle.dumps(model)), "clipped_"), "it is of the rows"
    symmetric = classifier(feature_bounds=(-22, 22))
    for given in (X, sparse.csr_array(X)):
        with pytest.warns(ValuesClipped):
            counted = symmetric.fit(given, y).clipped_
        assert counted == {column: int((np.abs(X[:, column]) > 22).sum()) for column in range(3)}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ValuesClipped)
        few = X.copy()
        few[1:, 1] = 0
        model = classifier().fit(few, y)
        assert model.clipped_[1] == 1
    with pytest.warns(ValuesClipped):
        model.insert(X[:3], y[:3])


def test_targets_beyond_their_bounds_are_counted_and_many_are_warned_about() -> None:
    X = rows()
    y = X[:, 0]
    settings = {"feature_bounds": ([0, -5, 10], [10, 5, 30]), **COMMON}
    with pytest.warns(ValuesClipped, match="target_bounds"):
        model = NoisyGDRegressor(target_bounds=(0, 5), **settings).fit(X, y)
    assert model.targets_clipped_ == (y > 5).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ValuesClipped)
        assert NoisyGDRegressor(target_bounds=(0, 10), **settings).fit(X, y).targets_clipped_ == 0


def test_there_is_room_to_insert_as_in_a_store() -> None:
    X = rows()
    y = labels(X, 2)
    model = classifier().fit(X, y)
    assert model.plan_.problem.records == default_slots(len(X)) > len(X)
    assert model.insert(X[:2], y[:2]).edits == 2
    assert model.n_records_ == len(X) + 2
    assert classifier(slots=len(X)).fit(X, y).plan_.problem.records == len(X)


def test_no_partial_fit_and_no_warm_start_and_the_reason() -> None:
    with pytest.raises(AttributeError, match="outside the account"):
        _ = classifier().partial_fit
    with pytest.raises(TypeError, match="warm_start"):
        classifier(warm_start=True)
    with pytest.raises(ValueError, match="warm_start"):
        classifier().set_params(warm_start=True)
    assert any("no `warm_start`" in (kind.__doc__ or "") for kind in NoisyGDClassifier.__mro__)


def test_pandas_all_the_way() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    X = pandas.DataFrame(rows(), columns=["x", "y", "z"])
    halved = FunctionTransformer(lambda raw: raw / 2, feature_names_out="one-to-one")
    pipe = RecordWisePipeline([("half", halved), ("model", classifier(feature_bounds=(-5, 15)))])
    pipe.set_output(transform="pandas").fit(X, labels(X.to_numpy(), 2))
    assert list(pipe[-1].feature_names_in_) == ["x", "y", "z"]
    assert pipe[-1].n_features_in_ == 3
    pipe.replace({0: (X.iloc[[7]], "b")})


def test_reprs_are_a_short_line_or_a_table_of_figures() -> None:
    X = rows()
    model = classifier(releases=3).fit(X, labels(X, 2))
    release = model.delete([0])
    for each in (model.plan_, model.accountant_, *release.guarantees.values()):
        assert len(repr(each)) < 170
        assert "\n" not in repr(each)
    head, *figures = repr(release).splitlines()
    assert len(figures) == len(release.guarantees) == 4
    assert max(map(len, (head, *figures))) < 170
    for line, guarantee in zip(figures, release.guarantees.values(), strict=True):
        assert guarantee.at_most in line
        assert ("requests not adaptive" in line) == guarantee.non_adaptive
    assert model.accountant_.dp_cumulative().at_most in repr(model.accountant_)
    assert repr(type(model.accountant_)()) == "Accountant(no releases)"


def test_warnings_are_user_warnings_that_can_be_told_apart() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Warning)]
    assert len(kinds) >= 3
    assert all(issubclass(kind, UserWarning) for kind in kinds)
