"""Attacks on minimisers in a row: the audit of their plan, and a requester who writes what models showed into rows that stay."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import norm

from noisygd_delete import Budget, Curator, Records, losses, methods
from noisygd_delete.accountant import Accountant, Event
from noisygd_delete.audit import Counts, SimulatedNoisyGD, World, audit
from noisygd_delete.audit.membership import linear_engine, row_of
from noisygd_delete.engine.noise import ResearchNoise
from tests.bank import sized_plan

from .faults import faulty

CHAINS, COPIES = 20_000, 40


def planned(chain: int = 3, dp: float = 1.2, **facts):
    return sized_plan(
        losses.Linear(radius=1.0),
        50,
        1,
        0.1,
        Budget.from_gdp(dp=dp, deletion=0.1),
        method=methods.ObjectivePerturbation(chain=chain, solver="cold"),
        adjacency="zero-out",
        **facts,
    )


@dataclass(frozen=True)
class StaleCentre(SimulatedNoisyGD):
    """A request pulls its first minimiser towards the last published model, where 0 belongs."""

    def start(self, published, records, noise):
        return super().start(published, records, noise) + published


def test_the_audit_runs_all_of_a_chain_and_sees_what_each_of_them_tells() -> None:
    """Its claim is that of three; planted: noise for one, and a request whose chain begins where the last one ended."""
    plan = planned()
    honest = audit(plan, chains=8000, rng=np.random.default_rng(1))
    assert honest.verdict == "pass"
    there = next(row for row in honest.rows if row.question.startswith("record still there, the learned"))
    assert there.verdict == "pass"  # not inconclusive: the attack comes near the claim
    engine = linear_engine(plan, later_releases=3)
    quiet = replace(engine, linear_term=planned(chain=1).calibration.linear_term)
    assert audit(plan, engine=quiet, chains=8000, later_releases=3, rng=np.random.default_rng(2)).verdict == "fail"
    stale = faulty(StaleCentre, engine)
    assert audit(plan, engine=stale, chains=8000, later_releases=3, rng=np.random.default_rng(3)).verdict == "fail"


def test_the_audited_engine_is_what_the_product_runs() -> None:
    """The same mean and deviation as a curator's releases, by certified noise."""
    plan, chains = planned(), 300
    seen = []
    for _ in range(chains):
        curator = Curator(Records([[1.0]], [0.0], slots=50), plan)
        seen.append(float(curator.learn().model.weights.reshape(-1)[0]))
    simulated = linear_engine(plan)(World(row_of(1.0), row_of(0.0)), CHAINS, np.random.default_rng(0))[0].reshape(-1)
    assert np.mean(seen) == pytest.approx(simulated.mean(), abs=5 * simulated.std() / math.sqrt(chains))
    assert np.std(seen) == pytest.approx(simulated.std(), rel=5 / math.sqrt(2 * chains))
    assert simulated.mean() == pytest.approx(-3 / (50 * 0.1), abs=0.05)  # three times what one of them shows


def attacked(engine: SimulatedNoisyGD, seen: int, *, there: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores for "it was there", of one who sees the release after the erasure alone, and of one who sees all of them.

    The requester sums what `seen` − 1 releases showed of the record and writes the sign into rows that stay; then the record is erased.
    """
    noise, nothing = ResearchNoise(np.random.default_rng(seed)), np.zeros((CHAINS, 1, 1))
    middle = -engine.chain / (engine.slots * engine.regularization) / 2
    shown = sum(engine.release(nothing, row_of(float(there)), 0, noise)[:, 0, 0] - middle for _ in range(seen - 1))
    sign = np.sign(-shown)
    after, last = np.zeros(CHAINS), np.zeros(CHAINS)
    for written in (1.0, -1.0):
        where = sign == written
        rows = np.full((COPIES, 1), written)
        start = np.zeros((int(where.sum()), 1, 1))
        with_it = Records(np.vstack([rows, [[float(there)]]]), np.zeros(COPIES + 1))
        last[where] = engine.release(start, with_it, 0, noise)[:, 0, 0] - 2 * middle * COPIES * written - middle
        after[where] = engine.release(start, Records(rows, np.zeros(COPIES)), 0, noise)[:, 0, 0]
    return -after, -(shown + last)


def advantage(scores: tuple[np.ndarray, np.ndarray]) -> float:
    """At least, but for one case in a thousand."""
    present, absent = scores
    return Counts(int((present > 0).sum()), CHAINS, int((absent > 0).sum()), CHAINS, error=1e-3).advantage


@pytest.mark.parametrize("seen", [2, 5])
def test_a_requester_who_writes_what_he_saw_into_other_rows_stays_within_the_bound_for_all_releases(seen) -> None:
    """He breaks the figure of one who came later, which says that it is for requests that depend on no model, and comes near the bound
    for every release; a bound that counts a chain as one minimiser, the planted fault, he breaks."""
    plan = planned(dp=0.8)
    engine = linear_engine(plan)
    later, everything = zip(*(attacked(engine, seen, there=there, seed=there) for there in (True, False)), strict=True)
    edits = [Event("learn", 0, 0, plan.mechanism), *[Event("unlearn", 0, 1, plan.mechanism)] * seen]
    account = Accountant(events=edits)
    bound, alone = account.deletion(1, seen + 1), account.deletion(1, seen + 1, [seen + 1])
    assert alone.advantage == 0
    assert "requests" in " ".join(alone.assumptions)
    assert advantage(later) > 0.85 * (2 * norm.cdf(math.sqrt(seen - 1) * plan.dp.gdp / 2) - 1) > 0.2
    assert 0.9 * bound.advantage < advantage(everything) <= bound.advantage
    single = [replace(event, mechanism=replace(plan.mechanism, chain=1)) for event in edits]
    assert advantage(everything) > 1.2 * Accountant(events=single).deletion(1, seen + 1).advantage
    assert bound.gdp == pytest.approx(account.deletion_adaptive(seen, 1, seen + 1).gdp)
