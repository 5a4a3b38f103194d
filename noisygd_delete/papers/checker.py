"""What a page that checks itself holds beside its text: the signed file, the script, and what the browser may load (nothing).

The script is one text for all pages of a version, made from this package's own verification by `tools/page` of the repository.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from .catalogue import Language

SCRIPT = Path(__file__).parent / "templates" / "checker.js"
_BEGINS = "check."  # of the page's sentences in the catalogue


def embedded(signed: str, style: str, words: Language) -> dict[str, Any]:
    """The parts that templates/check.html shows.

    Args:
        signed: the certificate's file, to the letter; "" for a page that only checks other files.
        style: the page's style sheet.
    """
    said = {name.removeprefix(_BEGINS): text for name, text in words.sentences.items() if name.startswith(_BEGINS)}
    script = page_script()
    return {
        "words": said,
        "decimal": words.decimal,
        "signed": signed,
        "script": script,
        "digest": digest(script),
        "policy": policy(script, style),
    }


@cache
def page_script() -> str:
    """What every page runs."""
    return SCRIPT.read_text(encoding="utf-8")


def policy(script: str, style: str) -> str:
    """What the page may load or run: this script and this style, by their digests, and nothing from anywhere."""
    allowed = f"script-src '{digest(script)}'; style-src '{digest(style)}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def digest(content: str) -> str:
    """As a page's policy names what it runs."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
