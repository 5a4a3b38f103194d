"""The same history for dp_accounting: every noisy step as a Gaussian mechanism, composed.

A loose upper bound by other people's code: it forgets that steps contract and that an unpublished iterate is never seen.
"""

from __future__ import annotations

import math
from typing import Any

from ..errors import InvalidParameter, MissingDependency, choice
from ..methods.base import Mechanism
from ..methods.sampled_gaussian import Extractor
from ..privacy.guarantee import ADJACENCIES
from .accountant import Accountant
from .events import Event


def to_dp_accounting(accountant: Accountant, *, adjacency: str = "replace") -> Any:
    """A `dp_accounting.DpEvent` of everything released, about a record present in all of it.

    Feed it to an accountant of the add-or-remove relation: a Gaussian mechanism's event is relative to the sensitivity of
    the adjacency chosen here. A subsampled extractor fits add-or-remove only, so it needs adjacency="zero-out".

    Raises:
        InvalidParameter: the history holds something that is not a composition of noisy steps.
    """
    try:
        import dp_accounting
    except ImportError as error:
        raise MissingDependency("the export needs dp_accounting; pip install dp-accounting") from error
    world = choice("adjacency", adjacency, ADJACENCIES)

    def exported(event: Event) -> Any:
        facts = event.mechanism
        if isinstance(facts, Extractor):
            if world != "zero-out":
                raise InvalidParameter("an extractor is exported for adjacency='zero-out' only")
            step = dp_accounting.GaussianDpEvent(facts.noise_multiplier)
            return dp_accounting.PoissonSampledDpEvent(facts.sampling_rate, step)
        if facts.start != "published":
            raise InvalidParameter(
                "a release from the minimiser is not a composition of noisy steps; it has no such export"
            )
        return dp_accounting.GaussianDpEvent(noise_multiplier(facts, world))

    builder = dp_accounting.DpEventBuilder()
    for event in accountant.events:
        if event.steps:
            builder.compose(exported(event), event.steps)
    return builder.build()


def noise_multiplier(mechanism: Mechanism, adjacency: str) -> float:
    """Noise of one step over its sensitivity: σ√(2η) / (ηΔ/n)."""
    noise = math.sqrt(2 * mechanism.step_size * mechanism.noise_variance)
    return noise * mechanism.records / (mechanism.step_size * mechanism.sensitivity(adjacency))
