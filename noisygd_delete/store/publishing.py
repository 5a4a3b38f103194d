"""Publishers of a store: where the model in force is put besides, and whether it is there yet.

The ledger says which release is in force; publishers.json says what each publisher was last known to hold. The difference is what is
still to be done, so no release is lost on the way: after every change, and whenever the store is opened, publishers are brought to
what the ledger says. One that fails keeps nothing back: the release stands, the failure is noted, and the next opening tries again.
The seal says which change of the list was the newest: one that was put back is told by that, and what it does not name is a place that
is not known, until somebody has named them all again.
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
_SHOWN = 300  # characters of a failure that are kept
_MOST = 50  # publishers
_UNDER_WAY = "it was being put there when the program was interrupted"
_NOTHING_CHANGED = "nothing was changed"
_PUT_BACK = "what lies there is not known: the list of publishers is one of another time, or lost"


@dataclass(frozen=True)
class PublisherState:
    """What is known of one publisher.

    address, model, alias   where it is (`publishers.publisher_at`)
    held     name of the release that it holds alone; None: no release
    oldest   number of the earliest release that may still lie there; None: none does
    since    when `held` was so first (UTC)
    problem  why the last attempt failed, or what it could not remove; None: nothing is to be done
    """

    address: str
    model: str | None = None
    alias: str | None = None
    held: str | None = None
    oldest: int | None = None
    since: str | None = None
    problem: str | None = None

    def behind(self, wanted: str | None) -> bool:
        """Whether something is still to be done there."""
        return self.held != wanted or self.problem is not None

    @property
    def release(self) -> int | None:
        """The number of the release that it was last known to hold."""
        return None if self.held is None else int(self.held.split("-")[1])

    def begun(self, release: int | None) -> PublisherState:
        """The same while this release is being put there, or with None while all are taken away."""
        lie = [number for number in (self.oldest, release) if number is not None]
        return replace(self, oldest=min(lie, default=None), problem=self.problem or _UNDER_WAY)

    def to_dict(self, *, pending: bool) -> dict[str, Any]:
        """For `status`: without what only the store needs."""
        told = {name: value for name, value in asdict(self).items() if value is not None or name == "problem"}
        for inner in ("held", "oldest"):
            told.pop(inner, None)
        return told | {"release": self.release, "pending": pending}


@dataclass(frozen=True)
class PublisherList:
    """publishers.json. `store`: a random id that everything put there is marked by; `mark`: of its newest change, `noted`: which one the
    seal had noted before that."""

    store: str
    publishers: tuple[PublisherState, ...] = ()
    format: Literal[1] = 1
    mark: str = ""
    noted: str = ""


def read_publishers(layout: Layout) -> PublisherList | None:
    """What is known of publishers; None where there are none. Of a list that was put back: what it names, where anything may lie, and
    places that are not known.

    Raises:
        StoreCorrupt: publishers.json is not one that this program wrote.
    """
    store, noted = rollback_guard.list_noted(layout.ledger)  # the seal first: a list is written before it
    found = _read_list(layout)
    if not _is_restored_list(found, noted):
        return found
    named = [place for place in (found.publishers if found else ()) if place.address != UNKNOWN]
    doubtful = (replace(place, held=None, oldest=1, problem=_PUT_BACK) for place in (*named, PublisherState(UNKNOWN)))
    return PublisherList(store, tuple(doubtful))


def mark_list_untrusted(disk: Disk, layout: Layout) -> None:
    """The seal was put back: what it said of the list and of the register is lost, and either may be of another time."""
    found = _read_list(layout) or PublisherList(secrets.token_hex(16))
    rollback_guard.mark_untrusted(disk, layout.ledger, rollback_guard.list_noted(layout.ledger)[0] or found.store)


def fault(layout: Layout) -> str | None:
    """What is wrong with the list, for `verify`; None: nothing."""
    noted = rollback_guard.list_noted(layout.ledger)[1]
    if not _is_restored_list(_read_list(layout), noted):
        return None
    return f"{layout.publishers}: put back from a copy, or removed; any other command notes that there may be places it does not name"


def _is_restored_list(found: PublisherList | None, noted: str) -> bool:
    """Whether the list did not come by the change that the seal notes: it is of another time, or was removed."""
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
    """The name of the release that every publisher must hold; None: none may be in service."""
    head = ledger.head
    return name_of(ledger.model_release, head.model) if head.in_force and head.model is not None else None


def artefact(layout: Layout, ledger: Ledger, model: Model, schema: Schema) -> Artifact:
    """The model in force, as it leaves the store."""
    from . import models
    from .publishers import Artifact

    digest, release = ledger.head.model, ledger.model_release
    assert digest is not None  # of a model in force
    return Artifact(release, digest, models.read_model(layout, release, digest), model, schema)


def current_artifact(path: str | Path) -> Artifact:
    """The same of the store in this folder. Reading needs no lock.

    Raises:
        NotLearned: no model is in force.
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
    from ..features.schema import Schema  # what publishes nothing reads no schema

    return artefact(layout, ledger, model, Schema.from_dict(ledger.schema, str(layout.schema), layout.root))


