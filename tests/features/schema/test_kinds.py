"""Kinds of column against plain Python, one cell at a time: missing numbers, decimal marks, two values, dates and times of day."""

from __future__ import annotations

import hashlib
import math
import re
import tempfile
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisygd_delete.bounds.objective_perturbation import column_variances
from noisygd_delete.errors import InvalidSchema
from noisygd_delete.features.schema import Schema, Table, files
from noisygd_delete.features.schema import moments as moment_columns

LABEL = {"column": "y", "classes": ["no", "yes"]}
KINDS = {
    "age": {"bounds": [0, 100], "missing": "column", "empty": ["NA"]},
    "price": {"bounds": [0, 5000], "transform": "log1p", "decimal": ",", "thousands": ".", "missing": 20},
    "work": {"categories": ["a", "b"]},
    "sex": {"boolean": ["f", "m"]},
    "smokes": {"boolean": ["no", "yes"], "unknown": "column"},
    "since": {"dates": ["2012-06-01", "2014-01-01"], "cycles": ["day", "week", "year"], "missing": "column"},
    "city": {"hashed": 5},
    "at": {"times": ["08:00", "18:30"], "cycles": ["day"], "format": "%H.%M", "missing": "column", "empty": ["-"]},
}
WIDTHS = {"age": 2, "price": 1, "work": 3, "sex": 1, "smokes": 2, "since": 8, "city": 5, "at": 4}


def table(**cells: list[str]) -> Table:
    return Table("made", cells, range(2, 2 + len(next(iter(cells.values())))))


def schema(**more: object) -> Schema:
    return Schema.from_dict({"label": LABEL, "columns": KINDS, **more})


def place(value: float, low: float, high: float) -> float:
    return 2 * (min(max(value, low), high) - low) / (high - low) - 1


def turn(share: float) -> list[float]:
    return [math.cos(2 * math.pi * share), math.sin(2 * math.pi * share)]


def seconds(at: datetime) -> float:
    return (at - datetime(2000, 1, 1)) / timedelta(seconds=1)


def by_hand(text: str, buckets: int) -> int:
    """A value's bucket: BLAKE2b of its text, a number's without zeros after the point, as a little-endian number."""
    number = re.fullmatch(r"(-?\d+)(?:\.(\d*?)0*)?", text, re.ASCII)
    plain = text if number is None else number[1] + (f".{number[2]}" if number[2] else "")
    digest = hashlib.blake2b(plain.encode(), digest_size=8).digest()
    return sum(byte << 8 * place for place, byte in enumerate(digest)) % buckets


def expected(cells: dict[str, str]) -> list[float]:
    """The features of one record before its norm is taken, from its texts alone."""
    out = [0.0, 1.0] if cells["age"] in ("", "NA") else [place(float(cells["age"]), 0, 100), 0.0]
    price = float(cells["price"].replace(".", "").replace(",", ".")) if cells["price"] else 20.0
    out += [2 * math.log1p(min(max(price, 0), 5000)) / math.log1p(5000) - 1]
    out += [float(cells["work"] == "a"), float(cells["work"] == "b"), float(cells["work"] not in ("a", "b"))]
    out += [{"f": -1.0, "m": 1.0}.get(cells["sex"], 0.0)]
    smokes = {"no": -1.0, "yes": 1.0, "No": -1.0, "t": 1.0, "1.0": 1.0}.get(cells["smokes"], 0.0)
    out += [smokes, float(smokes == 0)]
    if cells["since"]:
        at = datetime.fromisoformat(cells["since"]).replace(tzinfo=None, microsecond=0)
        day = (at.hour * 3600 + at.minute * 60 + at.second) / 86400
        year = (at - datetime(at.year, 1, 1)) / (datetime(at.year + 1, 1, 1) - datetime(at.year, 1, 1))
        out += [place(seconds(at), seconds(datetime(2012, 6, 1)), seconds(datetime(2014, 1, 1)))]
        out += [*turn(day), *turn((at.weekday() + day) / 7), *turn(year), 0.0]
    else:
        out += [*[0.0] * 7, 1.0]
    out += [float(bucket == by_hand(cells["city"], 5)) for bucket in range(5)]
    if cells["at"] in ("", "-"):
        out += [0.0, 0.0, 0.0, 1.0]
    else:
        hour, minute = map(int, cells["at"].split("."))
        out += [place(60 * hour + minute, 480, 1110), *turn((60 * hour + minute) / 1440), 0.0]
    return [*out, 1.0]


