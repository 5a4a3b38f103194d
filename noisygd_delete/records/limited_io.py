r"""Bounded reading of untrusted input.

Guarantee: only regular files are opened (a device or pipe may never end), at most a stated number of bytes is held, a
line ends only at \n or \r\n, and JSON objects have no duplicate names. Any other input raises one error that states
the remedy.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import InvalidParameter, InvalidRequest, NoisyGDDeleteError

KEY = 1 << 16  # bytes of a key or a passphrase
SCHEMA = 1 << 24
LIST = 1 << 26  # a list of ids, tokens or erased ids: over a million names
DOCUMENT = 1 << 26  # a certificate with its ledger, the result of an audit
LINE = 1 << 20  # one request of a stream
_CHUNK = 1 << 20
_LONGEST = 1000  # characters of an id, a subject or a request id

Refusal = type[NoisyGDDeleteError]


def open_plain(path: str | Path, *, error: Refusal = InvalidParameter) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        error: If there is none, it cannot be read, or it is a folder, a device or a pipe.
    """
    try:
        # a blocking open of a pipe without a writer would never return
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as problem:
        raise error(f"{path}: cannot be read ({problem.strerror}); check the name and the permissions") from problem
    except ValueError as problem:  # a name with a zero byte, or not encodable on this system
        raise error(f"{str(path)!r}: not the name of a file") from problem
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise error(f"{path}: not a plain file; a folder, a device or a pipe is not read. Give the name of a file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_file(path: str | Path, limit: int, *, error: Refusal = InvalidParameter) -> bytes:
    """Return all bytes of a regular file of at most `limit` bytes."""
    with open_plain(path, error=error) as file:
        return read_limited(file, limit, str(path), error=error)


def read_key(path: str | Path, length: int, what: str) -> bytes:
    """Return the `length` bytes that a file contains in hexadecimal; `what` describes such a file in an error."""
    try:
        found = bytes.fromhex(read_file(path, KEY).decode("ascii"))
    except InvalidParameter:
        raise
    except ValueError as problem:
        raise InvalidParameter(f"{path}: not {what}") from problem
    if len(found) != length:
        raise InvalidParameter(f"{path}: not {what}")
    return found


def read_limited(file: BinaryIO, limit: int, source: str, *, error: Refusal = InvalidParameter) -> bytes:
    """Return the rest of an open file or of standard input, if it is at most `limit` bytes."""
    try:
        data = file.read(limit + 1)
    except OSError as problem:
        raise error(f"{source}: cannot be read ({problem.strerror})") from problem
    if len(data) > limit:
        raise error(f"{source}: longer than {limit} bytes, so it is not what is expected here; check the name")
    return data


def read_text(path: str | Path, limit: int, *, error: Refusal = InvalidParameter) -> str:
    """Return a regular file as UTF-8 text without its byte order mark; line ends are unchanged."""
    return decode_text(read_file(path, limit, error=error), str(path), error=error)


def decode_text(data: bytes, source: str, *, error: Refusal = InvalidParameter) -> str:
    """Decode UTF-8. The error message gives the position of the invalid byte and never quotes the content."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(f"{source}: not UTF-8 text (byte {problem.start}); save it as UTF-8") from None


def split_lines(text: str) -> list[str]:
    """Split a text into lines without their ends. `str.splitlines` would also split at U+2028, maybe inside an id."""
    return [row.removesuffix("\r") for row in text.split("\n")]


def iterate_lines(file: BinaryIO, longest: int = LINE, *, error: Refusal = InvalidParameter) -> Iterator[str | None]:
    """Yield lines as they arrive, without their ends; None for a line longer than `longest` bytes.

    An invalid UTF-8 byte becomes a lone surrogate, so that only its line is bad and the stream continues.

    Raises:
        error: If a line does not end within `LIST` bytes: the input is not text.
    """
    mark = b"\xef\xbb\xbf"
    while piece := file.readline(longest + 2):  # including \r\n
        line, read = piece.removesuffix(b"\n").removesuffix(b"\r"), len(piece)
        while not piece.endswith(b"\n") and (piece := file.readline(_CHUNK)):  # skip the rest of a long line
            read += len(piece)
            if read > LIST:
                raise error(f"a line of more than {LIST} bytes without an end; these are no lines of text")
        yield None if len(line) > longest else line.removeprefix(mark).decode("utf-8", "surrogateescape")
        mark = b""


def file_digest(path: str | Path, *, error: Refusal = InvalidParameter) -> str:
    """Return the SHA-256 of a regular file of any length, in hexadecimal."""
    found = hashlib.sha256()
    with open_plain(path, error=error) as file:
        while piece := file.read(_CHUNK):
            found.update(piece)
    return found.hexdigest()


def parse_json(document: str) -> Any:
    """Parse strict JSON: no duplicate name in an object, no NaN, no infinity.

    Raises:
        ValueError: If `document` is not strict JSON, is nested too deeply, or has numbers of thousands of digits.
    """
    try:
        return _DECODER.decode(document)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _check_unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        place = next(place for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"an object names its part {place + 1} a second time; each part is given once")
    return fields


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_check_unique_names, parse_constant=_reject_constant
)  # constructing a decoder takes a fifth of the time of a parse


def check_text(name: str, value: str, error: type[Exception]) -> str:
    """Return `value` if it is not too long and has no lone surrogates, which JSON and file names can contain."""
    if len(value) > _LONGEST:
        raise error(f"{name} contains a text of {len(value)} characters; give at most {_LONGEST}")
    try:
        value.encode()
    except UnicodeEncodeError as problem:
        raise error(f"{name} contains {value!r}, which is not Unicode text; give ids that UTF-8 can write") from problem
    return str(value)


def check_token(request_id: str | None) -> None:
    """Validate a request id: None, or printable text that a file, a list and a certificate can contain.

    Raises:
        InvalidRequest: If it is not valid.
    """
    if request_id is None:
        return
    if isinstance(request_id, str):
        check_text("request_id", request_id, InvalidRequest)
    if (
        not isinstance(request_id, str)
        or not request_id.strip()
        or not request_id.isprintable()
        or "\ufffd" in request_id
    ):
        raise InvalidRequest("must be a non-empty text of printable characters (a token)", request_id=request_id)
