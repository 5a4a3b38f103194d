"""What Spark keeps on a disk."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from noisygd_delete_sources.workers import on_spark

from .conftest import ROOT, Start, written
from .test_engines import pytestmark

session_of_a_caller = pytest.importorskip("tests.engines.session_of_a_caller", reason="pyspark is not installed")
__all__ = ["pytestmark"]


def test_rows_ids_and_iterates_are_on_a_disk_in_clear_where_spark_does_not_encrypt_and_only_there(
    short_folder: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything is kept on disk. The scan that finds nothing where a session of this program wrote finds all three in a caller's own without
    encryption, which is refused unless a test opens it all the same."""
    session = start("spark")
    monkeypatch.setattr(on_spark, "_LEVEL", "DISK_ONLY")
    files = written(short_folder / "files")
    assert session.sparkContext.getConf().get("spark.io.encryption.enabled") == "true"
    encrypted = session_of_a_caller.found_in_clear(session, files, Path(session.conf.get("spark.local.dir")))
    local = short_folder / "local"
    local.mkdir()
    asked = [sys.executable, "-m", "tests.engines.session_of_a_caller", str(files), str(local)]
    done = subprocess.run(asked, check=False, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    in_clear = json.loads(done.stdout.splitlines()[-1])
    assert "Start it with spark.io.encryption.enabled = true" in in_clear.pop("refused")
    assert in_clear.pop("kept before") == 0, "refused before a row was read"
    assert min(in_clear.values()) > 0, in_clear
    assert encrypted == {"kept": encrypted["kept"], "rows": 0, "iterates": 0, "ids": 0}
    assert encrypted["kept"] > 0
