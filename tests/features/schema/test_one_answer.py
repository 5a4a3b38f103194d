"""One answer at every door: the same cells in a CSV file, a Parquet file and a DataFrame make the same rows, or are refused alike."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("sklearn", reason="scikit-learn is not installed")

import pyarrow
from pyarrow import parquet

from noisygd_delete.errors import InvalidRecords, InvalidSchema, UnreadableRows
from noisygd_delete.estimators import TableRows
from noisygd_delete.features.schema import Schema, Table, draft_schema, files, read_table
from noisygd_delete.features.schema.cells import FloatColumn
from noisygd_delete.features.schema.column_draft import draft_column, draft_label

ROWS = 1200
LABEL = {"label": {"column": "y", "classes": ["no", "yes"]}}
YES = ["no", "yes"] * (ROWS // 2)


def read_parquet(columns: dict[str, object], schema: dict[str, object]) -> np.ndarray:
    parquet.write_table(pyarrow.table({**columns, "y": YES[: len(next(iter(columns.values())))]}), "t.parquet")
    return Schema.from_dict({**LABEL, "columns": schema}).encode_file("t.parquet").rows


def read_frame(columns: dict[str, object], schema: dict[str, object]) -> np.ndarray:
    frame = pyarrow.table(columns).to_pandas()
    return TableRows(schema, "columns").transform(frame)


def read_csv(columns: dict[str, list[str]], schema: dict[str, object]) -> np.ndarray:
    rows = zip(*columns.values(), YES[: len(next(iter(columns.values())))], strict=True)
    Path("t.csv").write_text("\n".join(map(",".join, [[*columns, "y"], *rows])) + "\n")
    return Schema.from_dict({**LABEL, "columns": schema}).encode_file("t.csv").rows


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("width", ["float16", "float32", "float64"])
@pytest.mark.parametrize("step", [0.1, 0.25, 1.0, 0.003])
def test_codes_match_their_category_in_numbers_of_any_width(width: str, step: float) -> None:
    listed = [f"{k * step:.4g}" for k in range(1, 6)]
    texts = [listed[k % 5] for k in range(40)]
    codes = pyarrow.array(np.array(texts, np.dtype(width)))
    schema = {"c": {"categories": listed, "unknown": "refuse"}}
    expected = read_csv({"c": texts}, schema)
    np.testing.assert_array_equal(read_parquet({"c": codes}, schema), expected)
    np.testing.assert_array_equal(read_frame({"c": codes}, schema), expected)


NESTED = {
    "list": [[1, 2]] * 4,
    "empty list": [[]] * 4,
    "struct": [{"p": 1}] * 4,
    "map": pyarrow.array([[("k", 1)]] * 4, pyarrow.map_(pyarrow.string(), pyarrow.int64())),
    "bytes": [b"\xff\xfe"] * 4,
    "fixed bytes": pyarrow.array([b"\xff"] * 4, pyarrow.binary(1)),
}


@pytest.mark.parametrize("cells", NESTED)
@pytest.mark.parametrize("kind", [{"bounds": [0, 9]}, {"categories": ["u"]}, {"dates": ["2020-01-01", "2021-01-01"]}])
def test_cells_of_more_than_one_value_name_their_column(cells: str, kind: dict[str, object]) -> None:
    with pytest.raises(InvalidSchema, match="'c'"):
        read_parquet({"c": NESTED[cells]}, {"c": kind})
    with pytest.raises(InvalidRecords, match="'c'"):
        read_frame({"c": NESTED[cells]}, {"c": kind})


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
@pytest.mark.parametrize("sentinel", [2**62, -(2**62), "last"])
def test_a_sentinel_moment_names_row_and_column(unit: str, zone: str | None, sentinel: int | str) -> None:
    usual = int(datetime(2024, 1, 1, tzinfo=UTC).timestamp()) * {"s": 1, "ms": 10**3, "us": 10**6}[unit]
    last = int(datetime(9999, 12, 31, 23, tzinfo=UTC).timestamp() + 7200) * {"s": 1, "ms": 10**3, "us": 10**6}[unit]
    cells = pyarrow.array(
        [usual, usual, last if sentinel == "last" else sentinel // (4096 if unit == "s" else 1)],
        pyarrow.timestamp(unit, zone),
    )
    kind = {"c": {"dates": ["2020-01-01", "2030-01-01"]}}
    with pytest.raises(UnreadableRows) as refused:
        read_parquet({"c": cells}, kind)
    assert (refused.value.column, refused.value.rows) == ("c", [2])


@pytest.mark.parametrize("mark", [";", ",", "\t", "|"])
@pytest.mark.parametrize("first", ["sep={}", "SEP={}", '"sep={}"', "\ufeffsep={}"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("given", [False, True])
def test_the_line_for_spreadsheets_before_the_header_is_skipped(
    mark: str, first: str, packed: bool, given: bool
) -> None:
    text = f"{first.format(mark)}\r\n" + "\r\n".join(mark.join(row) for row in [["a", "y"], ["1", "no"], ["2", "yes"]])
    Path("t.csv").write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    table = read_table("t.csv", mark if given else None)
    assert {name: list(texts) for name, texts in table.columns.items()} == {"a": ["1", "2"], "y": ["no", "yes"]}
    assert list(table.lines) == [3, 4]


@pytest.mark.parametrize("row", [1, 7, 19])
@pytest.mark.parametrize("fast", [False, True])
def test_a_header_in_the_middle_is_refused_at_every_door(row: int, fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_WORTH_ARROW", 0 if fast else 1 << 40)
    columns = {"a": ["u", "b"] * 10, "c": ["x"] * 20}
    schema = {"a": {"categories": ["u", "b"]}, "c": {"categories": ["x"]}}
    read_csv(columns, schema)
    for name, texts in columns.items():
        texts[row] = name
    labels = [*YES[:row], "y", *YES[row + 1 : 20]]
    Path("t.csv").write_text(
        "a,c,y\n" + "".join(f"{a},{c},{y}\n" for a, c, y in zip(columns["a"], columns["c"], labels, strict=True))
    )
    with pytest.raises(InvalidSchema, match=f"line {row + 2}"):
        read_table("t.csv")
    parquet.write_table(pyarrow.table({**columns, "y": labels}), "t.parquet")
    with pytest.raises(InvalidSchema, match=f"line {row + 1}"):
        read_table("t.parquet")
    with pytest.raises(InvalidSchema):
        read_frame(columns, schema)


@pytest.mark.parametrize("write", [str.upper, str.title, str.capitalize])
@pytest.mark.parametrize("fast", [False, True])
def test_a_header_in_another_case_is_one_too(write, fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_WORTH_ARROW", 0 if fast else 1 << 40)
    names = ["age", "home town", "y"]
    lines = [",".join(names), "1,u,no", ",".join(map(write, names)), "2,b,yes"]
    Path("t.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(InvalidSchema, match="line 3"):
        read_table("t.csv")
    Path("t.csv").write_text("a,b\nA,B\nb,a\n")
    assert len(read_table("t.csv")) == 2, "two cells may be two values"


def test_the_label_names_no_record() -> None:
    with pytest.raises(InvalidSchema):
        draft_schema(Table("t", {"y": [str(k) for k in range(40)], "x": YES[:40]}, range(40)), "y", id="y")


# -- numbers that can be read in two ways -----------------------------------------------------------------------------

AMOUNTS = np.random.default_rng(4).integers(250, 7500, ROWS)
WAYS = {"dots": lambda value: f"{value:,}".replace(",", "."), "commas": lambda value: f"{value:,}"}


@pytest.mark.parametrize("way", WAYS)
def test_groups_of_three_digits_are_a_doubt(way: str) -> None:
    look = draft_column("amount", [WAYS[way](value) for value in AMOUNTS])
    assert look.doubts
    assert look.fields["thousands"] == {"dots": ".", "commas": ","}[way]
    assert look.fields["bounds"][1] > 4000
    assert draft_label([WAYS[way](value) for value in AMOUNTS]).doubts


def test_fractions_of_three_digits_are_a_doubt_too_and_stay_fractions() -> None:
    look = draft_column("weight", [f"{1 + value / 1000:.3f}" for value in AMOUNTS])
    assert look.doubts
    assert "thousands" not in look.fields


@pytest.mark.parametrize(
    "texts", [[f"{v / 100:.2f}" for v in AMOUNTS], [str(v) for v in AMOUNTS], [f"0.{v}" for v in AMOUNTS]]
)
def test_other_numbers_are_no_doubt(texts: list[str]) -> None:
    assert not draft_column("amount", texts).doubts


ODD = {
    "English thousands among points": ([f"{3 + v / 10000:.3f}" for v in AMOUNTS], "1,234.5"),
    "German thousands among commas": ([f"{3 + v / 10000:.3f}".replace(".", ",") for v in AMOUNTS], "1.234,5"),
    "a short fraction among points": ([f"{v:,}".replace(",", ".") for v in AMOUNTS if v > 999], "0.5"),
    "a short fraction among commas": ([f"{v:,}" for v in AMOUNTS if v > 999], "1,5"),
    "two groups among points": ([f"{v:,}".replace(",", ".") for v in AMOUNTS if v > 999], "1.234.567"),
    "a point among points": ([f"{v:,}".replace(",", ".") for v in AMOUNTS if v > 999], "12.5"),
}


@pytest.mark.parametrize("odd", [1, 2])
@pytest.mark.parametrize("case", ODD)
def test_few_odd_cells_do_not_settle_a_column_silently(case: str, odd: int) -> None:
    texts, other = ODD[case]
    texts = [*texts[: len(texts) // 2], *[other] * odd, *texts[len(texts) // 2 :]]
    assert draft_column("amount", texts).doubts
    assert draft_label(texts).doubts
    other_mark = {".": ",", ",": "."}[draft_column("amount", texts).fields.get("decimal", ".")]
    for mark, settled in ((other_mark, False), ({".": ",", ",": "."}[other_mark], True)):
        look = draft_column("amount", texts, (mark, ""))
        assert bool(look.doubts) != settled
        assert look.inferred == settled


def test_many_such_cells_do_settle_it() -> None:
    for texts, other in ODD.values():
        assert not draft_column("amount", [*texts, *[other] * 40]).doubts


@pytest.mark.parametrize(
    "texts", [[float(text) for text in ODD["English thousands among points"][0]], [1.5, 2.125, 3.138] * 20]
)
def test_numbers_that_a_file_stores_have_no_marks(texts: list[float]) -> None:
    columns = {"amount": FloatColumn(np.array(texts), np.zeros(len(texts), bool)), "y": YES[: len(texts)]}
    draft = draft_schema(Table("t", columns, range(len(texts))), "y")
    assert (draft.doubts, draft.inferred) == ((), ())


@pytest.mark.parametrize("mark", [".", ","])
@pytest.mark.parametrize("unit", ["", "%"])
def test_a_mark_before_a_power_of_ten_is_the_decimal_one(mark: str, unit: str) -> None:
    look = draft_column("amount", [f"{value:.3e}{unit}".replace(".", mark) for value in AMOUNTS])
    assert not look.doubts
    assert "thousands" not in look.fields
    assert look.fields.get("decimal", ".") == mark
    assert look.fields["bounds"][1] < 10_000


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("other", [".", ","])
def test_another_column_of_the_file_settles_the_marks(way: str, other: str) -> None:
    amounts = [WAYS[way](value) for value in AMOUNTS]
    rates = [f"{value % 10}{other}{value % 90 + 10}" for value in AMOUNTS]
    lines = [f"{a};{r};{y}" for a, r, y in zip(amounts, rates, YES, strict=True)]
    Path("t.csv").write_text("amount;rate;y\n" + "\n".join(lines) + "\n")
    draft = draft_schema(read_table("t.csv"), "y")
    assert (draft.doubts, draft.inferred) == ((), ("amount",))
    grouped = (other == ",") == (way == "dots")
    assert ("thousands" in draft.text) == grouped


# -- labels and names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 9])
def test_a_class_of_few_rows_is_a_doubt(rows: int) -> None:
    assert draft_label(["yess"] * rows + YES[rows:]).doubts
    assert not draft_label(YES).doubts
    assert not draft_label(["maybe"] * 10 + YES[10:]).doubts


@pytest.mark.parametrize("twins", [("Ulm", "ulm"), ("Jos\u00e9", "Jose\u0301"), ("STRASSE", "stra\u00dfe")])
def test_values_that_read_alike_are_a_doubt(twins: tuple[str, str]) -> None:
    texts = [(*twins, "Bonn")[k % 3] for k in range(ROWS)]
    assert draft_column("town", texts).doubts
    assert draft_label(texts).doubts


@pytest.mark.parametrize(
    ("names", "alike"), [(["Jose\u0301-1", "Jos\u00e9-1", "Ana@x.org", "ana@X.org"], 4), (["A1", "A2", "b", "c"], 0)]
)
def test_ids_that_read_alike_are_counted(names: list[str], alike: int) -> None:
    from noisygd_delete.features.schema.schema import GatheredRows, RecordFile

    Path("t.csv").write_text("id,a,y\n" + "".join(f"{name},{k},{YES[k]}\n" for k, name in enumerate([*names, *map(str, range(90))])))  # fmt: skip
    schema = Schema.from_dict({"id": "id", **LABEL, "columns": {"a": {"bounds": [0, 99]}}})
    reading, whole = RecordFile(schema, "t.csv"), GatheredRows(schema.features)
    reading.read(whole.add, lambda: whole.ids)
    assert reading.alike == alike
