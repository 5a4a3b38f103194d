"""`noisygd-delete bench`, which has moved to a distribution of its own; the name leaves in 0.3.0."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from ..errors import MissingDependency
from .streams import complain


def register(commands: Any) -> None:
    parser = commands.add_parser(
        "bench",
        help="moved to noisygd-delete-lab (this name leaves in 0.3.0)",
        epilog="example: noisygd-delete bench compare --no-attack; better: pip install noisygd-delete-lab, then noisygd-delete-lab compare "
        "--no-attack",
        allow_abbrev=False,
    )
    parser.add_argument("arguments", nargs=argparse.PARSER, metavar="ARGUMENTS", help="those of noisygd-delete-lab")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    try:
        moved = import_module("noisygd_delete_lab.command")
    except ModuleNotFoundError as error:
        raise MissingDependency(
            "rival methods have a distribution of their own: pip install noisygd-delete-lab, and run noisygd-delete-lab compare"
        ) from error
    status = int(moved.main(parsed.arguments))
    return complain("noisygd-delete: bench is noisygd-delete-lab now; this name leaves in 0.3.0", status)
