"""Peak memory of a learn and a deletion over the size of the table, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import ctypes
import gc
import sys
from pathlib import Path
import numpy as np
from noisygd_delete import Budget, EditRequest, Records, Curator, losses, make_plan
from noisygd_delete.engine import Objective

def resident(which):
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(which))

def records(n):
    rng, rows = np.random.default_rng(0), np.empty((n, d), np.float32)
    for part in np.array_split(rows, max(1, n // 4096)):
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)
        part /= np.sqrt(np.einsum("ij,ij->i", part, part))[:, None] * np.float32(1 + 2.0**-20)
    labels = rng.integers(0, 10, n).astype(float) if classes else rng.choice([-1.0, 1.0], n)
    return Records.from_slots(rows, labels, list(range(n)), None)

def run(n):
    table = records(n)
    budget = Budget.from_gdp(dp=0.5, deletion=0.1)
    plan = make_plan(loss, records=n, features=d, regularization=0.1, budget=budget, method="noisy-gd")
    curator = Curator(table, plan)
    curator.learn()
    curator.delete([3])

n, d, classes = map(int, sys.argv[1:])
loss = losses.Softmax(1.0, classes=classes) if classes else losses.Logistic(1.0)
small = (1 << 21) // d
run(small)
Objective(records(small), loss, regularization=0.1).gradient(np.zeros((loss.outputs, d)))  # libraries loaded, kernel compiled
gc.collect()
ctypes.CDLL(None).malloc_trim(0)  # what a compiler took and gave back would hide a part of the table
Path("/proc/self/clear_refs").write_text("5")  # the peak begins again at what is resident now
before = resident("VmRSS")
run(n)
print((resident("VmHWM") - before) / (4 * n * d))
"""


def peak_ratio(rows: int, features: int, classes: int = 0) -> float:
    """What a learn and a deletion take beyond the libraries, the table included, over the bytes of its rows (Linux)."""
    program = [sys.executable, "-c", _PROGRAM, str(rows), str(features), str(classes)]
    root = Path(__file__).parents[1]
    return float(subprocess.run(program, capture_output=True, text=True, check=True, cwd=root).stdout)
