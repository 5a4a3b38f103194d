"""Whoever answers sums, the objective is one: equal within the declared rounding, which counts partitions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from noisygd_delete import Budget, Curator, Execution, Records, learn, losses
from noisygd_delete.bounds.arithmetic import BLOCK, CHUNK, MOST_PARTITIONS, MOST_PROCESSES, gradient_error
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.engine.sums import HeldSums, SparseSums, _sums_of_chunks
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.records import SparseRows
from tests.bank import Part, sized_plan

from ..sources.clusters.in_process import in_partitions

N, SLOTS, D = 5000, 5200, 4
LOSSES = [losses.Logistic(1.0), losses.Softmax(1.0, classes=3), losses.PseudoHuber(1.0, delta=0.5)]


def table(loss, seed: int = 0) -> Records:
    """Rows over eight decades with free slots at the end."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((N, D))
    rows *= (10.0 ** rng.uniform(-8, 0, N) / np.linalg.norm(rows, axis=1) * (1 - 2.0**-20))[:, None]
    kinds = {
        "binary": rng.choice([-1.0, 1.0], N),
        "class": rng.integers(0, loss.outputs, N).astype(float),
        "target": rng.uniform(-1, 1, N),
        "none": np.zeros(N),
    }
    return Records(rows, kinds[loss.label_kind], slots=SLOTS)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_memory_group_and_partitions_answer_alike(loss) -> None:
    records = table(loss)
    weights = np.random.default_rng(1).standard_normal((loss.outputs, D))
    facts = {"regularization": 0.01}
    own = PreciseObjective(records, loss, **facts)
    bound = 2 * own.gradient_error(float(np.linalg.norm(weights)))
    assert bound < 1e-10
    others = {
        f"{parts} partitions": PreciseObjective(in_partitions(records, parts), loss, **facts) for parts in (1, 7, 300)
    }
    for name, other in others.items():
        assert np.linalg.norm(other.gradient(weights) - own.gradient(weights)) <= bound, name
        np.testing.assert_allclose(other.gradient(weights, "float32"), own.gradient(weights), rtol=0, atol=1e-5)
        assert (other.slots, other.shape) == (own.slots, own.shape)
        for rows in (1, 37, 1000, SLOTS):
            for mine, theirs in zip(own.strided(rows), other.strided(rows), strict=True):
                np.testing.assert_array_equal(theirs, mine, err_msg=f"{name}, a sample of {rows}")
                assert theirs.dtype == mine.dtype
    shares = [PreciseObjective(records, loss, regularization=0.0, group=Part(rank, 3)) for rank in range(3)]
    whole = own.gradient(weights) - 0.01 * weights
    assert np.linalg.norm(sum(share.gradient(weights) for share in shares) - whole) <= bound


def exact_sum(records: Records) -> list[Fraction]:
    """Σ ∇ℓ of the linear loss: the rows added up in exact arithmetic."""
    return [sum((Fraction(float(value)) for value in column), Fraction()) for column in records.features.T]


