"""Search bytes for texts and byte strings, in every form in which a file may hold them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from uuid import UUID

from ..errors import InvalidParameter

MOST_TOKENS = 10_000
_LINES = 1 << 14


class Needles:
    """Texts in all forms in which bytes may hold them: UTF-8, UTF-16, JSON escapes; a UUID also as its 16 bytes.

    Args:
        tokens: The texts.
        patterns: Further items to search for, each as its alternative byte strings; numbered after the texts.
    """

    def __init__(self, tokens: Sequence[str], patterns: Sequence[Collection[bytes]] = ()) -> None:
        if not 0 < len(tokens) + len(patterns) <= MOST_TOKENS:
            raise InvalidParameter(
                f"give between 1 and {MOST_TOKENS} items to look for, not {len(tokens) + len(patterns)}"
            )
        self.tokens = tuple(tokens)
        alternatives = [*map(_forms, tokens), *patterns]
        self._forms = [(number, form) for number, forms in enumerate(alternatives) for form in sorted(forms)]
        self._longest = max(len(form) for _, form in self._forms)
        self._number = len(alternatives)

    def __len__(self) -> int:
        return self._number

    def among(self, pieces: Iterable[bytes]) -> set[int]:
        """Return the numbers of the texts in these bytes, which may be cut anywhere."""
        found: set[int] = set()
        kept = b""
        for piece in pieces:
            kept = kept[-self._longest :] + piece
            found.update(number for number, form in self._forms if number not in found and form in kept)
        return found

    def find_in(self, values: Iterable[object]) -> set[int]:
        """Return the numbers of the texts in these values, each converted to text."""
        return self.among(_join_lines(values))


def _forms(token: str) -> set[bytes]:
    """Return the byte strings that may represent a text."""
    written = json.dumps(token)[1:-1]
    found = {form.encode(code) for form in (token, written) for code in ("utf-8", "utf-16-le", "utf-16-be")}
    with suppress(ValueError):
        found.add(UUID(token).bytes)
    return found


def _join_lines(values: Iterable[object]) -> Iterator[bytes]:
    """Yield the values as lines, many at a time."""
    texts = (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in values)
    while some := list(islice(texts, _LINES)):
        yield "\n".join([*some, ""]).encode("utf-8", "replace")
