"""A release in the form in which it leaves the store: the model's file, programs to read it, and a description.

model.safetensors   the weights, byte for byte the file that the store's ledger names
schema.json         how a record becomes a row
facts.json          number of the release, SHA-256 of every file, and why one of the next three is missing, if it is
model.json          the coefficients as plain numbers, with the schema; model.py reads them with numpy alone
model.onnx          the same as a graph from raw columns to labels, if noisygd-delete-server and `onnx` are installed
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..curator.model import Model
from ..errors import InvalidParameter, MissingDependency, NotLearned
from ..extensions import require_extension
from ..features.schema import Schema
from ..version import __version__
from . import models
from .destinations import name_of
from .disk import require_store
from .layout import Layout
from .ledger import Ledger
from .plain_model import plain_model, plain_text, reader_text

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
class Artifact:
    """One release of a store, with all published files.

    Attributes:
        release: Its number.
        digest: SHA-256 of model.safetensors, as in the ledger.
        weights: The content of model.safetensors.
        model: The model, parsed.
        schema: The schema of the store.
    """

    release: int
    digest: str
    weights: bytes
    model: Model
    schema: Schema

    @property
    def name(self) -> str:
        """The name under which the release is published."""
        return name_of(self.release, self.digest)

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """The published files as a dict from name to content; facts.json comes last."""
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
        """Return one of the three files that programs without this package can read.

        Raises:
            InvalidParameter: If such a file cannot express the model; the message gives the reason.
            MissingDependency: If what writes model.onnx is not installed.
        """
        plain = plain_model(self.model, self.schema)
        writers: dict[str, Callable[[], bytes]] = {
            "model.json": lambda: plain_text(plain),
            "model.py": reader_text,
            "model.onnx": lambda: require_extension("hooks", "onnx", "server", name, extra="onnx").onnx_bytes(plain),
        }
        return writers[name]()

    def require_plain(self) -> None:
        """Raise `InvalidParameter` with the reason if the model cannot be used without this package."""
        plain_model(self.model, self.schema)


def _public(schema: Schema) -> dict[str, Any]:
    return {key: value for key, value in schema.to_dict().items() if key not in ("id", "subject", "rows_per_subject")}


def _json(fields: dict[str, Any]) -> bytes:
    return (json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def current_artifact(path: str | Path) -> Artifact:
    """Return the artifact of the store in this folder. Reading needs no lock.

    Raises:
        NotLearned: If there is no current model.
    """
    layout = Layout.at(path)
    require_store(layout)
    ledger = Ledger.read(layout.ledger)
    if not ledger.head.in_force or ledger.head.model is None:
        raise NotLearned(f"{layout.root}: there is no current model; run learn, or publish after one was withdrawn")
    model = models.load_model(layout, ledger.plan, ledger.model_release, ledger.head.model)
    return make_artifact(layout, ledger, model, Schema.from_dict(ledger.schema, str(layout.schema), layout.root))


def make_artifact(layout: Layout, ledger: Ledger, model: Model, schema: Schema) -> Artifact:
    """Return the current model in the form in which it leaves the store."""
    digest, release = ledger.head.model, ledger.model_release
    assert digest is not None  # a current model has a digest
    return Artifact(release, digest, models.read_model(layout, release, digest), model, schema)
