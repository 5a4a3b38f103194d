"""What Spark keeps on a disk."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from noisygd_delete.clusters import on_spark
from noisygd_delete.engine.objective_float64 import PreciseObjective
from noisygd_delete.sources import source_at
from noisygd_delete.sources.reading import records_of

from .conftest import SCHEMA, SLOTS, N, held, skip_without, written
from .test_engines import LOSS, holding, pytestmark

__all__ = ["pytestmark"]


def test_what_spark_writes_to_a_disk_is_encrypted(short_folder: Path, monkeypatch) -> None:
    """Everything is kept on disk, and none of it is there in clear."""
    skip_without("spark")
    monkeypatch.setenv("MASTER", "local[2,8]")
    monkeypatch.setattr(on_spark, "_LEVEL", "DISK_ONLY")
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
