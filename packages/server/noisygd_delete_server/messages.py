"""Outgoing messages: kept in the inbox until delivered, retried with exponential backoff, signed at each attempt.

The receivers are the webhooks that the operator configured, and the privacy desk that paused its own request until a
callback.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket
import ssl
import stat
import threading
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from noisygd_delete.errors import InvalidParameter, StoreError
from noisygd_delete.records import limited_io

from .inbox import Inbox, QueuedRequest, Stages
from .webhooks import headers, secret_from

_PATIENCE = 20.0  # seconds for one attempt
_LONGEST_PAUSE = 3600.0  # seconds between attempts
_GIVEN_UP = 30 * 86_400.0  # seconds after which a message is discarded; the register still shows its content
_MOST_HOOKS = 20
_REPLIES = ""  # queue of messages without a configured webhook: the privacy desk, and removed addresses

log = logging.getLogger("noisygd_delete_server")

Post = Callable[[str, bytes, Mapping[str, str]], int]


@dataclass(frozen=True)
class Hooks:
    """Receivers of messages.

    Attributes:
        webhooks: Address -> secret.
        fides: Base URL of a Fides server's API (https://fides.example/api/v1), or None.
        identity: The identity, as named by Fides, that is a person's name in the store.
        names: "subject" if it names a person of the table, "id" if it names a record.
    """

    webhooks: Mapping[str, bytes]
    fides: str | None = None
    identity: str = "external_id"
    names: str = "subject"

    @classmethod
    def read(cls, path: str | Path) -> Hooks:
        """Read the receivers from a TOML file.

        Raises:
            InvalidParameter: If the file cannot be read, or is no such file.
        """
        try:
            listed = tomllib.loads(limited_io.read_text(path, limited_io.KEY))
            _only(listed, {"webhook", "fides"})
            hooks, fides = listed.get("webhook", []), listed.get("fides")
            if not isinstance(hooks, list) or len(hooks) > _MOST_HOOKS:
                raise ValueError(f"give at most {_MOST_HOOKS} [[webhook]]")
            found = dict(_webhook(fields, Path(path).parent) for fields in hooks)
            if fides is None:
                return cls(found)
            _only(fides, {"url", "identity", "names"})
            made = cls(
                found,
                _address(fides["url"]).rstrip("/"),
                **{name: fides[name] for name in ("identity", "names") if name in fides},
            )
            if made.names not in ("subject", "id") or not isinstance(made.identity, str):
                raise ValueError('names is "subject" or "id", and identity the name of an identity')
            return made
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise InvalidParameter(f"{path}: {reason}; see docs/service.md for what may stand in it") from error


def _webhook(fields: Any, folder: Path) -> tuple[str, bytes]:
    _only(fields, {"url", "secret_file"})
    file = folder / fields["secret_file"]
    secret = secret_from(limited_io.read_text(file, limited_io.KEY).strip())
    if os.name != "nt" and stat.S_IMODE(os.stat(file).st_mode) & 0o077:
        raise ValueError(f"others than its owner may read {file}; chmod 600 {file}")
    return _address(fields["url"]), secret


def _only(fields: Any, known: set[str]) -> None:
    if not isinstance(fields, dict) or not set(fields) <= known:
        raise ValueError(f"a table with {', '.join(sorted(known))} and nothing else is expected")


def _address(url: Any) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError("url must be an http or https address, without a name or a password in it")
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme == "http" and not local:
        raise ValueError("url must be https, unless it is on this machine: request ids are pseudonyms of persons")
    return str(url)


class Messenger:
    """Threads that deliver the messages of `tell`, one per receiver, so that receivers do not delay each other.

    Args:
        inbox: Queue of the messages.
        hooks: The receivers.
        post: Sends (address, body, headers) and returns the HTTP status; raises OSError without an answer.
        clock: Returns the current time in seconds.
        pause: Seconds before the first retry.
    """

    def __init__(
        self,
        inbox: Inbox,
        hooks: Hooks,
        *,
        post: Post | None = None,
        clock: Callable[[], float] = time.time,
        pause: float = 1.0,
    ) -> None:
        self._inbox, self._hooks, self._clock, self._first = inbox, hooks, clock, pause
        self._post = post or post_once
        self._tries: dict[int, tuple[int, float]] = {}  # number -> attempts so far, time of the next
        self._stopping = threading.Event()
        self._wake = {receiver: threading.Event() for receiver in (*hooks.webhooks, _REPLIES)}
        self._threads = [
            threading.Thread(target=self._work, args=(receiver,), name="messenger", daemon=True)
            for receiver in self._wake
        ]
        self.delivered = self.failed = self.given_up = 0

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Stop after the current attempts; undelivered messages are kept."""
        self._stopping.set()
        self._woken()

    def join(self, until: float) -> None:
        """Wait for the threads until this time of the monotonic clock; an interrupted attempt is repeated later."""
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, until - time.monotonic()))

    def _woken(self) -> None:
        for event in self._wake.values():
            event.set()

    def tell(self, event: str, about: Mapping[str, Any]) -> None:
        """Enqueue messages about a request to all receivers; idempotent."""
        token = str(about["request_id"])
        known = {kept.fields["id"] for kept in self._inbox.at(Stages.OUTGOING)}
        at = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="seconds")
        for url in self._hooks.webhooks:
            name = _name(event, token, url)
            body = {"type": f"request.{event}", "timestamp": at, "data": {"request_id": token}}
            if "reason" in about:
                body["data"] = {"request_id": token, "reason": about["reason"]}
            if name not in known:
                self._inbox.send({"id": name, "to": url, "body": body, "since": self._clock()})
        reply = about.get("reply")
        if event == "published" and reply is not None and _name(event, token, "reply") not in known:
            self._inbox.send({"id": _name(event, token, "reply"), "reply": dict(reply), "since": self._clock()})
        self._woken()

    def _work(self, receiver: str) -> None:
        while not self._stopping.is_set():
            self._wake[receiver].clear()
            try:
                pause = self.turn(receiver)
            except StoreError as error:
                log.error("a message could not be taken off the list: %s", error)
                pause = 5.0
            self._wake[receiver].wait(pause)

    def turn(self, receiver: str | None = None) -> float:
        """Attempt the messages that are due, to one receiver or to all; return the seconds until the next attempt."""
        dues = [60.0]
        for kept in self._inbox.at(Stages.OUTGOING):
            if self._stopping.is_set():
                break
            to = kept.fields.get("to", _REPLIES)
            if receiver not in (None, to if to in self._hooks.webhooks else _REPLIES):
                continue
            attempts, due = self._tries.get(kept.number, (0, 0.0))
            if self._clock() >= due and self._over(kept, attempts):
                self._tries.pop(kept.number, None)
                self._inbox.done(kept)
                continue
            dues.append(self._tries.get(kept.number, (0, 0.0))[1] - self._clock())
        return max(0.01, min(dues))

    def _over(self, kept: QueuedRequest, attempts: int) -> bool:
        """Attempt a message once; return whether it is finished."""
        prepared = self._prepared(kept)
        if prepared is None:  # the receiver is no longer configured
            return True
        try:
            status = self._post(*prepared)
        except OSError:
            status = 0
        if 200 <= status < 300:
            self.delivered += 1
            return True
        self.failed += 1
        if status == 410 or self._clock() - kept.fields["since"] > _GIVEN_UP:
            self.given_up += 1
            return True
        pause = min(_LONGEST_PAUSE, self._first * 2.0 ** min(attempts, 20))
        self._tries[kept.number] = attempts + 1, self._clock() + pause
        return False

    def _prepared(self, kept: QueuedRequest) -> tuple[str, bytes, Mapping[str, str]] | None:
        if "reply" in kept.fields:
            if self._hooks.fides is None:
                return None
            reply = kept.fields["reply"]
            sent = {"content-type": "application/json", "authorization": f"Bearer {reply['token']}"}
            return self._hooks.fides + reply["path"], b'{"derived_identity": {}}', sent
        secret = self._hooks.webhooks.get(kept.fields["to"])
        if secret is None:
            return None
        body = json.dumps(kept.fields["body"]).encode()
        return kept.fields["to"], body, headers(secret, kept.fields["id"], body, now=self._clock())


