"""A deletion in flight: durable before the source commits, and known there by its mark. It names nobody."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from ...errors import InvalidParameter, count
from ...records import EditCounts, bounded, check_token
from ..disk import Disk, read
from ..journal import held, sealed, unsealed
from ..layout import Layout

_FORMAT = "deletion/1"
_LONGEST = 1 << 16  # bytes
_LONGEST_MARK = 100


@dataclass(frozen=True)
class Deletion:
    """What is about to be committed in the source.

    base     ledger entries when it was begun; a longer ledger has noted it
    mark     by which the source knows the transaction
    rows     that it deletes
    publish  whether a release follows at once
    """

    base: int
    mark: str
    rows: int
    publish: bool
    request_id: str | None

    def __post_init__(self) -> None:
        count("base", self.base)
        count("rows", self.rows)
        check_token(self.request_id)
        if (
            not isinstance(self.mark, str)
            or not 0 < len(self.mark) <= _LONGEST_MARK
            or not isinstance(self.publish, bool)
        ):
            raise InvalidParameter("not a deletion")

    @property
    def counts(self) -> EditCounts:
        return EditCounts(deleted=self.rows)

    @property
    def parts(self) -> tuple[()]:
        return ()

    @property
    def requests(self) -> tuple[tuple[str | None, EditCounts, None]]:
        return ((self.request_id, self.counts, None),)

    def to_bytes(self) -> bytes:
        return sealed(json.dumps({"format": _FORMAT, **asdict(self)}).encode())


def begin(disk: Disk, layout: Layout, deletion: Deletion) -> None:
    """Put it into the journal: from here on it is known whether it happened, whatever happens to this process."""
    disk.replace(layout.request, deletion.to_bytes())
    disk.reached("commit", layout.request)


def begun(layout: Layout) -> Deletion | None:
    """The deletion that was begun and not finished.

    Raises:
        StoreCorrupt: the journal is not one that `begin` wrote.
    """

    def parse() -> Deletion:
        fields = bounded.parsed(unsealed(read(layout.request, _LONGEST)).decode())
        if fields.pop("format") != _FORMAT:
            raise ValueError("another format")
        return Deletion(**fields)

    return held(layout, parse)
