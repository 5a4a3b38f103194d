"""The HTTP API. Handlers read, or add to the inbox; only the writer changes a store.

Every answer is JSON; an error has one paragraph of explanation. A body is read with a limit on size and time. Addresses
contain request ids, so they are not logged: logs count answers only.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from noisygd_delete.errors import InvalidParameter, InvalidRequest, StoreError, StoreLocked
from noisygd_delete.version import __version__

from .access import Caller, Roles
from .describe import CALLS, PAGE, PROBLEM, PROBLEMS, Call, description
from .fides import from_fides
from .inbox import Full, TooMany
from .pages import ASKS, headers, parse_query, password, render_register
from .request_body import MOST_BODY, PublishBody, RequestBody, Unfit, parse_as
from .request_status import Course
from .service import HERE, Conflict, Service
from .tracing import correlation, trace_span
from .writer import describe_failure

_BODY_SECONDS = 30.0
_AT_ONCE = 50  # concurrent calls with one token
_PLAIN = {404: "no-such-call", 405: "no-such-method"}
_JSON = "application/json"

log = logging.getLogger("noisygd_delete_server")

Handler = Callable[[Request], Awaitable[Response]]


def application(service: Service, *, run: bool = True) -> Starlette:
    """Return the ASGI application of a service, which runs during the application's lifespan.

    Args:
        service: The service.
        run: Whether to start its threads; a test may run their steps itself.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        if run:
            service.start()
        try:
            yield
        finally:
            await run_in_threadpool(service.stop)

    api = _Api(service)
    routes = [Route(call.path, api.answering(call), methods=[call.method]) for call in CALLS]
    handlers: dict[Any, Any] = {HTTPException: _error_response, Exception: _fault}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False
    app.add_middleware(_Counted, counts=service.answers)
    return app


