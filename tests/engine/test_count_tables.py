"""Sums from counts of codes against rows written out number by number; codes of rows; parts in any order; what a wrong count does."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noisygd_delete import Records, losses
from noisygd_delete.bounds import correlated_sums
from noisygd_delete.engine.count_tables import CodedMoments, CountTables, check_coded
from noisygd_delete.errors import InvalidRecords
from noisygd_delete.features import maps

BITS = 9


def inputs(map: maps.Additive, rows: int, seed: int) -> Any:
    """Cells that reach every bin, cold categories, gaps, amounts of nothing and signs of 0."""
    rng, parts = np.random.default_rng(seed), []
    for place, width in enumerate(map.columns):
        if width:
            parts.append(np.eye(width + 1)[rng.integers(0, width + 1, rows)][:, :width])
            continue
        value = rng.choice([-1.0, 1.0, 0.0, 0.5, *rng.uniform(-1, 1, 5)], rows)
        parts.append(value[:, None])
        if place in map.gaps:
            parts.append((rng.uniform(size=rows) < 0.3)[:, None])
    return np.concatenate(parts, axis=1).astype(float)


MAPS = [
    maps.Additive((0, 0, 3), levels=3, amounts=(0,), gaps=(1,), pairs=((0, 1), (1, 2)), pair_levels=2),
    maps.Additive((0, 2, 0), levels=4, logarithmic=(0,), signs=(2,)),
    maps.Additive((0, 2, 3, 0), levels=1, amounts=(0,), gaps=(0, 3), pairs=((1, 2), (0, 3)), pair_levels=3),
    maps.Additive((4,)),
]


def written_out(map: maps.Additive, codes: Any) -> Any:
    """Whole numbers of each row, one code after another."""
    found = []
    for row in codes:
        filled = 1 + sum(block.last[code] >= 0 for block, code in zip(map.coding.blocks, row, strict=True))
        common, steps = map.coding.steps(4**BITS, int(filled))
        found.append([common, *(int(value) for block, code in zip(steps, row, strict=True) for value in block[code])])
    return np.array(found, object)


def oracle(rows: Any, labels: Any, outputs: int) -> Any:
    answers = labels[:, None] if outputs == 1 else labels[:, None] == np.arange(outputs)
    square = rows.T @ rows
    above = [square[i, j] for i in range(len(square)) for j in range(i, len(square))]
    return np.array([*above, *(answers.astype(int).T @ rows).ravel()], np.int64)


def moments(map: maps.Additive, outputs: int = 1, **options: Any) -> CodedMoments:
    return CodedMoments(map.coding.directions, outputs, 4**BITS, BITS, coding=map.coding, **options)


@pytest.mark.parametrize("number", range(len(MAPS)))
@pytest.mark.parametrize("outputs", [1, 3])
def test_sums_are_those_of_rows_written_out(number: int, outputs: int) -> None:
    map = MAPS[number]
    cells = inputs(map, 90, number)
    labels = np.random.default_rng(1).integers(0, outputs, 90) if outputs > 1 else np.tile([-1.0, 1.0], 45)
    codes = map.codes(cells)
    expected, own = oracle(written_out(map, codes), labels, outputs), moments(map, outputs)
    features = np.column_stack([map.features(cells), np.ones(90)])
    for rows in (codes, codes.astype(np.float32), features, map.rows(cells)):
        np.testing.assert_array_equal(own.of(rows, labels), expected)
        few = sum(own.of(rows[k : k + 9], labels[k : k + 9]) for k in range(0, 90, 9))
        np.testing.assert_array_equal(few, expected)


@pytest.mark.parametrize("map", MAPS)
def test_directions_have_the_inner_products_of_the_features(map: maps.Additive) -> None:
    """Of rows as the map makes them, to the rounding of each number."""
    cells = inputs(map, 80, 5)
    features, rows = map.rows(cells).astype(float), written_out(map, map.codes(cells)).astype(float)
    tolerance = 2 * math.sqrt(np.count_nonzero(rows, axis=1).max()) / 2**BITS
    np.testing.assert_allclose(rows @ rows.T / 4**BITS, features @ features.T, atol=tolerance)
    weights = np.random.default_rng(2).normal(size=(2, map.coding.directions))
    scores = features @ map.coding.to_features(weights).T
    longest = np.linalg.norm(weights, axis=1).max()
    np.testing.assert_allclose(rows / 2**BITS @ weights.T, scores, atol=tolerance * longest)


@pytest.mark.parametrize("map", MAPS)
def test_no_row_is_longer_than_the_radius_and_no_two_are_further_apart_than_declared(map: maps.Additive) -> None:
    rows = written_out(map, map.codes(inputs(map, 300, 3)))
    squares = (rows**2).sum(axis=1)
    assert squares.max() <= 4**BITS
    assert squares.min() >= 4**BITS * 0.95
    delta = float(correlated_sums.sensitivity(norm_squared=4**BITS, label_weight=300, between_records=True))
    for one, other in zip(rows[::2].astype(float), rows[1::2].astype(float), strict=True):
        apart = np.outer(one, one) - np.outer(other, other)
        assert math.hypot(np.linalg.norm(apart), 300 * np.linalg.norm(one + other)) <= delta


def test_parts_add_up_in_any_order_and_a_change_is_the_difference() -> None:
    map = MAPS[0]
    cells, labels = inputs(map, 90, 7), np.tile([1.0, 1.0, -1.0], 30)
    codes, own = map.codes(cells), moments(map)
    whole = own.of(codes, labels)
    parts = [own.count(codes[k::7], labels[k::7]) for k in range(7)]
    assert [part.rows for part in parts] == [13] * 6 + [12]
    assert CountTables.sum_tables(parts).rows == 90
    for order in (parts, parts[::-1], parts[3:] + parts[:3]):
        np.testing.assert_array_equal(own.of_counts(CountTables.sum_tables(iter(order))), whole)
    np.testing.assert_array_equal(whole - own.of(codes[:4], labels[:4]), own.of(codes[4:], labels[4:]))
    assert not own.of(codes[:0], labels[:0]).any()
    lost = own.of_counts(CountTables.sum_tables(iter(parts[1:])))
    assert (lost != whole).any()


def test_a_mapped_file_gives_the_same_sums(tmp_path: Path) -> None:
    map = MAPS[0]
    codes, labels = map.codes(inputs(map, 80, 9)), np.tile([1.0, -1.0], 40)
    held = np.memmap(tmp_path / "codes", np.float32, "w+", shape=codes.shape)
    held[:] = codes
    own = moments(map)
    mapped, here = Records(held, labels), Records(codes, labels, slots=100)
    for records in (mapped, here):
        check_coded(records, losses.Logistic(radius=1.0), map.coding)
        np.testing.assert_array_equal(own.of_table(records), own.of(codes, labels))


@pytest.mark.parametrize(
    "wrong", [[[0.5, 0, 0, 0, 0]], [[99, 0, 0, 0, 0]], [[-1, 0, 0, 0, 0]], [[0.0] * 4], [[np.nan] * 5]]
)
def test_what_is_no_code_is_refused(wrong: Any) -> None:
    with np.errstate(invalid="ignore"), pytest.raises(InvalidRecords):
        moments(MAPS[0]).of(np.array(wrong), np.ones(1))


def test_rows_of_another_map_are_refused() -> None:
    other = maps.Additive((0, 0, 3), levels=3)
    with pytest.raises(InvalidRecords, match="codes or"):
        moments(MAPS[0]).of(other.rows(inputs(other, 5, 1)), np.ones(5))
    shuffled = MAPS[1].rows(inputs(MAPS[1], 20, 1))
    shuffled[:, :30] = 0  # no entry where the map always has one
    with pytest.raises(InvalidRecords, match="none of this map"):
        moments(MAPS[1]).of(shuffled, np.ones(20))


def test_targets_are_rounded_towards_nought_on_their_grid() -> None:
    map = MAPS[3]
    cells = inputs(map, 4, 1)
    codes, labels = map.codes(cells), np.array([-1.0, 0.9999, -0.9999, 0.3])
    own = moments(map, label_bits=3)
    assert own.answers(labels)[:, 0].tolist() == [-8, 7, -7, 2]
    rows = written_out(map, codes)
    assert own.of(codes, labels)[-5:].tolist() == (np.array([-8, 7, -7, 2]) @ rows).tolist()
