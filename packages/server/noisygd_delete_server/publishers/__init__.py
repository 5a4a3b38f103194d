"""Publishers: external locations for the current model, such as a folder, an object store or a model registry.

A publisher does two things, both idempotent: it puts a release where users look for it, and it removes every other
release of the same store with its files. What a store has published where, and what remains to be done, is recorded in
the store (`noisygd_delete.store.destinations`), which calls `on_release` after every change.

Example:
    Publish a store's current model, and every later one in its place::

        from noisygd_delete.store import Store
        from noisygd_delete_server.publishers import publish_to

        with Store.open("people") as store:
            publish_to(store, "folder:/srv/models/people")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from noisygd_delete.lazy_imports import on_first_use

if TYPE_CHECKING:
    from .publishing import on_release, publish_to, unpublish

__all__ = ["on_release", "publish_to", "unpublish"]

__getattr__ = on_first_use(__name__, dict.fromkeys(__all__, "publishing"))
