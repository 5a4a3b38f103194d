"""Requests by HTTP: what is accepted, answered as before, refused, and by whom."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_compliance.register import Register

from noisygd_delete import Budget
from noisygd_delete.store import Store, status, verify
from tests.store.conftest import plan

from .conftest import Opened, make_store, name, person, raw


def test_a_request_is_kept_carried_out_published_and_certified(store: Path, opened: Opened) -> None:
    desk = opened(store, batch=2)
    first = desk.ask(request_id="first", delete=[name(1)], received="2026-05-04T09:30:00+02:00", channel="e-mail")
    assert first.status_code == 202
    assert first.headers["location"] == "/requests/first"
    assert first.json()["state"] == "accepted"
    early = desk.get("/requests/first/certificate")
    assert (early.status_code, "accepted" in early.json()["detail"]) == (409, True)
    assert desk.get("/requests/first/certificate", "sign").status_code == 409
    desk.turn()
    waiting = desk.look("first").json()
    assert (waiting["state"], waiting["stores"][0]["rows"]) == ("pending", 1)
    assert desk.ask(request_id="second", subjects=[person(10)]).status_code == 202
    desk.turn()
    done = desk.look("first", "request").json()
    assert done["state"] == "published"
    assert done["received"] == "2026-05-04T09:30:00+02:00"
    assert done["due"] == "2026-06-04"
    assert done["stores"] == desk.look("first").json()["stores"]
    assert desk.look("second").json()["stores"][0]["rows"] == 2
    assert status(store)["releases"] == 2
    assert desk.service.inbox.counts() == {"accepted": 0, "quarantined": 0, "edited": 0, "refused": 0, "outgoing": 0}
    paper = desk.get("/requests/first/certificate").json()
    (one,) = paper["certificates"]
    assert one["store"] == "people"
    assert one["certificate"]["request"]["request_id"] == "first"
    assert verify(store).passed


def test_a_request_without_an_id_gets_one(store: Path, opened: Opened) -> None:
    desk = opened(store, batch=1)
    answered = desk.ask(delete=[name(1)])
    token = answered.json()["request_id"]
    assert len(token) == 32
    desk.turn()
    assert desk.state(token) == "published"


def test_a_correction_is_carried_out_by_the_schema_of_the_store(store: Path, opened: Opened) -> None:
    desk = opened(store, batch=1)
    assert desk.ask(request_id="fix", replace={name(5): raw(1)}).status_code == 202
    desk.turn()
    assert desk.look("fix").json()["stores"][0]["rows"] == 1
    assert desk.get("/register").json()[0]["right"] == "rectification"


def sent(content: bytes, kind: str = "application/json") -> dict[str, Any]:
    return {"content": content, "headers": {"content-type": kind}}


UNFIT = [
    {"delete": []},
    {"delete": ["a"], "request_id": "a\n"},
    {"delete": ["a"], "received": "yesterday"},
    {"delete": ["a"], "received": "2026-05-04T09:30:00"},
    {"delete": ["a"], "received": "2999-01-01T00:00:00Z"},
    {"delete": ["a"], "replace": {"a": raw(1)}},
    {"replace": {"a": {"a": 1}}},
    {"replace": {"a": {**raw(1), "y": "perhaps"}}},
]
NO_JSON = [b"", b"{", b"\xff\xfe", b'{"delete": ["a"], "delete": ["b"]}', b'{"delete": [NaN]}', b"[" * 100_000,
           b'{"delete": [' + b"9" * 10_000 + b"]}"]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "given", "status_code", "code"),
    [
        *(("POST /requests", {"json": asked}, 422, "unfit") for asked in UNFIT),
        *(("POST /requests", sent(body), 400, "no-json") for body in NO_JSON),
        ("POST /requests", sent(b'{"delete": ["\\ud800"]}'), 422, "unfit"),
        ("POST /requests", sent(b" " * ((1 << 20) + 1)), 413, "too-long"),
        ("POST /requests", sent(b"a=b", "application/x-www-form-urlencoded"), 415, "content-type"),
        ("POST /requests", sent(b"{}", "text/plain"), 415, "content-type"),
        ("GET /requests/absent", {}, 404, "unknown"),
        ("GET /requests/%00", {}, 404, "unknown"),
        ("GET /nowhere", {}, 404, "no-such-call"),
        ("DELETE /requests", {}, 405, "no-such-method"),
        ("GET /register", {}, 403, "role"),
    ],
)
def test_what_is_refused_has_a_code_that_stays(
    store: Path, opened: Opened, call: str, given: dict[str, Any], status_code: int, code: str
) -> None:
    desk = opened(store)
    method, _, path = call.partition(" ")
    headers = {**desk.headers("request"), **given.get("headers", {})}
    chunked = [{"content": iter([given["content"]])}] if "content" in given else []
    for body in ({key: part for key, part in given.items() if key != "headers"}, *chunked):
        answered = desk.client.request(method, path, headers=headers, **body)
        told = answered.json()
        assert (answered.status_code, told["status"], told["code"]) == (status_code, status_code, code)
        assert answered.headers["content-type"] == "application/problem+json"
        assert set(told) == {"title", "status", "code", "detail"}
        assert answered.headers.get("allow") == ("POST" if status_code == 405 else None)
    assert not any(desk.service.inbox.counts().values())


def test_a_request_for_nobody_is_told_refused_and_left_to_a_person(store: Path, opened: Opened) -> None:
    desk = opened(store, batch=1)
    desk.ask(request_id="nobody", delete=["identifier-token-99999", name(3)])
    desk.turn()
    found = desk.look("nobody").json()
    assert found["state"] == "refused"
    assert "not all that it names is in a table" in found["reason"]
    assert "99999" not in found["reason"]
    assert status(store)["records"] == 60
    assert desk.ask(request_id="nobody", delete=[name(3)]).json()["state"] == "refused"
    (line,) = desk.get("/register").json()
    assert (line["request_id"], line["state"]) == ("nobody", "open")
    with Store.open(store) as held:
        case = Register(held.request_log).case("nobody")
        Register(held.request_log).state("nobody", case.stated(decision="not found", decided="2099-01-01"))
    desk.turn()
    assert desk.state("nobody") == "decided"
    assert desk.service.inbox.counts()["refused"] == 0


def test_requests_that_follow_one_another_see_what_the_earlier_ones_did(store: Path, opened: Opened) -> None:
    """The second names a record that the first erases, the third the person whose other record is left."""
    desk = opened(store, batch=100)
    desk.ask(request_id="a", delete=[name(4)])
    desk.ask(request_id="b", delete=[name(4), name(6)])
    desk.ask(request_id="c", subjects=[person(4)])
    desk.turn()
    assert [desk.state(token) for token in "abc"] == ["pending", "refused", "pending"]
    assert status(store)["records"] == 58


def test_publishing_is_asked_for_by_its_role_and_only_where_something_waits(store: Path, opened: Opened) -> None:
    desk = opened(store, batch=None, deadline=3600.0)
    publish = lambda **body: desk.client.post("/publish", json=body, headers=desk.headers("publish"))  # noqa: E731
    assert publish().json() == {"pending": {"people": 0}}
    desk.turn()
    assert status(store)["releases"] == 1
    desk.ask(request_id="one", delete=[name(1)])
    desk.turn()
    assert status(store)["releases"] == 1
    assert publish(store="people").status_code == 202
    desk.turn()
    assert status(store)["releases"] == 2
    assert desk.state("one") == "published"
    assert publish(store="others").status_code == 409
    assert publish(stores=1).status_code == 422
    assert desk.post("/publish").status_code == 202


ROUTES = [
    ("POST", "/requests", {"request"}),
    ("GET", "/requests/one", {"request", "read"}),
    ("GET", "/requests/one/certificate", {"read", "sign"}),
    ("GET", "/register", {"read"}),
    ("GET", "/metrics", {"read"}),
    ("POST", "/publish", {"publish"}),
    ("POST", "/webhooks/fides", {"request"}),
]


@pytest.mark.parametrize(("method", "path", "roles"), ROUTES)
def test_every_route_takes_its_roles_and_no_other(
    store: Path, opened: Opened, method: str, path: str, roles: set[str]
) -> None:
    desk = opened(store)
    for role in desk.secrets:
        answered = desk.client.request(method, path, headers=desk.headers(role))
        assert (answered.status_code == 403) == (role not in roles), (role, answered.text)
    for wrong in (
        {},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer ngd_wrong"},
        {"Authorization": f"Basic {desk.secrets['read']}"},
    ):
        answered = desk.client.request(method, path, headers=wrong)
        assert (answered.status_code, answered.headers["www-authenticate"]) == (401, "Bearer")
        assert answered.json()["code"] == "no-token"


def test_a_signed_certificate_needs_the_role_and_the_key(store: Path, tmp_path: Path, opened: Opened) -> None:
    from noisygd_delete.evidence import verify_certificate
    from noisygd_delete.evidence.signing import new_key

    new_key(tmp_path / "key.pem")
    desk = opened(store, batch=1, key=tmp_path / "key.pem")
    desk.ask(request_id="one", delete=[name(1)])
    desk.turn()
    address = "/requests/one/certificate"
    (plain,) = desk.client.get(address, headers=desk.headers("read")).json()["certificates"]
    (signed,) = desk.get(address, "sign").json()["certificates"]
    assert "signature" not in plain["certificate"]
    assert verify_certificate(signed["certificate"], public_key=tmp_path / "key.pem.pub").passed


def test_one_request_reaches_every_store_and_its_certificate_covers_each(tmp_path: Path, opened: Opened) -> None:
    """Two tables that share some persons: each store does its part, and what is in none is refused as a whole."""
    stores = make_store(tmp_path / "first", 40), make_store(tmp_path / "second", 40, first=20)
    desk = opened(*stores, batch=1)
    desk.ask(request_id="both", subjects=[person(24)])
    desk.ask(request_id="parts", delete=[name(3), name(50)])
    desk.ask(request_id="none", delete=[name(5), name(99)])
    desk.turn()
    both = desk.look("both").json()
    assert [(one["store"], one["rows"], one["state"]) for one in both["stores"]] == [
        ("first", 2, "published"),
        ("second", 2, "published"),
    ]
    assert [(one["store"], one["rows"]) for one in desk.look("parts").json()["stores"]] == [("first", 1), ("second", 1)]
    assert desk.state("none") == "refused"
    assert [status(path)["records"] for path in stores] == [37, 37]
    papers = desk.get("/requests/both/certificate").json()["certificates"]
    assert [paper["store"] for paper in papers] == ["first", "second"]
    assert desk.ask(request_id="both", subjects=[person(24)]).json()["state"] == "published"
    assert desk.ask(request_id="parts", delete=[name(3)]).json()["state"] == "published"


def test_a_withheld_publication_is_said_and_rows_go_all_the_same(tmp_path: Path, opened: Opened) -> None:
    path = make_store(tmp_path / "people", releases=2)
    desk = opened(path, batch=1)
    for k in range(3):
        desk.ask(request_id=f"r{k}", delete=[name(k)])
        desk.turn()
    assert [desk.state(f"r{k}") for k in range(3)] == ["published", "withheld", "withheld"]
    assert status(path)["records"] == 57
    assert 'noisygd_delete_model_in_force{store="people"} 0' in desk.get("/metrics").text
    with Store.open(path) as store:
        store.relearn(plan(slots=64, releases=8, budget=Budget(order=4, dp=8.0, deletion=0.5)))
    desk.turn()
    assert [desk.state(f"r{k}") for k in range(3)] == ["published"] * 3
    assert desk.service.inbox.counts()["edited"] == 0


def as_password(token: str) -> str:
    return "Basic " + base64.b64encode(f"anybody:{token}".encode()).decode()


def test_the_register_is_a_page_for_whoever_may_read_it(store: Path, opened: Opened) -> None:
    """A browser sends a token as a password, and for this page alone: nothing that another site makes it send changes anything."""
    desk = opened(store, batch=1)
    for k in range(3):
        desk.ask(request_id=f"token-{k}", delete=[name(k)], received="2026-05-04T09:30:00+02:00")
    desk.turn()
    desk.ask(request_id="waits", delete=[name(9)])
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    get = lambda path="/register", role="read", **more: desk.client.get(  # noqa: E731
        path, headers={**browser, "Authorization": as_password(desk.secrets[role]), **more}
    )
    page = get()
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["referrer-policy"] == "no-referrer"
    assert sorted(re.findall(r"<code>(.*?)</code>", page.text)) == ["token-0", "token-1", "token-2"]
    assert "1 accepted, to be carried out next" in page.text
    assert "answer overdue" in page.text
    assert "identifier-token" not in page.text
    assert "Register der Anträge" in get("/register?language=de&page=1").text
    assert get(Authorization=f"Bearer {desk.secrets['read']}").text == page.text
    assert get(Accept="application/json", Authorization=f"Bearer {desk.secrets['read']}").json()[0]["store"] == "people"
    asks = desk.client.get("/register", headers=browser)
    assert (asks.status_code, asks.headers["www-authenticate"].split()[0]) == (401, "Basic")
    assert get(role="request").status_code == 403
    for wrong in ("Basic", "Basic !", "Basic " + base64.b64encode(b"\xff:\xff").decode(), as_password("ngd_no")):
        assert get(Authorization=wrong).status_code == 401
    for query in ("page=0", "page=x", "page=null", "page=1&page=2", "language=fr", "more=1", "page=99999999999"):
        assert get(f"/register?{query}").status_code == 422, query
    every = dict.fromkeys(desk.secrets)
    for role in every:
        headers = {**browser, "Authorization": as_password(desk.secrets[role])}
        for method, path, _ in ROUTES:
            if path != "/register":
                assert desk.client.request(method, path, headers=headers).status_code == 401


def test_programs_get_the_register_by_pages_where_they_ask_for_them(
    store: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = opened(store, batch=1)
    for k in range(5):
        desk.ask(request_id=f"token-{k}", delete=[name(k)])
    desk.turn()
    monkeypatch.setattr("noisygd_delete_server.service.PAGE_LINES", 2)
    get = lambda query="": desk.get(f"/register{query}").json()  # noqa: E731
    every = get()
    assert [line["request_id"] for line in every] == [f"token-{k}" for k in range(5)]
    assert [get(f"?page={page}") for page in (1, 2, 3, 4)] == [every[:2], every[2:4], every[4:], []]


def test_a_register_of_several_stores_is_in_one_order_and_names_them(tmp_path: Path, opened: Opened) -> None:
    desk = opened(make_store(tmp_path / "people"), make_store(tmp_path / "others", first=100), batch=1)
    desk.ask(request_id="later", delete=[name(1)], received="2026-06-04T09:30:00+02:00")
    desk.ask(request_id="sooner", delete=[name(101)], received="2026-05-04T09:30:00+02:00")
    desk.turn()
    shown = desk.get("/register").json()
    assert [(line["request_id"], line["store"]) for line in shown] == [("sooner", "others"), ("later", "people")]
    page = desk.client.get("/register", headers={**desk.headers("read"), "Accept": "text/html"}).text
    assert page.index("sooner") < page.index("table “others”") < page.index("later") < page.index("table “people”")