def adversarial(order: str) -> Records:
    """Rows that nearly cancel: +x and then −x, or in turn, with small ones between, so that partial sums are large."""
    rng = np.random.default_rng(4)
    half = np.full((N // 2, D), 0.499, np.float32) - rng.uniform(0, 1e-4, (N // 2, D)).astype(np.float32)
    half[::5] *= np.float32(1e-7)
    pairs = np.stack([half, -half * np.float32(1 - 2.0**-12)], axis=1)
    rows = pairs.reshape(-1, D) if order == "in turn" else pairs.transpose(1, 0, 2).reshape(-1, D)
    return Records(rows, np.zeros(len(rows)))


@pytest.mark.parametrize("order", ["in turn", "first half against second"])
@pytest.mark.parametrize("parts", [1, 3, 40, 700])
def test_the_bound_covers_partitions_in_exact_arithmetic(order: str, parts: int) -> None:
    loss, records = losses.Linear(1.0), adversarial(order)
    objective = PreciseObjective(in_partitions(records, parts), loss, regularization=0.0)
    computed = objective.gradient(np.ones((1, D)))[0]
    off = [Fraction(float(c)) - e / N for c, e in zip(computed, exact_sum(records), strict=True)]
    assert math.sqrt(sum(float(each) ** 2 for each in off)) <= objective.gradient_error(math.sqrt(D))


@pytest.mark.parametrize("records", [1, 256, 257, 3000, 10**7, 10**10])
def test_the_bound_is_the_stated_sum(records: int) -> None:
    facts = {
        "lipschitz": 1.5,
        "curvature": 0.25,
        "outputs": 3,
        "features": 20,
        "regularization": 0.1,
        "weights_norm": 7.0,
    }
    assert math.log2(MOST_PARTITIONS) <= MOST_PROCESSES, (
        "processes of a group are more than a tree of partitions is deep"
    )
    additions = min(CHUNK, records) + math.ceil(math.log2(math.ceil(records / BLOCK))) + MOST_PROCESSES
    exact = Fraction(2, 2**53) * (
        Fraction(1, 4) * 22 * 7 + (24 + 12 + additions) * Fraction(3, 2) + 4 * Fraction(0.1) * 7
    )
    assert gradient_error(records=records, **facts) == pytest.approx(float(exact), rel=1e-12)


def plan(method: str = "objective-perturbation", **options: object):
    return sized_plan(
        losses.Logistic(1.0),
        SLOTS,
        D,
        0.05,
        Budget(order=4, dp=2.0, deletion=0.5),
        method=method,
        utility=False,
        **options,
    )


def test_the_same_plan_makes_the_same_release_of_a_cluster() -> None:
    """Same noise, same certificate numbers, and weights as far apart as the solver's tolerance allows: on whichever engine."""
    records, chosen, made = table(losses.Logistic(1.0)), plan().allow_any_order(), {}
    for name, held in (("memory", records), ("cluster", in_partitions(records, 7))):
        curator = Curator(held, chosen)
        release = curator.learn(execution=Execution(rng=np.random.default_rng(3)))
        made[name] = (release.model.weights, {key: each.to_dict() for key, each in release.guarantees.items()})
    assert made["memory"][1] == made["cluster"][1]
    apart = np.linalg.norm(made["memory"][0] - made["cluster"][0])
    solved = chosen.learning
    assert apart <= 2 * solved.start.tolerance / chosen.problem.strong_convexity + solved.output_noise * 2.0**-20
    assert np.linalg.norm(made["memory"][0]) > 100 * apart


def test_what_asks_for_rows_is_refused_with_the_reason() -> None:
    held = in_partitions(table(losses.Logistic(1.0)), 3)
    with pytest.raises(InvalidParameter, match=r"lie elsewhere.*method 'objective-perturbation'"):
        learn(held, plan("noisy-gd", exact=False), np.random.default_rng(0))


def pieces_of(outputs: int, width: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows of each piece in which a pass is taken over one chunk; its sum is the true one."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((CHUNK, width)).astype(np.float32)
    rows /= 1.001 * np.linalg.norm(rows, axis=1, keepdims=True)
    labels = rng.integers(0, outputs, CHUNK)
    loss, seen = losses.Softmax(1.0, classes=outputs), []
    real = losses.Softmax.derivative
    with monkeypatch.context() as patch:
        patch.setattr(
            losses.Softmax, "derivative", lambda self, z, *rest: (seen.append(len(z)), real(self, z, *rest))[1]
        )
        sums = HeldSums(rows, labels.astype(float), loss)
        weights = rng.standard_normal((outputs, width))
        found = sums.gradient(weights, "float64")
    scores = rows.astype(np.float64) @ weights.T
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    chances[np.arange(CHUNK), labels] -= 1
    np.testing.assert_allclose(found, chances.T @ rows.astype(np.float64), rtol=0, atol=1e-11)
    return seen


def test_pieces_hold_rows_for_several_outputs_and_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    many = pieces_of(100, 1000, monkeypatch)
    assert min(many[:-1]) >= 400, "products of fewer rows than that are far from their rate"
    assert max(pieces_of(2, 1000, monkeypatch)) * 1000 <= 1 << 18, "what stays in the cache stays there"
    assert max(pieces_of(100, 30_000, monkeypatch)) * 30_000 <= 1 << 22


@pytest.mark.parametrize("rows", [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK, 3 * CHUNK + 5])
def test_no_sum_runs_over_more_rows_than_the_bound_counts(rows: int) -> None:
    numbers = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
    slopes = np.asfortranarray(np.tile([[1.0], [-2.0]], rows))
    sums = _sums_of_chunks(slopes, numbers)
    thin = SparseSums(SparseRows.of("rows", numbers, ValueError), np.zeros(rows), losses.Linear(1.0))
    sparse = thin._part(0, rows, "float64").sums(slopes)
    expected = [slopes[:, at : at + CHUNK] @ numbers[at : at + CHUNK] for at in range(0, rows, CHUNK)]
    np.testing.assert_array_equal(sums, expected)
    np.testing.assert_array_equal(sparse, expected)
