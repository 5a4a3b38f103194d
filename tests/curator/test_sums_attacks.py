"""Attacks on streams of Markov sums: who adapts requests, who steals the store, who knows the seed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Records, losses, make_plan
from noisygd_delete.bounds import correlated_sums
from noisygd_delete.curator.carried_noise import moments_of
from noisygd_delete.engine.moments import round_product
from noisygd_delete.engine.noise import ResearchNoise, discrete_gaussian
from noisygd_delete.methods import Plan
from noisygd_delete.privacy.worlds import Worlds
from proofs_check import closed_forms
from tests.bank import unit_rows

LOSS, TRIALS, MARKERS = losses.Logistic(radius=1.0), 6000, 60


def plan(releases: int, gdp: float = 1.0, **options: Any) -> Plan:
    sizes = {"records": MARKERS + 1, "features": 1, "regularization": 1e-4, "adjacency": "zero-out", "joiners": False}
    budget = Budget.from_gdp(dp=gdp, deletion=gdp)
    return make_plan(LOSS, method="sufficient-statistics", releases=releases, budget=budget, **{**sizes, **options})


def moments(chosen: Plan) -> Any:
    return moments_of(chosen.learning.start, chosen.shape)


class Streams:
    """So many streams at once of a table of one column, each draw as `Curator` makes it. Sums are (moment, labels')."""

    def __init__(self, chosen: Plan, seed: int) -> None:
        self.run, self.noise, self.released = chosen.mechanism, ResearchNoise(np.random.default_rng(seed)), 0
        self.published: Any = None

    def release(self, before: Any, after: Any) -> Any:
        carry, variance = self.run.draws[self.released]
        scales = variance, variance / self.run.label_weight**2
        fresh = [discrete_gaussian(TRIALS, self.noise, variance=_fraction(each)) for each in scales]
        rest = (
            0
            if self.published is None
            else round_product(self.published - before, _fraction(carry), correlated_sums.CARRY_BITS)
        )
        self.published, self.released = after + rest + np.stack(fresh, axis=1), self.released + 1
        return self.published


def _fraction(value: float) -> Any:
    return Fraction(value).limit_denominator(10**12)


def tables(chosen: Plan) -> tuple[Any, Any]:
    """What the target and the markers add, the markers with the other sign: (2,) each."""
    own, marker = (moments(chosen).of(np.array([[side]]), np.ones(1)) for side in (1.0, -1.0))
    return own, MARKERS * marker


@pytest.mark.parametrize(("watched", "least"), [(1, 0.13), (20, 0.25), (100, 0.32)])
def test_who_adapts_is_seen_in_later_models_and_stays_under_the_bound_of_all(watched: int, least: float) -> None:
    """The requester reads so many releases, and has the markers erased with the target if they seem to hold it. Who sees nothing but the
    release after that asks whether the markers are there: later models alone, of which the figure for fixed requests says 0."""
    chosen = plan(watched + 1)
    run = chosen.mechanism
    own, others = tables(chosen)
    hits = []
    for target in (True, False):
        streams, before = Streams(chosen, 2 * watched + target), np.zeros((TRIALS, 2))
        there = others + own * target
        ratio = np.zeros(TRIALS)
        weights = np.array([1.0, run.label_weight**2])
        for carry, variance in run.draws[:watched]:
            rest, moved = streams.release(there, there) - others, (1 - float(carry)) * own
            ratio += (rest - float(carry) * before - moved / 2) @ (weights * moved) / variance
            before = rest
        erased = ratio > 0
        after = np.where(erased[:, None], 0, others)
        seen = streams.release(np.broadcast_to(there, (TRIALS, 2)), after)
        middle = (weights * others) @ others / 2
        hits.append(float((seen @ (weights * others) < middle).mean()))
    advantage, noise = hits[0] - hits[1], math.sqrt(1 / (2 * TRIALS))
    assert advantage > least
    length = run.apart(between_records=False)
    told = closed_forms.seen_charge(draws=run.draws[:watched], moved=[length] * watched, seen=range(watched))
    assert advantage == pytest.approx(math.erf(math.sqrt(told / 8)), abs=0.01 + 4 * noise)
    assert advantage < math.erf(math.sqrt(run.charges(Worlds.ERASED_VS_NEVER)[watched] / 8)) + 4 * noise
    assert chosen.deletion.gdp == 0
    assert chosen.deletion.non_adaptive


def stream(seed: int, left_out: tuple[int, ...] = ()) -> tuple[Curator, Any, Any]:
    rows = unit_rows(40, 3, seed=5)
    labels, kept = np.sign(rows[:, 0]), [i for i in range(40) if i not in left_out]
    chosen = plan(4, records=60, features=3, joiners=True, adjacency="replace")
    curator = Curator(Records(rows[kept], labels[kept], ids=kept, slots=60), chosen)
    curator.learn(np.random.default_rng(seed))
    return curator, rows, labels


def test_a_stolen_seed_shows_every_old_sum() -> None:
    """Why noise is kept nowhere: with the seed of the first release its sums are bare, and with the table of today the erased row is."""
    curator, rows, labels = stream(11)
    assert not curator.model.certified
    old = curator.model.sums.copy()
    curator.delete([0], rng=np.random.default_rng(12))
    summed, run = moments(curator.plan), curator.plan.mechanism
    drawn = summed.noise(
        ResearchNoise(np.random.default_rng(11)), variance=int(run.variance), label_weight=run.label_weight
    )
    today = summed.of_table(curator.records)
    np.testing.assert_array_equal(old - drawn - today, summed.of(rows[:1], labels[:1]))
    other = summed.noise(
        ResearchNoise(np.random.default_rng(13)), variance=int(run.variance), label_weight=run.label_weight
    )
    assert (old - other - today != summed.of(rows[:1], labels[:1])).any()


def test_a_fork_with_the_same_generator_shows_the_row_that_only_one_erased() -> None:
    """Planted: two curators of one release, one generator each, equal. Their releases differ by the row, exactly."""
    ends = []
    for gone in ([1], [0, 1]):
        curator, rows, labels = stream(21)
        curator.delete(gone, rng=np.random.default_rng(22))
        ends.append(curator.model.sums)
    np.testing.assert_array_equal(ends[0] - ends[1], moments(curator.plan).of(rows[:1], labels[:1]))
