"""A model as an ONNX graph predicts what this package predicts, from the same raw columns."""

from __future__ import annotations

import json

import numpy as np
import pytest

from noisygd_delete import Model, Schema, losses
from noisygd_delete.store.artifact import FILES
from tests.store.test_plain_model import (
    ADDITIVE,
    CASES,
    IDS,
    LABELS,
    LISTS,
    NUMBERS,
    TIMES,
    artefact,
    cells,
    expected,
    losses_of,
    model,
    schema,
)

CLIP = {"rows": "clip", "radius": 0.7, "intercept": False}
TOPS = pytest.mark.parametrize("top", [{}, CLIP], ids=["unit", "clip"])


def outputs(made: Model, of: Schema, given: dict[str, list[str]]) -> dict[str, np.ndarray]:
    """What the graph gives for the columns as it takes them."""
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    numbers = {name: np.array([[float(cell or "nan")] for cell in given[name]]) for name in NUMBERS}
    texts = {name: np.array([[cell] for cell in given[name]], object) for name in LISTS}
    session = onnxruntime.InferenceSession(artefact(made, of).files["model.onnx"], providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, numbers | texts), strict=True))


def assert_graph_predicts_the_same(made: Model, of: Schema) -> None:
    given = cells(200)
    given["plain"][:20] = ["0"] * 20  # amounts of nothing
    rows, labels = expected(made, of, given)
    out = outputs(made, of, given)
    hidden = isinstance(made.loss, losses.TanhNetwork)
    scores = np.tanh(rows @ made.weights.T) @ made.loss.outer_weights if hidden else np.asarray(made.scores(rows))
    np.testing.assert_allclose(out["scores"], scores.reshape(out["scores"].shape), atol=1e-6)
    if of.classes is None:
        np.testing.assert_allclose(out["label"], labels, atol=1e-5)
    else:
        assert out["label"].tolist() == labels
        assert len(set(labels)) > 1
    if "probabilities" in out:
        np.testing.assert_allclose(out["probabilities"], made.probabilities(rows), atol=1e-6)
    assert ("probabilities" in out) == (of.classes is not None and not hidden)


@pytest.mark.parametrize(("label", "loss"), CASES, ids=IDS)
@TOPS
def test_a_graph_predicts_the_same(label: str, loss: losses.Loss, top: dict) -> None:
    of = schema(label, NUMBERS, LISTS, **top)
    assert_graph_predicts_the_same(model(loss, of.features), of)


@TOPS
@pytest.mark.parametrize("map", [{"kind": "additive"}, ADDITIVE], ids=["usual", "amounts"])
@pytest.mark.parametrize("label", list(LABELS))
def test_a_graph_makes_the_bins_of_an_additive_map(label: str, map: dict, top: dict) -> None:
    of = schema(label, NUMBERS, LISTS, map=map, **top)
    assert_graph_predicts_the_same(model(losses_of(label)[0], of.features), of)


@pytest.mark.parametrize("top", [{}, {"map": {"kind": "additive"}}], ids=["columns", "additive"])
def test_a_row_that_the_schema_refuses_gets_no_label(top: dict) -> None:
    of = schema("two", NUMBERS, LISTS, **top)
    made, given = model(losses.Logistic(1.0), of.features), cells(3)
    given["sure"][0], given["plain"][1] = "neither", ""
    out = outputs(made, of, given)
    assert out["label"].tolist()[:2] == ["", ""]
    assert out["label"][2] in ("no", "yes")
    assert np.isnan(out["scores"][:2]).all()
    assert np.isfinite(out["scores"][2])


@pytest.mark.parametrize("said", ["dates or times", "hashed"])
def test_dates_and_hashes_are_plain_and_no_graph(said: str) -> None:
    columns = {name: kind for name, kind in TIMES.items() if ("hashed" in kind) == (said == "hashed")}
    of = schema("two", NUMBERS, columns)
    files = artefact(model(losses.Logistic(1.0), of.features), of).files
    assert "model.onnx" not in files
    assert set(files) | {"model.onnx"} == set(FILES)
    assert said in json.loads(files["facts.json"])["missing"]["model.onnx"]
