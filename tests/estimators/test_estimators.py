"""The scikit-learn estimators: scikit-learn's own checks, deletion through them, and what a pickle may not carry."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from noisygd_delete import Budget, NoisyGDClassifier, NoisyGDRegressor, RecordWisePipeline, methods
from noisygd_delete.errors import (
    AssumptionViolated,
    InvalidParameter,
    InvalidRecords,
    InvalidRequest,
    NothingWorthHaving,
    NotLearned,
    ReleaseWithheld,
)
from noisygd_delete.estimators import RowScaling

# scikit-learn's checks use a few dozen to a few hundred standardised records: a wide budget leaves something to score
WIDE = Budget(order=2, dp=100.0, deletion=10.0)
CHECKED = {"feature_bounds": (-4, 4), "budget": WIDE, "method": "noisy-gd", "regularization": 3e-2}
REGRESSION = {**CHECKED, "target_bounds": (-4, 4), "regularization": 3e-3}  # a check asks for half of the variance


@pytest.mark.filterwarnings("ignore::noisygd_delete.errors.ValuesClipped")  # and make what lies beyond the bounds
@pytest.mark.filterwarnings(
    "ignore::noisygd_delete.errors.PrivatePreprocessing"
)  # some checks standardise what they make
@parametrize_with_checks(
    [
        NoisyGDClassifier(**CHECKED),
        NoisyGDClassifier(**CHECKED, random_state=0),  # repeatable, so that no check is skipped as non-deterministic
        NoisyGDRegressor(**REGRESSION),
        NoisyGDRegressor(**REGRESSION, random_state=0),
    ],
    expected_failed_checks=None,  # every check passes
)
def test_scikit_learn_accepts_the_estimators(estimator, check):
    check(estimator)


ACCURACY_CHECKS = ("check_class_weight_classifiers", "check_classifiers_train")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "passing"),
    [
        (NoisyGDClassifier(feature_bounds=(-4, 4), random_state=0), 27),
        (NoisyGDRegressor(feature_bounds=(-4, 4), target_bounds=(-4, 4), random_state=0), 16),
    ],
)
def test_on_the_default_budget_a_check_fails_only_where_its_few_records_are_refused(estimator, passing: int) -> None:
    """A check makes 20 to 200 records, of which no model worth having comes at ε = 1.2 a release: `fit` says so and learns nothing."""
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = [result for result in results if result["status"] == "failed"]
    for result in failed:
        reasons, error = [], result["exception"]
        while error is not None:
            reasons.append(error)
            error = error.__cause__ or error.__context__
        # a plan for 50 weighted records, or for 200 to 300, just passes the forecast; its noise decides whether .87 or .83 are right
        by_chance = result["check_name"] in ACCURACY_CHECKS and isinstance(reasons[0], AssertionError)
        assert by_chance or any(isinstance(reason, NothingWorthHaving) for reason in reasons), result["check_name"]
    assert sum(result["status"] == "passed" for result in results) >= passing


@pytest.fixture
def flowers():
    """Three separable groups on a known scale, with string labels and string ids."""
    rng = np.random.default_rng(7)
    centres = np.array([[2.0, 2.0], [8.0, 2.0], [5.0, 8.0]])
    group = np.repeat([0, 1, 2], 60)
    X = np.clip(centres[group] + rng.normal(0, 0.8, (180, 2)), 0, 10)
    return X, np.array(["iris", "rose", "tulip"])[group], [f"plant-{i}" for i in range(180)]


def classifier(**options):
    settings = {"feature_bounds": (0, 10), "budget": WIDE, "method": "noisy-gd", "regularization": 1e-3}
    return NoisyGDClassifier(**{**settings, **options})


def test_deletes_by_id_and_keeps_predicting(flowers):
    X, y, ids = flowers
    model = classifier().fit(X, y, ids=ids)
    before = model.model_.weights.copy()
    assert model.score(X, y) > 0.9
    release = model.delete(["plant-0", "plant-100"])
    assert release.kind == "unlearn"
    assert release.edits == 2
    assert release.guarantee.renyi(2) <= WIDE.deletion
    assert not np.array_equal(before, model.model_.weights)
    assert model.score(X, y) > 0.9
    assert model.n_records_ == 178
    with pytest.raises(InvalidRequest, match="plant-0"):
        model.delete(["plant-0"])


@pytest.mark.parametrize(
    "options",
    [{"method": "noisy-gd:analysis=paper", "utility": False}, {"method": methods.OutputPerturbation(solver="cold")}],
)
def test_every_way_of_learning_is_open(flowers, options):
    X, y, ids = flowers
    model = classifier(**options).fit(X, y, ids=ids)
    assert model.delete(["plant-0"]).guarantee.renyi(2) <= WIDE.deletion
    assert model.score(X, y) > 0.9


def test_a_deletion_really_changes_what_the_model_learns(flowers):
    """Erase a whole class: a model that still learned from it would go on predicting it."""
    X, y, ids = flowers
    model = classifier(random_state=0).fit(X, y, ids=ids)  # one draw: the threshold is about learning, not about luck
    assert (model.predict(X[y == "rose"]) == "rose").mean() > 0.8
    model.delete([name for name, label in zip(ids, y, strict=True) if label == "rose"])
    assert (model.predict(X[y == "rose"]) == "rose").mean() < 0.2
    assert list(model.classes_) == ["iris", "rose", "tulip"]


def test_replace_and_insert_take_raw_rows(flowers):
    X, y, ids = flowers
    model = classifier(slots=182).fit(X, y, ids=ids)
    model.replace({"plant-0": ([8.0, 2.0], "rose")})
    model.insert([[5.0, 8.0], [5.0, 8.5]], ["tulip", "tulip"], ids=["new-1", "new-2"])
    assert model.n_records_ == 182
    table = model._curator.records
    expected = np.array([0.6, -0.6, 1.0]) / np.linalg.norm([0.6, -0.6, 1.0])
    np.testing.assert_allclose(table.features[0], expected, rtol=1e-6)
    assert table.labels[0] == 1.0
    assert table.labels[-1] == 2.0
    with pytest.raises(InvalidRecords, match="daisy"):
        model.insert([[1.0, 1.0]], ["daisy"], ids=["new-3"])
    with pytest.raises(InvalidRecords, match="3 features"):
        model.replace({"plant-1": ([1.0, 1.0, 1.0], "rose")})


def test_the_regressor_deletes_and_stays_within_its_bounds():
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 100, (400, 2))
    y = 0.2 * X[:, 0] + 0.1 * X[:, 1] + rng.normal(0, 1, 400)
    model = NoisyGDRegressor(
        feature_bounds=(0, 100), target_bounds=(-5, 35), budget=WIDE, method="noisy-gd", regularization=1e-3
    ).fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.delete(range(10)).edits == 10
    assert model.score(X, y) > 0.8
    assert ((model.predict(1e9 * X) >= -5) & (model.predict(1e9 * X) <= 35)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_bounds": None}, "feature_bounds=None must be given"),
        ({"feature_bounds": (1, 1)}, "low < high"),
        ({"feature_bounds": (0, np.nan)}, "finite"),
        ({"feature_bounds": ([0, 0, 0], [1, 1, 1])}, "two sequences of 2"),
        ({"feature_bounds": {"height": (0, 1)}}, r"missing for \['0', '1'\], and \['height'\] are not"),
        ({"row_norm": -1.0}, "row_norm"),
    ],
)
def test_bounds_are_the_callers_and_public(flowers, options, message):
    X, y, _ = flowers
    with pytest.raises(InvalidParameter, match=message):
        classifier(**options).fit(X, y)


def test_the_regressor_needs_target_bounds(flowers):
    X, _, _ = flowers
    with pytest.raises(InvalidParameter, match="target_bounds=None"):
        NoisyGDRegressor(feature_bounds=(0, 10)).fit(X, X[:, 0])


@pytest.mark.parametrize("row_norm", ["unit", "bounds", 1.5])
def test_scaling_is_record_wise_and_within_the_radius(flowers, row_norm):
    X, _, _ = flowers
    wild, scaling = np.vstack([X, [[1e6, -1e6]]]), RowScaling(np.zeros(2), np.full(2, 10.0), row_norm, True)
    together = scaling.rows(wild)
    np.testing.assert_array_equal(together, np.vstack([scaling.rows(row[None]) for row in wild]))
    assert np.linalg.norm(together, axis=1).max() <= scaling.radius * (1 + 1e-12)


def test_data_frames_and_their_names(flowers):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    X, y, ids = flowers
    table = pandas.DataFrame(X, columns=["length", "width"], index=ids)
    model = classifier(feature_bounds={"width": (0, 10), "length": (0, 20)}).fit(table, y, ids=table.index)
    assert list(model.feature_names_in_) == ["length", "width"]
    np.testing.assert_array_equal(model._scaling.high, [20, 10])
    model.delete(["plant-5"])
    assert model.predict(table).shape == (180,)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[["width", "length"]])


def test_a_pickle_carries_no_rows_and_no_ids(flowers):
    _, y, _ = flowers
    marker = np.frombuffer(b"\x11\x22\x33\x40\x11\x22\x13\x40", dtype=np.float64)  # 4.78…, 4.53…: bytes to look for
    X = np.full((180, 2), marker[0])
    X[::2] = 1.0
    ids = [f"secret-name-{i}" for i in range(180)]
    model = classifier().fit(X, y, ids=ids)
    held = model._curator.records.features
    row = held[1].tobytes()
    assert row in held.tobytes()  # the search below can find it
    stored = pickle.dumps(model)
    assert row not in stored
    assert b"secret-name" not in stored
    assert marker.tobytes() not in stored
    assert b"secret-name" in pickle.dumps(model._curator.records)  # and it would, had the rows been pickled


def test_an_unpickled_estimator_predicts_and_deletes_once_attached(flowers):
    X, y, ids = flowers
    model = classifier().fit(X, y, ids=ids)
    model.delete(ids[:3])
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    assert back.accountant_.events == model.accountant_.events
    with pytest.raises(NotLearned, match="attach"):
        back.delete(["plant-9"])
    with pytest.raises(InvalidRecords, match="bring it back"):
        back.attach(X, y, ids=ids)
    with pytest.raises(InvalidRecords, match="pass ids="):
        back.attach(X[3:], y[3:])
    release = back.attach(X[3:], y[3:], ids=ids[3:]).delete(["plant-9"])
    assert release.release == 3
    assert back.certified_


def test_attached_numbers_are_never_given_out_twice(flowers):
    X, y, _ = flowers
    model = classifier(slots=181).fit(X, y)
    model.delete([179])
    back = pickle.loads(pickle.dumps(model)).attach(X[:179], y[:179], ids=range(179))
    back.insert(X[:1], y[:1])
    assert 180 in back._curator.records
    assert 179 not in back._curator.records


def test_a_copy_does_not_share_the_rows(flowers):
    X, y, _ = flowers
    model = classifier().fit(X, y)
    with pytest.raises(NotLearned, match="attach"):
        copy.deepcopy(model).delete([0])


def test_a_random_state_is_for_research_and_repeats(flowers):
    X, y, _ = flowers
    one, two = classifier(random_state=5).fit(X, y), classifier(random_state=5).fit(X, y)
    np.testing.assert_array_equal(one.model_.weights, two.model_.weights)
    assert not one.certified_
    assert not one.delete([0]).model.certified
    assert classifier().fit(X, y).certified_


def test_research_noise_is_fresh_in_every_release(flowers):
    """With the same stream for learn and delete, the noise of two releases would cancel in their difference."""
    X, y, _ = flowers
    model = classifier(random_state=5).fit(X, y)
    drawn = []
    for _ in range(3):
        drawn.append(model._generator().standard_normal(4))
        model.delete([len(drawn)])
    assert len({tuple(d) for d in drawn}) == 3


def test_a_spent_budget_withdraws_the_model_and_relearn_brings_one_back(flowers):
    X, y, _ = flowers
    model = classifier(releases=2).fit(X, y)
    assert model.delete([0]).status == "published"
    with pytest.warns(ReleaseWithheld):
        release = model.delete([1])
    assert release.status == "withheld"
    assert model.n_records_ == 178
    with pytest.raises(NotLearned, match="relearn"):
        model.predict(X)
    model.set_params(releases=1, budget=Budget(order=2, dp=1000.0, deletion=10.0)).relearn()
    assert model.score(X, y) > 0.8
    assert [event.kind for event in model.accountant_.events] == ["learn", "unlearn", "relearn"]


def test_a_withheld_release_survives_pickling(flowers):
    X, y, _ = flowers
    model = classifier(releases=2).fit(X, y)
    model.delete([0])
    with pytest.warns(ReleaseWithheld):
        assert model.delete([1]).status == "withheld"
    back = pickle.loads(pickle.dumps(model)).attach(X[2:], y[2:], ids=range(2, 180))
    with pytest.raises(NotLearned, match="relearn"):
        back.predict(X)
    release = back.set_params(releases=1, budget=Budget(order=2, dp=1000.0, deletion=10.0)).relearn()
    assert release.edits == 1  # the fresh learn covers the edit that was never published


# -- pipelines -------------------------------------------------------------------------------------------------------


def test_a_stateless_step_that_looks_across_records_is_caught(flowers):
    X, y, _ = flowers
    centred = FunctionTransformer(lambda rows: rows - rows.mean(axis=0))
    pipeline = RecordWisePipeline([("centre", centred), ("model", classifier(feature_bounds=(-10, 10)))])
    with pytest.raises(AssumptionViolated, match="company of others"):
        pipeline.fit(X, y)
    assert not hasattr(pipeline[-1], "plan_")  # refused before anything was learned


def test_a_pipeline_deletes_and_edits_raw_rows(flowers):
    X, y, ids = flowers
    model = classifier(feature_bounds=(0, 3), slots=181)
    pipeline = RecordWisePipeline([("log", FunctionTransformer(np.log1p)), ("model", model)])
    pipeline.fit(X, y, model__ids=ids)
    assert pipeline.delete(["plant-1"]).edits == 1
    pipeline.replace({"plant-2": (X[150], y[150])})
    pipeline.insert(X[:1], y[:1], ids=["new"])
    direct = pipeline[-1]._scaling.rows(np.log1p(X[[150]]))[0]
    np.testing.assert_allclose(pipeline[-1]._curator.records.features[2], direct, rtol=1e-6)
    assert pipeline.score(X, y) > 0.8


def test_all_rows_of_a_person_are_erased_together(flowers):
    X, y, _ = flowers
    people = [f"person-{i // 2}" for i in range(180)]
    with pytest.raises(AssumptionViolated, match="rows_per_subject"):
        classifier().fit(X, y, subjects=people)
    model = classifier(rows_per_subject=2).fit(X, y, subjects=people)
    release = model.delete(subjects=["person-3"])
    assert (release.edits, release.guarantee.rows) == (2, 2)
    assert not model._curator.records.features[6:8].any()
