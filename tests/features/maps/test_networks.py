"""Frozen networks as maps: ONNX files, sentence embeddings."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import maps
from noisygd_delete.errors import InvalidParameter

INPUTS = np.random.default_rng(2).normal(size=(12, 4))


def written(path: Path, weights: np.ndarray) -> Path:
    """An ONNX file: inputs @ weights, then tanh."""
    onnx = pytest.importorskip("onnx", reason="writes the file that the test reads")
    pytest.importorskip("onnxruntime", reason="runs it")
    helper, number = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["s"]), helper.make_node("Tanh", ["s"], ["y"])],
        "net",
        [helper.make_tensor_value_info("x", number, ["n", weights.shape[0]])],
        [helper.make_tensor_value_info("y", number, ["n", weights.shape[1]])],
        [onnx.numpy_helper.from_array(weights.astype(np.float32), "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path.write_bytes(model.SerializeToString())
    return path


def test_an_onnx_file_is_a_map_named_by_its_bytes(tmp_path: Path) -> None:
    weights = np.random.default_rng(3).normal(size=(4, 6))
    file = written(tmp_path / "net.onnx", weights)
    map = maps.OnnxFile(str(file), (4,))
    maps.check_map(map, INPUTS)
    np.testing.assert_allclose(map.features(INPUTS), np.tanh(INPUTS @ weights), atol=1e-6)
    assert pickle.loads(pickle.dumps(map)) == map
    moved = written(tmp_path / "elsewhere.onnx", weights)
    assert maps.OnnxFile(str(moved), (4,)).digest == map.digest
    assert maps.from_dict({**map.to_dict(), "file": "elsewhere.onnx"}, folder=tmp_path).digest == map.digest
    written(file, weights + 1e-3)
    with pytest.raises(InvalidParameter, match="its SHA-256 is another"):
        maps.from_dict(map.to_dict()).rows(INPUTS)
    assert maps.OnnxFile(str(file), (4,)).digest != map.digest
    with pytest.raises(InvalidParameter, match="does not run on one record"):
        maps.OnnxFile(str(file), (5,)).rows(np.zeros((1, 5)))
    (tmp_path / "junk").write_bytes(b"junk")
    with pytest.raises(InvalidParameter, match="cannot read it"):
        maps.OnnxFile(str(tmp_path / "junk"), (5,)).rows(np.zeros((1, 5)))


def test_the_sentence_embedding_that_a_package_ships(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers", reason="cuts texts into tokens")
    pytest.importorskip("wordllama", reason="carries the vectors")
    map = maps.SentenceEmbedding.shipped()
    texts = ["The cat sat on the mat", "A kitten rests on a rug", "Quarterly profits fell", ""]
    maps.check_map(map, texts)
    features = map.features(texts)
    assert features.shape == (4, 256)
    assert not features[3].any()
    units = features[:3] / np.linalg.norm(features[:3], axis=1, keepdims=True)
    assert units[0] @ units[1] > units[0] @ units[2] + 0.2
    junk = tmp_path / "junk"
    junk.write_bytes(b"junk")
    with pytest.raises(InvalidParameter, match="not one table"):
        maps.SentenceEmbedding(str(junk), str(junk)).features(texts)
    with pytest.raises(InvalidParameter, match="its SHA-256 is another"):
        maps.SentenceEmbedding(map.vectors, str(junk), map.sha256).features(texts)
