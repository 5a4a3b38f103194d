"""MLflow's registry holds one version in force, loadable without this package, and no artefact of any earlier one.

Needs MLflow, which is heavy: `make publishers` makes an environment for this file and runs it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from noisygd_delete_compliance.request_rows import line_of
from noisygd_delete_server.publishers import publish_to, unpublish

from noisygd_delete.errors import PublisherError
from noisygd_delete.store import Store, verify
from tests.store.conftest import CrashAt, found

from .conftest import coefficients, delete, ended, founded, served

mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed (make publishers)")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.skipif(os.name == "nt", reason="paths")]

TABLE = {"a": [0.5, -1.0, 0.25], "b": [0.1, 0.2, -0.9], "c": [-0.3, 0.0, 1.0]}
ALONE = """
import importlib.abc, json, sys

class Nothing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("noisygd_delete", "scipy"):
            raise ImportError(name)

sys.meta_path.insert(0, Nothing())
import mlflow, pandas
mlflow.set_tracking_uri(sys.argv[1])
mlflow.set_registry_uri(sys.argv[1])
model = mlflow.pyfunc.load_model("models:/people@production")
print(json.dumps(model.predict(pandas.DataFrame(json.loads(sys.argv[2])))))
"""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of MLflow with its tables made, which takes seconds."""
    folder = tmp_path_factory.mktemp("empty")
    mlflow.MlflowClient(f"sqlite:///{folder / 'mlflow.db'}").search_registered_models()
    return folder / "mlflow.db"


def uri(folder: Path) -> str:
    return f"sqlite:///{folder / 'mlflow.db'}"


def first(trial: Path, disk: CrashAt) -> None:
    with Store.open(trial / "store", disk=disk) as store:
        publish_to(store, f"mlflow:{uri(trial)}", model="people")


def versions(trial: Path) -> dict[str, str]:
    """number -> the release that it is, of every version there is."""
    client = mlflow.MlflowClient(tracking_uri=uri(trial), registry_uri=uri(trial))
    return {one.version: one.tags["noisygd-delete.release"] for one in client.search_model_versions("name = 'people'")}


def alias(trial: Path) -> str | None:
    client = mlflow.MlflowClient(tracking_uri=uri(trial), registry_uri=uri(trial))
    return client.get_registered_model("people").aliases.get("production")


def in_order(trial: Path) -> bool:
    """One version, the one that the ledger names, under the alias, with its files; nothing of any other; nothing left on the way."""
    with Store.open(trial / "store") as store:
        aim, behind = store.ledger.model_release, store.destinations_behind
        served_by_nobody = store.ledger.head.withdrawn
    now, files = versions(trial), list((trial / "mlartifacts").rglob("model.safetensors"))
    if served_by_nobody:
        return not behind and not now and alias(trial) is None and not files
    (number, release), *others = now.items()
    wanted = (trial / "store" / f"model-{aim}.safetensors").read_bytes()
    whole = [file.read_bytes() for file in files] == [wanted]
    return not behind and not others and release.startswith(f"release-{aim}-") and alias(trial) == number and whole


