"""Copies of copies: a search over parameters fits many models on the same people, and says so to nobody."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import FitsAddUp

T = TypeVar("T")


@dataclass
class Copies:
    """How many copies `sklearn.base.clone` has made of one estimator, itself a copy so many times removed.

    `GridSearchCV` and its like copy the estimator that they were given, and that copy once for every candidate and fold.
    """

    made: int = 0
    removed: int = 0

    @staticmethod
    def note(original: Any, copy: T) -> T:
        """The copy, which knows what it was made of."""
        own = vars(original).setdefault("_copies", Copies())
        own.made += 1
        vars(copy).update(_copied_from=own, _copies=Copies(removed=own.removed + 1))
        return copy

    @staticmethod
    def warn(estimator: Any) -> None:
        """Warn where the estimator is one of several copies of a copy."""
        source: Copies | None = vars(estimator).get("_copied_from")
        if source is not None and source.removed and source.made > 1:
            warnings.warn(
                "a search fits many models on the same people, and its choice depends on all of them: what a certificate says of "
                "the chosen model is the cost of that model alone. If the choice is published, the costs of all fits add up. "
                "Choose by make_plan, `advise` or public data, or search on public data",
                FitsAddUp,
                stacklevel=3,
            )
