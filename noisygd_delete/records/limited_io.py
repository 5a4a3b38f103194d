"""What comes from outside, read within bounds.

Guarantee: only plain files are opened (a device or a pipe may never end), no more than a stated number of bytes is held, a line
ends at \\n or \\r\\n and nowhere else, and JSON has no name twice. Everything else is one error that says what to do.
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

KEY = 1 << 16  # bytes of a key or of a passphrase
SCHEMA = 1 << 24
LIST = 1 << 26  # of ids, tokens or erased ids: over a million names
DOCUMENT = 1 << 26  # a certificate with its ledger, the answer of an audit
LINE = 1 << 20  # one request of a stream
_CHUNK = 1 << 20
_LONGEST = 1000  # characters of an id, a subject or a request id

Refusal = type[NoisyGDDeleteError]


def open_plain(path: str | Path, *, error: Refusal = InvalidParameter) -> BinaryIO:
    """A plain file, open for reading.

    Raises:
        error: there is none, it may not be read, or it is a folder, a device or a pipe.
    """
    try:
        # a pipe that nobody writes to would keep an ordinary open waiting for ever
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as problem:
        raise error(f"{path}: cannot be read ({problem.strerror}); check the name and the permissions") from problem
    except ValueError as problem:  # a name with a zero byte, or one that this system cannot write
        raise error(f"{str(path)!r}: not the name of a file") from problem
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise error(f"{path}: not a plain file; a folder, a device or a pipe is not read. Give the name of a file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_file(path: str | Path, limit: int, *, error: Refusal = InvalidParameter) -> bytes:
    """All bytes of a plain file that has at most `limit` of them."""
    with open_plain(path, error=error) as file:
        return read_limited(file, limit, str(path), error=error)


def read_key(path: str | Path, length: int, what: str) -> bytes:
    """The `length` bytes that a file holds as hexadecimal digits; `what` names such a file in an error."""
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
    """The rest of an open file, or of standard input, if that is at most `limit` bytes."""
    try:
        data = file.read(limit + 1)
    except OSError as problem:
        raise error(f"{source}: cannot be read ({problem.strerror})") from problem
    if len(data) > limit:
        raise error(f"{source}: longer than {limit} bytes, so it is not what is expected here; check the name")
    return data


def read_text(path: str | Path, limit: int, *, error: Refusal = InvalidParameter) -> str:
    """A plain file as UTF-8 text, a byte order mark taken off, line ends as they are."""
    return decode_text(read_file(path, limit, error=error), str(path), error=error)


def decode_text(data: bytes, source: str, *, error: Refusal = InvalidParameter) -> str:
    """Bytes as UTF-8 text. The message names the byte's place and never quotes what stands there."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(f"{source}: not UTF-8 text (byte {problem.start}); save it as UTF-8") from None


def split_lines(text: str) -> list[str]:
    """The lines of a text without their ends. `str.splitlines` would end one at U+2028 too, inside somebody's id."""
    return [row.removesuffix("\r") for row in text.split("\n")]


def iterate_lines(file: BinaryIO, longest: int = LINE, *, error: Refusal = InvalidParameter) -> Iterator[str | None]:
    """Line after line as it arrives, without its end; None in the place of one longer than `longest` bytes.

    A byte that is no UTF-8 becomes a lone surrogate, so that such a line is one bad line and not the end of the stream.

    Raises:
        error: a line that does not end within `LIST` bytes: these are no lines.
    """
    mark = b"\xef\xbb\xbf"
    while piece := file.readline(longest + 2):  # with its \r\n
        line, read = piece.removesuffix(b"\n").removesuffix(b"\r"), len(piece)
        while not piece.endswith(b"\n") and (piece := file.readline(_CHUNK)):  # what is left of one that is too long
            read += len(piece)
            if read > LIST:
                raise error(f"a line of more than {LIST} bytes without an end; these are no lines of text")
        yield None if len(line) > longest else line.removeprefix(mark).decode("utf-8", "surrogateescape")
        mark = b""


def file_digest(path: str | Path, *, error: Refusal = InvalidParameter) -> str:
    """SHA-256 of a plain file of any length, in hexadecimal digits."""
    found = hashlib.sha256()
    with open_plain(path, error=error) as file:
        while piece := file.read(_CHUNK):
            found.update(piece)
    return found.hexdigest()


def parse_json(document: str) -> Any:
    """JSON as the standard has it: no name twice in an object, no NaN, no infinity.

    Raises:
        ValueError: it is not; nesting beyond reason and numbers of thousands of digits included.
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
)  # to make one takes a fifth of a parse


def check_text(name: str, value: str, error: type[Exception]) -> str:
    """`value`, if a file and a message can hold it: half a surrogate pair, which JSON and file names can smuggle in, cannot
    be written."""
    if len(value) > _LONGEST:
        raise error(f"{name} contains a text of {len(value)} characters; give at most {_LONGEST}")
    try:
        value.encode()
    except UnicodeEncodeError as problem:
        raise error(f"{name} contains {value!r}, which is not Unicode text; give ids that UTF-8 can write") from problem
    return str(value)


def check_token(request_id: str | None) -> None:
    """Raise `InvalidRequest` unless it is text that a file and a certificate can hold and that forges no line of a list, or None."""
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
