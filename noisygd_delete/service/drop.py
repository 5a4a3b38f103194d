"""Deletion lists of California's Delete Request and Opt-out Platform (DROP), taken from a folder and answered there.

    FOLDER/20260312_4821_Email.csv            a list as it was downloaded: put there under another name, then renamed
    FOLDER/20260312_4821_Email.csv.matched    which persons of the table it means; until their requests are kept
    FOLDER/20260312_4821_Email.csv.open       IDs and requests alone; until all of it can be answered
    FOLDER/answers/20260312_4821_Email.csv    the answers, to upload

A list is overwritten and removed once it was compared with the table; no hash of it is kept. A person is one request, however many lists of
one look into the folder mean them. A list is answered as a whole: once every request of it is published or decided about, and once
everything else that waited in a store when it came is published. So a "not found" never stands beside a model that still holds the person.
"""

from __future__ import annotations

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ..errors import InvalidParameter, InvalidRequest, NoisyGDDeleteError, StoreCorrupt, StoreError
from ..records import bounded
from ..register import Channels, Decisions, Grounds, Line
from ..report.requests import register_lines
from ..store import journal
from ..store.disk import Disk, read
from ..store.layout import TEMPORARY, Layout
from ..store.ledger import Ledger
from ..store.requests import register_of
from .asked import Asked, now_here
from .deletion_list import DeletionList, Outcomes, answered, answers, is_list
from .drop_settings import Drop
from .folder import Watching
from .identifiers import Lists, hashed
from .inbox import Stages
from .persons import Persons
from .service import Service

DAYS = 45  # from receipt to the deletion, California Civil Code 1798.99.86(c)
MATCHED, OPEN, UNFIT, FAULTS = ".matched", ".open", ".unfit", ".faults"
_LONGEST = 1 << 28  # bytes of a file that this program wrote
_PREFIX = "drop-"  # of request ids
_SEVERAL = "{} persons of the table have this identifier: opt all of them out of sale and sharing, then state `register opted-out`"
_GONE = "the person was in the table when the list came, and the register does not take the request"

_DECIDED = {Decisions.OPTED_OUT: Outcomes.OPTED_OUT, Decisions.NOT_FOUND: Outcomes.NOT_FOUND}

log = logging.getLogger("noisygd_delete.service")


