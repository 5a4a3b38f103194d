"""Publishers of a store: the external locations that the current model is published to, and their state.

The ledger determines the current release; publishers.json records what each publisher was last known to hold. The
difference is the work to do, so no release is lost: after every change, and whenever the store is opened, publishers
are brought up to date. A failing publisher does not block the release: the failure is recorded, and the next opening
tries again.

The seal records the newest change of the list. A list restored from a backup is detected by it; what such a list does
not name counts as an unknown location, until the operator has named all locations again.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ..errors import InvalidParameter, NoisyGDDeleteError, NotLearned, PublisherError, StoreCorrupt
from ..records import limited_io
from . import disk as presence
from . import rollback_guard
from .disk import Disk, explain_disk_errors, read_file
from .entry import utc_now
from .layout import Layout
from .ledger import Ledger
from .publishers.address import FOLDER, UNKNOWN, check_address, name_of

if TYPE_CHECKING:
    from ..curator.model import Model
    from ..features.schema import Schema
    from .publishers import Artifact, Publisher

_LONGEST = 1 << 20
_SHOWN = 300  # maximum length of a recorded error message
_MOST = 50  # publishers
_UNDER_WAY = "it was being put there when the program was interrupted"
_NOTHING_CHANGED = "nothing was changed"
_PUT_BACK = "what lies there is not known: the list of publishers is one of another time, or lost"


@dataclass(frozen=True)
class PublisherState:
    """What is known of one publisher.

    Attributes:
        address: Where it is (`publishers.publisher_at`).
        model: The name of the model in a registry.
        alias: The alias of the model in a registry.
        held: The name of the release that it holds exclusively; None if none.
        oldest: The number of the earliest release that may still be there; None if none.
        since: When it first held `held` (UTC).
        problem: Why the last attempt failed, or what it could not remove; None if nothing is left to do.
    """

    address: str
    model: str | None = None
    alias: str | None = None
    held: str | None = None
    oldest: int | None = None
    since: str | None = None
    problem: str | None = None

    def behind(self, wanted: str | None) -> bool:
        """Return whether the publisher has to be updated."""
        return self.held != wanted or self.problem is not None

    @property
    def release(self) -> int | None:
        """The number of the release that it was last known to hold."""
        return None if self.held is None else int(self.held.split("-")[1])

    def begun(self, release: int | None) -> PublisherState:
        """Return the state while this release is being published; for None, while all releases are being removed."""
        lie = [number for number in (self.oldest, release) if number is not None]
        return replace(self, oldest=min(lie, default=None), problem=self.problem or _UNDER_WAY)

    def to_dict(self, *, pending: bool) -> dict[str, Any]:
        """Return the state for `status`, without internal fields."""
        told = {name: value for name, value in asdict(self).items() if value is not None or name == "problem"}
        for inner in ("held", "oldest"):
            told.pop(inner, None)
        return told | {"release": self.release, "pending": pending}


@dataclass(frozen=True)
class PublisherList:
    """The content of publishers.json.

    Attributes:
        store: A random id that marks everything this store publishes.
        publishers: The publishers.
        format: The format of the file.
        mark: The mark of the newest change of the list.
        noted: The mark that the seal held before that change.
    """

    store: str
    publishers: tuple[PublisherState, ...] = ()
    format: Literal[1] = 1
    mark: str = ""
    noted: str = ""


def read_publishers(layout: Layout) -> PublisherList | None:
    """Return what is known of publishers; None if there are none.

    Of a list restored from a backup, return the publishers it names, each with unknown contents, and one unknown
    location.

    Raises:
        StoreCorrupt: If this program did not write publishers.json.
    """
    store, noted = rollback_guard.list_noted(layout.ledger)  # the seal first, because a list is written before the seal
    found = _read_list(layout)
    if not _is_restored_list(found, noted):
        return found
    named = [place for place in (found.publishers if found else ()) if place.address != UNKNOWN]
    doubtful = (replace(place, held=None, oldest=1, problem=_PUT_BACK) for place in (*named, PublisherState(UNKNOWN)))
    return PublisherList(store, tuple(doubtful))


def mark_list_untrusted(disk: Disk, layout: Layout) -> None:
    """Mark the publisher list and the register as possibly stale, after the seal was restored from a backup."""
    found = _read_list(layout) or PublisherList(secrets.token_hex(16))
    rollback_guard.mark_untrusted(disk, layout.ledger, rollback_guard.list_noted(layout.ledger)[0] or found.store)


def fault(layout: Layout) -> str | None:
    """Return what is wrong with the list, for `verify`; None if nothing is."""
    noted = rollback_guard.list_noted(layout.ledger)[1]
    if not _is_restored_list(_read_list(layout), noted):
        return None
    return f"{layout.publishers}: put back from a copy, or removed; any other command notes that there may be places it does not name"


def _is_restored_list(found: PublisherList | None, noted: str) -> bool:
    """Return whether the list lacks the change that the seal records: it is stale, or was removed."""
    return noted != "" and (found is None or noted not in (found.mark, found.noted))


def _read_list(layout: Layout) -> PublisherList | None:
    if not layout.publishers.exists():
        return None
    try:
        found = msgspec.convert(limited_io.parse_json(read_file(layout.publishers, _LONGEST).decode()), PublisherList)
        for known in found.publishers:
            check_address(known.address, known.model, known.alias, default="")
            known.release  # noqa: B018 -- parses
    except (ValueError, IndexError, msgspec.ValidationError) as error:
        raise StoreCorrupt(
            f"{layout.publishers}: not what this program wrote; restore it from a backup, or remove it and name the publishers again "
            "(publish-to)"
        ) from error
    return found


def wanted_release(ledger: Ledger) -> str | None:
    """Return the name of the release that every publisher must hold; None if no model may be in service."""
    head = ledger.head
    return name_of(ledger.model_release, head.model) if head.in_force and head.model is not None else None


def artefact(layout: Layout, ledger: Ledger, model: Model, schema: Schema) -> Artifact:
    """Return the current model in the form in which it is published."""
    from . import models
    from .publishers import Artifact

    digest, release = ledger.head.model, ledger.model_release
    assert digest is not None  # a current model has a digest
    return Artifact(release, digest, models.read_model(layout, release, digest), model, schema)


def current_artifact(path: str | Path) -> Artifact:
    """Return the artifact of the store in this folder. Reading needs no lock.

    Raises:
        NotLearned: If there is no current model.
    """
    from . import models

    layout = Layout.at(path)
    presence.require_store(layout)
    ledger = Ledger.read(layout.ledger)
    if not ledger.head.in_force or ledger.head.model is None:
        raise NotLearned(
            f"{layout.root}: no model is in force; run learn, or publish after one was taken out of service"
        )
    model = models.load_model(layout, ledger.plan, ledger.model_release, ledger.head.model)
    from ..features.schema import Schema  # imported on use: other commands need no schema

    return artefact(layout, ledger, model, Schema.from_dict(ledger.schema, str(layout.schema), layout.root))


def destinations(layout: Layout) -> tuple[PublisherState, ...]:
    """Return every publisher of a store. Reading needs no lock."""
    found = read_publishers(layout)
    return () if found is None else found.publishers


def add(disk: Disk, layout: Layout, address: str, model: str | None, alias: str | None) -> None:
    """Add a publisher. A known one is updated to the current model again, whatever it holds.

    Raises:
        InvalidParameter: If the address is not valid, or inside the store.
        PublisherError: If another store publishes there; the publisher is not added.
    """
    given = _make_destination(layout, address, model, alias)
    found = read_publishers(layout) or PublisherList(secrets.token_hex(16))
    for known in found.publishers:
        if (known.address, known.model) == (given.address, given.model):
            if known.alias != given.alias:
                raise InvalidParameter(
                    f"{address}: is published to under the alias {known.alias!r}; end that first (--unpublish)"
                )
            given = replace(known, held=None, oldest=1, problem=_UNDER_WAY)
    others = tuple(each for each in found.publishers if (each.address, each.model) != (given.address, given.model))
    if len(others) >= _MOST:
        raise InvalidParameter(f"a store publishes to at most {_MOST} places")
    with explain_disk_errors(layout.root, _NOTHING_CHANGED):
        _require_free(found, given, disk)
        _write_list(disk, layout, replace(found, publishers=(*others, given)))


def _make_destination(layout: Layout, address: str, model: str | None, alias: str | None) -> PublisherState:
    """Return the state of a new publisher, with its names complete."""
    given = PublisherState(*check_address(address, model, alias, default=layout.root.name))
    place = given.address.removeprefix(FOLDER)
    if place != given.address and Path(place).resolve().is_relative_to(layout.root):
        raise InvalidParameter(f"{address}: lies inside the store, where nothing else may be; name a place outside")
    return given


def _require_free(found: PublisherList, known: PublisherState, disk: Disk) -> None:
    """Raise if the library of the publisher is missing or cannot read the address, or if another store publishes there.

    A publisher that does not answer is accepted; the first release tries again, as for every other publisher.
    """
    try:
        publisher = _open_publisher(found, known, disk)
    except NoisyGDDeleteError:
        raise
    except Exception as error:
        raise InvalidParameter(f"{known.address}: {_words(error)}") from error
    try:
        publisher.require_free()
    except NoisyGDDeleteError:
        raise
    except Exception:  # libraries of publishers share no class of errors
        return


def dismiss(disk: Disk, layout: Layout, address: str) -> PublisherState:
    """Remove everything that this store published at a location, and remove the publisher from the list.

    If nothing of the store is there, the publisher is not contacted.

    Raises:
        InvalidParameter: If there is no such publisher.
        PublisherError: If the publisher raised an error; it stays in the list.
    """
    found, full = read_publishers(layout), check_address(address, None, None, default=layout.root.name)[0]
    known = [each for each in (found.publishers if found else ()) if each.address == full]
    if found is None or not known:
        raise InvalidParameter(
            f"{address}: this store does not publish there; publish-to without an address shows where it does"
        )
    gone = known[0]
    try:
        empty = gone.address == UNKNOWN or (gone.held is None and gone.oldest is None)
        left = () if empty else _open_publisher(found, gone, disk).withdraw(None)
    except Exception as error:
        raise PublisherError(f"{gone.address}: {_words(error)}. It stays in the list; try again") from error
    with explain_disk_errors(layout.root, _NOTHING_CHANGED):
        _write_list(
            disk, layout, replace(found, publishers=tuple(each for each in found.publishers if each is not gone))
        )
    return replace(gone, held=None, problem="; ".join(left) or None)


def follow(disk: Disk, layout: Layout, ledger: Ledger, artefact: Callable[[], Artifact]) -> None:
    """Bring every publisher up to date with the ledger. Failures are recorded, not raised.

    Raises:
        StoreCorrupt: If this program did not write publishers.json.
    """
    found, aim = read_publishers(layout), wanted_release(ledger)
    if found is None or not any(each.behind(aim) for each in found.publishers):
        return
    made = cache(artefact)
    for place, known in enumerate(found.publishers):
        if known.behind(aim):
            try:
                begun = known.begun(None if aim is None else ledger.model_release)
                found = _replace_destination(disk, layout, found, place, begun)
                found = _replace_destination(
                    disk, layout, found, place, _update_destination(found, known, begun, aim, disk, made)
                )
            except OSError:  # this disk is full: the next opening repeats the work
                return


def _update_destination(
    found: PublisherList,
    known: PublisherState,
    begun: PublisherState,
    aim: str | None,
    disk: Disk,
    made: Callable[[], Artifact],
) -> PublisherState:
    """Return the state of a publisher after an attempt to update it.

    Args:
        found: The list.
        known: The state before the attempt.
        begun: The state if the attempt fails midway.
        aim: The name of the release; None to remove all.
        disk: The file operations.
        made: Returns the artifact.
    """
    try:
        publisher = _open_publisher(found, known, disk)
        if aim is not None:
            publisher.put(made())
        left = publisher.withdraw(aim)
    except NoisyGDDeleteError as error:  # raised before anything was published
        return replace(known, problem=_words(error))
    except Exception as error:  # libraries of publishers share no class of errors
        return replace(begun, problem=_words(error))
    done = replace(begun, held=aim, since=known.since if known.held == aim else utc_now())
    if left:
        return replace(done, problem="; ".join(left)[:_SHOWN])
    return replace(done, problem=None, oldest=done.release)


def _open_publisher(found: PublisherList, known: PublisherState, disk: Disk) -> Publisher:
    from .publishers import publisher_at

    return publisher_at(known.address, store=found.store, ground=disk, model=known.model, alias=known.alias)


def _words(error: Exception) -> str:
    said = " ".join(str(error).split()) or type(error).__name__
    return (said if isinstance(error, NoisyGDDeleteError) else f"{type(error).__name__}: {said}")[:_SHOWN]


def _replace_destination(
    disk: Disk, layout: Layout, found: PublisherList, place: int, known: PublisherState
) -> PublisherList:
    """Replace one publisher's state in the list, also on disk."""
    publishers = (*found.publishers[:place], known, *found.publishers[place + 1 :])
    return _write_list(disk, layout, replace(found, publishers=publishers))


def _write_list(disk: Disk, layout: Layout, found: PublisherList) -> PublisherList:
    """Write the list with a new mark to disk; then record the mark in the seal."""
    changed = replace(found, mark=rollback_guard.mark(), noted=rollback_guard.list_noted(layout.ledger)[1])
    disk.replace(layout.publishers, (json.dumps(asdict(changed), indent=1, ensure_ascii=False) + "\n").encode())
    rollback_guard.note_list(disk, layout.ledger, changed.store, changed.mark)
    return changed


def publisher_status(layout: Layout, ledger: Ledger) -> list[dict[str, Any]]:
    """Return the state of every publisher for `status`: address, release, and whether it has to be updated."""
    aim = wanted_release(ledger)
    return [each.to_dict(pending=each.behind(aim)) for each in destinations(layout)]
