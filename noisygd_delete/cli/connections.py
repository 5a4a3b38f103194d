"""Connections of the service: whoever does not finish asking is cut off, so that others are answered."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

_HEADERS = 10.0  # seconds for the head of a request
_MOST = 300  # connections on which a request has not come whole yet; beyond them the oldest is cut off


class Connection(H11Protocol):
    """A connection of uvicorn, which by itself waits for the head of a request for ever."""

    _half_open: ClassVar[dict[Connection, asyncio.TimerHandle]] = {}  # the oldest first

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._end()
        elif self not in self._half_open:  # another request on the same connection
            self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self._half_open[self] = self.loop.call_later(_HEADERS, self._cut)
        if len(self._half_open) > _MOST:
            next(iter(self._half_open))._cut()

    def _cut(self) -> None:
        self._end()
        self.transport.abort()

    def _end(self) -> None:
        timer = self._half_open.pop(self, None)
        if timer is not None:
            timer.cancel()
