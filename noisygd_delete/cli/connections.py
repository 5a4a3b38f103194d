"""Connections of the service: whoever does not finish asking is cut off, so that others are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

_HEADERS = 10.0  # seconds for the head of a request
_MOST = 300  # connections on which a request has not come whole yet; beyond them the oldest is cut off


def impatient() -> Any:
    """The connections of uvicorn, which by itself waits for the head of a request for ever."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    half_open: dict[Connection, asyncio.TimerHandle] = {}  # the oldest first

    class Connection(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._begin()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._end()
            elif self not in half_open:  # another request on the same connection
                self._begin()

        def connection_lost(self, exc: Exception | None) -> None:
            self._end()
            super().connection_lost(exc)

        def _begin(self) -> None:
            half_open[self] = self.loop.call_later(_HEADERS, self._cut)
            if len(half_open) > _MOST:
                next(iter(half_open))._cut()

        def _cut(self) -> None:
            self._end()
            self.transport.abort()

        def _end(self) -> None:
            timer = half_open.pop(self, None)
            if timer is not None:
                timer.cancel()

    return Connection
