"""Destinations of a store: external locations that the current model is published to, and what they hold.

The ledger determines the current release; publishers.json records what each destination was last known to hold. The
difference is the work to do, so no release is lost: after every change, and whenever the store is opened, a hook brings
the destinations up to date. The hook is an entry point of another distribution (noisygd-delete-server); it alone
connects to destinations and changes the list. A destination that fails, or a hook that is not installed, does not block
a release: the next command tries again.

The seal records the newest change of the list. A list restored from a backup is detected by it; what such a list does
not name counts as an unknown location, until the operator has named all locations again.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import msgspec

from ..errors import MissingDependency, StoreCorrupt
from ..extensions import load_extension, missing_package
from ..records import limited_io
from . import rollback_guard
from .disk import Disk, read_file
from .layout import Layout
from .ledger import Ledger

UNKNOWN = "unknown:"  # locations a store may have published to but has no record of
LONGEST_ADDRESS = 1000
_LONGEST = 1 << 20
_SHOWN = 12  # digits of the digest in a name
_HOOK = ("server", "publishing there")  # the package that publishes, for `missing_package`
_STALE_LIST = "its contents are unknown: the list of publishers is stale, or lost"


def name_of(release: int, digest: str) -> str:
    """Return the published name of a release.

    It has a digest because a restored store can produce another release of that number.
    """
    return f"release-{release}-{digest[:_SHOWN]}"


@dataclass(frozen=True)
class Destination:
    """What is known of one destination.

    Attributes:
        address: Where it is.
        model: The name of the model in a registry.
        alias: The alias of the model in a registry.
        paths: Its folders and files on this machine, which a search for residue reads; empty if it is remote.
        held: The name of the release that it holds exclusively; None if none.
        oldest: The number of the earliest release that may still be there; None if none.
        since: When it first held `held` (UTC).
        problem: Why the last attempt failed, or what it could not remove; None if nothing is left to do.
    """

    address: str
    model: str | None = None
    alias: str | None = None
    paths: tuple[str, ...] = ()
    held: str | None = None
    oldest: int | None = None
    since: str | None = None
    problem: str | None = None

    def behind(self, wanted: str | None) -> bool:
        """Return whether the destination has to be updated."""
        return self.held != wanted or self.problem is not None

    @property
    def kind(self) -> str:
        """The kind of address without the location, such as "folder" or "s3"."""
        return self.address.partition(":")[0]

    @property
    def release(self) -> int | None:
        """The number of the release that it was last known to hold."""
        return None if self.held is None else int(self.held.split("-")[1])

    def to_dict(self, *, pending: bool) -> dict[str, Any]:
        """Return the state for `status`, without internal fields."""
        shown = {name: value for name, value in asdict(self).items() if value is not None or name == "problem"}
        for inner in ("held", "oldest", "paths"):
            shown.pop(inner, None)
        return shown | {"release": self.release, "pending": pending}


@dataclass(frozen=True)
class DestinationList:
    """The content of publishers.json.

    Attributes:
        store: A random id that marks everything this store publishes.
        publishers: The destinations.
        format: The format of the file.
        mark: The mark of the newest change of the list.
        noted: The mark that the seal held before that change.
    """

    store: str
    publishers: tuple[Destination, ...] = ()
    format: Literal[1] = 1
    mark: str = ""
    noted: str = ""


@dataclass(frozen=True)
class DestinationFile:
    """The list of one store's destinations, for a release hook; used while the store is locked.

    Attributes:
        disk: The file operations.
        layout: The files of the store.
    """

    disk: Disk
    layout: Layout

    def read(self) -> DestinationList | None:
        """Return the list; None if there are no destinations.

        Raises:
            StoreCorrupt: If this program did not write publishers.json.
        """
        return read_destinations(self.layout)

    def write(self, found: DestinationList) -> DestinationList:
        """Write the list with a new mark to disk; then record the mark in the seal."""
        changed = replace(found, mark=rollback_guard.mark(), noted=rollback_guard.list_noted(self.layout.ledger)[1])
        text = json.dumps(asdict(changed), indent=1, ensure_ascii=False) + "\n"
        self.disk.replace(self.layout.publishers, text.encode())
        known = {"store": changed.store, "mark": changed.mark}
        rollback_guard.note_change(self.disk, self.layout.ledger, publishers=known)
        return changed


Hook = Callable[[Any, DestinationFile], None]


def read_destinations(layout: Layout) -> DestinationList | None:
    """Return what is known of destinations; None if there are none.

    Of a list restored from a backup, return the destinations it names, each with unknown contents, and one unknown
    location.

    Raises:
        StoreCorrupt: If this program did not write publishers.json.
    """
    store, noted = rollback_guard.list_noted(layout.ledger)  # the seal first, because a list is written before the seal
    found = _read_list(layout)
    if not _is_restored_list(found, noted):
        return found
    named = [place for place in (found.publishers if found else ()) if place.address != UNKNOWN]
    doubtful = (replace(place, held=None, oldest=1, problem=_STALE_LIST) for place in (*named, Destination(UNKNOWN)))
    return DestinationList(store, tuple(doubtful))


def mark_list_untrusted(disk: Disk, layout: Layout) -> None:
    """Mark the list and the register as possibly stale, after the seal was restored from a backup."""
    found = _read_list(layout) or DestinationList(secrets.token_hex(16))
    rollback_guard.mark_untrusted(disk, layout.ledger, rollback_guard.list_noted(layout.ledger)[0] or found.store)


def fault(layout: Layout) -> str | None:
    """Return what is wrong with the list, for `verify`; None if nothing is."""
    noted = rollback_guard.list_noted(layout.ledger)[1]
    if not _is_restored_list(_read_list(layout), noted):
        return None
    return f"{layout.publishers}: restored from an earlier copy, or removed; any other command records that there may be unknown destinations"


def _is_restored_list(found: DestinationList | None, noted: str) -> bool:
    """Return whether the list lacks the change that the seal records: it is stale, or was removed."""
    return noted != "" and (found is None or noted not in (found.mark, found.noted))


def _read_list(layout: Layout) -> DestinationList | None:
    if not layout.publishers.exists():
        return None
    try:
        found = msgspec.convert(limited_io.parse_json(read_file(layout.publishers, _LONGEST).decode()), DestinationList)
        for known in found.publishers:
            known.release  # noqa: B018 -- parses
            if not known.address.isprintable() or not 0 < len(known.address) <= LONGEST_ADDRESS:
                raise ValueError("not an address")
    except (ValueError, IndexError, msgspec.ValidationError) as error:
        raise StoreCorrupt(
            f"{layout.publishers}: not what this program wrote; restore it from a backup, or remove it and name "
            "the destinations again (publish-to)"
        ) from error
    return found


def wanted_release(ledger: Ledger) -> str | None:
    """Return the name of the release that every destination must hold; None if no model may be in service."""
    head = ledger.head
    return name_of(ledger.model_release, head.model) if head.in_force and head.model is not None else None


def list_destinations(layout: Layout) -> tuple[Destination, ...]:
    """Return every destination of a store. Reading needs no lock."""
    found = read_destinations(layout)
    return () if found is None else found.publishers


def destination_status(layout: Layout, ledger: Ledger) -> list[dict[str, Any]]:
    """Return the state of every destination for `status`: address, release, and whether it has to be updated."""
    aim = wanted_release(ledger)
    found = [(each, each.behind(aim)) for each in list_destinations(layout)]
    if any(pending for _, pending in found) and find_hook() is None:
        found = [
            (replace(each, problem=str(missing_package(*_HOOK))) if pending else each, pending)
            for each, pending in found
        ]
    return [each.to_dict(pending=pending) for each, pending in found]


def find_hook() -> Hook | None:
    """Return the release hook that an installed distribution provides; None if there is none.

    It is the entry point `on-release` of the group `noisygd_delete.hooks`, and is called as `on_release(artifact, file)`
    after every change of a store some of whose destinations do not hold the current release; `artifact` is the release
    as an `Artifact`, or None if no model may be in service. It brings each destination of `file` up to date, records
    the outcome there, and raises for none of them.
    """
    try:
        hook: Hook | None = load_extension("hooks", "on-release")
    except ImportError:  # a broken installation must not block a release
        return None
    return hook


def require_hook(layout: Layout) -> None:
    """Raise `MissingDependency` if the store has destinations and no release hook is installed."""
    known = list_destinations(layout)
    if known and find_hook() is None:
        raise MissingDependency(
            f"{', '.join(each.address for each in known)}: {missing_package(*_HOOK)}. Nothing was changed"
        )


def run_hook(file: DestinationFile, ledger: Ledger, artifact: Callable[[], object]) -> None:
    """Bring every destination up to date with the ledger, if a hook is installed.

    Raises:
        StoreCorrupt: If this program did not write publishers.json.
    """
    aim = wanted_release(ledger)
    if any(each.behind(aim) for each in list_destinations(file.layout)) and (on_release := find_hook()) is not None:
        on_release(None if aim is None else artifact(), file)
