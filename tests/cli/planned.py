"""Commands that are told word by word what a plan is asked for: the words go to `plan --out`, and the command reads its file."""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from noisygd_delete.cli import main as run
from noisygd_delete.cli.arguments import Intermixed
from noisygd_delete.cli.plan_file import add_problem_arguments, format_options

READ = {
    "init": (),
    "quickstart": (),
    "relearn": (),
    "audit": (),
    "advise": ("--records", "--features"),
}  # and their own


def main(arguments: Sequence[str]) -> int:
    """The command's exit status, or that of `plan` where it refuses what is asked."""
    name, *rest = arguments
    if name not in READ or "--help" in rest:
        return run(arguments)
    asked, own = _apart(name, rest)
    if not vars(asked):
        return run(arguments)
    with TemporaryDirectory() as folder:
        file = str(Path(folder) / "plan.toml")
        with redirect_stdout(io.StringIO()):
            status = run(["plan", *format_options(vars(asked)), "--out", file])
        return status or run([name, *own, "--plan", file])


def _apart(name: str, rest: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    parser = Intermixed(prog=f"noisygd-delete {name}", allow_abbrev=False, add_help=False)
    add_problem_arguments(parser)
    for option in READ[name]:
        del parser._option_string_actions[option]
    return parser.parse_known_args(rest)
