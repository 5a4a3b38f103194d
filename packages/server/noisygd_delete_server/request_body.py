"""Types of request bodies, which validate input and generate the API's description.

Only the form is checked here. Whether an id is in the table is decided by the writer, since other requests may come
first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from noisygd_delete_compliance import Channels, RequestCase, Rights

from noisygd_delete.curator.stream.parsing import from_json
from noisygd_delete.dates import parse_datetime
from noisygd_delete.errors import InvalidRequest, NoisyGDDeleteError
from noisygd_delete.features.schema import Schema
from noisygd_delete.records import EditRequest, limited_io

MOST_BODY = 1 << 20  # most bytes of one request
TOKEN = r"^[A-Za-z0-9][A-Za-z0-9._:@+=-]{0,199}$"  # an id that needs no escaping in an address
_MOST_NAMES = 10_000  # most names in one request
_CLOCKS = timedelta(minutes=5)  # by which two clocks may differ

_Text = Annotated[str, Meta(min_length=1, max_length=1000)]
_Name = _Text | Annotated[int, Meta(ge=-(2**53), le=2**53)]
_Names = Annotated[list[_Name], Meta(max_length=_MOST_NAMES)]
_Token = Annotated[
    str, Meta(pattern=TOKEN, description="a random id of this request; sent again, it is answered as before")
]
_Value = str | int | float | bool | None
_Row = dict[str, _Value]


class RequestBody(Struct, forbid_unknown_fields=True, frozen=True):
    """A request to erase or correct records. At least one of `delete`, `subjects` and `replace` is not empty."""

    request_id: _Token | msgspec.UnsetType = msgspec.UNSET
    delete: Annotated[_Names, Meta(description="ids of records to erase")] = []
    subjects: Annotated[_Names, Meta(description="persons all of whose records are erased")] = []
    replace: Annotated[
        dict[_Text, _Row], Meta(max_length=1000, description="id -> its corrected row, by the columns of the schema")
    ] = {}
    received: Annotated[
        str | None,
        Meta(
            description="when it came in, ISO 8601 with the zone of that place; default: now",
            extra_json_schema={"format": "date-time"},
        ),
    ] = None
    channel: Annotated[Channels | None, Meta(description="how it came in")] = None
    identity_checked: Annotated[bool | None, Meta(description="whether the desk made sure who asks")] = None


class PublishBody(Struct, forbid_unknown_fields=True, frozen=True):
    """A request to publish pending edits, in every store or in the one named."""

    store: Annotated[str, Meta(max_length=255)] | None = None


def parse_as(kind: type[Any], body: bytes) -> Any:
    """Parse a JSON body as one of these types.

    Raises:
        InvalidRequest: If it does not fit; the message quotes nothing of the body.
    """
    try:
        fields = limited_io.parse_json(body.decode("utf-8"))
    except ValueError:
        raise InvalidRequest("the body is not a JSON object in UTF-8 that names each part once") from None
    try:
        found = msgspec.convert(fields, kind, strict=True)
    except msgspec.ValidationError as error:
        raise Unfit(f"{error}; see /openapi.json") from None
    token = getattr(found, "request_id", None)
    if isinstance(token, str) and not token.isprintable():  # the pattern accepts a trailing line end
        raise Unfit("request_id holds a line end")
    return found


class Unfit(InvalidRequest):
    """The JSON does not fit the API, or asks for what no table can do."""


def contents(body: RequestBody) -> dict[str, Any]:
    """Return the contents in canonical form: ids as text, sorted and unique."""
    return {
        "delete": sorted(set(map(str, body.delete))),
        "subjects": sorted(set(map(str, body.subjects))),
        "replace": dict(sorted(body.replace.items())),
    }


def check_contents(body: RequestBody, schemas: Mapping[str, Schema]) -> dict[str, Any]:
    """Return ids, subjects and replacements of a request in their stored form, checked against the schema of every store.

    Raises:
        Unfit: If they are empty, overlap or do not fit, or the time of receipt is not valid; the message quotes nothing of the request.
    """
    found = contents(body)
    if not any(found.values()):
        raise Unfit("the request is empty; name something in delete, subjects or replace")
    if set(found["delete"]) & set(found["replace"]):
        raise Unfit("an id is in both delete and replace; name it in one of them")
    try:
        for schema in schemas.values():
            to_request("0", found, schema)
        if body.received is not None:
            came = datetime.fromisoformat(parse_datetime("received", body.received, utc=False))
            if came > datetime.now(UTC) + _CLOCKS:
                raise InvalidRequest("received is in the future; give the time of receipt")
    except NoisyGDDeleteError as error:
        reason = str(error).removeprefix("line 1: ").removeprefix("line 1, ")
        raise Unfit(_quoteless(reason, found, body.received)) from None
    return found


def to_request(token: str, found: Mapping[str, Any], schema: Schema) -> EditRequest:
    """Return the request that a store executes."""
    parts = {name: part for name, part in found.items() if part}
    return from_json(json.dumps({"request_id": token, **parts}), 1, schema)


def case_of(fields: Mapping[str, Any]) -> RequestCase:
    """Return the facts of an accepted request for the register."""
    body = fields["contents"]
    rectifies = body["replace"] and not (body["delete"] or body["subjects"])
    return RequestCase(
        right=Rights.RECTIFICATION if rectifies else Rights.ERASURE,
        channel=fields.get("channel"),
        received=fields["received"],
        identity_checked=fields.get("identity_checked"),
        publish_by=fields.get("publish_by"),
        requested_by=fields.get("by"),
    )


def local_now() -> str:
    """Return the current time with the local time zone, to the second."""
    return datetime.now().astimezone().replace(microsecond=0).isoformat()


def _quoteless(reason: str, found: Mapping[str, Any], received: str | None) -> str:
    """Return an error message without values of the request, as answers may be logged elsewhere."""
    for name in (*found["delete"], *found["subjects"], *found["replace"], *([received] if received else [])):
        reason = reason.replace(repr(name), "…")
    return reason
