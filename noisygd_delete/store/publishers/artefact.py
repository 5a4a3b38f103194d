"""A release as it leaves the store: the model's file, what reads it, and what says which release it is.

model.safetensors   the weights, byte for byte the file that the store's ledger names
schema.json         how a record becomes a row
facts.json          number of the release, SHA-256 of every file, and why one of the next three is missing, if it is
model.json          the coefficients as plain numbers with the schema beside them; model.py: reads them, with numpy alone
model.onnx          the same as a graph from raw columns to labels, where the library `onnx` is installed to write it
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...curator.model import Model
from ...errors import InvalidParameter, MissingDependency
from ...features.schema import Schema
from ...version import __version__
from .address import name_of
from .graph import onnx_bytes
from .plain import plain_model, plain_text, reader_text

FACTS = "facts.json"
FILES = (
    "model.safetensors",
    "schema.json",
    "model.json",
    "model.py",
    "model.onnx",
    FACTS,
)  # no other name is ever written


@dataclass(frozen=True)
class Artefact:
    """One release of a store, with all the files that it is published as.

    release, digest   its number, and SHA-256 of model.safetensors as the ledger has it
    weights           the content of that file
    model, schema     the same, read
    """

    release: int
    digest: str
    weights: bytes
    model: Model
    schema: Schema

    @property
    def name(self) -> str:
        return name_of(self.release, self.digest)

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """File name -> content; facts.json comes last."""
        made, missing = (
            {"model.safetensors": self.weights, "schema.json": _json(_public(self.schema))},
            dict[str, str](),
        )
        for name in ("model.json", "model.py", "model.onnx"):
            try:
                made[name] = self.file(name)
            except (InvalidParameter, MissingDependency) as reason:
                missing[name] = str(reason)
        facts = {
            "software": f"noisygd-delete {__version__}",
            "release": self.release,
            "model": self.digest,
            "files": {name: hashlib.sha256(data).hexdigest() for name, data in made.items()},
            "missing": missing,
        }
        return {**made, FACTS: _json(facts)}

    def file(self, name: str) -> bytes:
        """One of the three files that a program without this package reads.

        Raises:
            InvalidParameter: the model is more than such a file can hold; says what. MissingDependency: `onnx` is not installed.
        """
        plain = plain_model(self.model, self.schema)
        return {"model.json": plain_text, "model.py": lambda _: reader_text(), "model.onnx": onnx_bytes}[name](plain)

    def require_plain(self) -> None:
        """Raise `InvalidParameter` with the reason if the model cannot be used without this package."""
        plain_model(self.model, self.schema)


def _public(schema: Schema) -> dict[str, Any]:
    return {key: value for key, value in schema.to_dict().items() if key not in ("id", "subject", "rows_per_subject")}


def _json(fields: dict[str, Any]) -> bytes:
    return (json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
