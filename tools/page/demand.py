"""Which definitions of the package a few of its functions reach: by names, following imports, and no method that nobody asks for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .modules import ModuleText, home_of, module_text, path_of
from .receivers import Kind, Kinds, kind_of, kinds_within, lineage

# of a `Method`: how plans are made, forecast and told of
PLANNING = {"plan", "complete", "together", "towards", "words", "forecast", "excess_risk", "start", "noise", "allowed"}
NEVER = PLANNING | {"__repr__"}  # asked by name alone: what is checked was planned before


@dataclass
class Demand:
    """What is reached: names of modules in the order in which they were asked for, and methods, each if somebody asks its class for it.

    natives  modules and names ("module:name") that the runtime brings
    """

    natives: frozenset[str]
    wanted: dict[str, dict[str, None]] = field(default_factory=dict)
    _asked: dict[str, set[Kind | None]] = field(default_factory=dict)  # attributes, and of what; None: of anything
    _classes: set[Kind] = field(default_factory=set)
    _kept: set[int] = field(default_factory=set)
    _left: list[tuple[ModuleText, ast.stmt]] = field(default_factory=list)
    _waiting: list[tuple[Kind, ast.FunctionDef]] = field(default_factory=list)

    def native(self, module: str, name: str | None = None) -> bool:
        return module in self.natives or f"{module}:{name}" in self.natives

    def keeps(self, statement: ast.stmt) -> bool:
        """Whether a statement of a class is of use."""
        return (
            id(statement) in self._kept
            if isinstance(statement, ast.FunctionDef)
            else not isinstance(statement, ast.Pass)
        )

    def reach(self, roots: Iterable[tuple[str, str]]) -> Demand:
        """Follow these names until nothing new turns up."""
        for module, name in roots:
            self._want(module, name)
        due: list[tuple[Kind, ast.FunctionDef]] = []
        while self._left or due:
            for source, statement in self._taken():
                self._follow(source, statement, {}, None)
            for kind, method in due:
                self._kept.add(id(method))
                self._follow(module_text(kind.module), method, {}, kind)
            due = [one for one in self._waiting if self._is_asked(*one)]
            self._waiting = [one for one in self._waiting if one not in due]
        return self

    def _taken(self) -> list[tuple[ModuleText, ast.stmt]]:
        taken, self._left = self._left, []
        return taken

    def _want(self, module: str, name: str) -> None:
        module = home_of(module, name)
        if self.native(module, name) or path_of(module) is None:  # a library that the runtime does not bring
            return
        names = self.wanted.setdefault(module, {})
        if name in names:
            return
        names[name] = None
        if name == "__getattr__":  # whoever asks it may ask for any of its names
            for each, home in module_text(module).homes.items():
                self._want(home, each)
        source = module_text(module)
        self._left += [(source, statement) for statement in source.definitions.get(name, [])]
        imported = source.imports.get(name)
        if imported is not None and imported.name is not None and name not in source.definitions:
            self._want(imported.module, imported.name)

    def _is_asked(self, kind: Kind, method: ast.FunctionDef) -> bool:
        """Whether somebody asks for a method, of its class or of one that shares an heir with it."""
        if method.name in NEVER:
            return False
        by = self._asked.get(method.name, set())
        if method.name.startswith("__") or method.name == "_missing_" or None in by:
            return True
        return any(kind in family and not by.isdisjoint(family) for family in map(lineage, self._classes))

    def _follow(self, source: ModuleText, statement: ast.stmt, known: Kinds, owner: Kind | None) -> None:
        """Whatever a statement asks for: no annotations but of fields, and no methods before somebody asks for them."""
        left: list[tuple[ast.AST, Kinds]] = [(statement, known)]
        asks = any(isinstance(node, ast.Name) and node.id in ("getattr", "hasattr") for node in ast.walk(statement))
        while left:
            node, known = left.pop()
            if isinstance(node, ast.Attribute):
                self._asked.setdefault(node.attr, set()).add(kind_of(source.name, node.value, known))
                alias = source.imports.get(node.value.id) if isinstance(node.value, ast.Name) else None
                if alias is not None and alias.name is None:
                    self._want(alias.module, node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and asks:
                self._asked.setdefault(node.value, set()).add(None)
            elif isinstance(node, ast.Name) and (node.id in source.definitions or node.id in source.imports):
                imported = source.imports.get(node.id)
                if imported is None or imported.name is not None:
                    self._want(source.name, node.id)
            left += self._inside(source, node, known, owner)

    def _inside(
        self, source: ModuleText, node: ast.AST, known: Kinds, owner: Kind | None
    ) -> Iterator[tuple[ast.AST, Kinds]]:
        inner: Iterable[ast.AST]
        if isinstance(node, ast.ClassDef):
            kind = Kind(source.name, node.name)
            self._classes.add(kind)
            self._waiting += [(kind, part) for part in node.body if isinstance(part, ast.FunctionDef)]
            inner = [*node.bases, *(part for part in node.body if not isinstance(part, ast.FunctionDef))]
        elif isinstance(node, ast.FunctionDef):
            inside = kinds_within(source.name, node, known, owner)
            yield from ((part, inside) for part in node.body)
            inner = [*node.decorator_list, *_defaults(node.args)]
        elif isinstance(node, ast.Lambda):
            yield node.body, kinds_within(source.name, node, known, None)
            inner = _defaults(node.args)
        elif isinstance(node, ast.AnnAssign):
            inner = [node.target, *([node.value] if node.value else []), *names_of(node.annotation)]
        else:
            inner = ast.iter_child_nodes(node)
        yield from ((part, known) for part in inner)


def _defaults(given: ast.arguments) -> list[ast.expr]:
    return [value for value in (*given.defaults, *given.kw_defaults) if value is not None]


def names_of(annotation: ast.expr) -> list[ast.Name]:
    """The names in an annotation."""
    return [node for node in ast.walk(annotation) if isinstance(node, ast.Name)]
