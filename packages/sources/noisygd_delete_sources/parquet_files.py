"""Parquet files on any file system that Arrow supports, partitioned by their metadata alone.

The files are those of a folder, or those that the log of a table names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from noisygd_delete.errors import InvalidSchema, MissingDependency, SourceError
from noisygd_delete.features.schema.files import BLOCK_ROWS

if TYPE_CHECKING:
    import pyarrow

ROWS_EACH = 1 << 16  # minimum rows of a partition, if its file has that many
LOG = "_delta_log"
_MOST_FILES = 100_000
_TICK, _TRIES = 20_000_000, 5  # nanoseconds within which two writes may have equal times; number of retries


@dataclass(frozen=True)
class FileFacts:
    """A file, with the facts that reveal a change of it."""

    path: str
    size: int
    changed: int  # nanoseconds


@dataclass(frozen=True)
class Pinned:
    """The files that the log of a table names at one position.

    They never change; a column missing in an older one is empty.
    """

    position: str
    paths: tuple[str, ...]

    @property
    def files(self) -> tuple[FileFacts, ...]:
        """The files without size and time, because they never change."""
        return tuple(FileFacts(path, 0, 0) for path in self.paths)


@dataclass(frozen=True)
class Selection:
    """A selection of the rows in the files, as in `Source`.

    Attributes:
        id: The column of ids.
        query: The rows to learn from; it refers to all rows as `source`.
        subject: The column of persons.
        rows_per_subject: No row is read of a person who has more rows.
        gone_ids: Ids that must not occur.
        gone_subjects: Persons that must not occur.
    """

    id: str
    query: str | None = None
    subject: str | None = None
    rows_per_subject: int = 1
    gone_ids: tuple[str, ...] = ()
    gone_subjects: tuple[str, ...] = ()


@dataclass(frozen=True)
class FilePart:
    """A partition: consecutive row groups of a file. `pinned`: the file belongs to a table with a log."""

    path: str
    groups: tuple[int, ...]
    pinned: bool = False


def list_files(address: str) -> tuple[FileFacts, ...]:
    """Return the current Parquet files of a folder (a path, or an address such as s3://bucket/folder), sorted by name.

    Raises:
        SourceError: If it cannot be read, has no *.parquet file, or is that of a table whose log determines the current
            files.
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
    """Return the current time as a position (see `store.position`); a folder counts nothing else."""
    return f"time:{datetime.now(UTC).isoformat(timespec='microseconds')}"


def check_number(address: str, files: int) -> None:
    """Raise `SourceError` unless the number of files is within the limits."""
    if not files:
        raise SourceError(f"{address}: no *.parquet file is there")
    if files > _MOST_FILES:
        raise SourceError(f"{address}: over {_MOST_FILES} files; merge them")


def check_no_log(address: str, names: Iterable[str]) -> None:
    """Raise `SourceError` for the folder of a Delta table: its files also hold rows that are not in the table."""
    if LOG in names:
        raise SourceError(
            f"{address}: a Delta table, whose folder still holds files of rows that were deleted. Give it to `init --source` as what it is, by a "
            "path of this machine, or give a folder that holds nothing but the current rows"
        )


def partition_row_groups(address: str, files: tuple[FileFacts, ...], *, pinned: bool = False) -> list[FilePart]:
    """Return partitions: consecutive row groups of one file with at least `ROWS_EACH` rows in total, if available.

    The partition depends on the files alone, so that a release adds the same sums in the same order, whichever worker
    returns them.
    """
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
    """Yield these columns of a partition, block by block.

    Raises:
        InvalidSchema: If a column is missing.
        SourceError: If the file cannot be read.
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
    """Return the file system of an address, and the path in it."""
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
        raise MissingDependency("Parquet files need pyarrow: pip install 'noisygd-delete[sources]'") from error
    return pyarrow


def state_of(path: str, *beside: str) -> str | None:
    """Return the state of a file: inode, size and times, including the change time, which no program can set.

    None if one of the other files exists, which may hold writes that the file lacks, or the system has no such time.
    """
    if os.name != "posix":
        return None
    found = os.stat(path)
    for _ in range(_TRIES):
        if time.time_ns() - found.st_ctime_ns > _TICK:
            break
        time.sleep(_TICK / 1e9)
        found = os.stat(path)
    else:
        return None  # written repeatedly, or the clock was set forward
    if any(os.path.exists(other) for other in beside):
        return None
    return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"


def check_unchanged(address: str, before: object, after: object) -> None:
    """Raise `SourceError` if the listing of a folder changed while its rows were read."""
    if before != after:
        raise SourceError(f"{address}: its files changed while they were read; try again when nothing writes there")
