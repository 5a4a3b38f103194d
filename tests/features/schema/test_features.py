"""Schema and rows: recomputed cell by cell with plain Python, bounds of the norm exact, faults named and quoted nowhere."""

from __future__ import annotations

import builtins
import gzip
import math
import shutil
import subprocess
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisygd_delete.errors import InvalidParameter, InvalidSchema, MissingDependency
from noisygd_delete.features.schema import Schema, Table, draft_schema, read_blocks, read_table

FIELDS = {
    "label": {"column": "y", "classes": ["no", "yes"]},
    "id": "id",
    "subject": "person",
    "columns": {
        "age": {"bounds": [0, 100]},
        "gain": {"bounds": [0, 9999], "transform": "log1p", "missing": 0},
        "work": {"categories": ["a", "b"]},
        "sex": {"categories": ["f", "m"], "unknown": "zero"},
    },
}
CSV = """\
id,person,age,gain,work,sex,y,unused
r1,p1,50,0,a,f,no,x
r2,p1,130,,"b",m,yes,
r3,p2,-5,99.5,?,q,no,"a, b"
"""


@pytest.mark.parametrize("bounds", [[-2e6, 2e6], [0, 2e6], [-2e6, 5.0]])
def test_a_range_known_in_order_of_magnitude_is_read_by_a_signed_logarithm(bounds: list[float]) -> None:
    schema = Schema.from_dict(
        {
            "label": FIELDS["label"],
            "columns": {"gain": {"bounds": bounds, "transform": "signed-log", "missing": "middle"}},
        }
    )
    kind = schema.columns["gain"]
    cells = [-3e6, -2e6, -700.5, -20.0, -1e-9, 0.0, 3.25, 20.0, 1e5, 2e6, 9e9]

    def curve(value: float) -> float:
        return math.copysign(math.log(1 + abs(value) / 20.0), value)  # 20: a hundred thousandth of the larger end

    low, high = map(curve, bounds)
    expected = [2 * (curve(min(max(value, bounds[0]), bounds[1])) - low) / (high - low) - 1 for value in cells]
    found = kind.scaled(np.array(cells))
    assert found == pytest.approx(expected, abs=1e-9)
    inside = np.array([value for value in cells if bounds[0] <= value <= bounds[1]])
    assert kind.unscale(kind.scaled(inside)) == pytest.approx(inside, rel=1e-9, abs=1e-6)
    assert kind.missing == pytest.approx(float(kind.unscale(np.zeros(1))[0]))
    assert Schema.from_dict(schema.to_dict()).columns["gain"] == kind


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def table(**columns: list[str]) -> Table:
    return Table("made", columns, range(2, 2 + len(next(iter(columns.values())))))


def exact_norm_squared(row: np.ndarray) -> Fraction:
    return sum((Fraction(float(value)) ** 2 for value in row), Fraction(0))


def test_rows_are_what_the_schema_says_cell_by_cell(tmp_path: Path) -> None:
    encoded = Schema.from_dict(FIELDS).encode_file(write(tmp_path / "a.csv", CSV))
    gain = 2 * math.log(100.5) / math.log(10000) - 1
    raw = [
        [0, -1, 1, 0, 0, 1, 0, 1],
        [1, -1, 0, 1, 0, 0, 1, 1],
        [-1, gain, 0, 0, 1, 0, 0, 1],
    ]
    for row, expected in zip(encoded.rows, raw, strict=True):
        np.testing.assert_allclose(row, np.array(expected) / math.hypot(*expected), rtol=1e-6, atol=1e-7)
    assert encoded.labels.tolist() == [-1, 1, -1]
    assert (encoded.ids, encoded.subjects) == (["r1", "r2", "r3"], ["p1", "p1", "p2"])
    assert encoded.clipped == {"age": 2, "gain": 0}
    assert encoded.unknown == {"work": 1, "sex": 1}
    assert Schema.from_dict(FIELDS).names == [
        *("age", "gain", "work=a", "work=b", "work: other", "sex=f", "sex=m", "(constant)")
    ]  # fmt: skip


