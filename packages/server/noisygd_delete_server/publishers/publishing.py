"""Bring the destinations of a store up to date with its ledger, and change their list.

`on_release` is the hook that the store calls after every change (entry point `on-release` of `noisygd_delete.hooks`). Each attempt
is recorded before and after it in the store's list, so that an interrupted one is repeated. A failing destination does
not block the others: the failure is recorded, and the next command tries again.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from noisygd_delete.errors import InvalidParameter, NoisyGDDeleteError, PublisherError
from noisygd_delete.store.artifact import Artifact
from noisygd_delete.store.destinations import (
    UNKNOWN,
    Destination,
    DestinationFile,
    DestinationList,
)
from noisygd_delete.store.disk import explain_disk_errors
from noisygd_delete.store.entry import utc_now
from noisygd_delete.store.layout import Layout

from .address import FOLDER, check_address, on_this_machine
from .factory import publisher_at
from .publisher import Publisher

if TYPE_CHECKING:
    from noisygd_delete.store import Store

_SHOWN = 300  # maximum length of a recorded error message
_MOST = 50  # publishers
_UNDER_WAY = "publishing was interrupted"
_NOTHING_CHANGED = "nothing was changed"


def publish_to(store: Store, address: str | None = None, *, model: str | None = None, alias: str | None = None) -> None:
    """Publish the current model, and every later one in its place, at this address too.

    Without an address, retry the publishers that failed.

    Args:
        store: The opened store.
        address: `folder:/path`, `mlflow:URI`, or an address supported by fsspec (`s3://bucket/prefix`).
        model: The name in MLflow's registry; the default is the name of the folder.
        alias: The alias in MLflow's registry; the default is "production".

    Raises:
        InvalidParameter: If the address is not valid, or inside the store.
        MissingDependency: If its library is not installed.
        PublisherError: If another store publishes there; the publisher is not added.
    """
    with store.changing_destinations(retry=True) as file:
        if address is not None:
            _add(file, address, model, alias)


def unpublish(store: Store, address: str) -> Destination:
    """Remove what this store published at an address, and stop publishing there.

    If nothing of the store is there, the publisher is not contacted.

    Raises:
        InvalidParameter: If this store does not publish there.
        PublisherError: If the publisher raised an error; it stays in the list.
    """
    with store.changing_destinations(retry=False) as file:
        return _dismiss(file, address)


def _add(file: DestinationFile, address: str, model: str | None, alias: str | None) -> None:
    """Add a publisher. A known one is updated to the current model again, whatever it holds."""
    given = _make_destination(file.layout, address, model, alias)
    found = file.read() or DestinationList(secrets.token_hex(16))
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
    with explain_disk_errors(file.layout.root, _NOTHING_CHANGED):
        _require_free(found, given, file)
        file.write(replace(found, publishers=(*others, given)))


def _make_destination(layout: Layout, address: str, model: str | None, alias: str | None) -> Destination:
    """Return the state of a new publisher, with its names complete."""
    given = Destination(*check_address(address, model, alias, default=layout.root.name))
    given = replace(given, paths=tuple(map(str, on_this_machine(given.address))))
    place = given.address.removeprefix(FOLDER)
    if place != given.address and Path(place).resolve().is_relative_to(layout.root):
        raise InvalidParameter(f"{address}: is inside the store; name a path outside it")
    return given


def _require_free(found: DestinationList, known: Destination, file: DestinationFile) -> None:
    """Raise if the library of the publisher is missing or cannot read the address, or if another store publishes there.

    A publisher that does not answer is accepted; the first release tries again, as for every other publisher.
    """
    try:
        publisher = _open_publisher(found, known, file)
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


def _dismiss(file: DestinationFile, address: str) -> Destination:
    """Remove everything that this store published at a location, and remove the publisher from the list."""
    found, full = file.read(), check_address(address, None, None, default=file.layout.root.name)[0]
    known = [each for each in (found.publishers if found else ()) if each.address == full]
    if found is None or not known:
        raise InvalidParameter(
            f"{address}: this store does not publish there; publish-to without an address shows where it does"
        )
    gone = known[0]
    try:
        empty = gone.address == UNKNOWN or (gone.held is None and gone.oldest is None)
        left = () if empty else _open_publisher(found, gone, file).withdraw(None)
    except Exception as error:
        raise PublisherError(f"{gone.address}: {_words(error)}. It stays in the list; try again") from error
    with explain_disk_errors(file.layout.root, _NOTHING_CHANGED):
        file.write(replace(found, publishers=tuple(each for each in found.publishers if each is not gone)))
    return replace(gone, held=None, problem="; ".join(left) or None)


def on_release(artifact: Artifact | None, file: DestinationFile) -> None:
    """Bring every publisher up to date with a release. Failures are recorded, not raised.

    Args:
        artifact: The release to publish; None to remove every release, if no model may be in service.
        file: The list of the store's destinations.

    Raises:
        StoreCorrupt: If this program did not write publishers.json.
    """
    found, aim = file.read(), None if artifact is None else artifact.name
    if found is None:
        return
    for place, known in enumerate(found.publishers):
        if known.behind(aim):
            begun = _begin(known, artifact)
            try:
                found = _replace_destination(file, found, place, begun)
                after = _update_destination(found, known, begun, artifact, file)
                found = _replace_destination(file, found, place, after)
            except OSError:  # this disk is full: the next opening repeats the work
                return


def _begin(known: Destination, artifact: Artifact | None) -> Destination:
    """Return the state while a release is being published; for None, while all releases are being removed."""
    release = None if artifact is None else artifact.release
    there = [number for number in (known.oldest, release) if number is not None]
    return replace(known, oldest=min(there, default=None), problem=known.problem or _UNDER_WAY)


def _update_destination(
    found: DestinationList,
    known: Destination,
    begun: Destination,
    artifact: Artifact | None,
    file: DestinationFile,
) -> Destination:
    """Return the state of a publisher after an attempt to update it.

    Args:
        found: The list.
        known: The state before the attempt.
        begun: The state if the attempt fails midway.
        artifact: The release; None to remove all.
        file: The list of the store's destinations.
    """
    aim = None if artifact is None else artifact.name
    try:
        publisher = _open_publisher(found, known, file)
        if artifact is not None:
            publisher.put(artifact)
        left = publisher.withdraw(aim)
    except NoisyGDDeleteError as error:  # raised before anything was published
        return replace(known, problem=_words(error))
    except Exception as error:  # libraries of publishers share no class of errors
        return replace(begun, problem=_words(error))
    done = replace(begun, held=aim, since=known.since if known.held == aim else utc_now())
    if left:
        return replace(done, problem="; ".join(left)[:_SHOWN])
    return replace(done, problem=None, oldest=done.release)


def _replace_destination(
    file: DestinationFile, found: DestinationList, place: int, known: Destination
) -> DestinationList:
    """Replace one publisher's state in the list, also on disk."""
    return file.write(replace(found, publishers=(*found.publishers[:place], known, *found.publishers[place + 1 :])))


def _open_publisher(found: DestinationList, known: Destination, file: DestinationFile) -> Publisher:
    return publisher_at(known.address, store=found.store, ground=file.disk, model=known.model, alias=known.alias)


def _words(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return (text if isinstance(error, NoisyGDDeleteError) else f"{type(error).__name__}: {text}")[:_SHOWN]
