"""The estimators `NoisyGDClassifier` and `NoisyGDRegressor`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from .. import losses
from ..curator.model import Model
from ..errors import InvalidParameter, InvalidRecords, check_scale
from .base import DeletionEstimator
from .checks import check_target_preprocessing, warn_clipped
from .scaling import public_bounds

Array = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class NoisyGDClassifier(ClassifierMixin, DeletionEstimator):  # type: ignore[misc]
    """Linear classifier whose records can be deleted with a certificate: logistic for two classes, softmax for more.

    >>> from noisygd_delete import NoisyGDClassifier
    >>> classifier = NoisyGDClassifier(feature_bounds=(0, 10), method="noisy-gd")
    >>> classifier = classifier.fit([[1, 2], [2, 1], [8, 9], [9, 8]], ["low", "low", "high", "high"], ids=list("abcd"))
    >>> release = classifier.delete(["b"])
    >>> release.guarantee.renyi(10) <= 0.1
    True

    Arguments and attributes are those of `DeletionEstimator`, and:

    Args:
        classes: The public list of class names; None takes the names in y, which then count as public.
        class_weight: {class: weight > 0}, public, 1 for a class that is not named: the weight of the class's records.
            Only ratios matter: a record of the heaviest class counts as without weights, so L and the noise are
            unchanged, and other records count less. "balanced" is rejected: it would read the counts of private labels.

    Attributes:
        classes_: Class names in the order of `predict_proba`'s columns.
        coef_: Coefficients of raw features within their bounds: (1, features), of the log odds of `classes_[1]`, or
            (classes, features). Only if scores are linear in the features, as with row_norm="bounds".
        intercept_: (1,) or (classes,), under the same condition.
    """

    row_norm: str | float = "unit"
    classes: Any = None
    class_weight: Mapping[Any, float] | None = None

    def _learn_labels(self, y: Any) -> None:
        check_classification_targets(y)
        self.classes_ = np.unique(np.asarray(y if self.classes is None else self.classes))
        if len(self.classes_) < 2:
            raise InvalidRecords(f"y holds {len(self.classes_)} class; a classifier needs at least two classes")

    def _encode(self, y: Any) -> Array:
        names = np.asarray(y)
        unknown = ~np.isin(names, self.classes_)
        if unknown.any():
            raise InvalidRecords(
                f"label {names[unknown].tolist()[0]!r} is not one of the classes {self.classes_.tolist()}"
            )
        numbers = np.searchsorted(self.classes_, names)
        return np.asarray(numbers * 2.0 - 1 if len(self.classes_) == 2 else numbers, dtype=np.float64)

    def _loss(self, radius: float) -> losses.Loss:
        two = len(self.classes_) == 2
        loss = losses.Logistic(radius=radius) if two else losses.Softmax(radius=radius, classes=len(self.classes_))
        return loss if self.class_weight is None else losses.with_class_weights(loss, self._class_weights())

    def _class_weights(self) -> list[float]:
        """Return one weight per class; the largest is 1."""
        given, names = self.class_weight, self.classes_.tolist()
        if isinstance(given, str) or not isinstance(given, Mapping):
            raise InvalidParameter(
                "must be {class: weight}, public numbers. 'balanced' counts the labels of the records, and the counts "
                "would show in every model, outside any certificate: give weights from public knowledge of how frequent "
                "the classes are",
                class_weight=given,
            )
        if unknown := [name for name in given if name not in names]:
            raise InvalidParameter(f"class_weight names {unknown[0]!r}, which is not one of the classes {names}")
        weights = [check_scale("class_weight", given.get(name, 1.0)) for name in names]
        return [weight / max(weights) for weight in weights]

    def decision_function(self, X: Any) -> Array:
        """Return scores: (records,) for two classes, positive for `classes_[1]`; (records, classes) for more."""
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return (records,) class names."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """Return (records, classes) probabilities with rows summing to 1.

        Post-processing of the published model: it has no privacy cost.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Return logarithms of `predict_proba`, finite even if a probability is below the smallest float."""
        check_is_fitted(self)
        return self._per_row(X, Model.log_probabilities)

    @property
    def coef_(self) -> Array:
        """Coefficients of raw features within their bounds, (1 or classes, features)."""
        return self._linear()[0]

    @property
    def intercept_(self) -> Array:
        """Intercepts, (1,) or (classes,)."""
        return self._linear()[1]


@dataclass(kw_only=True, eq=False, repr=False)
class NoisyGDRegressor(RegressorMixin, DeletionEstimator):  # type: ignore[misc]
    """Linear regression by the pseudo-Huber loss, whose records can be deleted with a certificate.

    Arguments and attributes are those of `DeletionEstimator`, and:

    Args:
        target_bounds: Required. (low, high) of the target, public; targets outside are clipped.
        huber_delta: δ of the loss, in units of half the target range: residuals beyond it count linearly.

    Attributes:
        targets_clipped_: Number of targets beyond their bounds among those last given (not pickled); large numbers
            cause a warning.
        coef_: (features,) coefficients of raw features within their bounds, if predictions are linear in them (as with
            row_norm="bounds"); predictions are also clipped to `target_bounds`.
        intercept_: The intercept, under the same condition.
    """

    row_norm: str | float = "bounds"
    target_bounds: Any = None
    huber_delta: float = 1.0

    def _learn_labels(self, y: Any) -> None:
        low, high = public_bounds("target_bounds", self.target_bounds, ["target"])
        self._target_middle, self._target_half = float(low[0] + high[0]) / 2, float(high[0] - low[0]) / 2
        self._check_targets(y)
        check_target_preprocessing(y)

    def _count_clipped(self, features: Any, labels: Any) -> None:
        super()._count_clipped(features, labels)
        beyond = np.abs(np.asarray(labels, np.float64) - self._target_middle) > self._target_half
        self.targets_clipped_ = int(beyond.sum())
        warn_clipped("target_bounds", {"the target": self.targets_clipped_}, len(beyond))

    def _check_targets(self, y: Any) -> None:
        kind = type_of_target(y, raise_unknown=True)
        if kind not in ("continuous", "binary", "multiclass") or np.asarray(y).dtype.kind not in "iufb":
            raise InvalidRecords(f"targets must be one column of numbers, not {kind}")

    def _encode(self, y: Any) -> Array:
        self._check_targets(y)
        scaled = (np.asarray(y, dtype=np.float64) - self._target_middle) / self._target_half
        return np.asarray(np.clip(scaled, -1.0, 1.0))

    def _loss(self, radius: float) -> losses.Loss:
        return losses.PseudoHuber(radius=radius, delta=self.huber_delta)

    def predict(self, X: Any) -> Array:
        """Return (records,) targets within `target_bounds`."""
        scores = np.clip(self._scores(X)[:, 0], -1.0, 1.0)
        return np.asarray(self._target_middle + self._target_half * scores)

    @property
    def coef_(self) -> Array:
        """Coefficients of raw features within their bounds, (features,)."""
        return np.asarray(self._target_half * self._linear()[0][0])

    @property
    def intercept_(self) -> float:
        """Intercept in units of the target."""
        return float(self._target_middle + self._target_half * self._linear()[1][0])
