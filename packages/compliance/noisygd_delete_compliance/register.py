"""The register of a store: the store's notes about requests, read and written as cases."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from noisygd_delete.errors import InvalidParameter, InvalidRequest
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.request_log import Note, NoteUpdate, RequestLog

from .case import RegisterPolicy, RequestCase, Rights

_WRONG = (ValueError, TypeError, AttributeError, InvalidParameter)


class Register:
    """The cases in a store's request log. Reading needs no lock; writing requires the lock of the store.

    Args:
        log: The request log of the store.
    """

    def __init__(self, log: RequestLog) -> None:
        self._log = log

    def cases(self) -> dict[str, tuple[str, RequestCase]]:
        """Return a dict from request id to its commitment in the ledger and what was stated about it."""
        return {token: (committed, self._parse(note)) for token, (committed, note) in self._log.notes().items()}

    def case(self, token: str) -> RequestCase | None:
        """Return what was stated about this request; None if the id is unknown."""
        note = self._log.note(token)
        return None if note is None else self._parse(note)

    @property
    def policy(self) -> RegisterPolicy:
        """The policy that applies to every request."""
        try:
            return RegisterPolicy(**self._log.policy)
        except _WRONG as error:
            raise self._log.corrupt() from error

    def receive(self, cases: Mapping[str, RequestCase]) -> None:
        """Record requests and what is stated about them, before any of them is carried out.

        A known request keeps what was stated, and new facts are added.

        Raises:
            InvalidRequest: If a request was recorded with another time of receipt or another right.
        """
        self._log.update({token: self.adding(case) for token, case in cases.items()})

    def adding(self, case: RequestCase, *, keep_right: bool = False) -> NoteUpdate:
        """Return the update of a note that adds these facts.

        Args:
            case: What is stated.
            keep_right: Whether a right that was stated at receipt takes precedence over that of `case`.
        """

        def update(note: Note) -> Note:
            held = self._parse(note)
            right = held.right if keep_right and held.received is not None else case.right
            return _join_cases(held, case.stated(right=right)).to_dict()

        return update

    def state(self, token: str, case: RequestCase) -> None:
        """Replace what was stated about a known request.

        Raises:
            InvalidRequest: If it is not known.
        """
        if self._log.note(token) is None:
            raise InvalidRequest(
                f"request {token!r} is not in the register; `register list` shows it, `register receive` adds one"
            )
        self._log.update({token: lambda _: case.to_dict()})

    def adopt(self, policy: RegisterPolicy) -> None:
        """Set the policy for every request. A register restored from a backup becomes the valid register."""
        self._log.set_policy(policy.to_dict())

    def forget(self, tokens: Collection[str]) -> None:
        """Erase these request ids with their salts and everything stated about them."""
        self._log.forget(tokens)

    def _parse(self, note: Note) -> RequestCase:
        try:
            return RequestCase(**note)
        except _WRONG as error:
            raise self._log.corrupt() from error


def _join_cases(held: RequestCase, new: RequestCase) -> RequestCase:
    if new.received is not None and datetime.fromisoformat(new.received) > datetime.now(UTC) + timedelta(days=1):
        raise InvalidRequest(f"received={new.received!r} is still to come; nothing was changed")
    if held == RequestCase():
        return new
    for name in ("received", "right"):
        before, after = getattr(held, name), getattr(new, name)
        if None not in (before, after) and before != after and not (name == "right" and new.received is None):
            raise InvalidRequest(
                f"the register holds this request with {name}={str(before)!r}, not {str(after)!r}; nothing was changed. Leave it "
                "out, or give the request a token of its own"
            )
    return held.stated(**{name: getattr(new, name) for name in new.to_dict()})


def register_of(store: str | Path) -> Register:
    """Return the register of the store in this folder, for reading."""
    return Register(RequestLog(Layout.at(store)))


def statement_of(log: RequestLog, right: str, facts: Mapping[str, Any]) -> NoteUpdate:
    """Return the update of a note by which the engine records a request that it carries out.

    Args:
        log: The request log of the store.
        right: The right that the request exercises, unless another was stated at receipt.
        facts: Fields of `RequestCase` that were stated with the request.
    """
    return Register(log).adding(RequestCase(right=Rights(right), **facts), keep_right=True)


def check(log: RequestLog) -> None:
    """Raise `StoreCorrupt` if a note is not a case, or what is stated for every request is no policy."""
    register = Register(log)
    register.cases()
    register.policy  # noqa: B018 -- parses
