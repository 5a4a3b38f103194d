"""Pairs of columns as heat maps, and curves made monotone: the model's own numbers, by oracles that know nothing of bins."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisygd_delete import maps
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.features.maps import Shapes
from noisygd_delete.features.schema import published as reader
from noisygd_delete.reports.shapes import shapes_page, shapes_picture
from tests.cli.planned import main
from tests.features.maps.test_shapes import a_store

MAP = maps.Additive(columns=(0, 3, 0), levels=4, gaps=(2,), pairs=((0, 2), (0, 1)), pair_levels=2)


def inputs_of(rows: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    hot = np.eye(3)[rng.integers(0, 3, rows)]
    return np.column_stack([rng.uniform(-1, 1, rows), hot, rng.uniform(-1, 1, rows), np.zeros(rows)])


def weights_of(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(MAP.width + 1)


def value(shape, one: float, other: float) -> float:
    """Of a pair at these places along its sides, which are numbers or numbers of categories."""
    place = 0
    for edges, labels, at in ((shape.edges, shape.labels, one), (shape.second.edges, shape.second.labels, other)):
        parts = len(edges) - 1 if edges else len(labels)
        place = place * parts + (int(np.searchsorted(edges, at, side="right")) - 1 if edges else int(at))
    return shape.values[place]


def test_a_score_is_the_constant_and_the_values_of_columns_and_pairs() -> None:
    weights, inputs = weights_of(1), inputs_of(40)
    shapes = Shapes.of(MAP, weights, noise=0.1, unit="score")
    named = {shape.name: shape for shape in shapes.shapes}
    for row, score in zip(inputs, MAP.rows(inputs) @ weights, strict=True):
        category = row[1:4].argmax()
        curve = lambda name, at: named[name].values[int(np.searchsorted(named[name].edges, at, side="right")) - 1]  # noqa: E731
        total = (
            shapes.constant + curve("column 0", row[0]) + curve("column 2", row[4]) + named["column 1"].values[category]
        )
        total += value(named["column 0 × column 2"], row[0], row[4]) + value(
            named["column 0 × column 1"], row[0], category
        )
        assert total == pytest.approx(score, abs=1e-5)


def test_a_file_of_pairs_reads_back_and_one_from_before_them_does() -> None:
    shapes = Shapes.of(MAP, weights_of(2), noise=0.1, unit="score")
    given = json.loads(json.dumps(shapes.to_dict()))
    assert Shapes.from_dict(given) == shapes
    given["shapes"] = [
        {k: v for k, v in one.items() if k != "second"} for one in given["shapes"] if one["second"] is None
    ]
    assert [one.name for one in Shapes.from_dict(given).shapes] == [s.name for s in shapes.shapes if s.second is None]
    broken = json.loads(json.dumps(shapes.to_dict()))
    next(one for one in broken["shapes"] if one["second"])["values"].pop()
    with pytest.raises(InvalidParameter, match="no shapes"):
        Shapes.from_dict(broken)


def test_a_heat_map_outlines_what_moved_beyond_the_noise_and_nothing_else() -> None:
    weights = weights_of(3)
    moved = weights.copy()
    box = MAP.blocks[3].start + 4  # one of the finest boxes of the first pair: 2 × 2 come before
    moved[box] += 1.0
    one, other = (Shapes.of(MAP, given, noise=0.05, unit="score") for given in (weights, moved))
    pictures = {shape.name: picture for shape, picture in zip(other.shapes, other.drawings(one), strict=True)}
    assert pictures["column 0 × column 2"].count('stroke="currentColor"') == 1
    assert pictures["column 0 × column 1"].count('stroke="currentColor"') == 0
    assert pictures["column 0 × column 2"].count("<rect") == 16
    assert shapes_page(other, "title", one).count("<rect") == 16 + 12
    assert shapes_picture(other, one).startswith(b"\x89PNG")


def isotonic(values: np.ndarray) -> np.ndarray:
    """By the formula of greatest minima of means."""
    ends = range(len(values))
    return np.array([max(min(values[a : b + 1].mean() for b in ends if b >= i) for a in ends if a <= i) for i in ends])


@given(st.integers(0, 99), st.sampled_from([1, -1]), st.sampled_from([0, 2]))
@settings(max_examples=20, deadline=None)
def test_a_monotone_curve_is_the_nearest_one_and_no_other_term_changes(seed: int, way: int, place: int) -> None:
    weights = weights_of(seed)
    made = MAP.monotone(weights, {place: way})
    for before, after in zip(MAP.terms(weights), MAP.terms(made), strict=True):
        right = way * isotonic(way * before.values) if before.column == place else before.values
        np.testing.assert_allclose(after.values, right, atol=1e-12)
        assert after.missing == before.missing
    for before, after in zip(MAP.pair_terms(weights), MAP.pair_terms(made), strict=True):
        np.testing.assert_array_equal(before.values, after.values)
    np.testing.assert_allclose(MAP.monotone(made, {place: way}), made, atol=1e-12)


@pytest.mark.parametrize("place", [1, 3, -1])
def test_what_has_no_curve_is_not_made_monotone(place: int) -> None:
    with pytest.raises(InvalidParameter, match="only a number"):
        MAP.monotone(weights_of(0), {place: 1})
    amounts = maps.Additive(columns=(0,), amounts=(0,), levels=2)
    with pytest.raises(InvalidParameter, match="only a number"):
        amounts.monotone(np.zeros(amounts.width), {0: 1})


def test_explained_and_exported_alike(tmp_path, capsys) -> None:
    a_store(tmp_path).close()
    place, file = str(tmp_path / "s"), str(tmp_path / "model.json")
    capsys.readouterr()
    assert main(["explain", place, "--monotone", "age=falling", "--json"]) == 0
    shapes = json.loads(capsys.readouterr().out)
    (curve,) = (one for one in shapes["shapes"] if one["name"] == "age")
    assert (np.diff(curve["values"]) <= 1e-12).all()
    assert main(["export", place, "--plain", file, "--monotone", "age=falling"]) == 0
    ages = np.linspace(10.5, 89.5, 80)
    table = {"age": ages.tolist(), "town": ["a"] * 80, "sum": [100.0] * 80}
    chances = np.asarray(reader.load(file).probabilities(table))[:, -1]
    assert (np.diff(chances) <= 1e-12).all()
    bins = np.searchsorted(curve["edges"], ages, side="right") - 1
    said = np.log(chances / (1 - chances))
    np.testing.assert_allclose(said - said[0], np.array(curve["values"])[bins] - curve["values"][bins[0]], atol=1e-5)
    assert main(["export", place, "--plain", str(tmp_path / "as-it-is.json")]) == 0
    assert (tmp_path / "as-it-is.json").read_text() != (tmp_path / "model.json").read_text()
    for wrong in ("town=rising", "age=up", "age"):
        assert main(["explain", place, "--monotone", wrong]) == 2
        assert "of a column with a curve: age, sum" in capsys.readouterr().err
    assert main(["export", place, "--monotone", "age=rising"]) == 2
