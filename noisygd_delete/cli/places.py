"""Publishers in words: where the model in force is put besides the store, and what is still to be done there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..store import Store


def sentence(told: dict[str, Any]) -> str:
    """One publisher in words."""
    name = told["address"] + (f" ({told['model']}@{told['alias']})" if "model" in told else "")
    holds = "no release" if told["release"] is None else f"release {told['release']}"
    if not told["pending"]:
        return f"{name}: holds {holds}" + (f" since {told['since']}" if "since" in told else "")
    why = f": {told['problem']}" if told["problem"] else ""
    return f"{name}: NOT yet as it must be (last known to hold {holds}){why}; the next command tries again"


def complain_behind(store: Store) -> None:
    """One line on standard error for each publisher that does not hold the release in force alone."""
    for told in store.publishers_told():
        if told["pending"]:
            print(sentence(told), file=sys.stderr)