moments = st.datetimes(datetime(1, 1, 1), datetime(9998, 12, 31))
cell = st.fixed_dictionaries(
    {
        "age": st.sampled_from(["", "NA", "-5", "130"]) | st.floats(0, 100).map(repr),
        "price": st.sampled_from(["", "0", "1.234,5", "12.345.678", "7,", ",5", "999,99"]),
        "work": st.sampled_from(["a", "b", "", "else"]),
        "sex": st.sampled_from(["f", "m", "", "d"]),
        "smokes": st.sampled_from(["no", "yes", "", "No", "t", "1.0", "?"]),
        "since": moments.map(lambda at: at.isoformat(" ")) | moments.map(lambda at: f"{at.date()}") | st.just("")
        | moments.map(lambda at: f"{at.replace(microsecond=0).isoformat()}+02:00"),
        "city": st.sampled_from(["", "Lagos", "lagos", "São Brás", "8000", "8000.0", "8000.50", "-3."]),
        "at": st.sampled_from(["", "-", "08.00", "23.59", "0.05", "12.30"]),
    }
)  # fmt: skip


def exact_norm_squared(row: np.ndarray) -> Fraction:
    return sum((Fraction(float(value)) ** 2 for value in row), Fraction(0))


@settings(deadline=None, max_examples=150)
@given(cells=st.lists(cell, min_size=1, max_size=6), intercept=st.booleans())
def test_rows_are_those_of_plain_python_and_see_no_other_row(cells, intercept) -> None:
    read = schema(intercept=intercept)
    everyone = {name: [row[name] for row in cells] for name in KINDS}
    rows = read.encode(table(**everyone, y=["no"] * len(cells))).rows
    variances = np.array(column_variances(blocks=read.one_hot_blocks))
    for row, texts in zip(rows, cells, strict=True):
        raw = expected(texts)[: read.features]
        np.testing.assert_allclose(row, np.array(raw) / math.hypot(*raw), rtol=2e-6, atol=2e-7)
        assert exact_norm_squared(row) <= 1
        assert np.linalg.norm(row / np.sqrt(variances)) <= 1 + 1e-6
        alone = read.encode(table(**{name: [text] for name, text in texts.items()}, y=["no"])).rows[0]
        assert alone.tobytes() == row.tobytes()


@settings(deadline=None, max_examples=60)
@given(cells=st.lists(cell, min_size=1, max_size=6))
def test_a_file_read_by_columns_makes_the_same_rows(cells) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(files, "_WORTH_ARROW", 0)
        path = Path(folder, "a.csv")
        lines = ["|".join([*KINDS, "y"]), *("|".join([*(row[name] for name in KINDS), "no"]) for row in cells)]
        path.write_text("\n".join(lines) + "\n")
        found = schema().encode_file(path)
    texts = {name: [row[name] for row in cells] for name in KINDS}
    wanted = schema().encode(table(**texts, y=["no"] * len(cells)))
    assert found.rows.tobytes() == wanted.rows.tobytes()
    assert (found.clipped, found.unknown) == (wanted.clipped, wanted.unknown)


