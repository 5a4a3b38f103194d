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
from benchmarks.kernel import random_table, reader
from noisygd_delete import losses
from noisygd_delete.engine.execution import launched_group
from noisygd_delete.engine import Objective
rows, features, classes, repeats = map(int, sys.argv[1:])
loss = losses.Softmax(1.0, classes=classes) if classes else losses.Logistic(1.0)
group = launched_group()
objective = Objective(random_table(rows, features, classes), loss, regularization=1e-3, group=group)
weights = np.zeros(objective.shape)
objective.gradient(weights)
own = objective._own
read = reader(objective._rows[own.start : own.stop], 1)
read()
wall, busy, bare = [], [], []
for _ in range(repeats):
    group.gather(0)
    began = time.perf_counter(), time.process_time()
    for _ in range(8):
        objective.gradient(weights)
    wall.append(time.perf_counter() - began[0])
    busy.append(time.process_time() - began[1])
    group.gather(0)
    began = time.perf_counter()
    for _ in range(8):
        read()
    group.gather(0)
    bare.append(time.perf_counter() - began)
if group.rank == 0:
    print(median(wall), median(busy), median(bare))
"""


def _seconds(processes: int, *sizes: int) -> list[float]:
    root = Path(__file__).parents[1]
    start = [sys.executable] if processes == 1 else [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    start += [] if processes == 1 else [f"--nproc-per-node={processes}", "--no-python", sys.executable]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    program = [*start, "-c", _PROGRAM, *map(str, sizes)]
    done = subprocess.run(program, cwd=root, env=environment, capture_output=True, text=True, check=True)
    return [float(seconds) for seconds in done.stdout.split()]


def processes_gain(rows: int, features: int, classes: int, repeats: int, rounds: int = 3) -> list[float]:
    """One process over two, medians of alternating launches: a step by the clock, by processor time, and a bare reading."""
    sizes = (rows, features, classes, repeats)
    pairs = [(_seconds(1, *sizes), _seconds(2, *sizes)) for _ in range(rounds)]
    return [median(one[k] for one, _ in pairs) / median(two[k] for _, two in pairs) for k in range(3)]
