"""Parquet files on whatever file system Arrow knows, dealt out to partitions by what the files say of themselves: those of a folder, or
those that the log of a table names."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ...errors import InvalidSchema, MissingDependency, SourceError
from ...features.schema.files import BLOCK_ROWS

if TYPE_CHECKING:
    import pyarrow

ROWS_EACH = 1 << 16  # of a partition, at least, where its file has so many
LOG = "_delta_log"
_MOST_FILES = 100_000
_TICK, _TRIES = 20_000_000, 5  # nanoseconds in which two writes may bear the same time, and how often to wait


@dataclass(frozen=True)
class FileFacts:
    """A file, and by what a change of it shows."""

    path: str
    size: int
    changed: int  # nanoseconds


@dataclass(frozen=True)
class Pinned:
    """The files that the log of a table names at one position. None of them ever changes; a column that an older one lacks is empty there."""

    position: str
    paths: tuple[str, ...]

    @property
    def files(self) -> tuple[FileFacts, ...]:
        return tuple(FileFacts(path, 0, 0) for path in self.paths)


@dataclass(frozen=True)
class FilePart:
    """Some row groups of a file, one after the other: a partition. `pinned`: of a table with a log."""

    path: str
    groups: tuple[int, ...]
    pinned: bool = False


def list_files(address: str) -> tuple[FileFacts, ...]:
    """The Parquet files of a folder (a path, or an address such as s3://bucket/folder) as they are now, by name.

    Raises:
        SourceError: it cannot be read, has no *.parquet file, or is that of a table whose log says which of them count.
    """
    arrow = _arrow()
    system, folder = _system(address)
    try:
        found = system.get_file_info(arrow.fs.FileSelector(folder))
    except (arrow.ArrowException, OSError) as error:
        raise SourceError(f"{address}: {type(error).__name__}; is the folder there, and may it be read?") from None
    check_no_log(address, (info.base_name for info in found))
    files = [info for info in found if info.is_file and info.path.endswith(".parquet")]
    check_number(address, len(files))
    return tuple(sorted((FileFacts(info.path, info.size, info.mtime_ns or 0) for info in files), key=lambda f: f.path))


def position() -> str:
    """Now, as `store.entry` writes it: a folder counts nothing but the time."""
    return f"time:{datetime.now(UTC).isoformat(timespec='microseconds')}"


def check_number(address: str, files: int) -> None:
    """Raise `SourceError` unless a folder has so many files as are read."""
    if not files:
        raise SourceError(f"{address}: no *.parquet file is there")
    if files > _MOST_FILES:
        raise SourceError(f"{address}: over {_MOST_FILES} files; merge them")


def check_no_log(address: str, names: Iterable[str]) -> None:
    """Raise `SourceError` where a folder is that of a Delta table: the rows of its files are not those of the table."""
    if LOG in names:
        raise SourceError(
            f"{address}: a Delta table, whose folder still holds files of rows that were deleted. Give it to `init --source` as what it is, by a "
            "path of this machine, or give a folder that holds nothing but the current rows"
        )


def partition_row_groups(address: str, files: tuple[FileFacts, ...], *, pinned: bool = False) -> list[FilePart]:
    """Partitions: whole row groups of one file, one after the other, until there are `ROWS_EACH` rows. The cut is the files' alone,
    so that a release adds the same sums in the same order whoever answers them."""
    parts = []
    for file in files:
        with _open_file(address, file.path) as parquet:
            groups, rows = [], 0
            for group in range(parquet.num_row_groups):
                groups.append(group)
                rows += parquet.metadata.row_group(group).num_rows
                if rows >= ROWS_EACH:
                    parts.append(FilePart(file.path, tuple(groups), pinned))
                    groups, rows = [], 0
            if groups:
                parts.append(FilePart(file.path, tuple(groups), pinned))
    return parts


def read_part(address: str, part: FilePart, columns: list[str]) -> Iterator[pyarrow.RecordBatch]:
    """These columns of a partition, a block of rows at a time.

    Raises:
        InvalidSchema: a column is not there. SourceError: the file cannot be read.
    """
    with _open_file(address, part.path) as parquet:
        there = parquet.schema_arrow.names
        absent = [name for name in columns if name not in there]
        if absent and not part.pinned:
            raise InvalidSchema(
                f"{address}: no column {absent[0]!r} in one of its files; correct the schema or the file"
            )
        wanted = [name for name in columns if name in there]
        for batch in parquet.iter_batches(batch_size=BLOCK_ROWS, row_groups=list(part.groups), columns=wanted):
            empty = [_arrow().nulls(batch.num_rows)] * len(absent)
            yield _arrow().record_batch([*batch.columns, *empty], names=[*batch.schema.names, *absent])


def _open_file(address: str, path: str) -> Any:
    arrow = _arrow()
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(_system(address)[0].open_input_file(path))
    except (arrow.ArrowException, OSError) as error:
        raise SourceError(f"{address}: {type(error).__name__} in one of its files; is it whole?") from None


def _system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path there."""
    arrow = _arrow()
    if "://" not in address:
        return arrow.fs.LocalFileSystem(), address
    try:
        system, path = arrow.fs.FileSystem.from_uri(address)
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise SourceError(f"{address}: {type(error).__name__}; Arrow knows no such file system here") from None
    return system, path


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.fs
    except ImportError as error:
        raise MissingDependency("Parquet files need pyarrow: pip install 'noisygd-delete[files]'") from error
    return pyarrow


def state_of(path: str, *beside: str) -> str | None:
    """By which a file is known to be as it was: its own number, size and times, by the system's clock, which no program sets. None where what lies
    beside it tells of writes that it does not hold yet, or the system has no such time."""
    if os.name != "posix":
        return None
    found = os.stat(path)
    for _ in range(_TRIES):
        if time.time_ns() - found.st_ctime_ns > _TICK:
            break
        time.sleep(_TICK / 1e9)
        found = os.stat(path)
    else:
        return None  # written again and again, or by a clock that was put forward
    if any(os.path.exists(other) for other in beside):
        return None
    return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"


def check_unchanged(address: str, before: object, after: object) -> None:
    """Raise `SourceError` where a folder's listing is another one after its rows were read."""
    if before != after:
        raise SourceError(f"{address}: its files changed while they were read; try again when nothing writes there")