def test_clip_shortens_only_long_rows() -> None:
    fields = {**FIELDS, "rows": "clip", "radius": 1.5, "intercept": False, "id": None, "subject": None}
    fields = {key: value for key, value in fields.items() if value is not None}
    fields["columns"] = {name: {"bounds": [-1, 1]} for name in "ab"}
    rows = Schema.from_dict(fields).encode(table(a=["0.25", "1", "0"], b=["0.5", "1", "0"], y=["no", "yes", "no"])).rows
    assert rows.tolist()[0] == [0.25, 0.5]
    assert rows.tolist()[2] == [0, 0]
    fields["radius"] = 1.0
    long = Schema.from_dict(fields).encode(table(a=["1"], b=["1"], y=["no"])).rows[0]
    assert exact_norm_squared(long) <= 1
    np.testing.assert_allclose(long, math.sqrt(0.5), rtol=1e-6)


def test_labels_of_several_classes_and_of_a_target() -> None:
    several = Schema.from_dict({"label": {"column": "y", "classes": ["c", "a", "b"]}})
    assert several.encode(table(y=["a", "c", "b", "a"])).labels.tolist() == [1, 0, 2, 1]
    target = Schema.from_dict({"label": {"column": "y", "bounds": [0, 200]}})
    encoded = target.encode(table(y=["0", "150", "999"]))
    assert encoded.labels.tolist() == [-1, 0.5, 1]
    assert encoded.clipped == {"y": 1}
    assert several.classes == ("c", "a", "b")
    assert target.classes is None


numbers = st.floats(-1e300, 1e300, allow_nan=False).map(repr)


@settings(deadline=None, max_examples=60)
@given(
    rows=st.lists(st.lists(numbers, min_size=5, max_size=5), min_size=1, max_size=8),
    radius=st.floats(1e-6, 1e6),
    clip=st.booleans(),
    span=st.floats(1e-30, 1e30),
)
def test_the_exact_norm_never_exceeds_the_radius_and_rows_do_not_see_each_other(rows, radius, clip, span) -> None:
    fields = {
        "rows": "clip" if clip else "unit",
        "radius": radius if clip else 1,
        "intercept": False,
        "label": {"column": "y", "bounds": [0, 1]},
        "columns": {f"c{j}": {"bounds": [-span, span / 3]} for j in range(5)},
    }
    schema = Schema.from_dict(fields)
    columns = {f"c{j}": [row[j] for row in rows] for j in range(5)}
    encoded = schema.encode(table(**columns, y=["0.5"] * len(rows))).rows
    limit = Fraction(schema.radius) ** 2
    for index, row in enumerate(encoded):
        assert exact_norm_squared(row) <= limit
        alone = schema.encode(table(**{name: [cells[index]] for name, cells in columns.items()}, y=["0.5"])).rows[0]
        assert alone.tobytes() == row.tobytes()


