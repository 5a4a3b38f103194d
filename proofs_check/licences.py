"""Which source a check has seen: hashes of the licensed functions, kept in `licences.json`.

The hash covers the function and every function of the package that it calls, as parsed code: formatting, comments
and docstrings do not count. A licensed name that does not exist makes its row red.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import json
import re
import textwrap
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from .framework import Statement

INDEX = Path(__file__).with_name("licences.json")
PACKAGE = "noisygd_delete"


def resolve(name: str) -> Any | None:
    """The object "module:qualified.name" inside the package, or None if there is none."""
    module, _, path = name.partition(":")
    try:
        target: Any = importlib.import_module(f"{PACKAGE}.{module}")
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith(PACKAGE):
            return None
        raise
    for part in path.split("."):
        target = inspect.getattr_static(target, part, None)
        if target is None:
            return None
    return target


def functions(target: Any) -> list[FunctionType]:
    """The functions of a class, or the one function behind a property or a plain function."""
    if inspect.isclass(target):
        return [function for member in vars(target).values() for function in functions(member)]
    if isinstance(target, property):
        return [target.fget] if isinstance(target.fget, FunctionType) else []
    if isinstance(target, classmethod | staticmethod):
        target = target.__func__
    return [target] if isinstance(target, FunctionType) else []


def _code(target: Any) -> str:
    """Source as parsed, without docstrings, spaces and quotes (whose style differs between Python versions)."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(target)))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return re.sub(r"[\s'\"\\]", "", ast.unparse(tree))


def _names(code: CodeType) -> set[str]:
    """Names a function uses, those inside its lambdas, comprehensions and inner functions included."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def source_hash(target: Any) -> str:
    """Hash of a function or class together with the package's functions it refers to."""
    seen: dict[str, str] = {}

    def visit(item: Any) -> None:
        name = f"{item.__module__}.{item.__qualname__}"
        if name in seen:
            return
        seen[name] = _code(item)
        for function in functions(item):
            for referred in sorted(_names(function.__code__)):
                other = function.__globals__.get(referred)
                if isinstance(other, FunctionType) and other.__module__.startswith(PACKAGE):
                    visit(other)

    if isinstance(target, property | classmethod | staticmethod):
        target = functions(target)[0]
    visit(target)
    return hashlib.sha256("\n".join(seen[name] for name in sorted(seen)).encode()).hexdigest()[:16]


def current(entry: Statement) -> dict[str, str]:
    """Licensed name -> hash of the source as it is now."""
    found = {name: resolve(name) for name in entry.licenses}
    return {name: source_hash(target) for name, target in found.items() if target is not None}


def missing(entry: Statement) -> list[str]:
    """Licensed names that the package does not have."""
    return [name for name in entry.licenses if resolve(name) is None]


def load(path: Path = INDEX) -> dict[str, dict[str, str]]:
    return json.loads(path.read_text()) if path.exists() else {}


def save(index: dict[str, dict[str, str]], path: Path = INDEX) -> None:
    path.write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")


def stale(entry: Statement, index: dict[str, dict[str, str]]) -> list[str]:
    """Licensed functions whose source is not the one that was accepted (new and removed ones included)."""
    accepted, now = index.get(entry.key, {}), current(entry)
    return sorted(name for name in accepted.keys() | now.keys() if accepted.get(name) != now.get(name))
