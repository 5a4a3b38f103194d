"""What is published is changed by its owner alone, whatever umask the program runs under."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from noisygd_delete_server.publishers import publish_to

from noisygd_delete.errors import PublisherError
from noisygd_delete.store import Store

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes")


@pytest.mark.parametrize("made", [None, 0o775, 0o755, 0o700])
def test_no_other_may_change_what_is_published(path: Path, made: int | None) -> None:
    out = path.parent / "public"
    before = os.umask(0)
    try:
        if made is not None:
            out.mkdir(made)
        with Store.open(path) as store:
            publish_to(store, f"folder:{out}")
            store.publish(force=True)
    finally:
        os.umask(before)
    everything = [*out.rglob("*")] + [out] * (made is None)
    assert any(file.name == "model.py" for file in everything)
    for file in everything:
        assert file.is_symlink() or not file.stat().st_mode & 0o022, file
    assert all(file.stat().st_mode & 0o044 for file in everything) == (made != 0o700), "readers as the folder has them"


def test_a_folder_that_anybody_may_write_to_is_refused(path: Path) -> None:
    out = path.parent / "public"
    out.mkdir()
    out.chmod(0o777)
    with Store.open(path) as store, pytest.raises(PublisherError, match="chmod o-w"):
        publish_to(store, f"folder:{out}")
    out.chmod(0o755)
    with Store.open(path) as store:
        publish_to(store, f"folder:{out}")
        assert not store.destinations_behind
