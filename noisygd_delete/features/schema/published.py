"""A published model from the file model.json: coefficients as plain numbers. Requires only Python and numpy.

    from model import load
    load("model.json").predict({"age": [34, 51], "city": ["x", "y"]})      # or a DataFrame

This file was published with the model by noisygd-delete, and gives the same results as `noisygd-delete predict`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

DAY, WEEK = 86_400, 604_800  # seconds
NONE = np.iinfo(np.int64).min  # instead of seconds, if a text is not a moment
_HEADROOM = 1 - 2.0**-23
_UNLISTED = 50  # rows in which a column may have unlisted values only
_START = datetime(1970, 1, 1)
_MONDAY = 3 * DAY  # 1970 began on a Thursday
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII
)
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?", re.ASCII)
_SPACES = "[ \u00a0\u202f]"  # separators of groups of three digits
_DECIMALS = re.compile(r"-?[0-9]+\.[0-9]*")


def load(path: str) -> PublishedModel:
    """Return the model in a file model.json.

    Raises:
        ValueError: If the file is of another format.
    """
    with open(path, encoding="utf-8") as file:
        return PublishedModel(json.load(file))


def _load_pyfunc(path: str) -> PublishedModel:
    """Return the model in the folder of an MLflow model; called by MLflow."""
    return load(path + "/model.json")


class PublishedModel:
    """A model that predicts from raw columns: a dict of lists, or a DataFrame."""

    def __init__(self, described: dict[str, Any]) -> None:
        if described.get("format") != 1:
            raise ValueError("model.json is not of format 1; use the model.py that was published with it")
        self.schema, self.answers, self.odds = described["schema"], described["kind"], described["odds"]
        for name, spellings in described.get("spellings", {}).items():
            self.schema["columns"][name]["spellings"] = [re.compile(one) for one in spellings]
        self.layers = [np.array(layer, np.float64) for layer in described["layers"]]
        self.classes = self.schema["label"].get("classes")

    def predict(self, table: Any, params: Any = None) -> list[Any]:
        """Return a class name or a number in the target's unit for each row; `params` is passed by MLflow and not used.

        Raises:
            ValueError: If a column is missing, or a cell does not fit.
        """
        scores = self.scores(table)
        if self.answers == "class":
            return [self.classes[place] for place in scores.argmax(1)]
        if self.answers == "binary":
            return [self.classes[int(score >= 0)] for score in scores[:, 0]]
        lower, upper = self.schema["label"]["bounds"]
        return [float(number) for number in lower + (np.clip(scores[:, 0], -1.0, 1.0) + 1) / 2 * (upper - lower)]

    def probabilities(self, table: Any) -> Any:
        """Return (rows, classes) probabilities, in the order of `classes`.

        Raises:
            ValueError: If this kind of model has none, a column is missing, or a cell does not fit.
        """
        if not self.odds:
            raise ValueError("this model has no probabilities")
        scores = self.scores(table)
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def scores(self, table: Any) -> Any:
        """Return (rows, outputs) scores: one output for two classes or a number, else one per class.

        Of two classes, a score of at least 0 is the second one; a number's score is on the scale from −1 to 1.
        """
        values = np.asarray(self.rows(table), np.float64)
        for layer in self.layers[:-1]:
            values = np.tanh(values @ layer.T)
        return values @ self.layers[-1].T

    def rows(self, table: Any) -> Any:
        """Return (rows, features) float32, of the norm that the model was made for, with the constant last.

        Raises:
            ValueError: If a column is missing, or a cell does not fit.
        """
        columns = self.schema["columns"]
        for name in columns:
            if name not in table:
                raise ValueError(f"column {name!r} is missing")
        parts, count = [], 0
        for name, kind in columns.items():
            cells = [_cell(value, name) for value in table[name]]
            parts.append(np.array(_encode_cells(cells, kind, name), np.float64).reshape(len(cells), -1))
            count = len(cells)
        if "map" in self.schema:
            parts = _encode_additive(np.hstack(parts), self.schema["map"])
        squares = np.full(count, float(self.schema["intercept"]))
        for part in parts:
            squares += (part**2).sum(axis=1)
        if self.schema["intercept"]:
            parts.append(np.ones((count, 1)))
        with np.errstate(divide="ignore"):
            factors = self.schema["radius"] * _HEADROOM / np.sqrt(squares)
        factors = np.minimum(1.0, factors) if self.schema["rows"] == "clip" else np.where(squares > 0, factors, 0.0)
        return (np.hstack(parts) * factors[:, None]).astype(np.float32)


def _encode_additive(values: Any, map: dict[str, Any]) -> list[Any]:
    """Return one block per column: of a number its dyadic bins, 2, 4, … 2^levels; of a category its 0/1 columns."""
    blocks, at, every = [], 0, np.arange(len(values))
    for place, width in enumerate(map["columns"]):
        if width:
            blocks.append(values[:, at : at + width])
            at += width
            continue
        unit = values[:, at]
        there = unit > -1 if place in map["amounts"] else np.full(len(unit), True)
        if place in map["logarithmic"]:
            unit = np.sign(unit) * np.log1p(np.abs(unit) / map["finest"]) / math.log1p(1 / map["finest"])
        if place in map.get("signs", []):
            blocks.append(np.column_stack([unit < 0, unit > 0]).astype(float))
            at += 1
            continue
        unit, absent = np.clip((unit + 1) / 2, 0.0, 1.0), []
        at += 1
        if place in map["gaps"]:
            absent = [values[:, at : at + 1]]
            there = there & (values[:, at] <= 0)
            at += 1
        for level in range(1, map["levels"] + 1):
            bins = np.zeros((len(unit), 2**level))
            bins[every, np.minimum(np.floor(unit * 2**level), 2**level - 1).astype(int)] = there / math.sqrt(
                map["levels"]
            )
            blocks.append(bins)
        blocks += absent
    return blocks


class _Number(str):
    """Text of a typed number, which does not use the schema's decimal mark."""


