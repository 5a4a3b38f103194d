"""The reader by columns against one that asks cell by cell: the same text, the same bits, the same lines, the same refusals."""

from __future__ import annotations

import gzip
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from noisygd_delete.errors import InvalidSchema
from noisygd_delete.features.schema import Schema, files, plain_csv, read_blocks, read_table
from noisygd_delete.features.schema.arrow import SPACES, TextColumn
from tests.conftest import ROOT
from tests.features.schema import cell_by_cell

pyarrow = pytest.importorskip("pyarrow")

PIECES = st.sampled_from(
    ["a", "b", "1", "-2.5", "", " ", '"', '""', '"q"', '"a,b"', '"x\ny"', ",", ",", ",", "\n", "\n", "\n", "\r\n", "\r"]  # noqa: RUF005
    + ["é", "\u3000", "\xa0", "\t", "\x1c", "\0", ";", "|", "1e5", "nan", "0.1", '"a""b"', "\ufeff", " 7 ", "\u2028"]
)
FILES = st.lists(PIECES, max_size=40).map("".join)
TABLES = st.lists(st.lists(PIECES, min_size=3, max_size=3).map(",".join), max_size=12).map("\n".join)
MARKS = st.sampled_from([",", ",", ";", "|", "\t", "-"])


def read(path: Path, delimiter: str) -> list[tuple[int, dict[str, str]]] | str:
    """Every row, or the refusal; a file without rows is none of both readers' business here."""
    found = []
    try:
        for table in read_blocks(path, delimiter, rows=3):
            columns = {name: list(texts) for name, texts in table.columns.items()}
            assert all(table.columns[name][0] == texts[0] for name, texts in columns.items())
            rows = zip(*columns.values(), strict=True)
            found += [(line, dict(zip(columns, row, strict=True))) for line, row in zip(table.lines, rows, strict=True)]
    except InvalidSchema as error:
        return str(error)
    return found


@settings(deadline=None, max_examples=400)
@given(FILES | TABLES, MARKS, st.sampled_from([1, 7, 1 << 20]), st.booleans())
@example('1,2,3\n"4",5,6\n', ",", 1, False)
@example('1,2,3\n4, "5" ,6\n', ",", 1, False)
@example("1,2,3\r\n\r\n4,5,6\r", ",", 1, False)
@example("\n\n1,2,3", ",", 1, False)
def test_cells_are_those_of_the_csv_module(body: str, mark: str, piece: int, squeezed: bool) -> None:
    document = f"x{mark}y{mark}z\n{body}"
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(plain_csv, "_PLAIN_PIECE", piece)
        path = Path(folder, "file.csv")
        path.write_bytes(gzip.compress(document.encode()) if squeezed else document.encode())
        found = read(path, mark)
        expected = cell_by_cell.read(path, mark)
    if isinstance(expected, cell_by_cell.Refused):
        assert isinstance(found, str)
        assert f"line {expected.line}" in found
    else:
        assert found == expected or (not expected and "no records" in found)


NUMBERS = st.one_of(
    st.floats().map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda x: f"{x:.6f}"),
    st.floats(0, 1).map(lambda x: f"{x:.{random.Random(x).randrange(25)}f}"),
    st.integers().map(str),
    st.integers(0, 10**21).map(str),
    st.tuples(st.integers(0, 10**12), st.integers(0, 10**14)).map(lambda pair: f"{pair[0]}.{pair[1]}"),
    st.text("0123456789.-+eE_ \tinfa,", max_size=8),
    st.sampled_from(
        ["", ".", "-", "-.", "5.", ".5", "-.5", "--5", "1..2", "-0", "0x10", "１２", "1_000", "1__0", "00007"]
    ),
    st.sampled_from(
        ["9007199254740993", "18446744073709551615", "9999999999999999999", "99999999999999999999", "1" * 40]
    ),
    st.sampled_from(["0.1000000000000000055511151231257827", "2.2250738585072011e-308", "nan", "-inf", "1e400", "1-2"]),
)
# columns that Arrow parses without looking at each cell, and columns that only seem to be such
DIGITS = st.text("0123456789.-", min_size=1, max_size=4) | st.sampled_from(["5.", ".5", "-0", "-.25", "007", "1" * 41])


