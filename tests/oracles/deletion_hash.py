"""What California's platform hashes, written from its published rules with patterns alone. Imports nothing of the package."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from binascii import b2a_base64


def standardised(field: str, text: str, letters: dict[str, str] | None = None) -> str | None:
    """A field's text as it is hashed; None where it is none of its kind, or has a letter of which `letters` says nothing."""
    lower = text.lower()
    if field == "email":
        found = re.sub(r"\s+", "", text).lower()
    elif field == "phone":
        found = re.sub(r"[^0-9]", "", text)[-10:]
    elif field == "name":
        found = _spelled(text, letters or {})
        if found is None:
            return None
    elif field == "dob":
        found = re.sub(r"-", "", text.strip())
    elif field == "zip":
        kept = re.sub(r"[^a-z0-9]", "", re.sub(r"^\s*([0-9]{5})-[0-9]{4}\s*$", r"\1", lower))
        found = re.sub(r"^0+", "", kept)[:5]
    else:
        allowed, least, most = {"maid": ("a-f0-9", 32, 32), "ctvid": ("a-z0-9", 8, 32), "vin": ("a-z0-9", 17, 17)}[
            field
        ]
        found = re.sub(f"[^{allowed}]", "", lower)
        if not least <= len(found) <= most:
            return None
    return found or None


def _spelled(text: str, letters: dict[str, str]) -> str | None:
    """Stated letters stand for themselves first, composed; then without accents; whatever else is beyond ASCII has no spelling."""
    stated = re.compile("([" + re.escape("".join(letters)) + "])") if letters else re.compile("(?!)()")
    found = []
    for place, piece in enumerate(stated.split(unicodedata.normalize("NFKC", text).lower())):
        if place % 2:
            found.append(letters[piece])
            continue
        plain = unicodedata.normalize("NFKD", piece).lower()
        bare = re.sub(r"[\W_]", "", "".join(one for one in plain if not unicodedata.category(one).startswith("M")))
        if re.search(r"[^a-z0-9]", stated.sub("", bare)):
            return None
        found.append(stated.sub(lambda match: letters[match[1]], bare))
    return "".join(found)


def hashed(*standard: str) -> str:
    """The hash of a list's row, in Base64; of several fields the hash of their hashes."""
    each = [b2a_base64(hashlib.sha256(one.encode("utf-8")).digest(), newline=False) for one in standard]
    last = each[0] if len(each) == 1 else b2a_base64(hashlib.sha256(b"".join(each)).digest(), newline=False)
    return last.decode()
