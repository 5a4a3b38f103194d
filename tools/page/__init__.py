"""The script of the page that checks itself: this package's own verification, translated into JavaScript, so that there is no second one.

`python -m tools.page` writes it into the package (`noisygd_delete/reports/templates/checker.js`) and its digest into docs/page-digests.md; a test
compares both with today's sources. `demand` finds the functions that `verify_certificate` reaches, `translation` writes them in JavaScript,
and `runtime/` is what Python brings along: whole numbers apart from fractions, rounding, dates, special functions.
"""

from __future__ import annotations

import ast
import json
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from noisygd_delete.privacy.sentences import language_codes, load_catalogue
from noisygd_delete.reports.html import page_stylesheet
from noisygd_delete.reports.texts import page_labels

from .demand import Demand
from .modules import module_text
from .translation import Translation

ROOTS = (
    ("evidence.verification", "verify_certificate"),
    ("evidence.signing", "is_envelope"),
    ("evidence.signing", "open_envelope"),
    ("evidence.signing", "key_id"),
    ("evidence.signing", "read_public"),
    ("reports.certificate_page", "certificate_blocks"),
)
LIBRARIES = """
    abc base64 calendar collections collections.abc dataclasses datetime decimal enum fractions functools hashlib itertools json math
    re sys typing uuid cryptography.exceptions cryptography.hazmat.primitives.asymmetric.ed25519
    cryptography.hazmat.primitives.serialization msgspec numpy rfc8785 scipy.special
"""
NATIVE = frozenset(
    {
        *LIBRARIES.split(),
        "records.limited_io",  # reads files, which a page has none of
        "lazy_imports:on_first_use",  # a page has loaded everything
        "privacy.sentences:load_catalogue",  # the catalogues stand in the script
        "methods.base:assumptions_of",  # told to people; no figure depends on it
        "reports.texts:page_labels",
    }
)
# labels picked by a value
_NAMED = ("day", "months", "decimal", "published", "withheld", "pending", "ERASED", "RESIDUAL", "NOT COVERED")
# the colour of a certificate that holds: only the script has it, so no page shows it without the script
HELD = """
.check.right { border-left-color: #1d7a3d; background: #eef8f1; }
@media screen and (prefers-color-scheme: dark) { .check.right { background: #18291d; } }
"""
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
    text = f"\n{checker()}\n$.style = {json.dumps(page_stylesheet() + HELD)};\n{_part('page')}"
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError("the script would end where it should not")
    return text


def catalogues() -> str:
    """What the page says, in every language: the claims, and of the labels those that it asks for."""
    constants = {
        node.value for node in ast.walk(module_text("reports.certificate_page").tree) if isinstance(node, ast.Constant)
    }
    said = {code: json.dumps(load_catalogue(code), ensure_ascii=False) for code in language_codes()}
    asked = {}
    for code in language_codes():
        words = page_labels(code)
        names = {name for name in words if name in constants or name in _NAMED or name.startswith(("audit.", "check."))}
        names |= {name for name in page_labels("de") if name in constants or name in _NAMED}
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
