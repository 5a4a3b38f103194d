"""Find the definitions that a few functions reach: by names, following imports, without methods that are never called."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from .modules import ModuleText, home_of, module_text, path_of

# of a `Method`: how plans are made, forecast and described. A checked plan was made before
PLANNING = {"plan", "complete", "together", "towards", "words", "forecast", "excess_risk", "start", "noise", "allowed"}
NEVER = PLANNING | {"deletion_observed", "__repr__"}


@dataclass
class Demand:
    """The reached definitions: names of modules in the order of first use, and each method whose name is used as an attribute.

    natives  modules and names ("module:name") that the runtime brings
    """

    natives: frozenset[str]
    wanted: dict[str, dict[str, None]] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)  # names of attributes
    _kept: set[int] = field(default_factory=set)
    _left: list[tuple[ModuleText, ast.AST]] = field(default_factory=list)
    _waiting: list[tuple[ModuleText, ast.FunctionDef]] = field(default_factory=list)  # not used yet

    def native(self, module: str, name: str | None = None) -> bool:
        """Return whether a module, or this name of it, is written by hand in JavaScript."""
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
        while self._left:
            while self._left:
                self._follow(*self._left.pop(0))
            due = [one for one in self._waiting if self._is_asked(one[1].name)]
            self._waiting = [one for one in self._waiting if one not in due]
            self._kept |= {id(method) for _, method in due}
            self._left += due
        return self

    def _want(self, module: str, name: str) -> None:
        module = home_of(module, name)
        if self.native(module, name) or path_of(module) is None:  # a library that the runtime does not bring
            return
        names = self.wanted.setdefault(module, {})
        if name in names:
            return
        names[name] = None
        if name == "__getattr__":  # its caller may use any of its names
            for each, home in module_text(module).homes.items():
                self._want(home, each)
        source = module_text(module)
        self._left += [(source, statement) for statement in source.definitions.get(name, [])]
        imported = source.imports.get(name)
        if imported is None and name not in source.definitions and name != "__getattr__":
            raise LookupError(f"module {module!r} has no {name!r}; name what the page needs as the module defines it")
        if imported is not None and imported.name is not None and name not in source.definitions:
            self._want(imported.module, imported.name)

    def _is_asked(self, method: str) -> bool:
        return method not in NEVER and (method in self._asked or method.startswith("__") or method == "_missing_")

    def _follow(self, source: ModuleText, statement: ast.AST) -> None:
        """Add what a statement uses: annotations of fields only, and methods only once they are used."""
        left: list[ast.AST] = [statement]
        asks = any(isinstance(node, ast.Name) and node.id in ("getattr", "hasattr") for node in ast.walk(statement))
        while left:
            node = left.pop()
            if isinstance(node, ast.Attribute):
                self._asked.add(node.attr)
                alias = source.imports.get(node.value.id) if isinstance(node.value, ast.Name) else None
                if alias is not None and alias.name is None:
                    self._want(alias.module, node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and asks:
                self._asked.add(node.value)
            elif isinstance(node, ast.Name) and (node.id in source.definitions or node.id in source.imports):
                imported = source.imports.get(node.id)
                if imported is None or imported.name is not None:
                    self._want(source.name, node.id)
            left += self._inside(source, node)

    def _inside(self, source: ModuleText, node: ast.AST) -> Iterable[ast.AST]:
        if isinstance(node, ast.ClassDef):
            self._waiting += [(source, part) for part in node.body if isinstance(part, ast.FunctionDef)]
            return [*node.bases, *(part for part in node.body if not isinstance(part, ast.FunctionDef))]
        if isinstance(node, ast.FunctionDef):
            return [*node.decorator_list, *_defaults(node.args), *node.body]
        if isinstance(node, ast.Lambda):
            return [*_defaults(node.args), node.body]
        if isinstance(node, ast.AnnAssign):
            return [node.target, *([node.value] if node.value else []), *names_of(node.annotation)]
        return ast.iter_child_nodes(node)


def _defaults(given: ast.arguments) -> list[ast.expr]:
    return [value for value in (*given.defaults, *given.kw_defaults) if value is not None]


def names_of(annotation: ast.expr) -> list[ast.Name]:
    """The names in an annotation."""
    return [node for node in ast.walk(annotation) if isinstance(node, ast.Name)]
