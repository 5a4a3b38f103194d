"""OpenAPI 3.1 description of the API, generated from the types that validate bodies and form answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from noisygd_delete.features.schema import Schema
from noisygd_delete.reports.texts import language_codes
from noisygd_delete.version import __version__

from .access import Roles
from .fides import FIDES, FidesBody, Halt
from .inbox import Waiting
from .request_body import MOST_BODY, PublishBody, RequestBody
from .request_status import Course, InStore

_REFERENCE = "#/components/schemas/{name}"
_NAMING = ("delete", "subjects", "replace")  # at least one of them is not empty


class Fault(Struct, frozen=True):
    """A problem document (RFC 9457): a stable code, and one paragraph on what to do."""

    title: str
    status: int
    code: str
    detail: str


class Queue(Struct, frozen=True):
    """Pending, quarantined and refused requests: at most a thousand, quarantined ones first."""

    requests: list[Waiting]


class Decided(Struct, frozen=True):
    """The decision on a quarantined request that was passed to the writer."""

    request_id: str
    action: str


class Pending(Struct, frozen=True):
    """Number of pending edits in each store."""

    pending: dict[str, int]


class Papers(Struct, frozen=True):
    """The certificate of every store that erased rows for a request (see docs/certificate-format.md)."""

    request_id: str
    certificates: list[dict[str, Any]]


class Health(Struct, frozen=True):
    """State of the writer: ok or trouble."""

    status: str
    version: str


_TYPES = (RequestBody, PublishBody, FidesBody, Halt, Course, InStore, Fault, Pending, Papers, Health, Queue, Decided)
PROBLEM = "application/problem+json"
PROBLEMS = {  # code -> HTTP status
    "no-json": 400,
    "no-token": 401,
    "token-ended": 401,
    "role": 403,
    "unknown": 404,
    "too-slow": 408,
    "conflict": 409,
    "nothing-to-certify": 409,
    "too-long": 413,
    "content-type": 415,
    "unfit": 422,
    "quota": 429,
    "busy": 429,
    "full": 503,
    "store": 503,
}
_ERRORS = {
    400: "no JSON object, or one that names a part twice",
    401: "no token, or one that is not known here",
    403: "the token has another role",
    404: "no request with this id is known",
    408: "the body did not come in time",
    409: "the id was used for something else, or there is nothing to certify yet",
    413: f"longer than {MOST_BODY} bytes",
    415: "the body is no JSON by its content type",
    429: "too many requests of this token wait, or too many calls are under way",
    422: "does not fit: an unknown part, a value out of range, a row that is not of the schema",
    503: "not now: the inbox is full, or a store does not answer",
}


def description(schemas: Mapping[str, Schema]) -> dict[str, Any]:
    """Return the whole document; it contains the names of the stores and nothing else about them."""
    _, components = msgspec.json.schema_components(_TYPES, ref_template=_REFERENCE)
    request_body = components["RequestBody"]
    request_body["anyOf"] = [
        {"required": [name], "properties": {name: {"minItems" if name != "replace" else "minProperties": 1}}}
        for name in _NAMING
    ]
    components["PublishBody"]["properties"]["store"]["anyOf"] = [
        {"type": "string", "maxLength": 255, "description": f"one of {', '.join(schemas)}"},
        {"type": "null"},
    ]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "noisygd-delete",
            "version": __version__,
            "description": "Requests in, evidence out: erasures carried out in every store, published in batches, certified by the id of the request.",
        },
        "paths": _paths(),
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": f"roles: {', '.join(map(str, Roles))}"}
            },
        },
    }


class Call(NamedTuple):
    """A call of the API.

    Attributes:
        method: HTTP method.
        path: Path, with placeholders.
        name: Name of the handler.
        summary: Description.
        roles: Roles that may call it; none means everyone.
        answers: HTTP status -> type of the answer.
        errors: Possible error statuses.
        body: Type of the body, if there is one.
        needed: Whether the body is required.
        parameters: Query and header parameters.
    """

    method: str
    path: str
    name: str
    summary: str
    roles: tuple[Roles, ...] = ()
    answers: Mapping[int, Any] = {200: Health}
    errors: tuple[int, ...] = ()
    body: type[Struct] | None = None
    needed: bool = True
    parameters: Sequence[Mapping[str, Any]] = ()

    def described(self) -> dict[str, Any]:
        """Return the operation as OpenAPI describes it."""
        errors = (*self.errors, *((401, 403, 429, 503) if self.roles else ()))
        roles = f" (role {' or '.join(self.roles)})" if self.roles else ""
        found: dict[str, Any] = {"operationId": self.name, "summary": self.summary + roles}
        found["security"] = [{"token": []}] if self.roles else []
        if self.body is not None:
            content = {"application/json": {"schema": _schema(self.body)}}
            found["requestBody"] = {"required": self.needed, "content": content}
        found["responses"] = {
            str(status): {
                "description": "as requested" if status < 400 else _ERRORS[status],
                "content": {PROBLEM: {"schema": _schema(Fault)}} if kind is Fault else _content(kind),
            }
            for status, kind in sorted({**dict.fromkeys(errors, Fault), **self.answers}.items())
        }
        if self.name == "ask":  # calls that take the id in the answer
            links = {
                each: {"operationId": each, "parameters": {"token": "$response.body#/request_id"}}
                for each in ("look", "certificate")
            }
            for status in self.answers:
                found["responses"][str(status)]["links"] = links
        return found | ({"parameters": self.parameters} if self.parameters else {})


def _paths() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for call in CALLS:
        item = found.setdefault(call.path, {"parameters": [_TOKEN]} if "{token}" in call.path else {})
        item[call.method.lower()] = call.described()
    return found


def _in_query(name: str, text: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": text, "schema": schema}


def _content(kind: Any) -> dict[str, Any]:
    if isinstance(kind, tuple):
        return {name: part for one in kind for name, part in _content(one).items()}
    return (
        {kind: {"schema": {"type": "string"}}}
        if isinstance(kind, str)
        else {"application/json": {"schema": _schema(kind)}}
    )


def _schema(kind: Any) -> dict[str, Any]:
    if isinstance(kind, type) and issubclass(kind, Struct):
        return {"$ref": _REFERENCE.format(name=kind.__name__)}
    return dict(msgspec.json.schema(kind))


_TOKEN = {
    "name": "token",
    "in": "path",
    "required": True,
    "description": "the request's id",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[A-Za-z0-9][A-Za-z0-9._:@+=-]*$"},
}
_REPLY = [
    {"name": name, "in": "header", "required": False, "schema": {"type": "string", "maxLength": 8000}}
    for name in ("reply-to", "reply-to-token")
]
_PAGES = [
    _in_query(
        "page",
        "a hundred requests each; without it, a program gets all",
        {"type": "integer", "minimum": 1, "maximum": 10**9},
    ),
    _in_query("language", "of the page", {"type": "string", "enum": list(language_codes())}),
]
_BODY = (400, 408, 409, 413, 415, 422)  # error statuses of calls with a body
_OF_PEOPLE = "Every request, late and due first; a page for browsers, which give the token as the password"
CALLS = (
    Call("POST", "/requests", "ask", "Ask for an erasure or a correction", (Roles.REQUEST,), {200: Course, 202: Course}, _BODY, RequestBody),
    Call("GET", "/requests", "waiting", "Pending, quarantined and refused requests", (Roles.READ,), {200: Queue}),
    Call("POST", "/requests/{token}/retry", "retry", "Retry a quarantined request", (Roles.PUBLISH,), {202: Decided}, (409,)),
    Call("POST", "/requests/{token}/drop", "drop", "Drop a quarantined request", (Roles.PUBLISH,), {202: Decided}, (409,)),
    Call("GET", "/requests/{token}", "look", "The state of a request; of others' for the role read", (Roles.REQUEST, Roles.READ), {200: Course}, (404,)),
    Call("GET", "/requests/{token}/certificate", "certificate", "Its certificates: signed for the role sign", (Roles.READ, Roles.SIGN), {200: Papers}, (404, 409)),
    Call("GET", "/register", "register", _OF_PEOPLE, (Roles.READ,), {200: (list[dict[str, Any]], "text/html")}, (422,), parameters=_PAGES),
    Call("POST", "/publish", "publish", "Publish what waits", (Roles.PUBLISH,), {202: Pending}, _BODY, PublishBody, needed=False),
    Call("POST", FIDES, "fides", "The webhook of a Fides server, before an erasure", (Roles.REQUEST,), {200: Halt}, _BODY, FidesBody, parameters=_REPLY),
    Call("GET", "/metrics", "metrics", "Counts, as Prometheus reads them", (Roles.READ,), {200: "text/plain"}),
    Call("GET", "/live", "live", "Whether the process answers"),
    Call("GET", "/health", "health", "Whether the writer goes on", answers={200: Health, 503: Health}),
    Call("GET", "/openapi.json", "openapi", "This description", answers={200: dict[str, Any]}),
    Call("GET", "/", "page", "This description for people", answers={200: "text/html"}),
)  # fmt: skip


def page() -> str:
    """Return the description as one HTML page that loads nothing."""
    rows = "".join(
        f"<tr><td><code>{method.upper()} {path}</code></td><td>{operation['summary']}</td></tr>"
        for path, item in _paths().items()
        for method, operation in item.items()
        if method != "parameters"
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<title>noisygd-delete</title><style>body{font:16px/1.5 sans-serif;margin:2em auto;max-width:50em;padding:0 1em}"
        "td{padding:.3em 1em .3em 0;vertical-align:top;overflow-wrap:anywhere}</style>"
        f"<h1>noisygd-delete {__version__}</h1><p>Requests in, evidence out. Send <code>Authorization: Bearer TOKEN</code>; what each call "
        f'takes and answers is in <a href="openapi.json">openapi.json</a>.</p><table>{rows}</table></html>'
    )


PAGE = page()