class DropIntake(Watching):
    """Takes the lists that are put into the folder, and writes their answers.

    Raises:
        InvalidParameter: there is no such folder, or no table that names persons as the file says.
    """

    def __init__(self, service: Service, drop: Drop, disk: Disk | None = None) -> None:
        super().__init__("--drop", drop.folder, disk)
        self._service, self._drop = service, drop
        self._persons = Persons(service.paths, drop.names)
        if not self._persons.any:
            raise InvalidParameter('--drop: no table of these stores names persons; write names = "id" for records')
        self._answers = self._folder / "answers"
        self._seen: Any = None  # how things stood when open lists were looked at last

    def turn(self) -> None:
        """Compare new lists, keep their requests, and answer what can be answered."""
        if not self._answers.is_dir():
            self._disk.make_folder(self._answers)
        for half in self._folder.glob(f"*{TEMPORARY}"):
            if any(is_list(half.name.removesuffix(ending + TEMPORARY)) for ending in (MATCHED, OPEN)):
                self._disk.erase(half)
        self._ask()
        self._compare(list(self._new()))
        self._ask()
        self._answer()

    def _at(self, ending: str) -> list[Path]:
        return [path for path in sorted(self._folder.glob(f"*{ending}")) if is_list(path.name.removesuffix(ending))]

    def _new(self) -> Iterator[DeletionList]:
        """Lists that have not been compared; what is none is put aside, and said."""
        for path in sorted(self._folder.glob("*.csv")):
            if path.is_symlink() or not path.is_file():
                continue
            if any(path.with_name(path.name + ending).exists() for ending in (MATCHED, OPEN)):
                self._disk.erase(path)  # compared before this process began
                continue
            try:
                if not is_list(path.name):
                    raise InvalidRequest(
                        "not the name of a deletion list, such as 20260312_4821_Email.csv; cancellations (Removed) are not taken"
                    )
                found = DeletionList.read(path)
                if found.kind not in self._drop.lists:
                    raise InvalidRequest(f"the file of --drop does not say what lists of the kind {found.kind} hash")
            except InvalidRequest as error:
                self._complain(path.name, {1: str(error)})
                self._disk.reached("rename", path)
                self._disk.rename(path, path.with_name(path.name + UNFIT))
                self._disk.sync_folder(self._folder)
                continue
            yield found

    def _compare(self, lists: list[DeletionList]) -> None:
        """Find out whom these lists mean, and erase them."""
        if not lists:
            return
        received, (meant, unfit) = now_here(), self._matches(lists)
        needed = self._releases_needed()  # after the comparison: whoever was gone by then, waits by now
        tokens = {name: token for token, name in self._asked_already()}
        known = self._known()
        for one in lists:
            state: dict[str, Any] = {"received": received, "needed": needed, "unfit": unfit[one.kind]}
            before = self._answered_before(one.name)
            items: dict[str, str] = {}
            persons: dict[str, str] = {}
            several: dict[str, int] = {}
            for item, digest in one.items.items():
                names, token = sorted(meant.get((one.kind, digest), ())), _PREFIX + item
                if item in before:
                    items[item] = str(before[item])
                elif token in known:
                    items[item] = token
                elif len(names) == 1:
                    items[item] = tokens.setdefault(names[0], token)
                    persons[items[item]] = names[0]
                else:
                    items[item] = token if names else str(Outcomes.NOT_FOUND)
                    several |= {token: len(names)} if names else {}
            state |= {"items": items, "persons": persons, "several": several}
            if one.faults:
                self._complain(one.name, one.faults)
            self._write(one.name + MATCHED, state)
            self._disk.erase(self._folder / one.name)

    def _matches(self, lists: Iterable[DeletionList]) -> tuple[dict[tuple[Lists, bytes], set[str]], Counter[Lists]]:
        """Whom each hash means, of those who are in a table; and how many could not be hashed, by the kind of list."""
        wanted: dict[Lists, set[bytes]] = defaultdict(set)
        for one in lists:
            wanted[one.kind].update(one.items.values())
        found: dict[tuple[Lists, bytes], set[str]] = defaultdict(set)
        unfit: Counter[Lists] = Counter()
        for name, columns in self._drop.everybody(self._persons):
            for kind, digests in wanted.items():
                values = [columns[column] for column in self._drop.lists[kind]]
                digest = hashed(kind, values)
                if digest in digests:
                    found[kind, digest].add(name)
                unfit[kind] += digest is None and all(values)
        held = self._persons.held({name for names in found.values() for name in names})
        return {key: names & held for key, names in found.items()}, unfit

    def _asked_already(self) -> Iterator[tuple[str, str]]:
        """(request, person) of earlier lists whose rows are still in the table."""
        for kept in self._service.inbox.at(Stages.ACCEPTED):
            if (kept.token or "").startswith(_PREFIX):
                asked = kept.fields["asked"]
                yield from ((str(kept.token), name) for name in (*asked["subjects"], *asked["delete"]))

    def _known(self) -> set[str]:
        """Requests of lists that a register or the inbox has."""
        found = {token for path in self._service.paths.values() for token in register_of(path).cases()}
        found |= {
            str(kept.token)
            for stage in (Stages.ACCEPTED, Stages.EDITED, Stages.REFUSED)
            for kept in self._service.inbox.at(stage)
        }
        return {token for token in found if token.startswith(_PREFIX)}

    def _releases_needed(self) -> dict[str, int]:
        """How many releases each store has made once all that waits there now is published."""
        heads = {name: Ledger.read(Layout.at(path).ledger) for name, path in self._service.paths.items()}
        return {name: ledger.releases + bool(ledger.head.pending) for name, ledger in heads.items()}

    def _ask(self) -> None:
        """Have the service keep a request for each person, then forget who they are."""
        for path in self._at(MATCHED):
            name = path.name.removesuffix(MATCHED)
            if (self._folder / (name + OPEN)).exists():  # all of it was asked
                self._disk.discard(path)
                continue
            state = self._read(path)
            received = state["received"]
            by = (datetime.fromisoformat(received).date() + timedelta(days=DAYS)).isoformat()
            stated = {"received": received, "channel": str(Channels.REGISTRY), "publish_by": by}
            for token, person in state.pop("persons").items():
                who: dict[str, Any] = {"subjects" if self._drop.names == "subject" else "delete": [person]}
                try:
                    self._service.take(token, Asked(received=received, channel=Channels.REGISTRY, **who), publish_by=by)
                except StoreError:  # not now
                    raise
                except NoisyGDDeleteError:
                    self._service.leave(token, _GONE, **stated)
            for token, count in state.pop("several").items():
                self._service.leave(token, _SEVERAL.format(count), **stated)
            self._write(name + OPEN, state)
            self._disk.discard(path)

    def _answer(self) -> None:
        """Write the answers to each list of which all can be answered."""
        paths, now = self._at(OPEN), self._now()
        if not paths or now == self._seen:
            return
        lines: dict[str, list[Line]] = defaultdict(list)
        for store in self._service.paths.values():
            for line in register_lines(store):
                lines[line.token].append(line)
        for path in paths:
            state, name = self._read(path), path.name.removesuffix(OPEN)
            links = state["items"].items()
            found = {
                item: self._status(link, lines) if link.startswith(_PREFIX) else Outcomes(link) for item, link in links
            }
            statuses = {item: status for item, status in found.items() if status is not None}
            if len(statuses) < len(found) or any(
                made < state["needed"].get(store, 0) for store, made in now[0].items()
            ):
                continue
            if statuses:
                self._disk.replace(self._answers / name, answers(statuses).encode())
            self._disk.discard(path)
            self._say(Counter(statuses.values()), state["unfit"])
        self._seen = now

    def _now(self) -> tuple[dict[str, int], Any]:
        """Releases of every store, and what else moves when an answer may."""
        layouts = {name: Layout.at(path) for name, path in self._service.paths.items()}
        releases = {name: Ledger.read(layout.ledger).releases for name, layout in layouts.items()}
        files = [*(layout.register for layout in layouts.values()), *self._at(OPEN)]
        changed = [(path.name, path.stat().st_mtime_ns) for path in files if path.exists()]
        return releases, (changed, self._service.inbox.counts())

    @staticmethod
    def _say(counts: Mapping[Outcomes, int], unfit: int) -> None:
        told = ", ".join(f"{count} {status.name.lower().replace('_', ' ')}" for status, count in counts.items())
        log.info("a deletion list is answered: %s", told or "it was empty")
        if unfit:
            log.warning("%d rows of identifiers could not be hashed: compare them by hand, see docs/drop.md", unfit)

    def _status(self, token: str, lines: Mapping[str, list[Line]]) -> Outcomes | None:
        """What became of a request; None while it is under way, or a person has to decide."""
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

    def _answered_before(self, name: str) -> dict[str, Outcomes]:
        path = self._answers / name
        return answered(bounded.text(path, bounded.LIST, error=InvalidRequest)) if path.exists() else {}

    def _complain(self, name: str, faults: Mapping[int, str]) -> None:
        """Say beside the answers what of a list could not be taken."""
        told = "".join(json.dumps({"line": line, "error": why}) + "\n" for line, why in faults.items())
        self._disk.replace(self._answers / (name + FAULTS), told.encode())
        log.error("%d lines of a deletion list were not taken; see answers/*%s", len(faults), FAULTS)

    def _write(self, name: str, state: Mapping[str, Any]) -> None:
        self._disk.replace(self._folder / name, journal.sealed(json.dumps(state).encode()))

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            return dict(bounded.parsed(journal.unsealed(read(path, _LONGEST)).decode()))
        except (ValueError, TypeError) as error:
            raise StoreCorrupt(
                f"{path}: not what this program wrote; restore it from a backup, or remove it and put the list there again"
            ) from error
