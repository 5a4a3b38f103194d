"""Files of California's platform: deletion lists (`ID,Hash`), answers (`Id,Status`), withdrawals (`ID,Hash,ListType`).

    20260312_4821_Email.csv           day, number of the data broker, kind of list
    20260312_4821_Email_part01.csv    the same for a part of a list
    20260512_4821_Removed.csv         requests that consumers have withdrawn; needs no answer

An answer file has the name of its list. Format: privacy.ca.gov, DROP technical specifications 1.2.0, "Working with the
data". An ID permanently names one consumer's request; a hash is 44 characters of Base64. A file has up to a million
lines and is read in blocks.
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

MOST = 1_000_000  # most requests in one list
BLOCK = 100_000  # requests held in memory at once
_MOST_FAULTS = 1000  # most faults reported for one list
_LONGEST = 200  # bytes of a line
_HEADER, _TAKEN_BACK, _ANSWERS = "ID,Hash", "ID,Hash,ListType", "Id,Status"
_NAME = re.compile(rf"\d{{8}}_\d{{4}}_({'|'.join([*Lists, 'Removed'])})(_[A-Za-z0-9]{{1,10}})?\.csv", re.ASCII)
_ITEM = re.compile(r"([A-Za-z0-9]{12}),([A-Za-z0-9+/]{43}=)", re.ASCII)
_REMOVED_ITEM = re.compile(rf"([A-Za-z0-9]{{12}}),([A-Za-z0-9+/]{{43}}=),({'|'.join(Lists)})", re.ASCII)
_ANSWER = re.compile(r"([A-Za-z0-9]{12}),([2-5])", re.ASCII)
_NO_ITEM = "not an ID of 12 letters and digits, a comma, and a hash of 44 characters of Base64"
_TWICE = "this ID occurred above with another hash; the first one counts"
_NOT_OURS = "the answers that lie there are none of this program; move them away, and they are written again"


class Outcomes(Word):
    """Status codes of answers; 0 and 1 are not used.

    OPTED_OUT: several persons have the identifier, and all were opted out of sale and sharing.
    """

    EXEMPT = "2"
    DELETED = "3"
    OPTED_OUT = "4"
    NOT_FOUND = "5"


@dataclass
class DeletionList:
    """A deletion list in a file, read once for validation; `blocks` reads it again.

    Attributes:
        path: The file.
        kind: Kind of the list.
        repeated: IDs on several lines.
        faults: Line number -> fault, of the lines that `blocks` has read.
    """

    path: Path
    kind: Lists
    repeated: frozenset[str]
    faults: dict[int, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    @classmethod
    def read(cls, path: Path) -> DeletionList:
        """Return the list in a file.

        Raises:
            InvalidRequest: If the file as a whole is no deletion list; the message quotes none of it.
        """
        ids = _sort_ids(parts[1] for _, parts in _rows(path, _HEADER, _ITEM) if parts)
        return cls(path, kind_of(path.name), frozenset(ids[1:][ids[1:] == ids[:-1]].astype(str).tolist()))

    def blocks(self) -> Iterator[dict[str, bytes]]:
        """Yield blocks of ID -> 32-byte hash; each ID occurs once in all blocks."""
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
    """Return the withdrawn IDs in a `..._Removed.csv` file, sorted and unique, and the faults by line number.

    Raises:
        InvalidRequest: If the file as a whole is no such file.
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
    """Yield line number and match of each line that is not empty; None if it does not match."""
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
    """Return the IDs as a sorted array of 12-byte strings: a million take 12 MB, a tenth of their size as text."""
    found = np.fromiter(ids, "S12")
    found.sort()
    return found


def is_list(name: str) -> bool:
    """Return whether a file name is that of a deletion list."""
    return is_named(name) and not is_withdrawal(name)


def is_named(name: str) -> bool:
    """Return whether a file name is one of the platform's."""
    return _NAME.fullmatch(name) is not None


def is_withdrawal(name: str) -> bool:
    """Return whether a file name is that of withdrawals."""
    found = _NAME.fullmatch(name)
    return found is not None and found[1] == "Removed"


def kind_of(name: str) -> Lists:
    """Return the kind of the list in a file of this name."""
    found = _NAME.fullmatch(name)
    assert found is not None
    return Lists(found[1])


def answers(blocks: Iterable[Mapping[str, Outcomes]]) -> Iterator[bytes]:
    """Yield the file of answers in pieces, in the platform's format."""
    yield f"{_ANSWERS}\n".encode()
    for block in blocks:
        yield "".join(f"{name},{status}\n" for name, status in block.items()).encode()


def read_answers(path: Path) -> Iterator[tuple[str, Outcomes]]:
    """Yield the answers in a file written by `answers`.

    Raises:
        InvalidRequest: If it is no such file.
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
