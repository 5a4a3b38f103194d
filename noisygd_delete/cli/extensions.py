"""Commands of other distributions, found by entry points in the group `noisygd_delete.commands`.

The name of an entry point is that of the command, its value a module with `register`, as in this package. The entry
point `init-source` is the part of `init` for rows in an external source; its module has `create_store` and `sample_rows`.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ..errors import MissingDependency

EXTRAS = {  # entry point -> the extra of this package that installs its distribution
    **dict.fromkeys(("serve", "token", "requests"), "serve"),
    **dict.fromkeys(("residue", "watch", "init-source"), "sources"),
}


def find_extension(command: str) -> str | None:
    """Return the module of a command of another distribution; None if no installed distribution provides it."""
    from importlib.metadata import entry_points  # slow to load, and needed by these commands only

    return next((found.value for found in entry_points(group="noisygd_delete.commands", name=command)), None)


def missing_extension(command: str) -> MissingDependency:
    """Return the error for a command whose distribution is not installed."""
    return MissingDependency(
        f"this command needs a distribution of its own: pip install 'noisygd-delete[{EXTRAS[command]}]'"
    )


def load_extension(command: str) -> ModuleType:
    """Return the module of a command of another distribution, imported.

    Raises:
        MissingDependency: If no installed distribution provides it.
    """
    module = find_extension(command)
    if module is None:
        raise missing_extension(command)
    return import_module(module)