def _cell(value: Any, name: str) -> str:
    """Return a cell as the text that a file would contain."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, np.datetime64) and np.isnat(value):
        return ""
    if isinstance(value, (float, np.floating)):
        return _Number("" if math.isnan(value) else float(str(value) if isinstance(value, np.floating) else value))
    if isinstance(value, Decimal):
        return _Number("" if value.is_nan() else value)
    if isinstance(value, datetime) and value.utcoffset() is not None:
        return str(value.astimezone(UTC))
    if isinstance(value, (bytes, bytearray)):
        value = value.decode()
    if isinstance(value, (list, tuple, set, dict, np.ndarray)):
        raise ValueError(f"column {name!r}: a list or a record in place of one value")
    return str(value).strip()


def _encode_cells(cells: list[str], kind: dict[str, Any], name: str) -> list[list[float]]:
    if "bounds" in kind:
        return _encode_numbers(cells, kind, name)
    if "dates" in kind or "times" in kind:
        return _encode_datetimes(cells, kind, name)
    if "boolean" in kind:
        return _encode_boolean(cells, kind, name)
    return _encode_hashed(cells, kind["hashed"]) if "hashed" in kind else _encode_listed(cells, kind, name)


def _encode_numbers(cells: list[str], kind: dict[str, Any], name: str) -> list[list[float]]:
    (lower, upper), missing, found = kind["bounds"], kind.get("missing"), list[list[float]]()
    least = 1e-5 * max(-lower, upper)
    read = number_reader(kind.get("decimal", "."), kind.get("thousands", ""), kind.get("unit", ""))
    curves: dict[str, Any] = {
        "none": np.positive,
        "log1p": np.log1p,
        "signed-log": lambda value: np.copysign(np.log1p(abs(value) / least), value),
    }
    curve = curves[kind.get("transform", "none")]
    low, high = float(curve(lower)), float(curve(upper))
    for text in cells:
        absent = text == "" or text in kind.get("empty", [])
        if absent and missing is None:
            raise ValueError(f"column {name!r}: empty")
        if absent and missing == "column":
            found.append([0.0, 1.0])
            continue
        value: Any = missing if absent else (float if isinstance(text, _Number) else read)(text)
        if not math.isfinite(value):
            raise ValueError(f"column {name!r}: a cell is not a number")
        unit = 2 * (float(curve(min(max(value, lower), upper))) - low) / (high - low) - 1
        found.append([min(max(unit, -1.0), 1.0)] + [0.0] * (missing == "column"))
    return found


@cache
def number_reader(decimal: str, thousands: str, unit: str = "") -> Callable[[str], float]:
    """Return a function that parses one number with these marks, and returns NaN for any other text.

    Groups have three digits; a mark elsewhere, or before a power of ten, is a typing error and not a number. A unit may
    precede or follow the number, and does not change it: 30% is 30.
    """
    mark = _SPACES if thousands == " " else re.escape(thousands)
    whole = rf"[1-9]\d{{0,2}}(?:{mark}\d{{3}})+|\d+" if thousands else r"\d+"
    number, own = rf"({whole})?(?:{re.escape(decimal)}(\d*))?(e[+-]?\d+)?", re.escape(unit)
    form = re.compile(rf"([+-]?)(?:{own}{_SPACES}?)?{number}(?:{_SPACES}?{own})?", re.ASCII | re.IGNORECASE)

    def read(text: str) -> float:
        found = form.fullmatch(text)
        if found is None:
            return math.nan
        sign, digits, fraction, power = (part or "" for part in found.groups())
        if (not digits and not fraction) or (power and digits and not digits.isdecimal()):
            return math.nan
        return float(f"{sign}{re.sub(r'[^0-9]', '', digits) or 0}.{fraction or 0}{power}")

    return read


def _encode_listed(cells: list[str], kind: dict[str, Any], name: str) -> list[list[float]]:
    listed = kind["categories"]
    width = len(listed) + (kind["unknown"] == "column")
    return [_one_of(width, place) for place in _find_places(cells, listed, kind, name)]


def _encode_hashed(cells: list[str], buckets: int) -> list[list[float]]:
    return [_one_of(buckets, bucket_of(text, buckets)) for text in cells]


def _one_of(width: int, place: int) -> list[float]:
    """Return zeros with a one at this place; no one if the place is beyond the last."""
    return ([0.0] * place + [1.0] + [0.0] * (width - 1 - place))[:width]


def bucket_of(text: str, buckets: int) -> int:
    """Return the bucket of a hashed cell, 0 to buckets − 1, by BLAKE2, the same on every machine.

    3, 3.0 and 3.00 are one value, as in a list.
    """
    plain = text.rstrip("0").rstrip(".") if _DECIMALS.fullmatch(text) else text
    digest = hashlib.blake2b(plain.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % buckets


def _encode_boolean(cells: list[str], kind: dict[str, Any], name: str) -> list[list[float]]:
    return [
        [(-1.0, 1.0, 0.0)[place]] + [float(place == 2)] * (kind["unknown"] == "column")
        for place in _find_places(cells, kind["boolean"], kind, name)
    ]


def _find_places(cells: list[str], listed: list[str], kind: dict[str, Any], name: str) -> Iterator[int]:
    """Yield the position of each text in the list, as listed or spelled differently.

    The list's length is yielded for an unlisted text, if that is allowed.
    """
    other, gap = len(listed), "boolean" in kind and kind["unknown"] == "zero"
    known = {value: place for place, value in enumerate(listed)}
    spelled, unlisted = list(enumerate(kind.get("spellings", ()))), 0
    for text in cells:
        if text not in known:
            known[text] = next((place for place, one in spelled if text and one.fullmatch(text)), other)
        if known[text] == other:
            unlisted += 1
            if kind["unknown"] == "refuse" or (gap and text):
                raise ValueError(f"column {name!r}: a cell is not one of the listed values")
        yield known[text]
    if unlisted == len(cells) >= _UNLISTED:
        raise ValueError(f"column {name!r}: none of {unlisted} cells is one of the listed values")


def _encode_datetimes(cells: list[str], kind: dict[str, Any], name: str) -> list[list[float]]:
    clock = "times" in kind
    lower, upper = (read_moment(text, clock=clock) for text in kind["times" if clock else "dates"])
    cycles, missing, found = kind.get("cycles", []), "missing" in kind, list[list[float]]()
    for text in cells:
        if text == "" or text in kind.get("empty", []):
            if not missing:
                raise ValueError(f"column {name!r}: empty")
            found.append([0.0] * (1 + 2 * len(cycles)) + [1.0])
            continue
        at = read_moment(text, kind.get("format"), clock=clock)
        if at == NONE:
            raise ValueError(f"column {name!r}: a cell is not a {'time' if clock else 'date'} as the schema has it")
        row = [min(max(2 * (min(max(at, lower), upper) - lower) / (upper - lower) - 1, -1.0), 1.0)]
        for cycle in cycles:
            turn = 2 * math.pi * float(phase(np.int64(at), cycle))
            row += [float(np.cos(turn)), float(np.sin(turn))]
        found.append(row + [0.0] * missing)
    return found


def read_moment(text: str, form: str | None = None, *, clock: bool = False) -> int:
    """Return one moment in whole seconds, since 1970 or for a `clock` since midnight; `NONE` for any other text.

    A zone in the text is ignored, and fractions of a second are dropped.

    Args:
        text: The text of a cell.
        form: Format of `strptime`; None: a date, perhaps with time, in ISO form, or for a clock H:MM[:SS].
        clock: Whether it is a time of day.
    """
    try:
        if form is not None:
            read = datetime.strptime(text, form)
            return (read.hour * 60 + read.minute) * 60 + read.second if clock else _days_since_epoch(read)
        parts = (_CLOCK if clock else _ISO).fullmatch(text)
        if parts is None:
            return NONE
        values = [int(part or 0) for part in parts.groups()]
        if not clock:
            return _days_since_epoch(datetime(*values))  # type: ignore[arg-type]  # year to second
        hour, minute, second = values
        return (hour * 60 + minute) * 60 + second if hour < 24 and minute < 60 and second < 60 else NONE
    except ValueError:
        return NONE


def _days_since_epoch(read: datetime) -> int:
    return (read.replace(tzinfo=None) - _START) // timedelta(seconds=1)


def phase(at: Any, cycle: str) -> Any:
    """Return the elapsed share, in [0, 1), of the day, week (from Monday) or year (from January 1).

    Args:
        at: Seconds since 1970, or since midnight for the cycle "day".
        cycle: "day", "week" or "year".
    """
    if cycle == "day":
        return np.asarray((at % DAY) / DAY)
    if cycle == "week":
        return np.asarray(((at + _MONDAY) % WEEK) / WEEK)
    years = at.astype("M8[s]").astype("M8[Y]")
    begins, ends = (part.astype("M8[s]").astype(np.int64) for part in (years, years + 1))
    return np.asarray((at - begins) / (ends - begins))
