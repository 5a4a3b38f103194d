"""Every file that states its format is refused in one sentence when it states another one."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from noisygd_delete_compliance import restricted_records
from noisygd_delete_compliance.certificate_log import check_log_proof, enter_certificate
from noisygd_delete_compliance.restricted_records import RestrictedRecords
from noisygd_delete_sources.table import read_deletion

from noisygd_delete import Store
from noisygd_delete.errors import InvalidParameter, NoisyGDDeleteError, StoreCorrupt
from noisygd_delete.evidence import sign_document, verify_certificate
from noisygd_delete.features.schema.published import PublishedModel
from noisygd_delete.records import limited_io
from noisygd_delete.store import journal
from noisygd_delete.store.layout import Layout
from noisygd_delete.store.tombstones import Tombstones

from ..reports.certificate_mutations import dumped
from ..reports.conftest import key
from ..reports.test_certificate_mutations import papers
from ..store.conftest import SCHEMA, plan, records

__all__ = ["key"]

OTHERS = (0, 2, 4, "1", None)
FORM = "noisygd-delete/erasure-certificate/{}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "store"
    with Store.create(folder, records(), SCHEMA, plan()) as store:
        store.learn()
    return folder


@pytest.fixture
def layout(made: Path, tmp_path: Path) -> Layout:
    return Layout(Path(shutil.copytree(made, tmp_path / "store")))


def opened(layout: Layout) -> None:
    Store.open(layout.root).close()


def ledger(layout: Layout, number: Any) -> None:
    with closing(sqlite3.connect(layout.ledger)) as connection, connection:
        digest = "0" * 64
        for place, body in connection.execute("SELECT number, body FROM entries ORDER BY number").fetchall():
            text = json.dumps(json.loads(body) | {"format": number})
            digest = hashlib.sha256(f"{digest}{text}".encode()).hexdigest()
            connection.execute("UPDATE entries SET body = ?, digest = ? WHERE number = ?", (text, digest, place))
    layout.seal.write_text(json.dumps({"entries": place, "sha256": digest}) + "\n")
    opened(layout)


def request(layout: Layout, number: Any) -> None:
    layout.request.write_bytes(journal.add_checksum(json.dumps({"format": number}).encode()))
    opened(layout)


def deletion(layout: Layout, number: Any) -> None:
    fields = {"format": f"deletion/{number}", "base": 1, "mark": "1", "rows": 1, "publish": True, "request_id": None}
    layout.request.write_bytes(journal.add_checksum(json.dumps(fields).encode()))
    read_deletion(layout)


def publishers(layout: Layout, number: Any) -> None:
    layout.publishers.write_text(json.dumps({"store": "a", "publishers": [], "format": number}))
    opened(layout)


def aside(layout: Layout, number: Any) -> None:
    key, file = layout.root.with_name("key"), layout.root.with_name("aside")
    key.write_text("00" * 32 + "\n")
    file.write_bytes(restricted_records.BEGINS + f"{number}\n".encode() + b'"r"\n' + bytes(64))
    RestrictedRecords.read(file, key, "r")


def tombstones(layout: Layout, number: Any) -> None:
    listed, key = layout.root.with_name("list"), layout.root.with_name("key")
    Tombstones.create(listed, key)
    head, found, rest = listed.read_text().partition(" 1 ")
    assert found
    listed.write_text(f"{head} {number} {rest}")
    Tombstones(listed, key)


def log(layout: Layout, number: Any) -> None:
    file = layout.root.with_name("log")
    file.write_bytes(b'{"format":"noisygd-delete/certificate-log/%s"}\n' % str(number).encode())
    enter_certificate(file, {"identity": {"certificate_id": "1"}, "signature": {}}, layout.root)


CASES: dict[str, tuple[Callable[[Layout, Any], None], type[NoisyGDDeleteError]]] = {
    "ledger": (ledger, StoreCorrupt),
    "journal": (request, StoreCorrupt),
    "journal of a deletion in a source": (deletion, StoreCorrupt),
    "list of publishers": (publishers, StoreCorrupt),
    "records kept aside": (aside, InvalidParameter),
    "list of erased ids": (tombstones, InvalidParameter),
    "log of certificates": (log, InvalidParameter),
}


STATED = [
    (case, number)
    for case in CASES
    for number in OTHERS
    if number != "1" or CASES[case][0] in (ledger, request, publishers)
]  # elsewhere the number is part of a text


@pytest.mark.parametrize(("case", "number"), STATED)
def test_a_file_of_another_format_is_refused_in_one_sentence(layout: Layout, case: str, number: Any) -> None:
    read, error = CASES[case]
    with pytest.raises(error) as refused:
        read(layout, number)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("number", OTHERS)
def test_a_model_as_plain_numbers_of_another_format_is_refused(number: Any) -> None:
    with pytest.raises(ValueError, match="format"):
        PublishedModel({"format": number})


@pytest.mark.parametrize("number", [0, 2, 3, 4, "01", "", "1.0", " 1"])
def test_a_certificate_or_proof_of_another_format_does_not_hold(key: Path, tmp_path: Path, number: Any) -> None:
    paper = sign_document(papers("published", "noisy-gd"), key)
    proof = enter_certificate(tmp_path / "log", paper, key)
    (tmp_path / "proof").write_text(dumped(proof))
    assert check_log_proof(paper, tmp_path / "proof").passed
    (tmp_path / "proof").write_text(
        dumped(sign_document({**proof, "format": f"noisygd-delete/log-proof/{number}"}, key))
    )
    assert not check_log_proof(paper, tmp_path / "proof").passed
    answer = verify_certificate(
        limited_io.parse_json(dumped(sign_document({**paper, "format": FORM.format(number)}, key)))
    )
    assert [check.name for check in answer.checks if not check.passed] == ["format"]
    assert "\n" not in answer.checks[0].detail
