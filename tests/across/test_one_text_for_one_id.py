"""An id is one text at every door: tables of every kind that hold it, and every way to ask for it. Nobody else answers to it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_sources.source import blocks

from noisygd_delete import EditRequest
from noisygd_delete.errors import InvalidSchema, SourceError
from noisygd_delete.features.schema import Schema, read_table
from noisygd_delete.store import Store
from tests.cli.planned import main

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
from pyarrow import parquet  # noqa: E402

IDS = ["17", "007", "a b", "ü", "1e5", "１７", "x,y", "b'17'", "1.0", "nan", "-3", "+3", "1_7"]
ALIKE = [" 17", "17 ", "\t17", " a b", "17.0", "07", "7", "B'17'", "１7", "ü "]  # texts of nobody here
SCHEMA = 'confirmed = true\nrows = "unit"\nintercept = true\nid = "id"\n[label]\ncolumn = "y"\nclasses = ["no", "yes"]\n[columns.size]\nbounds = [0, 100]\n'
PLAN = ["--method", "noisy-gd", "--regularization", "0.5", "--no-utility", "--no-total"]


def rows(names: list[Any]) -> dict[str, Any]:
    return {"id": names, "size": list(range(len(names))), "y": ["yes" if k % 2 else "no" for k in range(len(names))]}


def csv(path: Path) -> Path:
    columns = rows([f'"{name}"' for name in IDS])
    path.write_text(
        "\n".join(["id,size,y", *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]) + "\n"
    )
    return path


def parquet_of(kind: Any) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        columns = rows(IDS)
        columns["id"] = pyarrow.array([name.encode() for name in IDS], pyarrow.binary()).cast(kind)
        parquet.write_table(pyarrow.table(columns), path)
        return path

    return write


TABLES = {
    "csv": csv,
    "text": parquet_of(pyarrow.string()),
    "bytes": parquet_of(pyarrow.binary()),
    "large bytes": parquet_of(pyarrow.large_binary()),
    "coded": lambda path: (parquet.write_table(pyarrow.table(rows(IDS)).cast(_coded()), path), path)[1],
}


def _coded() -> Any:
    coded = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    return pyarrow.schema([("id", coded), ("size", pyarrow.int64()), ("y", pyarrow.string())])


def by_argument(name: str) -> int:
    return main(["delete", "store", "--", name] if name.startswith("-") else ["delete", "store", name])


def by_file(name: str) -> int:
    Path("ids.txt").write_text(f"{name}\n")
    return main(["delete", "store", "--file", "ids.txt"])


def by_file_of_windows(name: str) -> int:
    Path("ids.txt").write_bytes(f"{name}\r\n".encode())
    return main(["delete", "store", "--file", "ids.txt"])


def by_pipe(name: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{name}\n".encode()), encoding="utf-8"))
    return main(["delete", "store", "--file", "-"])


def by_stream(name: str) -> int:
    Path("requests.jsonl").write_text(json.dumps({"delete": [name], "request_id": "r" + name.encode().hex()}) + "\n")
    return main(["stream", "store", "requests.jsonl"])


def by_python(name: str) -> int:
    with Store.open("store") as store:
        try:
            store.serve(EditRequest.delete([name], request_id="r" + name.encode().hex()))
        except Exception:
            return 2
    return 0


DOORS: dict[str, Callable[..., int]] = {
    each.__name__: each for each in (by_argument, by_file, by_file_of_windows, by_pipe, by_stream, by_python)
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


def held() -> set[Any]:
    with Store.open("store") as store:
        return set(store.records.ids)


def ask(door: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call = DOORS[door]
    call(name, monkeypatch) if call is by_pipe else call(name)


@pytest.mark.parametrize(
    ("table", "door"),
    [*((table, "by_argument") for table in TABLES if table != "csv"), *(("csv", door) for door in DOORS)],
)
def test_a_request_reaches_the_row_of_that_very_text_and_no_other(
    table: str, door: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    data = TABLES[table](folder / "data")
    assert main(["init", "store", "--data", str(data), "--schema", "schema.toml", *PLAN]) == 0
    assert main(["learn", "store"]) == 0
    left = set(IDS)
    assert held() == left
    for name in ALIKE:
        ask(door, name, monkeypatch)
        assert held() == left, f"{name!r} is nobody"
    for name in IDS[:4] if table != "csv" else IDS:
        ask(door, name, monkeypatch)
        left.remove(name)
        assert held() == left, name


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pyarrow.array([1.0, 2.0, 1e22]), "fractional numbers"),
        (pyarrow.array([1.5, 1.0, 2.0], pyarrow.float32()), "fractional numbers"),
        (pyarrow.array([[1], [2], [3]]), "a list or a record"),
        (pyarrow.array([{"a": 1}, {"a": 2}, {"a": 3}]), "a list or a record"),
        (pyarrow.array([b"\xff\xfe", b"a", b"b"]), "no UTF-8"),
    ],
    ids=["fractions", "single precision", "lists", "records", "bytes"],
)
def test_what_has_no_one_text_is_no_id(column: Any, said: str, folder: Path) -> None:
    parquet.write_table(pyarrow.table({**rows([0, 0, 0]), "id": column}), folder / "t.parquet")
    with pytest.raises(InvalidSchema, match=said):
        Schema.read("schema.toml").encode(read_table("t.parquet"))


def test_whole_numbers_read_alike_wherever_they_lie(folder: Path) -> None:
    Path("t.csv").write_text("id,size,y\n17,1,no\n18,2,yes\n")
    for kind in (pyarrow.int8(), pyarrow.uint64(), pyarrow.decimal128(19, 0)):
        parquet.write_table(pyarrow.table({**rows([17, 18]), "id": pyarrow.array([17, 18]).cast(kind)}), "t.parquet")
        assert list(read_table("t.parquet").columns["id"]) == list(read_table("t.csv").columns["id"]), kind


def test_a_small_file_of_columns_that_nobody_reads_takes_little_memory(folder: Path) -> None:
    """43 KB that unpack to gigabytes: a text of a megabyte in every row of a column that the schema does not have."""
    tracemalloc = pytest.importorskip("tracemalloc")
    count = 4000
    text = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * count, pyarrow.int32()), ["x" * (1 << 20)])
    parquet.write_table(pyarrow.table({**rows([str(k) for k in range(count)]), "note": text}), "wide.parquet")
    assert Path("wide.parquet").stat().st_size < 1 << 18
    tracemalloc.start()
    try:
        encoded = Schema.read("schema.toml").encode_file("wide.parquet")
        read = sum(len(block) for block in _blocks("wide.parquet"))
        peak = tracemalloc.get_traced_memory()[1] + pyarrow.default_memory_pool().max_memory()
    finally:
        tracemalloc.stop()
    assert len(encoded.rows) == read == count
    assert peak < 1 << 30


def _blocks(path: str) -> Any:
    from noisygd_delete.features.schema import read_blocks

    return read_blocks(path)


@pytest.mark.parametrize("value", [b"17", bytearray(b"17"), memoryview(b"17"), "17", 17])
def test_a_source_gives_the_text_that_a_file_would(value: Any) -> None:
    (block,) = blocks("a source", ["id"], [(value,), (None,)])
    assert list(block.columns["id"]) == ["17", ""]


@pytest.mark.parametrize("value", [b"\xff\xfe", [1, 2], {"a": 1}, (1,), {1}])
def test_what_has_no_one_text_is_refused_from_a_source_too(value: Any) -> None:
    with pytest.raises(SourceError, match=r"record 2: .*let --query"):
        list(blocks("a source", ["id"], [("a",), (value,)]))
