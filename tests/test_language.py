"""Names and prose follow the style of docs/CONTRIBUTING.md: functions are named by what they do, prose uses the field's terms."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.syntax import parse_source

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "noisygd_delete",
    "packages/compliance/noisygd_delete_compliance",
    "packages/server/noisygd_delete_server",
    "packages/sources/noisygd_delete_sources",
)
FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("packages/*/README.md"))]

# participles and adverbs that do not end in -ed or -ing
_IRREGULAR = """
told taken shown written said left held kept made done put set sent met found given drawn seen known laid
spent dealt bound built cut lost born begun stood gone come become brought caught taught sought shrunk torn
worn grown flown thrown hidden risen fallen chosen broken frozen apart alone asunder within under above below
afresh between beside without before after further ahead onward together aside elsewhere
"""
IRREGULAR = frozenset(_IRREGULAR.split())
# phrases of no technical text: per 10,000 words of prose
IDIOMS = re.compile(
    r"\b(told|tells of|so many|whoever|somebody|nobody|stands|stood|lies|put back|aside|asked|in force|for good|in the place of|it is none)\b",
    re.IGNORECASE,
)
# both only fall
MOST_IN_CODE, MOST_IN_PAGES = 2, 3


def is_participle(name: str) -> bool:
    """Whether a function's name is one bare participle, preposition or adverb."""
    word = name.strip("_")
    regular = re.fullmatch(r"[a-z]+(ed|ing)", word) is not None
    return word not in {"embed", "seed", "string"} and (regular or word in IRREGULAR)


def functions(source: str) -> list[str]:
    """Return the names of a module's functions, methods left out."""
    return [
        node.name for node in parse_source(source).body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def prose_of_code(source: str) -> str:
    """Return the docstrings, comments and strings of a module."""
    texts = [
        node.value
        for node in ast.walk(parse_source(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return "\n".join([*texts, *re.findall(r"(?m)(?:^|\s)# (.*)$", source)])


def rate(texts: list[str]) -> float:
    """Return how often an idiom occurs in 10,000 words."""
    words = sum(len(re.findall(r"[A-Za-z]{2,}", text)) for text in texts)
    return 10_000 * sum(len(IDIOMS.findall(text)) for text in texts) / words


def test_no_function_of_a_module_is_named_by_a_bare_participle() -> None:
    found = {f"{path.relative_to(ROOT)}:{name}" for path in FILES for name in functions(path.read_text("utf-8"))}
    assert len(found) > 1500
    assert {one for one in found if is_participle(one.rpartition(":")[2])} == set()


@pytest.mark.parametrize("name", ["told", "_written", "chosen", "capped", "resuming", "beside", "within"])
def test_a_bare_participle_is_seen(name: str) -> None:
    assert is_participle(functions(f"def {name}(): ...")[0])


@pytest.mark.parametrize("name", ["read_limited", "format_bound", "is_within_budget", "seed", "epsilon_dp"])
def test_a_verb_with_its_object_is_none(name: str) -> None:
    assert not is_participle(name)


def test_idioms_are_rarer_than_when_they_were_counted() -> None:
    assert rate([prose_of_code(path.read_text("utf-8")) for path in FILES]) <= MOST_IN_CODE
    assert rate([page.read_text("utf-8") for page in PAGES]) <= MOST_IN_PAGES
    assert rate(["Nobody is told of what stands here, so many words as there are, and whoever asked lies."]) > 1_000
    assert rate(["Return the smallest noise variance that meets the budget."]) == 0


# formulas of one line, which a compiler translates to three engines
UNDOCUMENTED = re.compile(r"\.losses\.\w+\.\w+\.slope$")


def undocumented(module: Any) -> Iterator[str]:
    """Return public classes, functions and members that neither have nor inherit a docstring."""
    own = {name: found for name, found in vars(module).items() if getattr(found, "__module__", None) == module.__name__}
    for name, found in own.items():
        if name.startswith("_") or not (inspect.isclass(found) or inspect.isfunction(found)):
            continue
        if not inspect.getdoc(found):
            yield f"{module.__name__}.{name}"
        members = vars(found) if inspect.isclass(found) else {}
        for member, value in members.items():
            public = not member.startswith("_") and (inspect.isroutine(value) or isinstance(value, property))
            if public and not any(inspect.getdoc(vars(base)[member]) for base in found.__mro__ if member in vars(base)):
                yield f"{module.__name__}.{name}.{member}"


@pytest.mark.parametrize("package", ["noisygd_delete"])
def test_every_public_member_has_or_inherits_a_docstring(package: str) -> None:
    root = ROOT / package
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in sorted(root.rglob("*.py"))
        if path.name not in ("__main__.py", "__init__.py")
    ]
    found = [name for module in names for name in undocumented(importlib.import_module(module))]
    assert [name for name in found if not UNDOCUMENTED.search(name)] == []
    assert len(names) > 150


def test_a_missing_docstring_is_seen() -> None:
    class Planted:
        """Documented."""

        def member(self) -> None: ...

    class Heir(Planted):
        """Inherits what its base lacks."""

        def member(self) -> None: ...

    class Documented(Planted):
        """Documents it."""

        def member(self) -> None:
            """Do nothing."""

    module = ModuleType(__name__)
    vars(module).update(Planted=Planted, Heir=Heir, Documented=Documented)
    assert list(undocumented(module)) == [f"{__name__}.Planted.member", f"{__name__}.Heir.member"]
