"""Public maps: what each computes, against plain Python; that each is pure, bit by bit; and that the kit finds maps that are not."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from noisygd_delete import maps
from noisygd_delete.errors import AssumptionViolated, InvalidParameter, InvalidRecords
from noisygd_delete.features.maps.base import normalize_rows

RNG = np.random.default_rng(5)
CATEGORIES = np.eye(4)[[0, 3, 1, 3, 3, 2, 0, 1, 3]][:, :3]  # the fourth value is not in the list: none hot
TABLE = np.column_stack([RNG.uniform(-1, 1, (9, 2)), CATEGORIES])
TABLE_WITH_GAPS = np.column_stack([TABLE[:, :2], np.arange(9) % 3 == 0, CATEGORIES])
TEXTS = ["A cat sat.", "the CAT sat on a cat", "dogs bark", "", "cat", "à la carte", "a a a a", "the", "dogs"]
COLUMNS = (0, 0, 3)


def built_in() -> list[tuple[maps.PublicMap, Any]]:
    crossed = maps.BinsAndCrosses(COLUMNS, bins=4, buckets=32)
    return [
        (crossed, TABLE),
        (maps.Additive(COLUMNS), TABLE),
        (maps.Additive(COLUMNS, levels=3, gaps=(1,), amounts=(0,), pairs=((0, 1), (0, 2))), TABLE_WITH_GAPS),
        (maps.RandomFourier(5, size=40, bandwidth=2.0), TABLE),
        (maps.HashedNgrams(buckets=64), TEXTS),
        (maps.HashedNgrams("characters", longest=3, buckets=64), TEXTS),
        (maps.Chain((crossed, maps.BinsAndCrosses((0,) * crossed.width, bins=2, buckets=8))), TABLE),
        (maps.ConcatenatedMap((crossed, maps.Additive(COLUMNS)), weights=(6.0, 3.0)), TABLE),
    ]


@pytest.mark.parametrize(("map", "inputs"), built_in(), ids=lambda given: getattr(given, "kind", ""))
def test_a_built_in_map_is_public_and_survives_its_own_dictionary(map: maps.PublicMap, inputs: Any) -> None:
    maps.check_map(map, inputs)
    maps.check_map(map, inputs, radius=2.5)
    rows = map.rows(inputs)
    assert rows.shape == (len(inputs), map.width + 1)
    norms = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1))
    assert 1 - 1e-6 < norms.min() <= norms.max() <= 1
    again = maps.from_dict(json.loads(json.dumps(map.to_dict())))
    assert (again, again.digest) == (map, map.digest)
    np.testing.assert_array_equal(again.rows(inputs), rows)


def test_a_table_longer_than_a_block_gets_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    map = maps.BinsAndCrosses(COLUMNS, bins=4, buckets=32)
    rows = map.rows(TABLE)
    monkeypatch.setattr("noisygd_delete.features.maps.base._TOGETHER", 100)
    np.testing.assert_array_equal(map.rows(TABLE), rows)


def test_digests_name_parameters_and_the_version_of_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    one = maps.BinsAndCrosses(COLUMNS)
    others = [replace(one, bins=4), replace(one, buckets=41), replace(one, cross_bins=4), replace(one, cross_scale=2.0)]
    digests = {each.digest for each in (one, *others, maps.Chain((one,)), maps.ConcatenatedMap((one,)))}
    assert len(digests) == 7
    monkeypatch.setattr(maps.BinsAndCrosses, "version", 2)
    assert one.digest not in digests


def test_digests_are_the_same_on_every_machine() -> None:
    """Committed: a digest that moves without a new version would orphan every store made with the map."""
    map = maps.BinsAndCrosses(COLUMNS, bins=4, buckets=32)
    facts = '{"bins": 4, "buckets": 32, "columns": [0, 0, 3], "cross_bins": 8, "cross_scale": 1.0, "kind": "bins", "version": 1}'
    assert map.digest == hashlib.sha256(facts.encode()).hexdigest()
    additive = '{"amounts": [0], "columns": [0, 3, 0], "finest": 1e-05, "gaps": [], "kind": "additive", "levels": 7, "logarithmic": [2], "pair_levels": 3, "pairs": [], "version": 1}'
    written = {
        name: value for name, value in json.loads(additive).items() if name != "version"
    }  # by 0.2.0, in a schema and a ledger
    assert maps.from_dict(written).digest == hashlib.sha256(additive.encode()).hexdigest()


# -- what they compute -----------------------------------------------------------------------------------------------


def test_bins_and_crosses_one_by_one() -> None:
    map = maps.BinsAndCrosses(COLUMNS, bins=4, buckets=32, cross_bins=3, cross_scale=0.5)
    for record, found in zip(TABLE, map.features(TABLE), strict=True):
        codes = [min(3, int((value + 1) / 2 * 4)) for value in record[:2]]
        expected = [*record, *np.eye(4)[codes[0]], *np.eye(4)[codes[1]], *[0.0] * 32]
        codes = [min(2, int((value + 1) / 2 * 3)) for value in record[:2]]
        codes.append(int(record[2:].argmax()) if record[2:].any() else 3)
        hashes = [
            int.from_bytes(hashlib.blake2b(f"{column}:{code}".encode(), digest_size=8).digest(), "little")
            for column, code in enumerate(codes)
        ]
        for first, second in ((0, 1), (0, 2), (1, 2)):
            word = (hashes[first] + hashes[second] * 0x9E3779B97F4A7C15) % 2**64
            word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
            word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
            word ^= word >> 31
            expected[13 + word % 32] += 0.5 if word >> 63 else -0.5  # three pairs of three columns
        assert found.tolist() == expected
    without = maps.BinsAndCrosses(COLUMNS, bins=4, buckets=0)
    np.testing.assert_array_equal(without.features(TABLE), map.features(TABLE)[:, :13])


def test_crosses_of_many_columns_fall_evenly() -> None:
    map = maps.BinsAndCrosses((0,) * 30, bins=8, buckets=64)
    crosses = map.features(RNG.uniform(-1, 1, (200, 30)))[:, -64:] / map.cross_scale
    unit = math.sqrt(30 / 435)
    assert abs(crosses.sum() / unit) < 5 * math.sqrt(200 * 435)  # signs
    hit = np.count_nonzero(crosses, axis=0)
    assert hit.min() > 0.6 * hit.mean()


def test_inner_products_of_fourier_features_come_near_to_the_kernel() -> None:
    map = maps.RandomFourier(5, size=20_000, bandwidth=1.5, seed=3)
    features = map.features(TABLE)
    squared = ((TABLE[:, None] - TABLE[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(features @ features.T / 20_000, np.exp(-squared / (2 * 1.5**2)), atol=0.04)


def test_a_centred_record_is_seen_without_its_brightness() -> None:
    map = maps.RandomFourier(96, size=50, centred=True)
    flat = RNG.uniform(0, 255, (9, 96))
    np.testing.assert_allclose(map.features(3 * flat + 7), map.features(flat), atol=1e-9)


def test_ngrams_are_counted_and_signed() -> None:
    map = maps.HashedNgrams(longest=2, buckets=64)
    expected = np.zeros(64)
    for run, times in {"the": 2, "cat": 1, "the cat": 1, "cat the": 1}.items():
        word = int.from_bytes(hashlib.blake2b(run.encode(), digest_size=8).digest(), "little")
        expected[(word >> 1) % 64] += (1 if word & 1 else -1) * (1 + math.log(times))
    np.testing.assert_allclose(map.features(["The cat, THE"])[0], expected)
    assert not map.features(["…!"]).any()
    letters = maps.HashedNgrams("characters", longest=1, buckets=4096)
    assert np.count_nonzero(letters.features(["abab"])) == 2


# -- the kit finds what is not public -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Planted(maps.PublicMap):
    """The numbers as they are, but for one fault."""

    fault: str
    seen: list[int] = field(default_factory=list, compare=False)
    kind: ClassVar[str] = "planted"
    inputs: ClassVar[int] = 5  # type: ignore[misc]
    width: ClassVar[int] = 5  # type: ignore[misc]

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "fault": self.fault, "seen": len(self.seen) if self.fault == "digest" else 0}

    def features(self, inputs: Any) -> np.ndarray:
        rows = np.asarray(inputs, float)
        self.seen.append(len(rows))
        if self.fault == "mean":
            return rows - rows.mean(axis=0)
        if self.fault == "scale":
            return rows / np.abs(rows).max()
        if self.fault == "rank":
            return rows.argsort(axis=0).argsort(axis=0).astype(float)
        if self.fault == "place":
            return rows + 1e-6 * np.arange(len(rows))[:, None]
        if self.fault == "state":
            return rows + 1e-6 * len(self.seen)
        return rows

    def rows(self, inputs: Any, *, radius: float = 1.0, **options: Any) -> np.ndarray:
        made = super().rows(inputs, radius=radius, **options)
        return made * np.float32(1 + 1e-6) if self.fault == "norm" else made


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        *[(fault, "the records beside it") for fault in ("mean", "scale", "rank", "place")],
        ("state", "the second time"),
        ("norm", "over the radius"),
        ("digest", "digest changed"),
    ],
)
def test_a_map_that_is_not_public_is_refused_with_the_reason(fault: str, reason: str) -> None:
    maps.check_map(Planted("none"), TABLE)
    with pytest.raises(AssumptionViolated, match=reason):
        maps.check_map(Planted(fault), TABLE)


def test_what_is_no_map_and_too_few_records_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="no PublicMap"):
        maps.check_map(np.tanh, TABLE)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="at least three"):
        maps.check_map(Planted("none"), TABLE[:2])


# -- edges ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "needs kind"),
        ({"kind": "pca"}, "needs kind"),
        ({"kind": "fourier", "reads": 1 << 20, "size": 1 << 12}, "give fewer"),
        ({"kind": "fourier", "reads": 5, "bandwidth": 0.0}, "> 0"),
        ({"kind": "bins"}, "needs columns"),
        ({"kind": "bins", "columns": [0], "bucket": 1}, "no parameter 'bucket'"),
        ({"kind": "bins", "columns": [0], "bins": "5"}, "Expected `int`"),
        ({"kind": "bins", "columns": [0], "cross_scale": -1.0}, ">= 0"),
        ({"kind": "bins", "columns": [], "bins": 4}, "at least one column"),
        ({"kind": "bins", "columns": [0] * 10, "bins": 60_000}, "would make"),
        ({"kind": "ngrams", "units": "verbs"}, "must be one of"),
        ({"kind": "chain", "of": []}, "at least one map"),
        ({"kind": "chain", "of": {}}, "a list of maps"),
        ({"kind": "chain", "of": [{"kind": "bins", "columns": [0]}, {"kind": "bins", "columns": [3]}]}, "reads 3"),
        ({"kind": "beside", "of": [{"kind": "ngrams"}], "weights": [1.0, 2.0]}, "one for each"),
        ({"kind": "onnx", "file": "nowhere.onnx", "input_shape": [3]}, "cannot be read"),
        ({"kind": "sentences", "vectors": "nowhere", "tokenizer": "nowhere"}, "cannot be read"),
    ],
)
def test_a_map_from_outside_is_checked(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidParameter, match=reason):
        maps.from_dict(given)


def test_maps_within_maps_end() -> None:
    nested: dict[str, Any] = {"kind": "ngrams"}
    for _ in range(20):
        nested = {"kind": "chain", "of": [nested]}
    with pytest.raises(InvalidParameter, match="deep"):
        maps.from_dict(nested)


def test_records_that_a_map_cannot_read_are_refused() -> None:
    map = maps.BinsAndCrosses(COLUMNS)
    for bad, reason in (([[1, 2]], "reads 5"), ([[np.nan] * 5], "finite"), ([["a"] * 5], "numbers")):
        with pytest.raises(InvalidRecords, match=reason):
            map.features(bad)
    with pytest.raises(InvalidRecords, match="texts"):
        maps.HashedNgrams().features("one text")
    with pytest.raises(InvalidRecords, match="finite"):
        normalize_rows(np.full((1, 3), 1e200))


def test_clipped_rows_keep_their_length_and_zeros_stay() -> None:
    rows = normalize_rows(np.array([[0.3, 0.4], [3.0, 4.0], [0.0, 0.0]]), radius=1.0, constant=False, clip=True)
    np.testing.assert_allclose(rows, [[0.3, 0.4], [0.6, 0.8], [0, 0]], rtol=1e-6)
    assert not normalize_rows(np.zeros((1, 2)), constant=False).any()


@pytest.mark.parametrize(
    "around",
    [
        lambda one: maps.Chain((one,)),
        lambda one: maps.ConcatenatedMap((one, one)),
        lambda one: maps.ConcatenatedMap((maps.Chain((one,)),)),
    ],
)
def test_another_version_of_a_map_inside_another_is_another_map(around, monkeypatch) -> None:
    one = maps.BinsAndCrosses((0,), bins=2, buckets=0)
    before = around(one).digest
    monkeypatch.setattr(maps.BinsAndCrosses, "version", maps.BinsAndCrosses.version + 1)
    assert around(one).digest != before
