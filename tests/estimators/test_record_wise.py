"""Every transformer of the installed scikit-learn, with generated parameters: what a pipeline accepts learns nothing from one record."""

from __future__ import annotations

import inspect
import itertools
import warnings
from contextlib import suppress
from functools import partial

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")

import pandas
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    StandardScaler,
    minmax_scale,
    scale,
)
from sklearn.utils.discovery import all_estimators

from noisygd_delete import NoisyGDClassifier, RecordWisePipeline
from noisygd_delete.errors import AssumptionViolated
from noisygd_delete.estimators import behaviour, check_record_wise, record_wise

ROWS, SETTINGS = 60, 6

# values of parameters, by name: rules that read the data, and public constants
VALUES = {
    "categories": ["auto", [["a", "b", "z"]]],
    "min_frequency": [None, 2, 0.05],
    "max_categories": [None, 2],
    "handle_unknown": ["ignore", "error", "infrequent_if_exist", "use_encoded_value"],
    "unknown_value": [None, -1],
    "drop": [None, "first", "if_binary"],
    "strategy": ["mean", "median", "most_frequent", "constant", "quantile", "uniform", "kmeans"],
    "fill_value": [None, 0.5],
    "keep_empty_features": [False, True],
    "add_indicator": [False, True],
    "features": ["missing-only", "all"],
    "knots": ["uniform", "quantile", np.linspace(0, 10, 4)[:, None] + np.zeros((1, 3))],
    "extrapolation": ["constant", "linear"],
    "vocabulary": [None, ["rare", "common"]],
    "use_idf": [True, False],
    "gamma": ["scale", 0.5],
    "n_components": [2, "auto", None],
    "random_state": [0, None],
    "n_features_to_select": [1],
    "threshold": [0.0],
    "k": [1, "all"],
    "quantile_range": [(25, 75)],
    "n_quantiles": [10],
    "n_bins": [2],
    "encode": ["ordinal"],
    "sparse_output": [False],
    "degree": [2, 3],
    "dictionary": [np.eye(3)],
    "estimator": [LogisticRegression()],
    "estimators": [[("one", LogisticRegression())]],
    "transformer_list": [[("one", Normalizer())], [("one", StandardScaler())]],
    "transformers": [[("one", Normalizer(), [0])], [("one", StandardScaler(), [0])]],
    "remainder": ["drop", StandardScaler(), Normalizer()],
    "func": [None, np.log1p, scale],
    "target_type": ["auto"],
    "n_neighbors": [3],
    "max_patches": [1],
    "n_features": [16],
}


def tables() -> dict[str, object]:
    """Kinds of records, in each of which one person is unlike all others: extreme, missing, of a category or word of its own."""
    rng = np.random.default_rng(5)
    numbers = rng.uniform(1, 9, (ROWS, 3))
    numbers[41] = [9.9, 0.1, 9.5]
    gaps = numbers.copy()
    gaps[41, 1] = np.nan
    town = rng.choice(["a", "b"], (ROWS, 1)).astype(object)
    town[41] = "z"
    words = ["common"] * ROWS
    words[41] = "rare common"
    dicts = [{"age": float(row[0])} for row in numbers]
    dicts[41]["rare"] = 1.0
    return {"numbers": numbers, "gaps": gaps, "town": town, "words": words, "dicts": dicts}


TABLES = tables()
LABELS = (TABLES["numbers"][:, 0] > 5).astype(int)


def settings_of(kind: type) -> list[dict[str, object]]:
    """Return generated settings of a class: the defaults, each public choice together, and random ones."""
    parameters = inspect.signature(kind).parameters
    named = [name for name in parameters if name in VALUES]
    needed = {name: VALUES[name][0] for name in named if parameters[name].default is inspect.Parameter.empty}
    rng = np.random.default_rng(len(kind.__name__))
    drawn = [{name: VALUES[name][rng.integers(len(VALUES[name]))] for name in named} for _ in range(SETTINGS)]
    public = {name: VALUES[name][-1] for name in named}
    calm = public | {
        name: VALUES[name][0]
        for name in ("min_frequency", "max_categories", "add_indicator", "random_state")
        if name in named
    }
    calm |= {"strategy": "constant"} if "strategy" in named else {}
    calm |= {"handle_unknown": "ignore"} if kind is OneHotEncoder else {}
    calm |= {"n_components": 2} if "n_components" in named else {}
    return [needed, calm, public, *drawn]


