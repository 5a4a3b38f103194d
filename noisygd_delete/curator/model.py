"""A published model, the state that a draw of sums continues, and the result of a training run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidParameter
from ..losses.base import Loss
from ..records import CodedRows, Records, SlotEdits

_ROWS = 1 << 14  # coded rows whose scores are computed at once
_NUMBERS = 1 << 22  # of dense rows


@dataclass(frozen=True)
class Model:
    """A published model.

    Attributes:
        weights: Read-only float64 of shape (features,), or (outputs, features) for several outputs.
        loss: The loss it was trained with.
        certified: False if the noise came from a caller's generator: such a model is for research.
        sums: Noisy integers that the weights were computed from, for a method that carries noise on; published with
            them.
    """

    weights: NDArray[np.float64]
    loss: Loss
    certified: bool
    sums: NDArray[np.int64] | None = None

    def scores(self, features: Any) -> NDArray[np.float64]:
        """Return Wx per row, of shape (rows, outputs).

        Args:
            features: (rows, features), as an array, a sparse array of scipy or `CodedRows`; `predict` and
                `probabilities` take them too.
        """
        weights, linear = np.atleast_2d(self.weights), type(self.loss).scores is Loss.scores
        coded = isinstance(features, CodedRows)
        rows = features if coded else _rows(features)
        if not coded and (linear or isinstance(rows, np.ndarray)):
            return np.asarray(self.loss.scores(weights, rows))
        parts, count = [np.zeros((0, self.loss.outputs))], rows.shape[0]
        step = _ROWS if linear else max(1, _NUMBERS // rows.shape[1])
        for first in range(0, count, step):
            last = min(first + step, count)
            if linear:
                part = rows.sparse(first, last).part(0, last - first)
            else:  # of more than a product, which takes rows written out
                part = rows[first:last] if coded else rows[first:last].toarray()
            parts.append(np.asarray(self.loss.scores(weights, _rows(part))))
        return np.concatenate(parts)

    def predict(self, features: Any) -> NDArray[np.float64]:
        """Return labels in the table's own coding: −1/+1, class numbers, or targets."""
        labels: NDArray[np.float64] = self.loss.predict(self.scores(features), np)
        return labels

    def probabilities(self, features: Any) -> NDArray[np.float64]:
        """Return the (rows, classes) probabilities of a classifier: the exponentials of `log_probabilities`."""
        return np.exp(self.log_probabilities(features))

    def log_probabilities(self, features: Any) -> NDArray[np.float64]:
        """Return the finite (rows, classes) log-softmax of the scores, of (0, score) for a binary loss.

        The noise in the weights is not averaged out.

        Raises:
            InvalidParameter: If the loss has no probabilities.
        """
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
        """Return the share of occupied slots predicted correctly.

        On private records this is an unprotected statistic of them: do not publish it.
        """
        used = records.occupied
        rows: Any = records.features if records.sparse is None else records.sparse.part(0, records.slots)
        rows = rows[used] if records.coded_rows is None else records.coded_rows.select(used)
        return float((self.predict(rows) == records.labels[used]).mean())


def _rows(features: Any) -> Any:
    """Return (rows, features) in float64; sparse input as a scipy array, whose * is elementwise as in numpy."""
    if not hasattr(features, "tocsr"):
        return np.asarray(features, dtype=np.float64)
    from scipy.sparse import csr_array

    return csr_array(features, dtype=np.float64)


@dataclass(frozen=True)
class Continuation:
    """What a draw of sums continues from.

    Attributes:
        number: Number of draws of its chain before it.
        sums: Published sums of the last draw, or of the last patch since; None for the first draw.
        edits: Edits that the table will have when the draw is published, and does not have yet.
        patches: Number of patches since the last draw.
        certified: Whether the noise of these is certified.
    """

    number: int = 0
    sums: NDArray[np.int64] | None = None
    edits: SlotEdits | None = field(default=None, repr=False)
    patches: int = 0
    certified: bool = True


FIRST = Continuation()  # start of a chain


@dataclass(frozen=True)
class Training:
    """A model and its cost.

    Attributes:
        model: The model.
        gradient_passes: Full passes over the table; may depend on private data.
        seconds: Running time; may depend on private data.
    """

    model: Model
    gradient_passes: int
    seconds: float

    def continue_from(self, model: Model) -> Training:
        """Return the result of a run that started from `model`: certified only if that model is."""
        return replace(self, model=replace(self.model, certified=self.model.certified and model.certified))
