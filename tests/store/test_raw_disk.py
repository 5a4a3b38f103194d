"""The raw image of a disk, read block by block: what every layer above it left behind."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import EditRequest, Records
from noisygd_delete.store import Store, verify

from .conftest import SCHEMA, name, plan, row
from .fault_table import ROOT, THREADS, library

PEOPLE = 96


@pytest.fixture
def image() -> Iterator[tuple[Path, Path]]:
    """(image, folder where it is mounted): a small ext4 of its own."""
    needed = ("mkfs.ext4", "mount", "umount")
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not all(map(shutil.which, needed)):
        pytest.skip("mounting an image needs root and mkfs.ext4")
    with tempfile.TemporaryDirectory() as folder:
        image, mounted = Path(folder, "disk.img"), Path(folder, "disk")
        mounted.mkdir()
        with image.open("wb") as file:
            file.truncate(48 << 20)
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        if subprocess.run(["mount", "-o", "loop", image, mounted], check=False).returncode:
            pytest.skip("this machine does not let root mount an image")
        try:
            yield image, mounted
        finally:
            if os.path.ismount(mounted):
                subprocess.run(["umount", mounted], check=True)


@pytest.mark.long
def test_no_block_of_the_disk_holds_an_erased_id_or_row(image: tuple[Path, Path], record_property) -> None:
    """Person k is erased by a command that is killed at its k-th system call, and then once more, to the end."""
    disk, mounted = image
    preload = library(mounted.parent)
    if preload is None:
        pytest.skip("no C compiler here")
    script = "from tests.store.test_raw_disk import erase_everybody; import sys; erase_everybody(sys.argv[1])"
    environment = {**os.environ, **THREADS, "PYTHONPATH": str(ROOT), "LD_PRELOAD": str(preload)}
    subprocess.run(
        [sys.executable, "-c", script, str(mounted / "store")],
        cwd=ROOT, env=environment, check=True,
    )  # fmt: skip
    assert verify(mounted / "store").passed
    subprocess.run(["sync"], check=True)
    subprocess.run(["umount", mounted], check=True)
    raw = disk.read_bytes()
    found = [k for k in range(PEOPLE) if name(k).encode() in raw or row(k).tobytes() in raw]
    record_property("evidence", f"{PEOPLE} erasures, each killed once; {len(found)} people left on the raw disk")
    assert b"somebody-who-stays" in raw
    assert not found


def erase_everybody(path: str) -> None:
    numbers = range(PEOPLE)
    ids = [*map(name, numbers), "somebody-who-stays"]
    rows = [row(k) for k in (*numbers, PEOPLE)]
    everybody = Records(rows, np.ones(PEOPLE + 1), ids, ids)
    with Store.create(path, everybody, SCHEMA, plan(slots=PEOPLE + 1)) as store:
        store.learn()
    struck = ctypes.CDLL(None)
    for k in numbers:
        request = EditRequest.delete([name(k)], request_id=f"r{k}")
        if (child := os.fork()) == 0:
            struck.faults_arm(os.fsencode(path), ctypes.c_long(k), 1, 0)
            with Store.open(path) as store:
                store.serve(request)
            os._exit(0)
        os.waitpid(child, 0)
        with Store.open(path) as store:
            store.serve(request)