def digest(value: object) -> object:
    """Write a fitted value out as plain Python, for comparison; independent of the package."""
    if isinstance(value, BaseEstimator):
        return {
            name: digest(one) for name, one in vars(value).items() if name.endswith("_") and name != "sparse_output_"
        }
    if sparse.issparse(value):
        rows = value.tocsr().sorted_indices()
        return digest([rows.indptr, rows.indices, rows.data])
    if isinstance(value, np.ndarray):
        return digest(value.tolist())
    if isinstance(value, dict):
        return {str(name): digest(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [digest(one) for one in value]
    if hasattr(value, "t") and hasattr(value, "c"):  # a spline
        return digest([value.t, value.c])
    return repr(value) if isinstance(value, (float, np.floating)) else str(value)


def depends_on_a_person(step: BaseEstimator, table: object) -> bool:
    """The oracle: fit without each of many records, and compare what was learned and what is made of fixed records."""

    def learned(places: list[int]) -> object:
        part = [table[place] for place in places] if isinstance(table, list) else table[places]
        fitted = clone(step).fit(part, LABELS[places])
        made = fitted.transform(table if isinstance(table, list) else table[:20])
        return digest(fitted), digest(made)

    everybody = list(range(ROWS))
    whole = learned(everybody)
    return any(learned([other for other in everybody if other != place]) != whole for place in (0, 7, 41, ROWS - 1))


def accepted(step: BaseEstimator, table: object, labels: np.ndarray = LABELS) -> bool:
    try:
        check_record_wise(step)
        behaviour.check_behaviour([("step", step)], table, labels)
    except AssumptionViolated:
        return False
    return True


def fits(step: BaseEstimator, table: object) -> bool:
    try:
        clone(step).fit(table, LABELS).transform(table)
    except Exception:  # whatever a setting that does not go with the records raises
        return False
    return True


def try_all(kind: type) -> int:
    """Return how many generated settings were accepted, having asked the oracle about them."""
    taken = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for setting, table in itertools.product(settings_of(kind), TABLES.values()):
            step = kind(**setting)
            with suppress(AssumptionViolated):  # before any record is read
                check_record_wise(step)
                if fits(step, table) and accepted(step, table):
                    taken += 1
                    assert not depends_on_a_person(step, table), (kind.__name__, setting)
    return taken


KINDS = dict(all_estimators(type_filter="transformer"))
# those that are record-wise under some public parameters; every other one is refused under all
PUBLIC = {kind.__name__ for kind in record_wise.PUBLIC_IF} & set(KINDS) | {
    "AdditiveChi2Sampler", "Binarizer", "ColumnTransformer", "FeatureHasher", "FeatureUnion", "FunctionTransformer",
    "HashingVectorizer", "Normalizer",
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_what_is_accepted_learns_nothing_from_one_person(name: str) -> None:
    assert bool(try_all(KINDS[name])) == (name in PUBLIC)


def test_the_oracle_finds_a_transformer_that_is_accepted_by_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault in the list is caught by the behaviour; without that check too, by the oracle."""
    rule = (lambda step: True, "")
    monkeypatch.setitem(record_wise.PUBLIC_IF, KBinsDiscretizer, rule)
    monkeypatch.setitem(record_wise.PUBLIC_IF, OneHotEncoder, rule)
    rare = OneHotEncoder(categories=[["a", "b", "z"]], min_frequency=1)
    assert not accepted(KBinsDiscretizer(n_bins=2), TABLES["numbers"])
    monkeypatch.setattr(behaviour, "check_behaviour", lambda *_: None)
    with pytest.raises(AssertionError, match="KBinsDiscretizer"):
        try_all(KBinsDiscretizer)
    assert accepted(rare, TABLES["town"])


# -- containers ---------------------------------------------------------------------------------------------------------

WRAPPERS = {
    "pipeline": lambda step: make_pipeline("passthrough", step),
    "union": lambda step: FeatureUnion([("left", "passthrough"), ("right", step)]),
    "columns": lambda step: ColumnTransformer([("one", step, [0, 1])], remainder="passthrough"),
    "remainder": lambda step: ColumnTransformer([("one", "passthrough", [0])], remainder=step),
    "deep": lambda step: make_pipeline(
        FeatureUnion([("one", ColumnTransformer([("two", "drop", [0])], remainder=make_pipeline(step)))])
    ),
}
LEARNS = {
    "scaler": StandardScaler(),
    "imputer": SimpleImputer(),
    "bins": KBinsDiscretizer(),
    "selector": SelectFromModel(LogisticRegression()),
    "frozen": FrozenEstimator(StandardScaler().fit(TABLES["numbers"])),
    "bound": FunctionTransformer(StandardScaler().fit(TABLES["numbers"]).transform),
    "across": FunctionTransformer(minmax_scale),
    "memory": make_pipeline(Normalizer(), memory="cache"),
}
RECORD_WISE = {
    "norm": Normalizer(),
    "log": FunctionTransformer(np.log1p),
    "constant": SimpleImputer(strategy="constant", fill_value=0, keep_empty_features=True),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("step", [*LEARNS, *RECORD_WISE])
def test_containers_are_searched(step: str, wrapper: str) -> None:
    wrapped = WRAPPERS[wrapper](LEARNS.get(step) or RECORD_WISE[step])
    assert accepted(wrapped, TABLES["numbers"]) == (step in RECORD_WISE)


def test_a_pipeline_of_ours_keeps_no_cache_of_rows(tmp_path) -> None:
    pipeline = RecordWisePipeline(
        [("norm", Normalizer()), ("model", NoisyGDClassifier(feature_bounds=(-1, 1)))], memory=str(tmp_path)
    )
    with pytest.raises(AssumptionViolated):
        pipeline.fit(TABLES["numbers"], LABELS)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("columns", "right"),
    [
        (make_column_selector(pattern="^age"), True),
        (make_column_selector(dtype_include="float"), False),
        (lambda table: [name for name in table if table[name].nunique() > 2], False),
        (["age"], True),
    ],
)
def test_columns_are_chosen_by_name_alone(columns, right: bool) -> None:
    table = pandas.DataFrame(TABLES["numbers"], columns=["age", "income", "ageing"])
    assert accepted(ColumnTransformer([("one", Normalizer(), columns)]), table) == right


# -- functions and classes of a user's own ------------------------------------------------------------------------------


class Declared(TransformerMixin, BaseEstimator):
    """A transformer that declares itself stateless, and is not if it has something to learn."""

    def __init__(self, learn: str = "nothing") -> None:
        self.learn = learn

    def fit(self, X, y=None):
        if self.learn == "mean":
            self.middle_ = np.nanmean(np.asarray(X), axis=0)
        elif self.learn == "private":
            self._seen = len(X)
        return self

    def transform(self, X):
        return np.asarray(X) - getattr(self, "middle_", 0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


class Elsewhere(Declared):
    """What it learns is kept by the class, not by the object."""

    middle_ = 0.0

    def fit(self, X, y=None):
        Elsewhere.middle_ = np.nanmean(np.asarray(X), axis=0)
        return self


def test_what_a_class_keeps_is_seen_in_its_rows() -> None:
    assert not accepted(Elsewhere(), TABLES["numbers"])


SCALER = StandardScaler().fit(TABLES["numbers"])
LIMITS = {"middle": 5.0, "names": ["age", "income"]}


class Applied:
    """A callable object, and a holder of a function."""

    shared = SCALER

    def __init__(self, held: object = None) -> None:
        self.held = held

    def __call__(self, X):
        return X if self.held is None else self.held[0].transform(X)

    def read(self, X):
        return self(X)


def by_global(X):
    return SCALER.transform(X)


def by_default(X, held=SCALER):
    return held.transform(X)


def by_keyword(X, *, held=({"scaler": SCALER},)):
    return held[0]["scaler"].transform(X)


def by_class(X):
    return Applied.shared.transform(X)


def by_inner(X):
    def inner():
        return by_global(X)

    return inner()


def bound(one):
    def function(X):
        def inner():
            return one.transform(X)

        return inner()

    return function


ARRAY = np.array([SCALER, None], object)


HOLDING = {
    "global": (by_global, False),
    "default": (by_default, False),
    "keyword": (by_keyword, False),
    "attribute of a class": (by_class, False),
    "called inside": (by_inner, False),
    "object": (Applied([SCALER]), False),
    "method": (Applied([SCALER]).read, False),
    "partial": (partial(by_default, held=SCALER), False),
    "array": (lambda X, held=ARRAY: held[0].transform(X), False),
    "closure of a closure": (bound(SCALER), False),
    "object without": (Applied(), True),
    "numbers": (lambda X, held=LIMITS: X - held["middle"], True),
    "global numbers": (lambda X: X - LIMITS["middle"], True),
}


@pytest.mark.parametrize("name", HOLDING)
def test_functions_that_hold_a_fitted_estimator_are_found(name: str) -> None:
    function, right = HOLDING[name]
    assert accepted(FunctionTransformer(function), TABLES["numbers"]) == right


@pytest.mark.parametrize(("learn", "right"), [("nothing", True), ("mean", False), ("private", False)])
def test_a_declaration_alone_is_not_believed(learn: str, right: bool) -> None:
    assert accepted(Declared(learn), TABLES["numbers"]) == right


FRAME = pandas.DataFrame(TABLES["gaps"], columns=["age", "income", "weight"]).assign(town=TABLES["town"][:, 0])
FUNCTIONS = {
    "log": (lambda table: table[["age"]].apply(np.log1p), True),
    "listed": (lambda table: (table[["town"]] == "a").astype(float), True),
    "zero for missing": (lambda table: table[["income"]].fillna(0), True),
    "mean for missing": (lambda table: table[["income"]].fillna(table["income"].mean()), False),
    "previous for missing": (lambda table: table[["income"]].ffill(), False),
    "frequency": (lambda table: table[["town"]].apply(lambda town: town.map(town.value_counts())), False),
    "mean of a town": (lambda table: table.groupby("town")[["age"]].transform("mean"), False),
    "rank": (lambda table: table[["age"]].rank(), False),
    "codes": (lambda table: table[["town"]].apply(lambda town: town.astype("category").cat.codes), False),
    "quantile": (lambda table: table[["age"]].clip(upper=table["age"].quantile(0.9)), False),
    "dropped": (lambda table: table[["income"]].dropna(), False),
    "unlike in large tables alone": (lambda table: table[["age"]] - (table[["age"]].mean() if len(table) > 40 else 0), False),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("gaps", [True, False], ids=["a person with a gap", "none"])
def test_functions_are_judged_by_what_they_do(name: str, gaps: bool) -> None:
    function, right = FUNCTIONS[name]
    table = FRAME if gaps or name == "dropped" else FRAME.fillna(5.0)
    assert accepted(FunctionTransformer(function), table) == right
