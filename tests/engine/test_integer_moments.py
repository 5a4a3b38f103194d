"""Sums of rows as whole numbers, against Python's integers; the variances of their noise; products that are rounded."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from noisygd_delete import Records
from noisygd_delete.bounds.arithmetic import NORM_TOLERANCE
from noisygd_delete.engine import count_tables as counted
from noisygd_delete.engine import moments as module
from noisygd_delete.engine.count_tables import CodedMoments
from noisygd_delete.engine.moments import IntegerMoments, add_noise, round_product
from noisygd_delete.errors import AssumptionViolated

from ..bank import unit_rows
from .test_nested import MAP, coded, rows_of

N, BITS = 41, 9
OWNERS = np.random.default_rng(1).integers(0, 25, N)


def labels_of(kind: str) -> np.ndarray:
    rng = np.random.default_rng(2)
    return {
        "binary": rng.choice([-1.0, 1.0], N),
        "class": rng.integers(0, 3, N).astype(float),
        "target": rng.uniform(-1.2, 1.2, N),
    }[kind]


def answers(kind: str, label: float, label_bits: int, alike: int) -> list[int]:
    unit = 2.0**label_bits / math.sqrt(alike)
    if kind == "class":
        return [math.trunc(unit) * (label == each) for each in range(3)]
    return [math.trunc(min(max(label, -1.0), 1.0) * unit)]


def exact(rows: list[list[int]], sides: list[list[int]]) -> list[int]:
    """The upper triangle of Σ x xᵀ, row by row, then Σ y xᵀ of each output."""
    whole, other = np.array(rows, np.int64), np.array(sides, np.int64)
    return [*(whole.T @ whole)[np.triu_indices(whole.shape[1])].tolist(), *(other.T @ whole).ravel().tolist()]


@pytest.mark.parametrize("stored", ["rows", "codes"])
@pytest.mark.parametrize("persons", [False, True], ids=["by row", "by person"])
@pytest.mark.parametrize(
    ("kind", "label_bits"), [("binary", 0), ("binary", 3), ("class", 0), ("class", 5), ("target", 7)]
)
def test_sums_of_a_table_are_those_of_python_s_integers(kind, label_bits, persons, stored, monkeypatch) -> None:
    """Rows and labels divided by √k before they are rounded; in blocks that cut the table, and free slots, unevenly."""
    monkeypatch.setattr(module, "_BLOCK", 5)
    monkeypatch.setattr(counted, "_FEW", 7)
    labels, outputs = labels_of(kind), 3 if kind == "class" else 1
    thin = rows_of(N, 3)
    rows: Any = coded(thin) if stored == "codes" else unit_rows(N, 6).astype(np.float32)
    monkeypatch.setattr(module, "_TOGETHER", 11 * rows.shape[1])
    alike = np.bincount(OWNERS)[OWNERS] if persons else np.ones(N, int)
    if stored == "codes":
        codes = rows.codec.to_codes(rows.codes)
        own: IntegerMoments = CodedMoments(MAP.coding.directions, outputs, 4**BITS, BITS, label_bits, coding=MAP.coding)
        written = []
        for row, k in zip(codes, alike.tolist(), strict=True):
            filled = 1 + sum(block.last[code] >= 0 for block, code in zip(MAP.coding.blocks, row, strict=True))
            common, steps = MAP.coding.steps(4**BITS // k, int(filled))
            written.append([common, *(int(v) for block, code in zip(steps, row, strict=True) for v in block[code])])
    else:
        own = IntegerMoments(6, outputs, 4**BITS, BITS, label_bits)
        shorter = math.ldexp(1 - NORM_TOLERANCE, BITS)
        written = [
            [math.trunc(v * (shorter / math.sqrt(k))) for v in row] for row, k in zip(rows.tolist(), alike, strict=True)
        ]
    sides = [answers(kind, label, label_bits, k) for label, k in zip(labels.tolist(), alike.tolist(), strict=True)]
    records = Records(rows, labels, subjects=OWNERS.tolist() if persons else None, slots=N + 9)
    found = own.of_persons(records) if persons else own.of_table(records)
    assert found.tolist() == exact(written, sides)


def test_a_row_longer_than_the_radius_is_refused_in_any_block_and_one_as_long_is_not(monkeypatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", 3)
    own, rows = IntegerMoments(2, 1, 4**BITS, BITS), np.zeros((8, 2))
    for slot in range(8):
        rows[:] = 0
        rows[slot] = [0.6, 0.8]
        assert own.of(rows, np.ones(8))[0] == math.trunc(0.6 * math.ldexp(1 - NORM_TOLERANCE, BITS)) ** 2
        rows[slot] = [0.0, 1.01]
        with pytest.raises(AssumptionViolated, match="longer than the radius"):
            own.of(rows, np.ones(8))


def test_each_sum_has_its_own_variance(monkeypatch) -> None:
    """σ² on the diagonal, σ²/2 above it, σ² 4^bits/β² of a label sum: a sampler that draws the variance says where."""
    asked = []

    def sampler(size: int, noise: Any, *, variance: Fraction) -> np.ndarray:
        asked.append(variance)
        return np.full(size, len(asked))

    monkeypatch.setattr(module, "discrete_gaussian", sampler)
    drawn = IntegerMoments(3, 2, 100, 5, 4).noise(None, variance=7000, label_weight=30)
    place = [asked[number - 1] for number in drawn.tolist()]
    diagonal, above, label = Fraction(7000), Fraction(3500), Fraction(7000 * 4**4, 900)
    assert place == [diagonal, above, above, diagonal, above, diagonal, *[label] * 6]


@pytest.mark.parametrize("part", [4, 1 << 16])
def test_noise_of_real_sums_is_larger_on_the_diagonal_by_the_root_of_two(part: int, monkeypatch) -> None:
    """A sampler that adds its number of the draw, however many are drawn at once."""
    monkeypatch.setattr(module, "_PART", part)
    count = iter(range(1, 100))
    monkeypatch.setattr(
        module, "on_noisy_grid", lambda sums, noise, output_noise: sums + [next(count) * output_noise for _ in sums]
    )
    rng = np.random.default_rng(3)
    first, second = rng.standard_normal((2, 3)), rng.standard_normal((3, 3))
    second = second + second.T
    told = add_noise(first, second, deviation=0.5, noise=None)
    np.testing.assert_allclose(told[0] - first, 0.5 * np.arange(1, 7).reshape(2, 3))
    np.testing.assert_allclose(
        told[1] - second, 0.5 * np.array([[7 * 2**0.5, 8, 9], [8, 10 * 2**0.5, 11], [9, 11, 12 * 2**0.5]])
    )


@pytest.mark.parametrize("bits", [1, 20, 40])
def test_a_product_is_rounded_half_up_and_one_that_does_not_fit_is_refused(bits: int) -> None:
    rng = np.random.default_rng(bits)
    most = (1 << (62 - bits)) - 1
    rest = np.array([0, 1, -1, 2, -2, most, -most, *rng.integers(-most, most, 50)])
    for carry in (
        Fraction(1, 2),
        Fraction(rng.integers(1 << bits).item(), 1 << bits),
        Fraction((1 << bits) - 1, 1 << bits),
    ):
        exactly = [math.floor(carry * each + Fraction(1, 2)) for each in rest.tolist()]
        assert round_product(rest, carry, bits).tolist() == exactly
    for wrong, factor in ((rest + 1, carry), (rest, carry + Fraction(1, 2 << bits))):
        with pytest.raises(OverflowError):
            round_product(wrong, factor, bits)
