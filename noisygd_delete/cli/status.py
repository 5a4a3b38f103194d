"""`noisygd-delete status`: sizes, releases, pending edits, and which model is in force."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ..errors import StoreLocked
from ..records import EditCounts
from ..store.status import status
from .arguments import store_command
from .budget_left import left_text
from .publish_to import sentence
from .terminal import show


def register(commands: Any) -> None:
    store_command(commands, "status", "status STORE --json", _status)


def _status(parsed: argparse.Namespace) -> int:
    answer = status(parsed.store)
    if finish(parsed, answer):
        answer = status(parsed.store)
    told = dict(answer)
    kinds = EditCounts(**told.pop("pending"))
    told["pending_edits"] = kinds.text() if told["pending_edits"] else 0
    told["publications_left"] = left_text(told.pop("left"))
    if (patch := told["patch"]) is not None:
        told["patch"] = (
            f"{patch['patches']} until the next release; who copies the store, and saw every model, of a record erased since: {patch['told']}"
        )
    told["publishers"] = "; ".join(map(sentence, told["publishers"])) or None
    del told["capped"]
    lines = [f"{name.replace('_', ' '):<20}{_words(value)}" for name, value in told.items()]
    show(parsed, answer, "\n".join(lines))
    return 0


def finish(parsed: argparse.Namespace, answer: Mapping[str, Any]) -> bool:
    """Finish an interrupted request, if there is one and nobody is at work on it."""
    if not answer["request_in_flight"]:
        return False
    from .release import open_store

    try:
        open_store(parsed).close()
    except StoreLocked:
        return False
    return True


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(map(str, value.values()))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
