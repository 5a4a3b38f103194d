"""A correlation number for each request in log lines and traces, from the HTTP call to the edit.

It is the trace id of W3C Trace Context: taken from the call's `traceparent`, otherwise random. To collect the spans,
start the service under `opentelemetry-instrument`. No span and no log line contains an address, a request id or a part
of a body.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from opentelemetry import context, trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_PARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_current: ContextVar[str | None] = ContextVar("traceparent", default=None)


def current() -> str | None:
    """Return the `traceparent` of the current step, to be stored with it; None outside of any."""
    return _current.get()


def correlation() -> str | None:
    """Return the current trace id, 32 hexadecimal digits; None outside of any."""
    parent = _current.get()
    return None if parent is None else parent.split("-")[1]


@contextmanager
def trace_span(name: str, parents: Sequence[str | None] = (), **facts: str | int) -> Iterator[Any]:
    """Run a block as part of the trace of these parents, or of a new trace, and yield the span.

    Args:
        name: Name of the span.
        parents: `traceparent` values as received; invalid ones are ignored. The first one is the parent, and all are
            linked.
        **facts: Public attributes of the span.
    """
    known = [parent for parent in parents if parent is not None and _PARENT.fullmatch(parent)]
    parent = known[0] if known else f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-00"
    reader = TraceContextTextMapPropagator()
    spans = [trace.get_current_span(reader.extract({"traceparent": each}, context.Context())) for each in known]
    links = [trace.Link(span.get_span_context()) for span in spans]
    above = reader.extract({"traceparent": known[0]}, context.Context()) if known else context.Context()
    tracer = trace.get_tracer("noisygd_delete_server")
    with tracer.start_as_current_span(name, above, links=links, attributes=facts, record_exception=False) as span:
        found: dict[str, str] = {}
        reader.inject(found)
        before = _current.set(found.get("traceparent", parent))
        try:
            yield span
        finally:
            _current.reset(before)


class JsonLines(logging.Formatter):
    """Log formatter with one JSON object per line: time, level, logger, message, and the trace id if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        number = correlation()
        return json.dumps(line if number is None else line | {"trace_id": number}, ensure_ascii=False)
