"""A Spark session that a caller has started without encryption of what it writes, and what lies on its disks in clear.

    python -m tests.engines.session_of_a_caller FILES LOCAL

Nothing is compressed, so that whatever is written in clear can be seen. Prints one line of JSON: the words with which the session was
refused, and in how many files each kind of secret was found when it was opened all the same.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from noisygd_delete_sources import source_at
from noisygd_delete_sources.factory import open_rows
from noisygd_delete_sources.workers import on_spark
from pyspark.sql import SparkSession

from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.errors import InvalidParameter
from tests.sources.rows import records_of

from .conftest import SCHEMA, SLOTS, N, name
from .test_engines import LOSS, holding

ROWS_APART = 97


def session(local: Path) -> SparkSession:
    settings = {
        "spark.io.encryption.enabled": "false",
        "spark.local.dir": str(local),
        "spark.rdd.compress": "false",
        "spark.shuffle.compress": "false",
        "spark.broadcast.compress": "false",
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    os.environ["PYSPARK_PYTHON"] = sys.executable
    building = SparkSession.builder.master("local[2]").appName("a caller's own")
    for setting, value in settings.items():
        building = building.config(setting, value)
    return building.getOrCreate()


def found_in_clear(spark: SparkSession, files: Path, local: Path) -> dict[str, int]:
    """Files with encoded rows, with an iterate while it is asked about, and with ids after a shuffle of the whole table."""
    memory, _ = records_of(source_at(str(files), id="id"), SCHEMA, SLOTS)
    rows = [row.tobytes() for row in memory.features[:N:ROWS_APART]]
    weights = np.random.default_rng(1).standard_normal((1, SCHEMA.features))
    context, iterates = spark.sparkContext, set[Path]()
    broadcast = context.broadcast

    def looked_at(value: object) -> object:
        made = broadcast(value)
        iterates.update(holding([local], [weights.tobytes()]))
        return made

    with pytest.MonkeyPatch.context() as patch, open_rows("spark", str(files), SCHEMA, SLOTS) as (records, *_):
        patch.setattr(context, "broadcast", looked_at)
        PreciseObjective(records, LOSS, regularization=0.05).gradient(weights)
        kept = [file for file in local.rglob("rdd_*") if file.is_file()]
        in_rows = holding([local], rows)
    spark.read.parquet(str(files)).repartition(2, "id").write.format("noop").mode("overwrite").save()
    ids = holding([local], [name(k).encode() for k in range(0, N, ROWS_APART)])
    return {"kept": len(kept), "rows": len(in_rows), "iterates": len(iterates), "ids": len(ids)}


def main() -> None:
    files, local = map(Path, sys.argv[1:])
    on_spark._LEVEL = "DISK_ONLY"
    with ThreadPoolExecutor(1) as another:  # a notebook's, say
        spark = another.submit(session, local).result()
    try:
        found_in_clear(spark, files, local)
        raise AssertionError("it was not refused")
    except InvalidParameter as error:
        found = {"refused": str(error), "kept before": len(list(local.rglob("rdd_*")))}
    on_spark.check_settings = lambda session: None
    found |= found_in_clear(spark, files, local)
    assert spark.sparkContext.parallelize([1, 2]).count() == 2, "a caller's session stays open"
    print(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
