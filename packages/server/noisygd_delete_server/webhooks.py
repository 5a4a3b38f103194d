"""Signed messages by the rules of Standard Webhooks (www.standardwebhooks.com).

A receiver can verify the sender and the time, and detect replays::

    webhook-id         id of the message, the same at every attempt
    webhook-timestamp  seconds since 1970, of this attempt
    webhook-signature  v1,Base64(HMAC-SHA256(secret, id.timestamp.body))

Example:
    Handle a received message exactly once::

        verifier = Verifier("whsec_...")
        with verifier.handling(request.headers, request.body) as message:
            process(message)
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from noisygd_delete.errors import InvalidParameter, InvalidRequest

PREFIX = "whsec_"  # prefix of a secret as text; Base64 follows
TOLERANCE = 300  # seconds by which the clocks of sender and receiver may differ
_LEAST, _MOST = 24, 64  # bytes of a secret
_LONGEST = 1 << 20  # most bytes of a body


class Replayed(InvalidRequest):
    """The message was received before. Answer with success, so that it is not sent again, and do nothing."""


def secret_from(text: str) -> bytes:
    """Return the bytes of a secret written as `whsec_` and Base64.

    Raises:
        InvalidParameter: If it is no such secret; the message does not quote it.
    """
    try:
        if not text.startswith(PREFIX):
            raise ValueError
        secret = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (ValueError, binascii.Error):
        raise InvalidParameter(f"not a webhook's secret: {PREFIX} and Base64 of {_LEAST} to {_MOST} bytes") from None
    if not _LEAST <= len(secret) <= _MOST:
        raise InvalidParameter(f"a webhook's secret has {_LEAST} to {_MOST} bytes; make one of random bytes")
    return secret


def signature(secret: bytes, name: str, timestamp: int, body: bytes) -> str:
    """Return the value of `webhook-signature`.

    Args:
        secret: Bytes of the secret.
        name: Id of the message.
        timestamp: Seconds since 1970.
        body: Body of the message.
    """
    signed = hmac.new(secret, f"{name}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(signed).decode()


def headers(secret: bytes, name: str, body: bytes, *, now: float) -> dict[str, str]:
    """Return the headers of one delivery attempt.

    Args:
        secret: Bytes of the secret.
        name: Id of the message, the same at every attempt.
        body: Body of the message.
        now: Current time in seconds since 1970.
    """
    timestamp = int(now)
    return {
        "content-type": "application/json",
        "webhook-id": name,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(secret, name, timestamp, body),
    }


class Verifier:
    """Verification for receivers: accepts each message once, and only from a holder of the secret.

    It keeps the ids of the last minutes in memory: a receiver with several processes has to share them itself.
    """

    def __init__(self, secret: str, *, tolerance: float = TOLERANCE, clock: Callable[[], float] = time.time) -> None:
        self._secret, self._tolerance, self._clock = secret_from(secret), tolerance, clock
        self._seen: dict[str, float] = {}
        self._handled_now: set[str] = set()
        self._mutex = threading.Lock()

    @contextmanager
    def handling(self, received: Mapping[str, str], body: bytes) -> Iterator[dict[str, Any]]:
        """Verify a message and yield it while it is handled.

        It counts as received once the block ends without an error, so that a failed one is accepted when it is sent
        again.

        Args:
            received: The HTTP headers.
            body: The body.

        Raises:
            Replayed: If it was received before.
            InvalidRequest: If it is forged, altered, too old or from the future; or is being handled now and has to be
                sent again.
        """
        name, message = self._checked(received, body)
        with self._mutex:
            if name in self._seen:
                raise Replayed("this message came before")
            if name in self._handled_now:
                raise InvalidRequest("this message is being handled; send it again later")
            self._handled_now.add(name)
        try:
            yield message
            self._seen[name] = self._clock()
        finally:
            self._handled_now.discard(name)

    def check(self, received: Mapping[str, str], body: bytes) -> dict[str, Any]:
        """Verify and return a message, for handling that cannot fail: it counts as received at once."""
        with self.handling(received, body) as message:
            return message

    def _checked(self, received: Mapping[str, str], body: bytes) -> tuple[str, dict[str, Any]]:
        given = {name.lower(): value for name, value in received.items()}
        name, stamped = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
        now = self._clock()
        if not (name and stamped.isascii() and stamped.isdecimal() and len(stamped) < 16) or len(body) > _LONGEST:
            raise InvalidRequest(
                "not a signed message: webhook-id or webhook-timestamp is missing, or the body is too long"
            )
        expected = signature(self._secret, name, int(stamped), body)
        offered = given.get("webhook-signature", "").split(" ")
        matches = [hmac.compare_digest(one.encode("utf-8", "replace"), expected.encode()) for one in offered]
        if not any(matches):
            raise InvalidRequest(
                "the signature is not one of this message by this secret; nothing in it can be believed"
            )
        if not abs(now - int(stamped)) <= self._tolerance:
            raise InvalidRequest(
                f"the message was sent more than {self._tolerance:g} seconds ago, or in the future; it is refused"
            )
        self._seen = {known: when for known, when in self._seen.items() if now - when <= 2 * self._tolerance}
        message = json.loads(body)
        if not isinstance(message, dict):
            raise InvalidRequest("the message is not a JSON object")
        return name, message
