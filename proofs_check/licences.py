"""Which source a check has seen: fingerprints of all that its licensed definitions rest on, kept in `licences.json`.

A fingerprint covers the whole closure: functions, methods, properties, constants and class bodies of the package that the licensed
definition leads to, through whatever modules and imports, all in normal form (`sources`). An attribute of an object of unknown class
leads to that attribute of every class met on the way, and of the classes that stand in for those. Of what stands in a catalogue, methods,
mechanisms and losses, only those stand in that the row names: in its licences, or in its check and what that imports of these files. So what
joins a catalogue makes no row stale, and what no row names is licensed by none. Only code counts: not the words of
docstrings, comments and errors, not the formatting, and not the file or module in which anything stands.

A licensed name that does not exist makes its row red.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import json
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from .framework import Statement
from .normal_form import Place, is_dunder
from .sources import LAB, PACKAGE, Sources

INDEX = Path(__file__).with_name("licences.json")


@cache
def present() -> Sources:
    """The package as it is on disk, parsed once."""
    return Sources()


@cache
def _words(module: str) -> frozenset[str]:
    """Every name and every plain string in a file of checks, and in those of them that it imports from."""
    words: set[str] = set()
    read, waiting = {module}, [module]
    while waiting:
        path = INDEX.with_name(f"{waiting.pop()}.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if path.exists() else ():
            if isinstance(node, ast.Name):
                words.add(node.id)
            elif isinstance(node, ast.Attribute):
                words.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                words.add(node.value)
            elif isinstance(node, ast.ImportFrom) and node.level:
                found = {node.module} if node.module else {alias.name for alias in node.names}
                waiting += found - read
                read |= found
    return frozenset(words)


def named(entry: Statement, sources: Sources) -> frozenset[str]:
    """The classes of catalogues that a row names: by the class, or by the name under which the catalogue lists it."""
    licensed = (name.rpartition(":")[2].partition(".")[0] for name in entry.licenses)
    words = _words(entry.group.rpartition(".")[2]) | set(licensed)
    listed = {kind for lines, _ in sources.catalogues.values() for name, kind in lines.items() if name in words}
    return frozenset({place.name for place in sources.families} & (words | listed))


def closure(start: Place, sources: Sources, named: Collection[str] = ()) -> set[Place]:
    """All that the code of `start` can come to, itself included; of the kinds in catalogues, those that are `named` or met by name."""
    found: set[Place] = set()
    opened: set[Place] = set()  # classes whose objects are met, so that an heir may stand in for them
    classes: set[Place] = set()
    asked: set[str] = set()
    waiting = [(start, True)]
    if not start.member:  # a whole class is licensed with all its members
        waiting += [(Place(start.module, start.name, member), True) for member in sources.members(start)]
    while waiting:
        place, met = waiting.pop()
        owner = Place(place.module, place.name)
        if met and owner not in opened and sources.class_at(owner):
            opened.add(owner)
            waiting += [
                (heir, True)
                for heir in sources.heirs.get(owner, ())
                if heir not in sources.families or heir.name in named
            ]
        if place in found:
            continue
        found.add(place)
        normal = sources.normal(place)
        bases = sources.bases(place) if place == owner and sources.class_at(owner) else []
        waiting += [(owner, False), *((other, other not in bases) for other in normal.places | normal.mentioned)]
        kinds = {owner} - classes if sources.class_at(owner) else set()
        names, asked, classes = normal.attributes - asked, asked | normal.attributes, classes | kinds
        for some, wanted in ((kinds, asked), (classes, names)):
            waiting += [
                (Place(kind.module, kind.name, name), False)
                for kind in some
                for name in wanted & sources.members(kind)
                if not is_dunder(name)
            ]
    return found


def _hash(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _parts(place: Place, sources: Sources) -> Sequence[str | Place]:
    """What a definition is made of; nothing of the version, since no figure rests on what it is called."""
    return () if place.module == "version" else sources.normal(place).parts


@cache
def _bare(place: Place, sources: Sources) -> str:
    return _hash(*("@" if isinstance(part, Place) else part for part in _parts(place, sources)))


@cache
def _joined(place: Place, sources: Sources) -> str:
    """The definition with every reference replaced by the code that it leads to: neither names nor modules of others show."""
    return _hash(*(_bare(part, sources) if isinstance(part, Place) else part for part in _parts(place, sources)))


@cache
def fingerprint(start: Place, sources: Sources, named: frozenset[str] = frozenset()) -> str:
    """Hash of the definition and of the set of all it rests on."""
    found = closure(start, sources, named)
    kinds = {place.name for place in found}
    listed = {
        f"{name}: {kind}"
        for place in found & sources.catalogues.keys()
        for name, kind in sources.catalogues[place][0].items()
        if kind in kinds
    }
    return _hash(_joined(start, sources), *sorted({_joined(place, sources) for place in found}), *sorted(listed))


def current(entry: Statement, sources: Sources | None = None) -> dict[str, str]:
    """Licensed name -> fingerprint of the source as it is now."""
    sources = sources or present()
    found = {name: sources.find(name) for name in entry.licenses}
    kinds = named(entry, sources)
    return {name: fingerprint(place, sources, kinds) for name, place in found.items() if place is not None}


def missing(entry: Statement) -> list[str]:
    """Licensed names that the package does not have."""
    return [name for name in entry.licenses if present().find(name) is None]


def load(path: Path = INDEX) -> dict[str, dict[str, str]]:
    return json.loads(path.read_text()) if path.exists() else {}


def save(index: dict[str, dict[str, str]], path: Path = INDEX) -> None:
    path.write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")


def stale(entry: Statement, index: dict[str, dict[str, str]], sources: Sources | None = None) -> list[str]:
    """Licensed names whose source is not what was accepted (new and removed ones included).

    Names are for the reader; what is compared is the code, so a function that only moved to another module is not stale.
    """
    accepted, now = index.get(entry.key, {}), current(entry, sources)
    gone = Counter(accepted.values()) - Counter(now.values())
    come = Counter(now.values()) - Counter(accepted.values())
    return sorted(
        {name for name, value in accepted.items() if value in gone}
        | {name for name, value in now.items() if value in come}
    )


# --- the running objects, for `mutation` ---


def resolve(name: str) -> Any | None:
    """The object that the licensed name stands for, or None if the package does not have it."""
    place = present().find(name)
    if place is None:
        return None
    home = place.module if place.module.startswith(LAB.name) else f"{PACKAGE}.{place.module}"
    target = getattr(importlib.import_module(home), place.name)
    return inspect.getattr_static(target, place.member) if place.member else target


def functions(target: Any) -> list[FunctionType]:
    """The functions of a class, or the one function behind a property or a plain function."""
    if inspect.isclass(target):
        return [function for member in vars(target).values() for function in functions(member)]
    if isinstance(target, property):
        return [target.fget] if isinstance(target.fget, FunctionType) else []
    if isinstance(target, classmethod | staticmethod):
        target = target.__func__
    target = inspect.unwrap(target) if callable(target) else target  # a cache keeps no function from being read
    return [target] if isinstance(target, FunctionType) else []