def _name(event: str, token: str, to: str) -> str:
    """Return the id of a message: deterministic in its arguments, without revealing the request id."""
    return "msg_" + hashlib.sha256("\0".join((event, token, to)).encode()).hexdigest()[:32]


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Redirect handler that follows none: messages go to configured addresses only."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Cut:
    """A connection that is shut down after a total time limit: a slow stream would never reach the socket's timeout."""

    _timer: threading.Timer | None = None

    def connect(self) -> None:
        self._timer = threading.Timer(_PATIENCE, self._cut)
        self._timer.daemon = True
        self._timer.start()
        super().connect()  # type: ignore[misc]

    def _cut(self) -> None:
        connected: socket.socket | None = self.sock  # type: ignore[attr-defined]
        if connected is not None:
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().close()  # type: ignore[misc]


class _Plain(_Cut, HTTPConnection):
    pass


class _Secure(_Cut, HTTPSConnection):
    pass


class _PlainHandler(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_Plain, request)


class _SecureHandler(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_Secure, request, context=ssl.create_default_context())


def post_once(url: str, body: bytes, sent: Mapping[str, str]) -> int:
    """Send one POST request and return its status; raise OSError without an answer in time."""
    request = urllib.request.Request(url, body, dict(sent), method="POST")
    opener = urllib.request.build_opener(_NoRedirects, _PlainHandler, _SecureHandler)
    try:
        with opener.open(request, timeout=_PATIENCE) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except (ValueError, HTTPException) as error:  # not a valid HTTP answer
        raise OSError(str(error)) from error
