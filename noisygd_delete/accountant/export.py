"""The same history for dp_accounting: every noisy step (or release drawn at once) as a Gaussian mechanism, composed.

A loose upper bound by other people's code: it forgets that steps contract and that an unpublished iterate is never seen.
"""

from __future__ import annotations

from typing import Any

from ..errors import MissingDependency, choice
from ..privacy.worlds import ADJACENCIES, Worlds
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
    world = Worlds(choice("adjacency", adjacency, ADJACENCIES))

    def exported(event: Event) -> Any:
        multiplier, rate = event.mechanism.noisy_step(world)
        step = dp_accounting.GaussianDpEvent(noise_multiplier=multiplier)
        return step if rate == 1 else dp_accounting.PoissonSampledDpEvent(rate, step)

    builder = dp_accounting.DpEventBuilder()
    for event in accountant.events:
        if event.exposure:
            builder.compose(exported(event), event.exposure)
    return builder.build()
