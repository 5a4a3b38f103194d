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
    """The first output of an ONNX file for its first input, one record per call.

    The network must never have seen the private records.

    Attributes:
        file: The ONNX file, with weights inside.
        input_shape: Of one record; the batch dimension precedes it.
        sha256: Of the file; "" takes that of the present file. A file with another digest is rejected.
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
        """The file's bytes, verified against `sha256`.

        Raises:
            InvalidParameter: If the file is missing or has another digest.
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
        except Exception as error:  # onnxruntime's errors have no common base class
            raise InvalidParameter(f"{self.file}: onnxruntime cannot read it ({str(error)[:200]})") from error

    def features(self, inputs: Any) -> Floats:
        """Return (records, width) float64, the first output of the network, run on one record at a time as float32.

        Raises:
            InvalidRecords: If an input is not finite numbers of `input_shape`, or an output is not finite.
            InvalidParameter: If the file is missing, has another digest, or does not run.
            MissingDependency: If onnxruntime is not installed.
        """
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
