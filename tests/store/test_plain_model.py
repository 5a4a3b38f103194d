"""A model as plain numbers predicts what this package predicts, from the same raw columns."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Model, Schema, losses
from noisygd_delete.errors import InvalidParameter, InvalidSchema
from noisygd_delete.features.schema import published as reader
from noisygd_delete.features.schema.files import Table
from noisygd_delete.losses.staged import HEAD, NETWORK, StagedLoss
from noisygd_delete.store import plain_model as plain_models
from noisygd_delete.store.artifact import Artifact, plain_model

LABELS = {
    "two": {"column": "y", "classes": ["no", "yes"]},
    "three": {"column": "y", "classes": ["low", "middle", "high"]},
    "target": {"column": "y", "bounds": [-5, 20]},
}
NUMBERS = {
    "plain": {"bounds": [0, 10]},
    "curved": {"bounds": [0, 1000], "transform": "log1p", "missing": 3.0},
    "wide": {"bounds": [-1e6, 1e4], "transform": "signed-log", "missing": "column"},
    "gap": {"bounds": [-1, 1], "missing": "column"},
}
LISTS = {
    "kind": {"categories": ["a", "b", "c c"]},
    "known": {"categories": ["x", "ß"], "unknown": "zero"},
    "sure": {"categories": ["x", "z"], "unknown": "refuse"},
    "either": {"boolean": ["no", "yes"]},
    "other": {"boolean": ["0", "1"], "unknown": "column"},
}
TIMES = {  # and what else no graph is made of
    "city": {"hashed": 7},
    "day": {"dates": ["2013-01-01", "2014-12-31"], "cycles": ["week", "year"], "missing": "column"},
    "form": {"dates": ["2013-01-01", "2013-12-31"], "format": "%d.%m.%Y"},
    "clock": {"times": ["06:00", "22:00"], "cycles": ["day"]},
    "euro": {"bounds": [0, 5000], "decimal": ",", "thousands": "."},
}


def schema(label: str, *columns: dict, **top) -> Schema:
    joined = {name: field for part in columns for name, field in part.items()}
    return Schema.from_dict({"label": LABELS[label], "columns": joined, **top})


def cells(rows: int, seed: int = 5) -> dict[str, list[str]]:
    """Cells of every column, those beyond bounds and empty ones among them."""
    chance = random.Random(seed)
    return {
        "plain": [f"{chance.uniform(-2, 12):.3f}" for _ in range(rows)],
        "curved": [chance.choice(["", f"{chance.uniform(0, 1200):.2f}"]) for _ in range(rows)],
        "wide": [
            chance.choice(["", "0", f"{chance.choice([-1, 1]) * 10 ** chance.uniform(-3, 7):.4f}"]) for _ in range(rows)
        ],
        "gap": [chance.choice(["", f"{chance.uniform(-2, 2):.4f}"]) for _ in range(rows)],
        "kind": [chance.choice(["a", "b", "c c", "d", ""]) for _ in range(rows)],
        "known": [chance.choice(["x", "ß", "q"]) for _ in range(rows)],
        "sure": [chance.choice(["x", "z"]) for _ in range(rows)],
        "either": [chance.choice(["no", "yes", ""]) for _ in range(rows)],
        "other": [chance.choice(["0", "1", ""]) for _ in range(rows)],
        "city": [chance.choice(["Faro", "Lagos", "", "8000", "8000.00", "ß"]) for _ in range(rows)],
        "day": [chance.choice(["", "2013-02-28", "2014-12-31T23:59:59", "2012-02-29 10:00"]) for _ in range(rows)],
        "form": [chance.choice(["28.02.2013", "01.01.2020"]) for _ in range(rows)],
        "clock": [chance.choice(["6:00", "23:59:59", "12:30"]) for _ in range(rows)],
        "euro": [chance.choice(["1.234,5", "12", "0,5", "9.999,99"]) for _ in range(rows)],
    }


def losses_of(label: str) -> list[losses.Loss]:
    if label == "target":
        return [losses.PseudoHuber(1.0), losses.Linear(1.0)]
    if label == "three":
        return [losses.Softmax(1.0, 3), losses.OneVsRest(1.0, 3), losses.MultilayerPerceptron(1.0, classes=3, hidden=4)]
    two = [losses.Logistic(1.0), losses.Sigmoid(1.0), losses.TanhNetwork(1.0, (1.0, -0.5, 0.25))]
    perceptron = losses.MultilayerPerceptron(1.0, classes=2, hidden=5)
    weighted, clipped = (
        losses.with_class_weights(losses.Logistic(1.0), (1.0, 0.5)),
        losses.clip_loss(losses.Logistic(1.0), 0.4),
    )
    return [*two, perceptron, weighted, clipped, StagedLoss(1.0, perceptron, (NETWORK, NETWORK))]


def model(loss: losses.Loss, features: int) -> Model:
    weights = np.random.default_rng(3).normal(size=loss.shape(features))
    return Model(
        weights=weights[0] if loss.outputs == 1 and weights.shape[0] == 1 else weights, loss=loss, certified=True
    )


def artefact(made: Model, of: Schema) -> Artifact:
    return Artifact(1, "0" * 64, b"", made, of)


def expected(made: Model, of: Schema, given: dict[str, list[str]]) -> tuple[np.ndarray, list]:
    rows = of.encode(Table("test", given, range(1, 1 + len(given["plain"]))), labelled=False).rows
    return rows, of.decode(made.predict(rows))


CASES = [(label, loss) for label in LABELS for loss in losses_of(label)]
IDS = [f"{label}-{loss.name}" for label, loss in CASES]


def assert_plain_predicts_the_same(made: Model, of: Schema, folder: Path) -> None:
    """What model.py makes of model.json: rows, labels and probabilities."""
    given = cells(200)
    given["plain"][:20] = ["0"] * 20  # amounts of nothing
    (folder / "model.json").write_bytes(artefact(made, of).file("model.json"))
    rows, labels = expected(made, of, given)
    plain = reader.load(str(folder / "model.json"))
    assert np.abs(plain.rows(given) - rows).max() < 1e-6
    found = plain.predict(given)
    if of.classes is None:
        np.testing.assert_allclose(found, labels, atol=1e-5)
    else:
        assert found == labels
        assert len(set(found)) > 1
    if plain.odds:
        np.testing.assert_allclose(plain.probabilities(given), made.probabilities(rows), atol=1e-6)


@pytest.mark.parametrize(("label", "loss"), CASES, ids=IDS)
def test_plain_numbers_predict_the_same(label: str, loss: losses.Loss, tmp_path: Path) -> None:
    of = schema(label, NUMBERS, LISTS, TIMES)
    assert_plain_predicts_the_same(model(loss, of.features), of, tmp_path)


ADDITIVE = {"kind": "additive", "levels": 4, "amounts": [0], "logarithmic": [1]}


@pytest.mark.parametrize("map", [{"kind": "additive"}, ADDITIVE], ids=["usual", "amounts"])
@pytest.mark.parametrize("label", list(LABELS))
def test_an_additive_model_is_plain_numbers(label: str, map: dict, tmp_path: Path) -> None:
    """Bins of a map are published with the model. Planted: a level too few would give rows of another width."""
    of = schema(label, NUMBERS, LISTS, map=map)
    assert_plain_predicts_the_same(model(losses_of(label)[0], of.features), of, tmp_path)


ALONE = """
import importlib.abc, json, sys

