"""What an erasure leaves behind: every residue is found, and silence follows the remedy that is named."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import tarfile
import time
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from noisygd_delete_sources import Residue, residue, residue_files, source_at

from noisygd_delete.cli import main
from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence import erasure_certificate, verify_certificate
from noisygd_delete.evidence.erasure import erasure_in
from noisygd_delete.evidence.facts import Verdicts
from noisygd_delete.store import Store

from .conftest import Server, learned, name, people, statement
from .tables import arrow, deltalake, in_delta, parquet

FIRST = name(0)  # the least of all: in every statistic


def residual(found: Residue) -> dict[str, str]:
    return {
        place.place.split(", ", 1)[-1]: place.remedy or ""
        for place in found.places
        if place.verdict is Verdicts.RESIDUAL
    }


def test_postgres_keeps_it_in_table_index_statistics_and_log_until_the_remedies(own: Server, tmp_path: Path) -> None:
    import psycopg

    database, path = own.address(), tmp_path / "store"
    learned(path, source_at(database, id="id", table="people")).close()
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
        for _ in range(80):  # segments that were recycled before are used up, and go as well
            for _ in range(3):
                server.execute("SELECT pg_switch_wal()")
                server.execute("CHECKPOINT")
            if residue([FIRST], database).silent:
                break
            time.sleep(0.1)
        found = residue([FIRST, name(5)], database)
        assert {place.found for place in found.places if place.verdict is Verdicts.RESIDUAL} == {1}, "name(5) stays"
        found = residue([FIRST], str(path), database)
    assert found.silent
    assert any(place.verdict is Verdicts.NOT_COVERED and "backups" in place.place for place in found.places)
    with Store.open(path) as store:
        store.publish(erased=1, request_id="r")
        erasure, made, events = erasure_in(store.ledger, request_id="r")
    looked = replace(erasure, residue=tuple(found.to_dict()["places"]))
    paper = erasure_certificate(looked, plan=made, events=events)
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
    assert places == ["data files", "metadata", "metadata"]
    assert "remove orphan files" in found[next(iter(found))]
    assert [place.split(":")[0] for place in residual(residue(["p-0031"], str(ICEBERG)))] == ["data files"]
    assert residue(["p-9999"], str(ICEBERG)).silent
    after = tmp_path / "warehouse" / "people"
    shutil.copytree(ICEBERG.with_name("iceberg_table_later"), after)  # one commit more, and expired again
    assert residual(residue(["p-0000"], str(after.parent))), "a table below a folder is looked at as a table"
    for kept in ("00000-0-acb*.parquet", "acbdb79c*.avro", "a646da68*-m1.avro", "snap-[!1]*.avro", "0000[!6]-*.json"):
        for file in after.rglob(kept):  # orphan files are removed: what the last snapshot does not lead to
            file.unlink()
    assert residue(["p-0000"], str(after.parent)).silent
    assert residual(residue(["p-0001"], str(after.parent))), "and nobody else's rows"


def varied(number: int) -> bytes:
    """A number that is not negative, as Avro writes it."""
    left, written = 2 * number, bytearray()
    while left > 127:
        written.append(left & 127 | 128)
        left >>= 7
    return bytes([*written, left])


def test_avro_is_looked_through_or_named_as_not_covered(tmp_path: Path) -> None:
    """A file that a library wrote, and the same packed otherwise; no damage makes a text that is there erased."""
    content, other = next(ICEBERG.glob("metadata/8d*-m1.avro")).read_bytes(), tmp_path / "other.avro"
    sync = content[-16:]
    header, block, _ = content.split(sync)
    size = len(block) - 3
    assert block[:3] == varied(1) + varied(size)
    plain = zlib.decompress(block[3:], -15)
    assert b"p-0000" in plain
    assert b"p-0000" not in content, "only the block that is compressed tells of it"

    def verdict(written: bytes) -> Verdicts:
        other.write_bytes(written)
        (place,) = residue(["p-0000"], str(tmp_path)).places
        return place.verdict

    def packed(codec: str, blocks: list[bytes]) -> bytes:
        named = header.replace(b"\x0edeflate", bytes([2 * len(codec)]) + codec.encode())
        return named + sync + b"".join(varied(1) + varied(len(each)) + each + sync for each in blocks)

    harmless = zlib.compress(b"nobody" * 100, wbits=-15)
    assert verdict(content) is Verdicts.RESIDUAL
    assert verdict(packed("null", [plain])) is Verdicts.RESIDUAL
    assert verdict(packed("deflate", [harmless, block[3:], harmless])) is Verdicts.RESIDUAL
    assert verdict(packed("deflate", [harmless])) is Verdicts.ERASED
    for codec in ("snappy", "zstandard", "bzip2", "xz", "zstdard"):
        assert verdict(packed(codec, [block[3:]])) is Verdicts.NOT_COVERED
    assert verdict(packed("deflate", [])) is Verdicts.NOT_COVERED
    bomb = zlib.compressobj(9, zlib.DEFLATED, -15)
    large = bomb.compress(bytes((1 << 28) + 1)) + bomb.flush()
    assert verdict(packed("deflate", [large])) is Verdicts.NOT_COVERED
    for cut in range(len(header) + 17, len(content), 5):
        assert verdict(content[:cut]) is Verdicts.NOT_COVERED
    for at in range(len(header) + 19, len(content) - 16, 3):
        damaged = bytearray(content)
        damaged[at] ^= 0x55
        # bytes that still unpack to the text are found, and what does not unpack is not covered
        assert verdict(bytes(damaged)) is not Verdicts.ERASED or b"p-0000" not in zlib.decompress(
            damaged[len(header) + 19 : -16], -15
        )


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


def zipped(inner: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner", inner)
    return made.getvalue()


def tarred(inner: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        member = tarfile.TarInfo("inner")
        member.size = len(inner)
        archive.addfile(member, io.BytesIO(inner))
    return made.getvalue()


def tarred_of_old(inner: bytes) -> bytes:
    """As before POSIX: no "ustar" in the header, whose sum counts itself as spaces."""
    made = bytearray(tarred(inner))
    made[257:512] = bytes(255)
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made[:512])
    return bytes(made)


LAYERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
    "tar": tarred,
    "old-tar": tarred_of_old,
}


@pytest.mark.parametrize(
    "layers",
    ["gz tar gz", "zip zip", "gz gz", "gz zip", "bz2 tar", "xz zip tar", "zip", "zip gz zip gz zip", "gz old-tar"],
)
def test_what_is_packed_in_what_is_packed_is_found(layers: str, tmp_path: Path) -> None:
    """A nightly backup of compressed dumps, a document in an archive: one layer unpacked shows nothing of the second."""
    content = b"x" * 500 + b"ana.lopez@example.org" + b"y" * 500
    for layer in layers.split():
        content = LAYERS[layer](content)
    before = b"#!/bin/sh\n" if layers == "zip" else b""  # an archive that unpacks itself
    (tmp_path / "backup").write_bytes(before + content)
    (place,) = residue(["ana.lopez@example.org"], str(tmp_path)).places
    assert place.verdict is Verdicts.RESIDUAL
    (other,) = residue(["ben.lopez@example.org"], str(tmp_path)).places
    assert other.verdict is Verdicts.ERASED


def test_no_place_is_called_erased_that_was_not_read_whole(tmp_path: Path, monkeypatch) -> None:
    """More layers or more bytes than are read, a link that leads out of the folder, no plain file; and what was found before a fault counts."""
    text = "ana.lopez@example.org"
    deep = tmp_path / "deep"
    deep.mkdir()
    content = text.encode()
    for _ in range(8):
        content = zipped(content)
    (deep / "a.zip").write_bytes(content)
    links = tmp_path / "links"
    links.mkdir()
    (links / "away").symlink_to(tmp_path / "deep")
    (links / "file").symlink_to(tmp_path / "deep" / "a.zip")
    os.mkfifo(tmp_path / "links" / "pipe")
    for folder, files in ((deep, 1), (links, 3)):
        (place,) = residue([text], str(folder)).places
        assert (place.verdict, f"{files} file(s)" in place.place) == (Verdicts.NOT_COVERED, True)
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(b"PAR1" + text.encode() + b"PAR1")
    assert residue([text], str(damaged)).places[0].verdict is Verdicts.RESIDUAL
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "release-1").write_text(text)
    (inside / "current").symlink_to("release-1")
    assert [place.verdict for place in residue([text], str(inside)).places] == [Verdicts.RESIDUAL]
    monkeypatch.setattr(residue_files, "_MOST_UNPACKED", 2000)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(3000)))
    assert residue([text], str(tmp_path / "bomb.gz")).places[0].verdict is Verdicts.NOT_COVERED
