"""What an erasure leaves behind: every residue is found, and silence follows the remedy that is named."""

from __future__ import annotations

import bz2
import gzip
import json
import random
import shutil
import time
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import pytest

from noisygd_delete.cli import main
from noisygd_delete.errors import InvalidParameter, SourceError
from noisygd_delete.evidence import erasure_certificate, verify_certificate
from noisygd_delete.evidence.erasure import erasure_in
from noisygd_delete.store import Store
from noisygd_delete.store.sources import Residue, Verdicts, avro, residue, source_at
from noisygd_delete.store.sources.residue_files import iceberg_in_use

from .conftest import name, people, statement
from .test_lake import arrow, deltalake, in_delta, parquet, pyarrow

FIRST = name(0)  # the least of all: in every statistic


def residual(found: Residue) -> dict[str, str]:
    return {
        place.place.split(", ", 1)[-1]: place.remedy or ""
        for place in found.places
        if place.verdict is Verdicts.RESIDUAL
    }


def test_postgres_keeps_it_in_table_index_statistics_and_log_until_the_remedies(store: Store, database: str) -> None:
    import psycopg

    with psycopg.connect(database, autocommit=True) as server:
        server.execute("ANALYZE people")
        statement(
            database, "DELETE FROM people WHERE id = %s", FIRST
        )  # whatever reads the table next may tidy its page up
        left = residual(residue([FIRST], database))
        for where, remedy in (
            ("table public.people", "VACUUM FULL"),
            ("index public.people_pkey", "VACUUM FULL"),
            ("statistics pg_catalog.pg_statistic", "ANALYZE"),
            ("the write-ahead log", "pg_switch_wal()"),
        ):
            assert any(place.startswith(where) and remedy in told for place, told in left.items()), where
        server.execute("VACUUM FULL people")
        server.execute("ANALYZE people")
        server.execute("VACUUM FULL pg_statistic")
        assert {place.split(":")[0] for place in residual(residue([FIRST], database))} == {"the write-ahead log"}
        server.execute("ALTER SYSTEM SET wal_recycle = off")
        server.execute("SELECT pg_reload_conf()")
        for _ in range(20):  # segments that were recycled before are used up, and go as well
            for _ in range(3):
                server.execute("SELECT pg_switch_wal()")
                server.execute("CHECKPOINT")
            if residue([FIRST], database).silent:
                break
            time.sleep(0.1)
        found = residue([FIRST, name(5)], database)
        assert {place.found for place in found.places if place.verdict is Verdicts.RESIDUAL} == {1}, "name(5) stays"
        found = residue([FIRST], str(store.path), database)
    store.publish(erased=1, request_id="r")
    assert found.silent
    assert any(place.verdict is Verdicts.NOT_COVERED and "backups" in place.place for place in found.places)
    erasure, made, events = erasure_in(store.ledger, request_id="r", residue=found.to_dict()["places"])
    paper = erasure_certificate(erasure, plan=made, events=events)
    assert paper["evidence"]["residue"] == found.to_dict()["places"]
    assert {check.name for check in verify_certificate(paper).checks if not check.passed} == {"signature"}
    paper["evidence"]["residue"][0]["verdict"] = "FORGOTTEN"
    assert "facts" in {check.name for check in verify_certificate(paper).checks if not check.passed}


def test_without_the_right_to_read_files_nothing_is_covered(database: str) -> None:
    import psycopg

    with psycopg.connect(database, autocommit=True) as server:
        server.execute("DROP ROLE IF EXISTS somebody")
        server.execute("CREATE ROLE somebody LOGIN")
    (place,) = residue([FIRST], database.replace("postgres@", "somebody@")).places
    assert place.verdict is Verdicts.NOT_COVERED
    assert "superuser" in (place.remedy or "")


@pytest.mark.parametrize("named", ["plain", "ü 100%"])
def test_a_delta_table_keeps_it_in_old_files_and_in_its_log_until_the_remedies(tmp_path: Path, named: str) -> None:
    (tmp_path / named).mkdir()
    folder = in_delta(tmp_path / named)["address"]
    source = source_at(folder, id="id")
    assert any("in use" in place for place in residual(residue([FIRST], folder)))
    source.delete([FIRST], [], lambda mark, rows: None)
    left = residual(residue([FIRST], folder))
    assert [place.split(":")[0] for place in left] == ["data files of earlier versions", "the log"]
    table = deltalake.DeltaTable(folder)
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    assert [place.split(":")[0] for place in residual(residue([FIRST], folder))] == ["the log"]
    copied = tmp_path / "copied"
    deltalake.write_deltalake(str(copied), table.to_pyarrow_table())
    assert residue([FIRST], str(copied)).silent


