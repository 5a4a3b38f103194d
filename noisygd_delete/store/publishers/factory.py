"""An address to what publishes there."""

from __future__ import annotations

from pathlib import Path

from ...errors import PublisherError
from .address import ALIAS, FOLDER, MLFLOW, UNKNOWN
from .artifact import Ground, Publisher
from .folder import Folder


def publisher_at(
    address: str, *, store: str, ground: Ground, model: str | None = None, alias: str | None = None
) -> Publisher:
    """What publishes at an address that `check_address` has passed.

    Args:
        store: id of the store, which whatever is put there is marked by.
        model, alias: names in MLflow's registry.

    Raises:
        MissingDependency: the library that reaches this kind of address is not installed.
        PublisherError: it stands for places that nobody knows.
    """
    if address == UNKNOWN:
        raise PublisherError(
            f"the list of publishers was put back from an earlier copy, or lost: name every place again (publish-to), then this one: {UNKNOWN} --unpublish"
        )
    if address.startswith(FOLDER):
        return Folder(Path(address.removeprefix(FOLDER)), store, ground)
    if address.startswith(MLFLOW):
        from .registry import Registry

        return Registry(address.removeprefix(MLFLOW), model or "", alias or ALIAS, store, ground)
    from .objects import Objects

    return Objects(address, store, ground)
