"""Which files of an Iceberg table in a folder its current snapshot still reads, from its own metadata; the others are of earlier ones.

    newest NNNNN-….metadata.json → manifest list of the current snapshot → manifests → data and delete files in use

Files are told by their names alone, which are unique, because the paths in metadata are those of where the table was written.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

from ...errors import SourceError
from ...records import bounded
from . import avro

_VERSION = re.compile(r"v?(\d{1,9})(-.*)?\.metadata\.json")
_DELETED = 2  # status of an entry whose file the snapshot does not read


def is_table(path: Path) -> bool:
    """Whether a folder is such a table."""
    return _newest(path) is not None


def _newest(path: Path) -> Path | None:
    named = [(int(match[1]), file) for file in path.glob("metadata/*.json") if (match := _VERSION.fullmatch(file.name))]
    return max(named, default=(0, None), key=lambda pair: pair[0])[1]


def in_use(path: Path) -> tuple[set[str], set[str]]:
    """Names of the data files that the current snapshot reads, and of the metadata that it is made of.

    Raises:
        SourceError: its metadata cannot be read.
    """
    newest = _newest(path)
    if newest is None:
        raise SourceError(f"{path}: no metadata of an Iceberg table")
    try:
        described = bounded.parsed(bounded.text(newest, bounded.DOCUMENT))
        current = described.get("current-snapshot-id")
        snapshots = [one for one in described.get("snapshots", ()) if one["snapshot-id"] == current]
        data, metadata = set[str](), {newest.name}
        for snapshot in snapshots:
            listed = _name(snapshot["manifest-list"])
            metadata.add(listed)
            for manifest in avro.records(path / "metadata" / listed):
                name = _name(manifest["manifest_path"])
                metadata.add(name)
                data |= {
                    _name(entry["data_file"]["file_path"])
                    for entry in avro.records(path / "metadata" / name)
                    if entry["status"] != _DELETED
                }
    except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise SourceError(
            f"{path}: the metadata of this Iceberg table cannot be read ({type(error).__name__})"
        ) from error
    return data, metadata


def _name(address: Any) -> str:
    return PurePosixPath(address).name
