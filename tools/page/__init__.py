"""The script of the page that checks itself: this package's own verification, translated into JavaScript, so that there is no second one.

`python -m tools.page` writes it into the package (`noisygd_delete/papers/templates/checker.js`) and its digest into docs/page-digests.md; a test
compares both with today's sources. `demand` finds the functions that `verify_certificate` reaches, `translation` writes them in JavaScript,
and `runtime/` is what Python brings along: whole numbers apart from fractions, rounding, dates, special functions.
"""

from __future__ import annotations

import ast
import json
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from noisygd_delete.papers.catalogue import labels
from noisygd_delete.papers.page import stylesheet
from noisygd_delete.privacy.sentences import catalogue, languages

from .demand import Demand
from .modules import module_text
from .translation import Translation

ROOTS = (
    ("evidence.verification", "verify_certificate"),
    ("evidence.signing", "is_envelope"),
    ("evidence.signing", "opened"),
    ("evidence.signing", "key_id"),
    ("evidence.signing", "read_public"),
    ("papers.paper", "paper"),
)
LIBRARIES = """
    abc base64 calendar collections collections.abc dataclasses datetime decimal enum fractions functools hashlib itertools json math
    re sys typing uuid cryptography.exceptions cryptography.hazmat.primitives.asymmetric.ed25519
    cryptography.hazmat.primitives.serialization msgspec numpy rfc8785 scipy.special
"""
NATIVE = frozenset(
    {
        *LIBRARIES.split(),
        "records.bounded",  # reads files, which a page has none of
        "loading:on_first_use",  # a page has loaded everything
        "privacy.sentences:catalogue",  # the catalogues stand in the script
        "methods.base:assumptions_of",  # told to people; no figure depends on it
        "papers.catalogue:labels",
    }
)
# labels picked by a value
_NAMED = ("day", "months", "decimal", "published", "withheld", "pending", "ERASED", "RESIDUAL", "NOT COVERED")
_RUNTIME = Path(__file__).parent / "runtime"
_PARTS = ("types", "classes", "operators", "builtins", "text", "mathematics", "calendar", "libraries", "proofs")


@cache
def checker() -> str:
    """JavaScript that defines `$.check(text, key)`: the checks of one certificate."""
    return "\n".join([*(_part(name) for name in _PARTS), catalogues(), verifier(), _part("checking")])


def script() -> str:
    """The same, and what the page does with it: the whole script of every page.

    Raises:
        ValueError: a text of the package would end the script early.
    """
    text = f"\n{checker()}\n$.style = {json.dumps(stylesheet())};\n{_part('page')}"
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError("the script would end where it should not")
    return text


def catalogues() -> str:
    """What the page says, in every language: the claims, and of the labels those that it asks for."""
    constants = {node.value for node in ast.walk(module_text("papers.paper").tree) if isinstance(node, ast.Constant)}
    said = {code: json.dumps(catalogue(code), ensure_ascii=False) for code in languages()}
    asked = {}
    for code in languages():
        words = labels(code)
        names = {name for name in words if name in constants or name in _NAMED or name.startswith(("audit.", "check."))}
        names |= {name for name in labels("de") if name in constants or name in _NAMED}
        asked[code] = json.dumps({name: words[name] for name in sorted(names)}, ensure_ascii=False)
    return f"$.catalogues = {json.dumps({'claims': said, 'labels': asked}, ensure_ascii=False)};\n{_part('catalogues')}"


def verifier() -> str:
    """The verification of this package, module after module, each after those that it imports."""
    demand = Demand(NATIVE).reach(ROOTS)
    graph = {
        module: sorted({one.module for one in module_text(module).imports.values()} & demand.wanted.keys())
        for module in demand.wanted
    }
    order = TopologicalSorter(graph).static_order()
    return "\n".join(Translation(demand, module_text(module)).text() for module in order)


def _part(name: str) -> str:
    return (_RUNTIME / f"{name}.js").read_text(encoding="utf-8")
