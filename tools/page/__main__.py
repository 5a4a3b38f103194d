"""`python -m tools.page`: the script of certificates' pages, into the package, and its digest, into the list that readers compare with."""

from __future__ import annotations

import re
from pathlib import Path

from noisygd_delete.reports.html import LOADER, SCRIPT, csp_digest
from noisygd_delete.version import __version__

from . import script

DIGESTS = Path(__file__).parents[2] / "docs" / "page-digests.md"


def listed(text: str, found: str) -> str:
    """The list with this version's digests in it: versions before keep theirs, and one that was never released (.dev) gives way."""
    line = f"| {__version__} | `{csp_digest(found)}` | `{csp_digest(LOADER.read_text(encoding='utf-8'))}` |\n"
    there = re.search(rf"(?m)^\| ({re.escape(__version__)}|[0-9.]+\.dev[0-9]+) \|.*\n", text)
    return text.replace(there[0], line) if there else text.rstrip("\n") + "\n" + line


if __name__ == "__main__":
    made = script()
    SCRIPT.write_text(made, encoding="utf-8")
    DIGESTS.write_text(listed(DIGESTS.read_text(encoding="utf-8"), made), encoding="utf-8")
