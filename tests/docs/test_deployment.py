"""What people deploy by: manifests of Kubernetes against its own schemas, and the role of the container's database on a real server."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from noisygd_delete.cli import parser
from tests.store.sources.conftest import Server, database, server

yaml = pytest.importorskip("yaml", reason="PyYAML comes with mkdocs")
__all__ = ["database", "server"]  # fixtures
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


def test_the_role_of_the_composition_is_no_superuser(server: Server, database: str, tmp_path: Path) -> None:
    """The script as the image of PostgreSQL runs it, by the programs of this machine."""
    import psycopg

    name = database.partition("?")[0].rpartition("/")[2]
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
    from noisygd_delete import EditRequest
    from noisygd_delete.store import Store
    from noisygd_delete.store.sources import source_at
    from tests.store.sources.conftest import SCHEMA, plan
    from tests.store.sources.conftest import name as record

    try:
        with Store.create_over(
            tmp_path / "people",
            source_at(database.replace("postgres@", "engine@"), id="id", table="people"),
            SCHEMA,
            plan(),
        ) as store:
            store.learn()
            assert store.serve(EditRequest.delete([record(3)])).counts.deleted == 1
        with psycopg.connect(database) as connection:
            assert connection.execute("SELECT count(*) FROM noisygd_delete.marks").fetchone() == (1,)
    finally:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("DROP OWNED BY engine")
            connection.execute("DROP ROLE engine")
