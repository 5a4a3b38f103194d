"""The command line: argument parsing -> one library call -> text or JSON. No arithmetic here.

Exit status: 0 done, 2 usage, 3 publication withheld by budget, 4 locked, 5 integrity.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .. import __version__
from ..distributed import launched
from ..errors import BudgetExceeded, NoisyGDDeleteError, StoreCorrupt, StoreLocked
from ..gradient import device
from . import (
    audit,
    bench,
    certificate,
    demo,
    init,
    inspect,
    keygen,
    plan,
    predict,
    requests,
    stream,
    verify_certificate,
)

_COMMANDS = (
    demo,
    plan,
    init,
    requests,
    stream,
    predict,
    inspect,
    audit,
    certificate,
    keygen,
    verify_certificate,
    bench,
)
_STATUS: tuple[tuple[type[Exception], int], ...] = ((BudgetExceeded, 3), (StoreLocked, 4), (StoreCorrupt, 5))
_AFTER_INTERRUPT = "a request that the store had accepted is finished by the next command; nothing else was changed"


class _Completion(argparse.Action):
    """Print a shell completion script made from the parser itself."""

    def __call__(self, parser: argparse.ArgumentParser, _: object, shell: object, *__: object) -> None:
        try:
            import shtab
        except ImportError:
            parser.error("--print-completion needs shtab; pip install 'noisygd-delete[completion]'")
        print(shtab.complete(parser, str(shell)))
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """The whole command line, each command registered by its own module."""
    root = argparse.ArgumentParser(
        prog="noisygd-delete",
        description="Train models by noisy gradient descent and erase records from them, with a certificate.",
        epilog="start with: noisygd-delete demo · help on a command: noisygd-delete COMMAND --help · completion: "
        'eval "$(noisygd-delete --print-completion bash)"',
        allow_abbrev=False,
    )
    root.add_argument(
        "--print-completion",
        choices=("bash", "zsh", "tcsh"),
        action=_Completion,
        help="print a completion script and exit",
    )
    root.add_argument("--version", action="version", version=f"noisygd-delete {__version__}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND")
    for command in _COMMANDS:
        command.register(commands)
    root.set_defaults(run=lambda _: _greet(root))
    return root


def _greet(root: argparse.ArgumentParser) -> int:
    """No command: the whole help, and the status of a wrong usage."""
    root.print_help(sys.stderr)
    return 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status."""
    parsed = parser().parse_args(arguments)
    try:
        return _shared(parsed)
    except NoisyGDDeleteError as error:
        print(f"noisygd-delete {parsed.command}: {error}", file=sys.stderr)
        return next((code for kind, code in _STATUS if isinstance(error, kind)), 2)
    except KeyboardInterrupt:
        print(f"noisygd-delete {parsed.command}: interrupted; {_AFTER_INTERRUPT}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _shared(parsed: argparse.Namespace) -> int:
    """The command, run by this process; under torchrun by process 0, and the others take part in its releases."""
    group = launched()
    chosen = device.check(parsed.device or device.current(), group) if "device" in parsed else device.current()
    with device.on(chosen):
        if group.size == 1:
            return int(parsed.run(parsed))
        from ..store import follow, leading

        if group.rank:
            follow(getattr(parsed, "store", "."), group)
            return 0
        with leading(group):
            return int(parsed.run(parsed))


def run() -> None:
    """Console-script entry point."""
    raise SystemExit(main())
