"""Create the publisher for an address."""

from __future__ import annotations

from pathlib import Path

from noisygd_delete.errors import PublisherError
from noisygd_delete.store.destinations import UNKNOWN

from .address import ALIAS, FOLDER, MLFLOW
from .folder import Folder
from .publisher import Ground, Publisher


def publisher_at(
    address: str, *, store: str, ground: Ground, model: str | None = None, alias: str | None = None
) -> Publisher:
    """Return the publisher for an address that `check_address` has accepted.

    Args:
        address: The address.
        store: The id of the store, which marks everything it publishes.
        ground: The file operations.
        model: The name of the model in MLflow's registry.
        alias: The alias of the model in MLflow's registry.

    Raises:
        MissingDependency: If the library for this kind of address is not installed.
        PublisherError: If the address represents unknown locations.
    """
    if address == UNKNOWN:
        raise PublisherError(
            f"the list of publishers is stale, or lost: name every destination again (publish-to), then run publish-to STORE {UNKNOWN} --unpublish"
        )
    if address.startswith(FOLDER):
        return Folder(Path(address.removeprefix(FOLDER)), store, ground)
    if address.startswith(MLFLOW):
        from .registry import Registry

        return Registry(address.removeprefix(MLFLOW), model or "", alias or ALIAS, store, ground)
    from .objects import Objects

    return Objects(address, store, ground)
