"""Tables larger than memory: the same sums to the bit, in so much memory, and nothing readable on a disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from noisygd_delete_sources import source_at
from noisygd_delete_sources.reading import rows_of
from noisygd_delete_sources.scratch import BLOCK, ScratchRecords, ScratchRows, folder

from noisygd_delete import Budget, Records, learn, losses
from noisygd_delete.engine import Execution, check_records
from noisygd_delete.engine.coded import LEAST_ROWS, CodedSums
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.errors import AssumptionViolated, InvalidRecords, SourceError
from noisygd_delete.features.maps import Additive
from noisygd_delete.features.maps.codec import RowCodec
from noisygd_delete.features.schema import Encoded, Schema
from noisygd_delete.records import CodedRows
from noisygd_delete.store import Store
from tests.cli.planned import main

from .conftest import ROWS, SCHEMA, SCHEMA_FILE, SLOTS, in_csv, name, plan
from .tables import in_duckdb, in_parquet
from .test_commands import PLAN

ROOT = Path(__file__).parents[2]
PATHS = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "packages" / "sources")])}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch) -> Path:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    return tmp_path / "scratch"


def drawn(rows: int, features: int, seed: int = 3) -> np.ndarray:
    found = np.random.default_rng(seed).standard_normal((rows, features)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True).astype(np.float32) * np.float32(0.99)


def block(rows: np.ndarray, labels: np.ndarray) -> Encoded:
    return Encoded(rows, labels, None, None)


def kept(rows: np.ndarray, slots: int, pieces: int = 700) -> ScratchRows:
    scratch = ScratchRows(slots, rows.shape[1])
    for start in range(0, len(rows), pieces):
        scratch.append(rows[start : start + pieces])
    scratch.finish()
    return scratch


def test_slices_are_those_of_the_array(place: Path) -> None:
    slots = 3 * BLOCK + 17
    rows = np.zeros((slots, 5), np.float32)
    rows[: 2 * BLOCK + 300] = drawn(2 * BLOCK + 300, 5)
    scratch = kept(rows[: 2 * BLOCK + 300], slots)
    draw = np.random.default_rng(1)
    parts = [slice(*sorted(draw.integers(0, slots + 1, 2))) for _ in range(60)]
    parts += [
        slice(None),
        slice(0, 0),
        slice(BLOCK, BLOCK),
        slice(None, None, 7),
        slice(5, None, BLOCK + 1),
        slice(slots, None),
        slice(-9, None),
    ]
    for part in parts:
        np.testing.assert_array_equal(scratch[part], rows[part])
        assert not scratch[part].flags.writeable or not scratch[part].size
    assert list(place.iterdir()) == [], "the file has no name"
    for wrong in (3, slice(9, 1, -1), rows[:, 0] > 0):
        with pytest.raises(TypeError):
            scratch[wrong]
    scratch.close()


@pytest.mark.parametrize("loss", [losses.Logistic(radius=1.0), losses.Softmax(radius=1.0, classes=3)])
def test_the_sums_are_those_of_memory_to_the_bit(loss) -> None:
    rows = drawn(2 * BLOCK + 99, 7)
    labels = np.arange(len(rows)) % 3.0 if loss.label_kind == "class" else np.where(rows[:, 0] > 0, 1.0, -1.0)
    slots = len(rows) + 1000
    scratch = ScratchRecords(slots, 7)
    for start in range(0, len(rows), 1111):
        scratch.append(block(rows[start : start + 1111], labels[start : start + 1111]))
    scratch.finish()
    memory = Records(rows, labels, slots=slots)
    ours, theirs = (PreciseObjective(held, loss, regularization=0.1) for held in (scratch, memory))
    weights = np.random.default_rng(5).standard_normal(ours.shape)
    for dtype in ("float64", "float32"):
        np.testing.assert_array_equal(ours.gradient(weights, dtype), theirs.gradient(weights, dtype))
    for one, other in zip(ours.strided(500), theirs.strided(500), strict=True):
        np.testing.assert_array_equal(one, other)
    assert ours.gradient_error(1.0) == theirs.gradient_error(1.0)


def test_rows_that_do_not_fit_the_plan_are_refused_by_their_number() -> None:
    rows = drawn(BLOCK + 40, 4)
    rows[BLOCK + 7] *= 3
    scratch = ScratchRecords(BLOCK + 50, 4)
    scratch.append(block(rows, np.ones(len(rows))))
    scratch.finish()
    with pytest.raises(AssumptionViolated, match=f"record {BLOCK + 8} of the source has norm"):
        scratch.check(losses.Logistic(radius=1.0), None)
    scratch = ScratchRecords(10, 4)
    scratch.append(block(drawn(3, 4), np.array([1.0, -1.0, 0.0])))
    scratch.finish()
    with pytest.raises(InvalidRecords, match="labels must be"):
        scratch.check(losses.Logistic(radius=1.0), None)


def test_a_block_that_comes_back_changed_is_refused() -> None:
    scratch = kept(drawn(BLOCK * 2, 4), BLOCK * 2)
    there = scratch._file.fileno()
    (byte,) = os.pread(there, 1, 1000)
    os.pwrite(there, bytes([byte ^ 1]), 1000)
    scratch[BLOCK : BLOCK + 5]
    with pytest.raises(SourceError, match="came back changed"):
        scratch[0:5]
    first = os.pread(there, scratch._sealed, scratch._sealed)  # a block put in the place of another
    os.pwrite(there, first, 0)
    with pytest.raises(SourceError, match="came back changed"):
        scratch[0:5]


def test_a_full_disk_is_told(monkeypatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("noisygd_delete_sources.scratch.os.pwrite", full)
    with pytest.raises(SourceError, match=r"do not fit there.*TMPDIR"):
        kept(drawn(BLOCK, 4), BLOCK)
    monkeypatch.setenv("TMPDIR", "/nowhere/at/all")
    with pytest.raises(SourceError, match="name another folder by TMPDIR"):
        ScratchRows(10, 2)
    monkeypatch.delenv("TMPDIR")
    assert folder() == Path("/var/tmp") or not Path("/var/tmp").is_dir()


HOLDING = """
import os, sys, time
import numpy as np
from noisygd_delete.features.schema import Encoded
from noisygd_delete_sources import scratch
rows = np.load(sys.argv[1])
held = scratch.ScratchRecords(len(rows), rows.shape[1])
held.append(Encoded(rows, np.where(rows[:, 0] > 0, 1.0, -1.0), None, None))
held.finish()
held.rows[0:10]
print(held.rows._file.fileno(), flush=True)
time.sleep(60)
"""


def test_a_killed_process_leaves_nothing_that_could_be_read(tmp_path: Path, place: Path) -> None:
    """What was given to the disk is scanned byte by byte while the process stands still, then the process is killed."""
    rows = drawn(BLOCK * 2, 6)
    np.save(tmp_path / "rows.npy", rows)
    command = [sys.executable, "-c", HOLDING, str(tmp_path / "rows.npy")]
    with subprocess.Popen(command, env=PATHS, stdout=subprocess.PIPE) as held:
        assert held.stdout is not None
        number = int(held.stdout.readline())
        held.send_signal(signal.SIGSTOP)
        on_disk = Path(f"/proc/{held.pid}/fd/{number}").read_bytes()
        held.kill()
    assert held.returncode == -signal.SIGKILL
    assert len(on_disk) >= rows.nbytes
    assert not [row for row in rows if row.tobytes() in on_disk]
    assert list(place.iterdir()) == []


def test_every_file_has_a_key_of_its_own() -> None:
    rows = drawn(BLOCK, 4)
    first, second = (kept(rows, BLOCK) for _ in range(2))
    one, other = (os.pread(scratch._file.fileno(), scratch._sealed, 0) for scratch in (first, second))
    assert one != other
    again = kept(np.concatenate([rows, rows]), 2 * BLOCK)
    assert os.pread(again._file.fileno(), 64, 0) != os.pread(again._file.fileno(), 64, again._sealed), (
        "nor a block its nonce twice"
    )


SIZED = """
import sys
import numpy as np
from noisygd_delete import losses
from noisygd_delete.engine.objective import PreciseObjective
from noisygd_delete.records import Records
from noisygd_delete.features.schema import Encoded
from noisygd_delete_sources.scratch import ScratchRecords

