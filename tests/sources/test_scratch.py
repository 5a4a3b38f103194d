"""Tables larger than memory: the same sums to the bit, in so much memory, and nothing readable on a disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from noisygd_delete import Records, losses
from noisygd_delete.engine.objective_float64 import PreciseObjective
from noisygd_delete.errors import AssumptionViolated, InvalidRecords, SourceError
from noisygd_delete.sources.scratch import BLOCK, ScratchRecords, ScratchRows, folder

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch) -> Path:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    return tmp_path / "scratch"


def drawn(rows: int, features: int, seed: int = 3) -> np.ndarray:
    found = np.random.default_rng(seed).standard_normal((rows, features)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True).astype(np.float32) * np.float32(0.99)


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
        scratch.append(rows[start : start + 1111], labels[start : start + 1111])
    scratch.finish()
    memory = Records(rows, labels, slots=slots)
    ours, theirs = (PreciseObjective(held, loss, regularization=0.1) for held in (scratch, memory))
    weights = np.random.default_rng(5).standard_normal(ours.shape)
    for dtype in ("float64", "float32"):
        np.testing.assert_array_equal(ours.gradient(weights, dtype), theirs.gradient(weights, dtype))
    assert (ours.value(weights), ours.value_at_zero()) == (theirs.value(weights), theirs.value_at_zero())
    for one, other in zip(ours.strided(500), theirs.strided(500), strict=True):
        np.testing.assert_array_equal(one, other)
    assert ours.gradient_error(1.0) == theirs.gradient_error(1.0)


def test_rows_that_do_not_fit_the_plan_are_refused_by_their_number() -> None:
    rows = drawn(BLOCK + 40, 4)
    rows[BLOCK + 7] *= 3
    scratch = ScratchRecords(BLOCK + 50, 4)
    scratch.append(rows, np.ones(len(rows)))
    scratch.finish()
    with pytest.raises(AssumptionViolated, match=f"record {BLOCK + 8} of the source has norm"):
        scratch.check(losses.Logistic(radius=1.0), None)
    scratch = ScratchRecords(10, 4)
    scratch.append(drawn(3, 4), np.array([1.0, -1.0, 0.0]))
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

    monkeypatch.setattr("noisygd_delete.sources.scratch.os.pwrite", full)
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
from noisygd_delete.sources import scratch
{planted}
rows = np.load(sys.argv[1])
held = scratch.ScratchRecords(len(rows), rows.shape[1])
held.append(rows, np.where(rows[:, 0] > 0, 1.0, -1.0))
held.finish()
held.rows[0:10]
print(held.rows._file.fileno(), flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("planted", [False, True])
def test_a_killed_process_leaves_nothing_that_could_be_read(tmp_path: Path, place: Path, planted: bool) -> None:
    """What was given to the disk is scanned byte by byte while the process stands still, then the process is killed."""
    rows = drawn(BLOCK * 2, 6)
    np.save(tmp_path / "rows.npy", rows)
    fault = (
        "class Clear:\n"
        "    def __init__(self, key): pass\n"
        "    generate_key = staticmethod(lambda bits: b'')\n"
        "    def encrypt(self, nonce, data, more): return data + bytes(16)\n"
        "    def decrypt(self, nonce, data, more): return data[:-16]\n"
        "scratch.AESGCM = Clear\n"
    )
    code = HOLDING.format(planted=fault if planted else "")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "rows.npy")], env=environment, stdout=subprocess.PIPE
    ) as held:
        assert held.stdout is not None
        number = int(held.stdout.readline())
        held.send_signal(signal.SIGSTOP)
        on_disk = Path(f"/proc/{held.pid}/fd/{number}").read_bytes()
        assert len(on_disk) >= rows.nbytes
        found = [row for row in rows if row.tobytes() in on_disk]
        held.kill()
    assert held.returncode == -signal.SIGKILL
    assert bool(found) == planted
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
