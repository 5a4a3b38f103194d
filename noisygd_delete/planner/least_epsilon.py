"""Find the least ε at which a wanted accuracy is forecast, from public numbers only.

A plan's forecast is an upper estimate of the loss that noise and regularizer cost, in nats per record. Two public
figures turn it into accuracy: the accuracy A of a model without noise, and the share M of the most frequent class,
which every model reaches. Where few rows are near the boundary by chance of their labels (A near 1), accuracy falls
with the square root of a loss, as in Pinsker's inequality; where labels are noisy, a small loss moves rows whose labels
are open, and accuracy falls in proportion. A forecast of e nats is thus taken to cost s = `SLOPE` e/√(e + b²) with b =
`SOFTNESS` (1 − A), and never more than the gap g = A − M: the accuracy is M + g exp(−s/g). The two constants were
chosen on eight tables, `MEAN_ERROR` and `LARGEST_ERROR` measured on twenty others
(benchmarks/results/least_epsilon.md).

Example:
    >>> target = AccuracyTarget(wanted=0.84, without_noise=0.86, majority=0.76)
    >>> round(target.accuracy(0.0), 2), round(target.accuracy(target.most_excess_risk), 2)
    (0.86, 0.84)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from ..bounds.arithmetic import first_whole
from ..errors import InvalidParameter, NoisyGDDeleteError, NothingWorthHaving
from ..privacy.sentences import format_number
from .advise import Advice

SLOPE, SOFTNESS = 0.17, 3.7
MEAN_ERROR, LARGEST_ERROR = 2.3, 8.1  # points of accuracy; of twenty other tables
EPSILONS = (  # tried; more than 10 promises a record little
    *(float(f"{digits}e{power}") for power in (-3, -2, -1) for digits in (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)),
    10.0,
)
_DECADES, _STEPS = 4, 4  # of n, where no ε suffices


@dataclass(frozen=True)
class AccuracyTarget:
    """A wanted accuracy, and the two public figures that turn a forecast into accuracy.

    Attributes:
        wanted: The accuracy wanted, between the other two.
        without_noise: Accuracy of a model without noise. No public size determines it: it is the user's, from literature
            or from other records; measured on the records themselves, it is one more release of them.
        majority: Share of the most frequent class, or less: a smaller share only asks for a larger ε.

    Raises:
        InvalidParameter: If they are not in order, 0 < majority < wanted < without_noise ≤ 1.
    """

    wanted: float
    without_noise: float
    majority: float

    def __post_init__(self) -> None:
        if not 0 < self.majority < 1:
            raise InvalidParameter("must be above 0 and below 1", majority=self.majority)
        if not self.majority < self.wanted < 1:
            raise InvalidParameter(
                f"must be above {self.majority:.3g}, which always saying the most frequent class reaches, and below 1",
                accuracy=self.wanted,
            )
        if not self.wanted < self.without_noise <= 1:
            raise InvalidParameter(
                f"must be above the accuracy wanted, {self.wanted:g}, and at most 1: noise adds none",
                without_noise=self.without_noise,
            )

    @property
    def _gap(self) -> float:
        return self.without_noise - self.majority

    @property
    def _softness(self) -> float:
        return SOFTNESS * (1 - self.without_noise)

    @property
    def most_excess_risk(self) -> float:
        """Forecast at which the accuracy is just the one wanted, in nats per record."""
        lost = (-self._gap * math.log((self.wanted - self.majority) / self._gap) / SLOPE) ** 2
        return (lost + math.sqrt(lost**2 + 4 * lost * self._softness**2)) / 2

    def accuracy(self, excess_risk: float) -> float:
        """Return the accuracy at a forecast in nats per record."""
        if excess_risk <= 0:
            return self.without_noise
        lost = SLOPE * excess_risk / math.sqrt(excess_risk + self._softness**2)
        return self.majority + self._gap * math.exp(-lost / self._gap)


@dataclass(frozen=True)
class LeastEpsilon:
    """The least ε of `EPSILONS` at which the accuracy wanted is forecast.

    Attributes:
        epsilon: ε.
        advice: The advice at this ε.
        target: The target.
    """

    epsilon: float
    advice: Advice
    target: AccuracyTarget

    @property
    def accuracy(self) -> float:
        """Accuracy forecast at `epsilon`."""
        return self.target.accuracy(self.advice.chosen.excess_risk)


def find_least_epsilon(
    targets: list[AccuracyTarget], advise_at: Callable[[float, int], Advice], records: int
) -> list[LeastEpsilon]:
    """Return the least ε of `EPSILONS` for each target.

    Args:
        targets: The targets.
        advise_at: Returns the advice for an ε and a number of records; raises if there is no plan.
        records: n.

    Raises:
        NothingWorthHaving: If the largest of `EPSILONS` does not suffice for any of them; names the n that does.
    """

    @cache
    def advised(epsilon: float, size: int) -> Advice | None:
        try:
            return advise_at(epsilon, size)
        except NoisyGDDeleteError:
            return None

    def is_enough(target: AccuracyTarget, epsilon: float, size: int) -> bool:
        advice = advised(epsilon, size)
        return advice is not None and advice.worth_having and advice.chosen.excess_risk <= target.most_excess_risk

    found = []
    for target in targets:
        if is_enough(target, EPSILONS[-1], records):
            at = first_whole(lambda place: is_enough(target, EPSILONS[place], records), -1, len(EPSILONS) - 1)  # noqa: B023
            advice = advised(EPSILONS[at], records)
            assert advice is not None
            found.append(LeastEpsilon(EPSILONS[at], advice, target))
    if found:
        return found
    easiest = max(targets, key=lambda target: target.most_excess_risk)

    def size_at(step: int) -> int:
        return math.ceil(records * 10 ** (step / _STEPS))

    most = _DECADES * _STEPS
    enough = is_enough(easiest, EPSILONS[-1], size_at(most))
    more = first_whole(lambda step: is_enough(easiest, EPSILONS[-1], size_at(step)), 0, most) if enough else None
    remedy = (
        "ask for less, or use fewer columns"
        if more is None
        else f"collect about {float(f'{size_at(more):.2g}'):,.0f} records, ask for less, or use fewer columns"
    )
    raise NothingWorthHaving(
        f"{easiest.wanted:g} is not reached by forecast at any ε up to {EPSILONS[-1]:g} with n={records:,}, where a model "
        f"without noise reaches {format_number(easiest.without_noise)}: {remedy}"
    )