def column(texts: list[str]) -> TextColumn:
    return TextColumn(pyarrow.array(texts, pyarrow.string()))


@pytest.fixture(autouse=True)
def every_file_is_worth_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_WORTH_ARROW", 0)


@settings(deadline=None, max_examples=400)
@given(st.lists(NUMBERS, max_size=20) | st.lists(DIGITS, max_size=9))
def test_numbers_are_floats_bit_for_bit(texts) -> None:
    found = column(texts)
    expected = np.array([cell_by_cell.number(cell) for cell in texts])
    for part in (slice(None), slice(2, 7)):
        numbers = found.part(part).numbers()
        np.testing.assert_array_equal(numbers, expected[part])
        there = ~np.isnan(numbers)
        assert (np.signbit(numbers) == np.signbit(expected[part]))[there].all()


def test_a_million_decimals_are_rounded_once() -> None:
    """17 digits as `repr` writes them, and decimals that lie next to half-way between two floats, where rounding twice shows."""
    rng, texts = random.Random(5), []
    for _ in range(20_000):
        value = rng.random() * 10 ** rng.randrange(-3, 4)
        texts += [repr(value), f"{(value + math.nextafter(value, 1e9)) / 2:.17g}", f"{value:.18f}"]
    for _ in range(2_000):  # exact half-way points of 54 bits, cut off at 19 digits
        odd = (1 << 53) + 2 * rng.randrange(1 << 52) + 1
        digits = str(odd * 5**10)
        texts.append(f"{digits[:-10]}.{digits[-10:]}"[:20])
        texts.append(str(odd))
    found = column(texts).numbers()
    assert found.tolist() == list(map(float, texts))


def test_spaces_are_those_of_python() -> None:
    assert {letter for letter in map(chr, range(sys.maxunicode + 1)) if letter.isspace()} == set(SPACES)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.text("ab é\u3000\xa0\t\x1c\x85\u2028\x0b", max_size=90), max_size=10))
def test_space_is_stripped_as_python_strips_it(texts) -> None:
    assert list(column(texts)) == [cell.strip() for cell in texts]
    assert column(texts).lengths.tolist() == [len(cell.strip().encode()) for cell in texts]


VALUES = st.lists(
    st.text("ab é", max_size=20).map(str.strip) | st.integers(60, 90).map(lambda n: "x" * n), unique=True, max_size=9
)


@settings(deadline=None, max_examples=200)
@given(VALUES, st.lists(st.text("ab é", max_size=20) | st.integers(60, 90).map(lambda n: "x" * n), max_size=9))
def test_places_in_a_list_are_those_of_a_dictionary(values, texts) -> None:
    texts = [*texts, *values]
    found = column(texts).positions(tuple(values)).tolist()
    assert found == [cell_by_cell.place(cell.strip(), tuple(values)) for cell in texts]


def encoded(schema: Schema, path: Path, *, columnar: bool) -> tuple[object, ...]:
    with pytest.MonkeyPatch.context() as patched:
        if not columnar:
            patched.setattr(files, "read_header", lambda *_: None)
        made = schema.encode_file(path)
    return made.rows.tobytes(), made.labels.tobytes(), made.ids, made.subjects, made.clipped, made.unknown


