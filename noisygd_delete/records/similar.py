"""Names that look alike: one person's id as different programs write it.

`fold_name` maps spellings of one name to one text: case, Unicode form, invisible characters, white space, quotes,
leading zeros, a decimal `.0`, separators within numbers, phone numbers and UUIDs. A folded name is only a hint for
people; no request is carried out by it.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from unicodedata import category, normalize

from .values import Id

_QUOTES = {"b'": "'", 'b"': '"', "'": "'", '"': '"', '="': '"', "“": "”", "‘": "’", "«": "»"}
_STROKES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-") | dict.fromkeys(map(ord, "‘’‛`´ʼ′＇"), "'")
_UUID = re.compile(r"(?:urn:uuid:)?\{?([0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})\}?")
_PHONE = re.compile(r"(?:tel:)?\+?[0-9()./-]{7,40}")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:[,.'_][0-9]{3})+")
_NUMBER = re.compile(r"([+-]?)0*([0-9]+)(?:[.,]0*)?")
_POWER = re.compile(r"[0-9]{1,40}(?:[.,][0-9]{1,40})?e\+?[0-9]{1,2}")
_LEADING_ZEROS = re.compile(r"(?<![0-9.,])0+(?=[0-9])")
_LARGEST_POWER = 40


def fold_name(name: Id) -> str:
    """Return one text for all spellings of a name that look alike."""
    text = normalize("NFKC", normalize("NFKC", str(name)).casefold())
    if text.isascii() and text.isprintable():
        text = text.replace(" ", "")
    else:
        text = "".join(letter for letter in text.translate(_STROKES) if not _is_invisible(letter))
    for opening, closing in _QUOTES.items():
        if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening) + len(closing):
            text = text[len(opening) : -len(closing)]
            break
    text = text.removeprefix("'")  # the text marker of spreadsheets
    if found := _UUID.fullmatch(text):
        return found[1].replace("-", "")
    if _THOUSANDS.fullmatch(text):
        text = re.sub("[,.'_]", "", text)
    if _POWER.fullmatch(text):
        text = _written_out(text)
    if found := _NUMBER.fullmatch(text):
        return ("-" if found[1] == "-" else "") + found[2]
    if _PHONE.fullmatch(text) and not text.startswith("-"):
        return re.sub("[^0-9]", "", text.replace("(0)", "")).lstrip("0") or "0"
    return _LEADING_ZEROS.sub("", text)


def _is_invisible(letter: str) -> bool:
    """Return whether a character is invisible: white space, controls, format characters and variation selectors."""
    return letter.isspace() or category(letter) in ("Cf", "Cc", "Zs") or letter in _UNSEEN


_UNSEEN = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0x180B, 0x180F)))
)


def _written_out(text: str) -> str:
    """Expand a power of ten to its digits, as 1.23e+5 to 123000."""
    try:
        value = Decimal(text.replace(",", "."))
    except InvalidOperation:
        return text
    return format(value, "f") if value.adjusted() <= _LARGEST_POWER else text


# Letters of an ASCII name that folding may remove, apart from zeros; `Names.has_similar` compares these first.
ADDED = ("", "b", "tel", "urnuuid")
POWERS = tuple(f"e{power}" for power in range(_LARGEST_POWER + 1))  # of a number
