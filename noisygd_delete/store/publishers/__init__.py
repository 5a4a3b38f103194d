"""Publishers: external locations for the current model, such as a folder, an object store or a model registry.

A publisher does two things, both idempotent: it puts a release where users look for it, and it removes every other
release of the same store with its files. What a store has published where, and what remains to be done, is recorded in
the store (`store.publishing`); this package knows no ledger and no table. Modules are imported on first use, so a
command that only reads addresses imports none of them.
"""

from typing import TYPE_CHECKING

from ...lazy_imports import on_first_use

if TYPE_CHECKING:
    from .artifact import Artifact, Ground, Publisher
    from .factory import publisher_at

__all__ = ["Artifact", "Ground", "Publisher", "publisher_at"]

__getattr__ = on_first_use(__name__, {**dict.fromkeys(__all__, "artifact"), "publisher_at": "factory"})
