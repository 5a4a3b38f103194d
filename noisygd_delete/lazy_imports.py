"""Lazy imports: a package's public names are loaded on first access, so that commands start quickly."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def on_first_use(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module-level `__getattr__` that imports public names on first access.

    Args:
        package: Full name of the package.
        homes: For each public name, the submodule that defines it.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{homes[name]}", package), name)

    return find


class Catalogue(Mapping[str, T]):
    """A read-only mapping whose values are loaded on access.

    Args:
        names: The keys.
        find: Loads the value of a key.
    """

    def __init__(self, names: Collection[str], find: Callable[[str], T]) -> None:
        self._names, self._find = names, find

    def __getitem__(self, name: str) -> T:
        if name not in self._names:
            raise KeyError(name)
        return self._find(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names  # a membership test loads nothing

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
