"""What people deploy by: manifests of Kubernetes against its own schemas, and the role of the container's database on a real server."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from noisygd_delete.cli import parser
from noisygd_delete.evidence import verify_certificate
from tests.service.processes import Begin, serving
from tests.sources.conftest import SCHEMA_FILE, Server, database, database_of, server
from tests.sources.conftest import name as record

yaml = pytest.importorskip("yaml", reason="PyYAML comes with mkdocs")
__all__ = ["database", "server", "serving"]  # fixtures
ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "examples" / "kubernetes" / "service.yaml"


def manifests() -> dict[str, Any]:
    return {one["kind"]: one for one in yaml.safe_load_all(MANIFESTS.read_text())}


@pytest.mark.filterwarnings("ignore")
def test_manifests_are_those_of_kubernetes() -> None:
    known = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    for kind, one in manifests().items():
        known.validate(one, "1.31", strict=True)
        with pytest.raises(known.ValidationError):
            known.validate(one | {"kinds": kind}, "1.31", strict=True)


def test_one_writer_is_probed_and_locked_in() -> None:
    found = manifests()
    deployed = found["Deployment"]["spec"]
    pod = deployed["template"]["spec"]
    (service,) = pod["containers"]
    assert (deployed["replicas"], deployed["strategy"]["type"]) == (1, "Recreate")
    assert found["PersistentVolumeClaim"]["spec"]["accessModes"] == ["ReadWriteOncePod"]
    assert pod["securityContext"]["runAsUser"] == 10001, "as in the Dockerfile"
    for one in (service, *pod["initContainers"]):
        assert one["securityContext"]["readOnlyRootFilesystem"] is True
        assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert one["securityContext"]["allowPrivilegeEscalation"] is False
    paths = {name: service[name]["httpGet"]["path"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert paths == {"startupProbe": "/live", "livenessProbe": "/live", "readinessProbe": "/health"}
    assert {mount["mountPath"] for mount in service["volumeMounts"]} >= {"/stores", "/tmp", "/var/tmp"}
    told = parser().parse_args(service["args"])
    assert (told.stores, told.behind_proxy, told.log) == (["people"], True, "json")
    policy = found["NetworkPolicy"]["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert all("to" in rule for rule in policy["egress"]), "nowhere else"


def written(program: str) -> list[list[str]]:
    """The words of the commands of this service that the page has, in their order."""
    before = f"docker compose run --rm {program} "
    lines = (ROOT / "docs" / "container.md").read_text().splitlines()
    return [line.removeprefix(before).split() for line in lines if line.startswith(before)]


@pytest.mark.filterwarnings("ignore")
def test_the_composition_as_it_is_written_up_to_a_release_after_an_erasure(
    server: Server, database: str, tmp_path: Path, serving: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Role, commands and service of the page and of compose.yaml, by the programs of this machine in one folder."""
    import psycopg

    name = database_of(database)
    given = {
        "PGHOST": str(server.folder),
        "POSTGRES_USER": "postgres",
        "POSTGRES_DB": name,
        "ENGINE_PASSWORD": "it's $a \\secret",
    }
    environment = {**os.environ, **given, "PATH": f"{server.programs}:{os.environ['PATH']}"}
    subprocess.run([str(ROOT / "examples" / "container" / "role.sh")], env=environment, check=True, capture_output=True)
    with psycopg.connect(database, autocommit=True) as connection:
        found = connection.execute(
            "SELECT rolsuper, rolcreatedb, rolcreaterole, rolpassword IS NOT NULL FROM pg_authid WHERE rolname = 'engine'"
        ).fetchone()
        assert found == (False, False, False, True)
        connection.execute("GRANT SELECT, DELETE ON people TO engine")
    monkeypatch.chdir(tmp_path)
    Path("people.toml").write_text(SCHEMA_FILE)
    here = {"postgresql://engine@database/people": database.replace("postgres@", "engine@")}
    try:
        commands = [command for command in written("engine") if command[0] != "people.toml"]
        assert [command[0] for command in commands] == ["init", "learn", "token"]
        for command in commands:
            done = subprocess.run(
                [sys.executable, "-m", "noisygd_delete", *(here.get(word, word) for word in command)],
                env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'packages/server'}:{ROOT / 'packages/compliance'}:{ROOT / 'packages/sources'}"}, check=False, capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            secret = next((word for word in done.stdout.split() if word.startswith("ngd_")), "")
        words = yaml.safe_load((ROOT / "packages" / "server" / "compose.yaml").read_text())["services"]["service"][
            "command"
        ]
        assert words[:4] == ["serve", "people", "--tokens", "tokens.toml"]
        assert words[4:7] == ["--host", "0.0.0.0", "--behind-proxy"]
        with serving(tmp_path, str(tmp_path / "people"), *words[7:-1], "0.2") as service:
            asked = {"request_id": "r", "delete": [record(3)]}
            assert service.call("POST", "/requests", secret, asked)[0] == 202
            last, state = time.monotonic() + 60, ""
            while state != "published" and time.monotonic() < last:
                state = service.call("GET", "/requests/r", secret)[1]["state"]
                time.sleep(0.1)
            code, papers = service.call("GET", "/requests/r/certificate", secret)
            assert (state, code) == ("published", 200)
            assert service.end() == 0
        found = verify_certificate(
            papers["certificates"][0]["certificate"]
        ).checks  # a token that only reads gets it unsigned
        assert {check.name for check in found if not check.passed} == {"signature"}
        with psycopg.connect(database) as connection:
            assert connection.execute("SELECT count(*) FROM noisygd_delete.marks").fetchone() == (1,)
            assert connection.execute("SELECT count(*) FROM people WHERE id = %s", [record(3)]).fetchone() == (0,)
    finally:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("DROP OWNED BY engine")
            connection.execute("DROP ROLE engine")