@pytest.mark.parametrize("quoted", ["never", "always", "sometimes"])
def test_rows_are_bit_for_bit_those_of_the_careful_reader(tmp_path: Path, quoted: str) -> None:
    rng = random.Random(3)
    schema = Schema.read(ROOT / "examples" / "schemas" / "adult.toml").with_columns(id="id", subject="person")
    names = ["id", "person", *schema.columns, schema.label_column, "unused"]
    lines = [";".join(names)]
    for number in range(3000):
        cells = [f"id-{number}", f"person-{number // 2}"]
        for kind in schema.columns.values():
            values = getattr(kind, "values", None)
            cells.append(rng.choice([*values, "?"]) if values else f"{rng.uniform(-5, 2e5):.{rng.randrange(9)}f}")
        cells += [rng.choice(schema.classes), "free text, with commas"]
        if quoted == "always" or (quoted == "sometimes" and rng.random() < 0.3):
            cells = [f'"{cell}"' for cell in cells]
        lines.append(";".join(cells))
    path = tmp_path / "adult.csv"
    path.write_text("\n".join(lines))
    plainly = encoded(schema, path, columnar=True)
    assert plainly == encoded(schema, path, columnar=False)
    assert len(plainly[2]) == 3000


def test_the_careful_reader_is_not_needed_for_a_plain_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text('x,y\n1,"a"\r\n2, b \n\n3,"c;,"')
    monkeypatch.setattr(files, "_parse_cells", None)
    table = read_table(tmp_path / "a.csv")
    assert (list(table.columns["y"]), list(table.lines)) == (["a", "b", "c;,"], [2, 3, 5])


def test_a_longer_file_takes_no_more_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By Arrow's own count: a piece and the one before it, however many there are."""
    monkeypatch.setattr(plain_csv, "_PLAIN_PIECE", 1 << 16)
    lines = [f"{k},{k / 7},{'text' * 5}" for k in range(50_000)]
    (tmp_path / "a.csv").write_text("x,y,z\n" + "\n".join(lines))
    before, held = pyarrow.total_allocated_bytes(), []
    for block in read_blocks(tmp_path / "a.csv"):
        assert len(block.columns["z"]) == len(block)
        held.append(pyarrow.total_allocated_bytes() - before)
    assert len(held) > 30
    assert max(held) < 12 << 16


def test_a_short_file_is_read_before_arrow_is_imported_and_so_is_any_without_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,a\n")
    code = (
        "import sys\nfrom noisygd_delete.features.schema import files, read_table\n"
        f"read = lambda: list(read_table({str(tmp_path / 'a.csv')!r}).columns['y'])\n"
        "assert read() == ['a'] and 'pyarrow' not in sys.modules\n"
        "files._WORTH_ARROW = 0\n"
        "files.find_spec = lambda name: None\nassert read() == ['a'] and 'pyarrow' not in sys.modules\n"
        "del files.find_spec\nfrom importlib.util import find_spec\nfiles.find_spec = find_spec\n"
        "assert read() == ['a'] and 'pyarrow' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_header_beyond_its_limits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x" * 200_000 + ",y\n1,2\n")
    with pytest.raises(InvalidSchema, match="not CSV"):
        list(read_blocks(tmp_path / "a.csv"))


def test_a_fault_far_down_is_named_by_its_line_and_column_and_not_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain_csv, "_PLAIN_PIECE", 1 << 12)  # many pieces before it, and after
    schema = Schema.from_dict(
        {"label": {"column": "y", "classes": ["a", "b"]}, "columns": {"x": {"bounds": [0, 1]}}, "id": "i"}
    )
    lines = ["i,x,y", *(f"{k},0.5,a" for k in range(5000))]
    path = tmp_path / "a.csv"
    for fault, said in (
        ("5001,secret,a", "line 4002, column 'x'"),
        ("5001,0.5,secret", "line 4002, column 'y'"),
        ("5001,0.5,a,secret", "line 4002: 4 cells"),
        ("77,0.5,b", "line 4002, column 'i': the same id as line 79"),
        (",0.5,b", "line 4002, column 'i': empty"),
        ('5001,0.5,"secret" b', "line 4002: not CSV"),
    ):
        path.write_text("\n".join([*lines[:4001], fault, *lines[4001:]]))
        with pytest.raises(InvalidSchema) as caught:
            schema.encode_file(path)
        assert said in str(caught.value)
        assert "secret" not in str(caught.value)