@pytest.fixture
def trial(tmp_path: Path, empty: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store, and a registry that it publishes to."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(work))
    folder = tmp_path / "trial"
    founded(folder)
    shutil.copy(empty, folder / "mlflow.db")
    first(folder, CrashAt())
    return folder


def test_the_version_in_force_is_the_only_one_with_files(trial: Path) -> None:
    assert in_order(trial)
    before = coefficients(trial / "store" / "model-1.safetensors")
    assert found(trial / "mlartifacts", before) != []
    served(trial, CrashAt())
    assert in_order(trial)
    assert found(trial / "mlartifacts", before) == found(trial.parent / "work", before) == []
    assert not [needle for needle in before if needle in (trial / "mlflow.db").read_bytes()]
    assert list((trial.parent / "work").iterdir()) == []
    ended(trial, CrashAt())
    assert in_order(trial)
    assert verify(trial / "store").passed


def test_what_the_disk_gets_back_is_overwritten(trial: Path) -> None:
    """A file that was open before shows what is on the disk after its name has gone."""
    before = coefficients(trial / "store" / "model-1.safetensors")
    with ExitStack() as stack:
        paths = [path for path in (trial / "mlartifacts").rglob("*") if path.is_file()]
        files = [stack.enter_context(path.open("rb", buffering=0)) for path in paths]
        assert any(needle in file.readall() for file in files for needle in before)
        served(trial, CrashAt())
        for file in files:
            file.seek(0)
            content = file.readall()
            assert not any(needle in content for needle in before)


def test_users_load_it_without_this_package(trial: Path) -> None:
    from noisygd_delete.features.schema.files import Table

    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, "-c", ALONE, uri(trial), json.dumps(TABLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=trial, env=environment)
    assert done.returncode == 0, done.stderr
    with Store.open(trial / "store") as store:
        texts = {column: list(map(str, cells)) for column, cells in TABLE.items()}
        schema = replace(store.schema, id_column=None, subject_column=None)
        rows = schema.encode(Table("test", texts, range(3)), labelled=False).rows
        assert json.loads(done.stdout) == store.schema.decode(store.model.predict(rows))


class KillAt(CrashAt):
    """The process is killed at the k-th announced change."""

    def reached(self, operation: str, path: Path) -> None:
        if len(self.points) == self.crash_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.points.append((operation, path.name))


def forked(child: Callable[[], object]) -> object:
    """What a child of this process makes of it, in JSON's types; None if it was killed. MLflow keeps connections to databases: so
    every process has its own."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.write(writing, json.dumps([child()]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        said = file.read()
    _, ended = os.waitpid(process, 0)
    assert said or os.WIFSIGNALED(ended), "the child failed"
    return json.loads(said)[0] if said else None


@pytest.mark.parametrize("stride", [6, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("operation", [served, first, ended])
def test_a_kill_at_any_point_leaves_one_version_in_the_end(
    tmp_path: Path, empty: Path, operation, stride: int, monkeypatch: pytest.MonkeyPatch, record_property
) -> None:
    """Between every two calls to MLflow, and between changes of files, the process is killed; every other time so is the next one."""
    trial, master = tmp_path / "trial", tmp_path / "master"
    (tmp_path / "work").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "work"))
    founded(trial)
    shutil.copy(empty, trial / "mlflow.db")
    if operation is not first:
        forked(lambda: first(trial, CrashAt()))
    shutil.copytree(trial, master)

    def announced() -> list[tuple[str, str]]:
        disk = CrashAt()
        operation(trial, disk)
        return disk.points

    points = forked(announced)
    before, seen, kills = coefficients(master / "store" / "model-1.safetensors"), set(), 0
    begins = min(at for at, (_, point) in enumerate(points) if point.startswith("publishers.json"))
    calls = {at for at, (_, point) in enumerate(points) if point == "people"}
    for at in sorted({*calls, *range(begins, len(points), 7)})[::stride]:
        shutil.rmtree(trial)
        shutil.copytree(master, trial)
        assert forked(lambda at=at: operation(trial, KillAt(at))) is None
        if operation is not first:
            seen.add(forked(lambda: len(versions(trial))))
        if at % 2:
            forked(lambda: Store.open(trial / "store", disk=KillAt(9)).close())
        forked(lambda: operation(trial, CrashAt()))
        kills += 1
        assert forked(lambda: in_order(trial)), points[at]
        assert bool(found(trial / "mlartifacts", before)) == (operation is first)
        assert list((tmp_path / "work").iterdir()) == []
    record_property(
        "evidence", f"{kills} kills between {len(calls)} calls of MLflow and {len(points) - begins} changes of files"
    )
    assert kills > 2
    assert operation is first or seen


def test_a_name_that_somebody_else_has_taken_is_refused(trial: Path) -> None:
    client = mlflow.MlflowClient(tracking_uri=uri(trial), registry_uri=uri(trial))
    client.create_registered_model("taken")
    with Store.open(trial / "store") as store:
        with pytest.raises(PublisherError, match="'taken' that this store did not make"):
            publish_to(store, f"mlflow:{uri(trial)}", model="taken")
        delete(store)
    assert in_order(trial)
    assert line_of(trial / "store", "r3").served.still_at == ()


def test_a_server_that_does_not_answer_is_said_and_tried_again(trial: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = mlflow.MlflowClient.create_model_version
    monkeypatch.setattr(mlflow.MlflowClient, "create_model_version", lambda *_, **__: 1 / 0)
    served(trial, CrashAt())
    with Store.open(trial / "store") as store:
        assert "ZeroDivisionError" in store.destinations_behind[0].problem
        assert store.ledger.releases == 2
    assert line_of(trial / "store", "r3").served.still_at != ()
    monkeypatch.setattr(mlflow.MlflowClient, "create_model_version", real)
    assert in_order(trial)
    assert line_of(trial / "store", "r3").served.still_at == ()


@pytest.fixture
def tracking(tmp_path: Path, empty: Path) -> Iterator[str]:
    """MLflow's own server, on this machine."""
    folder = tmp_path / "server"
    folder.mkdir()
    shutil.copy(empty, folder / "mlflow.db")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        *("--backend-store-uri", uri(folder), "--artifacts-destination", str(folder / "artefacts")),
    ]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True) as process,
    ):
        try:
            for _ in range(600):
                with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                    break
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGTERM)


@pytest.mark.long
def test_a_server_is_led_as_a_database_is(tmp_path: Path, tracking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path, files = founded(tmp_path / "trial"), tmp_path / "server" / "artefacts"
    before = coefficients(path / "model-1.safetensors")
    with Store.open(path) as store:
        publish_to(store, f"mlflow:{tracking}", model="people")
        assert store.destinations_behind == ()
        assert found(files, before) != []
        delete(store)
        assert store.destinations_behind == ()
        assert found(files, before) == []
        after = coefficients(path / "model-2.safetensors")
        assert found(files, after) != []
        command = [sys.executable, "-c", ALONE, tracking, json.dumps(TABLE)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert unpublish(store, f"mlflow:{tracking}").problem is None
        assert found(files, after) == []
