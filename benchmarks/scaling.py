"""The step of one process against that of two under torchrun, alternating on one machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

_PROGRAM = """
import sys, time
from statistics import median
import numpy as np
from benchmarks.kernel import random_table
from noisygd_delete import losses
from noisygd_delete.distributed import joined
from noisygd_delete.gradient import Objective
rows, features, classes, repeats = map(int, sys.argv[1:])
loss = losses.Softmax(1.0, classes=classes) if classes else losses.Logistic(1.0)
with joined() as group:
    objective = Objective(random_table(rows, features, classes), loss, regularization=1e-3)
    weights = np.zeros(objective.shape)
    objective.gradient(weights)
    wall, busy = [], []
    for _ in range(repeats):
        group.gather(0)
        began = time.perf_counter(), time.process_time()
        objective.gradient(weights)
        wall.append(time.perf_counter() - began[0])
        busy.append(time.process_time() - began[1])
    if group.rank == 0:
        print(median(wall), median(busy))
"""


def _seconds(processes: int, *sizes: int) -> tuple[float, float]:
    root = Path(__file__).parents[1]
    start = [sys.executable] if processes == 1 else [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    start += [] if processes == 1 else [f"--nproc-per-node={processes}", "--no-python", sys.executable]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    program = [*start, "-c", _PROGRAM, *map(str, sizes)]
    done = subprocess.run(program, cwd=root, env=environment, capture_output=True, text=True, check=True)
    wall, busy = map(float, done.stdout.split())
    return wall, busy


def processes_gain(rows: int, features: int, classes: int, repeats: int, rounds: int = 3) -> tuple[float, float]:
    """A step of one process over a step of two, by the clock and by processor time: medians of alternating launches."""
    sizes = (rows, features, classes, repeats)
    pairs = [(_seconds(1, *sizes), _seconds(2, *sizes)) for _ in range(rounds)]
    clock, processor = (median(one[k] for one, _ in pairs) / median(two[k] for _, two in pairs) for k in (0, 1))
    return clock, processor
