"""What a page that checks itself holds beside its text: the signed file, the script, and what the browser may load (nothing).

The script is one text for all pages of a version, made from this package's own verification by `tools/page` of the repository. A page holds
it packed (gzip, base64), and a loader of a few lines; the browser runs what was unpacked only if its digest is the one in the policy.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

TEMPLATES = Path(__file__).parent / "templates"
SCRIPT, LOADER = TEMPLATES / "checker.js", TEMPLATES / "loader.js"


def embedded(signed: str) -> dict[str, Any]:
    """The parts that templates/check.html shows, and the scripts that the page runs.

    Args:
        signed: the certificate's file, to the letter; "" for a page that only checks other files.
    """
    script, loader = page_script(), LOADER.read_text(encoding="utf-8")
    return {
        "signed": signed,
        "packed": packed(script),
        "loader": loader,
        "digest": digest(script),
        "scripts": (loader, script),
    }


@cache
def page_script() -> str:
    """What every page runs once its loader has unpacked it."""
    return SCRIPT.read_text(encoding="utf-8")


def packed(script: str) -> str:
    """A script in a quarter of its length."""
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()


def digest(content: str) -> str:
    """As a page's policy names what it runs."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
