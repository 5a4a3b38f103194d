"""Comparison of deletion lists with the tables, in blocks, so that memory does not grow with the list.

The result of a line is written as `ID,REQUEST`, or `ID,STATUS` if the answer is already known. No hash is kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from noisygd_delete_compliance.register import register_of

from noisygd_delete.errors import InvalidRequest, StoreCorrupt
from noisygd_delete.store import journal
from noisygd_delete.store.disk import Disk, read_file

from .deletion_list import DeletionList, Outcomes, read_answers
from .drop_settings import Drop
from .identifiers import hash_identifier
from .inbox import Stages
from .persons import Persons
from .service import Service

PREFIX = "drop-"  # of request ids
_LONGEST = 1 << 28  # most bytes of all withdrawn IDs


@dataclass
class Links:
    """The requests that result from one list.

    Attributes:
        requests: Request id -> IDs of the list that lead to it.
        persons: Request id -> the person it erases, if it is new.
        several: Request id -> number of persons with the identifier, if a person has to decide.
        unfit: Rows of identifiers that could not be hashed.
    """

    requests: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    persons: dict[str, str] = field(default_factory=dict)
    several: dict[str, int] = field(default_factory=dict)
    unfit: int = 0


class TakenBack:
    """IDs that consumers have withdrawn: kept permanently, without hashes, so that an old list does not restore one."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self._path, self._disk = path, disk

    def among(self, items: Collection[str]) -> set[str]:
        """Return those of these IDs that were withdrawn."""
        requested, known = np.array(sorted(items), "S12"), self._ids()
        return set(requested[np.isin(requested, known)].astype(str).tolist()) if len(known) else set()

    def add(self, ids: np.ndarray) -> None:
        """Add withdrawn IDs, as 12-byte strings.

        Raises:
            InvalidRequest: If there are too many.
        """
        found = np.union1d(self._ids(), ids)
        if found.nbytes > _LONGEST:
            raise InvalidRequest(f"more requests were taken back than {self._path.name} may hold; move that file away")
        self._disk.replace(self._path, journal.add_checksum(found.tobytes()))

    def _ids(self) -> np.ndarray:
        if not self._path.exists():
            return np.empty(0, "S12")
        try:
            return np.frombuffer(journal.strip_checksum(read_file(self._path, _LONGEST + journal.SEAL)), "S12")
        except ValueError as error:
            raise StoreCorrupt(f"{self._path}: not what this program wrote; restore it from a backup") from error


class Matching:
    """Comparison of the lists of one scan with the tables; a person gets one request, however many lines match."""

    def __init__(self, service: Service, drop: Drop, persons: Persons, gone: TakenBack) -> None:
        self._service, self._drop, self._persons, self._gone = service, drop, persons, gone
        self._tokens = {name: token for token, name in self._requested_names()}
        self._known = self._known_requests()

    def lines(self, one: DeletionList, before: Path, links: Links) -> Iterator[bytes]:
        """Yield the results of the lines of a list in pieces, and fill `links`.

        Args:
            one: The list.
            before: Answers to an earlier list of this name, if the file exists.
            links: Filled with the resulting requests.
        """
        for block in one.blocks():
            for item in self._gone.among(block):
                del block[item]
            meant = self._meant(one, set(block.values()), links)
            answers = (
                {item: status for item, status in read_answers(before) if item in block} if before.exists() else {}
            )
            yield "".join(
                f"{item},{self._link(item, sorted(meant.get(digest, ())), answers, links)}\n"
                for item, digest in block.items()
            ).encode()

    def _link(self, item: str, names: list[str], answers: Mapping[str, Outcomes], links: Links) -> str:
        token = PREFIX + item
        if item in answers:
            return str(answers[item])
        if token not in self._known:
            if not names:
                return str(Outcomes.NOT_FOUND)
            if len(names) == 1:
                token = self._tokens.setdefault(names[0], token)
                if token.startswith(PREFIX):  # otherwise another request is pending already
                    links.persons[token] = names[0]
            else:
                links.several[token] = len(names)
        links.requests[token].append(item)
        return token

    def _meant(self, one: DeletionList, digests: Collection[bytes], links: Links) -> dict[bytes, set[str]]:
        """Return the persons in a table that each hash matches."""
        found: dict[bytes, set[str]] = defaultdict(set)
        links.unfit, columns = 0, self._drop.lists[one.kind]
        for name, cells in self._drop.everybody(self._persons):
            values = [cells[column] for column in columns]
            digest = hash_identifier(one.kind, values, self._drop.letters)
            if digest is not None and digest in digests:
                found[digest].add(name)
            links.unfit += digest is None and all(values)
        held = self._persons.held({name for names in found.values() for name in names})
        return {digest: names & held for digest, names in found.items()}

    def _requested_names(self) -> Iterator[tuple[str, str]]:
        """Yield request id and person of pending requests about a single person, from any source."""
        inbox, kind = self._service.inbox, "subjects" if self._drop.names == "subject" else "delete"
        for kept in (*inbox.at(Stages.ACCEPTED), *inbox.at(Stages.QUARANTINED)):
            if kept.token is not None:
                names = [(what, name) for what, named in kept.fields["contents"].items() for name in named]
                yield from ((kept.token, name) for what, name in names if what == kind and len(names) == 1)

    def _known_requests(self) -> set[str]:
        """Return the requests of lists that are in a register or in the inbox."""
        found = {token for path in self._service.paths.values() for token in register_of(path).cases()}
        found |= {
            str(kept.token)
            for stage in (Stages.ACCEPTED, Stages.QUARANTINED, Stages.EDITED, Stages.REFUSED)
            for kept in self._service.inbox.at(stage)
        }
        return {token for token in found if token.startswith(PREFIX)}
