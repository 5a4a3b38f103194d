"""Every key of a schema, as `schema.json` defines its form, default and meaning, and the checks of single values.

Editors check TOML by that file, schemas are read by its names, and docs/schema.md is generated from it.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from ...errors import InvalidSchema

TRANSFORMS = ("none", "log1p", "signed-log")
MIDDLE = "middle"  # a possible value of an empty cell of a number
UNKNOWN = ("column", "zero", "refuse")
CYCLES = ("day", "week", "year")
DECIMALS = (".", ",")
THOUSANDS = ("", ".", ",", " ", "'")
SYMBOLS = ("", "%", "$", "€", "£", "¥")
UNITS = ("words", "characters")
ROWS = ("unit", "clip")
TABLES = ("label", "columns", "map")

JSON_SCHEMA = Path(__file__).with_name("schema.json")  # draft 2020-12; `parse` checks more, such as lo < hi
_KEYS = json.loads(JSON_SCHEMA.read_text(encoding="utf-8"))["properties"]

TOP = tuple(key for key in _KEYS if key not in TABLES)
LABEL = tuple(_KEYS["label"]["properties"])
# the first key of a kind identifies it
KINDS = {kind["title"]: tuple(kind["properties"]) for kind in _KEYS["columns"]["additionalProperties"]["oneOf"]}


class Fields:
    """One table of the schema and its place in the file, for messages; every method raises InvalidSchema for a wrong value."""

    def __init__(self, fields: Any, where: str, keys: tuple[str, ...]) -> None:
        if not isinstance(fields, dict):
            raise InvalidSchema(f"{where} must be a table of keys, not {fields!r}")
        for key in fields:
            if key not in keys:
                raise InvalidSchema(f"{where}: unknown key {key!r}; the keys are {', '.join(keys)}")
        self.fields, self.where = fields, where

    def fault(self, key: str, wanted: str) -> InvalidSchema:
        """Return, without raising it, the error that the value of `key` must be `wanted`."""
        return InvalidSchema(f"{self.where}: {key} = {self.fields.get(key)!r} must be {wanted}")

    def truth(self, key: str, default: bool) -> bool:
        """Return the boolean under `key`, or `default`."""
        value = self.fields.get(key, default)
        if not isinstance(value, bool):
            raise self.fault(key, "true or false")
        return value

    def choice(self, key: str, choices: tuple[str, ...], default: str | None = None) -> str:
        """Return the text under `key`, one of `choices`; by default `default`, else the first choice."""
        value = self.fields.get(key, default or choices[0])
        if not isinstance(value, str) or value not in choices:
            raise self.fault(key, " or ".join(f'"{choice}"' for choice in choices))
        return value

    def choices(self, key: str, among: tuple[str, ...]) -> tuple[str, ...]:
        """Return the list under `key`, different texts of `among`; () if absent."""
        value = self.fields.get(key, [])
        if not isinstance(value, list) or not all(part in among for part in value) or len(set(value)) != len(value):
            raise self.fault(key, "a list of some of " + ", ".join(f'"{part}"' for part in among))
        return tuple(value)

    def name(self, key: str) -> str | None:
        """Return the name of a column under `key`; None if absent."""
        value = self.fields.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self.fault(key, "the name of a column")
        return value

    def count(self, key: str) -> int | None:
        """Return the whole number under `key`, from 1 to 2^31 − 1; None if absent."""
        value = self.fields.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 1 << 31):
            raise self.fault(key, "a whole number, at least 1")
        return value

    def number(self, key: str) -> float | None:
        """Return the finite number under `key` as a float; None if absent."""
        value = self.fields.get(key)
        if value is None:
            return None
        if not _is_number(value):
            raise self.fault(key, "a finite number")
        return float(value)

    def bounds(self) -> tuple[float, float]:
        """Return (lo, hi) under the key `bounds`, which is required."""
        value = self.fields.get("bounds")
        if (
            not isinstance(value, list)
            or len(value) != 2
            or not all(map(_is_number, value))
            or not value[0] < value[1]
            or not math.isfinite(2 * (float(value[1]) - float(value[0])))
        ):
            raise self.fault("bounds", "[lo, hi] with lo < hi, two finite numbers that are public knowledge")
        return float(value[0]), float(value[1])

    def texts(self, key: str, least: int, most: float = math.inf) -> tuple[str, ...]:
        """Return the `least` to `most` different stripped texts under `key`; () if absent."""
        value = self.fields.get(key, [])
        if not isinstance(value, list) or not all(isinstance(text, str) and text == text.strip() for text in value):
            raise self.fault(key, 'a list of texts without spaces around them; write numbers as "1"')
        if len(set(value)) != len(value) or not least <= len(value) <= most:
            raise self.fault(key, f"a list of {'at least ' * (most > least)}{least} different values")
        return tuple(value)

    def marks(self) -> tuple[str, str, str]:
        """Return decimal mark, thousands mark and unit of a number, by default ".", "" and ""."""
        decimal, thousands = self.choice("decimal", DECIMALS), self.choice("thousands", THOUSANDS)
        if decimal == thousands:
            raise self.fault("thousands", "another mark than decimal")
        return decimal, thousands, self.choice("unit", SYMBOLS)


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False
