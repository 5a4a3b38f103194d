"""Shared by classifier and regressor: fitting through a plan, the three edits, and pickles without rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d, validate_data

from ..accountant import Accountant, Statuses
from ..curator.curator import Curator
from ..curator.model import Model
from ..curator.release import Release
from ..errors import (
    InvalidParameter,
    InvalidRecords,
    NoisyGDDeleteError,
    NothingPromised,
    NotLearned,
    ReleaseWithheld,
    check_count,
)
from ..features.maps import Additive, PublicMap, Shapes
from ..losses.base import Loss
from ..methods import Method
from ..methods.base import AUTO
from ..methods.plan import Plan
from ..planner import advise, make_advised_plan, make_plan
from ..planner.advise import Advice
from ..planner.defaults import default_budget, default_slots, default_total, with_total
from ..privacy.budget import Budget
from ..privacy.release_dates import ADJACENCY
from ..records import Id, Records
from .checks import (
    NO_PARTIAL_FIT,
    check_preprocessing,
    reject_fit_arguments,
    warn_clipped,
    warn_of_fits_elsewhere,
    warn_of_several_fits,
)
from .row_ids import ids_of, table_of_one
from .rows import TableRows, check_numbers, described_columns
from .scaling import RowScaling, public_bounds

Array = NDArray[np.float64]
_OF_ROWS = ("_curator", "release_", "clipped_", "targets_clipped_")  # never pickled


@dataclass(kw_only=True, eq=False, repr=False)
class Parameters:
    """Parameters of both estimators; see `DeletionEstimator`.

    scikit-learn reads their names from the generated signature.
    """

    feature_bounds: Any = None
    row_norm: str | float = "unit"
    fit_intercept: bool = True
    regularization: float | None = None
    ridge: str | None = None
    model_norm: float | None = None
    budget: Budget | None = None
    method: str | Method = AUTO
    proof: str = "computer-checked"
    total: Any = "auto"
    adjacency: str | None = None
    deletion_notion: str = "erased-vs-never"
    releases: int = 1
    batch: int = 1
    rows_per_subject: int = 1
    weighting: str = AUTO
    slots: int | None = None
    utility: bool = True
    dtype: str = "float32"
    random_state: Any = None


class DeletionEstimator(BaseEstimator, Parameters):  # type: ignore[misc]
    """Base class of the estimators. Subclasses define the coding of labels and the loss.

    Args:
        feature_bounds: Required. (low, high) of every raw feature, as two numbers, two sequences, or {column: (low,
            high)}: public knowledge, never computed from the data. Values outside are clipped. For a DataFrame with
            categories or missing values, {column: public description} for every column of X: (low, high), a list of its
            values, or any column entry of a schema ({"bounds": [0, 9], "missing": "column"}); method "auto" then fits a
            curve per column (`explain`) if sizes and budget favour it.
        row_norm: How a row is brought to norm ≤ R: "unit", "bounds" or a number (see `RowScaling`).
        fit_intercept: Whether to append a constant column (it counts in R and is regularised).
        method: "auto" takes the method that `advise` selects from sizes and budget; otherwise a method, by name or as
            an object.
        proof: See `advise`.
        regularization: λ; None: chosen by "auto", 1e-3 if a method is named.
        ridge: See `make_plan`.
        model_norm: See `make_plan`.
        budget: Of one release; None: (ε=1.2, δ=1e-6) and (ε=0.12, δ=1e-6) under "auto", Budget(order=10, dp=1.0,
            deletion=0.1) if a method is named.
        total: (ε, δ) of all publications together, beyond which none is made; "auto": enough for 31 like the first;
            None: no cap.
        adjacency: Relation of ε_dp: "zero-out" (the field's add or remove one record) or "replace"; None: "zero-out"
            under "auto", the article's "replace" if a method is named.
        deletion_notion: See `make_plan`.
        releases: See `make_plan`.
        batch: See `make_plan`.
        rows_per_subject: See `make_plan`.
        weighting: See `make_plan`.
        utility: See `make_plan`.
        dtype: See `make_plan`.
        slots: n, the public dataset size; None: a twentieth more than the rows given, as in a store. The difference is
            capacity for `insert`.
        random_state: None draws certified noise. Any other value is for research: the noise is reproducible, so the
            model is marked uncertified (`certified_`).

    Attributes:
        plan_: The Plan.
        advice_: The alternatives it was selected from, if the method was "auto".
        accountant_: The account of all releases.
        release_: The last release (not pickled).
        model_: The published model, on scaled rows.
        clipped_: {column: number of values beyond feature_bounds} for the rows last given (not pickled); large numbers
            cause a warning.
        n_records_: Number of records in the table.
        ids_: Ids of these records for requests (not pickled).

    There is no `partial_fit` and no `warm_start`. Every `fit` starts a new account: two fits on the same people are two
    publications whose costs add; `relearn` keeps them on one account. Sparse X (CSR and formats that convert to it)
    stays sparse, in the table and in predictions, if `feature_bounds` are (−b, b) in every column. Otherwise 0 is not
    the middle of the bounds, X is read in blocks, and the resulting table is dense.
    """

    plan_: Plan
    advice_: Advice
    accountant_: Accountant
    model_: Model
    release_: Release
    n_features_in_: int
    _raw: TableRows | None = None  # of a DataFrame with public column descriptions
    _maps_before: Sequence[PublicMap] | None = None  # maps of the public steps of a pipeline, while it calls `fit`
    _feature_map: str | None = None
    _target_norm: float | None = None

    # -- supplied by subclasses --------------------------------------------------------------------------------------

    def _learn_labels(self, y: Any) -> None:
        """Fix the public coding of labels (class list, target bounds)."""
        raise NotImplementedError

    def _encode(self, y: Any) -> Array:
        """Return labels in the engine's coding."""
        raise NotImplementedError

    def _loss(self, radius: float) -> Loss:
        raise NotImplementedError

    # -- learning ----------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        ids: Iterable[Id] | None = None,
        subjects: Iterable[Id] | None = None,
        **unsupported: Any,
    ) -> Self:
        """Learn on the records and publish a model.

        Args:
            X: (records, features) raw numbers: array, sparse matrix or DataFrame.
            y: (records,) class names or numbers.
            ids: One per record, for later requests; default: the index of X or y if it is not 0, 1, 2, …; else
                0, 1, 2, ….
            subjects: The data subject of each record.
            **unsupported: `sample_weight` and similar arguments, which are rejected with the reason.

        Returns:
            The fitted estimator.
        """
        reject_fit_arguments(type(self).__name__, unsupported)
        warn_of_several_fits(self)
        ids = ids_of(X, y, ids, subjects)
        self._rows_named = ids is not None
        named = described_columns(X, self.feature_bounds)
        advice = None
        if named is None:
            features, labels = self._begin(X, y)
        else:
            features, labels, advice = self._begin_table(X, y, named)
        records = self._table(features, labels, ids, subjects, self._slots(features.shape[0]))
        self._curator = Curator(records, self._make_plan(records.slots, advice))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingPromised)  # the plan was made above, and warned of it
            self._published(self._curator.learn(self._generator()))
        return self

    @contextmanager
    def _behind(self, maps: Sequence[PublicMap]) -> Iterator[None]:
        """Let `fit`, inside the context, take rows transformed by public steps that include at most one of these maps.

        See `RecordWisePipeline`.
        """
        self._maps_before = maps
        try:
            yield
        finally:
            del self._maps_before

    def _begin(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return numeric features and labels, and set how rows are made of them."""
        self._raw, map = None, self._maps_before[0] if self._maps_before else None
        self._feature_map, self._target_norm = (None, None) if map is None else (map.digest, map.target_norm)
        check_numbers(X)
        features, labels = validate_data(self, X, y, dtype=np.float64, accept_sparse="csr")
        self._learn_labels(labels)
        if self._maps_before is None:
            check_preprocessing(features)
        columns = list(getattr(self, "feature_names_in_", range(self.n_features_in_)))
        self._scaling = RowScaling(
            *public_bounds("feature_bounds", self.feature_bounds, columns), self.row_norm, self.fit_intercept
        )
        self._count_clipped(features, labels)
        return features, labels

    def _begin_table(self, X: Any, y: Any, named: dict[str, dict[str, Any]]) -> tuple[Any, Any, Advice | None]:
        """Return features, labels and advice for a DataFrame with public column descriptions.

        The columns are fitted as curves, with their advice, if sizes and budget favour it.
        """
        validate_data(self, X, skip_check_array=True)
        check_consistent_length(X, y)
        labels = column_or_1d(y, warn=True)
        self._learn_labels(labels)
        advice = self._advice_for_curves(named, self._slots(len(X)))
        if advice is None:
            self._read_by(TableRows(named, "columns"))
        features = self._features(X)
        self._count_clipped(features, labels)
        return features, labels, advice

    def _read_by(self, rows: TableRows) -> None:
        self._raw, schema = rows, rows.schema
        self._feature_map, self._target_norm = schema.feature_map, schema.target_norm
        self._scaling = _use_rows_as_given(schema.features)

    def _advice_for_curves(self, named: dict[str, dict[str, Any]], slots: int) -> Advice | None:
        """Return the advice if it favours curves, and set the rows to be read so; else None."""
        for levels, bins in TableRows(named, "columns").schema.levels if self.method == AUTO else ():
            self._read_by(TableRows(named, levels=levels))
            with suppress(NoisyGDDeleteError):  # no plan for this number of columns
                advice = self._advice(slots)
                if advice.bears_curves(bins):
                    return advice
        return None

    def _slots(self, rows: int) -> int:
        return default_slots(rows) if self.slots is None else check_count("slots", self.slots)

    def _features(self, X: Any) -> Any:
        """Return raw rows in the form that `_scaling` takes."""
        if self._raw is None:
            return validate_data(self, X, dtype=np.float64, reset=False, accept_sparse="csr")
        if not hasattr(X, "columns"):
            raise InvalidRecords("give a DataFrame with the columns that it was fitted on: they are read by name")
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._raw.transform(X)

    def _count_clipped(self, features: Any, labels: Any) -> None:
        """Count values beyond their public bounds, and warn if there are many.

        This concerns numeric input only: rows of a described table are within their bounds.
        """
        if self._raw is not None:
            self.clipped_ = {}
            return
        counts = self._scaling.count_clipped(features)
        columns = list(getattr(self, "feature_names_in_", range(self.n_features_in_)))
        self.clipped_ = {column: int(count) for column, count in zip(columns, counts, strict=True)}
        warn_clipped("feature_bounds", self.clipped_, features.shape[0])

    def _table(
        self,
        features: Any,
        labels: Any,
        ids: Iterable[Id] | None,
        subjects: Iterable[Id] | None,
        slots: int,
    ) -> Records:
        table = self._scaling.table(features, max(features.shape[0], slots))
        return Records(table, self._encode(labels), ids, subjects, slots)

    def _make_plan(self, slots: int, advice: Advice | None = None) -> Plan:
        """Return the plan, by the given advice if there is one, and warn if its worth is doubtful."""
        if self.method == AUTO:
            self.advice_ = self._advice(slots) if advice is None else advice
            plan, doubt = make_advised_plan(self.advice_, self.total), self.advice_.doubt
        else:
            plan = self._named(slots)
            doubt = plan.worth()
        plan = plan.of_map(self._feature_map)
        if doubt:
            warnings.warn(doubt, NothingPromised, stacklevel=3)
        return plan

    def _facts(self, slots: int) -> dict[str, Any]:
        names = ("deletion_notion", "releases", "batch", "rows_per_subject", "weighting", "utility", "dtype")
        return {
            "records": slots,
            "loss": self._loss(self._scaling.radius),
            "features": self._scaling.columns,
            "adjacency": self.adjacency or (ADJACENCY if self.method == AUTO else "replace"),
            **{name: getattr(self, name) for name in names},
        }

    def _advice(self, slots: int) -> Advice:
        if self.ridge is not None:
            raise InvalidParameter(
                "cannot be had beside method 'auto', which chooses λ; give the regularization to have it as it is, or name a method",
                ridge=self.ridge,
            )
        facts = self._facts(slots)
        facts["model_norm"] = self.model_norm
        if self.model_norm is None and self.regularization is None and not hasattr(self, "classes_"):
            facts["model_norm"] = self._target_norm
        budget = default_budget(slots) if self.budget is None else self.budget
        return advise(**facts, regularization=self.regularization, budget=budget, proof=self.proof)

    def _named(self, slots: int) -> Plan:
        """Return the plan of the named method, with the article's defaults."""
        plan = make_plan(
            **self._facts(slots),
            regularization=1e-3 if self.regularization is None else self.regularization,
            budget=Budget(order=10, dp=1.0, deletion=0.1) if self.budget is None else self.budget,
            method=self.method,
            ridge=self.ridge or "given",
            model_norm=self.model_norm,
        )
        return with_total(plan, default_total(plan) if isinstance(self.total, str) else self.total)

    @property
    def ids_(self) -> list[Id]:
        """Ids of the records in the table, in table order; not pickled."""
        return self._attached().records.ids

    def _generator(self) -> np.random.Generator | None:
        """Return None (certified noise), or a research generator with a separate stream for every release."""
        if self.random_state is None:
            return None
        if isinstance(self.random_state, np.random.Generator):
            return self.random_state
        if isinstance(self.random_state, np.random.RandomState):
            return np.random.default_rng(self.random_state.randint(2**31, size=4))
        released = self._curator.accountant.releases
        return np.random.default_rng([int(self.random_state), released])

    def _published(self, release: Release) -> Release:
        """Set the fitted attributes from a release; a release refused by the budget withdraws the model."""
        self.release_, self.plan_, self.accountant_ = release, self._curator.plan, self._curator.accountant
        self.n_records_, self._next_id = len(self._curator.records), self._curator.records.next_id
        self._pending = self._curator.pending
        self.n_iter_ = max(1, release.steps)  # a release without noisy steps is one solve
        if release.model is not None:
            self.model_ = release.model
        else:
            if hasattr(self, "model_"):
                del self.model_
            if release.status is Statuses.WITHHELD:
                warnings.warn(
                    "the rows are changed, but the budget allows no further release: the old model is withdrawn and none is published. "
                    "Give a budget with a larger dp, or a larger total, by set_params, and call relearn()",
                    ReleaseWithheld,
                    stacklevel=3,
                )
        return release

    @property
    def certified_(self) -> bool:
        """Whether the published model may be certified: False with a `random_state`, whose noise is reproducible."""
        return self._current_model().certified

    def _current_model(self) -> Model:
        if not hasattr(self, "model_") and hasattr(self, "plan_"):
            raise NotLearned(
                "the last release was withheld by the budget and the old model withdrawn; "
                "set a budget with a larger dp with set_params and call relearn()"
            )
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "plan_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        tags.input_tags.sparse = True
        return tags

    def _scores(self, X: Any) -> Array:
        return self._per_row(X, Model.scores)

    def _per_row(self, X: Any, of: Callable[[Model, Array], Array]) -> Array:
        """Return `of(model, rows)` for raw rows, computed in blocks."""
        check_is_fitted(self)
        features, model = self._features(X), self._current_model()
        return self._scaling.per_row(features, lambda rows: of(model, rows))

    def _linear(self) -> tuple[Array, Array]:
        """Return coefficients (outputs, features) and intercepts (outputs,) for raw features within their bounds.

        Raises:
            AttributeError: If scores are not linear in the features.
        """
        check_is_fitted(self)
        if self._raw is not None:
            raise AttributeError(
                "a table of numbers and categories has no coefficients by column: ask explain() for its curves"
            )
        return self._scaling.in_raw_features(np.atleast_2d(self._current_model().weights))

    def explain(self) -> Shapes:
        """Return the curves of a table fitted by curves; see `RecordWisePipeline.explain`.

        Raises:
            InvalidParameter: If it was not fitted by curves.
        """
        check_is_fitted(self)
        return self._explain(self._raw)

    def _explain(self, rows: Any) -> Shapes:
        """Return the curves of the head, on rows that this step made."""
        if not isinstance(getattr(rows, "map", None), Additive):
            raise InvalidParameter(
                "a curve for each column takes an additive map: for_table(...), or make_mapped_pipeline(maps.Additive(...), estimator)"
            )
        noise = self.plan_.outlook.weight_deviation
        shapes: Shapes = rows.shapes(self._current_model().weights, noise, getattr(self, "classes_", None))
        return shapes

    # -- requests ----------------------------------------------------------------------------------------------------

    def delete(self, ids: Iterable[Id] = (), *, subjects: Iterable[Id] = ()) -> Release:
        """Erase records by id, or every row of the given data subjects, and publish a model that forgot them.

        The estimator's own rows are overwritten; erase the caller's copies too.

        Args:
            ids: Ids of the records.
            subjects: Data subjects, all of whose rows are erased.

        Returns:
            The release; `release.guarantee` bounds what an observer of it can still learn about the erased records.
                `release.status` is "withheld" if the budget allows no further publication: then the rows are erased and
                the old model is withdrawn.

        Raises:
            InvalidRequest: If an id is unknown; nothing is changed.
            NotLearned: If the estimator is not fitted, or was unpickled and has no rows attached yet.
        """
        return self._published(self._attached().delete(ids, subjects=subjects, rng=self._generator()))

    def replace(self, replacements: Mapping[Id, tuple[ArrayLike, Any]]) -> Release:
        """Replace named records and publish; the old contents are forgotten as if deleted.

        Args:
            replacements: {id: (raw row, label)}.

        Returns:
            The release.
        """
        curator = self._attached()
        coded = {}
        for name, (row, label) in replacements.items():
            raw = self._raw_rows(table_of_one(name, row))
            scaled = self._scaling.table(raw, 1)
            if not hasattr(scaled, "tocsr"):
                scaled = scaled[0]
            coded[name] = (scaled, float(self._encode(np.asarray([label]))[0]))
        return self._published(curator.replace(coded, rng=self._generator()))

    def insert(
        self,
        X: Any,
        y: Any,
        *,
        ids: Iterable[Id] | None = None,
        subjects: Iterable[Id] | None = None,
    ) -> Release:
        """Insert raw records into free capacity (a twentieth of the table, or what `slots` leaves) and publish.

        Args:
            X: (records, features) raw numbers.
            y: (records,) labels.
            ids: See `fit`.
            subjects: See `fit`.

        Returns:
            The release.
        """
        curator, ids = self._attached(), ids_of(X, y, ids, subjects)
        raw = self._raw_rows(X)
        rows, labels = self._scaling.table(raw, raw.shape[0]), self._encode(np.asarray(y))
        self._count_clipped(raw, np.asarray(y))
        return self._published(curator.insert(ids, rows, labels, subjects=subjects, rng=self._generator()))

    def relearn(self) -> Release:
        """Learn afresh on the current records under the current parameters; charged like any release."""
        curator = self._attached()
        return self._published(curator.relearn(self._make_plan(curator.records.slots), rng=self._generator()))

    def _raw_rows(self, rows: Any) -> Any:
        if self._raw is not None:
            return self._features(rows)
        if hasattr(rows, "columns"):
            features = validate_data(self, rows, dtype=np.float64, reset=False)
        else:
            features = check_array(rows, dtype=np.float64, accept_sparse="csr")
        if features.shape[1] != self.n_features_in_:
            raise InvalidRecords(f"the rows have {features.shape[1]} features; the model has {self.n_features_in_}")
        return features if hasattr(features, "tocsr") else np.asarray(features)

    def _attached(self) -> Curator:
        check_is_fitted(self)
        if not hasattr(self, "_curator"):
            raise NotLearned(
                "this estimator was unpickled and carries no rows; call attach(X, y, ids=...) with the current records first"
            )
        return self._curator

    # -- required by scikit-learn ------------------------------------------------------------------------------------

    @property
    def partial_fit(self) -> Any:
        """Not available; raises an error with the reason."""
        raise AttributeError(NO_PARTIAL_FIT.format(type(self).__name__))

    # -- pickles -----------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Return parameters, model, plan and accountant; never rows, ids or solver state, which depends on rows."""
        if not self.__sklearn_is_fitted__():
            warn_of_fits_elsewhere()
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _OF_ROWS}

    def attach(self, X: Any, y: Any, *, ids: Iterable[Id] | None = None, subjects: Iterable[Id] | None = None) -> Self:
        """Attach the current records to an unpickled estimator: those of the last release, without erased ones.

        Args:
            X: See `fit`.
            y: See `fit`.
            ids: See `fit`.
            subjects: See `fit`.

        Returns:
            The estimator, ready for requests.

        Raises:
            InvalidRecords: If the number of records differs from the last release's, or ids are missing although `fit`
                had some or an edit was made.
        """
        check_is_fitted(self)
        ids = ids_of(X, y, ids, subjects)
        if self._raw is None:
            features, labels = validate_data(self, X, y, dtype=np.float64, reset=False, accept_sparse="csr")
        else:
            features, labels = self._features(X), column_or_1d(y)
        if features.shape[0] != self.n_records_:
            raise InvalidRecords(
                f"{features.shape[0]} records were given; the last release covered {self.n_records_}. Leave erased records out "
                "and keep inserted ones: attaching an erased record would bring it back"
            )
        if ids is None and (
            getattr(self, "_rows_named", False) or any(event.edits for event in self.accountant_.events)
        ):
            raise InvalidRecords(
                "the records had ids of their own, or were edited since fit: pass ids=, one per row, so that requests find them"
            )
        records = self._table(features, labels, ids, subjects, self.plan_.problem.records)
        records.next_id = max(records.next_id, self._next_id)
        self._curator = Curator.restore(
            records,
            self.plan_,
            accountant=self.accountant_.what_if(),
            model=getattr(self, "model_", None),
            pending_edits=self._pending,
        )
        return self


def _use_rows_as_given(columns: int) -> RowScaling:
    """Return the scaling for rows that public facts already brought to norm at most 1, constant column included."""
    return RowScaling(np.full(columns, -1.0), np.ones(columns), 1.0, False)
