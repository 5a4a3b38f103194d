"""`python -m noisygd_delete_compliance.translator docs/page-digests.md`: list the scripts of the version that is released."""

from __future__ import annotations

import sys
from pathlib import Path

from noisygd_delete.reports.html import csp_digest
from noisygd_delete.version import __version__

from ..checking_page import LOADER, page_script


def add_digest(text: str, version: str, checker: str, loader: str) -> str:
    """Return the list with one line for a version, in place of an earlier line for it."""
    line = f"| {version} | `{csp_digest(checker)}` | `{csp_digest(loader)}` |"
    kept = [one for one in text.splitlines() if not one.startswith(f"| {version} |")]
    return "\n".join([*kept, line]) + "\n"


if __name__ == "__main__":
    page = Path(sys.argv[1])
    loader = LOADER.read_text(encoding="utf-8")
    page.write_text(add_digest(page.read_text(encoding="utf-8"), __version__, page_script(), loader), encoding="utf-8")
