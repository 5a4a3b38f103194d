"""Every key of a schema, once: `schema.json` says its form, its default and what it means.

Editors check TOML by that file, `keys` reads schemas by its names, and docs/schema.md is written from it.
"""

from __future__ import annotations

import json
from pathlib import Path

TRANSFORMS = ("none", "log1p", "signed-log")
MIDDLE = "middle"  # what an empty cell of a number may stand for
UNKNOWN = ("column", "zero", "refuse")
CYCLES = ("day", "week", "year")
DECIMALS = (".", ",")
THOUSANDS = ("", ".", ",", " ", "'")
UNITS = ("words", "characters")
ROWS = ("unit", "clip")
TABLES = ("label", "columns", "map")

JSON_SCHEMA = Path(__file__).with_name("schema.json")  # of draft 2020-12; `keys.parse` asks for more, such as lo < hi
_KEYS = json.loads(JSON_SCHEMA.read_text(encoding="utf-8"))["properties"]

TOP = tuple(key for key in _KEYS if key not in TABLES)
LABEL = tuple(_KEYS["label"]["properties"])
# the first key of a kind tells it from the others
KINDS = {kind["title"]: tuple(kind["properties"]) for kind in _KEYS["columns"]["additionalProperties"]["oneOf"]}
