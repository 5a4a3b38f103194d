"""Authorization: bearer tokens with roles, stored as SHA-256 only.

    [[token]]
    name = "privacy desk"
    roles = ["request", "read"]
    sha256 = "…"
    until = 2027-06-30        # last valid day, UTC; optional

Tokens of an identity provider are accepted as well (`oidc`). Changes of the file take effect within a second: delete
the lines of a token to revoke it. A token is 32 random bytes, so its hash needs neither salt nor stretching. Comparison
takes the same time for every token.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import stat
import time
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Self

from noisygd_delete.errors import InvalidParameter, Word
from noisygd_delete.records import limited_io

from .oidc import Provider

_PREFIX = "ngd_"  # makes a leaked token recognisable
_MOST = 1000  # tokens of one file
_LONGEST = 100  # characters of a name
_LOOKS = 1.0  # seconds between checks for a changed file

log = logging.getLogger("noisygd_delete_server")


class Roles(Word):
    """Permissions of a token.

    REQUEST: send requests and read the status of one's own. PUBLISH: publish pending edits, and retry or drop
    quarantined requests. READ: read every request, the register and certificates. SIGN: have certificates signed.
    """

    REQUEST = "request"
    PUBLISH = "publish"
    READ = "read"
    SIGN = "sign"


@dataclass(frozen=True)
class Caller:
    """The holder of a token.

    Attributes:
        name: Name of the token in its file.
        roles: Its permissions.
        until: Its last valid day, UTC.
        over: Whether a token of an identity provider has expired.
    """

    name: str
    roles: frozenset[Roles]
    until: date | None = None
    over: bool = False

    @property
    def ended(self) -> bool:
        """Whether the token has expired."""
        return self.over or (self.until is not None and datetime.now(UTC).date() > self.until)


class TokenFile:
    """The tokens that a service accepts.

    Raises:
        InvalidParameter: If the file cannot be read, is no token file, or is readable by other users.
    """

    def __init__(
        self,
        callers: Sequence[tuple[bytes, Caller]],
        path: Path | None = None,
        providers: Sequence[Provider] = (),
    ) -> None:
        self._callers, self._path, self._providers = tuple(callers), path, tuple(providers)
        self._mark, self._looked = self._marks(), time.monotonic()

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a token file and check its mode and format."""
        text = limited_io.read_text(path, limited_io.LIST)
        if os.name != "nt" and stat.S_IMODE(os.stat(path).st_mode) & 0o077:
            raise InvalidParameter(f"{path}: others than its owner may read it; chmod 600 {path}")
        try:
            listed = tomllib.loads(text)
            known = [*listed.get("token", ()), *listed.get("oidc", ())]
            if not set(listed) <= {"token", "oidc"} or not 0 < len(known) <= _MOST:
                raise ValueError(f"give 1 to {_MOST} [[token]] or [[oidc]], and nothing else")
            providers = [Provider.read(fields, Path(path).parent, set(Roles)) for fields in listed.get("oidc", ())]
            return cls([_caller(fields) for fields in listed.get("token", ())], Path(path), providers)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidParameter(
                f"{path}: not a file of tokens ({error}); `noisygd-delete token` writes one"
            ) from error

    def caller(self, token: str | None) -> Caller | None:
        """Return the holder of a token; None if it is not valid."""
        self._read_again()
        digest = hashlib.sha256((token or "").encode("utf-8", "surrogateescape")).digest()
        found = None
        for known, caller in self._callers:
            if hmac.compare_digest(known, digest):
                found = caller
        if found is None and token:
            identity = next(filter(None, (provider.identify(token) for provider in self._providers)), None)
            if identity is not None:
                found = Caller(identity.name, frozenset(map(Roles, identity.roles)), over=identity.over)
        return found

    def _read_again(self) -> None:
        """Reload the file if it has changed; if it cannot be read, keep the current tokens."""
        if self._path is None or time.monotonic() < self._looked + _LOOKS:
            return
        self._looked = time.monotonic()
        mark = self._marks()
        if mark == self._mark:
            return
        self._mark = mark
        try:
            again = TokenFile.read(self._path)
            self._callers, self._providers, self._mark = again._callers, again._providers, again._mark
        except InvalidParameter as error:
            log.error("the file of tokens was not taken over: %s", error)

    def _marks(self) -> tuple[tuple[int, ...] | None, ...]:
        files = [] if self._path is None else [self._path, *(provider.file for provider in self._providers)]
        return tuple(map(_mark, files))


def _mark(path: Path) -> tuple[int, ...] | None:
    """Return what changes if a file is written or replaced."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _caller(fields: Any) -> tuple[bytes, Caller]:
    if not {"name", "roles", "sha256"} <= set(fields) <= {"name", "roles", "sha256", "until"}:
        raise ValueError("a token has name, roles and sha256, perhaps until, and nothing else")
    until = fields.get("until")
    if type(until) not in (date, type(None)):
        raise ValueError("until is a day without quotes, for example until = 2027-06-30")
    digest, roles = bytes.fromhex(fields["sha256"]), [Roles(role) for role in fields["roles"]]
    if len(digest) != hashlib.sha256().digest_size or not roles:
        raise ValueError("sha256 has 64 hexadecimal digits, and roles at least one role")
    return digest, Caller(_name(fields["name"]), frozenset(roles), until)


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST or not name.isprintable():
        raise InvalidParameter(f"must be a text of one line and at most {_LONGEST} characters", name=name)
    return name


def new_token(name: str, roles: Collection[str], until: date | None = None) -> tuple[str, str]:
    """Return a new token and its entry for a token file. The token itself is not stored.

    Args:
        name: Name of the holder.
        roles: Permissions of the token.
        until: Its last valid day, UTC; None for no end.
    """
    chosen = list(dict.fromkeys(Roles(role) for role in roles))
    if not chosen:
        raise InvalidParameter(f"give at least one of the roles: {', '.join(map(str, Roles))}")
    token = _PREFIX + secrets.token_urlsafe(32)
    quoted = _name(name).replace("\\", "\\\\").replace('"', '\\"')
    listed = ", ".join(f'"{role}"' for role in chosen)
    digest = hashlib.sha256(token.encode()).hexdigest()
    end = "" if until is None else f"until = {until.isoformat()}\n"
    return token, f'[[token]]\nname = "{quoted}"\nroles = [{listed}]\nsha256 = "{digest}"\n{end}'
