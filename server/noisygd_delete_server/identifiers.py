"""Identifiers as California's Delete Request and Opt-out Platform hashes them: standardised, SHA-256 of the UTF-8, compared as bytes.

Rules and worked examples: privacy.ca.gov, DROP technical specifications 1.2.0 (2 July 2026), "Working with the data". Of names the platform
transliterates "supported Greek and Cyrillic characters" and folds "supported Latin characters" by tables that are not public. Accents are
taken off here, and the operator may state what becomes of further letters; a name that then still has one beyond ASCII is not hashed. Whoever
calls has to say so: no list finds that person.
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
    """The kinds of deletion lists, as the platform spells them in the names of its files."""

    EMAIL = "Email"
    PHONE = "Phone"
    MAID = "MAID"
    CTVID = "CTVID"
    NDZ = "NDZ"
    NAME_VIN = "NameVIN"


def email(text: str) -> str | None:
    """No white space, lower case; dots and plus signs stay."""
    return "".join(text.split()).lower() or None


def phone(text: str) -> str | None:
    """Digits alone, the last ten of them."""
    return "".join(one for one in text if one in _DIGITS)[-10:] or None


def person_name(text: str, letters: Mapping[str, str] = NO_LETTERS) -> str | None:
    """Letters and digits in lower case without accents; None where a letter beyond ASCII is left that nobody stated.

    letters   what stands for a letter, itself in lower case and composed; it is looked up before an accent is taken off, and after
    """
    found = []
    for one in unicodedata.normalize("NFKC", text).lower():
        if one in letters:
            found.append(letters[one])
            continue
        for part in unicodedata.normalize("NFKD", one).lower():
            if not part.isalnum():  # an accent, a space, a hyphen
                continue
            if part not in letters and not part.isascii():
                return None
            found.append(letters.get(part, part))
    return "".join(found) or None


def check_letters(letters: Mapping[str, str]) -> None:
    """Whether a table of letters can be one.

    Raises:
        ValueError: it can not, and why.
    """
    for letter, spelled in letters.items():
        if len(letter) != 1 or not letter.isalpha() or unicodedata.normalize("NFKC", letter).lower() != letter:
            raise ValueError(f"{letter!r} in [letters] is not one letter in lower case")
        if letter.isascii():
            raise ValueError(f"{letter!r} in [letters] is ASCII, and stays as it is")
        if spelled != letter and not re.fullmatch(r"[a-z0-9]{0,8}", spelled, re.ASCII):
            raise ValueError(f"{letter!r} becomes letters a to z and digits, eight at most, or stays as it is")


def birthday(text: str) -> str | None:
    """YYYYMMDD, from that or from 1985-07-04."""
    parts = _DAY.fullmatch(text.strip())
    if parts is None:
        return None
    try:
        return date(*map(int, parts.groups())).strftime("%Y%m%d").rjust(8, "0")
    except ValueError:
        return None


def postal_code(text: str) -> str | None:
    """Letters and digits in lower case without ZIP+4's last four and without leading zeros; the first five."""
    plus_4 = _ZIP_PLUS_4.fullmatch(text.strip())
    return _ascii(plus_4[1] if plus_4 else text).lstrip("0")[:5] or None


def advertising_id(text: str) -> str | None:
    """32 hexadecimal digits."""
    found = "".join(one for one in text.lower() if one in _HEXADECIMAL)
    return found if len(found) == 32 else None


def television_id(text: str) -> str | None:
    """8 to 32 letters and digits."""
    found = _ascii(text)
    return found if 8 <= len(found) <= 32 else None


def vehicle_number(text: str) -> str | None:
    """17 letters and digits."""
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
    """The 32 bytes of the hash that a list of this kind has for a person with these values; None where one of them is none of its kind.

    A list of several fields hashes the fields' hashes, in Base64, one behind the other. `letters`: see `person_name`.
    """
    rules = [partial(rule, letters=letters) if rule is person_name else rule for rule in FIELDS[kind]]
    standard = [rule(value) for rule, value in zip(rules, values, strict=True)]
    if None in standard:
        return None
    each = [hashlib.sha256(str(one).encode()).digest() for one in standard]
    return each[0] if len(each) == 1 else hashlib.sha256(b"".join(map(base64.b64encode, each))).digest()
