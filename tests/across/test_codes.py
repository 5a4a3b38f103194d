"""Commands that read rows of a map as codes: no row of the file or the store is expanded to its features."""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial, partialmethod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noisygd_delete.cli import terminal
from noisygd_delete.engine.kernel import memory_limit
from noisygd_delete.engine.sums import expand_codes
from noisygd_delete.features.maps import Additive
from noisygd_delete.features.maps.codec import RowCodec, codec_of
from noisygd_delete.features.schema import Encoded, files
from noisygd_delete.records import CodedRows
from noisygd_delete.store import Store, file_footer
from noisygd_delete.store.equal_rows import _HashedRows, equal_rows
from tests.cli.planned import main

ROWS = 3000
# a plan that is made at once: what is asked here depends on none
QUICK = ("--method", "objective-perturbation", "--regularization", "0.1", "--no-utility")


def write_csv(path: Path, seed: int = 3) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=ROWS), rng.normal(size=ROWS)
    town = rng.choice(["a", "b", "c"], ROWS)
    answer = np.where(first + (town == "a") + 0.3 * rng.normal(size=ROWS) > 0.3, "yes", "no")
    cells = ("" if rng.random() < 0.1 else f"{value:.4f}" for value in second)
    lines = [f"n{k},{a:.4f},{b},{t},{y}" for k, (a, b, t, y) in enumerate(zip(first, cells, town, answer, strict=True))]
    path.write_text("id,first,second,town,answer\n" + "\n".join(lines) + "\n")


