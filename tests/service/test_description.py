"""The API is what its own description says: made of the types that check, and fuzzed from it by a judge (schemathesis)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
from noisygd_delete_server.access import new_token
from noisygd_delete_server.api import application

from .conftest import ROLES, Opened, name, raw
from .processes import Begin
from .test_api import ROUTES

JUDGE = os.environ.get("NOISYGD_DELETE_SCHEMATHESIS") or shutil.which("schemathesis")
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,negative_data_rejection,"
    "unsupported_method"
)


def test_every_route_is_described_with_its_roles_and_no_other(store: Path, opened: Opened) -> None:
    desk = opened(store)
    described = desk.client.get("/openapi.json").json()
    routes = {
        (method, route.path)
        for route in application(desk.service, run=False).routes
        for method in route.methods - {"HEAD"}
    }
    found = {
        (method.upper(), path): operation
        for path, item in described["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    }
    assert set(found) == routes
    for method, path, roles in ROUTES:
        operation = found[method, path.replace("/one", "/{token}")]
        assert set(re.search(r"\(role (.*)\)", operation["summary"])[1].split(" or ")) == roles
        assert operation["security"]
    assert all(f"{method} {path}" in desk.client.get("/").text for method, path in routes)


def test_what_the_description_takes_and_refuses_is_what_the_service_does(store: Path, opened: Opened) -> None:
    """Where form alone decides; a row has to be of the table's schema besides."""
    desk = opened(store)
    described = desk.client.get("/openapi.json").json()
    schema = {"$ref": "#/components/schemas/RequestBody", "components": described["components"]}
    judge = jsonschema.Draft202012Validator(schema)
    fit = [
        {"delete": [name(1)]}, {"delete": [1, "a"]}, {"subjects": ["x"], "channel": "e-mail"}, {"replace": {name(1): raw(1)}},
        {"delete": ["a"], "identity_checked": True, "received": "2026-05-04T09:30:00Z"},
    ]  # fmt: skip
    unfit = [
        {}, {"delete": []}, {"delete": [""]}, {"delete": "a"}, {"delete": [1.5]}, {"delete": [None]}, {"delete": ["a" * 1001]},
        {"delete": ["a"], "more": 1}, {"delete": ["a"], "channel": "pigeon"}, {"delete": ["a"], "identity_checked": "yes"},
        {"replace": {}}, {"replace": {"a": 1}}, [], [1, 2], "text", 1,
        *({"delete": ["a"], "request_id": token} for token in ("../etc", "-x", "", None)),
    ]  # fmt: skip
    for asked in [*fit, *unfit]:
        answered = desk.post("/requests", "request", json=asked)
        assert judge.is_valid(asked) == (asked in fit), asked
        assert answered.status_code == (202 if asked in fit else 422), (asked, answered.text)
        if asked in fit:
            course = {"$ref": "#/components/schemas/Course", "components": described["components"]}
            jsonschema.validate(answered.json(), course)
        else:
            assert (answered.json()["code"], answered.json()["status"]) == ("unfit", 422)
    assert desk.service.inbox.counts()["accepted"] == len(fit)


@pytest.mark.skipif(JUDGE is None, reason="schemathesis is not installed; make api installs it beside, and names it")
@pytest.mark.skipif(os.name == "nt", reason="forks")
@pytest.mark.parametrize("seconds", [10, pytest.param(120, marks=pytest.mark.long)])
def test_fuzzed_from_its_own_description_it_never_fails(
    tmp_path: Path, store: Path, secrets: dict[str, str], serving: Begin, seconds: int, record_property
) -> None:
    token, lines = new_token("all", ROLES)
    with (tmp_path / "tokens.toml").open("a") as file:
        file.write(lines)
    with serving(tmp_path, str(store), "--batch", "5") as service:
        done = subprocess.run(
            [str(JUDGE), "run", f"{service.address}/openapi.json", "-H", f"Authorization: Bearer {token}", "--checks", CHECKS,
             "-n", "100", "--seed", "1", "--phases", "coverage,fuzzing,stateful", "--max-time", str(seconds), "--continue-on-failure"],
            cwd=tmp_path, capture_output=True, text=True, timeout=60 + 2 * seconds, check=False,
        )  # fmt: skip
        assert service.call("GET", "/health", None) == (200, service.call("GET", "/health", None)[1])
        assert service.end() == 0
    said = (tmp_path / "log.txt").read_text()
    assert done.returncode == 0, done.stdout[-3000:]
    assert " answered 500 " not in said
    record_property("evidence", " ".join(re.findall(r"\d+ generated, \d+ passed", done.stdout)))
