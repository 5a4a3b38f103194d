"""Texts that a file and a message can hold: ids, subjects, request ids."""

from __future__ import annotations

from ..errors import InvalidRequest

_LONGEST = 1000  # characters of an id


def text(name: str, value: str, error: type[Exception]) -> str:
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
    """Raise `InvalidRequest` unless it is a text that a file can hold, or None."""
    if request_id is None:
        return
    if not isinstance(request_id, str) or not request_id.strip():
        raise InvalidRequest(f"request_id={request_id!r} must be a non-empty string (a random token)")
    text("request_id", request_id, InvalidRequest)
