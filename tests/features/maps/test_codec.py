"""Rows as codes: the bits of the map's own rows, every code, null records, and what no map has made."""

from __future__ import annotations

import math

import numpy as np
import pytest

from noisygd_delete.engine.sums import longest_rows
from noisygd_delete.errors import InvalidRecords, InvalidRequest
from noisygd_delete.features import maps
from noisygd_delete.features.maps.codec import RowCodec
from noisygd_delete.records import CodedRows, SparseRows


def random_map(rng: np.random.Generator) -> maps.Additive:
    """Return a map with a random mixture of everything that it can be made of."""
    columns = tuple(int(rng.choice([0, 0, 0, 1, 3, 300])) for _ in range(rng.integers(1, 9)))
    numbers = [place for place, width in enumerate(columns) if not width]

    def some() -> tuple[int, ...]:
        return tuple(place for place in numbers if rng.random() < 0.4)

    signs = some()
    others = [tuple(place for place in some() if place not in signs) for _ in range(3)]
    pairs = [(0, place) for place in range(1, len(columns)) if rng.random() < 0.3 and columns[place] < 9 > columns[0]]
    return maps.Additive(
        columns,
        levels=int(rng.integers(1, 10)),
        amounts=others[0],
        logarithmic=others[1],
        gaps=others[2],
        pairs=tuple(pairs),
        pair_levels=int(rng.integers(1, 4)),
        signs=signs,
    )


def random_inputs(map: maps.Additive, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return records that reach every kind of code: ends, middles, gaps, unknown categories."""
    parts = []
    for place, width in enumerate(map.columns):
        if width:
            hot = rng.integers(0, width + 1, rows)
            parts.append(np.eye(width + 1)[hot][:, :width])
        else:
            value = np.where(rng.random(rows) < 0.3, rng.choice([-1.0, 0.0, 1.0], rows), rng.uniform(-1, 1, rows))
            parts.append(value[:, None])
            if place in map.gaps:
                parts.append((rng.random(rows) < 0.2).astype(float)[:, None])
    return np.hstack(parts)


@pytest.mark.parametrize("seed", range(40))
def test_rows_from_codes_have_the_bits_of_the_rows_of_the_map(seed: int) -> None:
    rng = np.random.default_rng(seed)
    map, radius = random_map(rng), float(rng.choice([1.0, 0.3, 7.0]))
    given = random_inputs(map, 200, rng)
    rows, codec = map.rows(given, radius=radius), RowCodec(map.coding, radius)
    stored = codec.to_stored(map.codes(given))
    assert stored.dtype.itemsize == (1 if max(map.coding.sizes) < 256 else 2)
    assert stored.all()
    assert np.array_equal(codec.decode(stored).view(np.uint32), rows.view(np.uint32))
    thin = codec.decode_sparse(stored)
    assert np.array_equal(thin.written_out(), rows)
    assert thin.nonzeros == np.count_nonzero(rows)
    assert np.array_equal(codec.encode(rows), stored)
    assert np.array_equal(codec.encode(SparseRows.of("rows", thin.part(0, 200), InvalidRecords)), stored)


def test_null_records_are_zeros_as_codes_and_as_rows() -> None:
    codec = RowCodec(maps.Additive((0, 3), levels=3, gaps=(0,)).coding)
    stored = codec.to_stored([[0, 0], [8, 3]])
    stored = np.vstack([np.zeros((1, 2), np.uint8), stored, np.zeros((1, 2), np.uint8)])
    rows = codec.decode(stored)
    assert rows.any(axis=1).tolist() == [False, True, True, False]
    assert np.array_equal(codec.encode(rows), stored)
    assert codec.decode_sparse(stored).lengths.tolist() == [0, 5, 2, 0]


@pytest.mark.parametrize("wrong", [[0, 1], [1, 0], [9, 1], [1, 5]])
def test_a_stored_row_with_codes_of_no_block_is_refused(wrong: list[int]) -> None:
    codec = RowCodec(maps.Additive((0, 3), levels=3).coding)
    with pytest.raises(InvalidRecords):
        codec.decode(np.array([[8, 4], wrong], np.uint8))


def test_a_row_that_the_map_does_not_make_is_refused() -> None:
    map = maps.Additive((0, 0), levels=3)
    codec, rows = RowCodec(map.coding), map.rows([[0.1, 0.2]])
    flipped = rows.copy()
    flipped.view(np.uint32)[0, np.flatnonzero(rows[0])[0]] ^= 1  # the lowest bit of one value
    moved = rows.copy()
    moved[0, 0], moved[0, 1] = rows[0, 1], rows[0, 0]  # a coarse bin that does not contain the fine one
    for wrong in (flipped, moved, 2 * rows, np.ones_like(rows)):
        with pytest.raises(InvalidRequest):
            codec.encode(wrong, InvalidRequest)


@pytest.mark.parametrize("most", [64, 1])
@pytest.mark.parametrize("seed", range(20))
def test_a_few_rows_have_every_norm(seed: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Norms of all rows, without rounding of the sums, against those of the rows that are decoded; also when there are many patterns."""
    monkeypatch.setattr("noisygd_delete.features.maps.codec._MOST_PATTERNS", most)
    rng = np.random.default_rng(seed)
    map = random_map(rng)
    codec = RowCodec(map.coding)
    stored = codec.to_stored(map.codes(random_inputs(map, 150, rng)))
    stored[rng.random(150) < 0.1] = 0
    norms = np.array([math.fsum(row) for row in np.square(codec.decode(stored).astype(np.float64))])
    places = codec.rows_of_each_norm(stored)
    assert set(norms[places]) == set(norms)
    assert most == 1 or len(places) < len(stored)
    (longest, slot), *_ = longest_rows(CodedRows(stored, codec), range(150), None)
    assert longest == pytest.approx(np.sqrt(norms.max()), rel=1e-15)
    assert norms[slot] == pytest.approx(norms.max(), rel=1e-15)


def test_a_pattern_that_ignores_a_block_loses_a_norm() -> None:
    """Planted: codes with and without entries count as alike."""
    codec = RowCodec(maps.Additive((0, 0), levels=3, amounts=(0,)).coding, radius=1.0)
    stored = codec.to_stored([[0, 0], [8, 0]])
    assert len(codec.rows_of_each_norm(stored)) == 2
    codec._patterns[0][1][:] = 0
    assert len(codec.rows_of_each_norm(stored)) == 1


def test_a_stored_row_is_checked_before_its_norm() -> None:
    codec = RowCodec(maps.Additive((0, 3), levels=3).coding)
    with pytest.raises(InvalidRecords):
        longest_rows(CodedRows(np.array([[8, 4], [9, 1]], np.uint8), codec), range(2), None)
