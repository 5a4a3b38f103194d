"""Settings of `serve --drop FILE`: the folder of deletion lists, and the identifiers that they hash."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from noisygd_delete.errors import InvalidParameter, NoisyGDDeleteError
from noisygd_delete.features.schema.files import read_blocks
from noisygd_delete.records import limited_io

from .identifiers import FIELDS, Lists, check_letters
from .persons import NAMES, Persons


@dataclass(frozen=True)
class Drop:
    """Settings for deletion lists.

    Attributes:
        folder: Folder of the lists.
        names: What the lists identify in the table: "subject" or "id".
        lists: Kind of list -> the columns of `identifiers` that it hashes, in the platform's order.
        identifiers: CSV or Parquet file with a column named as `names`, and the hashed columns; None hashes the table's
            own names.
        letters: Replacements of letters beyond ASCII in names; see `identifiers.person_name`.
    """

    folder: Path
    names: str
    lists: Mapping[Lists, tuple[str, ...]]
    identifiers: Path | None = None
    letters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | Path) -> Drop:
        """Read the settings from a TOML file; paths in it are relative to its folder.

        Raises:
            InvalidParameter: If the file cannot be read, or is no such file.
        """
        here = Path(path).parent
        try:
            found = tomllib.loads(limited_io.read_text(path, limited_io.KEY))
            if not set(found) <= {"folder", "names", "identifiers", "lists", "letters"}:
                raise ValueError("folder, names, identifiers, [lists] and [letters] are expected, and nothing else")
            lists = {Lists(kind): _columns(columns) for kind, columns in found["lists"].items()}
            file = found.get("identifiers")
            made = cls(
                here / found["folder"],
                found.get("names", "subject"),
                lists,
                None if file is None else here / file,
                dict(found.get("letters", {})),
            )
            made._check()
            return made
        except (ValueError, KeyError, TypeError, AttributeError, NoisyGDDeleteError) as error:
            reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise InvalidParameter(f"{path}: {reason}; see docs/drop.md for what may stand in it") from error

    def _check(self) -> None:
        if self.names not in NAMES or not self.lists:
            raise ValueError('names is "subject" or "id", and [lists] names at least one kind of list')
        check_letters(self.letters)
        for kind, columns in self.lists.items():
            if len(columns) != len(FIELDS[kind]):
                raise ValueError(f"{kind} hashes {len(FIELDS[kind])} columns, and {len(columns)} are named")
        if self.identifiers is not None:
            first = next(read_blocks(self.identifiers))
            for column in {self.names, *(column for columns in self.lists.values() for column in columns)}:
                first.column(column, "DROP")
        elif any(columns != (self.names,) for columns in self.lists.values()):
            raise ValueError(f'without identifiers a list hashes the table\'s own names: write ["{self.names}"]')

    def everybody(self, persons: Persons) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield name and identifier columns of every person that a list could match."""
        if self.identifiers is None:
            yield from ((name, {self.names: name}) for name in persons.all())
            return
        for block in read_blocks(self.identifiers):
            for place, name in enumerate(block.columns[self.names]):
                yield name, {column: cells[place] for column, cells in block.columns.items()}


def _columns(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise ValueError("a kind of list is given a list of columns")
    return tuple(given)