@pytest.fixture
def no_features(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collects how many rows are expanded to features: by a codec, or by the map itself."""
    expanded: list[int] = []
    decode, features = RowCodec.decode, Additive.features
    monkeypatch.setattr(RowCodec, "decode", lambda self, stored: expanded.append(len(stored)) or decode(self, stored))
    monkeypatch.setattr(Additive, "features", lambda self, given: expanded.append(len(given)) or features(self, given))
    return expanded


def test_no_command_expands_the_rows_of_a_file_or_a_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_features: list[int], printed
) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "t.csv")
    columns = ["id", "first", "second", "town", "answer"]
    (tmp_path / "new.csv").write_text(",".join(columns) + "\nlater,0.5,0.5,a,yes\n")
    quickstart = ("quickstart", "t.csv", "--label", "answer", "--id", "id", "--yes")
    printed(*quickstart, "--map", "additive", "--delete", "n3", *QUICK)
    held = (tmp_path / "t" / "store" / "records" / "rows.codes").stat().st_size
    assert held < 4 * ROWS + 1000
    with Store.open("t/store") as store:
        learned = str(store.records.ids[0])  # a tenth of the ids are held out
    for command in (
        ["predict", "t/store", "--data", "t.csv", "--probabilities", "--out", "p.csv"],
        ["evaluate", "t/store", "--data", "t.csv"],
        ["delete", "t/store", learned],
        ["verify", "t/store"],
        ["relearn", "t/store", "--slots", "3200"],
    ):
        printed(*command)
    assert not sum(no_features)
    printed("insert", "t/store", "--data", "new.csv")
    assert 0 < sum(no_features) <= 8  # the new row alone


def test_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed) -> None:
    """`predict` and `evaluate` look at the first row before; `init` that has to count rows or persons first keeps them, within --memory."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "t.csv")
    reads, true = list[int](), files._csv

    def counting(*given: Any) -> Iterator[files.Table]:
        reads.append(0)
        at = len(reads) - 1
        for table in true(*given):
            reads[at] += len(table)
            yield table

    monkeypatch.setattr(files, "_csv", counting)
    printed("quickstart", "t.csv", "--label", "answer", "--id", "id", "--yes", *QUICK)
    commands = {
        ("predict", "t/store", "--data", "t.csv", "--out", "p.csv"): [1, ROWS],
        ("evaluate", "t/store", "--data", "t.csv"): [1, ROWS],
        ("init", "one", "--data", "t.csv", "--schema", "t/schema.toml", "--map", "additive", *QUICK): [ROWS],
        ("init", "two", "--data", "t.csv", "--schema", "t/schema.toml", "--slots", "3200", *QUICK): [ROWS],
        ("init", "three", "--data", "t.csv", "--schema", "t/schema.toml"): [ROWS],
        ("init", "four", "--data", "t.csv", "--schema", "t/schema.toml", "--memory", "1K"): [ROWS, ROWS],
        ("init", "five", "--data", "u.csv", "--schema", "persons.toml"): [ROWS],
    }
    assert reads == [ROWS]
    text = (tmp_path / "t" / "schema.toml").read_text()
    text = text.replace("intercept", 'subject = "person"\nrows_per_subject = 2\nintercept')
    (tmp_path / "persons.toml").write_text(text)
    header, *lines = (tmp_path / "t.csv").read_text().splitlines()
    of_two = [f"{header},person", *(f"{line},p{row // 2}" for row, line in enumerate(lines))]
    (tmp_path / "u.csv").write_text("\n".join(of_two) + "\n")
    for command, expected in commands.items():
        reads.clear()
        printed(*command)
        assert reads == expected, command
    for kept in ("rows.codes", "labels.f64", "ids.names"):
        one, other = (
            (tmp_path / store / "records" / kept).read_bytes()[: -file_footer.SIZE] for store in ("three", "four")
        )
        assert one == other


def test_a_schema_is_drafted_from_the_rows_that_memory_has_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "read_blocks", partial(files.read_blocks, rows=500))
    write_csv(tmp_path / "t.csv")
    quickstart = ("quickstart", "t.csv", "--label", "answer", "--id", "id", "--yes", "--holdout", "0", *QUICK)
    said = printed(*quickstart, "--delete", "n1", "n2999", "--memory", "1K")
    partly = "drafted from the first 500 of 3000 rows, as many as --memory has room for"
    assert partly in said
    assert Path("t/schema.toml").read_text().startswith(f"# {partly}; statements about rows hold for these\n")
    assert "3000 rows learned from" in said
    assert "drafted from" in printed(
        "init", "--data", "t.csv", "--label", "answer", "--draft-schema", "s", "--memory", "1K"
    )
    for more in ([], ["--memory", "1G"]):
        assert "drafted from" not in printed(*quickstart, "--output-dir", f"w{len(more)}", *more)
    with (tmp_path / "t.csv").open("a") as file:
        file.write("last,0.5,0.5,a,perhaps\n")
    assert main([*quickstart, "--output-dir", "other", "--memory", "1K"]) == 2
    assert "The schema was drafted from the first 500 of 3001 rows" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_a_terminal_shows_the_rates_of_reading_filling_and_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    tqdm = pytest.importorskip("tqdm.std")
    monkeypatch.setattr(
        tqdm, "tqdm", type("Often", (tqdm.tqdm,), {"__init__": partialmethod(tqdm.tqdm.__init__, mininterval=0)})
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(terminal, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    write_csv(tmp_path / "t.csv")
    printed("quickstart", "t.csv", "--label", "answer", "--id", "id", "--yes", *QUICK)
    assert re.search(rf"read: {ROWS}row \[.*row/s\]", screen.getvalue())
    assert re.search(rf"fill: 100%.* {ROWS}/{ROWS} \[.*row/s\]", screen.getvalue())
    for command in (
        ["evaluate", "t/store", "--data", "t.csv"],
        ["predict", "t/store", "--data", "t.csv", "--out", "p"],
    ):
        screen.truncate(0)
        printed(*command)
        assert re.search(rf"read: {ROWS}row \[.*row/s\]", screen.getvalue())
    assert re.search(rf"write: 100%.* {ROWS}/{ROWS} \[.*row/s\]", screen.getvalue())


def test_memory_bounds_the_rows_that_a_command_writes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed
) -> None:
    """Both in `delete` and in the learn of `quickstart`; a table whose features exceed it stays codes."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "t.csv")
    found, check = list[tuple[int, bool]](), memory_limit()

    def noting(self: Store, *given: Any, **more: Any) -> Any:
        found.append((memory_limit(), expand_codes(self.records).coded_rows is not None))
        return (learn if "request" not in more and not given else serve)(self, *given, **more)

    learn, serve = Store.learn, Store.serve
    monkeypatch.setattr(Store, "learn", noting)
    monkeypatch.setattr(Store, "serve", noting)
    quickstart = (
        "quickstart",
        "t.csv",
        "--label",
        "answer",
        "--id",
        "id",
        "--yes",
        "--map",
        "additive",
        "--holdout",
        "0",
        *QUICK,
    )
    printed(*quickstart, "--memory", "9K")
    printed("delete", "t/store", "n3", "--memory", "1G")
    printed("delete", "t/store", "n4", "--memory", "9K")
    assert found == [(9 << 10, True), (1 << 30, False), (9 << 10, True)]
    assert memory_limit() == check


@pytest.mark.parametrize("bits", [64, 9])
def test_equal_rows_counts_the_same_by_codes_and_by_features(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With hashes of 9 bits, others are drawn until the rows have different ones; rows of the table collide with them."""
    hashed, draws, drawn = _HashedRows._hash, list[None](), _HashedRows._draw_hashes
    monkeypatch.setattr(_HashedRows, "_hash", lambda self, contents: hashed(self, contents) >> np.uint64(64 - bits))
    monkeypatch.setattr(_HashedRows, "_draw_hashes", lambda self: (draws.append(None), drawn(self))[1])
    rng = np.random.default_rng(0)
    map = Additive((0, 3), levels=3)
    codec = codec_of(map, 1.0)
    assert codec is not None
    for _ in range(20):
        some, others = (
            codec.to_stored(np.column_stack([rng.integers(0, 8, 30), rng.integers(0, 4, 30)])) for _ in "12"
        )
        labels, own = rng.choice([-1.0, 1.0], 30), rng.choice([-1.0, 1.0], 30)
        held = Counter(zip(map_rows(others), own.tolist(), strict=True))
        expected = sum(pair in held for pair in zip(map_rows(some), labels.tolist(), strict=True))
        for here in (CodedRows(some, codec), codec.decode(some)):
            for there in (CodedRows(others, codec), codec.decode(others)):
                parts = [
                    (
                        there.select(slice(a, a + 7)) if isinstance(there, CodedRows) else there[a : a + 7],
                        own[a : a + 7],
                    )
                    for a in range(0, 30, 7)
                ]
                assert equal_rows(parts, Encoded(here, labels, None, None)) == expected
                assert not equal_rows(parts, Encoded(here[:0], labels[:0], None, None))
    assert (len(draws) > 80) == (bits == 9)


def map_rows(codes: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(row) for row in codes.tolist()]
