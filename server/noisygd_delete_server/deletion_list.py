"""Files of California's platform: a deletion list in (`ID,Hash`), the answers to it out (`Id,Status`), both of one name; and what consumers
have taken back (`ID,Hash,ListType`), which needs no answer.

    20260312_4821_Email.csv, 20260312_4821_Email_part01.csv    day, number of the data broker, kind of list, perhaps a part
    20260512_4821_Removed.csv                                  taken back

Form: privacy.ca.gov, DROP technical specifications 1.2.0, "Working with the data". An ID names one consumer's request for good; a hash is
44 characters of Base64. A file has up to a million lines and is read a block of them at a time.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from noisygd_delete.errors import InvalidRequest, Word
from noisygd_delete.records import limited_io

from .identifiers import Lists

MOST = 1_000_000  # requests of one list
BLOCK = 100_000  # of these that are held at a time
_MOST_FAULTS = 1000  # told of one list
_LONGEST = 200  # bytes of a line
_HEADER, _TAKEN_BACK, _ANSWERS = "ID,Hash", "ID,Hash,ListType", "Id,Status"
_NAME = re.compile(rf"\d{{8}}_\d{{4}}_({'|'.join([*Lists, 'Removed'])})(_[A-Za-z0-9]{{1,10}})?\.csv", re.ASCII)
_ITEM = re.compile(r"([A-Za-z0-9]{12}),([A-Za-z0-9+/]{43}=)", re.ASCII)
_REMOVED_ITEM = re.compile(rf"([A-Za-z0-9]{{12}}),([A-Za-z0-9+/]{{43}}=),({'|'.join(Lists)})", re.ASCII)
_ANSWER = re.compile(r"([A-Za-z0-9]{12}),([2-5])", re.ASCII)
_NO_ITEM = "not an ID of 12 letters and digits, a comma, and a hash of 44 characters of Base64"
_TWICE = "this ID stood above with another hash; the first one counts"
_NOT_OURS = "the answers that lie there are none of this program; move them away, and they are written again"


class Outcomes(Word):
    """What a request is answered with; 0 and 1 are not used. 4 means that several persons have the identifier, and that all were
    opted out of sale and sharing."""

    EXEMPT = "2"
    DELETED = "3"
    OPTED_OUT = "4"
    NOT_FOUND = "5"


@dataclass
class DeletionList:
    """A list in a file, which was read once to know that it is one; `blocks` reads it again.

    repeated   IDs that several lines have
    faults     line -> why it is none, of the lines that `blocks` has read
    """

    path: Path
    kind: Lists
    repeated: frozenset[str]
    faults: dict[int, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.name

    @classmethod
    def read(cls, path: Path) -> DeletionList:
        """The list in a file.

        Raises:
            InvalidRequest: it is none, as a whole; nothing of it is quoted.
        """
        ids = _sort_ids(parts[1] for _, parts in _rows(path, _HEADER, _ITEM) if parts)
        return cls(path, kind_of(path.name), frozenset(ids[1:][ids[1:] == ids[:-1]].astype(str).tolist()))

    def blocks(self) -> Iterator[dict[str, bytes]]:
        """ID -> 32 bytes of a hash, each ID once in all blocks."""
        first: dict[str, bytes] = {}
        block: dict[str, bytes] = {}
        for number, parts in _rows(self.path, _HEADER, _ITEM):
            if parts is None:
                self._note(number, _NO_ITEM)
                continue
            name, digest = parts[1], base64.b64decode(parts[2])
            if name in self.repeated:
                if name in first:
                    if first[name] != digest:
                        self._note(number, _TWICE)
                    continue
                first[name] = digest
            block[name] = digest
            if len(block) == BLOCK:
                yield block
                block = {}
        if block:
            yield block

    def _note(self, number: int, fault: str) -> None:
        if len(self.faults) < _MOST_FAULTS:
            self.faults[number] = fault


def withdrawn_ids(path: Path) -> tuple[np.ndarray, dict[int, str]]:
    """The IDs that a file of the name `..._Removed.csv` takes back, sorted bytes, each once; and line -> why it is none.

    Raises:
        InvalidRequest: it is no such file, as a whole.
    """
    faults: dict[int, str] = {}

    def ids() -> Iterator[str]:
        for number, parts in _rows(path, _TAKEN_BACK, _REMOVED_ITEM):
            if parts is not None:
                yield parts[1]
            elif len(faults) < _MOST_FAULTS:
                faults[number] = _NO_ITEM + ", a comma, and a kind of list"

    return np.unique(_sort_ids(ids())), faults


def _rows(path: Path, header: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str] | None]]:
    """(number, parts) of each line that is not empty; None where it is none."""
    with limited_io.open_plain(path, error=InvalidRequest) as file:
        lines = limited_io.iterate_lines(file, _LONGEST, error=InvalidRequest)
        if next(lines, None) != header:
            raise InvalidRequest(f"the first line is not {header}, so it is no deletion list")
        for number, line in enumerate(lines, start=2):
            if number > MOST + 1:
                raise InvalidRequest(f"more than {MOST} lines; split it, with _part01 and so on in the names")
            if line != "":
                yield number, None if line is None else pattern.fullmatch(line)


def _sort_ids(ids: Iterable[str]) -> np.ndarray:
    """IDs as sorted bytes of 12: a million take 12 MB, as text ten times that."""
    found = np.fromiter(ids, "S12")
    found.sort()
    return found


def is_list(name: str) -> bool:
    """Whether a file has the name of a deletion list."""
    return is_named(name) and not is_withdrawal(name)


def is_named(name: str) -> bool:
    """Whether a file has the name of one of the platform's."""
    return _NAME.fullmatch(name) is not None


def is_withdrawal(name: str) -> bool:
    """Whether a file has the name of one of what was taken back."""
    found = _NAME.fullmatch(name)
    return found is not None and found[1] == "Removed"


def kind_of(name: str) -> Lists:
    """The kind of the list in a file of this name."""
    found = _NAME.fullmatch(name)
    assert found is not None
    return Lists(found[1])


def answers(blocks: Iterable[Mapping[str, Outcomes]]) -> Iterator[bytes]:
    """The file of answers, as the platform takes it, in pieces."""
    yield f"{_ANSWERS}\n".encode()
    for block in blocks:
        yield "".join(f"{name},{status}\n" for name, status in block.items()).encode()


def read_answers(path: Path) -> Iterator[tuple[str, Outcomes]]:
    """Read back `answers`.

    Raises:
        InvalidRequest: it is none.
    """
    with limited_io.open_plain(path, error=InvalidRequest) as file:
        lines = limited_io.iterate_lines(file, _LONGEST, error=InvalidRequest)
        if next(lines, None) != _ANSWERS:
            raise InvalidRequest(_NOT_OURS)
        for line in lines:
            parts = None if line is None else _ANSWER.fullmatch(line)
            if parts is None:
                raise InvalidRequest(_NOT_OURS)
            yield parts[1], Outcomes(parts[2])
