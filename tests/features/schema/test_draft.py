"""What a draft makes of columns nobody has described: each kind recognised, every range and list asked for, nothing silently kept."""

from __future__ import annotations

import random
import re
import tomllib
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete.errors import InvalidSchema
from noisygd_delete.features.schema import Schema, Table, draft_schema, notation, read_table
from noisygd_delete.features.schema.arrow import TextColumn
from noisygd_delete.features.schema.column_draft import draft_column, draft_label
from noisygd_delete.features.schema.fields import JSON_SCHEMA
from noisygd_delete.features.schema.published import number_reader

ROWS = 1200
RNG = random.Random(19)
START = datetime(2013, 1, 3, 5, 17)


def moments(form: str, *, step: timedelta = timedelta(hours=7)) -> list[str]:
    return [(START + k * step).strftime(form) for k in range(ROWS)]


def some(*values: str) -> list[str]:
    return [values[k % len(values)] for k in range(ROWS)]


def gaps(texts: list[str], mark: str = "") -> list[str]:
    return [mark if k % 7 == 3 else text for k, text in enumerate(texts)]


def floats(low: float, high: float) -> list[str]:
    return [f"{RNG.uniform(low, high):.3f}" for _ in range(ROWS)]


ONE_YEAR = {"dates": ["2013-01-01", "2014-01-01"]}
LOOKS = {
    "rownames": ([str(k + 1) for k in range(ROWS)], "id", {}),
    "patient_id": ([str((k * 7919) % 1_000_003) for k in range(ROWS)], "id", {}),
    "customer": ([f"C-{k:05d}" for k in range(ROWS)], "id", {}),
    "patient": ([f"p{k // 2}" for k in range(ROWS)], "shared", {}),
    "customer_id": ([str(k // 3 * 17) for k in range(ROWS)], "shared", {}),
    "remarks": ([f"said {k % 700}" for k in range(ROWS)], "text", {"different": 700}),
    "country": (["PT"] * ROWS, "constant", {}),
    "nothing": (["", "NA"] * (ROWS // 2), "empty", {}),
    "flag": (some("0", "1"), "boolean", {"boolean": ["0", "1"], "unknown": "zero"}),
    "Smokes": (gaps(some("Yes", "No")), "boolean", {"boolean": ["No", "Yes"], "unknown": "column"}),
    "member": (some("True", "False"), "boolean", {"boolean": ["False", "True"], "unknown": "zero"}),
    "sex": (some("male", "female"), "boolean", {"boolean": ["female", "male"], "unknown": "zero"}),
    "day": (moments("%Y-%m-%d"), "date", {**ONE_YEAR, "cycles": ["week", "year"]}),
    "German": (moments("%d.%m.%Y"), "date", {**ONE_YEAR, "format": "%d.%m.%Y", "cycles": ["week", "year"]}),
    "compact": (moments("%Y%m%d"), "date", {**ONE_YEAR, "format": "%Y%m%d", "cycles": ["week", "year"]}),
    "stamp": (
        gaps(moments("%Y-%m-%dT%H:%M:%SZ")),
        "date",
        {**ONE_YEAR, "cycles": ["day", "week", "year"], "missing": "column"},
    ),
    "opened": (some("08:05", "17:45", "12:00"), "time", {"times": ["08:00", "18:00"], "cycles": ["day"]}),
    "height": (floats(151, 199), "number", {"bounds": [150, 200]}),
    "comma": ([x.replace(".", ",") for x in floats(0, 9)], "number", {"bounds": [0, 9], "decimal": ","}),
    "grouped": (
        [f"{k * 1000:,}.50" for k in range(1, ROWS + 1)],
        "number",
        {"bounds": [0, 1_200_000], "thousands": ","},
    ),
    "euro": (
        [f"{k * 1000:,}".replace(",", ".") + ",5" for k in range(1, ROWS + 1)],
        "number",
        {"bounds": [0, 1_200_000], "decimal": ",", "thousands": "."},
    ),
    "growth": (gaps([f"{k % 70 - 30}%" for k in range(ROWS)]), "number", {"bounds": [-30, 40], "unit": "%", "missing": "column"}),
    "price": ([f"${k * 1000:,}.50" for k in range(1, ROWS + 1)], "number", {"bounds": [0, 1_200_000], "thousands": ",", "unit": "$"}),
    "weight": (gaps(floats(50, 90), "NA"), "number", {"bounds": [50, 90], "missing": "column", "empty": ["NA"]}),
    "rate": (gaps(floats(50, 90), "inf"), "number", {"bounds": [50, 90], "missing": "column", "empty": ["inf"]}),
    "answer": (gaps(floats(50, 90), "not told"), "number", {"bounds": [50, 90], "missing": "column", "empty": ["not told"]}),
    "grade": (some("1", "2", "3", "4"), "category", {"categories": ["1", "2", "3", "4"], "unknown": "column"}),
    "months": (some(*map(str, range(1, 13))), "category", {"categories": [*map(str, range(1, 13))], "unknown": "column"}),
    "town": (some("Faro", "Lagos", "Beja", ""), "category", {"categories": ["", "Beja", "Faro", "Lagos"], "unknown": "column"}),
    "gain": (["0"] * 1000 + [str(k * k) for k in range(1, 201)], "number", {"bounds": [0, 40000], "transform": "log1p"}),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOKS)
def test_a_column_is_recognised(name: str) -> None:
    texts, kind, fields = LOOKS[name]
    look = draft_column(name, texts)
    assert look.seems == kind
    gaps = "missing" in fields or kind != "number"
    assert look.fields == (fields if gaps else fields | {"missing": "middle"})


def drafted(**more: str | None) -> str:
    columns = {name: texts for name, (texts, _, _) in LOOKS.items()}
    table = Table("made.csv", {**columns, "y": some("no", "yes")}, range(2, ROWS + 2))
    return draft_schema(table, "y", **more).text


def test_a_draft_reads_its_own_table_and_leaves_out_what_is_no_feature() -> None:
    text = drafted()
    schema = Schema.from_dict(tomllib.loads(text))
    left_out = {name for name, (_, kind, _) in LOOKS.items() if kind in ("id", "shared", "text", "constant", "empty")}
    assert set(schema.columns) == set(LOOKS) - left_out
    assert schema.id_column == "rownames"
    for name in left_out - {"rownames"}:
        assert re.search(rf'^# \[columns\."{name}"\]: .*left out', text, re.MULTILINE), name
    columns = {name: texts for name, (texts, _, _) in LOOKS.items()}
    made = schema.encode(Table("made.csv", {**columns, "y": some("no", "yes")}, range(2, ROWS + 2)))
    assert made.rows.shape == (ROWS, schema.features)
    assert max(made.clipped.values()) <= 0.011 * ROWS, "a range leaves out the outermost rows and no more"
    assert text.splitlines()[0] == f"#:schema {JSON_SCHEMA.as_uri()}"


def test_every_range_and_list_is_asked_for() -> None:
    """One question and one mark for each entry that was read off the data, the label's included; none is silently public."""
    text = drafted()
    entries = tomllib.loads(text)
    assert not entries["confirmed"]
    for entry in (entries["label"], *entries["columns"].values()):
        assert entry["from_data"] is True
    assert text.count("# ASK: is this") == len(entries["columns"]) + 1
    schema = Schema.from_dict(entries)
    assert set(schema.from_data) == {"y", *schema.columns}
    assert "4 different whole numbers: codes?" in text
    answered = Schema.from_dict(tomllib.loads(re.sub(r"^from_data.*$", "", text, flags=re.MULTILINE)))
    assert answered.from_data == ()


@pytest.mark.parametrize("cells", [[f"{k % 70}%" for k in range(ROWS)], ["10 %", "20 %", "30"] * (ROWS // 3)])
def test_percentages_are_numbers_of_a_public_range(cells: list[str]) -> None:
    look = draft_column("share", cells)
    assert (look.seems, look.fields) == ("number", {"bounds": [0, 100], "unit": "%", "missing": "middle"})
    assert look.public
    label = draft_label([f"{k % 5}%" for k in range(ROWS)])
    assert (label.seems, label.fields["unit"]) == ("number", "%")


@pytest.mark.parametrize(("low", "high", "asked"), [(35, 69, True), (1, 99, False)])
def test_a_natural_range_that_the_values_hardly_fill_is_a_question(low: int, high: int, asked: bool) -> None:
    look = draft_column("age", [str(low + k % (high - low + 1)) for k in range(ROWS)])
    assert look.fields["bounds"] == [0, 120]
    assert look.public
    assert bool(look.asks) == asked
    assert not look.doubts


def test_two_readings_are_a_question() -> None:
    either = [f"{1 + k % 12:02d}/{1 + k % 11:02d}/2013" for k in range(ROWS)]
    look = draft_column("when", either)
    assert (look.seems, look.fields["format"]) == ("date", "%d/%m/%Y")
    assert any("%m/%d/%Y" in ask for ask in look.asks)
    look = draft_column("amount", [f"{1 + k % 9},{k % 900 + 100}" for k in range(ROWS)])
    assert look.fields["thousands"] == ","
    assert look.doubts


def test_the_range_is_nobodys_own_value_and_outliers_do_not_stretch_it() -> None:
    look = draft_column("income", [*floats(11_000, 69_000)[:-1], "9999999"])
    assert look.fields["bounds"] == [10_000, 70_000]


def test_a_value_of_few_rows_is_not_listed() -> None:
    look = draft_column("diagnosis", [*some("common", "usual", "other")[:-1], "very rare"])
    assert look.fields["categories"] == ["common", "other", "usual"]
    assert "1 value(s) with fewer than 10 rows" in look.asks[0]


def test_rows_of_a_person_are_proposed_and_counted() -> None:
    persons = [f"p{k}" for k in range(ROWS // 2) for _ in range(2)]
    persons[:40] = ["busy"] * 40
    table = Table(
        "m", {"y": some("a", "b"), "x": floats(0, 1), "who": persons, "id": [str(k) for k in range(ROWS)]}, range(ROWS)
    )
    for weighed, proposed in ((True, "64  # ASK: .*leave out 0 rows"), (False, "2  # ASK: .*leave out 38 rows")):
        text = draft_schema(table, "y", subject="who", id="id", weighed=weighed).text
        assert re.search(f"^rows_per_subject = {proposed}", text, re.MULTILINE)


def test_a_table_that_nothing_can_be_learned_from_is_refused() -> None:
    with pytest.raises(
        InvalidSchema,
        match="ROWS row.s. with a label, which is the same in all, so there is nothing to tell apart".replace(
            "ROWS", str(ROWS)
        ),
    ):
        draft_schema(Table("m", {"y": ["a"] * ROWS, "x": floats(0, 1)}, range(ROWS)), "y")
    for others, why in (
        ({}, "the file has no other"),
        ({"x": [""] * ROWS, "z": ["1"] * ROWS}, "every cell is empty, left out; "),
    ):
        with pytest.raises(InvalidSchema, match=f"no column is left to tell 'y' by .*{why}"):
            draft_schema(Table("m", {"y": some("a", "b"), **others}, range(ROWS)), "y")


def test_rows_without_a_label_say_nothing_to_a_draft() -> None:
    """The same draft as of a table without them, though their cells would stretch every range."""
    labels, sizes = some("no", "yes"), floats(0, 10)
    whole = draft_schema(Table("m", {"y": labels, "x": sizes, "z": [""] * ROWS}, range(ROWS)), "y")
    more = {"y": [*labels, *["", "NA"] * 600], "x": [*sizes, *["900"] * ROWS], "z": ["", *["9"] * (2 * ROWS - 1)]}
    more["z"][:ROWS] = [""] * ROWS
    assert draft_schema(Table("m", more, range(2 * ROWS)), "y") == whole
    assert whole.left_out == ("z",)
    with pytest.raises(InvalidSchema, match=r"0 row\(s\) with a label"):
        draft_schema(Table("m", {"y": ["", "NA"], "x": ["1", "2"]}, range(2)), "y")


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        (floats(10.0, 60.0), "bounds = [10, 60]"),
        (some("2", "10", "1"), 'classes = ["1", "2", "10"]'),
        (some("b", "a", "c"), 'classes = ["a", "b", "c"]'),
        ([f"{k / 7:.2f}".replace(".", ",") for k in range(ROWS)], 'decimal = ","'),
    ],
)
def test_the_label_is_a_number_or_classes(texts: list[str], line: str) -> None:
    text = draft_schema(Table("m", {"y": texts, "x": floats(0, 1)}, range(ROWS)), "y").text
    assert line in text
    assert Schema.from_dict(tomllib.loads(text)).label_column == "y"


def test_a_number_without_gaps_says_what_one_would_be() -> None:
    """A gap that no row of the first file had comes in the next one."""
    look = draft_column("size", [str(7 * k % 500) for k in range(900)])
    assert look.fields["missing"] == "middle"
    schema = Schema.from_dict(
        {
            "label": {"column": "y", "classes": ["a", "b"]},
            "columns": {"size": {"bounds": [0, 99], "transform": "log1p", "missing": "middle"}},
        }
    )
    assert schema.columns["size"].missing == pytest.approx(9.0)  # log1p: the middle between 0 and log 100
    assert Schema.from_dict(schema.to_dict()) == schema


def test_codes_of_few_people_are_not_listed() -> None:
    texts = ["1"] * 700 + ["2"] * 595 + ["3"] * 5
    look = draft_column("ward", texts)
    assert look.fields["categories"] == ["1", "2"]
    assert any("1 value(s) with fewer than 10 rows" in ask for ask in look.asks)


@pytest.mark.parametrize("text", ["1_5", "０１", "١", "1__0"])
def test_what_python_alone_reads_as_a_number_is_none(text: str) -> None:
    assert draft_column("size", [text, *(str(k) for k in range(60))]).seems != "number"
    schema = Schema.from_dict(
        {"label": {"column": "y", "classes": ["a", "b"]}, "columns": {"size": {"bounds": [0, 99]}}}
    )
    with pytest.raises(InvalidSchema, match="not a finite number"):
        schema.encode(Table("t", {"size": ["1", text], "y": ["a", "b"]}, [2, 3]))


def test_many_values_of_a_large_table_are_hashed_and_nothing_of_them_is_read_off() -> None:
    cities = [f"city {RNG.randrange(700)}" for _ in range(20_000)]
    look = draft_column("city", cities)
    assert (look.seems, look.fields) == ("hashed", {"hashed": 32})
    other = draft_column("city", [city[::-1] for city in cities])
    assert other.fields == look.fields
    text = draft_schema(Table("m", {"city": cities, "y": [str(k % 2) for k in range(20_000)]}, range(20_000)), "y").text
    schema = Schema.from_dict(tomllib.loads(text))
    assert schema.from_data == ("y",)
    assert schema.one_hot_blocks == (32, 1)
    assert draft_column("remarks", [f"{RNG.random()}x" for _ in range(20_000)]).seems == "id"
    assert draft_column("remarks", [f"{RNG.randrange(9000)}x" for _ in range(20_000)]).seems == "text", "few come back"


@pytest.mark.parametrize(
    ("name", "texts", "bounds"),
    [
        ("age", floats(17, 90), [0, 120]),
        ("spouse_age", floats(17, 90), [0, 120]),
        ("age_in_months", floats(200, 1100), [200, 1100]),
        ("wage", floats(17, 90), [15, 90]),
        ("percent_free", floats(3, 88), [0, 100]),
        ("pct", floats(-40, 88), [-40, 90]),
    ],
)
def test_a_name_gives_a_range_where_it_holds_what_is_there(name: str, texts: list[str], bounds: list[int]) -> None:
    look = draft_column(name, texts)
    assert look.fields["bounds"] == bounds
    text = draft_schema(Table("m", {name: texts, "y": some("0", "1")}, range(ROWS)), "y").text
    assert (name in Schema.from_dict(tomllib.loads(text)).from_data) == (bounds not in ([0, 120], [0, 100]))


def test_numbers_that_nearly_all_rows_have_alone_are_ids_by_name_or_by_their_digits() -> None:
    nearly = [str(700_000_000 + 7919 * (k - k // 50)) for k in range(ROWS)]
    assert len(set(nearly)) < ROWS
    assert draft_column("phone", nearly).seems == "shared"
    assert draft_column("phone", list(dict.fromkeys(nearly))).seems == "id"
    short = [str(10 + 13 * (k - k // 50)) for k in range(ROWS)]
    assert draft_column("policy_no", short).seems == "shared"
    assert draft_column("income", short).seems == "number"


def test_a_column_without_a_name_has_that_of_pandas_and_is_the_id_where_no_other_is(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    for every, kept in ((ROWS, "key"), (70, "Unnamed: 0")):
        rows = [f"{k},{k % every},{k % 70},{('no', 'yes')[k % 2]},\n" for k in range(ROWS)]
        path.write_text(f",key,age,y,\n{''.join(rows)}")
        made = draft_schema(read_table(path), "y")
        assert tomllib.loads(made.text)["id"] == kept
        assert "Unnamed: 4" in made.left_out


def test_texts_read_once_are_the_numbers_of_every_notation() -> None:
    """Random texts of digits, marks, signs, spaces and powers, in every notation and with a unit."""
    rng = np.random.default_rng(0)
    for letters in ("0123456789.+-", "0123456789.,", "012345 .e+", "0123'.\u00a0", "12.5€ "):
        for _ in range(60):
            texts = ["".join(rng.choice(list(letters), rng.integers(1, 6))).strip() or "1" for _ in range(20)]
            for unit in ("", "€"):
                reading = notation.Readings(texts, unit)
                for marks in notation.MARKS:
                    read = number_reader(*marks, unit)
                    expected = [read(text) for text in texts]
                    np.testing.assert_array_equal(list(reading.iterate(*marks)), expected)
                    np.testing.assert_array_equal(reading.values(*marks), expected)


def test_texts_of_arrow_and_of_python_have_one_draft() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    columns = {
        "income": [f"{k * k % 977 / 8}" for k in range(ROWS)],
        "age": [str(20 + k % 60) for k in range(ROWS)],
        "gap": ["" if k % 9 == 0 else "NA" if k % 7 == 0 else f"{k / 7:.3f}" for k in range(ROWS)],
        "word": ["unknown" if k % 50 == 0 else str(k % 400) for k in range(ROWS)],
        "town": some("a", "b", "c"),
        "comma": [f"{1 + k % 9},{k % 900 + 100}" for k in range(ROWS)],
        "when": moments("%Y-%m-%d"),
        "zero": ["-0.0" if k % 2 else f"{k % 31}.5" for k in range(ROWS)],
    }
    held = {name: TextColumn(pyarrow.array(texts, pyarrow.string())) for name, texts in columns.items()}
    assert notation.marks_of(held) == notation.marks_of(columns)
    for name, texts in columns.items():
        assert draft_column(name, held[name]) == draft_column(name, texts)
        assert draft_label(held[name]) == draft_label(texts)
