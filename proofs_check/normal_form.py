"""A definition of the package in normal form: its code alone, with what it refers to in place of the names it refers by.

Left out are docstrings, comments, formatting, annotations of functions and the words of errors. Every name that leads out of the definition
is replaced by the place it leads to, so that neither the file, nor the module, nor an alias of an import shows.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .sources import Sources

Scope = dict[str, tuple[str, str] | None]  # a local name -> what its import stands for, or None for a variable
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_IGNORED = {"ctx", "kind", "type_comment", "lineno", "col_offset", "end_lineno", "end_col_offset"}


class Place(NamedTuple):
    """Where a definition stands: module below the package, name, and the member of a class ("" for all that is not one)."""

    module: str
    name: str
    member: str = ""

    def __str__(self) -> str:
        return f"{self.module}:{self.name}" + (f".{self.member}" if self.member else "")


@dataclass(frozen=True)
class Normal:
    """A definition in normal form: text with a gap for each place it refers to, and the attributes it asks of any object."""

    parts: tuple[str | Place, ...]
    attributes: frozenset[str]
    mentioned: frozenset[Place]  # in annotations: the kinds of objects that are handed in, no code of this definition

    @property
    def places(self) -> set[Place]:
        return {part for part in self.parts if isinstance(part, Place)}


def is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def changed(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement at the top of a module binds or, as in `table[key] = value` and `table.update(...)`, changes."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif (
            isinstance(node, ast.Subscript | ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
        ):
            yield node.value.id
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            yield function.value.id


class Writer:
    """Writes one definition in normal form."""

    def __init__(self, sources: Sources, place: Place) -> None:
        self.sources, self.place = sources, place
        self.parts: list[str | Place] = []
        self.attributes: set[str] = set()
        self.mentioned: set[Place] = set()

    def normal(self) -> Normal:
        kind = self.sources.class_at(self.place)
        for statement in self.sources.module(self.place.module).definitions[self.place.name]:
            if not self.place.member:
                self._statement_of_module(statement)
        if self.place.member:
            assert kind is not None
            for item in kind.body:  # a property and its setter have one name
                if isinstance(item, FUNCTIONS) and item.name == self.place.member:
                    self._function(item, [])
        return Normal(tuple(self.parts), frozenset(self.attributes), frozenset(self.mentioned))

    def _statement_of_module(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.ClassDef):
            self._class(statement, [])
        elif isinstance(statement, FUNCTIONS):
            self._function(statement, [])
        elif isinstance(getattr(statement, "value", None), ast.Call) and _loads(statement.value.func):  # type: ignore[attr-defined]
            self.parts.append("names that load,")  # which module has them is not code
        else:
            bound = set(changed(statement))
            self._write(statement, [dict.fromkeys(bound)] if bound else [])

    def _class(self, kind: ast.ClassDef, scopes: list[Scope]) -> None:
        """Decorators, bases, fields, constants and the methods that Python calls by itself; other methods count where used."""
        nested = bool(scopes)
        self.parts.append("class(")
        for node in [*kind.decorator_list, *kind.bases, *kind.keywords]:
            self._write(node, scopes)
        own: Scope = {item.name: None for item in kind.body if isinstance(item, FUNCTIONS)}
        for item in kind.body:
            if isinstance(item, FUNCTIONS):
                if nested or is_dunder(item.name):
                    self._function(item, scopes)
            elif not _words(item):
                self._write(item, [*scopes, own])
                self.attributes |= {node.id for node in ast.walk(item) if isinstance(node, ast.Name) and node.id in own}
        self.parts.append(")")

    def _function(self, function: ast.FunctionDef | ast.AsyncFunctionDef, scopes: list[Scope]) -> None:
        method = self.place.member or is_dunder(function.name)
        self.parts.append(f"{type(function).__name__} {function.name if method or scopes else ''}(")
        for decorator in function.decorator_list:
            self._write(decorator, scopes)
        self._signature(function.args, scopes)
        if function.returns:
            self._mention(function.returns, scopes)
        inner = [*scopes, self._bound(function)]
        for statement in function.body:
            if not _words(statement):
                self._write(statement, inner)
        self.parts.append(")")

    def _signature(self, arguments: ast.arguments, scopes: list[Scope]) -> None:
        for argument in _arguments(arguments):
            self.parts.append(f"{argument.arg},")
            if argument.annotation:
                self._mention(argument.annotation, scopes)
        for default in [*arguments.defaults, *(value for value in arguments.kw_defaults if value)]:
            self._write(default, scopes)
        self.parts.append(f"{len(arguments.posonlyargs)}/{len(arguments.args)}/{len(arguments.kwonlyargs)}")

    def _mention(self, annotation: ast.expr, scopes: list[Scope]) -> None:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        for node in ast.walk(annotation):
            if isinstance(node, ast.Name | ast.Attribute):
                found = self.sources.reference(node, self.place.module, scopes)
                self.mentioned |= {found} if isinstance(found, Place) else set()

    def _bound(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Scope:
        """Names that are local to the function; a local import stands for what it imports."""
        scope: Scope = {argument.arg: None for argument in _arguments(function.args)}
        shared: set[str] = set()
        for node in _own_nodes(function.body):
            if isinstance(node, ast.Import | ast.ImportFrom):
                scope.update(self.sources.imported(node, self.place.module))
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                scope.setdefault(node.id, None)
            elif isinstance(node, (*FUNCTIONS, ast.ClassDef)) or (
                isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name
            ):
                scope[node.name] = None
            elif isinstance(node, ast.Global):
                shared |= set(node.names)
        return {name: target for name, target in scope.items() if name not in shared}

    def _write(self, node: ast.AST, scopes: list[Scope]) -> None:
        if isinstance(node, ast.Name | ast.Attribute):
            return self._name(node, scopes)
        if isinstance(node, FUNCTIONS):
            return self._function(node, scopes)
        if isinstance(node, ast.ClassDef):
            return self._class(node, scopes or [{}])
        if isinstance(node, ast.Import | ast.ImportFrom):
            return None  # what it binds is written where it is used
        if isinstance(node, ast.Constant):
            self.parts.append(f"{node.value!r},")
            return None
        if isinstance(node, ast.Dict) and self.place in self.sources.catalogues:
            node = without_lines(node)
        self.parts.append(f"{type(node).__name__}(")
        if isinstance(node, ast.Lambda):
            self._signature(node.args, scopes)
            self._write(node.body, [*scopes, {argument.arg: None for argument in _arguments(node.args)}])
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(node, scopes)
        elif isinstance(node, ast.Raise):
            self.parts.append("an error")  # that it refuses is code; which error, and its words, are not
        elif isinstance(node, ast.Assert):
            self._write(node.test, scopes)
        else:
            for name, value in ast.iter_fields(node):
                if name not in _IGNORED:
                    self._value(name, value, scopes)
        self.parts.append(")")
        return None

    def _value(self, name: str, value: object, scopes: list[Scope]) -> None:
        if isinstance(value, ast.AST):
            self._write(value, scopes)
        elif isinstance(value, list):
            self.parts.append("[")
            for item in value:
                if not (isinstance(item, ast.AST) and _words(item)):
                    self._value(name, item, scopes)
            self.parts.append("]")
        elif value is not None:
            self.parts.append(f"{name}={value!r},")

    def _name(self, node: ast.Name | ast.Attribute, scopes: list[Scope]) -> None:
        found = self.sources.reference(node, self.place.module, scopes)
        if found is not None:
            self.parts.append(
                found if isinstance(found, Place) else "a module," if found.startswith(".") else f"{found},"
            )
        elif isinstance(node, ast.Name):
            self.parts.append(f"{node.id},")
        else:
            self.attributes.add(node.attr)
            self._write(node.value, scopes)
            self.parts.append(f".{node.attr},")

    def _comprehension(self, node: ast.expr, scopes: list[Scope]) -> None:
        bound = {
            name.id: None
            for generator in node.generators  # type: ignore[attr-defined]
            for name in ast.walk(generator.target)
            if isinstance(name, ast.Name)
        }
        inner = [*scopes, bound]
        for index, generator in enumerate(node.generators):  # type: ignore[attr-defined]
            self._write(generator.iter, inner if index else scopes)
            for part in [generator.target, *generator.ifs]:
                self._write(part, inner)
        for part in ("key", "value", "elt"):
            if hasattr(node, part):
                self._write(getattr(node, part), inner)


def lines(catalogue: ast.Dict) -> dict[str, str]:
    """Name to class, where both are plain strings."""
    pairs = zip(catalogue.keys, catalogue.values, strict=True)
    return {key.value: value.value for key, value in pairs if _plain(key) and _plain(value)}  # type: ignore[union-attr,attr-defined]


def without_lines(catalogue: ast.Dict) -> ast.Dict:
    """What else it holds, as the lines of another one."""
    pairs = zip(catalogue.keys, catalogue.values, strict=True)
    left = [(key, value) for key, value in pairs if not (_plain(key) and _plain(value))]
    return ast.Dict([key for key, _ in left], [value for _, value in left])


def _plain(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _loads(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and function.id == "on_first_use"


def _words(node: ast.AST) -> bool:
    """A docstring, or another string that stands alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [*plain, *(argument for argument in (arguments.vararg, arguments.kwarg) if argument)]


def _own_nodes(body: Collection[ast.AST]) -> Iterator[ast.AST]:
    """Every node of a function body but those inside nested functions, classes, lambdas; of comprehensions, only `:=` binds here."""
    for node in body:
        yield node
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, _COMPREHENSIONS):
            yield from (inner.target for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))
            continue
        yield from _own_nodes(list(ast.iter_child_nodes(node)))
