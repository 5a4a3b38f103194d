"""A published model, what a draw of sums goes on from, and what a training made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidParameter
from ..losses.base import Loss
from ..records import Records, SlotEdits


@dataclass(frozen=True)
class Model:
    """A published model. `weights` is read-only float64: (features,), or (outputs, features) for several outputs.

    `certified` is False where the noise came from a caller's generator: such a model is for research. `sums`: whole numbers with noise that
    the weights were made from, by a method that carries it on; published with them.
    """

    weights: NDArray[np.float64]
    loss: Loss
    certified: bool
    sums: NDArray[np.int64] | None = None

    def scores(self, features: Any) -> NDArray[np.float64]:
        """Wx per row: (rows, outputs), of an array or of sparse rows of scipy; `predict` and `probabilities` take both as well."""
        return np.asarray(self.loss.scores(np.atleast_2d(self.weights), _rows(features)))

    def predict(self, features: Any) -> NDArray[np.float64]:
        """Labels in the table's own coding: −1/+1, class numbers, or targets."""
        labels: NDArray[np.float64] = self.loss.predict(self.scores(features), np)
        return labels

    def probabilities(self, features: Any) -> NDArray[np.float64]:
        """(rows, classes) of a classifier, rows summing to 1: the exponentials of `log_probabilities`."""
        return np.exp(self.log_probabilities(features))

    def log_probabilities(self, features: Any) -> NDArray[np.float64]:
        """(rows, classes) of a classifier, finite: the model's own odds, noise in its weights included."""
        scores = self.scores(features)
        kind = self.loss.label_kind
        if kind not in ("binary", "class"):
            raise InvalidParameter(f"a model of the {self.loss.name} loss predicts numbers; it has no probabilities")
        if kind == "binary" and scores.shape[1] != 1:
            raise InvalidParameter(
                f"a model of the {self.loss.name} loss tells two classes apart by no odds; it has no probabilities"
            )
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        below = scores - scores.max(axis=1, keepdims=True)
        return np.asarray(below - np.log(np.exp(below).sum(axis=1, keepdims=True)))

    def accuracy(self, records: Records) -> float:
        """Share of occupied slots predicted right. On private records this is a statistic of them: do not publish it."""
        used = records.occupied
        rows = records.features if records.sparse is None else records.sparse.part(0, records.slots)
        return float((self.predict(rows[used]) == records.labels[used]).mean())


def _rows(features: Any) -> Any:
    """(rows, features) in float64, sparse where they are: an array of scipy, for which * is by element as for numpy's."""
    if not hasattr(features, "tocsr"):
        return np.asarray(features, dtype=np.float64)
    from scipy.sparse import csr_array

    return csr_array(features, dtype=np.float64)


@dataclass(frozen=True)
class Continuation:
    """What a draw goes on from.

    number     of draws of its chain before it
    sums       of the last of them, as published, or of the last patch since then; None: it is the first
    edits      that the table will have when the draw is published, and does not have yet
    patches    since the last draw
    certified  whether the noise of these is
    """

    number: int = 0
    sums: NDArray[np.int64] | None = None
    edits: SlotEdits | None = field(default=None, repr=False)
    patches: int = 0
    certified: bool = True


FIRST = Continuation()  # of a chain: nothing before it


@dataclass(frozen=True)
class Training:
    """A model and what it cost: full passes over the table and seconds, which may depend on private data."""

    model: Model
    gradient_passes: int
    seconds: float
