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
with joined() as group:
    objective = Objective(random_table(10**6, 100), losses.Logistic(1.0), regularization=1e-3)
    weights = np.zeros(objective.shape)
    objective.gradient(weights)
    times = []
    for _ in range(int(sys.argv[1])):
        group.gather(0)
        began = time.perf_counter()
        objective.gradient(weights)
        times.append(time.perf_counter() - began)
    if group.rank == 0:
        print(median(times))
"""


def _seconds(processes: int, repeats: int) -> float:
    root = Path(__file__).parents[1]
    start = [sys.executable] if processes == 1 else [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    start += [] if processes == 1 else [f"--nproc-per-node={processes}", "--no-python", sys.executable]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    program = [*start, "-c", _PROGRAM, str(repeats)]
    done = subprocess.run(program, cwd=root, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def processes_gain(repeats: int, rounds: int = 3) -> float:
    """Median step of one process over that of two, in alternating launches."""
    pairs = [(_seconds(1, repeats), _seconds(2, repeats)) for _ in range(rounds)]
    return median(one for one, _ in pairs) / median(two for _, two in pairs)