class Refusal(HTTPException):
    """An error response with a stable code of `PROBLEMS` and a text that may change."""

    def __init__(self, code: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(PROBLEMS[code], detail, headers)
        self.code = code


class _Api:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._under_way: Counter[str] = Counter()  # concurrent calls by caller

    def answering(self, call: Call) -> Handler:
        """Return the handler of a call, restricted to callers with one of its roles.

        Browsers may request the register with a password (`pages`).
        """
        handler: Handler = getattr(self, call.name)
        roles, page = call.roles, call.path == HERE
        if not roles:
            return handler

        async def checked(request: Request) -> Response:
            kind, _, sent = request.headers.get("authorization", "").partition(" ")
            token, asks, how = sent.strip() if kind.lower() == "bearer" else None, "Bearer", "Authorization: Bearer ..."
            if page and render_register(request):
                token, asks, how = token or password(request), ASKS, "as the password, with any name"
            caller = self._service.tokens.caller(token)
            if caller is None:
                raise Refusal("no-token", f"give a token: {how}", {"WWW-Authenticate": asks})
            if caller.ended:
                raise Refusal(
                    "token-ended", "the days of this token are over; ask for a new one", {"WWW-Authenticate": asks}
                )
            if not caller.roles & set(roles):
                raise Refusal("role", f"this token is not good for that; it takes the role {' or '.join(roles)}")
            if self._under_way[caller.name] >= _AT_ONCE:
                raise Refusal(
                    "busy", "too many calls with this token are under way; wait for some", {"Retry-After": "1"}
                )
            request.state.caller = caller
            self._under_way[caller.name] += 1
            try:
                return await handler(request)
            except Unfit as error:
                raise Refusal("unfit", str(error)) from None
            except InvalidRequest as error:
                raise Refusal("no-json", str(error)) from None
            except Conflict as error:
                raise Refusal("conflict", str(error)) from None
            except TooMany as error:
                raise Refusal("quota", str(error), {"Retry-After": "60"}) from None
            except (Full, StoreLocked) as error:
                raise Refusal("full", str(error), {"Retry-After": "5"}) from None
            except StoreError as error:
                log.error("a store did not answer: %s", describe_failure(error))
                text = "a store does not answer now; its operator was notified"
                raise Refusal("store", text, {"Retry-After": "30"}) from None
            finally:
                self._under_way[caller.name] -= 1

        return checked

    async def ask(self, request: Request) -> Response:
        body = parse_as(RequestBody, await _body(request))
        if body.request_id is msgspec.UNSET:
            body = msgspec.structs.replace(body, request_id=secrets.token_hex(16))
        answer = await run_in_threadpool(self._taken, request, body.request_id, body, None)
        done = answer.state not in ("accepted", "quarantined", "pending", "open")
        return _json(answer, 200 if done else 202, {"Location": f"/requests/{body.request_id}"})

    def _taken(self, request: Request, token: str, body: RequestBody, reply: dict[str, str] | None) -> Course:
        """Accept a request and return its status.

        Raises:
            Conflict: If its id belongs to another caller's request, and this caller may not read that.
        """
        caller = _caller(request)
        if Roles.READ not in caller.roles and self._service.known.requested_by(token) not in (None, caller.name):
            raise Conflict("this request id was used before; give every request a random id of its own")
        return self._service.take(token, body, reply, by=caller.name)

    async def look(self, request: Request) -> Response:
        caller = _caller(request)
        by = None if Roles.READ in caller.roles else caller.name
        answer = await run_in_threadpool(self._service.answer, request.path_params["token"], by)
        return _json(answer) if answer is not None else _nobody()

    async def waiting(self, _: Request) -> Response:
        return _json({"requests": await run_in_threadpool(self._service.waiting)})

    async def decide(self, request: Request) -> Response:
        what = request.url.path.rpartition("/")[2]
        await run_in_threadpool(self._service.decide, request.path_params["token"], what)
        return _json({"request_id": request.path_params["token"], "action": what}, 202)

    retry = drop = decide

    async def certificate(self, request: Request) -> Response:
        signs = Roles.SIGN in _caller(request).roles
        try:
            papers = await run_in_threadpool(self._service.certificates, request.path_params["token"], signs)
        except InvalidParameter as error:
            raise Refusal("nothing-to-certify", str(error)) from None
        return _json(papers) if papers is not None else _nobody()

    async def register(self, request: Request) -> Response:
        body = parse_query(request)
        if render_register(request):
            text = await run_in_threadpool(self._service.register_page, body.page or 1, body.language)
            return HTMLResponse(text, headers=headers())
        return _json(await run_in_threadpool(self._service.register, body.page or None))

    async def publish(self, request: Request) -> Response:
        body = parse_as(PublishBody, await _body(request) or b"{}")
        pending = await run_in_threadpool(self._service.publish, body.store)
        return _json({"pending": pending}, 202)

    async def fides(self, request: Request) -> Response:
        token, body, reply = from_fides(await _body(request), request.headers, self._service.hooks)
        answer = await run_in_threadpool(self._taken, request, token, body, reply)
        return _json(
            {
                "halt": reply is not None
                and answer.state in ("accepted", "quarantined", "pending", "open", "refused", "withheld")
            }
        )

    async def metrics(self, _: Request) -> Response:
        text = await run_in_threadpool(self._service.metrics)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def live(self, _: Request) -> Response:
        return _json({"status": "ok", "version": __version__})

    async def health(self, _: Request) -> Response:
        state = self._service.health
        return _json({"status": state, "version": __version__}, 200 if state == "ok" else 503)

    async def openapi(self, _: Request) -> Response:
        return _json(description(self._service.schemas))

    async def page(self, _: Request) -> Response:
        return HTMLResponse(PAGE)


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


async def _body(request: Request) -> bytes:
    """Read the body, up to the limits on size and time."""
    kind = request.headers.get("content-type", _JSON).partition(";")[0].strip().lower()
    if kind != _JSON and not (kind.startswith("application/") and kind.endswith("+json")):
        raise Refusal("content-type", f"send the body as content-type: {_JSON} (curl --json does)")
    claimed = request.headers.get("content-length", "")
    if claimed.isascii() and claimed.isdecimal() and len(claimed) < 20 and int(claimed) > MOST_BODY:
        raise _too_long()
    body = bytearray()
    try:
        with anyio.fail_after(_BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BODY:
                    raise _too_long()
    except TimeoutError:
        raise Refusal("too-slow", f"the body did not come within {_BODY_SECONDS:g} seconds") from None
    except ClientDisconnect:
        raise Refusal("no-json", "the body broke off") from None
    return bytes(body)


def _too_long() -> Refusal:
    return Refusal("too-long", f"the body is longer than {MOST_BODY} bytes; split the request", {"Connection": "close"})


def _nobody() -> Response:
    raise Refusal(
        "unknown", "no request with this id is known; it was never sent, or was forgotten after its retention time"
    )


def _json(answer: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(
        msgspec.json.encode(answer), status, {"Cache-Control": "no-store", **(headers or {})}, media_type=_JSON
    )


async def _error_response(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = error.code if isinstance(error, Refusal) else _PLAIN.get(error.status_code, "refused")
    return _problem(error.status_code, code, error.detail, dict(error.headers or {}))


def _problem(status: int, code: str, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Return a problem document (RFC 9457)."""
    problem = {"title": HTTPStatus(status).phrase, "status": status, "code": code, "detail": detail}
    return JSONResponse(problem, status, headers, media_type=PROBLEM)


async def _fault(_: Request, error: Exception) -> Response:
    log.error("a fault of this program: %s; please report it", describe_failure(error))
    return _problem(500, "fault", "a fault of this program, which its log has the place of; nothing was accepted")


class _Counted:
    """Middleware that counts answers by status and logs their duration; nothing else is kept of a request here."""

    def __init__(self, app: Any, counts: Counter[str]) -> None:
        self._app, self._counts = app, counts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = next((value for name, value in scope["headers"] if name == b"traceparent"), b"")
        with trace_span(scope["method"], [sent.decode("latin-1")]) as span:
            await self._answered(scope, receive, send, span)

    async def _answered(self, scope: Any, receive: Any, send: Any, span: Any) -> None:
        began = time.perf_counter()

        async def counted(message: Any) -> None:
            if message["type"] == "http.response.start":
                message.setdefault("headers", []).append((b"x-correlation-id", str(correlation()).encode()))
                # the route's pattern: an address contains a request's id
                span.update_name(f"{scope['method']} {getattr(scope.get('route'), 'path', 'unknown')}")
                span.set_attribute("http.response.status_code", message["status"])
                self._counts[str(message["status"])] += 1
                log.info(
                    "%s answered %d in %.0f ms", scope["method"], message["status"], 1e3 * (time.perf_counter() - began)
                )
            await send(message)

        await self._app(scope, receive, counted)