def peak():  # of this process's own memory: getrusage knows that of its parent, too
    with open("/proc/self/status") as file:
        (line,) = [line for line in file if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024

rows, features, block = 200_000, 128, 10_000
some = np.random.default_rng(3).standard_normal((block, features)).astype(np.float32) / 40
loss = losses.Logistic(radius=1.0)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # begin to measure here
before = peak()
if sys.argv[1] == "scratch":
    held = ScratchRecords(rows, features)
    for _ in range(rows // block):
        held.append(Encoded(some, np.ones(block), None, None))
    held.finish()
    held.check(loss, None)
else:
    held = Records(np.tile(some, (rows // block, 1)), np.ones(rows))
objective = PreciseObjective(held, loss, regularization=0.1)
objective.gradient(np.zeros((1, features)))
print((peak() - before) / (4 * rows * features))
"""


def test_memory_is_bounded_by_a_few_blocks_and_some_bytes_a_slot() -> None:
    """200,000 rows of 128 columns, 102 MB: their labels take 17 bytes a slot, the rest is a block or two."""

    def share(way: str) -> float:
        done = subprocess.run(
            [sys.executable, "-c", SIZED, way], env=PATHS, capture_output=True, check=True, timeout=60
        )
        return float(done.stdout)

    assert share("scratch") < 0.25
    assert share("memory") > 0.9, "and what a table in memory takes is seen by this measure"


@pytest.mark.parametrize("made", [in_duckdb, in_parquet])
def test_a_release_from_a_scratch_file_is_the_release_from_memory(
    tmp_path: Path, place: Path, made, monkeypatch
) -> None:
    """The same plan under the same noise: the same weights to the bit, since rows come in the same order."""
    source, weights, kinds = source_at(id="id", **made(tmp_path)), [], []
    for memory in (None, 1):
        with rows_of(source, SCHEMA, SLOTS, memory=memory) as (records, _, changes, *_):
            kinds.append(type(records))
            assert changes is None
            model = learn(records, plan().allow_any_order(), np.random.default_rng(7))
        weights.append(model.weights)
    assert kinds == [Records, ScratchRecords]
    np.testing.assert_array_equal(*weights)
    with Store.create_over(tmp_path / "store", source, SCHEMA, plan(), memory=1) as store:
        release = store.learn(execution=Execution(memory=1))
        assert release.model.certified
        monkeypatch.setattr("noisygd_delete_sources.reading.quarter_of_memory", lambda: 1)
        encoded = SCHEMA.encode_file(in_csv(tmp_path))
        assert store.table.rows_among(replace(encoded, ids=None)) == ROWS
    assert list(place.iterdir()) == []


def test_more_rows_than_slots_are_refused_before_they_are_kept(tmp_path: Path, place: Path) -> None:
    source = source_at(id="id", **in_duckdb(tmp_path))
    with pytest.raises(InvalidRecords, match="more rows than the 150 slots"), rows_of(source, SCHEMA, 150, memory=1):
        pass


def test_the_command_line_says_how_much_memory(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    made = in_duckdb(tmp_path)
    (tmp_path / "schema.toml").write_text(SCHEMA_FILE)
    used: list[int] = []
    true = ScratchRows.__init__

    def noting(self, slots: int, features: int) -> None:
        used.append(slots)
        true(self, slots, features)

    monkeypatch.setattr(ScratchRows, "__init__", noting)
    where = ["--source", made["address"], "--table", "people", "--schema", "schema.toml", "--slots", str(SLOTS)]
    assert main(["init", "store", *where, *PLAN, "--memory", "1K"]) == 0
    assert main(["learn", "store", "--memory", "1K"]) == 0
    assert used == [SLOTS, SLOTS]
    assert main(["delete", "store", name(3), "--memory", "1G"]) == 0
    assert used == [SLOTS, SLOTS]
    for wrong in ("0", "-1G", "much", "1E"):
        with pytest.raises(SystemExit):
            main(["learn", "store", "--memory", wrong])


CODED = Schema.from_dict({**SCHEMA.to_dict(), "map": {"kind": "additive", "levels": 3}})


@pytest.mark.parametrize("method", ["objective-perturbation", "output-perturbation"])
def test_rows_of_a_source_are_held_as_codes_in_memory_and_in_a_file(tmp_path: Path, method: str, monkeypatch) -> None:
    """The same model as from a table of features; in memory no row is expanded by the reader, in the file a row is its codes."""
    source, weights = source_at(id="id", **in_duckdb(tmp_path)), []
    made = plan(
        CODED, method=method, regularization=0.2, budget=Budget.from_gdp(dp=8.0, deletion=4.0)
    ).allow_any_order()
    whole = CODED.encode_file(in_csv(tmp_path))
    files: list[int] = []
    true = ScratchRows.__init__
    monkeypatch.setattr(ScratchRows, "__init__", lambda self, *given: true(self, *given) or files.append(self.nbytes))
    for memory in (None, 1):
        with monkeypatch.context() as patch:
            patch.setattr(Additive, "features", None)
            read = rows_of(source, CODED, SLOTS, memory=memory)
            with read as (records, *_):
                rows = records.coded_rows if isinstance(records, Records) else next(iter(records.parts()))[0]
                assert isinstance(rows, CodedRows)
                np.testing.assert_array_equal(rows[:ROWS], whole.rows)
                records.check(made.problem.loss, None) if memory else check_records(records, made.problem.loss)
                weights.append(learn(records, made, np.random.default_rng(7)).weights)
    assert files == [SLOTS * CODED.codec.blocks]
    dense = Records(whole.rows, whole.labels, slots=SLOTS)
    weights.append(learn(dense, made, np.random.default_rng(7)).weights)
    for other in weights[1:]:
        np.testing.assert_allclose(weights[0], other, atol=made.learning.start.tolerance / made.problem.regularization)


def test_memory_bounds_the_codes_that_are_held_and_not_their_features(tmp_path: Path, monkeypatch) -> None:
    source, codec = source_at(id="id", **in_duckdb(tmp_path)), CODED.codec
    assert codec is not None
    held = SLOTS * codec.blocks
    assert held < SLOTS * 4 * CODED.features
    for memory, kind in ((held, Records), (held - 1, ScratchRecords)):
        with rows_of(source, CODED, SLOTS, memory=memory) as (records, *_):
            assert isinstance(records, kind)
    pages = {"SC_PHYS_PAGES": SLOTS * (codec.blocks + 24), "SC_PAGE_SIZE": 1}
    monkeypatch.setattr("os.sysconf", pages.__getitem__)
    with rows_of(source, CODED, SLOTS, memory=held) as (records, *_):
        assert isinstance(records, Records)
    pages["SC_PHYS_PAGES"] -= 1
    said = f"{SLOTS} slots of {codec.blocks} codes take about .*; give fewer slots or columns"
    with pytest.raises(InvalidRecords, match=said), rows_of(source, CODED, SLOTS, memory=held):
        pass


def test_codes_in_a_file_are_summed_by_lookup_with_the_bits_of_memory(monkeypatch) -> None:
    monkeypatch.setattr(RowCodec, "_parts", None)  # nothing is expanded
    codec, n = RowCodec(Additive((0, 0, 0), levels=4).coding), LEAST_ROWS + 99
    draw = np.random.default_rng(4)
    codes, labels = codec.to_stored(draw.integers(0, 16, (n, 3))), draw.choice([-1.0, 1.0], n)
    scratch = ScratchRecords(n + 5, codec.width, codec)
    for start in range(0, n, 3000):
        here = slice(start, start + 3000)
        scratch.append(block(CodedRows(codes[here], codec), labels[here]))
    scratch.finish()
    memory = Records(CodedRows(codes, codec), labels, slots=n + 5)
    one, other = (CodedSums.of(*given, losses.Logistic(1.0)) for given in (
        (scratch._read, scratch.labels), (memory.coded_rows, memory.labels)
    ))  # fmt: skip
    assert isinstance(scratch.sums(losses.Logistic(1.0)), CodedSums)
    weights = draw.standard_normal((1, codec.width))
    np.testing.assert_array_equal(one.gradient(weights, "float64"), other.gradient(weights, "float64"))
    (part, own), (part2, own2) = one.strided(100), other.strided(100)
    np.testing.assert_array_equal(part @ weights.T, part2 @ weights.T)
    np.testing.assert_array_equal(own, own2)
