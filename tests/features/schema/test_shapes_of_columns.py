"""Panels of `explain` against predictions: for every kind of column, on generated tables, what a panel adds is what the row's score has."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from noisygd_delete.features.maps import Shapes
from noisygd_delete.features.maps.shape import Shape
from noisygd_delete.features.schema import Schema, Table
from noisygd_delete.features.schema import shapes as named
from noisygd_delete.features.schema.published import bucket_of, phase, read_moment
from tests.cli.planned import main

KINDS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "age": ({"bounds": [35, 69]}, ["35", "36", "52.5", "69", "80"]),
    "income": ({"bounds": [0, 1000], "transform": "log1p"}, ["0", "3", "1000"]),
    "balance": ({"bounds": [-5000, 10000], "transform": "signed-log"}, ["-4000", "-1", "0", "2", "9000"]),
    "weight": ({"bounds": [40, 120], "missing": "column"}, ["40", "77", ""]),
    "height": ({"bounds": [1, 2], "missing": 1.5}, ["1.1", "1.9", ""]),
    "gain": ({"bounds": [0, 50]}, ["0", "0", "10", "50"]),
    "smoker": ({"boolean": ["no", "yes"]}, ["no", "yes", ""]),
    "sex": ({"boolean": ["f", "m"], "unknown": "column"}, ["f", "m", "d", ""]),
    "flag": ({"boolean": ["yes", "no"], "unknown": "refuse"}, ["yes", "no"]),
    "town": ({"categories": ["a", "b"]}, ["a", "b", "c", ""]),
    "grade": ({"categories": ["1", "2", "3"], "unknown": "zero"}, ["1", "3", "9"]),
    "side": ({"categories": ["right", "left"], "unknown": "refuse"}, ["left", "right"]),
    "drug": ({"hashed": 7}, ["aspirin", "ibuprofen", ""]),
    "since": ({"dates": ["2013-01-01", "2014-12-31"]}, ["2013-01-01", "2014-02-03"]),
    "seen": (
        {"dates": ["2013-01-01", "2014-12-31"], "cycles": ["week", "year"], "missing": "column"},
        ["2013-06-07", "2014-11-30", ""],
    ),
    "hour": ({"times": ["08:00", "18:30"], "cycles": ["day"]}, ["08:00", "12:15", "18:29"]),
}


def schema_of(chosen: list[str], **changes: Any) -> Schema:
    columns = {name: KINDS[name][0] for name in chosen}
    amounts = [at for at, name in enumerate(chosen) if name == "gain"] if chosen[0] == "gain" else []
    fields = {"label": {"column": "y", "classes": ["n", "p"]}, "columns": columns}
    return Schema.from_dict({**fields, "map": {"kind": "additive", "levels": 4, "amounts": amounts}, **changes})


def generated(chosen: list[str], seed: int, rows: int = 60) -> Table:
    chance = np.random.default_rng(seed)
    cells = {name: [str(chance.choice(KINDS[name][1])) for _ in range(rows)] for name in chosen}
    return Table("generated", {**cells, "y": ["n"] * rows}, range(1, rows + 1))


def read_panel(panel: Shape, cell: str) -> float:
    """What a person reads off a panel for a cell: by its label, or by the bin that it lies in."""
    if panel.labels:
        label = f"bucket {bucket_of(cell, len(panel.labels))}" if panel.labels[0] == "bucket 0" else cell
        if label in panel.labels:
            return panel.values[panel.labels.index(label)]
        return panel.values[-1] if panel.labels[-1] == "other" else panel.missing
    if cell == "" and panel.missing is not None:
        return panel.missing
    value = (
        1.5
        if cell == ""
        else float(cell)
        if panel.scale == "number"
        else read_moment(cell, clock=panel.scale == "time")
    )
    if panel.lowest is not None and value <= panel.edges[0]:
        return panel.lowest
    return panel.values[min(max(np.searchsorted(panel.edges, value, "right") - 1, 0), len(panel.values) - 1)]


def read_cycle(panel: Shape, cell: str, *, clock: bool) -> float:
    part, cycle = panel.name.split(": ")[1].split(" of ")
    turn = 2 * math.pi * float(phase(np.array([read_moment(cell, clock=clock)]), cycle)[0])
    at = (math.cos if part == "cosine" else math.sin)(turn)
    return panel.values[min(int((at + 1) / 2 * len(panel.values)), len(panel.values) - 1)]


def differences(schema: Schema, table: Table, weights: np.ndarray) -> np.ndarray:
    """By row: the score, less what the panels add up to, by the divisor that the row's number of entries gives."""
    rows = schema.encode(table, labelled=False).rows.astype(np.float64)
    shapes = named.named_shapes(schema, weights, noise=0.0)
    panels, every = {shape.name: shape for shape in shapes.shapes}, []
    for row in range(len(table)):
        total = shapes.constant
        for name in schema.columns:
            cell = table.column(name, "")[row]
            total += read_panel(panels[name], cell)
            cycles = [panel for called, panel in panels.items() if called.startswith(f"{name}: ")]
            if cell:
                total += sum(read_cycle(panel, cell, clock=name == "hour") for panel in cycles)
        entries = sum(bool(np.any(rows[row, block.start : block.stop])) for block in schema.map.blocks)
        usual = len(schema.map.blocks) - sum(name == "sex" for name in schema.columns)
        every.append(rows[row] @ weights * math.sqrt((1 + entries) / (1 + usual)) - total)
    return np.array(every)