def test_a_norm_that_forgets_the_cycles_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: squares without cosine and sine make rows longer than R, and the test above would say so."""
    right = moment_columns.Moment.write

    def planted(self, out, read, column):
        written = right(self, out, read, column)
        return written._replace(squares=out[:, 0] ** 2)

    monkeypatch.setattr(moment_columns.Moment, "write", planted)
    cells = {
        "age": "3",
        "price": "2",
        "work": "a",
        "sex": "f",
        "smokes": "no",
        "since": "2013-05-05",
        "city": "",
        "at": "09.00",
    }
    row = schema().encode(table(**{name: [text] for name, text in cells.items()}, y=["no"])).rows[0]
    assert exact_norm_squared(row) > 1


def test_features_have_names_and_widths() -> None:
    read = schema()
    assert {name: kind.width for name, kind in read.columns.items()} == WIDTHS
    assert len(read.names) == read.features == sum(WIDTHS.values()) + 1
    assert read.names[:3] == ["age", "age: missing", "price"]
    assert "since: cosine of week" in read.names
    assert sum(block or 1 for block in read.one_hot_blocks) == read.features
    assert Schema.from_dict(read.to_dict()) == read


def test_an_empty_number_is_the_middle_and_never_the_least() -> None:
    """A missing age is neither 0 nor 100, whatever the bounds, and the column of its own tells it from fifty."""
    read = Schema.from_dict({"label": LABEL, "columns": {"age": KINDS["age"]}})
    rows = read.encode(table(age=["", "NA", "50", "0"], y=["no"] * 4)).rows
    assert rows[0].tobytes() == rows[1].tobytes()
    np.testing.assert_allclose(rows[0] * 2**0.5, [0, 1, 1], rtol=1e-6)
    np.testing.assert_allclose(rows[2], [0, 0, 1], rtol=1e-6)


def test_dates_of_toml_are_dates(tmp_path: Path) -> None:
    text = '[label]\ncolumn = "y"\nclasses = ["no", "yes"]\n[columns.d]\ndates = [2013-01-01, 2013-12-31T08:00:00]\n'
    text += "[columns.t]\ntimes = [08:00:00, 09:30:00]\n"
    (tmp_path / "s.toml").write_text(text)
    read = Schema.read(tmp_path / "s.toml")
    assert read.to_dict()["columns"]["d"]["dates"] == ["2013-01-01", "2013-12-31T08:00:00"]
    assert Schema.from_dict(read.to_dict()) == read


BAD_KINDS = [
    ({"dates": ["2013-01-02", "2013-01-01"]}, "first before last"),
    ({"dates": ["yesterday", "2013-01-01"]}, "first before last"),
    ({"dates": ["2013-01-01"]}, "first before last"),
    ({"dates": 5}, "first before last"),
    ({"times": ["2013-01-01", "2013-01-02"]}, "first before last"),
    ({"times": ["10:00", "25:00"]}, "first before last"),
    ({"dates": ["2013-01-01", "2013-12-31"], "format": "%d %b %Y"}, "%Y %m %d"),
    ({"dates": ["2013-01-01", "2013-12-31"], "format": "on a day"}, "%Y %m %d"),
    ({"dates": ["2013-01-01", "2013-12-31"], "format": 7}, "%Y %m %d"),
    ({"times": ["10:00", "11:00"], "format": "%d"}, "%H %M %S %f"),
    ({"dates": ["2013-01-01", "2013-12-31"], "cycles": ["month"]}, '"day", "week", "year"'),
    ({"dates": ["2013-01-01", "2013-12-31"], "cycles": ["day", "day"]}, "list of some"),
    ({"times": ["10:00", "11:00"], "cycles": ["week"]}, '"day"'),
    ({"dates": ["2013-01-01", "2013-12-31"], "missing": 3}, '"column"'),
    ({"dates": ["2013-01-01", "2013-12-31"], "unknown": "zero"}, "does not belong"),
    ({"hashed": 1}, "2 to 4096"),
    ({"hashed": 5000}, "2 to 4096"),
    ({"hashed": 16, "unknown": "zero"}, "does not belong"),
    ({"boolean": ["a", "b", "c"]}, "2 different values"),
    ({"boolean": ["a", "a"]}, "2 different values"),
    ({"boolean": ["a", "b"], "bounds": [0, 1]}, "only one of them"),
    ({"bounds": [0, 1], "decimal": ".", "thousands": "."}, "another mark"),
    ({"bounds": [0, 1], "decimal": ";"}, '"." or ","'),
    ({"bounds": [0, 1], "missing": "row"}, "a finite number"),
    ({"bounds": [0, 1], "empty": "NA"}, "list of texts"),
    ({"bounds": [0, 1], "from_data": "yes"}, "true or false"),
]


@pytest.mark.parametrize(("column", "said"), BAD_KINDS)
def test_a_kind_that_cannot_be_is_refused_by_its_key(column: dict, said: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        Schema.from_dict({"label": LABEL, "columns": {"c": column}}, "my.toml")
    assert said in str(caught.value)
    assert "my.toml: [columns.c]" in str(caught.value)


@pytest.mark.parametrize(
    ("column", "text", "said"),
    [
        ({"dates": ["2013-01-01", "2013-12-31"]}, "", 'missing = "column"'),
        ({"dates": ["2013-01-01", "2013-12-31"]}, "2013-02-30", "not written as a date such as 2013-01-31"),
        ({"dates": ["2013-01-01", "2013-12-31"], "format": "%d.%m.%Y"}, "2013-02-03", "not written as %d.%m.%Y"),
        ({"times": ["08:00", "09:00"]}, "08:61", "not written as a time such as 08:30"),
        ({"boolean": ["a", "b"], "unknown": "refuse"}, "SECRET", "not one of the 2 listed values"),
        ({"bounds": [0, 1], "decimal": ","}, "1.5", "not a finite number"),
        ({"bounds": [0, 1], "decimal": ",", "thousands": "."}, "1.50", "not a finite number"),
        ({"bounds": [0, 1], "decimal": ","}, ",", "not a finite number"),
        ({"bounds": [0, 1]}, "NA", "not a finite number"),
        ({"bounds": [0, 1]}, "1%", "not a finite number"),
        ({"bounds": [0, 1], "unit": "%"}, "1$", "not a finite number"),
        ({"bounds": [0, 1], "unit": "%"}, "%", "not a finite number"),
    ],
)
def test_a_cell_that_does_not_fit_is_named_by_line_and_column(column: dict, text: str, said: str) -> None:
    read = Schema.from_dict({"label": LABEL, "columns": {"c": column}}, "my.toml")
    good = {"dates": "2013-03-03", "times": "08:15", "boolean": "a", "bounds": "1"}[next(iter(column))]
    good = "03.03.2013" if "format" in column else good
    with pytest.raises(InvalidSchema) as caught:
        read.encode(table(c=[good, text], y=["no", "no"]))
    assert said in str(caught.value)
    assert "line 3, column 'c'" in str(caught.value)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("label", [LABEL, {"column": "y", "bounds": [0, 1]}])
def test_rows_without_a_label_are_named_by_their_lines(label: dict) -> None:
    read = Schema.from_dict({"label": label})
    with pytest.raises(InvalidSchema, match="empty in lines 3, 5; a row without a label"):
        read.encode(table(y=["no", "", "yes", ""]))
    with pytest.raises(InvalidSchema, match=r"empty in lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more"):
        read.encode(table(y=[""] * 12))


def test_of_each_person_the_first_rows_are_kept_and_the_rest_counted(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("noisygd_delete.features.schema.schema.BLOCK_ROWS", 3)  # the count goes on from block to block
    rows = [(f"r{k}", "abacabaa"[k], f"{k}") for k in range(8)]
    (tmp_path / "a.csv").write_text("id,person,x,y\n" + "".join(f"{i},{p},{x},no\n" for i, p, x in rows))
    fields = {"label": LABEL, "columns": {"x": {"bounds": [0, 10]}}, "id": "id", "subject": "person"}
    everything = Schema.from_dict(fields).encode_file(tmp_path / "a.csv")
    capped = Schema.from_dict({**fields, "rows_per_subject": 2}).encode_file(tmp_path / "a.csv")
    assert everything.dropped == 0
    assert capped.ids == ["r0", "r1", "r2", "r3", "r5"]
    assert capped.subjects == ["a", "b", "a", "c", "b"]
    assert capped.dropped == 3
    assert capped.rows.tobytes() == everything.rows[[0, 1, 2, 3, 5]].tobytes()
    for number in (0, 1.5, True, "2"):
        with pytest.raises(InvalidSchema, match=r"rows_per_subject.*whole number"):
            Schema.from_dict({**fields, "rows_per_subject": number})
