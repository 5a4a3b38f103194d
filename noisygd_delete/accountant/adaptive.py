"""Requests that depended on some models published before, nobody knows which: the dearest of them are paid for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from ..privacy.guarantee import Guarantee
from .events import Event
from .intervals import alone, compose, stretches


def adaptive_deletion(
    events: Sequence[Event], world: str, *, models_seen: int, present_from: int, erased_at: int
) -> Guarantee:
    """Deletion from whoever sees every release from `erased_at` on, under requests that saw `models_seen` models before it.

    Each model seen costs at most what it reveals on its own, so the dearest ones and the deletion as if nothing had been
    seen bound the rest; never more than all of them seen. (This is ε_dd + p ε_dp for Noisy-GD, by conditioning on the models;
    Theorem 4.3 itself is not used.)
    """
    last = events[-1]
    if any(event.mechanism.continues for event in events):
        models_seen = erased_at - present_from  # who saw one of a chain is taken to have seen all of it

    def cost(observed: Collection[int]) -> Guarantee:
        parts = Counter(stretches(events, present_from=present_from, erased_at=erased_at, observed=observed))
        return compose("deletion", world, parts, last)

    everything, afterwards = cost(range(1, len(events) + 1)), cost(range(erased_at, len(events) + 1))
    # a chain that the record joined half-way counts from there
    lone = Counter(alone(events[present_from - 1 : erased_at - 1]))
    before = [(compose("deletion", world, Counter(parts), last), times) for parts, times in lone.items()]
    dearest = afterwards + _dearest(before, models_seen, afterwards)
    least = everything if models_seen >= erased_at - present_from or dearest.covers(everything) else dearest
    who = f"requests depend on at most {models_seen} of the models published before the erasure, whichever they are"
    return replace(least, assumptions=(*least.assumptions, who))


def _dearest(before: list[tuple[Guarantee, int]], number: int, like: Guarantee) -> Guarantee:
    """A bound on the sum of any `number` of the guarantees: the largest of each kind of part."""

    def largest(cost: Callable[[Guarantee], float]) -> float:
        total, left = 0.0, number
        for value, times in sorted(((cost(part), times) for part, times in before), reverse=True):
            taken = min(left, times)
            total, left = total + value * taken if taken else total, left - taken
        return total

    orders = sorted({order for part, _ in before for order, _ in part.points})
    curves = dict.fromkeys(curve for part, _ in before for curve, _ in part.curves)
    return replace(
        like,
        gdp_squared=largest(lambda part: part.gdp_squared),
        rate=largest(lambda part: part.rate),
        points=tuple((q, largest(lambda part, q=q: part.listed(q))) for q in orders),  # type: ignore[misc]
        curves=tuple((each, largest(lambda part, each=each: dict(part.curves).get(each, 0.0))) for each in curves),  # type: ignore[misc]
        rows=min((part.rows for part, _ in before), default=like.rows),
        proven=like.proven and all(part.proven for part, _ in before),
        slack=max((part.slack for part, _ in before), default=like.slack),
    )
