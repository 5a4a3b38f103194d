"""What Spark keeps on a disk."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from noisygd_delete.engine.objective_float64 import PreciseObjective
from noisygd_delete.store.clusters import on_spark, spark_session
from noisygd_delete.store.sources import source_at
from noisygd_delete.store.sources.reading import records_of

from .conftest import ROOT, SCHEMA, SLOTS, N, held, skip_without, written
from .test_engines import LOSS, holding, pytestmark

__all__ = ["pytestmark"]


def test_what_spark_writes_to_a_disk_is_encrypted(short_folder: Path, monkeypatch) -> None:
    """Everything is kept on disk, and none of it is there in clear."""
    skip_without("spark")
    monkeypatch.setenv("MASTER", "local[2,8]")
    monkeypatch.setattr(on_spark, "_LEVEL", "DISK_ONLY")
    monkeypatch.setitem(spark_session._SETTINGS, "spark.rdd.compress", "false")  # packed rows would not be seen either
    folder, others = written(short_folder / "files"), sessions()
    memory, _ = records_of(source_at(str(folder), id="id"), SCHEMA, SLOTS)
    with held("spark", folder) as records:
        PreciseObjective(records, LOSS, regularization=0.05).gradient(np.ones((1, SCHEMA.features)))
        own = sorted(sessions() - others)
        assert [file for each in own for file in each.rglob("rdd_*")], "rows are on the disk"
        assert holding(own, [row.tobytes() for row in memory.features[:N:97]]) == []
        settings = records._cluster._context.getConf()
        assert settings.get("spark.io.encryption.enabled") == "true"
    assert sessions() == others, "the folder goes with the session"


def sessions() -> set[Path]:
    """Folders of sessions that were started here."""
    return set(Path(tempfile.gettempdir()).glob("noisygd-spark-*"))


def in_a_session_of_a_caller(folder: Path, encrypted: bool, *more: str) -> Any:
    """What `session_of_a_caller` says of one."""
    local = folder / f"local-{encrypted}-{len(more)}"
    local.mkdir()
    asked = [sys.executable, "-m", "tests.engines.session_of_a_caller", str(folder / "files"), str(local)]
    done = subprocess.run(
        [*asked, str(encrypted).lower(), *more], check=False, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_session_without_encryption_writes_rows_ids_and_iterates_in_clear_and_is_refused(short_folder: Path) -> None:
    """The control: the same scan that finds nothing where Spark encrypts finds all three where it does not."""
    skip_without("spark")
    written(short_folder / "files")
    in_clear = in_a_session_of_a_caller(short_folder, False, "--opened-all-the-same")
    assert min(in_clear.values()) > 0, in_clear
    encrypted = in_a_session_of_a_caller(short_folder, True)
    assert encrypted == {"kept": in_clear["kept"], "rows": 0, "iterates": 0, "ids": 0}
    refused = in_a_session_of_a_caller(short_folder, False)
    assert "Start it with spark.io.encryption.enabled = true" in refused["refused"]
    assert refused["kept"] == 0, "refused before a row was read"
