"""The board: every committed comparison is on it as committed, and rows of others join as files or are refused."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks import board, report
from noisygd_delete.errors import InvalidParameter

OTHER = board.Row(
    "adult", "0.001", "Somebody's method 2.1", 0.85, 3.5, 0.2, None, 0.35, None, 4096, "https://example.org/run"
)


def test_the_committed_page_is_the_one_that_the_command_writes() -> None:
    body = board.page([*board.committed(), *board.of_others()])
    assert (report.RESULTS / "board.md").read_text().endswith(f"{body}\n")


def test_every_method_of_every_comparison_has_its_row() -> None:
    rows = board.committed()
    for data in board.DATA:
        found = json.loads((report.RESULTS / f"compare_{data}.json").read_text())
        methods = {(key, each["method"]) for key, rest in found.items() if key != "attacked" for each in rest}
        assert {(row.regularization, row.method) for row in rows if row.data == data} == methods
    exact = next(row for row in rows if row.method == "retrain")
    assert (exact.deletion, exact.existing, exact.two_releases) == (0, None, 1.0)


def test_somebody_elses_row_joins_its_table(tmp_path: Path) -> None:
    (tmp_path / "theirs.json").write_text(json.dumps(asdict(OTHER)))
    assert board.of_others(tmp_path) == [OTHER]
    adult = board.page([*board.committed(), OTHER]).split("\n## ")[1]
    assert "| Somebody's method 2.1 | 0.850 | 4 | 0.2 | none | 35% | — | 4,096 B | https://example.org/run |" in adult


@pytest.mark.parametrize(
    "wrong", [{"data": "iris"}, {"accuracy_after": 85}, {"deletion": -1.0}, {"memory": -1}, {"source": ""}]
)
def test_a_row_that_cannot_be_compared_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        replace(OTHER, **wrong)


def test_a_file_with_other_fields_is_refused(tmp_path: Path) -> None:
    (tmp_path / "theirs.json").write_text(json.dumps(asdict(OTHER) | {"rank": 1}))
    with pytest.raises(InvalidParameter):
        board.of_others(tmp_path)