class Nothing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("noisygd_delete", "scipy", "sklearn", "torch", "pandas"):
            raise ImportError(name)

sys.meta_path.insert(0, Nothing())
sys.path.insert(0, sys.argv[1])
from model import load
table = json.load(open(sys.argv[2]))
print(json.dumps(load(sys.argv[1] + "/model.json").predict(table)))
"""


def test_what_is_published_needs_numpy_alone(tmp_path: Path) -> None:
    """Another process, in which this package cannot be imported."""
    of = schema("two", NUMBERS, LISTS, TIMES)
    made, given = model(losses.Logistic(1.0), of.features), cells(50)
    for name, data in artefact(made, of).files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "table.json").write_text(json.dumps(given))
    command = [sys.executable, "-I", "-c", ALONE, str(tmp_path), str(tmp_path / "table.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert json.loads(done.stdout) == expected(made, of, given)[1]


@pytest.mark.parametrize(
    ("column", "cell"),
    [("plain", ""), ("plain", "x"), ("sure", "y"), ("form", "2013-01-01"), ("clock", "25:00"), ("euro", "1.23,4")],
)
def test_what_the_schema_refuses_is_refused_without_it(column: str, cell: str, tmp_path: Path) -> None:
    of = schema("two", NUMBERS, LISTS, TIMES)
    made, given = model(losses.Logistic(1.0), of.features), cells(4)
    (tmp_path / "model.json").write_bytes(artefact(made, of).files["model.json"])
    given[column][2] = cell
    with pytest.raises(InvalidSchema):
        expected(made, of, given)
    with pytest.raises(ValueError, match=column):
        reader.load(str(tmp_path / "model.json")).predict(given)


def test_what_is_more_than_plain_numbers_is_said(tmp_path: Path) -> None:
    head = StagedLoss(1.0, losses.MultilayerPerceptron(1.0, classes=2, hidden=5), (NETWORK, HEAD))
    of, logistic = schema("two", NUMBERS), losses.Logistic(1.0)
    mapped = schema("two", NUMBERS, map={"kind": "bins", "buckets": 16})
    texts = schema("two", {"review": {"text": "words", "buckets": 64}})
    for made, said in (
        ((model(head, of.features), of), "head over a network"),
        ((model(logistic, mapped.features), mapped), "public map 'bins'"),
        ((model(logistic, texts.features), texts), "free text"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            plain_model(*made)
        files = artefact(*made).files
        assert set(files) == {"model.safetensors", "schema.json", "facts.json"}
        assert all(said in reason for reason in json.loads(files["facts.json"])["missing"].values())


@pytest.mark.parametrize("more", [0, 1])
def test_more_numbers_than_a_file_of_text_may_have_are_refused(monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    of = schema("two", {"plain": NUMBERS["plain"], "gap": NUMBERS["gap"]})
    told = model(losses.Logistic(1.0), of.features)
    monkeypatch.setattr(plain_models, "MOST_COEFFICIENTS", told.weights.size - more)
    if not more:
        assert plain_model(told, of).layers[0].size == told.weights.size
        return
    with pytest.raises(InvalidParameter, match="too many"):
        plain_model(told, of)
