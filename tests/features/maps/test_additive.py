"""Dyadic bins: what each row is, written out one entry at a time; sparse rows as dense ones; a map that peeks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from noisygd_delete import Budget, NoisyGDClassifier
from noisygd_delete.errors import AssumptionViolated, InvalidParameter
from noisygd_delete.estimators import make_mapped_pipeline
from noisygd_delete.features import maps
from noisygd_delete.features.schema import Schema
from noisygd_delete.features.schema.files import Table

RNG = np.random.default_rng(5)
COLUMNS = (0, 0, 3)
ROWS = np.column_stack(
    [RNG.uniform(-1, 1, (40, 2)), RNG.uniform(size=40) < 0.3, np.eye(4)[RNG.integers(0, 4, 40)][:, :3]]
)
ROWS[::5, 0] = -1.0  # amounts of 0
FULL = maps.Additive(COLUMNS, levels=3, amounts=(0,), gaps=(1,), pairs=((0, 1), (1, 2)), pair_levels=2)


def test_every_entry_of_a_row() -> None:
    map = maps.Additive(COLUMNS, levels=2)
    found = map.features([[-1.0, 1.0, 0, 1, 0], [0.1, -0.6, 0, 0, 0]])
    each = 1 / math.sqrt(2)
    first, second = np.zeros(15), np.zeros(15)
    first[[0, 2, 6 + 1, 6 + 5]], first[12 + 1] = each, 1.0
    second[[1, 4, 6 + 0, 6 + 2]] = each  # an unknown category has none
    np.testing.assert_allclose(found, [first, second])
    assert (map.width, [len(block) for block in map.blocks]) == (15, [6, 6, 3])


def test_an_amount_of_nothing_has_no_entry_and_a_gap_has_its_own() -> None:
    found = FULL.features(ROWS)
    nothing, absent = ROWS[:, 0] == -1, ROWS[:, 2] == 1
    amount, other = (found[:, block.start : block.stop] for block in FULL.blocks[:2])
    assert not amount[nothing].any()
    assert (np.count_nonzero(amount[~nothing], axis=1) == 3).all()
    assert (other[absent, -1] == 1).all()
    assert not other[absent, :-1].any()
    assert not other[~absent, -1].any()


def test_each_block_has_norm_one_or_none() -> None:
    found = FULL.features(ROWS)
    for block in FULL.blocks:
        norms = np.linalg.norm(found[:, block.start : block.stop], axis=1)
        assert (np.isclose(norms, 1) | (norms == 0)).all()


@pytest.mark.parametrize("map", [FULL, maps.Additive((0, 0, 0, 3)), maps.Additive((0, 0, 0, 3), logarithmic=(0, 1))])
@pytest.mark.parametrize("constant", [True, False])
def test_sparse_rows_are_the_dense_ones_bit_by_bit(map: maps.Additive, constant: bool) -> None:
    dense = map.rows(ROWS, radius=2.0, constant=constant)
    sparse = map.sparse_rows(ROWS, radius=2.0, constant=constant)
    np.testing.assert_array_equal(sparse.toarray(), dense)
    assert sparse.nnz == np.count_nonzero(dense)


def test_logarithmic_bins_tell_small_numbers_apart_in_a_range_far_too_wide() -> None:
    points = [[-1e-3], [1e-4], [1e-3]]
    even, along = (maps.Additive((0,), logarithmic=places).features(points) for places in ((), (0,)))
    assert len(np.unique(even, axis=0)) == 2  # signs alone
    assert len(np.unique(along, axis=0)) == 3


def test_the_digest_names_everything_that_makes_rows() -> None:
    others: list[dict[str, Any]] = [
        {"levels": 4},
        {"amounts": ()},
        {"gaps": (), "columns": (0, 0, 0, 3)},
        {"logarithmic": (1,)},
        {"pairs": ((0, 1),)},
        {"pair_levels": 3},
        {"finest": 1e-3},
        {"columns": (0, 0, 0, 2), "signs": (2,)},
    ]
    made = [FULL, *(maps.from_dict({**FULL.to_dict(), **changed}) for changed in others)]
    assert len({each.digest for each in made}) == len(made)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"columns": ()}, "at least one column"),
        ({"amounts": (2,)}, "places of numbers"),
        ({"gaps": (0, 0)}, "each once"),
        ({"pairs": ((0, 0),)}, "two columns"),
        ({"pairs": ((0, 9),)}, "two columns"),
        ({"finest": 0.0}, "finest"),
        ({"levels": 17}, "levels"),
        ({"signs": (2,)}, "places of numbers"),
        ({"signs": (0,), "gaps": (0,)}, "sign alone"),
    ],
)
def test_what_is_no_map_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        maps.Additive(**{"columns": COLUMNS, **wrong})


@pytest.mark.parametrize("logarithmic", [(), (0, 1)])
def test_terms_are_what_a_head_says_of_each_column(logarithmic: tuple[int, ...]) -> None:
    map = maps.Additive(COLUMNS, levels=3, gaps=(1,), logarithmic=logarithmic)
    weights = RNG.normal(size=map.width + 1)
    scores = map.rows(ROWS).astype(float) @ weights
    terms = map.terms(weights)
    assert [term.column for term in terms] == [0, 1, 2]
    for row, score in zip(ROWS, scores, strict=True):
        total, entries = weights[-1], 1
        for at, term in zip((0, 1), terms[:2], strict=True):
            assert term.edges is not None
            found = term.values[min(np.searchsorted(term.edges, row[at], "right") - 1, 7)]
            total, entries = total + (term.missing if at and row[2] else found), entries + 1
        if row[3:].any():
            total, entries = total + terms[2].values[row[3:].argmax()], entries + 1
        assert score == pytest.approx(total / math.sqrt(entries), abs=1e-5)
    with pytest.raises(InvalidParameter, match="one score"):
        map.terms(np.zeros((2, map.width)))


class Peeking(maps.Additive):
    """The planted fault: bins between the quantiles of the table that it was given."""

    def features(self, inputs: Any) -> Any:
        given = np.array(inputs, np.float64)
        given[:, 0] = 2 * np.argsort(np.argsort(given[:, 0])) / len(given) - 1
        return super().features(given)


def test_a_map_whose_bins_come_of_the_data_is_caught() -> None:
    maps.check_map(FULL, ROWS)
    with pytest.raises(AssumptionViolated, match="records beside it"):
        maps.check_map(Peeking(COLUMNS), np.delete(ROWS, 2, axis=1))


def test_a_schema_fills_columns_and_gaps_in() -> None:
    schema = Schema.from_dict(
        {
            "label": {"column": "y", "classes": ["no", "yes"]},
            "columns": {
                "group": {"categories": ["a", "b"]},
                "age": {"bounds": [0, 100], "missing": "column"},
                "pay": {"bounds": [0, 10]},
            },
            "map": {"kind": "additive", "levels": 2, "amounts": [2]},
        }
    )
    assert isinstance(schema.map, maps.Additive)
    assert (schema.map.columns, schema.map.gaps) == ((3, 0, 0), (1,))
    table = Table("here", {"group": ["b", "z"], "age": ["", "90"], "pay": ["0", "9"], "y": ["no", "yes"]}, [1, 2])
    rows = schema.encode(table).rows.astype(float)
    expected, each = np.zeros((2, 17)), math.sqrt(0.5)
    expected[0, [1, 9, 16]] = 1.0  # b, no age, no pay, the constant
    expected[1, [2, 16]], expected[1, [4, 8, 11, 15]] = 1.0, each
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(rows, expected, atol=2e-7)


def test_an_additive_model_is_learned_and_deleted_from_sparse_rows() -> None:
    numbers = RNG.uniform(-1, 1, (4000, 2))
    names = np.where(np.abs(numbers[:, 0]) > 0.5, "far", "near")
    columns = NoisyGDClassifier(
        feature_bounds=(-1, 1), method="objective-perturbation", budget=Budget(order=10, dp=1.0, deletion=0.1)
    )
    model = make_mapped_pipeline(
        maps.Additive((0, 0)), NoisyGDClassifier(method="objective-perturbation", budget=columns.budget)
    )
    model.fit(numbers, names)
    assert model[-1]._curator.records.sparse is not None
    assert model[-1].plan_.problem.feature_map == maps.Additive((0, 0)).digest
    release = model.delete([7, 8])
    assert release.status == "published"
    assert model.score(numbers, names) > 0.9  # a curve that no line has
    assert columns.fit(numbers, names).score(numbers, names) < 0.7


def test_a_boolean_has_two_entries_and_what_is_neither_has_none() -> None:
    """Planted: as a number it would have 254, and what is neither would lie among the yes."""
    schema = Schema.from_dict(
        {
            "label": {"column": "y", "classes": ["no", "yes"]},
            "columns": {
                "age": {"bounds": [0, 100], "missing": "column"},
                "owner": {"boolean": ["n", "y"], "unknown": "zero"},
                "member": {"boolean": ["n", "y"], "unknown": "column"},
            },
            "map": {"kind": "additive", "levels": 1},
        }
    )
    assert isinstance(schema.map, maps.Additive)
    assert (schema.map.columns, schema.map.gaps, schema.map.signs) == ((0, 0, 0, 0), (0,), (1, 2, 3))
    table = Table("here", {"age": ["1", ""], "owner": ["y", ""], "member": ["", "n"], "y": ["no", "yes"]}, [1, 2])
    rows = schema.encode(table).rows > 0
    assert rows.astype(int).tolist() == [[1, 0, 0, 0, 1, 0, 0, 0, 1, 1], [0, 0, 1, 0, 0, 1, 0, 0, 0, 1]]
    assert Schema.from_dict(schema.to_dict()).map == schema.map
    former = {name: value for name, value in schema.map.to_dict().items() if name != "signs"}
    read = Schema.from_dict({**schema.to_dict(), "map": former}).map  # of a store made before there were signs
    assert isinstance(read, maps.Additive)
    assert read.signs == ()
    assert "signs" not in read.to_dict()


@pytest.mark.parametrize("levels", [4, 7])
def test_the_guessed_norm_is_that_of_a_straight_line_from_end_to_end(levels: int) -> None:
    """By least squares, among three columns: the line's part of a row is a half of its norm."""
    line = np.linspace(-1, 1, 1000)
    made = maps.Additive(columns=(0, 0, 0), levels=levels)
    features = made.features(np.stack([line, 0 * line, 0 * line], axis=1)) / 2
    least = np.linalg.lstsq(np.column_stack([features, np.full(1000, 1e3)]), line, rcond=None)[0]
    assert np.linalg.norm(least[:-1]) == pytest.approx(made.target_norm, rel=0.1)
