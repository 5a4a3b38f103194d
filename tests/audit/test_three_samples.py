"""Three samples of models, and audits of the product's own releases by shadow models and a kernel witness."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from benchmarks.audits import half_the_noise, plan_of, rows_left_in
from noisygd_delete import Records
from noisygd_delete.audit import (
    KernelWitness,
    ShadowLikelihoodRatio,
    ThreeSamples,
    audit_one_run,
    audit_releases,
    three_samples,
)
from noisygd_delete.audit.attacks import count_answers
from noisygd_delete.audit.membership import linear_engine
from noisygd_delete.audit.releases import publish_twice
from noisygd_delete.errors import AssumptionViolated, InvalidParameter, InvalidRecords


def chains(values: np.ndarray) -> list[np.ndarray]:
    return [values.reshape(len(values), 1, -1)]


def witnessed(present: np.ndarray, absent: np.ndarray, kind=KernelWitness, seed: int = 0):
    half = len(present) // 2
    fit = [chains(present[:half]), chains(absent[:half]), [1]]
    attack = kind.fit(*fit, np.random.default_rng(seed)) if kind is KernelWitness else kind.fit(*fit)
    return count_answers(attack, chains(present[half:]), chains(absent[half:]), error=0.01)


def test_a_shift_is_bounded_from_below_near_its_exact_advantage() -> None:
    rng, shift = np.random.default_rng(0), 1.0
    exact = 2 * norm.cdf(shift / 2) - 1
    present, absent = rng.normal(size=(2, 8000, 3))
    present[:, 1] += shift
    found = witnessed(present, absent)
    assert 0.8 * exact < found.advantage < exact


def test_a_difference_of_spread_is_seen_by_the_witness_alone() -> None:
    """N(0, 1) and N(0, 4) have one mean: no linear score tells them apart."""
    rng = np.random.default_rng(1)
    present, absent = 2 * rng.normal(size=(4000, 2)), rng.normal(size=(4000, 2))
    wide = norm.cdf(np.sqrt(8 * np.log(2) / 3)) - norm.cdf(
        np.sqrt(8 * np.log(2) / 3) / 2
    )  # of one coordinate, two-sided
    assert witnessed(present, absent, ShadowLikelihoodRatio).advantage < 0.05
    assert witnessed(present, absent).advantage > 2 * wide


def test_equal_laws_are_told_apart_no_more_often_than_stated() -> None:
    rng, error, wrong = np.random.default_rng(2), 0.05, 0
    for seed in range(25):
        present, absent = rng.normal(size=(2, 200, 2))
        half = 100
        attack = KernelWitness.fit(chains(present[:half]), chains(absent[:half]), [1], np.random.default_rng(seed))
        wrong += count_answers(attack, chains(present[half:]), chains(absent[half:]), error=error).advantage > 0
    assert wrong <= binom.isf(1e-6, 25, error)


def verdict_of(share: float, seed: int, runs: int = 1000) -> ThreeSamples:
    """Unlearned models that keep this share of the record's shift of 1.5."""
    rng, shift = np.random.default_rng(seed), 1.5
    drawn = {name: rng.normal(size=(runs, 2)) for name in ("unlearned", "never", "kept")}
    drawn["kept"][:, 0] += shift
    drawn["unlearned"][:, 0] += share * shift
    made = {name: chains(values) for name, values in drawn.items()}
    return three_samples(**made, observed=[1], generator=rng)


def test_the_third_sample_decides_which_is_nearer() -> None:
    verdicts = {share: [verdict_of(share, seed).verdict for seed in range(3)] for share in (0.0, 0.2, 0.5, 0.8, 1.0)}
    assert set(verdicts[0.0]) == set(verdicts[0.2]) == {"pass"}
    assert set(verdicts[0.5]) == {"inconclusive"}
    assert set(verdicts[0.8]) == set(verdicts[1.0]) == {"fail"}
    assert 0.5 < verdict_of(0.8, 9).left < 1.1
    assert abs(verdict_of(0.0, 9).left) < 0.2


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="3 of 2 runs"):
        ThreeSamples((3, 2), (0, 2), (1, 2))
    with pytest.raises(InvalidParameter, match="runs"):
        three_samples(*[chains(np.zeros((10, 1)))] * 3, observed=[1], generator=np.random.default_rng(0))
    same = ThreeSamples((5, 10), (5, 10), (5, 10))
    assert same.verdict == "inconclusive"
    assert same.left == 0.0


# ---------------------------------------------------------------- the product


def test_the_product_s_releases_stay_within_their_claims_and_two_faults_are_seen() -> None:
    plan = plan_of("noisy-gd", records=10, features=2)
    found = {
        name: audit_releases(plan, runs=180, publish=publish, rng=np.random.default_rng(1))
        for name, publish in (("honest", publish_twice), ("noise", half_the_noise), ("rows", rows_left_in))
    }
    assert found["honest"].verdict == "pass", found["honest"].text()
    assert found["noise"].verdict == "fail"
    assert found["noise"].rows[0].verdict == "fail"  # a record that is there is seen too well
    assert found["rows"].rows[0] == found["honest"].rows[0]
    assert found["rows"].verdict == "fail"
    assert found["rows"].three is not None
    assert found["rows"].three.left > 0.7
    assert "three samples" in found["rows"].text()


def test_a_ladder_that_does_not_run_its_later_stage_again_is_seen() -> None:
    plan = plan_of("staged", records=4, features=3, dp=6.0)
    honest = audit_releases(plan, runs=150, rng=np.random.default_rng(2))
    assert honest.verdict != "fail", honest.text()
    left = audit_releases(plan, runs=150, publish=rows_left_in, rng=np.random.default_rng(2))
    assert {row.verdict for row in left.rows if row.question.endswith("that erased it")} == {"fail"}


def test_a_target_is_one_record_and_heads_are_audited_by_their_weights() -> None:
    plan = plan_of("noisy-gd", records=10, features=2)
    two = Records([[0.1, 0.2], [0.3, 0.1]], [1.0, 1.0])
    with pytest.raises(InvalidRecords, match="one record"):
        audit_releases(plan, target=two, runs=20)
    with pytest.raises(InvalidParameter, match="runs"):
        audit_releases(plan, runs=5)
    told: list[int] = []
    beside = audit_releases(plan, target=Records([[0.6, 0.8]], [1.0]), others=two, runs=20, progress=told.append)
    assert told == [1, 2, 3, 4][: len(told)]
    assert beside.verdict != "fail"
    head = plan_of("staged", records=4, features=3, head=True)
    assert audit_releases(head, runs=20).verdict != "fail"
    with pytest.raises(AssumptionViolated, match="ends in a head"):
        audit_one_run(head)


def test_a_run_that_does_not_contract_is_audited_in_full() -> None:
    """Its learn used to be cut to a negative number of steps."""
    plan = plan_of("noisy-gd:analysis=theorem-5-2", records=10, features=2)
    assert plan.problem.strong_convexity < 0
    assert linear_engine(plan).learn_steps == plan.calibration.learn_steps