CHOSEN = [*([name] for name in KINDS), list(KINDS), ["gain", "smoker", "grade"], ["sex", "seen", "weight", "flag"]]


@pytest.mark.parametrize("chosen", CHOSEN, ids="-".join)
def test_panels_add_up_to_the_score(chosen: list[str]) -> None:
    schema = schema_of(chosen)
    weights = np.random.default_rng(len(chosen)).standard_normal(schema.features)
    assert np.abs(differences(schema, generated(chosen, 1), weights)).max() < 1e-5


@pytest.mark.parametrize("fault", ["labels turned", "the middle for an empty cell", "the map's scale"])
def test_planted_panels_that_say_otherwise_are_seen(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    right, chosen = named.read_axes, ["sex", "smoker", "seen", "age"]

    def wrong(*given: Any) -> Any:
        axes = right(*given)
        if fault == "labels turned":
            return [replace(axis, labels=axis.labels[::-1]) if axis.inputs else axis for axis in axes]
        if fault == "the middle for an empty cell":
            return [replace(axis, group=()) for axis in axes]
        return [replace(axis, raw=None) if axis.name == "age" else axis for axis in axes]

    schema = schema_of(chosen)
    weights = np.random.default_rng(0).standard_normal(schema.features)
    monkeypatch.setattr(named, "read_axes", wrong)
    assert np.abs(differences(schema, generated(chosen, 1), weights)).max() > 0.01


def test_panels_range_over_what_the_schema_allows() -> None:
    schema = schema_of(list(KINDS))
    shapes = named.named_shapes(schema, np.ones(schema.features), noise=0.0)
    panels = {shape.name: shape for shape in shapes.shapes}
    assert {name for name in panels if ": " not in name} == set(KINDS)
    assert not any("missing" in name or "other" in name for name in panels)
    ends = {name: (panel.edges[0], panel.edges[-1]) for name, panel in panels.items() if panel.edges}
    for name in ("age", "income", "balance", "weight"):
        assert ends[name] == pytest.approx(tuple(KINDS[name][0]["bounds"]))
    assert ends["hour"] == (8 * 3600, 18.5 * 3600)
    assert ends["since"] == tuple(read_moment(text) for text in KINDS["since"][0]["dates"])
    assert panels["smoker"].labels == ("no", "yes")
    assert panels["sex"].labels == ("f", "m", "other")
    assert Shapes.from_dict(json.loads(json.dumps(shapes.to_dict()))) == shapes


@pytest.mark.parametrize(
    "changes", [{"intercept": False}, {"rows": "clip", "radius": 0.5}, {"rows": "clip", "radius": 9.0}]
)
def test_panels_of_rows_of_another_norm_add_up(changes: dict[str, Any]) -> None:
    chosen = ["age", "side", "flag"]
    schema, table = schema_of(chosen, **changes), generated(chosen, 2)
    weights = np.random.default_rng(3).standard_normal(schema.features)
    shapes = named.named_shapes(schema, weights, noise=0.0)
    panels = {shape.name: shape for shape in shapes.shapes}
    scores = schema.encode(table, labelled=False).rows.astype(np.float64) @ weights
    read = [sum(read_panel(panels[name], table.column(name, "")[row]) for name in chosen) for row in range(len(table))]
    np.testing.assert_allclose(scores, shapes.constant + np.array(read), atol=1e-5)


@pytest.mark.parametrize("pair", [(0, 1), (2, 0), (1, 2)])
def test_pairs_show_only_parts_that_data_can_be_in(pair: tuple[int, int]) -> None:
    chosen = ["smoker", "age", "side"]
    schema = schema_of(chosen)
    schema = Schema.from_dict({**schema.to_dict(), "map": {"kind": "additive", "levels": 3, "pairs": [list(pair)]}})
    weights = np.random.default_rng(5).standard_normal(schema.features)
    table = Table(
        "t",
        {"smoker": ["no", "yes"] * 4, "age": ["36", "66"] * 4, "side": ["left", "left", "right", "right"] * 2},
        range(1, 9),
    )
    shapes = named.named_shapes(schema, weights, noise=0.0)
    panels = {shape.name: shape for shape in shapes.shapes}
    both = panels[" × ".join(chosen[place] for place in pair)]
    scores = schema.encode(table, labelled=False).rows.astype(np.float64) @ weights
    for row, score in enumerate(scores):
        cells = {name: table.column(name, "")[row] for name in chosen}
        sides = [(both.labels, both.edges), (both.second.labels, both.second.edges)]
        parts = [
            labels.index(cells[chosen[place]])
            if labels
            else min(np.searchsorted(edges, float(cells["age"]), "right") - 1, len(edges) - 2)
            for place, (labels, edges) in zip(pair, sides, strict=True)
        ]
        total = shapes.constant + both.values[parts[0] * both.second.parts + parts[1]]
        assert total + sum(read_panel(panels[name], cells[name]) for name in chosen) == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("first", ["yes", "no"])
def test_explain_says_what_predict_says_of_a_two_valued_column(
    tmp_path: Any, capsys: Any, monkeypatch: Any, first: str
) -> None:
    """Nine in ten of those who smoke are ill: the panel adds for the value for which the predictions are higher."""
    monkeypatch.chdir(tmp_path)
    chance = np.random.default_rng(4)
    with open("t.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["id", "smoker", "age", "ill"])
        for k in range(600):
            smokes = bool(chance.random() < 0.5) if k else first == "yes"
            ill = chance.random() < (0.9 if smokes else 0.1)
            out.writerow([f"p{k}", "yes" if smokes else "no", chance.integers(35, 70), "yes" if ill else "no"])
    quick = [
        "--method",
        "objective-perturbation",
        "--regularization",
        "0.003",
        "--dp",
        "20",
        "--no-total",
        "--no-utility",
    ]
    assert main(["quickstart", "t.csv", "--label", "ill", "--id", "id", "--yes", "--map", "additive", *quick]) == 0
    assert main(["explain", "t/store", "--out", "t.json"]) == 0
    assert main(["explain", "t/store", "--out", "t.html"]) == 0
    with open("t.json") as file:
        shapes = {shape["name"]: shape for shape in json.load(file)["shapes"]}
    adds = dict(zip(shapes["smoker"]["labels"], shapes["smoker"]["values"], strict=True))
    assert set(adds) == {"no", "yes"}
    assert adds["yes"] > 0.5 > -0.5 > adds["no"]
    with open("t.html") as file:
        panel = next(part for part in file.read().split("<svg")[1:] if 'aria-label="smoker"' in part)
    marks = [float(text.replace("−", "-")) for text in re.findall(r">([+−]?\d+\.\d)</text>", panel)]
    assert marks[-3:] == [-marks[-1], 0.0, marks[-1]]
    capsys.readouterr()
