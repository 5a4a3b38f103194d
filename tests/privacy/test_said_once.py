"""Who writes a figure outside `privacy`, `evidence` and `reports` writes what it holds under beside it: read off the syntax trees."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from ..syntax import parse_source

PACKAGE = Path(__file__).parent.parent.parent / "noisygd_delete"
SAY_IT = {"privacy", "evidence", "reports"}
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] not in SAY_IT]

WRITES = re.compile(r"ε(_d[dp])?=|advantage at most|gains at most|times in 100")
HOLDS_UNDER = {
    "describe_guarantee", "format_conditions", "format_figure_conditions", "NON_ADAPTIVE", "FIXED_SCHEDULE", "FIXED_TOTAL",
}  # fmt: skip
NO_CLAIM = {
    (
        "cli/accuracy.py",
        "text",
    ): "the least budget at which an accuracy is forecast: what to choose, not what was promised",
    ("cli/remaining_budget.py", "left_text"): "what a total has left: an account of what may be spent",
    ("methods/noisy_gd_gibbs.py", "infeasible_error"): "what was asked for and cannot be had",
    ("methods/staged.py", "words"): "a stage's share, of a plan whose promise stands above it",
    (
        "planner/advise.py",
        "find_remedies",
    ): "budgets at which less would be lost: what to choose, not what was promised",
}


def unconditional(tree: ast.Module) -> set[str]:
    """Functions that write a figure, or have one written by a private function of the same file, and name nothing that it holds under."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    names = {name: _names(node) for name, node in functions.items()}
    bare = {name for name, node in functions.items() if _writes(node) and not names[name] & HOLDS_UNDER}
    passed_on = True
    while passed_on:
        private = {name for name in bare if name.startswith("_") and not name.endswith("__")}
        calling = {name for name in functions if names[name] & private and not names[name] & HOLDS_UNDER}
        passed_on = not calling <= bare
        bare |= calling
    called = {other for name in functions for other in names[name] if other != name}
    return {name for name in bare if not (name.startswith("_") and name in called and not name.endswith("__"))}


def _names(function: ast.FunctionDef) -> set[str]:
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}


def _writes(function: ast.FunctionDef) -> bool:
    """Whether a figure is written there; what is raised is no claim."""
    raised = {id(part) for node in ast.walk(function) if isinstance(node, ast.Raise) for part in ast.walk(node)}
    for node in ast.walk(function):
        if isinstance(node, ast.JoinedStr) and id(node) not in raised:
            text = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
            shown = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
            if WRITES.search(text) or "at_most" in shown:
                return True
    return False


def test_a_figure_is_written_with_what_it_holds_under() -> None:
    found = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path in FILES
        for name in unconditional(parse_source(path.read_text("utf-8")))
    }
    assert found == set(NO_CLAIM)
