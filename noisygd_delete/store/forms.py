"""The bytes that a text may be written as: what a search for traces looks for."""

from __future__ import annotations

import json


def forms(token: str) -> set[bytes]:
    """The bytes that a text may be written as."""
    written = json.dumps(token)[1:-1]
    return {form.encode(code) for form in (token, written) for code in ("utf-8", "utf-16-le", "utf-16-be")}
