"""Places where the model in force is put besides the store: a folder, an object store, a model registry.

A publisher does two things, both of which may be done again at any time: it puts a release where users look for it, and it takes
every other release of the same store away with its files. What a store has put where, and what is still to be done, stands in the
store (`store.onward`); nothing here knows of a ledger or of a table. What is put there is made on first use: a command that only
looks loads none of it.
"""

from typing import TYPE_CHECKING

from ...lazy_imports import on_first_use

if TYPE_CHECKING:
    from .artifact import Artifact, Ground, Publisher
    from .factory import publisher_at

__all__ = ["Artifact", "Ground", "Publisher", "publisher_at"]

__getattr__ = on_first_use(__name__, {**dict.fromkeys(__all__, "artifact"), "publisher_at": "factory"})
