"""Deletion lists of California's Delete Request and Opt-out Platform (DROP), read from a folder and answered there.

    FOLDER/20260312_4821_Email.csv            a downloaded list: write it under another name, then rename it
    FOLDER/20260312_4821_Email.csv.matched    the persons it matches; until their requests are durable
    FOLDER/20260312_4821_Email.csv.items      ID -> request, or its answer
    FOLDER/20260312_4821_Email.csv.open       these requests; until all of them can be answered
    FOLDER/taken_back                         IDs that consumers have withdrawn, kept permanently
    FOLDER/answers/20260312_4821_Email.csv    the answers, to upload

A list is overwritten and removed once it was compared with the table; no hash of it is kept. A person gets one request,
however many lists of one scan match them. A list is answered as a whole: once every request of it is published or
decided, and everything else that was pending in a store on its arrival is published. So "not found" is never stated
while a model still contains the person.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import Any

from noisygd_delete_compliance import Channels, Decisions, Grounds, RegisterRow
from noisygd_delete_compliance.request_rows import register_lines

from noisygd_delete.errors import InvalidParameter, InvalidRequest, NoisyGDDeleteError, StoreCorrupt, StoreError
from noisygd_delete.records import limited_io
from noisygd_delete.store import journal
from noisygd_delete.store.disk import Disk, read_file
from noisygd_delete.store.layout import TEMPORARY, Layout
from noisygd_delete.store.ledger import Ledger

from .deletion_list import BLOCK, DeletionList, Outcomes, answers, is_list, is_withdrawal, kind_of, withdrawn_ids
from .drop_settings import Drop
from .folder import Watching
from .inbox import Stages
from .matching import Links, Matching, TakenBack
from .persons import Persons
from .request_body import RequestBody, local_now
from .service import Service

DAYS = 45  # from receipt to the deletion, California Civil Code 1798.99.86(c)
MATCHED, ITEMS, OPEN, UNFIT, FAULTS = ".matched", ".items", ".open", ".unfit", ".faults"
_GONE_BACK = "taken_back"  # withdrawn IDs, kept permanently
_LONGEST = 1 << 28  # most bytes of a file that this program wrote
_NOT_OURS = "{}: not what this program wrote; restore it from a backup, or remove it and put the list there again"
_SEVERAL = "{} persons of the table have this identifier: opt all of them out of sale and sharing, then state `register opted-out`"
_GONE = "the person was in the table when the list came, and the register does not take the request"

_DECIDED = {Decisions.OPTED_OUT: Outcomes.OPTED_OUT, Decisions.NOT_FOUND: Outcomes.NOT_FOUND}

log = logging.getLogger("noisygd_delete_server")


class DropIntake(Watching):
    """Reads the lists in a folder and writes their answers.

    Raises:
        InvalidParameter: If there is no such folder, or no table has names of the configured kind.
    """

    def __init__(self, service: Service, drop: Drop, disk: Disk | None = None) -> None:
        super().__init__("--drop", drop.folder, disk)
        self._service, self._drop = service, drop
        self._persons = Persons(service.paths, drop.names)
        if not self._persons.any:
            raise InvalidParameter('--drop: no table of these stores names persons; write names = "id" for records')
        self._answers = self._folder / "answers"
        self._gone = TakenBack(self._folder / _GONE_BACK, self._disk)
        self._seen: Any = None  # state at the last check of open lists

    def process_files(self) -> None:
        """Compare new lists, enqueue their requests, and answer the lists that are complete."""
        if not self._answers.is_dir():
            self._disk.make_folder(self._answers)
        for half in self._folder.glob(f"*{TEMPORARY}"):
            name = half.name.removesuffix(TEMPORARY)
            if is_withdrawal(name) or any(is_list(name.removesuffix(ending)) for ending in (MATCHED, ITEMS, OPEN)):
                self._disk.erase(half)
        for path in self._at(ITEMS):  # left from a list that was answered, or will be compared again
            if not self._is_compared(path.name.removesuffix(ITEMS)):
                self._disk.erase(path)
        self._ask()
        self._take_back()
        self._compare(list(self._new()))
        self._ask()
        self._answer()

    def _at(self, ending: str) -> list[Path]:
        return [path for path in sorted(self._folder.glob(f"*{ending}")) if is_list(path.name.removesuffix(ending))]

    def _is_compared(self, name: str) -> bool:
        return any((self._folder / (name + ending)).exists() for ending in (MATCHED, OPEN))

    def _files(self) -> Iterator[Path]:
        for path in sorted(self._folder.glob("*.csv")):
            if path.is_file() and not path.is_symlink():
                yield path

    def _take_back(self) -> None:
        """Record the IDs that consumers have withdrawn: they are neither requested nor answered from now on."""
        for path in self._files():
            if not is_withdrawal(path.name):
                continue
            try:
                ids, faults = withdrawn_ids(path)
                self._gone.add(ids)
            except InvalidRequest as error:
                self._put_aside(path, error)
                continue
            if faults:
                self._complain(path.name, faults)
            self._disk.discard(path)
            log.info("consumers have taken back %d requests of deletion lists", len(ids))

    def _new(self) -> Iterator[DeletionList]:
        """Yield lists that have not been compared; quarantine and report other files."""
        for path in self._files():
            if self._is_compared(path.name):  # by an earlier process
                self._disk.erase(path)
                continue
            try:
                if not is_list(path.name):
                    raise InvalidRequest("not the name of a deletion list, such as 20260312_4821_Email.csv")
                if kind_of(path.name) not in self._drop.lists:
                    raise InvalidRequest(
                        f"the file of --drop does not say what lists of the kind {kind_of(path.name)} hash"
                    )
                yield DeletionList.read(path)
            except InvalidRequest as error:
                self._put_aside(path, error)

    def _put_aside(self, path: Path, error: InvalidRequest) -> None:
        self._complain(path.name, {1: str(error)})
        self._disk.reached("rename", path)
        self._disk.rename(path, path.with_name(path.name + UNFIT))
        self._disk.sync_folder(self._folder)

    def _compare(self, lists: list[DeletionList]) -> None:
        """Find the persons that these lists match, and replace each list by the result."""
        if not lists:
            return
        received, matching = local_now(), Matching(self._service, self._drop, self._persons, self._gone)
        for one in lists:
            links, seal = Links(), hashlib.sha256()
            pieces = self._sealing(matching.lines(one, self._answers / one.name, links), seal)
            self._disk.replace(self._folder / (one.name + ITEMS), pieces)
            if one.faults:
                self._complain(one.name, one.faults)
            # the ledger is read after the comparison: edits of persons missing from the table are pending by now
            state = {"received": received, "needed": self._releases_needed(), "seal": seal.hexdigest()} | vars(links)
            self._write(one.name + MATCHED, state)
            self._disk.erase(one.path)

    @staticmethod
    def _sealing(pieces: Iterable[bytes], seal: hashlib._Hash) -> Iterator[bytes]:
        for piece in pieces:
            seal.update(piece)
            yield piece

    def _releases_needed(self) -> dict[str, int]:
        """Return the number of releases of each store once all edits pending now are published."""
        heads = {name: Ledger.read(Layout.at(path).ledger) for name, path in self._service.paths.items()}
        return {name: ledger.releases + bool(ledger.head.pending) for name, ledger in heads.items()}

    def _ask(self) -> None:
        """Enqueue a request for each matched person, then delete the matches."""
        for path in self._at(MATCHED):
            name = path.name.removesuffix(MATCHED)
            if (self._folder / (name + OPEN)).exists():  # all of its requests are durable
                self._disk.discard(path)
                continue
            state = self._read(path)
            received = state["received"]
            by = (datetime.fromisoformat(received).date() + timedelta(days=DAYS)).isoformat()
            stated = {"received": received, "channel": str(Channels.REGISTRY), "publish_by": by}
            for token, person in state.pop("persons").items():
                who: dict[str, Any] = {"subjects" if self._drop.names == "subject" else "delete": [person]}
                try:
                    self._service.take(
                        token, RequestBody(received=received, channel=Channels.REGISTRY, **who), publish_by=by
                    )
                except StoreError:  # not now
                    raise
                except NoisyGDDeleteError:
                    self._service.leave(token, _GONE, **stated)
            for token, count in state.pop("several").items():
                self._service.leave(token, _SEVERAL.format(count), **stated)
            self._write(name + OPEN, state)
            self._disk.discard(path)

    def _answer(self) -> None:
        """Write the answers to each list that is complete."""
        paths, now = self._at(OPEN), self._now()
        if not paths or now == self._seen:
            return
        lines: dict[str, list[RegisterRow]] = defaultdict(list)
        for store in self._service.paths.values():
            for line in register_lines(store):
                lines[line.token].append(line)
        for path in paths:
            state, name = self._read(path), path.name.removesuffix(OPEN)
            if any(made < state["needed"].get(store, 0) for store, made in now[0].items()):
                continue
            found = {token: self._status(token, lines) for token in state["requests"]}
            undecided = {item for token, items in state["requests"].items() if found[token] is None for item in items}
            if undecided - self._gone.among(undecided):
                continue
            counts: Counter[Outcomes] = Counter()
            statuses = self._statuses(name, state["seal"], found, counts)
            first = next(statuses, None)
            if first is not None:
                self._disk.replace(self._answers / name, answers(chain([first], statuses)))
            self._disk.discard(path)
            self._disk.erase(self._folder / (name + ITEMS))
            self._say(counts, state["unfit"])
        self._seen = now

    def _statuses(
        self, name: str, seal: str, found: Mapping[str, Outcomes | None], counts: Counter[Outcomes]
    ) -> Iterator[dict[str, Outcomes]]:
        """Yield blocks of ID -> status for all IDs of a list that are not withdrawn, and count them."""
        path = self._folder / (name + ITEMS)
        if limited_io.file_digest(path, error=StoreCorrupt) != seal:
            raise StoreCorrupt(_NOT_OURS.format(path))
        with limited_io.open_plain(path, error=StoreCorrupt) as file:
            lines = (str(line).partition(",")[::2] for line in limited_io.iterate_lines(file, error=StoreCorrupt))
            while links := dict(islice(lines, BLOCK)):
                for item in self._gone.among(links):
                    del links[item]
                block = {item: found[link] if link in found else Outcomes(link) for item, link in links.items()}
                counts.update(status for status in block.values() if status is not None)
                if block:
                    yield {item: status for item, status in block.items() if status is not None}

    def _now(self) -> tuple[dict[str, int], Any]:
        """Return the releases of every store, and everything else on which answers depend."""
        layouts = {name: Layout.at(path) for name, path in self._service.paths.items()}
        releases = {name: Ledger.read(layout.ledger).releases for name, layout in layouts.items()}
        files = [*(layout.register for layout in layouts.values()), *self._at(OPEN), self._folder / _GONE_BACK]
        changed = [(path.name, path.stat().st_mtime_ns) for path in files if path.exists()]
        return releases, (changed, self._service.inbox.counts())

    @staticmethod
    def _say(counts: Mapping[Outcomes, int], unfit: int) -> None:
        summary = ", ".join(f"{count} {status.name.lower().replace('_', ' ')}" for status, count in counts.items())
        log.info("a deletion list is answered: %s", summary or "it was empty")
        if unfit:
            log.warning("%d rows of identifiers could not be hashed: compare them by hand, see docs/drop.md", unfit)

    def _status(self, token: str, lines: Mapping[str, list[RegisterRow]]) -> Outcomes | None:
        """Return the outcome of a request; None while it is in progress, or a person has to decide."""
        kept = self._service.inbox.find(token)
        if kept is not None and kept.stage is not Stages.REFUSED:
            return None
        served = [line.served for line in lines.get(token, ()) if line.served is not None]
        if served:
            return Outcomes.DELETED if all(one.published is not None for one in served) else None
        for case in (line.case for line in lines.get(token, ())):
            if case.decision is Decisions.REFUSED and case.ground is Grounds.EXEMPT:
                return Outcomes.EXEMPT
            if case.decision in _DECIDED:
                return _DECIDED[case.decision]
        return None

    def _complain(self, name: str, faults: Mapping[int, str]) -> None:
        """Write a file of faults next to the answers of a list."""
        lines = "".join(json.dumps({"line": line, "error": why}) + "\n" for line, why in faults.items())
        self._disk.replace(self._answers / (name + FAULTS), lines.encode())
        log.error("%d lines of a deletion list were not taken; see answers/*%s", len(faults), FAULTS)

    def _write(self, name: str, state: Mapping[str, Any]) -> None:
        self._disk.replace(self._folder / name, journal.add_checksum(json.dumps(state).encode()))

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            return dict(limited_io.parse_json(journal.strip_checksum(read_file(path, _LONGEST)).decode()))
        except (ValueError, TypeError) as error:
            raise StoreCorrupt(_NOT_OURS.format(path)) from error
