"""The register as a page for people: whoever may read it opens /register in a browser, and gives a token as the password.

A browser that asks for a password sends it again by itself, with whatever another site makes it send. So it counts for this page alone,
which changes nothing; every other call takes a token as programs send it.
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
    """Which page of the register, in which language; without a page, a program gets every request."""

    page: Annotated[int, Meta(ge=1, le=10**9)] | UnsetType = UNSET  # not None, which "null" would be read as
    language: str = ORIGINAL


def parse_query(request: Request) -> RegisterQuery:
    """What an address asks for behind its question mark.

    Raises:
        Unfit: something else.
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
    """Whether a page is asked for, and not JSON."""
    kinds = {part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")}
    return "text/html" in kinds and "application/json" not in kinds


def password(request: Request) -> str | None:
    """The token that a browser sends as a password, whatever the user's name."""
    kind, _, sent = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return None
    try:
        _, _, found = base64.b64decode(sent.strip(), validate=True).decode("utf-8").partition(":")
    except (binascii.Error, ValueError):
        return None
    return found


def headers() -> Mapping[str, str]:
    """What goes with the page: nothing may be loaded, framed, kept or told to another site."""
    return {
        "Cache-Control": "no-store",
        "Content-Security-Policy": f"{content_security_policy()}; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
