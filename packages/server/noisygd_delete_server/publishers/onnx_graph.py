"""A plain model as an ONNX graph: raw columns in, labels out, with the schema's normalisation inside.

Each column is an input of shape (rows, 1): a double for a number (NaN: empty), a text for a listed value, as `str`
writes it ("": empty), with or without surrounding space. Outputs: `label` (texts, or doubles of a target), `scores`,
and `probabilities` of a classifier. A row that the schema would refuse (an empty cell without a meaning, an unlisted
value) has label "" and NaN scores.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from noisygd_delete.errors import InvalidParameter, MissingDependency
from noisygd_delete.features.maps import Additive
from noisygd_delete.features.maps.base import HEADROOM
from noisygd_delete.features.schema.columns import Kind, Numeric
from noisygd_delete.features.schema.hashed import Hashed
from noisygd_delete.features.schema.listed import Boolean, Category
from noisygd_delete.features.schema.moments import Moment
from noisygd_delete.features.schema.spelling import make_spelling_patterns
from noisygd_delete.store.plain_model import PlainModel

_OPSET, _ML_OPSET, _IR = 20, 3, 9  # supported by current runtimes
# first bytes of such a file: the version of the format, and the producer
BEGINS = bytes((8, _IR, 18, 14)) + b"noisygd-delete"
_SPACE = "[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*"  # as `str.strip` defines it


def onnx_bytes(plain: PlainModel) -> bytes:
    """Return the graph as a file.

    Raises:
        InvalidParameter: If ONNX cannot express a column of the schema.
        MissingDependency: If the library `onnx` is not installed.
    """
    for name, kind in plain.schema.columns.items():
        if isinstance(kind, Moment):
            raise InvalidParameter(f"column {name!r} holds dates or times, which ONNX cannot read; model.json can")
        if isinstance(kind, Hashed):
            raise InvalidParameter(f"column {name!r} is hashed, which ONNX cannot do; model.json can")
    if not plain.schema.columns:
        raise InvalidParameter("the schema reads no column, so there is nothing that a graph could be given")
    try:
        import onnx
    except ImportError as error:
        raise MissingDependency(
            "an ONNX file is written by the library onnx: pip install 'noisygd-delete-server[onnx]'"
        ) from error
    return bytes(_Graph(onnx).made(plain).SerializeToString())


class _Graph:
    """Nodes in the order of computation. A value is referred to by name."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def made(self, plain: PlainModel) -> Any:
        helper, double, text = self._onnx.helper, self._onnx.TensorProto.DOUBLE, self._onnx.TensorProto.STRING
        schema = plain.schema
        inputs = [
            helper.make_tensor_value_info(name, double if isinstance(kind, Numeric) else text, ["rows", 1])
            for name, kind in schema.columns.items()
        ]
        parts = [self._features(name, kind) for name, kind in schema.columns.items()]
        values = self._op("Concat", *parts, axis=1)
        if isinstance(schema.map, Additive):
            values = self._additive(values, schema.map)
        values = self._rows(values, plain)
        for layer in plain.layers[:-1]:
            values = self._op("Tanh", self._op("MatMul", values, layer.T))
        scores = self._op("MatMul", values, plain.layers[-1].T, output="scores")
        outputs = [self._label(plain, scores), helper.make_tensor_value_info("scores", double, ["rows", None])]
        if plain.odds:
            self._odds(plain, scores)
            outputs.append(helper.make_tensor_value_info("probabilities", double, ["rows", None]))
        graph = helper.make_graph(self._nodes, "noisygd-delete", inputs, outputs, self._constants)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR, producer_name="noisygd-delete")
        self._onnx.checker.check_model(model)
        return model

    def _op(self, kind: str, *inputs: Any, output: str | None = None, **attributes: Any) -> str:
        """Add a node. An input that is not the name of a value is a numeric constant."""
        given = [value if isinstance(value, str) else self._numbers(value) for value in inputs]
        name = output or f"noisygd-delete {len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, given, [name], **attributes))
        return name

    def _constant(self, kind: str, values: Any, shape: tuple[int, ...]) -> str:
        name = f"noisygd-delete constant {len(self._constants)}"
        code = getattr(self._onnx.TensorProto, kind)
        self._constants.append(self._onnx.helper.make_tensor(name, code, shape, values))
        return name

    def _numbers(self, values: Any) -> str:
        array = np.asarray(values, np.float64)
        return self._constant("DOUBLE", array.reshape(-1).tolist(), array.shape)

    def _wholes(self, values: list[int]) -> str:
        return self._constant("INT64", values, (len(values),))

    def _double(self, value: str) -> str:
        return self._op("Cast", value, to=self._onnx.TensorProto.DOUBLE)

    def _features(self, name: str, kind: Kind) -> str:
        """Return the columns that a cell becomes, shape (rows, width); NaN where the schema would refuse the cell."""
        if isinstance(kind, Numeric):
            return self._number(name, kind)
        assert isinstance(kind, (Category, Boolean))  # text, hashes and dates were refused before
        spelled = make_spelling_patterns(kind.values) or tuple(map(re.escape, kind.values))
        each = [self._op("RegexFullMatch", name, pattern=f"{_SPACE}(?:{one}){_SPACE}") for one in spelled]
        found = self._double(self._op("Concat", *each, axis=1))
        other = self._op("Equal", self._op("ReduceMax", found, self._wholes([1]), keepdims=1), [0.0])
        if isinstance(kind, Boolean):
            made = self._op("MatMul", found, [[-1.0], [1.0]])
            if kind.unknown == "zero":  # for an empty cell only
                there = self._op("Not", self._op("RegexFullMatch", name, pattern=_SPACE))
                return self._refused(made, self._op("And", other, there))
        else:
            made = found
        if kind.unknown == "column":
            return self._op("Concat", made, self._double(other), axis=1)
        return self._refused(made, other) if kind.unknown == "refuse" else made

    def _refused(self, values: str, where: str) -> str:
        return self._op("Add", values, self._op("Where", where, [np.nan], [0.0]))

    def _number(self, name: str, kind: Numeric) -> str:
        absent, (low, high) = self._op("IsNaN", name), kind.curved_bounds()
        stands_in = kind.lower if kind.missing is None or kind.indicator else kind.missing
        found = self._op("Where", absent, [stands_in], name)
        found = self._between(found, kind.lower, kind.upper)
        if kind.transform == "log1p":
            found = self._op("Log", self._op("Add", found, [1.0]))
        elif kind.transform == "signed-log":
            size = self._op("Div", self._op("Abs", found), [kind.least])
            found = self._op("Mul", self._op("Sign", found), self._op("Log", self._op("Add", size, [1.0])))
        found = self._op("Div", self._op("Sub", found, [low]), [(high - low) / 2])
        unit = self._between(self._op("Sub", found, [1.0]), -1.0, 1.0)
        if kind.indicator:
            return self._op("Concat", self._op("Where", absent, [0.0], unit), self._double(absent), axis=1)
        return self._op("Where", absent, [np.nan], unit) if kind.missing is None else unit

    def _additive(self, values: str, map: Additive) -> str:
        """Return the features of an additive map, shape (rows, width), one block per column.

        All are NaN for a row with a refused cell.
        """
        blocks, at = list[str](), 0
        for place, width in enumerate(map.columns):
            column = self._slice(values, at, width or 1)
            at += width or 1
            if width:
                blocks.append(column)
                continue
            if place in map.signs:
                blocks += [self._double(self._op(side, column, [0.0])) for side in ("Less", "Greater")]
                continue
            there = self._numbers([[1 / math.sqrt(map.levels)]])
            if place in map.amounts:
                there = self._op("Mul", there, self._double(self._op("Greater", column, [-1.0])))
            gap = list[str]()
            if place in map.gaps:
                gap, at = [self._slice(values, at, 1)], at + 1
                there = self._op("Mul", there, self._op("Sub", [1.0], gap[0]))
            blocks += [self._op("Mul", bins, there) for bins in self._bins(column, place, map)] + gap
        refused = self._op("IsNaN", self._op("ReduceSum", values, self._wholes([1]), keepdims=1))
        return self._refused(self._op("Concat", *blocks, axis=1), refused)

    def _bins(self, column: str, place: int, map: Additive) -> list[str]:
        """Return, for each level, shape (rows, 2^level): 1 in the bin of the number."""
        if place in map.logarithmic:
            size = self._op("Add", self._op("Div", self._op("Abs", column), [map.finest]), [1.0])
            scaled = self._op("Div", self._op("Log", size), [math.log1p(1 / map.finest)])
            column = self._op("Mul", self._op("Sign", column), scaled)
        unit = self._op("Div", self._op("Add", column, [1.0]), [2.0])
        unit = self._op("Where", self._op("IsNaN", unit), [0.0], self._between(unit, 0.0, 1.0))
        found = []
        for level in range(1, map.levels + 1):
            parts = 2**level
            part = self._op("Floor", self._op("Mul", unit, [float(parts)]))
            part = self._op("Min", part, [parts - 1.0])
            found.append(self._double(self._op("Equal", part, range(parts))))
        return found

    def _slice(self, values: str, first: int, width: int) -> str:
        return self._op("Slice", values, self._wholes([first]), self._wholes([first + width]), self._wholes([1]))

    def _between(self, value: str, lower: float, upper: float) -> str:
        return self._op("Min", self._op("Max", value, [lower]), [upper])

    def _rows(self, features: str, plain: PlainModel) -> str:
        """Return the rows, shape (rows, features), scaled to their norm and rounded to float32, as in the table."""
        schema = plain.schema
        if schema.intercept:
            ones = self._op("ReduceMax", self._op("Abs", features), self._wholes([1]), keepdims=1)
            ones = self._op("Add", self._op("Mul", ones, [0.0]), [1.0])
            features = self._op("Concat", features, ones, axis=1)
        squares = self._op("ReduceSum", self._op("Mul", features, features), self._wholes([1]), keepdims=1)
        factors = self._op("Div", [schema.radius * HEADROOM], self._op("Sqrt", squares))
        if schema.rows == "clip":
            factors = self._op("Min", factors, [1.0])
        else:
            zero = self._op("Equal", squares, [0.0])
            factors = self._op("Where", zero, [0.0], factors)
        rounded = self._op("Cast", self._op("Mul", features, factors), to=self._onnx.TensorProto.FLOAT)
        return self._double(rounded)

    def _label(self, plain: PlainModel, scores: str) -> Any:
        """Add the output `label`, shape (rows,)."""
        helper, label = self._onnx.helper, plain.schema.label
        if isinstance(label, Numeric):
            low, high = label.curved_bounds()
            part = self._op("Add", self._between(scores, -1.0, 1.0), [1.0])
            raw = self._op("Add", self._op("Mul", part, [(high - low) / 2]), [low])
            sound = self._op("Where", self._op("IsNaN", scores), scores, raw)
            self._op("Squeeze", sound, self._wholes([1]), output="label")
            return helper.make_tensor_value_info("label", self._onnx.TensorProto.DOUBLE, ["rows"])
        refused = self._op("IsNaN", self._op("ReduceSum", scores, self._wholes([1]), keepdims=0))
        if plain.label_kind == "class":
            places = self._op("ArgMax", scores, axis=1, keepdims=0)
        else:
            flat = self._op("Squeeze", scores, self._wholes([1]))
            positive = self._op("GreaterOrEqual", flat, [0.0])
            places = self._op("Cast", positive, to=self._onnx.TensorProto.INT64)
        names = [value.encode() for value in label.values]
        named = self._op("Gather", self._constant("STRING", names, (len(names),)), places)
        self._op("Where", refused, self._constant("STRING", [b""], (1,)), named, output="label")
        return helper.make_tensor_value_info("label", self._onnx.TensorProto.STRING, ["rows"])

    def _odds(self, plain: PlainModel, scores: str) -> None:
        """Add the output `probabilities`, shape (rows, classes)."""
        if plain.label_kind == "binary":
            scores = self._op("Concat", self._op("Mul", scores, [0.0]), scores, axis=1)
        self._op("Softmax", scores, axis=1, output="probabilities")
