"""Argument parsing: names and options in any order, bounded numbers, one-line errors, options shared by commands.

Options with the same meaning in every command are defined once in `GENERAL`; each command lists those it accepts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from ..errors import NoisyGDDeleteError, format_value
from ..extensions import load_extension, missing_package
from .terminal import AnswerLost, print_answer, print_error

COMMON = """\
--json              print one JSON object instead of text
--explain           the whole of it: what drives noise and cost, every other way
--dry-run           check everything and say what it would do or cost; change nothing
--plan FILE         loss, budget and method, as `plan` writes them (default: advised)
--wait SECONDS      for another process to finish with the store
--delimiter TEXT    of a CSV file (default: found from the header)
--device DEVICE     where steps over the reals are taken: cpu, cuda, cuda:1 (default: NOISYGD_DELETE_DEVICE, or cpu)
--memory SIZE       of rows held at a time, as 800M or 6G (default: a quarter of the machine's); beyond it a file is
                    read again, a source goes through an encrypted scratch file in TMPDIR or /var/tmp
--tombstones FILE   list of erased ids outside the store: note those erased, refuse those erased before
--tombstone-key FILE  its key (both are made by `keygen KEY --tombstones LIST`)
--language CODE     of a page to read: en, de (default: en)
--received TIME     when a request came in, for the register of noisygd-delete-compliance: ISO 8601 with the zone of that place
--channel CHANNEL   how it came in: desk, form, e-mail, letter, telephone, agent, registry
--identity-checked  you made sure who asks"""
LINES = {
    "quickstart": "from a CSV or Parquet file to a model in one command; with --delete to a signed certificate",
    "advise": "which method, λ and how many publications to begin with; needs sizes only",
    "plan": "steps and noise for a budget, explained; with --out a file of them for other commands",
    "init": "make a store from a CSV or Parquet file and a schema",
    "learn": "train from the initial law and publish the first model",
    "relearn": "train afresh, under a new plan where options say so",
    "delete": "erase records, or all records of persons, and publish a model without them",
    "replace": "put corrected content in place of records (rectification), and publish a model without what they held",
    "insert": "put new records into free slots and publish a model with them",
    "publish": "one release that covers every edit made with --no-publish",
    "stream": "serve a file or pipe of requests: rows are erased at once, models are published in batches",
    "evaluate": "how good the published model is: on labelled rows kept out of training, or on the records under noise",
    "predict": "what the published model says about the rows of a file; with labels, how often it is right",
    "explain": "what an additive model says: a curve for each column, with the band of the noise, as a page, a picture or plain numbers",
    "status": "sizes, releases, pending edits, and the current model",
    "budget": "what each release and all of them together reveal, as Rényi, GDP and (ε, δ)",
    "verify": "check that the store is what its ledger says; or that given texts are in no byte of it",
    "audit": "attack a plan with synthetic worst-case records: claimed against measured",
    "certificate": "the erasure certificate of a request, as signed JSON and as a page to print",
    "restrict": "take records out of the table for a time (Article 18 GDPR): kept encrypted in a file of yours, used by no release",
    "object": "the same for an objection (Article 21 GDPR), until it is decided: then lift, or destroy file and key",
    "lift": "restore records whose processing was restricted, after the person was informed (Article 18(3) GDPR)",
    "register": "the requests of a store: due and late first, decisions, who was informed; forget what may be forgotten",
    "export": "the current model as ONNX or plain numbers",
    "report": "one HTML page about the whole store: requests, budget, cost, accuracy bound",
    "document": "a model card, an annex to an impact assessment, fields for a registry of deployments (YAML)",
    "publish-to": "publish the current model, and every later one, to a folder, an object store or a model registry",
    "keygen": "make a key that signs certificates",
    "verify-certificate": "compare what an erasure certificate claims with what can be proven, and check its signature",
    "residue": "where is this person still? Given texts looked for in databases, lakes, folders and backups",
    "watch": "count what an application changes in the source unseen (a trigger in PostgreSQL: numbers, no content, no id)",
    "serve": "a service that takes requests by HTTP, carries them out in every store, and answers with certificates",
    "token": "make a token for a client of the service, and add its hash to a file of tokens",
    "requests": "requests that the service has not finished, in the first store of the service; retry or drop quarantined ones",
}


_LARGEST = 10**12  # slots, steps, releases
_SHOWN = 40  # characters of a word shown in a message
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class Intermixed(argparse.ArgumentParser):
    """Argument parser that accepts names and options in any order: `delete STORE --request-id T ID`.

    Attributes:
        takes: Options of `GENERAL` that the command accepts.
    """

    _mixing = False
    takes: tuple[str, ...] = ()

    def error(self, message: str) -> NoReturn:
        """Print `message` to standard error as one line that refers to `--help`, without the usage.

        Raises:
            SystemExit: Always, with status 2.
        """
        raise SystemExit(print_error(f"{self.prog}: {message}; see {self.prog} --help", 2))

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help and version as answers, so that a lost write is an error (argparse would ignore it)."""
        if file is None or file is not sys.stdout:
            super()._print_message(message, file)
            return
        try:
            print_answer(message.removesuffix("\n"))
        except AnswerLost as error:
            raise SystemExit(print_error(f"{self.prog}: {error}", 2)) from error

    def format_help(self) -> str:
        """Return argparse's help and, if the command takes shared options, a last line with their names."""
        also = f"\nalso: {', '.join(self.takes)} (see noisygd-delete --help)\n" if self.takes else ""
        return super().format_help() + also

    def take(self, *names: str) -> None:
        """Add these options of `GENERAL` and append them to `takes`; the command's own help shows their names only."""
        for name in names:
            self.add_argument(name, help=argparse.SUPPRESS, **GENERAL[name])
        self.takes += names

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return (namespace, unknown words) with options and positional arguments in any order.

        A parser with subcommands, such as the root parser, parses in argparse's own order.
        """
        in_order = any(action.nargs == argparse.PARSER for action in self._actions)  # it has subcommands
        if self._mixing or in_order:
            return super().parse_known_args(args, namespace)
        self._mixing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False


def add_command(commands: Any, name: str, **words: Any) -> Intermixed:
    """Add a command without abbreviations of its options, with its line of `LINES` as help, and return its parser."""
    parser: Intermixed = commands.add_parser(name, help=LINES[name], allow_abbrev=False, **words)
    return parser


def store_command(commands: Any, name: str, example: str, run: Callable[[argparse.Namespace], int]) -> Intermixed:
    """Add a command on a store, with the arguments STORE, `--wait` and `--json`, and return its parser."""
    parser = add_command(commands, name, epilog=f"example: noisygd-delete {example}")
    parser.add_argument("store", metavar="STORE")
    parser.take("--wait", "--json")
    parser.set_defaults(run=run)
    return parser


def check_words(parser: Intermixed, arguments: Sequence[str], elsewhere: Mapping[str, str]) -> None:
    """Reject the first unknown command or option, with a suggestion where a known one or a synonym is similar.

    Words after `--` and the values of options are not checked.

    Args:
        parser: Root parser with the commands that the line may name.
        arguments: Words of the command line.
        elsewhere: Options of other commands, each with the text that says where it is given.

    Raises:
        SystemExit: With status 2, after the error was printed, if a word is unknown.
    """
    words = iter(arguments)
    for text in words:
        if text == "--":
            return
        commands: Any = next((action.choices for action in parser._actions if isinstance(action.choices, dict)), {})
        if text.startswith("--"):
            name = text.partition("=")[0]
            options = parser._option_string_actions
            if name not in options:
                parser.error(f"no option {name[:_SHOWN]}{_suggestion(name, parser, elsewhere)}")
            if options[name].nargs is None and text == name:
                next(words, None)  # its value
        elif commands and not text.startswith("-"):
            if text not in commands:
                near = _nearest_word(text, commands)
                hint = f"; did you mean {near!r}?" if near else ""
                parser.error(f"no command {text[:_SHOWN]!r} (invalid choice){hint}")
            parser = commands[text]


def _suggestion(name: str, parser: Intermixed, elsewhere: Mapping[str, str]) -> str:
    """Return a suggestion for an unknown option; "" if no known option is similar."""
    if name in elsewhere:
        return f". It is {elsewhere[name]}"
    bare = name.strip("-").replace("_", "-").lower()
    for action in parser._actions:
        if not action.option_strings and bare.rstrip("s") in (
            action.dest.rstrip("s"),
            str(action.metavar).lower().rstrip("s"),
        ):
            return f"; give {action.metavar or action.dest} without an option"
    known = [*parser._option_string_actions, *elsewhere]
    meant = next((options for words, options in _SYNONYMS.items() if bare in words.split()), ())
    near = next((option for option in meant if option in known), "") or _nearest_word(f"--{bare}", known, _ALIKE)
    where = f" It is {elsewhere[near]}" if near in elsewhere else ""
    return f"; did you mean {near}?{where}" if near else ""


_ALIKE = 0.75  # least similarity of two option names that counts as a typing error
_SYNONYMS: dict[str, tuple[str, ...]] = {  # names in other programs -> options here
    "target y outcome class response label-column label-col": ("--label",),
    "user person customer patient member group owner subject-id subjects people": ("--subject",),
    "id-column id-col key-column record-id index": ("--id",),
    "csv file input table path parquet dataset rows-file": ("--data", "--file"),
    "epsilon eps mu privacy": ("--dp", "--total-epsilon"),
    "eps-delete epsilon-deletion epsilon-dd": ("--deletion",),
    "output outfile output-file o save write": ("--out",),
    "into outdir folder dir directory dest destination": ("--output-dir", "--out"),
    "lambda l2 reg alpha c penalty weight-decay": ("--regularization",),
    "key pubkey public verification-key": ("--public-key", "--key"),
    "later defer no-release without-publishing postpone": ("--no-publish",),
    "redo again repeat": ("--force",),
    "dry simulate preview what-if check no-act": ("--dry-run",),
    "n size rows samples n-records": ("--records", "--slots"),
    "capacity": ("--slots",),
    "apart held-out test-size test validation validation-split eval-share": ("--holdout",),
    "token request ticket": ("--request-id",),
    "verbose details full": ("--explain",),
    "lang locale": ("--language",),
    "sep separator": ("--delimiter",),
    "timeout": ("--wait",),
    "date received-at when": ("--received",),
    "probability proba scores": ("--probabilities",),
}


def _nearest_word(word: str, known: Iterable[str], alike: float = 0.6) -> str:
    from difflib import get_close_matches  # slow to load

    return next(iter(get_close_matches(word, known, 1, alike)), "")


def parse_integer(text: str) -> int:
    """Parse a whole number, negative ones included, of absolute value at most `_LARGEST`, 10^12.

    Raises:
        ArgumentTypeError: If the text is not a whole number, or too large.
    """
    try:
        found = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} must be a whole number, in digits") from error
    if abs(found) > _LARGEST:
        raise argparse.ArgumentTypeError(f"{text[:40]} must be at most {_LARGEST:,}")
    return found


def parse_size(text: str) -> int:
    """Return the bytes of a text such as 800M or 6G: K, M, G, T in either case are powers of 1024; no unit: bytes.

    Raises:
        ArgumentTypeError: If the number is not whole, too large, or below 1 byte.
    """
    unit = _UNITS.get(text[-1:].upper(), 0)
    found = parse_integer(text[:-1] if unit else text) * (unit or 1)
    if found < 1:
        raise argparse.ArgumentTypeError(f"{text[:40]} must be at least 1 byte")
    return found


def parse_seed(text: str) -> int:
    """Parse the seed of a random generator, a whole number from 0 to `_LARGEST`.

    Raises:
        ArgumentTypeError: If the text is not such a number.
    """
    found = parse_integer(text)
    if found < 0:
        raise argparse.ArgumentTypeError(f"{text} must be at least 0")
    return found


def parse_number(text: str) -> float:
    """Parse a number as Python's `float` does; infinities and NaN are accepted.

    Raises:
        ArgumentTypeError: If the text is not a number.
    """
    try:
        return float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} must be a number") from error


def options_of(parser: Intermixed) -> dict[str, str]:
    """Return {parameter: option} of a command, such as {"total_epsilon": "--total-epsilon"}.

    Positional arguments are left out; of several spellings the last is taken.
    """
    return {action.dest: action.option_strings[-1] for action in parser._option_string_actions.values()}


def format_error(error: NoisyGDDeleteError, options: Mapping[str, str]) -> str:
    """Return an error's message and notes, joined by "; ", each parameter written as it is typed, `--parameter value`."""

    def typed(name: str, value: Any) -> str:
        text = value if isinstance(value, str) else format_value(value)
        return f"{options[name]} {text}" if name in options else f"{name}={format_value(value)}"

    return "; ".join([error.format_message(typed), *getattr(error, "__notes__", ())])


def _language(code: str) -> str:
    """Return `code` if there are report texts in this language."""
    from ..reports.texts import ORIGINAL, language_codes

    if code != ORIGINAL and (known := language_codes()) == (ORIGINAL,):
        raise argparse.ArgumentTypeError(str(missing_package("compliance", f"language {code[:_SHOWN]!r}")))
    return code if code == ORIGINAL else _choice_of(code, known)


def _channel(text: str) -> str:
    """Return `text` if it is a channel by which a request can be received."""
    channels = load_extension("hooks", "channels")
    return text if channels is None else _choice_of(text, channels)


def _choice_of(text: str, words: Sequence[str]) -> str:
    """Return `text` if it is one of `words`; like `choices`, for lists that are loaded only when the option is used."""
    if text not in words:
        raise argparse.ArgumentTypeError(f"invalid choice: {text[:_SHOWN]!r} (choose from {', '.join(words)})")
    return text


GENERAL: dict[str, dict[str, Any]] = {  # options documented once, in `noisygd-delete --help`
    **{f"--{name}": {"action": "store_true"} for name in ("json", "explain", "dry-run", "identity-checked")},
    "--plan": {"metavar": "FILE"},
    "--wait": {"type": parse_number, "default": 0.0, "metavar": "SECONDS"},
    "--memory": {"type": parse_size, "metavar": "SIZE"},
    **{f"--{name}": {"metavar": "FILE"} for name in ("tombstones", "tombstone-key")},
    **{name: {} for name in ("--delimiter", "--device", "--received")},
    "--language": {"type": _language, "default": "en", "metavar": "CODE"},
    "--channel": {"type": _channel},
}
