"""Embedding vectors that survive an erasure: in arrays, Parquet files, archives and vector indexes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from noisygd_delete_sources import residue
from noisygd_delete_sources.residue_vectors import encode_vectors, read_vectors

from noisygd_delete.cli import main
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence.facts import Verdicts

DIMENSION = 24
EVERYBODY = np.random.default_rng(5).normal(size=(60, DIMENSION)).astype(np.float32)
GONE, THOSE_WHO_STAY = EVERYBODY[17:18], np.delete(EVERYBODY, 17, axis=0)


def parquet(path: Path, vectors: np.ndarray, kind: str, size: int = -1) -> None:
    import pyarrow
    from pyarrow import parquet as files

    lists = pyarrow.array(list(vectors.astype(kind)), pyarrow.list_(pyarrow.from_numpy_dtype(kind), size))
    table = pyarrow.table({"id": range(len(vectors)), "at": pyarrow.StructArray.from_arrays([lists], ["vector"])})
    files.write_table(table, path, compression="zstd")


def write_faiss(path: Path, vectors: np.ndarray, half: bool) -> None:
    faiss = pytest.importorskip("faiss", reason="faiss-cpu of requirements/constraints.txt writes the index")
    scalar = faiss.ScalarQuantizer.QT_fp16
    found = faiss.IndexScalarQuantizer(DIMENSION, scalar) if half else faiss.IndexHNSWFlat(DIMENSION, 8)
    found.train(vectors)
    found.add(vectors)
    faiss.write_index(found, str(path))


def write_usearch(path: Path, vectors: np.ndarray, kind: str) -> None:
    index = pytest.importorskip("usearch.index", reason="usearch of requirements/constraints.txt writes the index")
    made = index.Index(ndim=DIMENSION, metric="l2sq", dtype=kind)
    made.add(np.arange(len(vectors)), vectors)
    made.save(str(path))


def write_hnswlib(path: Path, vectors: np.ndarray) -> None:
    hnswlib = pytest.importorskip("hnswlib", reason="hnswlib 0.8.0 is compiled at installation: constraints-judges.txt")
    made = hnswlib.Index("l2", DIMENSION)
    made.init_index(len(vectors))
    made.add_items(vectors)
    made.save_index(str(path))


FORMATS: dict[str, Any] = {
    "vectors.npy": np.save,
    "half.npy": lambda path, rows: np.save(path, rows.astype(np.float16)),
    "double.npy": lambda path, rows: np.save(path, rows.astype(np.float64)),
    "archive.npz": lambda path, rows: np.savez_compressed(path, some=rows[:20], more=rows[20:].astype(np.float16)),
    "half-again.npz": lambda path, rows: np.savez(path, rows=rows.astype(np.float16).astype(np.float32)),
    "lists.parquet": lambda path, rows: parquet(path, rows, "float32"),
    "halves.parquet": lambda path, rows: parquet(path, rows, "float16"),
    "fixed.parquet": lambda path, rows: parquet(path, rows, "float64", DIMENSION),
    "hnsw.faiss": lambda path, rows: write_faiss(path, rows, half=False),
    "fp16.faiss": lambda path, rows: write_faiss(path, rows, half=True),
    "single.usearch": lambda path, rows: write_usearch(path, rows, "f32"),
    "half.usearch": lambda path, rows: write_usearch(path, rows, "f16"),
    "hnswlib.bin": write_hnswlib,
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_vector_is_found_in_the_file_that_has_it_and_in_no_other(name: str, tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()
    FORMATS[name](before / name, EVERYBODY)
    FORMATS[name](after / name, THOSE_WHO_STAY)
    found = residue([], str(before), str(after), vectors=GONE)
    assert [place.verdict for place in found.places] == [Verdicts.RESIDUAL, Verdicts.ERASED]
    assert residue([], str(after), vectors=THOSE_WHO_STAY[:3]).places[0].found == 3


def test_a_vector_deleted_in_an_index_is_found_until_the_index_is_built_anew(tmp_path: Path) -> None:
    """The index forgets the key and keeps the numbers."""
    index = pytest.importorskip("usearch.index", reason="usearch of requirements/constraints.txt writes the index")
    made = index.Index(ndim=DIMENSION, metric="l2sq", dtype="f32")
    made.add(np.arange(len(EVERYBODY)), EVERYBODY)
    made.remove(17)
    assert 17 not in made
    (tmp_path / "marked").mkdir()
    (tmp_path / "anew").mkdir()
    made.save(str(tmp_path / "marked" / "all.usearch"))
    write_usearch(tmp_path / "anew" / "all.usearch", THOSE_WHO_STAY, "f32")
    found = residue([], str(tmp_path / "marked"), str(tmp_path / "anew"), vectors=GONE)
    assert [place.verdict for place in found.places] == [Verdicts.RESIDUAL, Verdicts.ERASED]


def test_a_vector_that_differs_in_its_last_bit_is_another_vector(tmp_path: Path) -> None:
    near = EVERYBODY.copy()
    near[17, 3] = np.nextafter(near[17, 3], np.float32(9))
    np.save(tmp_path / "near.npy", near)
    assert residue([], str(tmp_path), vectors=GONE).silent


@pytest.mark.parametrize("vector", [[1.0, 2.0, 3.0], [0.0] * 8, [1.0, 2.0, 3.0, np.nan], [1.0, 2.0, 3.0, np.inf]])
def test_a_vector_that_identifies_nobody_is_refused(vector: list[float]) -> None:
    with pytest.raises(InvalidParameter):
        encode_vectors(np.array([vector]))


def test_numbers_that_a_precision_cannot_hold_are_not_searched_for_in_it() -> None:
    (forms,) = encode_vectors(np.array([[1e-30, 2e-30, 3e-30, 4e-30]]))
    assert bytes(8) not in forms  # zeros as float16 would be found everywhere
    (forms,) = encode_vectors(np.array([[1e30, 2e30, 3e30, 4e30]]))
    assert {len(form) for form in forms} == {16, 32}


@pytest.mark.parametrize("rows", [10**12, 2**60])
def test_a_file_that_claims_more_vectors_than_it_has_is_refused(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "claims.npy"
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (rows, 8)})
        file.write(bytes(64))
    with pytest.raises(InvalidParameter):
        read_vectors(str(path))


def test_the_command_takes_vectors_texts_or_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors, texts, place = tmp_path / "gone.npy", tmp_path / "gone.txt", tmp_path / "place"
    np.save(vectors, GONE[0])
    texts.write_text("somebody-0017\n")
    place.mkdir()
    np.save(place / "index.npy", EVERYBODY)
    assert main(["residue", str(place), "--vectors", str(vectors), "--tokens", str(texts), "--json"]) == 5
    answer = json.loads(capsys.readouterr().out)
    assert (answer["tokens"], answer["places"][0]["found"]) == (2, 1)
    assert main(["residue", str(place), "--tokens", str(texts)]) == 0
    assert main(["residue", str(place)]) != 0
    for wrong in (texts, place / "objects.npy"):
        np.save(place / "objects.npy", np.array([1, 2, 3, 4]))
        assert main(["residue", str(place), "--vectors", str(wrong)]) not in (0, 5)
