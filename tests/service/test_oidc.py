"""Tokens of an identity provider: what it signed for this service counts while it lasts, and nothing else does."""

from __future__ import annotations

import base64
import hmac
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("noisygd_delete_server", reason="noisygd-delete-server is not installed")
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, OKPKey, RSAKey
from noisygd_delete_server import TokenFile

from noisygd_delete.errors import InvalidParameter

from .conftest import Opened, name

ISSUER, AUDIENCE = "https://id.example/realms/desk", "noisygd-delete"
FILE = f"""
[[oidc]]
issuer = "{ISSUER}"
audience = "{AUDIENCE}"
keys = "keys.json"
claim = "groups"
roles = {{ privacy-desk = ["request"], officers = ["read", "sign"] }}
"""


def jwks(folder: Path, *keys: Any) -> None:
    (folder / "keys.json").write_text(json.dumps(KeySet(list(keys)).as_dict(private=False)))


def claims(**changes: Any) -> dict[str, Any]:
    said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "anna", "exp": int(time.time()) + 300, "groups": ["privacy-desk"]}
    return {key: value for key, value in (said | changes).items() if value is not None}


def signed(key: Any, algorithm: str = "ES256", header: dict[str, Any] | None = None, **changes: Any) -> str:
    algorithms = [algorithm]
    return jwt.encode(
        {"alg": algorithm, "kid": key.kid, **(header or {})}, claims(**changes), key, algorithms=algorithms
    )


@pytest.fixture
def key() -> ECKey:
    return ECKey.generate_key("P-256", parameters={"kid": "one"}, auto_kid=False)


@pytest.fixture
def file(tmp_path: Path, key: ECKey) -> Path:
    jwks(tmp_path, key)
    path = tmp_path / "oidc.toml"
    path.touch(mode=0o600)
    path.write_text(FILE)
    return path


def test_who_is_signed_for_asks_by_role(tmp_path: Path, store: Path, opened: Opened, file: Path, key: ECKey) -> None:
    desk = opened(store)
    desk.service.tokens = TokenFile.read(file)
    ask = {"Authorization": f"Bearer {signed(key)}"}
    done = desk.client.post("/requests", json={"delete": [name(1)], "request_id": "one"}, headers=ask)
    assert done.status_code == 202
    assert desk.client.get("/requests/one", headers=ask).status_code == 200
    assert desk.service.known.requested_by("one") == f"{ISSUER} anna"
    other = {"Authorization": f"Bearer {signed(key, sub='bert')}"}
    assert desk.client.get("/requests/one", headers=other).status_code == 404
    officer = {"Authorization": f"Bearer {signed(key, groups='officers else')}"}
    assert desk.client.get("/requests/one", headers=officer).status_code == 200
    assert desk.client.get("/register", headers=ask).json()["code"] == "role"
    over = desk.client.get(
        "/requests/one", headers={"Authorization": f"Bearer {signed(key, exp=int(time.time()) - 90)}"}
    )
    assert (over.status_code, over.json()["code"]) == (401, "token-ended")


def forged(key: ECKey) -> dict[str, str]:
    stranger = ECKey.generate_key("P-256", parameters={"kid": "one"}, auto_kid=False)
    secret = base64.urlsafe_b64encode(b'{"alg":"HS256","kid":"one"}').rstrip(b"=").decode()
    part = base64.urlsafe_b64encode(json.dumps(claims()).encode()).rstrip(b"=").decode()
    mac = hmac.digest(key.as_pem(private=False), f"{secret}.{part}".encode(), "sha256")
    none = base64.urlsafe_b64encode(b'{"alg":"none","kid":"one"}').rstrip(b"=").decode()
    head, body, _ = signed(key).split(".")
    now = int(time.time())
    return {
        "another key of the same name": signed(stranger),
        "no signature": f"{none}.{part}.",
        "the public key as a secret": f"{secret}.{part}." + base64.urlsafe_b64encode(mac).rstrip(b"=").decode(),
        "another body": f"{head}.{part[:-2]}AA.{signed(key).split('.')[2]}",
        "a cut one": f"{head}.{body}",
        "another issuer": signed(key, iss="https://id.example/realms/other"),
        "another audience": signed(key, aud="billing"),
        "no audience": signed(key, aud=None),
        "no end": signed(key, exp=None),
        "not yet": signed(key, nbf=now + 600),
        "nobody": signed(key, sub=None),
        "a name of two lines": signed(key, sub="anna\nroot"),
        "roles of another form": signed(key, groups={"privacy-desk": 1}),
        "a signature of another form": f"{head}.{body}.x",
        "a long one": signed(key, extra="x" * 20_000),
        "no token": "....",
    }


def test_what_it_did_not_sign_for_us_is_nobodys(file: Path, key: ECKey) -> None:
    tokens = TokenFile.read(file)
    caller = tokens.caller(signed(key))
    assert caller is not None
    assert not caller.ended
    for what, token in forged(key).items():
        assert tokens.caller(token) is None, what
    outsider = tokens.caller(signed(key, groups=["staff"]))
    assert outsider is not None
    assert not outsider.roles


@pytest.mark.parametrize(
    ("made", "algorithm"),
    [
        (lambda: RSAKey.generate_key(2048), "RS256"),
        (lambda: RSAKey.generate_key(2048), "PS256"),
        (lambda: OKPKey.generate_key("Ed25519"), "Ed25519"),
    ],
)
def test_keys_of_other_kinds(tmp_path: Path, file: Path, made: Any, algorithm: str) -> None:
    other = made()
    other.ensure_kid()
    jwks(tmp_path, other)
    assert TokenFile.read(file).caller(signed(other, algorithm)) is not None


def test_new_keys_count_without_a_restart(
    tmp_path: Path, file: Path, key: ECKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = TokenFile.read(file)
    later = ECKey.generate_key("P-256", parameters={"kid": "two"}, auto_kid=False)
    jwks(tmp_path, later)
    os.utime(tmp_path / "keys.json", (time.time() + 5, time.time() + 5))
    monkeypatch.setattr(tokens, "_looked", -1e9)
    assert tokens.caller(signed(key)) is None
    assert tokens.caller(signed(later)) is not None


@pytest.mark.parametrize(
    "change",
    [
        ('keys = "keys.json"', 'keys = "none.json"'),
        (f'audience = "{AUDIENCE}"', ""),
        ('["request"]', '["root"]'),
        ("claim", "claims"),
        ('"keys.json"', '"secret.json"'),
        ('"keys.json"', '"private.json"'),
        ('"keys.json"', '"empty.json"'),
    ],
)
def test_a_provider_that_is_none_is_refused(tmp_path: Path, file: Path, key: ECKey, change: tuple[str, str]) -> None:
    (tmp_path / "secret.json").write_text(json.dumps(KeySet([OctKey.generate_key(256)]).as_dict(private=True)))
    (tmp_path / "private.json").write_text(json.dumps(KeySet([key]).as_dict(private=True)))
    (tmp_path / "empty.json").write_text('{"keys": []}')
    file.write_text(FILE.replace(*change))
    with pytest.raises(InvalidParameter):
        TokenFile.read(file)
