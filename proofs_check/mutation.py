"""How much of the licensed code the checks would notice: small edits of each licensed function, made in memory.

The named fault of a row shows that its check has power; this shows where. One edit at a time (a constant, an operator, min for max,
ceil for floor, a condition that always or never holds, a call left out) is compiled into the function, the rows that license it are run, and the edit counts as noticed when one of them is
red. Some edits change nothing (an equivalent form, a tighter tolerance): survivors are listed to be read, not to be zero.
"""

from __future__ import annotations

import ast
import copy
import inspect
import math
import signal
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from . import licences
from .framework import Statement, run

LIMIT = 20.0  # seconds; an edited search that never ends is noticed

_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
}
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_NAMES = {
    "min": "max",
    "max": "min",
    "ceil": "floor",
    "floor": "ceil",
    "exp": "expm1",
    "expm1": "exp",
    "log": "log1p",
    "any": "all",
    "all": "any",
}


def edit(node: ast.AST) -> Iterator[str]:
    """Change the node in place, once for every edit that applies; yields what was done while it is in place."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        old = node.value
        if abs(old) < 1e6 and (old == 0 or abs(old) > 1e-6):  # not a tolerance, not a search limit
            node.value = old + 1 if isinstance(old, int) else old * 1.5 + (old == 0)
            yield f"{old} → {node.value}"
            node.value = old
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        operator = node.op
        node.op = _OPERATORS[type(operator)]()
        yield f"{type(operator).__name__} → {type(node.op).__name__}"
        node.op = operator
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
        yield f"{not node.value} → {node.value}"
        node.value = not node.value
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        comparison = node.ops[0]
        node.ops[0] = _COMPARISONS[type(comparison)]()
        yield f"{type(comparison).__name__} → {type(node.ops[0]).__name__}"
        node.ops[0] = comparison
    elif isinstance(node, ast.BoolOp):
        connective = node.op
        node.op = ast.Or() if isinstance(connective, ast.And) else ast.And()
        yield f"{type(connective).__name__} → {type(node.op).__name__}"
        node.op = connective
    elif isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
        yield "the two answers of a condition swapped"
        node.body, node.orelse = node.orelse, node.body
    elif isinstance(node, ast.Name | ast.Attribute):
        field = "id" if isinstance(node, ast.Name) else "attr"
        name = getattr(node, field)
        if name in _NAMES:
            setattr(node, field, _NAMES[name])
            yield f"{name} → {_NAMES[name]}"
            setattr(node, field, name)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node.op = ast.UAdd()
        yield "− → +"
        node.op = ast.USub()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        operand, node.operand = node.operand, ast.UnaryOp(ast.Not(), node.operand)
        yield "not left out"
        node.operand = operand
    yield from _edit_statement(node)


def _decided(value: bool, left: ast.expr) -> ast.expr:
    """A condition with this value that does not evaluate `left`, and yet closes over the names in it, as code that is swapped must."""
    return ast.BoolOp(ast.Or() if value else ast.And(), [ast.Constant(value), left])


def _edit_statement(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
        operator = node.op
        node.op = _OPERATORS[type(operator)]()
        yield f"{type(operator).__name__}= → {type(node.op).__name__}="
        node.op = operator
    elif isinstance(node, ast.If):
        test = node.test
        for value, words in ((False, "never"), (True, "always")):
            node.test = _decided(value, test)
            yield f"`if {ast.unparse(test)[:60]}` {words} holds"
        node.test = test
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        node.value = _decided(False, call)
        yield f"`{ast.unparse(call)[:60]}` left out"
        node.value = call


def _compiled(tree: ast.Module, name: str, function: FunctionType) -> CodeType:
    space: dict[str, Any] = dict(function.__globals__)
    exec(compile(ast.fix_missing_locations(tree), function.__code__.co_filename, "exec", flags=0x1000000), space)
    return space[name].__code__


def edits(function: FunctionType) -> Iterator[tuple[str, CodeType]]:
    """(description, code) of every edited version of the function."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    body = definition.body[1:] if ast.get_docstring(definition) is not None else definition.body
    for statement in body:
        for node in ast.walk(statement):
            line = getattr(node, "lineno", 0)
            for what in edit(node):
                yield (
                    f"{function.__qualname__}, line {line}: {what}",
                    _compiled(copy.deepcopy(tree), definition.name, function),
                )


@contextmanager
def _patched(function: FunctionType, code: CodeType) -> Iterator[None]:
    original = function.__code__
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = original


class _TooLong(Exception):
    pass


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise _TooLong

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def noticed(rows: list[Statement], function: FunctionType, code: CodeType) -> bool:
    """Whether one of the rows turns red (or never ends) with the edited function."""
    with _patched(function, code):
        for entry in rows:
            try:
                with _limited(LIMIT):
                    if run(entry).status == "red":
                        return True
            except _TooLong:
                return True
    return False


def licensed(entries: list[Statement]) -> dict[FunctionType, list[Statement]]:
    """Every licensed function with the rows that license it (the methods of a licensed class included)."""
    table: dict[FunctionType, list[Statement]] = {}
    for entry in entries:
        for name in entry.licenses:
            for function in licences.functions(licences.resolve(name)):
                if Path(function.__code__.co_filename).is_file():  # not a method that a library generated
                    table.setdefault(function, []).append(entry)
    return table


def survey(entries: list[Statement], every: int = 1) -> tuple[int, int, list[str]]:
    """(noticed, made, survivors) over every `every`-th edit of the licensed functions."""
    caught, made, survivors = 0, 0, []
    for function, rows in licensed(entries).items():
        kept = [edit for index, edit in enumerate(edits(function)) if index % every == 0]
        hits = 0
        for description, code in kept:
            if noticed(rows, function, code):
                hits += 1
            else:
                survivors.append(description)
        caught, made = caught + hits, made + len(kept)
        if kept:
            print(f"{hits:>4}/{len(kept):<4} {function.__module__}.{function.__qualname__}", flush=True)
    return caught, made, survivors


def share(caught: int, made: int) -> float:
    return caught / made if made else math.nan
