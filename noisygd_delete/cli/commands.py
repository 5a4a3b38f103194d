"""Build the parser of every command, and turn errors into one paragraph and an exit status."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, NoReturn

from ..errors import BudgetExceeded, MissingDependency, NoisyGDDeleteError, ProcessLost, StoreCorrupt, StoreLocked
from ..extensions import PACKAGE_OF, load_extension, missing_package
from ..version import __version__
from .arguments import COMMON, GENERAL, LINES, Intermixed, check_words, format_error, options_of
from .terminal import escape_unencodable, flush_streams, print_error

# commands whose module has another name; a module is imported only when its command is used
_MODULES = {
    "relearn": "learn",
    "predict": "evaluate",
    "replace": "delete",
    "insert": "delete",
    "report": "export",
    "status": "budget",
}
_READ_A_PLAN = ("quickstart", "advise", "init", "relearn", "audit")
_STATUS: tuple[tuple[type[Exception], int], ...] = ((BudgetExceeded, 3), (StoreLocked, 4), (StoreCorrupt, 5))
_AFTER_INTERRUPT = "a request that the store had accepted is finished by the next command; nothing else was changed"


class _Completion(argparse.Action):
    """Argument action that prints a shell completion script generated from the parser."""

    def __call__(self, parser: argparse.ArgumentParser, _: object, shell: object, *__: object) -> None:
        try:
            import shtab
        except ImportError:
            parser.error("--print-completion needs shtab; pip install 'shtab>=1.7'")
        _print_all_help(parser)
        print(shtab.complete(parser, str(shell)))
        parser.exit()


def _print_all_help(parser: Any) -> None:
    """Make the shared options of each command visible in the parser, for the completion script."""
    for action in parser._actions:
        if GENERAL.keys() & set(action.option_strings):
            action.help = None
        if isinstance(action.choices, dict):
            for command in action.choices.values():
                _print_all_help(command)


def parser(command: str | None = None) -> Intermixed:
    """Return the root parser with one command, all commands, or none; each has its `options_of` as default `options`.

    Args:
        command: The only command to register, with those of its module; None registers all whose package is installed,
            "" none.

    Raises:
        MissingDependency: If `command` belongs to a package that is not installed.
    """
    root, commands = _root()
    names = list(LINES) if command is None else [command] if command else []
    modules = {name: _load_module(name) for name in names}
    if command and modules[command] is None:
        raise missing_package(PACKAGE_OF[command], f"`{command}`")
    for module in dict.fromkeys(module for module in modules.values() if module is not None):
        module.register(commands)
    for command_parser in commands.choices.values():
        command_parser.set_defaults(options=options_of(command_parser))
    return root


def _load_module(command: str) -> Any | None:
    """Load the module of a command; None if it belongs to a package that is not installed."""
    if command in PACKAGE_OF:
        return load_extension("commands", command)
    return import_module(f".{_MODULES.get(command, command).replace('-', '_')}", __package__)


def overview() -> Intermixed:
    """Return the parser that `--help` shows: one line for each command of `LINES`, without its options.

    No module of a command is loaded, and commands of packages that are not installed are listed too.
    """
    root, commands = _root()
    for name in LINES:
        commands.add_parser(name, help=LINES[name])
    return root


def _root() -> tuple[Intermixed, Any]:
    """Return the root parser and its subparsers action."""
    root = Intermixed(
        prog="noisygd-delete",
        description="Train models by noisy gradient descent and erase records from them, with a certificate.",
        epilog="start with: noisygd-delete quickstart FILE --label COL · help on a command: noisygd-delete COMMAND --help · completion: "
        'eval "$(noisygd-delete --print-completion bash)"',
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument_group("options of commands", COMMON)
    root.add_argument(
        "--print-completion",
        choices=("bash", "zsh", "tcsh"),
        action=_Completion,
        help="print a completion script and exit",
    )
    root.add_argument("--version", action="version", version=f"noisygd-delete {__version__}")
    commands: Any = root.add_subparsers(dest="command", metavar="COMMAND", parser_class=Intermixed)
    root.set_defaults(run=lambda _: _print_overview(root), options={}, execution=None)
    return root, commands


def _print_overview(root: argparse.ArgumentParser) -> int:
    """Print the whole help to standard error; return the exit status of a usage error."""
    root.print_help(sys.stderr)
    return 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; report an error on standard error as one paragraph.

    Status 3: the budget is exceeded; 4: the store is locked; 5: it is corrupt; 130: interrupted; 2: any other error; 0
    if the reader of the answer closed the pipe. Of an unforeseen exception only type and place are printed, because its
    message may quote a record. In a group of processes that torchrun started, only process 0 runs the command.

    Args:
        arguments: Words after the program's name; None: `sys.argv[1:]`.

    Raises:
        SystemExit: For --help, --version and --print-completion, and with status 2 if the words cannot be parsed.
    """
    escape_unencodable()
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        known = _parser_for(arguments[0] if arguments else "--help")
    except MissingDependency as error:
        return print_error(f"noisygd-delete: {error}", 2)
    check_words(known, arguments, _plan_option_hint(arguments[0]) if arguments else {})
    parsed = known.parse_args(arguments)
    name = f"noisygd-delete {parsed.command}"
    try:
        _warn_stale_register(parsed, name)
        with joining_group(parsed) as status:
            return int(parsed.run(parsed)) if status is None else status
    except NoisyGDDeleteError as error:
        status = next((code for kind, code in _STATUS if isinstance(error, kind)), 2)
        return print_error(f"{name}: {format_error(error, parsed.options)}", status)
    except KeyboardInterrupt:
        return print_error(f"{name}: interrupted; {_AFTER_INTERRUPT}", 130)
    except BrokenPipeError:  # the reader of the answer closed the pipe
        return flush_streams(0)
    except MemoryError:
        return print_error(f"{name}: this takes more memory than there is; give a smaller table or smaller sizes", 2)
    except ArithmeticError:
        return print_error(
            f"{name}: these numbers are too large or too small to compute with; give less extreme ones", 2
        )
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return print_error(f"{name}: {place}{error.strerror or error}; {_AFTER_INTERRUPT}", 2)
    except Exception as error:
        from traceback import extract_tb

        # the message may quote a record, so only the exception's type and place are printed
        last = extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} in {last.name}, line {last.lineno}"
        return print_error(f"{name}: a fault of this program ({place}); please report it; {_AFTER_INTERRUPT}", 2)


