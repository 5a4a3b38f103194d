"""`noisygd-delete publish-to`: external locations that the current model is published to."""

from __future__ import annotations

import argparse
from typing import Any

from noisygd_delete.cli.arguments import store_command
from noisygd_delete.cli.terminal import format_destination, print_result
from noisygd_delete.errors import InvalidParameter

_BEHIND = 6


def register(commands: Any) -> None:
    """Add the `publish-to` command and its options to the parser."""
    parser = store_command(commands, "publish-to", "publish-to STORE folder:/srv/models/people", _run)
    parser.add_argument(
        "address",
        nargs="?",
        metavar="ADDRESS",
        help="folder:/PATH, mlflow:URI (sqlite:////path/mlflow.db, https://host), or an address of fsspec (s3://bucket/prefix); without "
        "one, failed destinations are tried again",
    )
    parser.add_argument(
        "--model", metavar="NAME", help="name of the registered model (default: the name of the store's folder)"
    )
    parser.add_argument("--alias", metavar="ALIAS", help="alias of the current version (default: production)")
    parser.add_argument(
        "--unpublish",
        action="store_true",
        help="remove everything that was published at ADDRESS, and stop publishing there",
    )


def _run(parsed: argparse.Namespace) -> int:
    from noisygd_delete.cli.release import open_store

    from .publishing import publish_to, unpublish

    if parsed.unpublish and (parsed.address is None or parsed.model is not None or parsed.alias is not None):
        raise InvalidParameter("--unpublish takes an ADDRESS, and neither --model nor --alias")
    if parsed.address is None and (parsed.model is not None or parsed.alias is not None):
        raise InvalidParameter("--model and --alias belong to an ADDRESS: give one")
    with open_store(parsed) as store:
        if parsed.unpublish:
            gone = unpublish(store, parsed.address)
            left = "" if gone.problem is None else f"; left there: {gone.problem}"
            print_result(
                parsed, {"ended": gone.address, "left": gone.problem}, f"no longer published to {gone.address}{left}"
            )
            return 0 if gone.problem is None else _BEHIND
        publish_to(store, parsed.address, model=parsed.model, alias=parsed.alias)
        listed = store.destination_status()
        text = "\n".join(map(format_destination, listed)) or "this store has no destination; give an ADDRESS"
        print_result(parsed, {"publishers": listed}, text)
        return _BEHIND if store.destinations_behind else 0
