"""The register as a page for browsers: open /register and give a token as the password.

A browser resends a password automatically, also with requests that another site triggers. So it is accepted for this
page only, which changes nothing; every other call requires a bearer token.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.requests import Request

from noisygd_delete.reports.html import content_security_policy
from noisygd_delete.reports.texts import ORIGINAL, language_codes

from .request_body import Unfit

ASKS = 'Basic realm="noisygd-delete", charset="UTF-8"'  # makes a browser ask for a password


class RegisterQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Page and language of the register; without a page, JSON answers contain every request."""

    page: Annotated[int, Meta(ge=1, le=10**9)] | UnsetType = UNSET  # not None, as "null" would be parsed as None
    language: str = ORIGINAL


def parse_query(request: Request) -> RegisterQuery:
    """Return the query of an address.

    Raises:
        Unfit: If it has other or repeated parameters, or values out of range.
    """
    given = request.query_params
    try:
        found = msgspec.convert(dict(given), RegisterQuery, strict=False)
    except msgspec.ValidationError as error:
        raise Unfit(f"{error}; see /openapi.json") from None
    if found.language not in language_codes() or len(given.multi_items()) != len(dict(given)):
        raise Unfit(f"give `page` and `language` once each at most; language: {' or '.join(language_codes())}")
    return found


def render_register(request: Request) -> bool:
    """Return whether the request accepts HTML rather than JSON."""
    kinds = {part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")}
    return "text/html" in kinds and "application/json" not in kinds


def password(request: Request) -> str | None:
    """Return the token that a browser sends as a password, with any user name; None without one."""
    kind, _, sent = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return None
    try:
        _, _, found = base64.b64decode(sent.strip(), validate=True).decode("utf-8").partition(":")
    except (binascii.Error, ValueError):
        return None
    return found


def headers() -> Mapping[str, str]:
    """Return the page's headers: no loading, framing, caching or referrer."""
    return {
        "Cache-Control": "no-store",
        "Content-Security-Policy": f"{content_security_policy()}; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
