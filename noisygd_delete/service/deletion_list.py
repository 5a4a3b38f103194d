"""Files of California's platform: a deletion list in (`ID,Hash`), the answers to it out (`Id,Status`), both of one name.

    20260312_4821_Email.csv, 20260312_4821_Email_part01.csv    day, number of the data broker, kind of list, perhaps a part

Form: privacy.ca.gov, DROP technical specifications 1.2.0, "Working with the data". An ID names one consumer's request for good; a hash is
44 characters of Base64.
"""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidRequest, Word
from ..records import bounded
from .identifiers import Lists

MOST = 1_000_000  # requests of one list
_MOST_FAULTS = 1000  # told of one list
_LONGEST = 200  # bytes of a line
_HEADER, _ANSWERS = "ID,Hash", "Id,Status"
_NAME = re.compile(rf"\d{{8}}_\d{{4}}_({'|'.join(Lists)})(_[A-Za-z0-9]{{1,10}})?\.csv", re.ASCII)
_ITEM = re.compile(r"([A-Za-z0-9]{12}),([A-Za-z0-9+/]{43}=)", re.ASCII)


class Outcomes(Word):
    """What a request is answered with; 0 and 1 are not used. 4 means that several persons have the identifier, and that all were
    opted out of sale and sharing."""

    EXEMPT = "2"
    DELETED = "3"
    OPTED_OUT = "4"
    NOT_FOUND = "5"


@dataclass(frozen=True)
class DeletionList:
    """A list that was read.

    items   ID -> 32 bytes of a hash; faults: line -> why it is none
    """

    name: str
    kind: Lists
    items: Mapping[str, bytes]
    faults: Mapping[int, str]

    @classmethod
    def read(cls, path: Path) -> DeletionList:
        """The list in a file.

        Raises:
            InvalidRequest: it is none, as a whole; nothing of it is quoted.
        """
        items: dict[str, bytes] = {}
        faults: dict[int, str] = {}
        with bounded.opened(path, error=InvalidRequest) as file:
            lines = bounded.lines(file, _LONGEST, error=InvalidRequest)
            if next(lines, None) != _HEADER:
                raise InvalidRequest(f"the first line is not {_HEADER}, so it is no deletion list")
            for number, line in enumerate(lines, start=2):
                if number > MOST + 1:
                    raise InvalidRequest(f"more than {MOST} lines; split it, with _part01 and so on in the names")
                fault = None if line == "" else _entered(items, line)
                if fault is not None and len(faults) < _MOST_FAULTS:
                    faults[number] = fault
        return cls(path.name, kind_of(path.name), items, faults)


def _entered(items: dict[str, bytes], line: str | None) -> str | None:
    """Enter a line; why it cannot be."""
    parts = None if line is None else _ITEM.fullmatch(line)
    if parts is None:
        return "not an ID of 12 letters and digits, a comma, and a hash of 44 characters of Base64"
    name, digest = parts[1], base64.b64decode(parts[2])
    if items.setdefault(name, digest) != digest:
        return "this ID stood above with another hash; the first one counts"
    return None


def is_list(name: str) -> bool:
    """Whether a file has the name of a deletion list."""
    return _NAME.fullmatch(name) is not None


def kind_of(name: str) -> Lists:
    """The kind of the list in a file of this name."""
    found = _NAME.fullmatch(name)
    assert found is not None
    return Lists(found[1])


def answers(statuses: Mapping[str, Outcomes]) -> str:
    """The file of answers, as the platform takes it."""
    return "".join([_ANSWERS + "\n", *(f"{name},{status}\n" for name, status in statuses.items())])


def answered(text: str) -> dict[str, Outcomes]:
    """Read back `answers`.

    Raises:
        InvalidRequest: it is none.
    """
    rows = list(csv.reader(io.StringIO(text)))
    try:
        if rows[0] != _ANSWERS.split(","):
            raise ValueError
        return {name: Outcomes(status) for name, status in rows[1:]}
    except (ValueError, IndexError):
        raise InvalidRequest(
            "the answers that lie there are none of this program; move them away, and they are written again"
        ) from None
