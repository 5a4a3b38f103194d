"""Draw faults of the package, uniformly over its functions, and apply one to the running process.

A fault is one edit of one function (`proofs_check.mutation.edit`): a constant, an operator, a comparison, a condition that always or never
holds, a call that is left out. Texts of errors, docstrings, annotations and defaults of parameters are not edited.
"""

from __future__ import annotations

import ast
import copy
import gc
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import noisygd_delete
from proofs_check.mutation import edit

ROOT = Path(noisygd_delete.__file__).parents[1]
PACKAGES = ("bounds", "privacy", "methods", "accountant", "curator", "engine", "evidence", "store")
_CACHE = type(cache(len))
_LEFT_OUT = ("annotation", "returns", "decorator_list", "args", "msg")


@dataclass(frozen=True)
class Fault:
    """One edit of one function.

    Attributes:
        file: Path from the root of the repository.
        function: Qualified name.
        defined: Line of its definition.
        line: Line of the edited expression.
        lines: Lines that a test must run to notice it.
        what: The edit.
        place: Number of the edited node within the function, and number of the edit of this node.
    """

    file: str
    function: str
    defined: int
    line: int
    lines: tuple[int, ...]
    what: str
    place: tuple[int, int]

    def __str__(self) -> str:
        return f"`{self.file}:{self.line}` `{self.function}`: {self.what}"

    def apply(self) -> None:
        """Put the edited code into every function of this process that has the original.

        Raises:
            LookupError: If there is none.
        """
        edited = dict(_functions_in(compile(self.edited(), str(ROOT / self.file), "exec")))
        edited = {key: code for key, code in edited.items() if (key[0] + ".").startswith(self.function + ".")}
        changed = 0
        for function in functions_of_process():
            code = function.__code__
            if code.co_filename == str(ROOT / self.file) and (key := (code.co_qualname, code.co_firstlineno)) in edited:
                function.__code__ = edited[key]
                changed += 1
        if not changed:
            raise LookupError(f"no function of this process is {self.function} of {self.file}")
        for held in caches_of_process():
            held.cache_clear()
        if self.is_compiled():
            _compile_anew()

    def is_compiled(self) -> bool:
        """Return whether the function may run in compiled form, of which no line is measured."""
        return "from numba import" in (ROOT / self.file).read_text()

    def edited(self) -> ast.Module:
        """Return the module with the edit."""
        tree = copy.deepcopy(_tree(self.file))
        function = next(node for _, node in functions_of(tree) if node.lineno == self.defined)
        changes = edit(editable(function)[self.place[0]][0])
        for _ in range(self.place[1] + 1):
            next(changes)
        return ast.fix_missing_locations(tree)


@cache
def _objects_of_process() -> tuple[list[FunctionType], list[Any]]:
    """Return the functions of the package, and those that keep results; scanned once, as every fork would copy what it touches."""
    functions, caches = [], []
    gc.unfreeze()  # `gc.get_objects` leaves out what is frozen, as tests/conftest.py does with all that was collected
    for item in gc.get_objects():
        kind = type(item)  # `isinstance` would ask the item
        if kind in (FunctionType, _CACHE) and str(item.__module__).startswith("noisygd_delete"):
            (caches if kind is _CACHE else functions).append(item)
    return functions, caches


def functions_of_process() -> list[FunctionType]:
    """Return the functions of the package that exist."""
    return _objects_of_process()[0]


def caches_of_process() -> list[Any]:
    """Return the functions of the package that keep results."""
    return _objects_of_process()[1]


def _compile_anew() -> None:
    """Let compiled functions be compiled again, from the edited code."""
    import numba
    from numba.core.caching import NullCache
    from numba.core.registry import CPUDispatcher

    numba.config.CACHE_DIR = tempfile.mkdtemp()
    gc.unfreeze()
    for item in gc.get_objects():
        if issubclass(type(item), CPUDispatcher) and item.py_func.__module__.startswith("noisygd_delete"):
            item._cache = NullCache()


def _functions_in(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield (constant.co_qualname, constant.co_firstlineno), constant
            yield from _functions_in(constant)


@cache
def _tree(file: str) -> ast.Module:
    return ast.parse((ROOT / file).read_text())


def functions_of(tree: ast.Module | ast.ClassDef, within: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield qualified name and definition of every function of a module and method of its classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield within + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions_of(node, f"{within}{node.name}.")


def editable(function: ast.FunctionDef) -> list[tuple[ast.AST, tuple[int, ...]]]:
    """Return the nodes in which an edit changes what is computed, each with the lines that run when it does."""
    found: list[tuple[ast.AST, tuple[int, ...]]] = []

    def visit(node: ast.AST, lines: tuple[int, ...]) -> None:
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return
        if isinstance(node, ast.stmt):
            head = [node] if not hasattr(node, "body") else [getattr(node, "test", None) or getattr(node, "iter", node)]
            last = node.lineno if head == [node] and hasattr(node, "body") else head[0].end_lineno
            lines = tuple(range(node.lineno, last + 1))
        elif isinstance(node, ast.ExceptHandler):
            lines = (node.lineno,)
        found.append((node, lines))
        for name, value in ast.iter_fields(node):
            if name not in _LEFT_OUT or isinstance(node, ast.Call):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        visit(child, lines)

    for statement in function.body:
        visit(statement, ())
    return found


def faults_of(file: str, name: str, function: ast.FunctionDef) -> list[Fault]:
    """Return every fault of a function."""
    return [
        Fault(file, name, function.lineno, getattr(node, "lineno", lines[0]), lines, what, (index, number))
        for index, (node, lines) in enumerate(editable(function))
        for number, what in enumerate(list(edit(node)))  # to the end, which restores the node
    ]


@cache
def _faults_by_function(packages: tuple[str, ...]) -> list[list[Fault]]:
    found: list[list[Fault]] = []
    for package in packages:
        for path in sorted((ROOT / "noisygd_delete" / package).rglob("*.py")):
            file = str(path.relative_to(ROOT))
            found += [faults_of(file, name, node) for name, node in functions_of(_tree(file))]
    return [faults for faults in found if faults]


def draw_faults(seed: int, packages: tuple[str, ...] = PACKAGES) -> Iterator[Fault]:
    """Yield distinct faults without end: a function of the packages, each as likely as another, then one of its edits."""
    functions = _faults_by_function(packages)
    generator, drawn = random.Random(seed), set[Fault]()
    while True:
        fault = generator.choice(generator.choice(functions))
        if fault not in drawn:
            drawn.add(fault)
            yield fault


def module_of(file: str) -> str:
    """Return the name of the module that a file of the package is."""
    return file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
