"""Find what installed packages add: commands, languages, documents and the release hook join by entry points.

The engine never imports a package. Each group of entry points is named `noisygd_delete.GROUP`.

Example:
    >>> from noisygd_delete.extensions import load_extension
    >>> load_extension("commands", "no-such-command") is None
    True
"""

from __future__ import annotations

from typing import Any

from .errors import MissingDependency

PACKAGES: dict[str, tuple[str, ...]] = {  # the commands of each package of this project
    "server": ("serve", "token", "requests", "publish-to"),
    "sources": ("residue", "watch"),
    "compliance": ("register", "restrict", "object", "lift", "document"),
}
PACKAGE_OF = {command: package for package, commands in PACKAGES.items() for command in commands}
_EXTRAS = {"server": "serve"}  # the extra of the engine that installs a package, where their names differ


def load_extension(group: str, name: str) -> Any | None:
    """Load the object that an installed package provides under this name.

    Args:
        group: The part of the group's name after `noisygd_delete.`.
        name: Name of the entry point.

    Returns:
        The loaded module or object; None if no installed package provides it.
    """
    from importlib.metadata import entry_points  # slow to load

    found = next(iter(entry_points(group=f"noisygd_delete.{group}", name=name)), None)
    return None if found is None else found.load()


def extension_names(group: str) -> tuple[str, ...]:
    """Return the names that installed packages provide in a group, sorted."""
    from importlib.metadata import entry_points

    return tuple(sorted(entry_points(group=f"noisygd_delete.{group}").names))


def missing_package(package: str, what: str, *, extra: str | None = None) -> MissingDependency:
    """Return the error for something that belongs to a package that is not installed.

    Args:
        package: Name of the package, without `noisygd-delete-`.
        what: The missing thing, as a user wrote it.
        extra: The extra of the engine that installs it; None: that of the package.
    """
    extra = extra or _EXTRAS.get(package, package)
    return MissingDependency(
        f"{what} belongs to the package noisygd-delete-{package}; pip install 'noisygd-delete[{extra}]' "
        f"(in a clone: pip install ./packages/{package})"
    )


def require_extension(group: str, name: str, package: str, what: str, *, extra: str | None = None) -> Any:
    """Load the object that a package of this project provides under this name.

    Args:
        group: As in `load_extension`.
        name: As in `load_extension`.
        package: As in `missing_package`.
        what: As in `missing_package`.
        extra: As in `missing_package`.

    Raises:
        MissingDependency: If no installed package provides it.
    """
    found = load_extension(group, name)
    if found is None:
        raise missing_package(package, what, extra=extra)
    return found
