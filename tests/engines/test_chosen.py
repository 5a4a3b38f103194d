"""Rows by a query and by person, chosen by Spark's own SQL: the same as one process chooses, whoever reads them again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from noisygd_delete_sources import source_at
from noisygd_delete_sources.factory import open_rows
from noisygd_delete_sources.parquet_files import Selection
from noisygd_delete_sources.workers.questions import EveryStepth

from noisygd_delete.errors import SourceError
from tests.sources.rows import records_of

from .conftest import SCHEMA, SLOTS, N, Start, written
from .test_engines import holding, pytestmark

__all__ = ["pytestmark"]

PERSONS = replace(SCHEMA, subject_column="person")


@pytest.fixture
def people(short_folder: Path) -> Path:
    """Four files; the rows of a person lie in several of them."""
    persons = [f"person-token-{k % 900:04d}" for k in np.random.default_rng(5).permutation(N)]
    return written(short_folder / "files", person=persons)


def test_spark_chooses_the_rows_that_one_process_chooses(people: Path, start: Start) -> None:
    own = [Path(start("spark").conf.get("spark.local.dir"))]
    facts = {
        "id": "id",
        "subject": "person",
        "rows_per_subject": N // 900,
    }  # some persons have so many, others one more
    asked = "SELECT * FROM source WHERE c = 'x' AND b < 7.5 -- of one kind;"
    for query in (None, asked):
        here = source_at(str(people), query=query, **facts)
        there = source_at(str(people), engine="spark", query=query, **facts)
        memory, _ = records_of(here, PERSONS, SLOTS)
        with here.snapshot(["a"]) as one_process:
            left_out = one_process.left_out
        with there.open_rows(PERSONS, SLOTS) as (records, _, of_spark):
            firsts = tuple(0 for _ in range(records.partitions))
            every = records.ask(EveryStepth(firsts, 1))
            assert holding(own, [b"identifier-token", b"person-token"]) == [], "what is brought together is encrypted"
        rows = sorted(row.tobytes() for part, _ in every for row in part)
        assert rows == sorted(row.tobytes() for row in memory.features[memory.occupied])
        assert of_spark == left_out
        assert 0 < len(rows) < N
    wrong = source_at(str(people), engine="spark", id="id", query="SELECT nothing FROM source")
    with pytest.raises(SourceError, match="AnalysisException of Spark"), wrong.open_rows(SCHEMA, SLOTS):
        pass
    windowed = source_at(
        str(people),
        engine="spark",
        id="id",
        query="SELECT * FROM source QUALIFY row_number() OVER (PARTITION BY person ORDER BY id) = 1",
    )
    for asked in (windowed, replace(windowed, query="SELECT * FROM source ORDER BY id LIMIT 9")):
        with (
            pytest.raises(SourceError, match="chosen by a window, a limit or a sample"),
            asked.open_rows(SCHEMA, SLOTS),
        ):
            pass
    alike = replace(windowed, query="SELECT * FROM source WHERE c IN (SELECT c FROM source WHERE a > 0)")
    with pytest.raises(SourceError, match="chosen by other rows"), alike.open_rows(SCHEMA, SLOTS):
        pass
    gone = Selection("id", None, "person", 5, (memory_id(people),))
    with (
        pytest.raises(SourceError, match="1 rows that were deleted"),
        open_rows("spark", str(people), SCHEMA, SLOTS, selection=gone),
    ):
        pass


def memory_id(people: Path) -> str:
    return next(source_at(str(people), id="id").names("id"))
