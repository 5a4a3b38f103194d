"""The service over HTTP. Handlers read, or put something into the inbox; only the writer changes a store.

Every answer is JSON with one clear paragraph where something is wrong. A body is read up to a limit and within a time. Logs say how often
what was asked, and never for whom: an address holds a request's id, so addresses are not logged.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ..errors import InvalidParameter, InvalidRequest, StoreError, StoreLocked
from ..version import __version__
from .access import Caller, Roles
from .asked import MOST_BODY, Asked, PublishAsked, Unfit, read_as
from .describe import PAGE, description
from .fides import FIDES, from_fides
from .inbox import Full
from .pages import ASKS, asked_of, for_people, headers, password
from .service import HERE, Conflict, Service
from .writer import described

_BODY_SECONDS = 30.0
_JSON = "application/json"

log = logging.getLogger("noisygd_delete.service")

Handler = Callable[[Request], Awaitable[Response]]


def application(service: Service, *, run: bool = True) -> Starlette:
    """The ASGI application of a service, which runs while the application does.

    run   whether its threads are started; a test may take their turns itself
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
    routes = [
        Route("/", api.page, methods=["GET"]),
        Route("/openapi.json", api.openapi, methods=["GET"]),
        Route("/health", api.health, methods=["GET"]),
        Route("/metrics", api.may(api.metrics, Roles.READ), methods=["GET"]),
        Route("/requests", api.may(api.ask, Roles.REQUEST), methods=["POST"]),
        Route("/requests/{token}", api.may(api.look, Roles.REQUEST, Roles.READ), methods=["GET"]),
        Route("/requests/{token}/certificate", api.may(api.certificate, Roles.READ, Roles.SIGN), methods=["GET"]),
        Route(HERE, api.may(api.register, Roles.READ, page=True), methods=["GET"]),
        Route("/publish", api.may(api.publish, Roles.PUBLISH), methods=["POST"]),
        Route(FIDES, api.may(api.fides, Roles.REQUEST), methods=["POST"]),
    ]
    handlers: dict[Any, Any] = {HTTPException: _refused, Exception: _fault}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False
    app.add_middleware(_Counted, counts=service.answers)
    return app


class _Api:
    def __init__(self, service: Service) -> None:
        self._service = service

    def may(self, handler: Handler, *roles: Roles, page: bool = False) -> Handler:
        """The handler, for callers with one of these roles. `page`: a browser may ask for it, see `pages`."""

        async def checked(request: Request) -> Response:
            kind, _, sent = request.headers.get("authorization", "").partition(" ")
            token, asks, how = sent.strip() if kind.lower() == "bearer" else None, "Bearer", "Authorization: Bearer ..."
            if page and for_people(request):
                token, asks, how = token or password(request), ASKS, "as the password, with any name"
            caller = self._service.tokens.caller(token)
            if caller is None:
                raise HTTPException(401, f"give a token: {how}", {"WWW-Authenticate": asks})
            if not caller.roles & set(roles):
                raise HTTPException(403, f"this token is not good for that; it takes the role {' or '.join(roles)}")
            request.state.caller = caller
            try:
                return await handler(request)
            except Unfit as error:
                raise HTTPException(422, str(error)) from None
            except InvalidRequest as error:
                raise HTTPException(400, str(error)) from None
            except Conflict as error:
                raise HTTPException(409, str(error)) from None
            except (Full, StoreLocked) as error:
                raise HTTPException(503, str(error), {"Retry-After": "5"}) from None
            except StoreError as error:
                log.error("a store did not answer: %s", described(error))
                raise HTTPException(
                    503, "a store does not answer now; its operator was told", {"Retry-After": "30"}
                ) from None

        return checked

    async def ask(self, request: Request) -> Response:
        asked = read_as(Asked, await _body(request))
        if asked.request_id is msgspec.UNSET:
            asked = msgspec.structs.replace(asked, request_id=secrets.token_hex(16))
        return await self._answered(asked.request_id, asked)

    async def _answered(self, token: str, asked: Asked, reply: dict[str, str] | None = None) -> Response:
        answer = await run_in_threadpool(self._service.take, token, asked, reply)
        done = answer.state not in ("accepted", "pending", "open")
        return _json(answer, 200 if done else 202, {"Location": f"/requests/{token}"})

    async def look(self, request: Request) -> Response:
        answer = await run_in_threadpool(self._service.answer, request.path_params["token"])
        return _json(answer) if answer is not None else _nobody()

    async def certificate(self, request: Request) -> Response:
        signs = Roles.SIGN in _caller(request).roles
        try:
            papers = await run_in_threadpool(self._service.certificates, request.path_params["token"], signs)
        except InvalidParameter as error:
            raise HTTPException(409, str(error)) from None
        return _json(papers) if papers is not None else _nobody()

    async def register(self, request: Request) -> Response:
        asked = asked_of(request)
        if for_people(request):
            text = await run_in_threadpool(self._service.register_page, asked.page or 1, asked.language)
            return HTMLResponse(text, headers=headers())
        return _json(await run_in_threadpool(self._service.register, asked.page))

    async def publish(self, request: Request) -> Response:
        asked = read_as(PublishAsked, await _body(request) or b"{}")
        pending = await run_in_threadpool(self._service.publish, asked.store)
        return _json({"pending": pending}, 202)

    async def fides(self, request: Request) -> Response:
        token, asked, reply = from_fides(await _body(request), request.headers, self._service.hooks)
        answer = await run_in_threadpool(self._service.take, token, asked, reply)
        return _json(
            {"halt": reply is not None and answer.state in ("accepted", "pending", "open", "refused", "withheld")}
        )

    async def metrics(self, _: Request) -> Response:
        text = await run_in_threadpool(self._service.metrics)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

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
    """The body, up to the limit and within the time."""
    claimed = request.headers.get("content-length", "")
    if claimed.isascii() and claimed.isdecimal() and len(claimed) < 20 and int(claimed) > MOST_BODY:
        raise _too_long()
    parts: list[bytes] = []
    try:
        with anyio.fail_after(_BODY_SECONDS):
            async for part in request.stream():
                parts.append(part)
                if sum(map(len, parts)) > MOST_BODY:
                    raise _too_long()
    except TimeoutError:
        raise HTTPException(408, f"the body did not come within {_BODY_SECONDS:g} seconds") from None
    except ClientDisconnect:
        raise HTTPException(400, "the body broke off") from None
    return b"".join(parts)


def _too_long() -> HTTPException:
    return HTTPException(413, f"the body is longer than {MOST_BODY} bytes; split the request", {"Connection": "close"})


def _nobody() -> Response:
    raise HTTPException(
        404, "no request with this id is known here; it was never asked, or was forgotten when its time was over"
    )


def _json(answer: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(
        msgspec.json.encode(answer), status, {"Cache-Control": "no-store", **(headers or {})}, media_type=_JSON
    )


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, dict(error.headers or {}))


async def _fault(_: Request, error: Exception) -> Response:
    log.error("a fault of this program: %s; please report it", described(error))
    return JSONResponse({"error": "a fault of this program, which its log has the place of; nothing was accepted"}, 500)


class _Counted:
    """How often each status was answered, and how long answers took: all that is kept of a request here."""

    def __init__(self, app: Any, counts: Counter[str]) -> None:
        self._app, self._counts = app, counts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def counted(message: Any) -> None:
            if message["type"] == "http.response.start":
                self._counts[str(message["status"])] += 1
                log.info(
                    "%s answered %d in %.0f ms", scope["method"], message["status"], 1e3 * (time.perf_counter() - began)
                )
            await send(message)

        await self._app(scope, receive, counted)
