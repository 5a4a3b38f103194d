"""The passphrase of a signing key: from a file, from the environment, or asked for on a terminal. Never from an argument, which
other users of the machine can read."""

from __future__ import annotations

import argparse
import getpass
import os
import stat
import sys

from ..errors import InvalidParameter
from ..records import bounded
from .terminal import complain

VARIABLE = "NOISYGD_DELETE_PASSPHRASE"
_LONGEST = 1000  # bytes; the format of the key file ends soon after


def add_passphrase_file(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--passphrase-file",
        metavar="FILE",
        help=f"first line: the passphrase of the key (default: ${VARIABLE}, or asked for on a terminal)",
    )


def new_passphrase(file: str | None, *, ask: bool) -> bytes | None:
    """The passphrase for a key to be made; None where nobody gave one and it is not to be asked for.

    Raises:
        InvalidParameter: empty, too long, or typed in two ways.
    """
    given = _given(file)
    if given is not None or not ask:
        return given
    first = _asked("passphrase for the new key: ")
    if first != _asked("the same again: "):
        raise InvalidParameter("the two passphrases differ; nothing was made. Run the command again")
    return first


def passphrase_of(key: str, file: str | None) -> bytes | None:
    """The passphrase that opens this key file; None for a key in the clear. Warns of a key that others may read.

    Raises:
        InvalidParameter: the file cannot be read, or its passphrase is nowhere to be had.
    """
    from ..evidence.signing import encrypted

    pem = bounded.content(key, bounded.KEY)
    if os.name != "nt" and stat.S_IMODE(os.stat(key).st_mode) & 0o077:
        complain(
            f"warning: --key {key} may be read by others than its owner, who could then sign; chmod go-rwx {key}", 0
        )
    if not encrypted(pem):
        return None
    given = _given(file)
    return _asked(f"passphrase of {key}: ") if given is None else given


def _given(file: str | None) -> bytes | None:
    if file is not None:
        lines = bounded.rows(bounded.text(file, bounded.KEY))
        return _checked(f"the first line of {file}", lines[0])
    return None if VARIABLE not in os.environ else _checked(VARIABLE, os.environ[VARIABLE])


def _asked(prompt: str) -> bytes:
    if sys.stdin is None or not sys.stdin.isatty():
        raise InvalidParameter(f"the key needs its passphrase: give --passphrase-file, or set {VARIABLE}")
    try:
        return _checked("the passphrase", getpass.getpass(prompt))
    except EOFError as error:
        raise InvalidParameter("no passphrase was given; nothing was made") from error


def _checked(source: str, text: str) -> bytes:
    passphrase = text.encode("utf-8", "surrogateescape")
    if not 0 < len(passphrase) <= _LONGEST:
        raise InvalidParameter(f"{source}: a passphrase has 1 to {_LONGEST} bytes")
    return passphrase
