"""The log of certificates: the tree beside the text of RFC 9162, proofs that hold, and what a rewritten log or a forged proof meets."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from noisygd_delete_compliance import certificate_log
from noisygd_delete_compliance.certificate_log import (
    BEGINS,
    check_log_proof,
    enter_certificate,
    leaf_of,
    path_to_root,
    root_from_path,
    tree_root,
)

from noisygd_delete.errors import InvalidParameter
from noisygd_delete.evidence import new_key, sign_document
from noisygd_delete.evidence.canonical import canonical_bytes
from noisygd_delete.records import limited_io

from ..oracles import merkle


def paper(key: Path, number: int) -> dict:
    """Signed as a certificate is; a log looks no deeper."""
    return sign_document({"identity": {"certificate_id": str(uuid.UUID(int=number))}, "what": f"paper {number}"}, key)


def hashes(data: list[bytes]) -> list[bytes]:
    return [hashlib.sha256(b"\0" + each).digest() for each in data]


def flipped(node: bytes) -> bytes:
    return bytes([node[0] ^ 1]) + node[1:]


def test_the_tree_is_that_of_the_rfc() -> None:
    for size in [*range(34), 100, 257]:
        data = [bytes([number % 251, size % 251]) * (number % 5 + 1) for number in range(size)]
        leaves = hashes(data)
        assert tree_root(leaves) == merkle.tree_hash(data)
        for place in range(size):
            path = path_to_root(leaves, place)
            assert path == merkle.audit_path(place, data)
            assert root_from_path(leaves[place], place, size, path) == tree_root(leaves)


def test_no_other_leaf_place_or_path_leads_to_the_root() -> None:
    for size in range(1, 20):
        leaves = hashes([bytes([number]) for number in range(size)])
        top = tree_root(leaves)
        for place in range(size):
            path = path_to_root(leaves, place)
            others = [(leaves[place], other, path) for other in range(-1, size + 1) if other != place]
            others += [(leaves[place], place, [*path, top]), (flipped(leaves[place]), place, path)]
            others += [(leaves[place], place, path[:-1])] if path else []
            others += [(leaves[place], place, [*path[:k], flipped(path[k]), *path[k + 1 :]]) for k in range(len(path))]
            for leaf, where, way in others:
                assert root_from_path(leaf, where, size, way) != top
    # a node within the tree is no leaf: leaves and nodes are hashed apart (the planted fault is a tree that does not)
    two = hashes([b"a", b"b"])
    assert hashlib.sha256(two[0] + two[1]).digest() != tree_root(two)


def test_each_paper_has_a_proof_for_its_signer_and_no_other(key: Path, tmp_path: Path) -> None:
    log, proofs = tmp_path / "certificates.log", []
    papers = [paper(key, number) for number in range(9)]
    for number, each in enumerate(papers):
        proofs.append(tmp_path / f"{number}.json")
        proofs[-1].write_text(json.dumps(enter_certificate(log, each, key)))
    for each, proof in zip(papers, proofs, strict=True):
        assert check_log_proof(each, proof).passed
        assert check_log_proof(each, proof, log).passed
    assert not check_log_proof(papers[1], proofs[0]).passed
    assert not check_log_proof({**papers[0], "what": "else"}, proofs[0]).passed
    said = json.loads(proofs[4].read_text())
    other = tmp_path / "other.pem"
    new_key(other)
    forged = [
        {**said, "index": 3},
        {**said, "size": 6},
        {**said, "size": True},
        {**said, "path": []},
        {**said, "path": ["no digits"]},
        {**said, "root": "0" * 64},
        {name: value for name, value in said.items() if name != "signature"},
        [],
        sign_document({**said, "issued": "2030-01-01T00:00:00+00:00"}, other),
        sign_document({**said, "index": 3}, key),
        sign_document({**said, "size": 10**9}, key),
        sign_document({**said, "path": said["path"][1:]}, key),
    ]
    for number, each in enumerate(forged):
        file = tmp_path / f"forged-{number}.json"
        file.write_text(json.dumps(each))
        assert not check_log_proof(papers[4], file).passed, each
    assert enter_certificate(log, papers[4], key)["size"] == 9  # entered once


def test_a_rewritten_log_is_noticed_by_who_kept_a_proof(key: Path, tmp_path: Path) -> None:
    log, proof = tmp_path / "certificates.log", tmp_path / "proof.json"
    papers = [paper(key, number) for number in range(6)]
    for each in papers[:4]:
        answer = enter_certificate(log, each, key)
    proof.write_text(json.dumps(answer))
    for each in papers[4:]:
        enter_certificate(log, each, key)
    lines = log.read_bytes().splitlines(keepends=True)
    assert check_log_proof(papers[3], proof, log).passed
    for kept in (
        [*lines[:2], *lines[3:]],
        [*lines[:2], lines[3], lines[2], *lines[4:]],
        lines[:3],
        [*lines[:2], lines[5], *lines[3:]],
    ):
        rewritten = tmp_path / "rewritten.log"
        rewritten.write_bytes(b"".join(kept))
        assert not check_log_proof(papers[3], proof, rewritten).passed


def test_a_log_holds_random_ids_and_digests_and_nothing_else(key: Path, tmp_path: Path) -> None:
    log = tmp_path / "certificates.log"
    enter_certificate(log, paper(key, 1), key)
    assert log.read_bytes() == BEGINS + canonical_bytes(leaf_of(paper(key, 1))) + b"\n"
    assert set(leaf_of(paper(key, 1))) == {"certificate_id", "sha256"}
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_line_that_a_crash_cut_off_is_taken_away(key: Path, tmp_path: Path) -> None:
    log = tmp_path / "certificates.log"
    enter_certificate(log, paper(key, 1), key)
    whole = log.read_bytes()
    for cut in (1, 20, len(whole) - len(BEGINS) - 1):
        log.write_bytes(whole + whole[len(BEGINS) : len(BEGINS) + cut])
        assert enter_certificate(log, paper(key, 2), key)["index"] == 1
        assert log.read_bytes().startswith(whole)
        assert log.read_bytes().count(b"\n") == 3


def test_many_processes_enter_at_once(key: Path, tmp_path: Path) -> None:
    log = tmp_path / "certificates.log"
    program = (
        "import sys\nfrom tests.compliance.test_certificate_log import paper, enter_certificate\nfrom pathlib import Path\n"
        "[enter_certificate(sys.argv[2], paper(Path(sys.argv[1]), int(sys.argv[3]) * 10 + k), sys.argv[1]) for k in range(10)]"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(key), str(log), str(number)]) for number in range(3)
    ]
    assert [process.wait(300) for process in running] == [0, 0, 0]
    entries = [json.loads(line)["certificate_id"] for line in log.read_bytes().splitlines()[1:]]
    assert sorted(entries) == sorted(str(uuid.UUID(int=number)) for number in range(30))


def test_what_is_no_log_is_left_as_it_is(key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = paper(key, 1)
    for number, content in enumerate(
        (b"accounts\n", BEGINS + b"{}\n", BEGINS + b'{"certificate_id": "x"}\n', BEGINS + b"[" * 9999 + b"\n")
    ):
        file = tmp_path / f"{number}.log"
        file.write_bytes(content)
        with pytest.raises(InvalidParameter, match=r"log of certificates|earlier output"):
            enter_certificate(file, one, key)
        assert file.read_bytes() == content
    with pytest.raises(InvalidParameter, match="with its signature"):
        enter_certificate(
            tmp_path / "new.log", {name: value for name, value in one.items() if name != "signature"}, key
        )
    monkeypatch.setattr(certificate_log, "MOST_LEAVES", 2)
    log = tmp_path / "full.log"
    for number in (1, 2):
        enter_certificate(log, paper(key, number), key)
    with pytest.raises(InvalidParameter, match="begin another file"):
        enter_certificate(log, paper(key, 3), key)
    monkeypatch.setattr(limited_io, "DOCUMENT", 50)
    with pytest.raises(InvalidParameter, match="longer than 50 bytes"):
        enter_certificate(log, paper(key, 2), key)
