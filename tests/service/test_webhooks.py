"""Messages out: signed, tried again, told once; forged, altered, old and replayed ones are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_server import Replayed, Verifier
from noisygd_delete_server.inbox import Stages
from noisygd_delete_server.messages import Hooks
from noisygd_delete_server.webhooks import headers, secret_from

from noisygd_delete.errors import InvalidParameter, InvalidRequest

from .conftest import SECRET, Opened, name, person

BODY = b'{"type": "request.published", "data": {"request_id": "one"}}'
NOW = 1_800_000_000.0


def verifier(at: float = NOW) -> Verifier:
    return Verifier(SECRET, clock=lambda: at)


def test_a_judge_of_the_standard_takes_what_is_signed_here() -> None:
    judge = pytest.importorskip("standardwebhooks", reason="the judge is not installed")
    import time

    sent = headers(secret_from(SECRET), "msg_1", BODY, now=time.time())
    assert judge.Webhook(SECRET).verify(BODY, sent) == json.loads(BODY)


def test_a_message_is_taken_once() -> None:
    """It counts as seen once it was handled."""
    receiver, sent = verifier(), headers(secret_from(SECRET), "msg_1", BODY, now=NOW)
    with pytest.raises(OSError, match="full"), receiver.handling(sent, BODY):
        raise OSError("the disk is full")
    with receiver.handling({name.title(): value for name, value in sent.items()}, BODY) as message:  # sent again
        assert message["type"] == "request.published"
        with pytest.raises(InvalidRequest, match="being handled"), receiver.handling(sent, BODY):
            pass  # the same one beside it
    other, later = (headers(secret_from(SECRET), name, BODY, now=NOW + 60) for name in ("msg_2", "msg_1"))
    assert receiver.check(other, BODY) == message
    for again in (sent, later, other):  # also another attempt of the same message
        with pytest.raises(Replayed):
            receiver.check(again, BODY)


FORGED: list[tuple[str, Callable[[dict[str, str]], Any], bytes]] = [
    ("another body", lambda sent: sent, BODY.replace(b"one", b"two")),
    ("another id", lambda sent: {**sent, "webhook-id": "msg_2"}, BODY),
    ("another time", lambda sent: {**sent, "webhook-timestamp": str(int(NOW) + 1)}, BODY),
    ("no signature", lambda sent: {**sent, "webhook-signature": ""}, BODY),
    ("a cut signature", lambda sent: {**sent, "webhook-signature": sent["webhook-signature"][:-4]}, BODY),
    ("another version", lambda sent: {**sent, "webhook-signature": "v2" + sent["webhook-signature"][2:]}, BODY),
    ("no id", lambda sent: {key: value for key, value in sent.items() if key != "webhook-id"}, BODY),
    ("no time", lambda sent: {**sent, "webhook-timestamp": "soon"}, BODY),
    ("another secret", lambda sent: headers(b"x" * 32, "msg_1", BODY, now=NOW), BODY),
]


@pytest.mark.parametrize(("fault", "change", "body"), FORGED, ids=[fault for fault, *_ in FORGED])
def test_what_is_forged_or_altered_is_refused(fault: str, change: Callable[[dict[str, str]], Any], body: bytes) -> None:
    sent = headers(secret_from(SECRET), "msg_1", BODY, now=NOW)
    with pytest.raises(InvalidRequest) as refusal:
        verifier().check(change(sent), body)
    assert not isinstance(refusal.value, Replayed)
    assert verifier().check(sent, BODY)


@pytest.mark.parametrize("late", [-301, 301])
def test_what_is_old_or_from_the_future_is_refused(late: float) -> None:
    sent = headers(secret_from(SECRET), "msg_1", BODY, now=NOW)
    with pytest.raises(InvalidRequest, match="seconds ago"):
        verifier(NOW + late).check(sent, BODY)


def test_whoever_is_listed_is_told_once_that_a_request_is_published(store: Path, opened: Opened, hooks: Hooks) -> None:
    desk = opened(store, batch=2, hooks=hooks)
    desk.ask(request_id="one", delete=[name(1)])
    desk.turn()
    assert desk.sent == []
    desk.ask(request_id="two", delete=[name(2)])
    desk.ask(request_id="nobody", delete=["unknown"])
    desk.turn()
    desk.turn()
    receiver = Verifier(SECRET)
    told = {}
    for url, body, sent in desk.sent:
        assert url == "https://desk.example/told"
        message = receiver.check(sent, body)
        told[message["data"]["request_id"]] = message["type"]
        assert b"identifier-token" not in body
    assert told == {"one": "request.published", "two": "request.published", "nobody": "request.refused"}
    assert len(desk.sent) == 3
    assert desk.service.inbox.counts()["outgoing"] == 0


def test_what_nobody_takes_is_kept_and_tried_again_with_pauses(store: Path, opened: Opened, hooks: Hooks) -> None:
    desk = opened(store, batch=1, hooks=hooks, answers=503)
    clock = [NOW]
    desk.service.messenger._clock = lambda: clock[0]
    desk.ask(request_id="one", delete=[name(1)])
    desk.turn()
    pauses = []
    for _ in range(16):
        pauses.append(desk.service.messenger.turn())
        desk.service.messenger.turn()  # not due yet
        clock[0] += 3600.0
    assert 16 <= len(desk.sent) <= 17
    assert len({sent["webhook-id"] for _, _, sent in desk.sent}) == 1
    assert desk.service.inbox.counts()["outgoing"] == 1
    clock[0] += 31 * 86_400.0
    desk.service.messenger.turn()
    assert desk.service.inbox.counts()["outgoing"] == 0
    assert "noisygd_delete_messages_given_up_total 1" in desk.service.metrics()


def test_a_crash_between_telling_and_forgetting_sends_the_same_message(
    store: Path, opened: Opened, hooks: Hooks
) -> None:
    desk = opened(store, batch=1, hooks=hooks)
    about = {"request_id": "one"}
    desk.service.messenger.tell("published", about)
    desk.service.messenger.tell("published", about)
    assert len(desk.service.inbox.at(Stages.OUTGOING)) == 1
    desk.service.messenger.turn()
    desk.service.messenger.tell("published", about)
    desk.service.messenger.turn()
    first, second = (sent["webhook-id"] for _, _, sent in desk.sent)
    assert first == second


def fides(desk: Any, **changes: Any) -> Any:
    body = {
        "privacy_request_id": "pri_0001",
        "privacy_request_status": "in_processing",
        "direction": "two_way",
        "callback_type": "pre",
        "identity": {"email": None, "external_id": person(10)},
        "policy_action": "erasure",
    }
    sent = desk.headers("request") | {
        "reply-to": "/privacy-request/pri_0001/resume",
        "reply-to-token": "eyJ.signed-by.fides",
    }
    return desk.client.post(
        "/webhooks/fides", json=body | changes.get("body", {}), headers=sent | changes.get("headers", {})
    )


def test_fides_halts_until_it_is_called_back(store: Path, opened: Opened, hooks: Hooks) -> None:
    desk = opened(store, batch=4, hooks=hooks)
    assert fides(desk).json() == {"halt": True}
    assert fides(desk).json() == {"halt": True}
    desk.turn()
    assert desk.sent == []
    desk.post("/publish")
    desk.turn()
    calls = [(url, body, sent) for url, body, sent in desk.sent if "fides" in url]
    assert [url for url, _, _ in calls] == ["https://fides.example/api/v1/privacy-request/pri_0001/resume"]
    assert json.loads(calls[0][1]) == {"derived_identity": {}}
    assert calls[0][2]["authorization"] == "Bearer eyJ.signed-by.fides"
    assert fides(desk).json() == {"halt": False}
    assert desk.look("pri_0001").json()["stores"][0]["rows"] == 2


@pytest.mark.parametrize(
    ("changes", "status_code"),
    [
        ({"body": {"identity": {"email": "a@example.com"}}}, 422),
        ({"body": {"policy_action": "access"}}, 422),
        ({"body": {"privacy_request_id": "../x"}}, 422),
        ({"body": {"identity": {"external_id": person(12)}}}, 409),
        ({"headers": {"reply-to": "https://elsewhere.example/"}}, 422),
        ({"headers": {"reply-to": "//elsewhere.example/x"}}, 422),
        ({"headers": {"reply-to": "/../../admin"}}, 422),
        ({"headers": {"reply-to-token": "a b"}}, 422),
        ({"headers": {"Authorization": "Bearer forged"}}, 401),
    ],
)
def test_a_webhook_that_is_none_of_fides_is_refused(
    store: Path, opened: Opened, hooks: Hooks, changes: dict[str, Any], status_code: int
) -> None:
    desk = opened(store, batch=4, hooks=hooks)
    fides(desk)
    before = desk.service.inbox.counts()
    assert fides(desk, **changes).status_code == status_code
    assert desk.service.inbox.counts() == before


@pytest.mark.parametrize(
    "text",
    [
        '[[webhook]]\nurl = "https://a.example"',
        '[[webhook]]\nurl = "http://a.example"\nsecret_file = "secret"',
        '[[webhook]]\nurl = "https://user:pass@a.example"\nsecret_file = "secret"',
        '[[webhook]]\nurl = "file:///etc"\nsecret_file = "secret"',
        '[[webhook]]\nurl = "https://a.example"\nsecret_file = "short"',
        '[[webhook]]\nurl = "https://a.example"\nsecret_file = "open"',
        '[fides]\nurl = "https://a.example"\nnames = "row"',
        '[hook]\nurl = "https://a.example"',
        "webhook = 1",
        "=",
    ],
)
def test_a_file_of_hooks_that_would_tell_the_wrong_ones_is_refused(tmp_path: Path, text: str) -> None:
    for file, content, mode in (("secret", SECRET, 0o600), ("short", "whsec_YQ==", 0o600), ("open", SECRET, 0o644)):
        (tmp_path / file).write_text(content)
        (tmp_path / file).chmod(mode)
    (tmp_path / "hooks.toml").write_text(text)
    with pytest.raises(InvalidParameter, match=r"hooks\.toml"):
        Hooks.read(tmp_path / "hooks.toml")
    (tmp_path / "hooks.toml").write_text(
        '[[webhook]]\nurl = "https://a.example"\nsecret_file = "secret"\n[fides]\nurl = "https://f.example/api/v1/"'
    )
    good = Hooks.read(tmp_path / "hooks.toml")
    assert (list(good.webhooks), good.fides) == (["https://a.example"], "https://f.example/api/v1")
