"""Of which class of the package an expression is, as far as annotations say: whose method `plan.dp` is, and whose it is not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from .modules import ModuleText, home_of, module_text, path_of

Kinds = dict[str, "Kind | None"]  # of the names of a function; None: it may be anything


@dataclass(frozen=True)
class Kind:
    """A class of the package, by the module that defines it."""

    module: str
    name: str

    @property
    def definition(self) -> ast.ClassDef:
        return next(one for one in module_text(self.module).definitions[self.name] if isinstance(one, ast.ClassDef))


@cache
def defined(module: str, name: str) -> tuple[ModuleText, ast.stmt] | None:
    """The class or function that a name of a module stands for, through imports."""
    module = home_of(module, name)
    if path_of(module) is None:
        return None
    source = module_text(module)
    found = source.definitions.get(name, [])
    if found:
        return (source, found[0]) if isinstance(found[0], (ast.ClassDef, ast.FunctionDef)) else None
    imported = source.imports.get(name)
    return None if imported is None or imported.name is None else defined(imported.module, imported.name)


def class_named(module: str, name: str) -> Kind | None:
    found = defined(module, name)
    return Kind(found[0].name, found[1].name) if found is not None and isinstance(found[1], ast.ClassDef) else None


@cache
def lineage(kind: Kind) -> tuple[Kind, ...]:
    """The class and those of the package that it inherits from."""
    bases = (base.value if isinstance(base, ast.Subscript) else base for base in kind.definition.bases)
    above = (class_named(kind.module, base.id) for base in bases if isinstance(base, ast.Name))
    return (kind, *(one for base in above if base is not None for one in lineage(base)))


def annotated(module: str, annotation: ast.expr | None) -> Kind | None:
    """The class that an annotation names, alone or beside None."""
    if isinstance(annotation, ast.BinOp):
        sides = [one for one in (annotation.left, annotation.right) if not isinstance(one, ast.Constant)]
        return annotated(module, sides[0]) if len(sides) == 1 else None
    return class_named(module, annotation.id) if isinstance(annotation, ast.Name) else None


@cache
def _of_part(kind: Kind, name: str, *, called: bool) -> Kind | None:
    """Of a field, a property, or what a method returns."""
    for one in lineage(kind):
        for part in one.definition.body:
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.target.id == name:
                return None if called else annotated(one.module, part.annotation)
            if isinstance(part, ast.FunctionDef) and part.name == name:
                decorated = {node.id for node in part.decorator_list if isinstance(node, ast.Name)}
                return annotated(one.module, part.returns) if called is not bool(decorated & _PROPERTIES) else None
    return None


_PROPERTIES = {"property", "cached_property"}


def kind_of(module: str, node: ast.expr, known: Kinds) -> Kind | None:
    """The class of an expression's value, or the class that it names; None: not known."""
    if isinstance(node, ast.Name):
        return known[node.id] if node.id in known else class_named(module, node.id)
    if isinstance(node, ast.Attribute):
        whole = kind_of(module, node.value, known)
        return None if whole is None else _of_part(whole, node.attr, called=False)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        whole = kind_of(module, node.func.value, known)
        return None if whole is None else _of_part(whole, node.func.attr, called=True)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in known:
        found = defined(module, node.func.id)
        if found is not None and isinstance(found[1], ast.FunctionDef):
            return annotated(found[0].name, found[1].returns)
        return class_named(module, node.func.id)
    return None


def kinds_within(module: str, node: ast.FunctionDef | ast.Lambda, outer: Kinds, owner: Kind | None) -> Kinds:
    """Of every name that a function binds: parameters by their annotation, names assigned once by what they are given."""
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    known = {**outer, **{one.arg: annotated(module, one.annotation) for one in given if one is not None}}
    for one in (node.args.vararg, node.args.kwarg):
        if one is not None:
            known[one.arg] = None
    if owner is not None and node.args.args and node.args.args[0].arg in ("self", "cls"):
        known[node.args.args[0].arg] = owner
    assigned: dict[str, list[ast.expr | None]] = {}
    for name, value in _bindings(node):
        assigned.setdefault(name, []).append(value)
    for name, values in assigned.items():
        if name not in {one.arg for one in given if one is not None} or None in values:
            value = values[0]
            known[name] = None if value is None or len(values) > 1 else kind_of(module, value, known)
    return known


def _bindings(node: ast.FunctionDef | ast.Lambda) -> Iterator[tuple[str, ast.expr | None]]:
    """Names and what they are given; None: a part of something."""
    alone: set[int] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign) and len(inner.targets) == 1 and isinstance(inner.targets[0], ast.Name):
            alone.add(id(inner.targets[0]))
            yield inner.targets[0].id, inner.value
        elif isinstance(inner, ast.NamedExpr):
            alone.add(id(inner.target))
            yield inner.target.id, inner.value
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store) and id(inner) not in alone:
            yield inner.id, None
        elif isinstance(inner, ast.FunctionDef) and inner is not node:
            yield inner.name, None
