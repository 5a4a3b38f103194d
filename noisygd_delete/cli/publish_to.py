"""`noisygd-delete publish-to`: external locations that the current model is published to."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import InvalidParameter
from .arguments import store_command
from .terminal import print_result, publisher_sentence

_BEHIND = 6


def register(commands: Any) -> None:
    parser = store_command(commands, "publish-to", "publish-to STORE folder:/srv/models/people", _run)
    parser.add_argument(
        "address",
        nargs="?",
        metavar="ADDRESS",
        help="folder:/PATH, mlflow:URI (sqlite:////path/mlflow.db, https://host), or what fsspec reaches (s3://bucket/prefix); without "
        "one, what failed is tried again",
    )
    parser.add_argument(
        "--model", metavar="NAME", help="of the registered model (default: the name of the store's folder)"
    )
    parser.add_argument("--alias", metavar="ALIAS", help="that leads to the version in force (default: production)")
    parser.add_argument(
        "--unpublish", action="store_true", help="take away what was put at ADDRESS, and publish there no more"
    )


def _run(parsed: argparse.Namespace) -> int:
    from .release import open_store

    if parsed.unpublish and (parsed.address is None or parsed.model is not None or parsed.alias is not None):
        raise InvalidParameter("--unpublish takes an ADDRESS that is published to, and neither --model nor --alias")
    if parsed.address is None and (parsed.model is not None or parsed.alias is not None):
        raise InvalidParameter("--model and --alias belong to an ADDRESS")
    with open_store(parsed) as store:
        if parsed.unpublish:
            gone = store.publish_no_more(parsed.address)
            left = "" if gone.problem is None else f"; left there: {gone.problem}"
            print_result(
                parsed, {"ended": gone.address, "left": gone.problem}, f"published to {gone.address} no more{left}"
            )
            return 0 if gone.problem is None else _BEHIND
        store.publish_to(parsed.address, model=parsed.model, alias=parsed.alias)
        told = store.publishers_told()
        text = "\n".join(map(publisher_sentence, told)) or "this store publishes nowhere else; give an ADDRESS"
        print_result(parsed, {"publishers": told}, text)
        return _BEHIND if store.publishers_behind else 0
