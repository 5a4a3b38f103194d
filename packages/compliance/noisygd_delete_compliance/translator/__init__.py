"""The script of the page that verifies itself: the engine's own verification, translated to JavaScript.

There is no second verification to keep in step. `demand` finds the functions that `verify_certificate` reaches,
`translation` writes them in JavaScript, and `runtime/` is what Python brings along: integers separate from floats,
rounding, dates, special functions. The script is in no commit: a source checkout builds it on first use
(`build_cached`), and `setup.py` builds it into the wheel, so the translator imports nothing but the standard library.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import secrets
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from .demand import Demand
from .modules import PACKAGE, module_text
from .translation import Translation

ROOTS = (
    ("evidence.verification", "verify_certificate"),
    ("evidence.envelope", "is_envelope"),
    ("evidence.envelope", "open_envelope"),
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
        "methods.base:assumptions_of",  # text for people; no figure depends on it
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
_HERE = Path(__file__).parent
_RUNTIME, _TEXTS = _HERE / "runtime", _HERE.parent / "texts"
_CACHE = _HERE.parents[1] / ".cache"
_COMMENT = re.compile(r"^ *//.*\n|  // .*$", re.MULTILINE)  # a line of its own, or two spaces after code
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
    text = f"\n{checker()}\n$.style = {json.dumps(_stylesheet() + HELD)};\n{_part('page')}"
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError("the script would end where it should not")
    return text


def build_cached() -> str:
    """Return the script, built at most once for each state of its sources.

    The result is kept in `packages/compliance/.cache`, under a digest of every source that could change it.
    """
    content = hashlib.sha256()
    for folder in (PACKAGE, _HERE.parent):
        for path in sorted(path for kind in ("py", "toml", "js", "css") for path in folder.rglob(f"*.{kind}")):
            content.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    kept = _CACHE / f"checker-{content.hexdigest()[:32]}.js"
    if not kept.exists():
        text = script()
        _CACHE.mkdir(exist_ok=True)
        for old in _CACHE.glob("checker-*.js"):
            old.unlink(missing_ok=True)
        temporary = _CACHE / f"{secrets.token_hex(8)}.tmp"
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, kept)
        return text
    return kept.read_text(encoding="utf-8")


def catalogues() -> str:
    """What the page says, in every language: the claims, and of the labels those that it asks for."""
    constants = {
        node.value for node in ast.walk(module_text("reports.certificate_page").tree) if isinstance(node, ast.Constant)
    }
    claims = {"en": _toml(PACKAGE / "privacy" / "texts" / "en.toml")}
    claims |= {file.name.split(".")[1]: _toml(file) for file in sorted(_TEXTS.glob("claims.*.toml"))}
    labels = {code: _labels(code) for code in claims}
    known = {name for words in labels.values() for name in words}
    names = sorted(
        name for name in known if name in constants or name in _NAMED or name.startswith(("audit.", "check."))
    )
    sentences = {code: json.dumps(words, ensure_ascii=False) for code, words in claims.items()}
    label_texts = {
        code: json.dumps({name: words.get(name, name) for name in names}, ensure_ascii=False)
        for code, words in labels.items()
    }
    return f"$.catalogues = {json.dumps({'claims': sentences, 'labels': label_texts}, ensure_ascii=False)};\n{_part('catalogues')}"


def _labels(code: str) -> dict[str, object]:
    """Return the labels of a language, and its forms of days and figures, as `reports.texts.page_labels` does."""
    files = (PACKAGE / "reports" / "texts" / f"{code}.toml", _TEXTS / f"{code}.toml")
    parts = [_toml(file) for file in files if file.is_file()]
    sentences = {name: text for part in parts for name, text in part["sentences"].items()}
    return {**sentences, **{name: parts[0][name] for name in ("day", "months", "decimal")}}


def _toml(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text("utf-8"))


def verifier() -> str:
    """The verification of this package, module after module, each after those that it imports."""
    demand = Demand(NATIVE).reach(ROOTS)
    graph = {
        module: sorted({one.module for one in module_text(module).imports.values()} & demand.wanted.keys())
        for module in demand.wanted
    }
    order = TopologicalSorter(graph).static_order()
    return "\n".join(Translation(demand, module_text(module)).text() for module in order)


def _stylesheet() -> str:
    return (PACKAGE / "reports" / "templates" / "style.css").read_text("utf-8").rstrip("\n")


def _part(name: str) -> str:
    """Return a part of the runtime without its comments, which would make every page longer."""
    return _COMMENT.sub("", (_RUNTIME / f"{name}.js").read_text(encoding="utf-8"))
