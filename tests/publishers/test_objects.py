"""An object store holds one release, the one in force: by fsspec's own file systems, and by an S3 that runs on this machine."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_compliance.request_rows import line_of
from noisygd_delete_server.publishers import publish_to, unpublish
from noisygd_delete_server.publishers.address import RELEASE

from noisygd_delete.errors import InvalidParameter, PublisherError
from noisygd_delete.store import Store
from tests.store.conftest import Crash, CrashAt

from .conftest import coefficients, delete, founded

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


@pytest.fixture(params=["memory", "file", "s3"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A place with nothing in it."""
    if request.param == "s3":
        yield from bucket(request)
    else:
        yield f"memory://{uuid.uuid4().hex}/models" if request.param == "memory" else f"file://{tmp_path / 'models'}"


def bucket(request: pytest.FixtureRequest) -> Iterator[str]:
    """A prefix in a bucket of moto's S3."""
    pytest.importorskip("s3fs", reason="s3fs is not installed (make publishers)")
    server = pytest.importorskip("moto.server", reason="moto is not installed (make publishers)").ThreadedMotoServer(
        port=0
    )
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    for variable, value in {
        "AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "tests", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }.items():  # fmt: skip
        monkeypatch.setenv(variable, value)
    made = f"b{uuid.uuid4().hex}"
    fsspec.filesystem("s3", skip_instance_cache=True).mkdir(made)
    try:
        yield f"s3://{made}/models"
    finally:
        server.stop()


def held(address: str) -> dict[str, bytes]:
    """Everything below the address, by its name there."""
    files, prefix = fsspec.core.url_to_fs(address, use_listings_cache=False, skip_instance_cache=True)
    files.invalidate_cache()
    if not files.exists(prefix):
        return {}
    return {path[len(prefix.rstrip("/")) + 1 :]: files.cat_file(path) for path in files.find(prefix)}


def current(address: str) -> tuple[int, set[str]]:
    """The release that users are led to, and the releases of which any file is there."""
    there = held(address)
    named: dict[str, Any] = json.loads(there["current.json"])
    assert there[f"{named['folder']}/model.safetensors"]
    return named["release"], {path.split("/")[0] for path in there if RELEASE.fullmatch(path.split("/")[0])} - {
        named["folder"]
    }


def leaves(address: str, needles: list[bytes]) -> list[str]:
    return [path for path, data in held(address).items() for needle in needles if needle in data]


def test_one_release_lies_there(path: Path, address: str) -> None:
    before = coefficients(path / "model-1.safetensors")
    with Store.open(path) as store:
        publish_to(store, address)
        assert store.destinations_behind == ()
        assert current(address) == (1, set())
        assert leaves(address, before) != []
        delete(store)
        assert current(address) == (2, set())
        assert leaves(address, before) == []
        store.withdraw()
        assert set(held(address)) == {"noisygd-delete.json"}
        delete(store, 4)
        assert current(address) == (3, set())
        assert unpublish(store, address).problem is None
    assert set(held(address)) == {"noisygd-delete.json"}


def test_a_crash_between_any_two_objects_is_made_good(tmp_path: Path, address: str) -> None:
    path = founded(tmp_path)
    with Store.open(path) as store:
        publish_to(store, address)
    seen = set()
    for at in range(200):
        disk = CrashAt()
        disk.steps = 0  # type: ignore[attr-defined]

        def reached(operation: str, place: Path, disk: Any = disk, at: int = at) -> None:
            if operation.endswith("object"):
                disk.steps += 1
                if disk.steps == at + 1:
                    raise Crash

        disk.reached = reached  # type: ignore[method-assign]
        before, crashed = coefficients(next(path.glob("model-*"))), False
        try:
            with Store.open(path, disk=disk) as store:
                store.publish(force=True)
        except Crash:
            crashed = True
            seen.add(len(current(address)[1]))  # users are led to a whole release all the time
        Store.open(path).close()
        with Store.open(path) as store:
            assert store.destinations_behind == ()
            assert current(address) == (store.ledger.model_release, set())
        assert leaves(address, before) == []
        if not crashed:
            break
    assert seen >= {0, 1}
    assert at > 8


def test_another_store_s_prefix_is_refused(path: Path, tmp_path: Path, address: str) -> None:
    with Store.open(path) as store:
        publish_to(store, address)
    before = held(address)
    with Store.open(founded(tmp_path / "other")) as store:
        with pytest.raises(PublisherError, match="another store publishes here"):
            publish_to(store, address)
        assert store.destinations == ()
    assert held(address) == before


def test_versions_that_a_bucket_keeps_are_said(path: Path, request: pytest.FixtureRequest) -> None:
    for address in bucket(request):
        files = fsspec.filesystem("s3", skip_instance_cache=True)
        files.call_s3(
            "put_bucket_versioning", Bucket=address.split("/")[2], VersioningConfiguration={"Status": "Enabled"}
        )
        with Store.open(path) as store:
            publish_to(store, address)
            delete(store)
            assert "earlier versions" in store.destinations_behind[0].problem
        assert line_of(path, "r3").served.still_at == (address,)


def test_a_kind_that_fsspec_does_not_reach_is_refused(path: Path) -> None:
    with Store.open(path) as store, pytest.raises(InvalidParameter, match="fsspec cannot reach it"):
        publish_to(store, "nothing-of-the-kind://x/y")
    assert os.listdir(path).count("publishers.json") == 0
