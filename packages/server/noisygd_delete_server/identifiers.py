"""Identifiers as hashed by California's Delete Request and Opt-out Platform: SHA-256 of the normalised UTF-8 text.

Rules and worked examples: privacy.ca.gov, DROP technical specifications 1.2.0 (2 July 2026), "Working with the data".
In names the platform transliterates "supported Greek and Cyrillic characters" and folds "supported Latin characters"
by tables that are not public. This module removes accents, and the operator may give replacements of further letters;
a name that still has a letter beyond ASCII is not hashed. Callers must report this, as no list can match that person.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial

from noisygd_delete.errors import Word

Standard = Callable[[str], str | None]
NO_LETTERS: Mapping[str, str] = {}

_DIGITS = frozenset("0123456789")
_HEXADECIMAL = _DIGITS | frozenset("abcdef")
_ZIP_PLUS_4 = re.compile(r"(\d{5})-\d{4}", re.ASCII)
_DAY = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})", re.ASCII)


class Lists(Word):
    """The kinds of deletion lists, as spelled in the platform's file names."""

    EMAIL = "Email"
    PHONE = "Phone"
    MAID = "MAID"
    CTVID = "CTVID"
    NDZ = "NDZ"
    NAME_VIN = "NameVIN"


def email(text: str) -> str | None:
    """Remove white space and convert to lower case; keep dots and plus signs."""
    return "".join(text.split()).lower() or None


def phone(text: str) -> str | None:
    """Return the last ten digits."""
    return "".join(one for one in text if one in _DIGITS)[-10:] or None


def person_name(text: str, letters: Mapping[str, str] = NO_LETTERS) -> str | None:
    """Return letters and digits in lower case without accents; None if a letter beyond ASCII has no replacement.

    Args:
        text: The name.
        letters: Replacements of letters in lower case and composed form; looked up before and after removing an accent.
    """
    found = []
    for one in unicodedata.normalize("NFKC", text).lower():
        if one in letters:
            found.append(letters[one])
            continue
        for part in unicodedata.normalize("NFKD", one).lower():
            if not part.isalnum():  # for example an accent, a space or a hyphen
                continue
            if part not in letters and not part.isascii():
                return None
            found.append(letters.get(part, part))
    return "".join(found) or None


def check_letters(letters: Mapping[str, str]) -> None:
    """Check a table of replacements of letters.

    Raises:
        ValueError: If an entry is not valid.
    """
    for letter, spelled in letters.items():
        if len(letter) != 1 or not letter.isalpha() or unicodedata.normalize("NFKC", letter).lower() != letter:
            raise ValueError(f"{letter!r} in [letters] is not one letter in lower case")
        if letter.isascii():
            raise ValueError(f"{letter!r} in [letters] is ASCII, and stays as it is")
        if spelled != letter and not re.fullmatch(r"[a-z0-9]{0,8}", spelled, re.ASCII):
            raise ValueError(f"{letter!r} becomes letters a to z and digits, eight at most, or stays as it is")


def birthday(text: str) -> str | None:
    """Return a date as YYYYMMDD, from this form or from 1985-07-04."""
    parts = _DAY.fullmatch(text.strip())
    if parts is None:
        return None
    try:
        return date(*map(int, parts.groups())).strftime("%Y%m%d").rjust(8, "0")
    except ValueError:
        return None


def postal_code(text: str) -> str | None:
    """Return the first five letters and digits in lower case, without the last four of ZIP+4 and leading zeros."""
    plus_4 = _ZIP_PLUS_4.fullmatch(text.strip())
    return _ascii(plus_4[1] if plus_4 else text).lstrip("0")[:5] or None


def advertising_id(text: str) -> str | None:
    """Return the 32 hexadecimal digits; None if there are more or fewer."""
    found = "".join(one for one in text.lower() if one in _HEXADECIMAL)
    return found if len(found) == 32 else None


def television_id(text: str) -> str | None:
    """Return the 8 to 32 letters and digits; None if there are more or fewer."""
    found = _ascii(text)
    return found if 8 <= len(found) <= 32 else None


def vehicle_number(text: str) -> str | None:
    """Return the 17 ASCII letters and digits in lower case; None if there are more or fewer."""
    found = _ascii(text)
    return found if len(found) == 17 else None


def _ascii(text: str) -> str:
    return "".join(one for one in text.lower() if one.isascii() and one.isalnum())


FIELDS: Mapping[Lists, tuple[Standard, ...]] = {
    Lists.EMAIL: (email,),
    Lists.PHONE: (phone,),
    Lists.MAID: (advertising_id,),
    Lists.CTVID: (television_id,),
    Lists.NDZ: (person_name, person_name, birthday, postal_code),
    Lists.NAME_VIN: (person_name, person_name, vehicle_number),
}


def hash_identifier(kind: Lists, values: Sequence[str], letters: Mapping[str, str] = NO_LETTERS) -> bytes | None:
    """Return the 32-byte hash that a list of this kind has for a person; None if a value is not valid.

    A list of several fields hashes the concatenated Base64 hashes of the fields.

    Args:
        kind: Kind of the list.
        values: Values of its fields, in order.
        letters: Replacements of letters (`person_name`).
    """
    rules = [partial(rule, letters=letters) if rule is person_name else rule for rule in FIELDS[kind]]
    standard = [rule(value) for rule, value in zip(rules, values, strict=True)]
    if None in standard:
        return None
    each = [hashlib.sha256(str(one).encode()).digest() for one in standard]
    return each[0] if len(each) == 1 else hashlib.sha256(b"".join(map(base64.b64encode, each))).digest()
