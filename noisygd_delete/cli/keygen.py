"""`noisygd-delete keygen`: make a signing key for certificates, or the key of a list of erased ids."""

from __future__ import annotations

import argparse
import getpass
import os
import stat
import sys
from pathlib import Path
from typing import Any

from ..errors import InvalidParameter
from ..evidence.atomic_write import check_output, check_outside_store
from ..records import limited_io
from .arguments import add_command
from .terminal import print_error, print_result


def register(commands: Any) -> None:
    """Add the `keygen` command and its options to the parser."""
    parser = add_command(
        commands,
        "keygen",
        description="Write an Ed25519 key to FILE (readable by you only) and its public half to FILE.pub. Keep FILE outside the "
        "store; publish FILE.pub and the key id, so that people can check who signed.",
        epilog="example: noisygd-delete keygen controller.pem --passphrase",
    )
    parser.add_argument("file", metavar="FILE", help="new file for the private key; never overwritten")
    parser.add_argument(
        "--tombstones", metavar="LIST", help="make the key of a list of erased ids instead, and the empty list"
    )
    parser.add_argument(
        "--passphrase", action="store_true", help="encrypt the key under a passphrase, which is prompted for twice"
    )
    add_passphrase_file(parser)
    parser.take("--json")
    parser.set_defaults(run=_run)


def _run(parsed: argparse.Namespace) -> int:
    return _write_signing_key(parsed) if parsed.tombstones is None else _write_tombstone_key(parsed)


def _write_tombstone_key(parsed: argparse.Namespace) -> int:
    from ..store import Tombstones

    if parsed.passphrase or parsed.passphrase_file is not None:
        raise InvalidParameter("the key of a list of erased ids takes no passphrase; leave it out")
    check_outside_store("FILE", parsed.file)
    if Path(parsed.tombstones).exists() or not Path(parsed.file).is_file() or Path(parsed.file).is_symlink():
        check_output("FILE", parsed.file)  # otherwise the key exists and its list was never made
    check_output("--tombstones", parsed.tombstones, inputs=[parsed.file])
    Tombstones.create(parsed.tombstones, parsed.file)
    made = {"key": parsed.file, "tombstones": parsed.tombstones}
    print_result(parsed, made, f"key {parsed.file} (keep it apart from the list)\nempty list {parsed.tombstones}")
    return 0


def _write_signing_key(parsed: argparse.Namespace) -> int:
    from ..evidence.signing import is_incomplete_key, new_key

    there = is_incomplete_key(parsed.file)  # left by an interrupted keygen
    if there:
        password = passphrase_of(parsed.file, parsed.passphrase_file)
    else:
        check_output("FILE", parsed.file)  # before the passphrase prompt
        password = new_passphrase(parsed.passphrase_file, ask=parsed.passphrase)
    name = new_key(parsed.file, password=password)
    answer = {
        "key": parsed.file,
        "public_key": f"{parsed.file}.pub",
        "key_id": name,
        "encrypted": password is not None,
    }
    kept = (
        "encrypted: it signs only with its passphrase; keep both"
        if password is not None
        else "not encrypted: anyone who can read it can sign. Protect it, or make an encrypted key with --passphrase"
    )
    kept += "; it was there, and only its public half was made" if there else ""
    text = f"key id {name}\nprivate key {parsed.file} ({kept})\npublic key {parsed.file}.pub (publish it)"
    print_result(parsed, answer, text)
    return 0


VARIABLE = "NOISYGD_DELETE_PASSPHRASE"
_LONGEST = 1000  # bytes; just below the limit of the key file's format


def add_passphrase_file(parser: argparse._ActionsContainer) -> None:
    """Add the option --passphrase-file, a file whose first line is the passphrase of a signing key."""
    parser.add_argument(
        "--passphrase-file",
        metavar="FILE",
        help=f"first line: the passphrase of the key (default: ${VARIABLE}, or prompted for on a terminal)",
    )


def new_passphrase(file: str | None, *, ask: bool) -> bytes | None:
    """Return the passphrase for a new key from the file, else the variable `VARIABLE`, else from two equal prompts.

    Args:
        file: File whose first line is the passphrase; None for none.
        ask: Whether to prompt if neither the file nor the variable is given; otherwise None is returned.

    Raises:
        InvalidParameter: If it has not 1 to 1000 bytes, the two entries differ, the file cannot be read, or there is no
            terminal to prompt on.
    """
    given = _read_passphrase(file)
    if given is not None or not ask:
        return given
    first = _prompt_passphrase("passphrase for the new key: ")
    if first != _prompt_passphrase("the same again: "):
        raise InvalidParameter("the two passphrases differ; nothing was made. Run the command again")
    return first


def passphrase_of(key: str, file: str | None) -> bytes | None:
    """Return the passphrase of a key file: from `file`, else the variable `VARIABLE`, else by a prompt.

    None if the key is not encrypted. Warn on standard error if other users can read the key.

    Args:
        key: The key file.
        file: File whose first line is the passphrase; None for none.

    Raises:
        InvalidParameter: If a file cannot be read, or the passphrase is not available or has not 1 to 1000 bytes.
    """
    from ..evidence.signing import is_encrypted

    pem = limited_io.read_file(key, limited_io.KEY)
    if os.name != "nt" and stat.S_IMODE(os.stat(key).st_mode) & 0o077:
        print_error(
            f"warning: --key {key} may be read by others than its owner, who could then sign; chmod go-rwx {key}", 0
        )
    if not is_encrypted(pem):
        return None
    given = _read_passphrase(file)
    return _prompt_passphrase(f"passphrase of {key}: ") if given is None else given


def _read_passphrase(file: str | None) -> bytes | None:
    if file is not None:
        lines = limited_io.split_lines(limited_io.read_text(file, limited_io.KEY))
        return _check_passphrase(f"the first line of {file}", lines[0])
    return None if VARIABLE not in os.environ else _check_passphrase(VARIABLE, os.environ[VARIABLE])


def _prompt_passphrase(prompt: str) -> bytes:
    if sys.stdin is None or not sys.stdin.isatty():
        raise InvalidParameter(f"the key needs its passphrase: give --passphrase-file, or set {VARIABLE}")
    try:
        return _check_passphrase("the passphrase", getpass.getpass(prompt))
    except EOFError as error:
        raise InvalidParameter("no passphrase was given; nothing was made") from error


def _check_passphrase(source: str, text: str) -> bytes:
    passphrase = text.encode("utf-8", "surrogateescape")
    if not 0 < len(passphrase) <= _LONGEST:
        raise InvalidParameter(f"{source}: a passphrase has 1 to {_LONGEST} bytes")
    return passphrase
