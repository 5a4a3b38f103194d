"""`noisygd-delete demo`: `quickstart` on scikit-learn's digits, the data that ships with a dependency: ten classes, three records erased."""

from __future__ import annotations

import argparse
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..errors import MissingDependency
from .arguments import add_command
from .terminal import tell

_PLAN = "dp = 8.0\ndeletion = 0.8\ndelta = 1e-5\n"  # a wide budget, for so few rows
_ERASED = ("d3", "d14", "d159")
_DARKEST = 16  # of a pixel, public


def register(commands: Any) -> None:
    parser = add_command(commands, "demo", epilog="example: noisygd-delete demo")
    parser.takes += ("--json",)
    parser.set_defaults(run=_demonstrate)


def _demonstrate(parsed: argparse.Namespace) -> int:
    from ..features.schema import Draft
    from .commands import parser
    from .quickstart import fill

    pixels, digits = _read_digits()
    names = [f"p{place}" for place in range(pixels.shape[1])]
    lines = [
        ["id", *names, "digit"],
        *([f"d{k}", *row, digits[k]] for k, row in enumerate(pixels.astype(int).tolist())),
    ]
    classes = ", ".join(f'"{digit}"' for digit in range(10))
    schema = f'id = "id"\n[label]\ncolumn = "digit"\nclasses = [{classes}]\n'
    schema += "".join(f"[columns.{name}]\nbounds = [{-_DARKEST}, {_DARKEST}]\n" for name in names)
    with TemporaryDirectory() as folder, chdir(folder):
        Path("digits.csv").write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n")
        Path("plan.toml").write_text(_PLAN)
        Path("digits").mkdir()
        words = ["digits.csv", "--label", "digit", "--plan", "plan.toml", "--delete", *_ERASED]
        asked = parser("quickstart").parse_args(["quickstart", *words, *["--json"] * parsed.json])
        status = fill(asked, Path("digits"), len(pixels), Draft(schema))
    if not parsed.json:
        tell("nothing of it is kept; of a table of yours: noisygd-delete quickstart FILE --label COL --delete ID")
    return status


def _read_digits() -> tuple[Any, Any]:
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingDependency("the demo uses scikit-learn's digits; pip install 'noisygd-delete[sklearn]'") from error
    pixels, digits = load_digits(return_X_y=True)
    return pixels, digits
