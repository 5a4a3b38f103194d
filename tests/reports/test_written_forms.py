"""One certificate written in other ways: whole numbers with a fraction's point, a byte order mark. The three verifiers give one answer."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from noisygd_delete_compliance.translator import checker

from noisygd_delete.cli import main
from noisygd_delete.evidence import sign_document, verify_certificate
from tests.compliance.browser import in_a_browser, judged
from tests.compliance.test_page_checks_itself import _handing, page_of, shown_of

from ..evidence.test_third_verifier import judged as judged_by_third
from .certificate_mutations import dumped
from .test_certificate_mutations import papers


def with_points(text: str, chance: random.Random, share: float) -> str:
    """Some whole numbers of a JSON text as fractions, `2` as `2.0`, `20e-1` or `0.2E1`, and some fractions as whole numbers."""

    def written(value: object) -> str:
        if isinstance(value, dict):
            return "{" + ",".join(f"{json.dumps(name)}:{written(part)}" for name, part in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(written, value)) + "]"
        whole = type(value) is int or (type(value) is float and value.is_integer() and abs(value) < 2**53)
        if not whole or chance.random() > share:
            return json.dumps(value)
        return chance.choice(
            (f"{int(value)}.0", f"{int(value)}0e-1" if value else "0e7", f"{int(value)}.00E0", f"{int(value)}")
        )

    return written(json.loads(text))


def command(text: str, key: Path, folder: Path) -> bool:
    file = folder / "given.json"
    file.write_bytes(text.encode())
    return main(["verify-certificate", str(file), "--public-key", f"{key}.pub"]) == 0


@in_a_browser
def test_whole_numbers_are_one_number_however_they_are_written(key: Path, tmp_path: Path) -> None:
    chance, paper = random.Random(5), sign_document(json.loads(dumped(papers("published", "noisy-gd"))), key)
    text = dumped(paper)
    texts = [text, *(with_points(text, chance, share) for share in (0.3, 1.0, 1.0))]
    assert len(set(texts)) == len(texts)
    pem = Path(f"{key}.pub").read_text()
    assert judged(texts, pem, checker(), tmp_path) == [True] * len(texts)
    assert [command(one, key, tmp_path) for one in texts] == [True] * len(texts)
    assert [judged_by_third(one) for one in texts] == [True] * len(texts)


def test_a_fraction_is_no_count_and_true_no_number(key: Path) -> None:
    paper = json.loads(dumped(papers("published", "noisy-gd")))
    for value in (3.5, True, "3", 3.0000001):
        paper["request"]["rows"] = value
        assert not verify_certificate(sign_document(paper, key)).passed
        assert not judged_by_third(dumped(sign_document(paper, key)))


MARKS = ["\ufeff", "\ufeff\ufeff", " \ufeff", "\u200b"]


@pytest.mark.parametrize("mark", MARKS)
def test_the_command_skips_one_byte_order_mark_and_nothing_else(key: Path, tmp_path: Path, mark: str) -> None:
    text = mark + dumped(sign_document(json.loads(dumped(papers("published", "noisy-gd"))), key))
    assert command(text, key, tmp_path) is (mark == "\ufeff")


@in_a_browser
@pytest.mark.parametrize("mark", MARKS)
def test_a_byte_order_mark_is_answered_alike_by_page_and_command(key: Path, tmp_path: Path, mark: str) -> None:
    paper = sign_document(json.loads(dumped(papers("published", "noisy-gd"))), key)
    text = mark + dumped(paper)
    state, _, _ = shown_of(page_of(paper, after=_handing(text.encode())), tmp_path)
    assert (state == "half") is command(text, key, tmp_path) is (mark == "\ufeff")