def destinations(layout: Layout) -> tuple[PublisherState, ...]:
    """Every publisher of a store. Reading needs no lock."""
    found = read_publishers(layout)
    return () if found is None else found.publishers


def add(disk: Disk, layout: Layout, address: str, model: str | None, alias: str | None) -> None:
    """One more publisher; one that is known is brought to the model in force again, whatever lies there.

    Raises:
        InvalidParameter: the address is none, or lies inside the store.
        PublisherError: somebody else has the place; it does not come into the list.
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
    """A publisher that is not known yet, its names complete."""
    given = PublisherState(*check_address(address, model, alias, default=layout.root.name))
    place = given.address.removeprefix(FOLDER)
    if place != given.address and Path(place).resolve().is_relative_to(layout.root):
        raise InvalidParameter(f"{address}: lies inside the store, where nothing else may be; name a place outside")
    return given


def _require_free(found: PublisherList, known: PublisherState, disk: Disk) -> None:
    """Raise where its library is not installed or cannot read the address, or where somebody else has the place.

    One that does not answer now may be another's; it is tried again with the first release, as it is with every other.
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
    """Take everything away that this store has put there, and forget the publisher. Where nothing of it lies, nobody is asked.

    Raises:
        InvalidParameter: there is no such publisher. Whatever the publisher raises: it stays in the list.
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
    """Bring every publisher to what the ledger says. Failures are noted, never raised.

    Raises:
        StoreCorrupt: publishers.json is not one that this program wrote.
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
            except OSError:  # this disk is full: the next opening does again what was done
                return


def _update_destination(
    found: PublisherList,
    known: PublisherState,
    begun: PublisherState,
    aim: str | None,
    disk: Disk,
    made: Callable[[], Artifact],
) -> PublisherState:
    """The publisher after an attempt to bring it to this release. `known`: before it; `begun`: as it stands if all went wrong."""
    try:
        publisher = _open_publisher(found, known, disk)
        if aim is not None:
            publisher.put(made())
        left = publisher.withdraw(aim)
    except NoisyGDDeleteError as error:  # refused before anything was put there
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
    """The list with this in its place, also on disk."""
    publishers = (*found.publishers[:place], known, *found.publishers[place + 1 :])
    return _write_list(disk, layout, replace(found, publishers=publishers))


def _write_list(disk: Disk, layout: Layout, found: PublisherList) -> PublisherList:
    """The list with one change more, on disk; then the seal says so."""
    changed = replace(found, mark=rollback_guard.mark(), noted=rollback_guard.list_noted(layout.ledger)[1])
    disk.replace(layout.publishers, (json.dumps(asdict(changed), indent=1, ensure_ascii=False) + "\n").encode())
    rollback_guard.note_list(disk, layout.ledger, changed.store, changed.mark)
    return changed


def publisher_status(layout: Layout, ledger: Ledger) -> list[dict[str, Any]]:
    """Every publisher for `status`: address, release, whether something is to be done there."""
    aim = wanted_release(ledger)
    return [each.to_dict(pending=each.behind(aim)) for each in destinations(layout)]
