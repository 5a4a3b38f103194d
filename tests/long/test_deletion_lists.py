"""A deletion list of a million lines: memory is that of a block of it, and the work grows as its lines do."""

from __future__ import annotations

import subprocess
import sys
from math import log10
from pathlib import Path

import pytest

_PROGRAM = """
import base64
import csv
import hashlib
import sys
import time
from pathlib import Path

from noisygd_delete_server.access import TokenFile
from noisygd_delete_server.deletion_list import read_answers
from noisygd_delete_server.drop import DropIntake
from noisygd_delete_server.drop_settings import Drop
from noisygd_delete_server.service import Service
from noisygd_delete_server import deletion_list, drop
from noisygd_delete.curator.stream import Batching
from tests.service.conftest import make_store, person

root, lines, persons, block = Path(sys.argv[1]), *map(int, sys.argv[2:])
deletion_list.BLOCK = drop.BLOCK = block
(root / "drop").mkdir()
with (root / "identifiers.csv").open("w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["subject", "mail"])
    writer.writerows([person(2 * k), f"person.{k}@example.org"] for k in range(persons))
(root / "drop.toml").write_text('folder = "drop"\\nidentifiers = "identifiers.csv"\\n[lists]\\nEmail = ["mail"]\\n')
path = root / "drop" / "20260312_4821_Email.csv"
with path.open("w") as file:
    file.write("ID,Hash\\n")
    for k in range(lines):  # 2,000 lines mean somebody of `identifiers`; twenty of these are in the table
        mail = f"person.{k // (lines // 2000)}@example.org" if k % (lines // 2000) == 0 else f"other.{k}@example.org"
        file.write(f"{k:012d},{base64.b64encode(hashlib.sha256(mail.encode()).digest()).decode()}\\n")
service = Service([make_store(root / "people", rows=40)], TokenFile([]), pace=lambda _: Batching(size=20, deadline=None))
intake = DropIntake(service, Drop.read(root / "drop.toml"))

def peak():
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))

before, began = peak(), time.process_time()
for _ in range(2):
    intake.process_files()
    service.writer.turn()
intake.process_files()
used = time.process_time() - began
said = (status for _, status in read_answers(root / "drop" / "answers" / path.name))
counts = {}
for status in said:
    counts[str(status)] = counts.get(str(status), 0) + 1
assert counts == {"3": 20, "5": lines - 20}, counts
print(before, peak(), used)
"""


def measured(folder: Path, lines: int, persons: int = 20_000, block: int = 100_000) -> tuple[float, float, float]:
    """KiB before a list and at the peak of taking and answering it, and seconds of a processor, in a process of its own."""
    folder.mkdir()
    program = [sys.executable, "-c", _PROGRAM, str(folder), *map(str, (lines, persons, block))]
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parents[2])
    before, peak, used = map(float, done.stdout.split())
    return before, peak, used


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_a_million_lines_take_the_memory_of_a_hundred_thousand(tmp_path: Path, record_property) -> None:
    (_, few, short), (_, many, long) = measured(tmp_path / "a", 10**5), measured(tmp_path / "b", 10**6)
    _, whole, _ = measured(tmp_path / "c", 10**6, block=10**6)  # the control: a list that is held as a whole
    record_property(
        "evidence",
        f"peak at 10^6 lines over 10^5: {many / few:.2f}, held whole {whole / few:.2f}; processor time: 10^5 to 10^6 lines as their power "
        f"{log10(long / short):.2f}",
    )
    assert many < 1.3 * few < whole
    assert long < 10**1.15 * short
