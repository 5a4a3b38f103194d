"""Tokens: who has one may do what its roles say; the file holds hashes, for its owner alone."""

from __future__ import annotations

import hmac
from pathlib import Path

import pytest
from noisygd_delete_server import Roles, TokenFile, new_token

from noisygd_delete.cli import main
from noisygd_delete.errors import InvalidParameter


def test_the_command_prints_a_token_once_and_keeps_its_hash(tmp_path: Path, as_json) -> None:
    file = tmp_path / "tokens.toml"
    for name in ("desk", 'the "other" one'):
        token = as_json("token", str(file), "--name", name, "--role", "request", "--role", "read")["token"]
        caller = TokenFile.read(file).caller(token)
        assert caller is not None
        assert (caller.name, caller.roles) == (name, {Roles.REQUEST, Roles.READ})
        assert token not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert TokenFile.read(file).caller("ngd_nobody") is None
    assert TokenFile.read(file).caller(None) is None


@pytest.mark.parametrize(
    "arguments", [["--name", "desk"], ["--name", "a\nb", "--role", "read"], ["--name", "x" * 200, "--role", "read"]]
)
def test_a_token_without_a_role_or_a_name_is_refused(tmp_path: Path, arguments: list[str]) -> None:
    assert main(["token", str(tmp_path / "tokens.toml"), *arguments]) == 2
    assert not (tmp_path / "tokens.toml").exists()


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.toml"
    file.write_text("[notes]\n")
    file.chmod(0o600)
    assert main(["token", str(file), "--name", "desk", "--role", "read"]) == 2
    assert file.read_text() == "[notes]\n"


@pytest.mark.parametrize("change", ["mode", "role", "hash", "more", "none"])
def test_a_file_that_others_read_or_that_says_something_else_is_refused(tmp_path: Path, change: str) -> None:
    _, lines = new_token("desk", ["read"])
    file = tmp_path / "tokens.toml"
    text = {
        "mode": lines,
        "role": lines.replace('"read"', '"admin"'),
        "hash": lines.replace('sha256 = "', 'sha256 = "00'),
        "more": lines + "until = 1\n",
        "none": "",
    }[change]
    file.write_text(text)
    file.chmod(0o644 if change == "mode" else 0o600)
    with pytest.raises(InvalidParameter, match="chmod 600" if change == "mode" else "not a file of tokens"):
        TokenFile.read(file)


def test_every_comparison_looks_at_every_token_in_constant_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = [new_token(f"t{k}", ["read"]) for k in range(5)]
    file = tmp_path / "tokens.toml"
    file.write_text("".join(lines for _, lines in made))
    file.chmod(0o600)
    tokens, compared = TokenFile.read(file), []
    real = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append(1) or real(a, b))
    for token in (made[0][0], made[4][0], "ngd_wrong", ""):
        compared.clear()
        tokens.caller(token)
        assert len(compared) == 5