def _warn_stale_register(parsed: argparse.Namespace, name: str) -> None:
    """Warn about a stale request register before it is used.

    `verify` and commands that need a verified store report it themselves.
    """
    store = getattr(parsed, "store", None)
    if store is None or parsed.command in ("verify", "certificate"):
        return
    from pathlib import Path

    from ..store import rollback_guard
    from ..store.layout import Layout

    for path in [store] if isinstance(store, str) else store:
        with suppress(NoisyGDDeleteError, OSError):  # the command meets the same error and reports it in detail
            fault = rollback_guard.register_fault(Layout(Path(path)))
            if fault is not None:
                print_error(f"{name}: {fault}", 0)


def _parser_for(first: str) -> Intermixed:
    """Return the parser needed for a command line that begins with `first`."""
    if first in ("--help", "-h"):
        return overview()
    return parser("" if first == "--version" else first if first in LINES else None)


def _plan_option_hint(command: str) -> dict[str, str]:
    """Return the options that this command reads from a plan file, each with where it is given."""
    if command not in _READ_A_PLAN:
        return {}
    where = f"said to `noisygd-delete plan --out plan.toml`, which `{command}` reads with --plan plan.toml"
    [plan] = [one for one in parser("plan")._actions if isinstance(one.choices, dict)]
    return dict.fromkeys(plan.choices["plan"]._option_string_actions, where)  # type: ignore[index]


@contextmanager
def joining_group(parsed: argparse.Namespace) -> Iterator[int | None]:
    """Join the group of processes that torchrun started, if it did, and set `parsed.execution` then or with --device; keep to --memory.

    For any other command, `parsed.execution` remains None. If a process of the group dies, torchrun ends the others by
    SIGTERM, which raises ProcessLost.

    Yields:
        None where the command is to be run: in process 0, or without a group. Elsewhere the exit status, after this
        process has taken part in all its releases: 0, or 2 if the group lost a process.

    Raises:
        ProcessLost: In the process of rank 1, if the group lost a process.
    """
    if "device" not in parsed and "TORCHELASTIC_RUN_ID" not in os.environ:
        yield None
        return
    from dataclasses import replace

    from ..engine import Execution
    from ..engine.execution import check_device, find_launched_group
    from ..engine.kernel import limit_memory
    from ..store import follow_group, lead_group

    group, memory = find_launched_group(), getattr(parsed, "memory", None)
    parsed.execution = execution = Execution(group=group)
    if "device" in parsed:
        place = check_device(parsed.device or execution.device, group)
        parsed.execution = execution = replace(execution, device=place, memory=memory)
    with limit_memory(memory):
        if group.size == 1:
            yield None
            return
        signal.signal(signal.SIGTERM, _exit_on_signal)
        if not group.rank:
            with lead_group(group):
                yield None
            return
        status = 0
        try:
            follow_group(getattr(parsed, "store", "."), execution)
        except ProcessLost:
            if group.rank == 1:
                raise
            status = 2
        yield status


def _exit_on_signal(*_: object) -> NoReturn:
    raise ProcessLost(
        "torchrun ended this process, as it does when another one of the group has gone; an accepted request is finished by "
        "the next command, with any number of processes"
    )