def test_a_predicate_in_the_log_is_found(tmp_path: Path) -> None:
    """The application's own DELETE leaves the id in clear, whatever the files say."""
    folder = in_delta(tmp_path)["address"]
    deltalake.DeltaTable(folder).delete(f"id = '{name(77)}'")
    assert any(place.startswith("the log") for place in residual(residue([name(77)], folder)))


def test_files_are_read_in_the_form_they_have(tmp_path: Path) -> None:
    token, folder = "somebody-at-all-0001", tmp_path / "backups"
    folder.mkdir()
    number = UUID("12345678-1234-5678-1234-567812345678")
    rows = [(token if row[0] == FIRST else row[0], *row[1:]) for row in people()]
    parquet.write_table(arrow(rows), folder / "part.parquet", compression="zstd")
    (folder / "dump.gz").write_bytes(gzip.compress(token.encode()))
    (folder / "dump.bz2").write_bytes(bz2.compress(token.encode("utf-16-le")))
    (folder / "heap").write_bytes(b"\0\1" + number.bytes)
    with zipfile.ZipFile(folder / "model.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("weights", token * 3)
    (folder / "cut.json").write_bytes(b" " * ((1 << 22) - 5) + token.encode())
    found = residual(residue([token, str(number)], str(folder)))
    assert {Path(place).name for place in found} == {
        *("part.parquet", "dump.gz", "dump.bz2", "heap", "model.zip", "cut.json")
    }
    for file in list(folder.iterdir()):
        file.unlink()
    (folder / "dump.zst").write_bytes(b"\x28\xb5\x2f\xfd....")
    (folder / "half.gz").write_bytes(gzip.compress(b"x" * 1000)[:-9])
    (folder / "clean.txt").write_text("nobody")
    found = residue([token], str(folder))
    assert [place.verdict for place in found.places] == [Verdicts.NOT_COVERED, Verdicts.NOT_COVERED, Verdicts.ERASED]
    assert found.silent


def test_neither_texts_nor_telling_names_are_repeated(tmp_path: Path, capsys) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / f"{FIRST}.csv").write_text("nothing")
    (tmp_path / "gone.txt").write_text(f"{FIRST}\n")
    assert main(["residue", "--tokens", str(tmp_path / "gone.txt"), str(tmp_path / "files")]) == 5
    said = capsys.readouterr()
    assert "RESIDUAL" in said.out
    assert FIRST not in said.out + said.err
    (tmp_path / "files" / f"{FIRST}.csv").unlink()
    assert main(["residue", "--tokens", str(tmp_path / "gone.txt"), str(tmp_path / "files"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["silent"]


def test_what_is_not_there_is_not_called_erased(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="nothing is there"):
        residue([FIRST], str(tmp_path / "gone"))
    with pytest.raises(InvalidParameter, match="say where to look"):
        residue([FIRST])


ICEBERG = (
    Path(__file__).parent / "iceberg_table"
)  # written by iceberg_sample.py: p-0000 was deleted, the snapshots expired


def test_an_iceberg_table_keeps_it_in_old_files_and_manifests_until_the_remedies(tmp_path: Path) -> None:
    """Its writer left the file of the expired snapshot; and the current manifest says of the file that it took out: from p-0000 on."""
    found = residual(residue(["p-0000"], str(ICEBERG)))
    places = [place.split(":")[0] for place in found]
    assert places == ["data files of earlier snapshots", "metadata in use", "metadata of earlier snapshots"]
    assert "remove orphan files" in found[next(iter(found))]
    assert [place.split(":")[0] for place in residual(residue(["p-0031"], str(ICEBERG)))] == ["data files in use"]
    assert residue(["p-9999"], str(ICEBERG)).silent
    after = tmp_path / "warehouse" / "people"
    shutil.copytree(ICEBERG.with_name("iceberg_table_later"), after)  # one commit more, and expired again
    places = [place.split(":")[0] for place in residual(residue(["p-0000"], str(after.parent)))]
    assert set(places) <= {"data files of earlier snapshots", "metadata of earlier snapshots"}
    assert places, "a table below a folder is looked at as a table"
    for kept, folder in zip(iceberg_in_use(after), ("data", "metadata"), strict=True):
        for file in (after / folder).iterdir():  # orphan files are removed
            if file.name not in kept:
                file.unlink()
    assert residue(["p-0000"], str(after.parent)).silent
    assert residual(residue(["p-0001"], str(after.parent))), "and nobody else's rows"


def test_an_iceberg_table_whose_metadata_is_damaged_is_looked_through_all_the_same(tmp_path: Path) -> None:
    shutil.copytree(ICEBERG, tmp_path / "people")
    (listed,) = (tmp_path / "people/metadata").glob("snap-6984828918031975398-*.avro")
    listed.write_bytes(listed.read_bytes()[:-40])
    found = residue(["p-0000"], str(tmp_path / "people"))
    assert any(place.verdict is Verdicts.NOT_COVERED and "earlier versions" in place.place for place in found.places)
    assert len(residual(found)) == 3


def packed_by(codec: str, content: bytes, block: bytes, size: bytes | None = None) -> bytes:
    """A file of Avro with its one block packed otherwise, as the specification says. `size`: what a block of snappy says it unpacks to."""
    packed = pyarrow.compress(block, codec={"zstandard": "zstd"}.get(codec, codec), asbytes=True)
    if codec == "snappy":
        long = 2 if len(block) >= 128 else 1
        packed = (packed if size is None else size + packed[long:]) + zlib.crc32(block).to_bytes(4, "big")
    sync = content[-16:]
    header = content[: content.index(sync) + 16]
    assert header.count(b"\x0edeflate") == 1
    header = header.replace(b"\x0edeflate", bytes([2 * len(codec)]) + codec.encode())
    return header + varied(1) + varied(len(packed)) + packed + sync


def varied(number: int) -> bytes:
    """A number that is not negative, as Avro writes it."""
    left, written = 2 * number, bytearray()
    while left > 127:
        written.append(left & 127 | 128)
        left >>= 7
    return bytes([*written, left])


def test_avro_is_read_whatever_its_blocks_are_packed_by(tmp_path: Path) -> None:
    """The same records as a library reads, from files that it wrote; damage of any byte is an error and never a fault."""
    manifest = next(ICEBERG.glob("metadata/8d*-m1.avro"))
    (entry,) = avro.records(manifest)
    assert (entry["status"], entry["data_file"]["record_count"]) == (2, 30)
    assert {bound["key"]: bound["value"] for bound in entry["data_file"]["lower_bounds"]}[1] == b"p-0000"
    content = manifest.read_bytes()
    other = tmp_path / "other.avro"
    (block,) = avro.blocks(manifest)
    for codec in ("snappy", "zstandard"):
        other.write_bytes(packed_by(codec, content, block))
        assert list(avro.blocks(other)) == [block]
        assert list(avro.records(other)) == [entry]
        assert [place.verdict for place in residue(["p-0000"], str(tmp_path)).places] == [Verdicts.RESIDUAL]
        for at in range(len(content) - 400, len(other.read_bytes()), 7):
            damaged = bytearray(packed_by(codec, content, block))
            damaged[at % len(damaged)] ^= 0x55
            other.write_bytes(damaged)
            with suppress(SourceError):
                list(avro.records(other))
    other.write_bytes(packed_by("snappy", content, block, size=b"\xff\xff\xff\xff\x0f"))
    with pytest.raises(SourceError, match="more than can be looked through"):
        list(avro.blocks(other))
    other.write_bytes(content.replace(b"deflate", b"zstdard"))
    found = residue(["p-0000"], str(tmp_path))
    assert [place.verdict for place in found.places] == [Verdicts.NOT_COVERED]
    assert "something unknown" in found.places[0].place
    draw = random.Random(3)
    for _ in range(150):
        at = draw.randrange(4, len(content))
        other.write_bytes(content[:at] + bytes([draw.randrange(256)]) + content[at + 1 : draw.choice([None, at + 9])])
        for read in (avro.blocks, avro.records):
            with suppress(SourceError):
                list(read(other))


def test_a_registry_of_models_has_a_remedy_of_its_own(tmp_path: Path) -> None:
    version = tmp_path / "mlruns/1/models/m-7/artifacts"
    version.mkdir(parents=True)
    (version / "input_example.json").write_text(json.dumps({"data": [[FIRST, 1.0]]}))
    (remedy,) = residual(residue([FIRST], str(tmp_path))).values()
    assert "mlflow gc" in remedy


def test_a_server_that_is_not_looked_through_is_named_without_its_password() -> None:
    found = residue(["abc-17"], "mysql://clerk:secret@127.0.0.1:1/people", "mariadb://127.0.0.1/other")
    assert [place.verdict for place in found.places] == ["NOT COVERED"] * 2
    assert all("binary logs" in place.place for place in found.places)
    assert "secret" not in repr(found)
