"""One number follows a request through spans and logs; no id of a request, a person or a record is in any of them."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import pytest
from noisygd_delete_server import tracing

from .conftest import Opened, name, person

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="noisygd_delete_server")
    caplog.handler.setFormatter(tracing.JsonLines())
    return caplog


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(tracing.trace, "get_tracer", provider.get_tracer)
    return kept


def asked(opened: Opened, store: Path):
    desk = opened(store, batch=1)
    headers = desk.headers("request") | {"traceparent": PARENT}
    body = {"delete": [name(1)], "subjects": [person(7)], "request_id": "correlation-of-a-person"}
    answer = desk.client.post("/requests", json=body, headers=headers)
    assert answer.headers["x-correlation-id"] == TRACE
    desk.turn()
    desk.get("/requests/correlation-of-a-person", "request")
    return desk


def names_nobody(told: str) -> None:
    assert not re.search(r"identifier-token|subject-token|correlation-of-a-person", told)


def test_spans_follow_a_request_and_name_nobody(
    store: Path, opened: Opened, log: pytest.LogCaptureFixture, spans
) -> None:
    asked(opened, store)
    found = spans.get_finished_spans()
    of_request = {span.name for span in found if format(span.context.trace_id, "032x") == TRACE}
    assert of_request == {"POST /requests", "carry out"}
    assert {"publish", "GET /requests/{token}"} <= {span.name for span in found}
    names_nobody("".join(span.to_json() for span in found))
    carried = [json.loads(line) for line in log.text.splitlines() if "carried out" in line]
    assert [line["trace_id"] for line in carried] == [TRACE]
    names_nobody(log.text)


def test_logs_have_the_number_where_nobody_collects_spans(
    store: Path, opened: Opened, log: pytest.LogCaptureFixture
) -> None:
    asked(opened, store)
    read = [json.loads(line) for line in log.text.splitlines()]
    assert {line["trace_id"] for line in read if "carried out" in line["message"] or "POST" in line["message"]} == {
        TRACE
    }
    assert all(
        set(line) == {"time", "level", "logger", "message", "trace_id"}
        for line in read
        if "publi" not in line["message"]
    )
    names_nobody(log.text)


@pytest.mark.parametrize(
    "sent", ["", "00-x-y-01", PARENT.upper(), f"00-{'0' * 32}-00f067aa0ba902b7-01", PARENT + "\u00e9", PARENT * 99]
)
def test_what_is_no_trace_gets_a_new_one(store: Path, opened: Opened, sent: str) -> None:
    desk = opened(store)
    answer = desk.client.get("/live", headers={"traceparent": sent.encode("latin-1")})
    assert re.fullmatch("[0-9a-f]{32}", answer.headers["x-correlation-id"])
    assert answer.headers["x-correlation-id"] != TRACE
