"""Tokens of an identity provider (OpenID Connect): signed by it for this service, short-lived, with its roles.

    [[oidc]]                                   # in the token file, with or without [[token]]
    issuer = "https://id.example/realms/desk"
    audience = "noisygd-delete"
    keys = "desk.jwks.json"                    # public keys of the provider (its jwks_uri); reloaded when it changes
    claim = "groups"                           # the claim that holds the roles; default: roles
    roles = { "privacy-desk" = ["request"], "officers" = ["read", "sign"] }   # default: the claim has the roles here

The path of `keys` is relative to the token file. The service contacts no one: the operator keeps the file of keys up to
date. Only asymmetric signatures are accepted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from noisygd_delete.errors import InvalidParameter
from noisygd_delete.records import limited_io

ALGORITHMS = ("RS256", "PS256", "ES256", "ES384", "EdDSA", "Ed25519")
_LONGEST = 16_384  # characters of a token
_CLOCKS = 60  # seconds by which two clocks may differ
_LONGEST_NAME = 100


class VerifiedIdentity(NamedTuple):
    """The sender of a token, their roles here, and whether the token has expired."""

    name: str
    roles: tuple[str, ...]
    over: bool


@dataclass(frozen=True)
class Provider:
    """A trusted identity provider.

    Attributes:
        issuer: Required issuer of its tokens.
        audience: Required audience of its tokens.
        file: File of its public keys.
        keys: The keys, as a `joserfc` key set.
        claim: The claim that holds the roles.
        roles: Value of the claim -> roles here.
    """

    issuer: str
    audience: str
    file: Path
    keys: Any
    claim: str
    roles: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, fields: Any, folder: Path, known: Collection[str]) -> Provider:
        """Return a provider from its fields in the token file, with roles among the `known` ones.

        Raises:
            ValueError: If a field is not valid; also `KeyError` and `TypeError`.
            InvalidParameter: If the file of keys holds no public keys.
        """
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        if not {"issuer", "audience", "keys"} <= set(fields) <= {"issuer", "audience", "keys", "claim", "roles"}:
            raise ValueError("an [[oidc]] has issuer, audience and keys, perhaps claim and roles, and nothing else")
        texts = [fields["issuer"], fields["audience"], fields["keys"], fields.get("claim", "roles")]
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise ValueError("issuer, audience, keys and claim are texts")
        given = fields.get("roles", {name: [name] for name in known})
        roles = {str(name): tuple(mapped) for name, mapped in given.items()}
        if not {role for mapped in roles.values() for role in mapped} <= set(known):
            raise ValueError(f"roles are among {', '.join(sorted(known))}")
        listed = json.loads(limited_io.read_text(folder / texts[2], limited_io.KEY))
        try:
            keys = KeySet.import_key_set({"keys": [key for key in listed["keys"] if key.get("use", "sig") == "sig"]})
            if not keys.keys or any(key.is_private or key.key_type == "oct" for key in keys.keys):
                raise ValueError
        except (JoseError, ValueError, KeyError, TypeError, AttributeError):
            raise InvalidParameter(
                f"{folder / texts[2]}: not the public keys of a provider (its jwks_uri gives them)"
            ) from None
        return cls(texts[0], texts[1], folder / texts[2], keys, texts[3], roles)

    def identify(self, token: str) -> VerifiedIdentity | None:
        """Return the identity in a token; None if it is not a token of this provider for this service."""
        from joserfc import jwt
        from joserfc.errors import ExpiredTokenError, JoseError

        if len(token) > _LONGEST or token.count(".") != 2:
            return None
        rules = jwt.JWTClaimsRegistry(
            leeway=_CLOCKS,
            iss={"essential": True, "value": self.issuer},
            aud={"essential": True, "value": self.audience},
            sub={"essential": True},
            exp={"essential": True},
        )
        try:
            claims = jwt.decode(token, self.keys, algorithms=list(ALGORITHMS)).claims
            over = False
            try:
                rules.validate(claims)
            except ExpiredTokenError:
                over = True
                rules.validate({**claims, "exp": int(time.time())})
        except (JoseError, ValueError, TypeError, KeyError, AttributeError):
            return None
        name, held = claims["sub"], claims.get(self.claim, [])
        held = held.split() if isinstance(held, str) else held
        if not (
            isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME and name.isprintable() and isinstance(held, list)
        ):
            return None
        found = [role for one in held if isinstance(one, str) for role in self.roles.get(one, ())]
        return VerifiedIdentity(f"{self.issuer} {name}", tuple(found), over)
