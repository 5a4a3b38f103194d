"""Rows in files: the same table in DuckDB, in a Delta table and in a folder of Parquet gives the same release law."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from noisygd_delete_sources import source_at

from noisygd_delete import EditRequest
from noisygd_delete.errors import InvalidParameter, InvalidRequest, SourceError, UnknownName
from noisygd_delete.records import LeftOut
from noisygd_delete.store import Store, verify
from tests.sources.rows import records_of

from ..store.conftest import Crash, CrashAt
from .conftest import ROWS, SCHEMA, SLOTS, learned, name, people, person
from .tables import arrow, deltalake, duckdb, in_delta, in_duckdb, in_parquet, parquet, pyarrow
from .test_postgres import exported, files_holding, paper

KINDS = [in_duckdb, in_delta, in_parquet]


@pytest.mark.parametrize("kind", KINDS)
def test_every_source_gives_the_same_rows(tmp_path: Path, kind) -> None:
    records, _ = records_of(source_at(id="id", **kind(tmp_path)), SCHEMA, SLOTS)
    own = exported(tmp_path)
    assert sorted(map(bytes, records.features)) == sorted(map(bytes, own.features))
    np.testing.assert_array_equal(np.sort(records.labels), np.sort(own.labels))


@pytest.mark.parametrize("kind", KINDS)
def test_a_person_of_too_many_rows_is_left_out_and_a_query_chooses(tmp_path: Path, kind) -> None:
    schema, made = replace(SCHEMA, subject_column="person"), kind(tmp_path)
    table = made.get("table", "source")
    source = source_at(**made, id="id", subject="person")
    with source.snapshot(["a"]) as snapshot:
        assert (sum(map(len, snapshot.blocks)), snapshot.left_out) == (0, LeftOut(ROWS // 2, ROWS))
    assert len(records_of(replace(source, rows_per_subject=2), schema, SLOTS)[0]) == ROWS
    chosen = replace(source, query=f"SELECT * FROM {table} WHERE c = 'x' -- of one kind;")
    assert len(records_of(chosen, schema, SLOTS)[0]) == ROWS // 2


@pytest.mark.parametrize("kind", [in_duckdb, in_delta])
def test_a_deletion_is_committed_in_the_source_and_certified_in_its_order(tmp_path: Path, kind) -> None:
    source = source_at(id="id", **kind(tmp_path))
    with learned(tmp_path / "store", source) as store:
        assert store.serve(EditRequest.delete([name(3), name(8)], request_id="r")).release == 2
        again = store.serve(EditRequest.delete([name(3), name(8)], request_id="r"))
        assert (again.answered_before, store.ledger.releases) == (True, 2)
        with pytest.raises(InvalidRequest, match="not in the table"):
            store.serve(EditRequest.delete([name(3), name(9)]))
        assert source.held([name(9)], []) == 1
        assert paper(store)["evidence"]["deleted_at"] == "version:1"
        assert len(records_of(source, SCHEMA, SLOTS)[0]) == ROWS - 2
    assert verify(tmp_path / "store").passed
    assert files_holding(tmp_path / "store", b"identifier-token") == []


def test_an_id_that_stands_twice_is_one_name_and_two_rows(tmp_path: Path) -> None:
    made = in_duckdb(tmp_path)
    with duckdb.connect(made["address"]) as connection:
        connection.execute(f"INSERT INTO {made['table']} SELECT * FROM {made['table']} WHERE id = '{name(3)}'")
    source = source_at(id="id", **made)
    asked = [name(3), "nobody"]
    assert (source.held(asked, []), source.held(asked, [], names=True)) == (2, 1)
    assert source.find_held(asked) == {name(3)}
    with learned(tmp_path / "store", source) as store:
        with pytest.raises(UnknownName):
            store.dry_run(EditRequest.delete(asked))
        assert store.dry_run(EditRequest.delete([name(3)]))["counts"]["deleted"] == 2
        store.serve(EditRequest.delete([name(3)], request_id="r"))
        assert store.serve(EditRequest.delete([name(3)], request_id="r")).answered_before
        assert store.ledger.edits_at(store.ledger.position("r")).deleted == 2


@pytest.mark.parametrize("kind", [in_duckdb, in_delta])
@pytest.mark.parametrize("instant", ["before", "after"])
def test_killed_around_the_commit_it_is_done_or_not(tmp_path: Path, kind, instant, monkeypatch) -> None:
    source = source_at(id="id", **kind(tmp_path))
    learned(tmp_path / "store", source).close()
    disk = CrashAt()
    if instant == "before":
        disk.reached = lambda operation, path: die() if operation == "commit" else None
    else:
        true = type(source).delete
        monkeypatch.setattr(type(source), "delete", lambda *given: (true(*given), die()))
    with Store.open(tmp_path / "store", disk=disk) as store, pytest.raises(Crash):
        store.serve(EditRequest.delete([name(3)], request_id="r"))
    monkeypatch.undo()
    done = instant == "after"
    assert source.held([name(3)], []) == (not done)
    with Store.open(tmp_path / "store") as store:
        assert (store.ledger.position("r") is not None, store.ledger.releases) == (done, 1 + done)
        store.serve(EditRequest.delete([name(3)], request_id="r"))
        assert store.ledger.releases == 2


def die() -> None:
    raise Crash


def test_a_deletion_in_delta_leaves_no_name_in_what_the_commit_says(tmp_path: Path) -> None:
    source = source_at(id="id", **in_delta(tmp_path))
    source.delete([name(3)], [], lambda mark, rows: None)
    (commit,) = [
        line
        for line in (tmp_path / "lake/_delta_log/00000000000000000001.json").read_text().splitlines()
        if line.startswith('{"commitInfo"')
    ]
    assert name(3) not in commit


def test_numbers_as_ids_are_of_the_columns_type(tmp_path: Path) -> None:
    numbered = arrow().set_column(0, "id", pyarrow.array(range(ROWS), pyarrow.int64()))
    deltalake.write_deltalake(str(tmp_path / "numbers"), numbered)
    source = source_at(str(tmp_path / "numbers"), id="id")
    with pytest.raises(InvalidRequest, match="not in the table"):
        source.delete(["017"], [], lambda mark, rows: None)
    source.delete(["17"], [], lambda mark, rows: None)
    assert (source.held(["17"], []), source.held(["18"], [])) == (0, 1)


def test_a_folder_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    source = source_at(id="id", **in_parquet(tmp_path))

    def changing() -> None:
        with source.snapshot(["a", "b", "c", "y"]) as snapshot:
            assert sum(map(len, snapshot.blocks)) == ROWS
            parquet.write_table(arrow(people()[:10]), tmp_path / "files" / "0.parquet")

    with pytest.raises(SourceError, match="changed while they were read"):
        changing()


def test_in_a_folder_the_application_deletes(tmp_path: Path) -> None:
    with learned(tmp_path / "store", source_at(id="id", **in_parquet(tmp_path))) as store:
        with pytest.raises(InvalidRequest, match=r"--erased N"):
            store.serve(EditRequest.delete([name(3)], request_id="r"))
        parquet.write_table(
            arrow([row for row in people()[: ROWS // 4] if row[0] != name(3)]), tmp_path / "files/0.parquet"
        )
        assert store.publish(erased=1, request_id="r").release == 2


def test_what_is_no_source_is_named(tmp_path: Path) -> None:
    for address, facts, said in (
        (str(tmp_path), {}, "give postgresql"),
        (in_duckdb(tmp_path)["address"], {}, "--table NAME"),
        (in_delta(tmp_path)["address"], {"table": "people"}, "leave --table out"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            source_at(address, id="id", **facts)
    with pytest.raises(SourceError, match="CatalogException"):
        records_of(source_at(str(tmp_path / "people.duckdb"), id="id", table="nobody"), SCHEMA, SLOTS)
    assert person(3) == person(2)
