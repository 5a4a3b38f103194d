"""The package as parsed code: its definitions, and which definition every name in them stands for.

A definition is a function, a class or a constant at the top of a module; a member is a function in the body of a class.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import noisygd_delete_lab

import noisygd_delete

from .normal_form import FUNCTIONS, Normal, Place, Scope, Writer, changed, lines

ROOT = Path(noisygd_delete.__file__).parent
PACKAGE = ROOT.name
LAB = Path(noisygd_delete_lab.__file__).parent


@dataclass
class Module:
    """The names that a module binds: to definitions of its own, or to (module, name) of an import ("" for a whole module)."""

    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: Scope = field(default_factory=dict)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


class Sources:
    """All modules under `root`, parsed, and those of the lab as if it were one of its rooms. `edits` replaces the text of modules ("accountant.events": text): what would change."""

    def __init__(self, root: Path = ROOT, edits: Mapping[str, str] | None = None) -> None:
        self.texts: dict[str, str] = {}
        self._packages: set[str] = set()
        found = [(path, path.relative_to(root)) for path in sorted(root.rglob("*.py"))]
        found += [(path, path.relative_to(LAB.parent)) for path in sorted(LAB.rglob("*.py")) if root == ROOT]
        for path, place in found:
            parts = place.with_suffix("").parts
            if parts[-1] == "__init__":
                parts = parts[:-1]
                self._packages.add(".".join(parts))
            self.texts[".".join(parts)] = path.read_text(encoding="utf-8")
        self.texts.update(edits or {})
        self._modules: dict[str, Module] = {}
        self._members: dict[Place, frozenset[str]] = {}
        self._normal: dict[Place, Normal] = {}

    def module(self, name: str) -> Module:
        if name not in self._modules:
            self._modules[name] = module = Module()
            self._collect(_parsed(self.texts[name]).body, name, module)
        return self._modules[name]

    def _collect(self, body: list[ast.stmt], name: str, module: Module) -> None:
        for statement in body:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                module.imports.update(self.imported(statement, name))
            elif isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                module.definitions.setdefault(statement.name, []).append(statement)
            elif isinstance(statement, ast.If | ast.Try | ast.With):
                blocks = [getattr(statement, part, []) for part in ("body", "orelse", "finalbody")]
                blocks += [handler.body for handler in getattr(statement, "handlers", [])]
                for block in blocks:
                    self._collect(block, name, module)
            else:  # an assignment, or a statement that changes what is bound: all of it belongs to the name
                for target in changed(statement):
                    module.definitions.setdefault(target, []).append(statement)

    def imported(self, statement: ast.Import | ast.ImportFrom, importer: str) -> Scope:
        """Name -> (module, name), with the package's own modules written below the package and marked with a leading dot."""
        bound: Scope = {}
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                target = alias.name if alias.asname else alias.name.split(".")[0]
                bound[alias.asname or target] = (self._own(target), "")
            return bound
        base = statement.module or ""
        if statement.level:
            above = importer.split(".") if importer else []
            kept = len(above) - statement.level + (importer in self._packages)
            base = "." + ".".join([*above[:kept], *([base] if base else [])])
        else:
            base = self._own(base)
        for alias in statement.names:
            bound[alias.asname or alias.name] = (base, alias.name)
        return bound

    @staticmethod
    def _own(module: str) -> str:
        if module == PACKAGE:
            return "."
        return module[len(PACKAGE) :] if module.startswith(PACKAGE + ".") else module

    def follow(self, module: str, name: str) -> Place | str | None:
        """What (module, name) stands for: a place in the package, ".module" of it, or the dotted name of something outside."""
        if not module.startswith("."):
            return f"{module}.{name}" if name else module
        inside = module[1:]
        if not name:
            return module if inside in self.texts else None
        if inside not in self.texts:
            return None
        found = self.module(inside)
        if name in found.definitions:
            return Place(inside, name)
        if name in found.imports:
            target = found.imports[name]
            assert target is not None
            if target != (module, name):
                return self.follow(*target)
        below = f"{inside}.{name}".lstrip(".")
        return f".{below}" if below in self.texts else None

    # --- classes ---

    def class_at(self, place: Place) -> ast.ClassDef | None:
        found = self.module(place.module).definitions.get(place.name, []) if place.module in self.texts else []
        return found[-1] if found and isinstance(found[-1], ast.ClassDef) else None

    def members(self, place: Place) -> frozenset[str]:
        """Names of functions in the class body; the rest of the body (fields, constants) belongs to the class itself."""
        if place not in self._members:
            kind = self.class_at(place)
            named = (item.name for item in kind.body if isinstance(item, FUNCTIONS)) if kind else ()
            self._members[place] = frozenset(named)
        return self._members[place]

    def bases(self, place: Place) -> list[Place | str]:
        kind = self.class_at(place)
        assert kind is not None
        found = (self.reference(base, place.module, []) for base in kind.bases)
        return [base for base in found if base is not None]

    @cached_property
    def heirs(self) -> dict[Place, set[Place]]:
        """Class -> the classes that stand in for it: those that name it as a base, and those with every method of a Protocol."""
        classes = [Place(m, n) for m in self.texts for n in self.module(m).definitions if self.class_at(Place(m, n))]
        table: dict[Place, set[Place]] = {}
        for place in classes:
            for base in self.bases(place):
                if isinstance(base, Place):
                    table.setdefault(base, set()).add(place)
                elif base.startswith("typing.Protocol") and (asked := self.members(place)):
                    table.setdefault(place, set()).update(c for c in classes if c != place and asked <= self.members(c))
        return table

    # --- catalogues ---

    @cached_property
    def catalogues(self) -> dict[Place, tuple[dict[str, str], Place | None]]:
        """A constant that a `Catalogue` lists -> (its lines, name to class; the kind of all that is listed).

        Lines are bookkeeping: what rests on a catalogue rests on those of its classes that it comes to, not on how many there are.
        """
        found: dict[Place, tuple[dict[str, str], Place | None]] = {}
        for module in self.texts:
            if "Catalogue(" not in self.texts[module]:
                continue
            for statements in self.module(module).definitions.values():
                for statement in statements:
                    call = statement.value if isinstance(statement, ast.AnnAssign) else None
                    if isinstance(call, ast.Call) and ast.unparse(call.func) == "Catalogue":
                        assert isinstance(statement, ast.AnnAssign)
                        names, kinds = call.args[0], _of_type(statement.annotation)
                        assert isinstance(names, ast.Name)
                        place = Place(module, names.id)
                        kind = self.reference(kinds, module, []) if kinds else None
                        found[place] = (self._lines(place), kind if isinstance(kind, Place) else None)
        return found

    def _lines(self, place: Place) -> dict[str, str]:
        found: dict[str, str] = {}
        for statement in self.module(place.module).definitions[place.name]:
            for node in ast.walk(statement):
                found.update(lines(node) if isinstance(node, ast.Dict) else {})
        return found

    @cached_property
    def families(self) -> frozenset[Place]:
        """The kinds that a catalogue lists, and every class below them: one of these stands in for another only where it is named."""
        found = {kind for _, kind in self.catalogues.values() if kind}
        waiting = list(found)
        while waiting:
            below = self.heirs.get(waiting.pop(), set()) - found
            found |= below
            waiting += below
        return frozenset(found)

    # --- normal form ---

    def find(self, name: str) -> Place | None:
        """The place of "module:name" or "module:Class.member"; a module that has moved is found by the name, if it is alone."""
        module, _, path = name.rpartition(":")
        top, _, member = path.partition(".")
        homes = [m for m in self.texts if top in self.module(m).definitions]
        if module in homes:
            homes = [module]
        elif len(last := [m for m in homes if m.split(".")[-1] == module.split(".")[-1]]) == 1:
            homes = last
        if len(homes) != 1:
            return None
        place = Place(homes[0], top)
        if member and member not in self.members(place):
            return None
        return Place(homes[0], top, member)

    def normal(self, place: Place) -> Normal:
        if place not in self._normal:
            self._normal[place] = Writer(self, place).normal()
        return self._normal[place]

    def reference(self, node: ast.expr, module: str, scopes: list[Scope]) -> Place | str | None:
        """What a name or a dotted name leads to, outside of the definition; None for a variable and for any other expression."""
        if isinstance(node, ast.Subscript):
            return self.reference(node.value, module, scopes)
        if isinstance(node, ast.Name):
            for scope in reversed(scopes):
                if node.id in scope:
                    target = scope[node.id]
                    return None if target is None else self.follow(*target)
            return self.follow(f".{module}", node.id) or f"builtins.{node.id}"
        if isinstance(node, ast.Attribute):
            base = self.reference(node.value, module, scopes)
            if isinstance(base, str):
                return self.follow(base, node.attr)
        return None


def _of_type(annotation: ast.expr) -> ast.expr | None:
    """X of `Mapping[str, type[X]]`."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "type":
            return node.slice
    return None
