"""A folder of Parquet files that the workers of Ray or Spark read, where this process alone would not hold it.

The application deletes; positions are times. Rows never come here but for a sample that steers the solver, in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NoReturn

from ..clusters import files
from ..clusters.opening import ENGINES, opened
from ..engine import CurrentRecords
from ..errors import InvalidParameter, choice
from ..schema import Schema
from .source import Source


@dataclass(frozen=True)
class FolderOnEngine(Source):
    """Parquet files of the same columns in one folder, by its path or by an address that the engine knows (s3://bucket/folder).

    engine   "ray" or "spark"
    """

    engine: str = "ray"

    kind: ClassVar[str] = "parquet-on-engine"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("engine", self.engine, ENGINES)
        if "://" not in self.address and not Path(self.address).is_absolute():
            raise InvalidParameter("the ledger names the folder by its whole path")
        for name in ("table", "query", "subject"):
            if getattr(self, name) is not None:
                raise InvalidParameter(
                    f"--{name} is for a source that one process reads: workers of {self.engine} see a partition each, never two rows of "
                    "one person together. Let the folder hold the rows to learn from, one row for each person"
                )

    def opened(self, schema: Schema, slots: int) -> AbstractContextManager[tuple[CurrentRecords, str]]:
        return opened(self.engine, self.address, schema, slots)

    def snapshot(self, columns: Sequence[str], since: str | None = None) -> NoReturn:
        raise InvalidParameter(
            f"{self.address}: its rows are read by the workers of {self.engine}, and this process needs them here; use a source without an "
            "engine for that"
        )

    def position(self) -> str:
        return files.position()

    def held(self, ids: Sequence[str], subjects: Sequence[str]) -> int:
        raise self._left_to_the_application()
