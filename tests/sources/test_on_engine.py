"""A folder that workers hold, as far as it needs no workers: what is refused, what the ledger says, what is missing."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from noisygd_delete_sources import factory, source_at
from noisygd_delete_sources import parquet_files as files
from noisygd_delete_sources.reading import rows_of
from noisygd_delete_sources.workers.on_spark import SparkCluster, check_settings, pack_partition
from noisygd_delete_sources.workers.questions import Encoder, Facts

from noisygd_delete import EditRequest, Schema
from noisygd_delete.errors import (
    InvalidParameter,
    InvalidRecords,
    InvalidRequest,
    InvalidSchema,
    MissingDependency,
    ProcessLost,
    SourceError,
    StoreCorrupt,
)
from noisygd_delete.store import Store, verify
from noisygd_delete.store.source_kinds import source_from
from tests.cli.planned import main
from tests.sources.rows import records_of

from ..evidence.reading_papers import figure
from .clusters.in_process import in_this_process
from .conftest import ROWS, SCHEMA, SLOTS, learned, people
from .tables import arrow, deltalake, in_delta, in_duckdb, in_parquet, pyarrow
from .test_postgres import files_holding, paper

parquet = pytest.importorskip("pyarrow.parquet")


def test_the_ledger_names_the_engine_and_finds_it_again(tmp_path: Path) -> None:
    address = in_parquet(tmp_path)["address"]
    for engine in ("ray", "spark"):
        source = source_at(address, engine=engine, id="id")
        assert source_from(source.to_dict()) == source
        assert source.to_dict()["engine"] == engine
    assert "engine" not in source_at(address, id="id").to_dict()
    with pytest.raises(StoreCorrupt):
        source_from({**source_at(address, id="id").to_dict(), "engine": "ray"})
    assert source_at("s3://bucket/people", engine="spark", id="id").address == "s3://bucket/people"


def test_what_no_worker_can_do_is_refused(tmp_path: Path) -> None:
    address = in_parquet(tmp_path)["address"]
    for folder in (address, in_delta(tmp_path)["address"]):
        for facts in ({"query": "SELECT 1"}, {"subject": "person"}):
            source_at(folder, engine="spark", id="id", **facts)
            with pytest.raises(InvalidParameter, match="a partition each"):
                source_at(folder, engine="ray", id="id", **facts)
    with pytest.raises(InvalidParameter, match="leave --table out"):
        source_at(address, engine="spark", id="id", table="people")
    with pytest.raises(InvalidParameter, match="engine="):
        source_at(address, engine="dask", id="id")
    for other in (in_duckdb(tmp_path)["address"], "postgresql://localhost/people"):
        with pytest.raises(InvalidParameter, match="engine"):
            source_at(other, engine="ray", id="id")
    source = source_at(address, engine="ray", id="id")
    with pytest.raises(InvalidParameter, match="without an engine"):
        records_of(source, SCHEMA, SLOTS)
    for asked in (lambda: source.delete(["x"], [], lambda mark, rows: None), lambda: source.held(["x"], [])):
        with pytest.raises(InvalidRequest, match="--erased N"):
            asked()


@pytest.mark.parametrize(("engine", "library"), [("ray", "ray"), ("spark", "pyspark")])
def test_a_missing_engine_is_named(engine: str, library: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    source = source_at(in_parquet(tmp_path)["address"], engine=engine, id="id")
    with pytest.raises(MissingDependency, match=r"noisygd-delete\[engines\]"), rows_of(source, SCHEMA, SLOTS):
        pass


def test_slots_come_first_and_an_engine_needs_a_source(tmp_path: Path, capsys, monkeypatch) -> None:
    from .conftest import SCHEMA_FILE as TEXT

    monkeypatch.chdir(tmp_path)
    Path("schema.toml").write_text(TEXT)
    address = in_parquet(tmp_path)["address"]
    assert main(["init", "store", "--source", address, "--engine", "ray", "--schema", "schema.toml"]) == 2
    assert "--slots N is needed with --engine" in capsys.readouterr().err
    assert main(["init", "store", "--data", "people.csv", "--engine", "ray", "--schema", "schema.toml"]) == 2
    assert "--engine belongs to --source" in capsys.readouterr().err


def test_partitions_are_cut_by_the_files_alone_and_give_the_rows_of_memory(tmp_path: Path, monkeypatch) -> None:
    address = in_parquet(tmp_path)["address"]
    parquet.write_table(arrow(people()[:50]), Path(address) / "0.parquet", row_group_size=10)
    monkeypatch.setattr(files, "ROWS_EACH", 20)
    parts = files.partition_row_groups(address, files.list_files(address))
    assert not any(part.pinned for part in parts)
    assert [part.groups for part in parts] == [(0, 1), (2, 3), (4,), (0,), (0,), (0,)]
    encoder = Encoder.for_rows(SCHEMA, address)
    encoded = [encoder.encoded(files.read_part(address, part, encoder.columns)) for part in parts]
    memory, _ = records_of(source_at(address, id="id"), SCHEMA, SLOTS)
    rows = [bytes(row) for part in encoded for row in part.rows]
    assert len(rows) == ROWS
    assert sorted(rows) == sorted(map(bytes, memory.features[memory.occupied]))


def test_ids_are_no_columns_that_a_worker_reads() -> None:
    assert "id" not in Encoder.for_rows(SCHEMA, "people").columns
    assert Encoder.for_rows(SCHEMA, "people").schema.id_column is None


def test_faults_of_files_are_told_without_their_words(tmp_path: Path) -> None:
    address = in_parquet(tmp_path)["address"]
    encoder = Encoder.for_rows(SCHEMA, address)
    with pytest.raises(InvalidSchema, match="no column 'absent'"):
        list(files.read_part(address, files.partition_row_groups(address, files.list_files(address))[0], ["absent"]))
    (Path(address) / "0.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(SourceError, match="in one of its files"):
        files.partition_row_groups(address, files.list_files(address))
    with pytest.raises(SourceError, match="is the folder there"):
        files.list_files(str(tmp_path / "nowhere"))
    with pytest.raises(SourceError, match=r"no \*.parquet"):
        files.list_files(str(tmp_path))
    with pytest.raises(SourceError, match="knows no such file system"):
        files.list_files("gopher://there/folder")
    wrong = arrow().set_column(2, "a", [["much"] * ROWS])
    (fault,) = pack_partition(encoder, wrong.to_batches())
    assert fault[0] == "fault"
    assert b"InvalidSchema" in fault[1]
    assert b"much" not in fault[1]


@pytest.mark.parametrize(
    ("name", "value"), [("spark.io.encryption.enabled", "false"), ("spark.eventLog.enabled", "true")]
)
def test_a_session_of_spark_that_would_write_in_clear_is_refused(name: str, value: str) -> None:
    settings = {"spark.io.encryption.enabled": "true", "spark.eventLog.enabled": "false"}
    session = SimpleNamespace(sparkContext=SimpleNamespace(getConf=lambda: settings))
    check_settings(session)
    settings[name] = value
    with pytest.raises(InvalidParameter, match=f"Start it with {name}"):
        check_settings(session)


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_a_store_over_workers_publishes_and_certifies_as_one_without(engine: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(factory, "open_rows", in_this_process)
    address = in_parquet(tmp_path)["address"]
    papers = {}
    for named, chosen in (("without", None), ("with", engine)):
        with learned(tmp_path / named, source_at(address, engine=chosen, id="id")) as store:
            parquet.write_table(arrow(people()[1:50] if chosen else people()[:50]), Path(address) / "0.parquet")
            assert store.publish(erased=1, request_id="r").release == 2
            with pytest.raises(InvalidRequest, match="--erased N"):
                store.serve(EditRequest.delete(["identifier-token-0003"], request_id="other"))
            papers[named] = paper(store)
        assert verify(tmp_path / named).passed
        assert files_holding(tmp_path / named, b"identifier-token") == []
    numbers = [
        {key: figure(paper, key) for key in ("erased.later", "erased.all", "present.all")} for paper in papers.values()
    ]
    assert numbers[0] == numbers[1]
    assert not {"ray", "spark"} & set(re.findall("[a-z]+", str(papers["with"]))), "papers do not know which"
    with Store.open(tmp_path / "with") as store:
        assert store.relearn().release == 3


def test_a_folder_with_a_log_is_never_read_as_a_folder(tmp_path: Path) -> None:
    """Its files still hold rows that were deleted."""
    address = in_parquet(tmp_path)["address"]
    without = source_at(address, id="id")
    in_delta(tmp_path)
    (tmp_path / "lake/_delta_log").rename(Path(address) / "_delta_log")
    with pytest.raises(SourceError, match="a Delta table"):
        files.list_files(address)
    with pytest.raises(SourceError, match="a Delta table"):
        records_of(without, SCHEMA, SLOTS)


@pytest.fixture
def blank(tmp_path: Path) -> Path:
    """A folder whose name stands in the log of a table otherwise than on the disk."""
    (tmp_path / "ü 100%").mkdir()
    return tmp_path / "ü 100%"


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_a_delta_table_is_read_by_workers_at_one_version(engine: str, blank: Path, monkeypatch) -> None:
    monkeypatch.setattr(factory, "open_rows", in_this_process)
    address = in_delta(blank)["address"]
    source = source_at(address, engine=engine, id="id")
    assert source_from(source.to_dict()) == source
    with learned(blank / "store", source) as store:
        deltalake.DeltaTable(address).delete("id = 'identifier-token-0009'")
        assert store.serve(EditRequest.delete(["identifier-token-0003"], request_id="r")).release == 2
        stated = paper(store)["evidence"]
        assert (stated["deleted_at"], stated["read_at"], stated["counted"]) == ("version:2", "version:2", "versions")
        assert store.accountant.last.counts.deleted == 2, "one of them nobody told of"
        with source.open_rows(SCHEMA, SLOTS) as (held, position, _):
            assert (held.rows, position) == (ROWS - 2, "version:2")
        assert len(source.files_in_use()) == 1
        assert len(list(Path(address).glob("*.parquet"))) == 3, "those of the deleted rows are still there"
    assert verify(blank / "store").passed
    with Store.open(blank / "store") as store, pytest.raises(InvalidRequest, match="no edits are pending"):
        store.publish()


def test_a_column_that_an_older_file_lacks_is_empty_there(tmp_path: Path) -> None:
    rows = arrow()
    deltalake.write_deltalake(str(tmp_path / "lake"), rows.slice(0, 100).drop_columns(["b"]))
    deltalake.write_deltalake(str(tmp_path / "lake"), rows.slice(100), mode="append", schema_mode="merge")
    source = source_at(str(tmp_path / "lake"), engine="ray", id="id")
    pinned = source.pinned(["a", "b"])
    parts = files.partition_row_groups(source.address, pinned.files, pinned=True)
    read = [batch for part in parts for batch in files.read_part(source.address, part, ["b", "a"])]
    assert sum(batch.column("b").null_count for batch in read) == 100
    assert sorted(value for batch in read for value in batch.column("a").to_pylist()) == sorted(rows["a"].to_pylist())
    with pytest.raises(InvalidSchema, match="no column 'absent'"):
        source.pinned(["absent"])


def test_what_the_files_of_a_delta_table_do_not_say_is_refused(tmp_path: Path) -> None:
    address = str(tmp_path / "lake")
    deltalake.write_deltalake(address, arrow(), partition_by=["c"])
    source = source_at(address, engine="ray", id="id")
    assert len(source.pinned(["a", "b"]).paths) == 2
    with pytest.raises(InvalidSchema, match="the column 'c' partitions the table"):
        source.pinned(["a", "c"])
    deltalake.DeltaTable(address).delete()
    with pytest.raises(InvalidRecords, match="holds no row"):
        source.pinned(["a"])
    hides = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
    protocol = {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **hides}}
    (tmp_path / f"lake/_delta_log/{2:020d}.json").write_text(json.dumps(protocol))
    with pytest.raises(SourceError, match="DeltaProtocolError"):
        source.pinned(["a"])


def test_cells_of_every_kind_read_as_in_a_file_of_one_process(tmp_path: Path) -> None:
    import decimal

    cells = {
        "id": ["1", "2"],
        "a": pyarrow.array([0.1, 1 / 3], pyarrow.float32()),
        "b": pyarrow.array([decimal.Decimal("1.5"), None], pyarrow.decimal128(5, 2)),
        "c": pyarrow.array(["x ", "z"]).dictionary_encode(),
        "y": [" no", "yes"],
    }
    schema = Schema.from_dict(
        {
            "id": "id",
            "label": {"column": "y", "classes": ["no", "yes"]},
            "columns": {
                "a": {"bounds": [-1, 1]},
                "b": {"bounds": [0, 10], "missing": "column"},
                "c": {"categories": ["x", "z"]},
            },
        }
    )
    (tmp_path / "files").mkdir()
    parquet.write_table(pyarrow.table(cells), tmp_path / "files/0.parquet")
    encoder = Encoder.for_rows(schema, "people")
    (part,) = files.partition_row_groups(str(tmp_path / "files"), files.list_files(str(tmp_path / "files")))
    found = encoder.encoded(files.read_part(str(tmp_path / "files"), part, encoder.columns))
    own = schema.encode_file(tmp_path / "files/0.parquet")
    assert found.rows.tobytes() == own.rows.tobytes()
    assert found.labels.tolist() == own.labels.tolist()


@pytest.mark.parametrize(
    ("words", "expected"),
    [("ModuleNotFoundError: No module named 'msgspec'", MissingDependency), ("a socket and a secret", ProcessLost)],
)
def test_why_spark_does_not_answer_is_told_without_its_words(words: str, expected: type[Exception]) -> None:
    told = []
    asked = SimpleNamespace(unpersist=lambda **how: told.append(how), destroy=lambda **how: told.append(how))

    def fails() -> list[object]:
        raise RuntimeError(words)

    cluster = object.__new__(SparkCluster)
    cluster._context, cluster._encoder = SimpleNamespace(broadcast=lambda question: asked), None
    cluster._kept = SimpleNamespace(mapPartitionsWithIndex=lambda answers: SimpleNamespace(collect=fails))
    with pytest.raises(expected) as raised:
        cluster.ask(Facts())
    assert words not in str(raised.value)
    assert told == [{"blocking": True}, {"blocking": True}], "what was asked is gone"
