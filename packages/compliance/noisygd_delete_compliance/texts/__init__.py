"""Texts of this package: its English sentences, and every sentence of the engine and of this package in German.

A further language is two further files here, and one entry point.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def read(code: str, part: str) -> dict[str, Any]:
    """Return the texts of one language.

    Args:
        code: Code of the language.
        part: "labels" of documents, or "claims" of certificates; {} if this package has none in this language.
    """
    file = files(__name__).joinpath(f"{code}.toml" if part == "labels" else f"claims.{code}.toml")
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
