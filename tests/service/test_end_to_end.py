"""From a privacy desk to a model registry: Fides' webhook in, rows in PostgreSQL, a release in MLflow, the call back, the certificate.

The service is killed at instants that nobody chose. Needs PostgreSQL and MLflow: `make publishers`.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mlflow", reason="MLflow is not installed (make publishers)")
pytest.importorskip("noisygd_delete_server", reason="noisygd-delete-server is not installed")

from noisygd_delete_compliance.request_rows import register_lines
from noisygd_delete_server.publishers import publish_to
from noisygd_delete_sources import source_at

from noisygd_delete.store import status
from tests.publishers.conftest import coefficients
from tests.sources.conftest import fill, learned, name, new_database, plan, server, statement, tmp_path
from tests.store.conftest import found

from .conftest import SECRET, token_file
from .privacy_desk import PrivacyDesk
from .processes import Begin, Serving, mother_of_services
from .test_process import edits_of, settled

__all__ = ["server", "tmp_path"]  # fixtures
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.skipif(os.name == "nt", reason="SIGKILL")]
MODEL = "people"
_PATIENCE = 180.0  # seconds in which nothing moves, on a machine that does other things too


IMPORTED = ("mlflow", "mlflow.pyfunc", "sqlalchemy", "alembic", "psycopg", "onnx")


@pytest.fixture(scope="module")
def begun() -> Iterator[Begin]:
    """What begins services; it has imported what they use, and has no connection open."""
    with mother_of_services(
        *IMPORTED, "noisygd_delete_server.publishers.registry", MLFLOW_DISABLE_TELEMETRY="true"
    ) as begin:
        yield begin


def table(server: Any, rows: int) -> str:
    """The address of a database of so many people."""
    address = new_database(server, "CREATE TABLE people (id text PRIMARY KEY, a float8, b numeric, c text, y text)")
    people = ((k * 37 % 200 - 100, k * 53 % 160, "xz"[k % 2], ("no", "yes")[k % 3 == 0]) for k in range(rows))
    fill(address, ((name(k), a / 128, b / 16, c, y) for k, (a, b, c, y) in enumerate(people)))
    return address


def registered(folder: Path) -> tuple[int, bool, list[bytes]]:
    """How many versions there are, whether the alias leads to one, and the model file of every artefact."""
    import mlflow

    uri = f"sqlite:///{folder / 'mlflow.db'}"
    client = mlflow.MlflowClient(tracking_uri=uri, registry_uri=uri)
    versions = [one.version for one in client.search_model_versions(f"name = '{MODEL}'")]
    led = client.get_registered_model(MODEL).aliases.get("production") in versions
    return len(versions), led, [file.read_bytes() for file in (folder / "mlartifacts").rglob("model.safetensors")]


def webhook(service: Serving, token: str, k: int) -> tuple[int, Any]:
    """What Fides sends before an erasure."""
    who = {"external_id": {"value": name(k)}}
    body = {"privacy_request_id": f"pri-{k}", "identity": who, "policy_action": "erasure"}
    back = {"reply-to": f"/resume/pri-{k}", "reply-to-token": f"reply-pri-{k}"}
    return service.call("POST", "/webhooks/fides", token, body, **back)


@pytest.mark.parametrize("kills", [4, pytest.param(200, marks=pytest.mark.long)])
def test_killed_between_any_two_arrows(
    tmp_path: Path, server: Any, begun: Begin, kills: int, record_property: Any
) -> None:
    draw, rows = random.Random(kills), 60 + 4 * kills
    path = tmp_path / "people"
    address, desk, secrets = table(server, rows), PrivacyDesk(path), token_file(tmp_path / "tokens.toml")
    with learned(path, source_at(address, id="id", table="people"), of=plan(slots=rows)) as store:
        publish_to(store, f"mlflow:sqlite:///{tmp_path / 'mlflow.db'}", model=MODEL)
        assert store.destinations_behind == ()
    (tmp_path / "secret").touch(mode=0o600)
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "hooks.toml").write_text(
        f'[[webhook]]\nurl = "{desk.address}/told"\nsecret_file = "secret"\n[fides]\nurl = "{desk.address}/api"\nnames = "id"\n'
    )
    arguments = (str(path), "--batch", "4", "--hooks", str(tmp_path / "hooks.toml"))
    sent, former, models_seen, ended = 0, set[bytes](), set[bytes](), Counter[str]()
    for _ in range(kills):
        with begun(tmp_path, *arguments) as service:
            timer = threading.Timer(draw.uniform(0.0, 3.0), service.kill)
            timer.start()
            for _ in range(3):
                code, answer = webhook(service, secrets["request"], sent)
                if code == 0:
                    break
                assert (code, answer) == (200, {"halt": True})
                sent += 1
                time.sleep(draw.uniform(0.0, 0.5))
            timer.join()
            service.end(signal.SIGKILL)
        for file in path.glob("model-*.safetensors"):
            former.update(coefficients(file))
            models_seen.add(coefficients(file)[0])
        (told,) = status(path)["publishers"]
        ended[
            "request in flight"
            if status(path)["request_in_flight"]
            else "publisher behind"
            if told["pending"]
            else "at rest"
        ] += 1
    with begun(tmp_path, *arguments, "--deadline", "0.5") as service:
        names = [f"pri-{k}" for k in range(sent)]
        states = settled(service, secrets["read"], names, _PATIENCE)
        assert Counter(states.values()) == {"published": sent}
        moved, heard = time.monotonic(), (0, 0)
        while min(heard) < sent and time.monotonic() < moved + _PATIENCE:
            before, heard = heard, (len(desk.resumed), len(desk.told))
            moved = time.monotonic() if heard != before else moved
            time.sleep(0.1)
        papers = {
            one: service.call("GET", f"/requests/{one}/certificate", secrets["read"])
            for one in names[:: max(1, sent // 20)]
        }
        assert service.end() == 0
    desk.close()
    assert sent > kills // 2

    # every request once, in the ledger and in the table; a last one may have come in without its answer
    done = edits_of(path)
    assert {token: count for token, count in done.items() if count != 1} == {}
    assert set(names) <= set(done) <= {*names, f"pri-{sent}"}
    gone = [name(int(token.split("-")[1])) for token in done]
    assert statement(address, "DELETE FROM people WHERE id = ANY(%s)", gone) == 0
    assert statement(address, "DELETE FROM people") == rows - len(done)

    # one version in force, and of every earlier model nothing
    versions, led, models = registered(tmp_path)
    (current,) = path.glob("model-*.safetensors")
    assert (versions, led, models) == (1, True, [current.read_bytes()])
    assert found(tmp_path / "mlartifacts", list(former - set(coefficients(current)))) == []
    assert status(path)["publishers"][0]["pending"] is False

    # nobody is told before it is so, everybody is told, nothing is late without saying so
    assert desk.faults == []
    assert set(desk.resumed) == set(done)
    assert set(desk.told) == {f"request.published {token}" for token in done}
    lines = register_lines(path)
    assert {line.token for line in lines if line.of_a_person} == set(done)
    assert [
        line.token for line in lines if line.of_a_person and (line.late or line.served is None or line.served.still_at)
    ] == []
    for one, (code, paper) in papers.items():
        assert code == 200, paper
        (certificate,) = paper["certificates"]
        assert certificate["certificate"]["request"]["request_id"] == one
    killed = ", ".join(f"{count} {what}" for what, count in sorted(ended.items()))
    record_property(
        "evidence",
        f"{kills} kills ({killed}); {sent} requests answered, {len(done)} in the ledger, each once; {status(path)['releases']} releases, 1 version "
        f"in force, weights of {len(models_seen - {coefficients(current)[0]})} earlier models looked for and none found; {len(desk.resumed)} called "
        f"back, {len(desk.told)} told, none early; {len(papers)} certificates asked for by id and got",
    )
