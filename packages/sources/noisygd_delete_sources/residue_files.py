"""Residue in files: all bytes are searched, Parquet is decoded, and compressed content is unpacked, layer by layer."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from noisygd_delete.errors import InvalidParameter, MissingDependency, NoisyGDDeleteError, SourceError
from noisygd_delete.store import destinations
from noisygd_delete.store.byte_search import Needles
from noisygd_delete.store.disk import require_store
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.ledger import Ledger

from .duckdb_tables import DeltaTable
from .residue_report import Place, not_covered, verdict
from .residue_vectors import column_bytes

_PIECE = 1 << 22
_MOST_FILES = 1_000_000
_MOST_NAMED = 50  # files with residue that are listed individually
_MOST_UNPACKED = 1 << 34  # bytes of one file, in all its layers
_DEEPEST = 6  # layers: .csv.gz in .zip in .tar in .gz has five
_END_OF_ZIP = b"PK\x05\x06"  # in the last 64 KiB, whatever precedes the archive
_UNREADABLE = (
    SourceError,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
)
_LONGEST_AVRO = 1 << 28  # bytes of a file, and of a block of it unpacked
_TWO_NUMBERS = re.compile(rb"[\x80-\xff]*[\x00-\x7f][\x80-\xff]*[\x00-\x7f]")  # of variable length
_UNPACKED: tuple[tuple[bytes, Callable[[BinaryIO], Any]], ...] = (
    (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file, mode="rb")),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\x00", lzma.LZMAFile),
)
_CLOSED = {  # formats in which a text cannot be found
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"ORC": "ORC",
    b"age-encryption.org": "encrypted",
    b"Salted__": "encrypted",
}
_DUCKDB = b"DUCK"  # at byte 8
_ERASE = "erase the file, or write it anew without them; copies made of it keep theirs"
_AGAIN = "`publish-to STORE` tries again to take it away"
_WHOLE = "copy what is left into a new table, and erase this folder"
_REGISTRIES = {"mlruns", "mlartifacts"}
_REGISTRY = (
    "a registry of models keeps the files of deleted versions and runs: delete them there, run its own clean-up (mlflow gc), then erase "
    "the folder"
)
_ELSEWHERE = "a link to elsewhere, or no plain file"
_OPEN = "unpack or decrypt it and look again, or let it expire"


def scan_files(address: str, needles: Needles) -> list[Place]:
    """Search a store, a Delta table, a folder or a file; return the places."""
    path = Path(address)
    if not path.exists():
        raise InvalidParameter(f"{address}: nothing is there; check the path")
    path = path.resolve() if path.is_symlink() else path
    tables, places = list(_tables(path)), list[Place]()
    for table in tables:
        kind = _delta if _is_delta(table) else _iceberg
        try:
            places += kind(table, needles)
        except (SourceError, MissingDependency) as error:
            places.append(
                not_covered(f"{table}: which of its files are of earlier versions ({type(error).__name__})", _WHOLE)
            )
            places += _folder(str(table), list(_files(table)), needles, _WHOLE)
    rest = [file for file in _files(path) if not any(table in (file, *file.parents) for table in tables)]
    if rest or not tables:
        places += _folder(str(path), rest, needles, _ERASE)
    return places


def _tables(path: Path) -> Iterator[Path]:
    """Yield every Delta or Iceberg table at or below a path; tables inside another are not listed."""
    if not path.is_dir():
        return
    for folder, below, _ in os.walk(path):
        if _is_delta(Path(folder)) or any(Path(folder).glob("metadata/*.metadata.json")):
            below.clear()
            yield Path(folder)


def _is_delta(path: Path) -> bool:
    return (path / "_delta_log").is_dir()


def source_of(path: str) -> str | None:
    """Return the address of the source of a store, if the path is a store with a source."""
    try:
        layout = Layout.at(path)
        require_store(layout)
        found = Ledger.read(layout.ledger).source
    except NoisyGDDeleteError:
        return None
    return None if found is None else str(found["address"])


def published_of(path: str) -> tuple[list[str], list[Place]]:
    """Return the local folders and files of a store's publishers, which are to be searched, and places for the others.

    The places are publishers that cannot be searched, or that may still hold a model from before the current release.
    """
    try:
        layout = Layout.at(path)
        require_store(layout)
        aim, found = destinations.wanted_release(Ledger.read(layout.ledger)), destinations.list_destinations(layout)
    except NoisyGDDeleteError:
        return [], []
    here, uncovered = list[str](), list[Place]()
    for each in found:
        places = [place for place in each.paths if Path(place).exists()]
        here += places
        if not places:
            uncovered.append(
                not_covered(each.address, "look there by its own means; ids and rows are in no file that is put there")
            )
        if each.behind(aim):
            uncovered.append(
                not_covered(f"{each.address}: a model from before the current release may still be there", _AGAIN)
            )
    return here, uncovered


def _delta(path: Path, needles: Needles) -> list[Place]:
    """Search a Delta table: its current data files, those of earlier versions, and its log."""
    used = {Path(file).resolve() for file in DeltaTable(str(path.absolute()), id="-").files_in_use()}
    log, now, before = list[Path](), list[Path](), list[Path]()
    for file in _files(path):
        group = log if "_delta_log" in file.relative_to(path).parts else now if file.resolve() in used else before
        group.append(file)
    return [
        *_folder(f"{path}, data files in use", now, needles, "the rows are still in the table: delete them there"),
        *_folder(
            f"{path}, data files of earlier versions",
            before,
            needles,
            "VACUUM with a retention of 0 hours; earlier versions cannot be read after it",
        ),
        *_folder(
            f"{path}, the log",
            log,
            needles,
            "it keeps predicates, and as statistics the least and greatest values of a file: after the VACUUM, write a checkpoint and "
            "clean up the log with a retention of 0, or copy the table into a new folder and erase this one",
        ),
    ]


def _iceberg(path: Path, needles: Needles) -> list[Place]:
    """Search an Iceberg table, in which files of the current and of earlier snapshots share two folders."""
    metadata, data = list[Path](), list[Path]()
    for file in _files(path):
        (metadata if path / "metadata" in file.parents else data).append(file)
    return [
        *_folder(
            f"{path}, data files",
            data,
            needles,
            "where the table still has the rows, delete them there and rewrite the data files; then expire the snapshots and remove orphan "
            "files: expiring alone leaves them, with some engines",
        ),
        *_folder(
            f"{path}, metadata",
            metadata,
            needles,
            "a manifest keeps the least and greatest values of a file, also of one that it took out: commit once more (or rewrite the "
            "manifests), then expire the snapshots and remove orphan files",
        ),
    ]


def _remedy(file: Path, usual: str) -> str:
    """Return what to do about a file; a model registry has its own procedure."""
    registry = _REGISTRIES & set(file.parts) or any((folder / "meta.yaml").is_file() for folder in file.parents)
    return _REGISTRY if registry and usual == _ERASE else usual


def _folder(name: str, files: list[Path], needles: Needles, remedy: str) -> list[Place]:
    """Return one place for all files without residue, one per file with residue, and one per unreadable format."""
    places: list[Place] = []
    closed: dict[str, int] = {}
    silent = more = 0
    for file in files:
        found, form = _search_file(file, needles)
        by_name = needles.among([os.fsencode(str(file))])
        if found | by_name and len(places) < _MOST_NAMED:
            which = "a file whose name holds it" if by_name else str(file)
            places.append(verdict(f"{name}: {which}", found | by_name, _remedy(file, remedy)))
        elif found | by_name:
            more += 1
        elif form is not None:
            closed[form] = closed.get(form, 0) + 1
        else:
            silent += 1
    if more:
        places.append(verdict(f"{name}: {more} more files", {0}, remedy))
    places += [
        not_covered(f"{name}: {number} file(s), {form}", "look where it leads" if form == _ELSEWHERE else _OPEN)
        for form, number in sorted(closed.items())
    ]
    if silent or not places:
        places.append(verdict(f"{name}: {silent} file(s)", set(), remedy))
    return places


def _files(path: Path) -> Iterator[Path]:
    """Yield everything below that is not a folder.

    A link to something below the path is skipped; other links are not followed.
    """
    if not path.is_dir():
        yield path
        return
    number = 0
    for folder, below, names in os.walk(path):
        for name in sorted([*names, *(each for each in below if os.path.islink(os.path.join(folder, each)))]):
            number += 1
            if number > _MOST_FILES:
                raise SourceError(f"{path}: over {_MOST_FILES} files; look folder by folder")
            file = Path(folder) / name
            if not (file.is_symlink() and file.resolve().is_relative_to(path.resolve())):
                yield file


def _search_file(path: Path, needles: Needles) -> tuple[set[int], str | None]:
    """Return the texts found in a file, and its format if texts might be hidden in it."""
    if path.is_symlink() or not path.is_file():
        return set(), _ELSEWHERE
    try:
        with path.open("rb") as file:
            return _scan_stream(file, needles, _Unpacked())
    except OSError as error:
        return set(), _format_error(error)


class _Unpacked:
    """Counts the bytes unpacked from one file."""

    def __init__(self) -> None:
        self.read = 0

    def pieces(self, file: Any, depth: int) -> Iterator[bytes]:
        while piece := file.read(_PIECE):
            self.read += len(piece) if depth else 0
            if self.read > _MOST_UNPACKED:
                raise SourceError("unpacks to more than can be looked through")
            yield piece


def _scan_stream(file: Any, needles: Needles, unpacked: _Unpacked, depth: int = 0) -> tuple[set[int], str | None]:
    """Search a stream and everything packed in it. What was found before an error counts."""
    start, tail, fault, found = b"", b"", "", set[int]()

    def pieces() -> Iterator[bytes]:
        nonlocal start, tail, fault
        try:
            for piece in unpacked.pieces(file, depth):
                start, tail = start or piece[:512], (tail + piece)[-(1 << 16) - 64 :]
                yield piece
        except _UNREADABLE as error:
            fault = _format_error(error)

    found |= needles.among(pieces())
    form = fault or next((form for magic, form in _CLOSED.items() if start.startswith(magic)), None)
    if start[8:12] == _DUCKDB:
        form = "DuckDB, whose blocks are compressed (copy what is left into a new database, and erase this one)"
    try:
        file.seek(0)
        if start[:4] == b"PAR1":
            return found | _parquet(file, needles), form
        for inside in _iterate_members(file, start, tail):
            if depth == _DEEPEST:
                return found, f"packed in over {_DEEPEST} layers"
            more, closed = _scan_stream(inside, needles, unpacked, depth + 1)
            found, form = found | more, form or closed
    except _UNREADABLE as error:
        return found, _format_error(error)
    return found, form


def _format_error(error: Exception) -> str:
    return str(error) if isinstance(error, SourceError) else f"unreadable ({type(error).__name__})"


def _iterate_members(file: Any, start: bytes, tail: bytes) -> Iterator[Any]:
    """Yield the packed members, each as a file."""
    if start[:4] == b"Obj\x01":
        yield from map(io.BytesIO, _avro_blocks(file.read(_LONGEST_AVRO + 1)))
    elif _is_tar(start):
        with tarfile.open(fileobj=file, mode="r:") as archive:
            yield from (archive.extractfile(member) for member in archive if member.isfile())
    elif _END_OF_ZIP in tail:
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                if entry.flag_bits & 1:
                    raise SourceError("encrypted")
                with archive.open(entry) as inside:
                    yield inside
    for magic, opened in _UNPACKED:
        if start.startswith(magic):
            with opened(file) as unpacked:
                yield unpacked


def _is_tar(start: bytes) -> bool:
    """Return whether the first header has a valid checksum, which pre-POSIX archives have as well."""
    try:
        tarfile.TarInfo.frombuf(start, "utf-8", "surrogateescape")
    except tarfile.TarError:
        return False
    return True


def _avro_blocks(content: bytes) -> Iterator[bytes]:
    """Yield the content of the compressed blocks of an Avro file.

    Each is between two copies of a marker, which also ends the file.
    """
    if len(content) > _LONGEST_AVRO:
        raise SourceError("Avro, larger than can be looked through")
    header, *blocks, _ = content.split(content[-16:])
    if b"\x14avro.codec" not in header or b"\x14avro.codec\x08null" in header:
        return  # its bytes were searched already
    if b"\x14avro.codec\x0edeflate" not in header:
        raise SourceError("Avro, compressed by another codec than deflate")
    for block in blocks:
        sizes = _TWO_NUMBERS.match(block)  # the number of records and of bytes
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        yield unpacker.decompress(block[sizes.end() if sizes else 0 :], _LONGEST_AVRO)
        if not unpacker.eof:  # trailing bytes of some writers were searched as they are
            raise SourceError("a damaged Avro file, or a block that unpacks to more than can be looked through")
    if not blocks:
        raise SourceError("a damaged Avro file, or one without records")


def _parquet(content: Any, needles: Needles) -> set[int]:
    """Search every value of a Parquet file, because its pages are compressed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise SourceError("Parquet, and pyarrow is not installed") from error
    found: set[int] = set()
    try:
        with parquet.ParquetFile(content) as file:
            for batch in file.iter_batches():
                for column in batch.columns:
                    found |= needles.find_in(value for value in column.to_pylist() if value is not None)
                    found |= needles.among(column_bytes(column))
    except (pyarrow.ArrowException, ValueError) as error:
        raise SourceError("a damaged Parquet file") from error
    return found