def test_without_the_headroom_float32_rounding_exceeds_the_radius(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: the test above has the power to see a missing ulp."""
    monkeypatch.setattr("noisygd_delete.features.maps.base.HEADROOM", 1.0)
    schema = Schema.from_dict({**FIELDS, "columns": {"a": {"bounds": [0, 1000]}, "b": {"bounds": [0, 1000]}}})
    cells = {"a": [str(k) for k in range(200)], "b": [str(7 * k % 1000) for k in range(200)]}
    rest = {"y": ["no"] * 200, "id": [f"i{k}" for k in range(200)], "person": ["p"] * 200}
    assert any(exact_norm_squared(row) > 1 for row in schema.encode(table(**cells, **rest)).rows)


def test_blocks_make_the_same_rows_as_the_whole_file(tmp_path: Path) -> None:
    lines = [f"r{k},p,{k % 120},{k},a,f,no,z" for k in range(1000)]
    path = write(tmp_path / "a.csv", CSV.splitlines()[0] + "\n" + "\n".join(lines) + "\n")
    schema = Schema.from_dict(FIELDS)
    whole = schema.encode(read_table(path))
    parts = [schema.encode(block) for block in read_blocks(path, rows=37)]
    assert np.concatenate([part.rows for part in parts]).tobytes() == whole.rows.tobytes()
    assert sum(part.clipped["age"] for part in parts) == whole.clipped["age"] > 0


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_delimiter_quotes_bom_crlf_and_gzip_read_alike(tmp_path: Path, delimiter: str) -> None:
    rows = [line.split(",") for line in CSV.splitlines()[:3]]
    text = "\ufeff" + "\r\n".join(delimiter.join(f'"{cell.strip(chr(34))}"' for cell in row) for row in rows)
    plain = write(tmp_path / "a.csv", text)
    (tmp_path / "b.gz").write_bytes(gzip.compress(text.encode()))
    expected = read_table(write(tmp_path / "c.csv", CSV))
    for read in (read_table(plain), read_table(tmp_path / "b.gz"), read_table(plain, delimiter)):
        assert {name: list(cells) for name, cells in read.columns.items()} == {
            name: list(cells)[:2] for name, cells in expected.columns.items()
        }
    assert list(read_table(plain).lines) == [2, 3]


def test_parquet_reads_like_csv(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"id": [1, 2, 3], "person": ["p1", "p1", "p2"], "age": [50.0, 130.0, -5.0], "gain": [0, None, 99.5]}
    columns |= {"work": ["a", "b", None], "sex": ["f", "m", "q"], "y": ["no", "yes", "no"]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    schema = Schema.from_dict(FIELDS)
    encoded = schema.encode_file(tmp_path / "a.parquet")
    reference = schema.encode_file(write(tmp_path / "a.csv", CSV))
    assert encoded.rows.tobytes() == reference.rows.tobytes()
    assert encoded.ids == ["1", "2", "3"]
    whole = (tmp_path / "a.parquet").read_bytes()
    for cut in (5, len(whole) // 2, len(whole) - 3):
        (tmp_path / "cut.parquet").write_bytes(whole[:cut])
        with pytest.raises(InvalidSchema, match=r"cut\.parquet.*not a whole Parquet file"):
            schema.encode_file(tmp_path / "cut.parquet")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    (tmp_path / "a.parquet").write_bytes(b"PAR1....PAR1")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependency, match=r"noisygd-delete\[files\]"):
        read_table(tmp_path / "a.parquet")


BAD_FILES = {
    "empty": ("", "empty"),
    "header only": ("id,person,age,gain,work,sex,y\n", "no records"),
    "missing column": ("id,person,gain,work,sex,y\nr,p,1,a,f,no\n", "no column 'age'"),
    "wrong type": (CSV + "r4,p3,SECRET,1,a,f,no,\n", "line 5, column 'age': not a finite number"),
    "not finite": (CSV + "r4,p3,nan,1,a,f,no,\n", "line 5, column 'age': not a finite number"),
    "infinite": (CSV + "r4,p3,1e999,1,a,f,no,\n", "line 5, column 'age': not a finite number"),
    "no value": (CSV + "r4,p3,,1,a,f,no,\n", "line 5, column 'age': empty"),
    "unknown class": (CSV + "r4,p3,1,1,a,f,SECRET,\n", "line 5, column 'y': not one of the 2"),
    "duplicate id": (CSV + "r2,p3,1,1,a,f,no,\n", "line 5, column 'id': the same id as line 3"),
    "empty id": (CSV + " ,p3,1,1,a,f,no,\n", "line 5, column 'id': empty"),
    "empty subject": (CSV + "r4,,1,1,a,f,no,\n", "line 5, column 'person': empty"),
    "ragged": (CSV + "r4,p3,1\n", "line 5: 3 cells where the header has 8"),
    "quote left open": (CSV + 'r4,p3,"SECRET', "near line 5: not CSV"),
    "two columns alike": ("a,b,a\n1,2,3\n", "two columns are called 'a'"),
    "two columns that look alike": ("Jos\u00e9,b,Jose\u0301\n1,2,3\n", "line 1: two columns"),
    "two columns alike, one of them named here": ("Unnamed: 1,\n1,2\n", "two columns are called 'Unnamed: 1'"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_one_error_naming_the_place_and_quoting_no_cell(tmp_path: Path, case: str) -> None:
    text, expected = BAD_FILES[case]
    path = write(tmp_path / "bad.csv", text)
    with pytest.raises(InvalidSchema) as caught:
        Schema.from_dict(FIELDS).encode_file(path)
    assert expected in str(caught.value)
    assert "bad.csv" in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_blank_lines_are_skipped_and_lines_stay_right(tmp_path: Path) -> None:
    head, *rest = CSV.splitlines()
    blocks = list(read_blocks(write(tmp_path / "a.csv", "\n\n\n\n\n".join([head, *rest]) + "\n\n"), rows=2))
    assert [list(block.lines) for block in blocks] == [[6, 11], [16]]


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.binary(max_size=200), st.text(alphabet='ab,;"\t|\r\n0 \x00', max_size=80).map(str.encode)))
def test_any_bytes_are_a_table_or_one_error(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(data)
        try:
            read = read_table(path)
        except InvalidSchema as error:
            assert str(path) in str(error)  # noqa: PT017 -- a table is the other right answer
        else:
            assert len(read) > 0
            assert all(len(cells) == len(read) for cells in read.columns.values())


def test_a_file_that_unpacks_to_one_endless_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noisygd_delete.features.schema.files._LONGEST_LINE", 1000)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"a,b\n" + b"0" * 100_000))
    with pytest.raises(InvalidSchema, match="line 2: longer than 1000"):
        read_table(tmp_path / "bomb.gz")


def test_damaged_bytes_and_absent_files_are_errors(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes(b"a,b\n1,\xff\xfe\n")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(CSV.encode() * 50)[:-20])
    (tmp_path / "wrong.gz").write_bytes(gzip.compress(CSV.encode())[:12] + b"\xff" * 90)
    for name, expected in {
        "latin.csv": "not UTF-8",
        "cut.gz": "breaks off",
        "wrong.gz": "damaged",
        "none.csv": "cannot be read",
    }.items():
        with pytest.raises(InvalidSchema, match=expected):
            read_table(tmp_path / name)
    with pytest.raises(InvalidParameter, match="one character"):
        read_table(tmp_path / "latin.csv", delimiter=",,")


@pytest.mark.skipif(shutil.which("iconv") is None, reason="the command that the message names")
@pytest.mark.parametrize(
    ("coding", "town"),
    [
        *((coding, "Évora") for coding in ("cp1252", "utf-16", "utf-16-le", "utf-16-be")),
        ("utf-16-le", "Elvas"),
        ("utf-16-be", "Elvas"),
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_in_another_coding_says_what_to_run(tmp_path: Path, coding: str, town: str, compressed: bool) -> None:
    text = "town,y\n" + f"{town},1\nFaro,2\n" * 20
    (tmp_path / "a b.csv").write_bytes(gzip.compress(text.encode(coding)) if compressed else text.encode(coding))
    with pytest.raises(InvalidSchema, match="CSV UTF-8") as caught:
        read_table(tmp_path / "a b.csv")
    subprocess.run(str(caught.value).split("or: ")[1], shell=True, cwd=tmp_path, check=True)
    assert read_table(tmp_path / "utf-8.csv").columns["town"][:2] == [town, "Faro"]


@pytest.mark.skipif(shutil.which("iconv") is None, reason="the command that the message names")
def test_the_command_for_another_coding_overwrites_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    content = ("town,y\n" + "Évora,1\n" * 20).encode("cp1252")
    Path("utf-8.csv").write_bytes(content)
    with pytest.raises(InvalidSchema) as caught:
        read_table("utf-8.csv")
    subprocess.run(str(caught.value).split("or: ")[1], shell=True, check=True)
    assert Path("utf-8.csv").read_bytes() == content
    assert read_table("utf-8-2.csv").columns["town"][0] == "Évora"


BAD_SCHEMAS = [
    ({"colums": {}}, "unknown key 'colums'"),
    ({"rows": "long"}, 'rows = \'long\' must be "unit" or "clip"'),
    ({"rows": "clip"}, "radius"),
    ({"rows": "clip", "radius": 1e9}, "between"),
    ({"radius": 2}, 'must be 1 with rows = "unit"'),
    ({"intercept": 1}, "true or false"),
    ({"label": {"column": "y"}}, "either classes"),
    ({"label": {"column": "y", "classes": ["no"]}}, "at least 2"),
    ({"label": {"column": "y", "classes": ["no", "yes"], "bounds": [0, 1]}}, "either classes"),
    ({"columns": {"age": {"bounds": [0]}}}, "lo < hi"),
    ({"columns": {"age": {"categories": []}}}, "at least 1"),
    ({"label": {"classes": ["no", "yes"]}}, "name of the column to predict"),
    ({"label": {"column": "age", "classes": ["no", "yes"]}}, "also the label column"),
    ({"id": "age"}, "also the id column"),
    ({"columns": {}, "intercept": False}, "nothing to learn from"),
    ({"columns": {"age": {}}}, "either bounds"),
    ({"columns": []}, "must be tables"),
    ({"columns": {"age": 5}}, "must be a table of keys"),
    ({"label": {"column": " ", "classes": ["no", "yes"]}}, "name of a column"),
    ({"columns": {"age": {"bounds": [0, 1], "missing": "x"}}}, "a finite number"),
    ({"columns": {"age": {"bounds": [1, 1]}}}, "lo < hi"),
    ({"columns": {"age": {"bounds": [0, math.nan]}}}, "lo < hi"),
    ({"columns": {"age": {"bounds": [0, 10**400]}}}, "lo < hi"),
    ({"columns": {"age": {"bounds": [-1.7e308, 1.7e308]}}}, "lo < hi"),
    ({"columns": {"age": {"bounds": [-1, 1], "transform": "log1p"}}}, "above -1"),
    ({"columns": {"age": {"bounds": [1e17, 1e17 + 16], "transform": "log1p"}}}, "one number"),
    ({"columns": {"age": {"bounds": [0, 1], "transform": "log"}}}, '"none" or "log1p" or "signed-log"'),
    ({"columns": {"age": {"bounds": [0, 1], "missing": 2}}}, "within the bounds"),
    ({"columns": {"age": {"bounds": [0, 1], "unknown": "zero"}}}, "does not belong"),
    ({"columns": {"age": {"categories": [1, 2]}}}, "list of texts"),
    ({"columns": {"age": {"categories": ["a", "a"]}}}, "different values"),
    ({"columns": {"age": {"categories": ["a"], "unknown": "guess"}}}, '"column" or "zero" or "refuse"'),
]


@pytest.mark.parametrize(("change", "expected"), BAD_SCHEMAS)
def test_a_bad_schema_names_the_key_and_what_it_must_hold(change: dict, expected: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        Schema.from_dict({**FIELDS, **change}, "my.toml")
    assert expected in str(caught.value)
    assert "my.toml" in str(caught.value)


def test_a_schema_survives_toml_and_its_own_dictionary(tmp_path: Path) -> None:
    schema = Schema.from_dict(FIELDS)
    assert Schema.from_dict(schema.to_dict()) == schema
    with pytest.raises(InvalidSchema, match="not a TOML file"):
        Schema.read(write(tmp_path / "s.toml", "a = ["))
    with pytest.raises(InvalidSchema, match="cannot be read"):
        Schema.read(tmp_path / "none.toml")


def test_a_draft_is_a_schema_that_nobody_has_confirmed(tmp_path: Path) -> None:
    odd = CSV.replace("unused", '"un""us\x7f\u2028ed"')
    read = read_table(write(tmp_path / "a.csv", odd))
    text = draft_schema(read, label="y", id="id", subject="person").text
    assert "NOT public" in text
    schema = Schema.read(write(tmp_path / "draft.toml", text))
    assert not schema.confirmed
    assert (schema.id_column, schema.subject_column, schema.classes) == ("id", "person", ("no", "yes"))
    encoded = schema.encode(read)
    assert sum(encoded.clipped.values()) == 0
    gaps = {"gain": 1, "work": 1, 'un"us\x7f\u2028ed': 1}  # empty cells and "?": each has its own column
    assert {name: count for name, count in encoded.unknown.items() if count} == gaps
    confirmed = text.replace("confirmed = false", "confirmed = true")
    assert Schema.read(write(tmp_path / "draft.toml", confirmed)).confirmed
    with pytest.raises(InvalidSchema, match="no column 'z'"):
        draft_schema(read, label="z")


def test_adult_makes_108_unit_features_and_the_known_accuracy(adult) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    assert adult.rows.shape == (32561, 108)
    norms = np.sqrt(np.einsum("ij,ij->i", adult.rows, adult.rows, dtype=np.float64))
    assert 1 - 1e-6 < norms.min() <= norms.max() <= 1
    assert sum(adult.clipped.values()) == 0
    assert {name: count for name, count in adult.unknown.items() if count} == {
        "workclass": 1836,
        "occupation": 1843,
        "native_country": 583,
    }
    train, test = slice(0, 26_000), slice(26_000, None)
    model = linear.LogisticRegression(C=1 / (1e-3 * 26_000), fit_intercept=False, max_iter=500)
    model.fit(adult.rows[train], adult.labels[train])
    assert 0.83 < model.score(adult.rows[test], adult.labels[test]) < 0.85
