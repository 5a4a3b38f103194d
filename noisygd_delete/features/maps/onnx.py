"""An ONNX file as a map: a frozen network without code of its own, run by onnxruntime."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...errors import InvalidParameter, InvalidRecords, MissingDependency, check_count
from ...records import limited_io
from .base import Floats, ImportedMap, by_blocks, check_inputs

LARGEST = 1 << 30  # bytes of a file


@dataclass(frozen=True)
class OnnxFile(ImportedMap):
    """The file's first output for its first input, one record a call. It must never have seen the private records.

    file         the ONNX file; weights inside it
    input_shape  of one record; the batch comes before it
    sha256       of the file; "" takes what the file has now. A file that has another is refused
    """

    file: str
    input_shape: tuple[int, ...]
    sha256: str = ""

    kind: ClassVar[str] = "onnx"
    files: ClassVar[tuple[str, ...]] = ("file",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "input_shape", tuple(check_count("input_shape", side) for side in self.input_shape))
        if not self.input_shape:
            raise InvalidParameter("the map 'onnx' needs input_shape, the shape of one record")
        if not self.sha256:
            object.__setattr__(self, "sha256", limited_io.file_digest(self.file))

    @property
    def content(self) -> bytes:
        """The file's bytes, which are those that the map is named by.

        Raises:
            InvalidParameter: the file is not there, or is another one.
        """
        data = limited_io.read_file(self.file, LARGEST)
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise InvalidParameter(
                f"{self.file}: not the file that the map names: its SHA-256 is another. Put that file back, or learn anew from the "
                "records under a schema with the new one"
            )
        return data

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxFile, (self.file, self.input_shape, self.sha256)

    @cached_property
    def _session(self) -> Any:
        try:
            import onnxruntime
        except ImportError as error:
            raise MissingDependency("an ONNX map needs onnxruntime: pip install 'onnxruntime>=1.18'") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # sums in one order
        options.log_severity_level = 3
        try:
            return onnxruntime.InferenceSession(self.content, options, providers=["CPUExecutionProvider"])
        except InvalidParameter:
            raise
        except Exception as error:  # onnxruntime's own errors share no class
            raise InvalidParameter(f"{self.file}: onnxruntime cannot read it ({str(error)[:200]})") from error

    def features(self, inputs: Any) -> Floats:
        return by_blocks(check_inputs(inputs, self.inputs), self.width, 1, self._run)

    def _run(self, rows: Floats) -> Floats:
        given = self._session.get_inputs()[0]
        try:
            (made, *_) = self._session.run(None, {given.name: rows.astype(np.float32).reshape(1, *self.input_shape)})
        except Exception as error:
            raise InvalidParameter(
                f"{self.file}: does not run on one record of shape {self.input_shape} ({str(error)[:200]})"
            ) from error
        features = np.asarray(made, np.float64).reshape(1, -1)
        if not np.isfinite(features).all():
            raise InvalidRecords("the network gave a feature that is not finite")
        return features
