"""One table, two processes: torchrun starts them, each reads half of the rows, both end with the same model.

    torchrun --nproc-per-node 2 examples/clusters/two_processes.py

Run as a plain script it starts torchrun itself. A store needs no code at all: `torchrun -m noisygd_delete delete STORE 17`.
"""

import os
import subprocess
import sys

import numpy as np

from noisygd_delete import Budget, Curator, Execution, Records, losses, make_plan
from noisygd_delete.engine.group import launched_group

if "RANK" not in os.environ:
    try:
        from torch import distributed  # noqa: F401
    except ImportError:
        print("needs torch")
        sys.exit(77)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    sys.exit(subprocess.run([*torchrun, __file__], check=False).returncode)

rng = np.random.default_rng(0)
rows = rng.standard_normal((4_000, 10))
rows /= np.linalg.norm(rows, axis=1, keepdims=True) * 1.000001
labels = np.where(rows @ np.arange(10) > 0, 1.0, -1.0)

plan = make_plan(
    losses.Logistic(radius=1.0),
    records=4_000,
    features=10,
    regularization=1e-2,
    budget=Budget.from_gdp(dp=0.5, deletion=0.05),
    method="sharp",
)

together = Execution(group=launched_group())  # both processes make the same calls, and share the work of each
curator = Curator(Records(rows, labels), plan, execution=together)
learned = curator.learn(execution=together)
erased = curator.delete([17, 3_999], execution=together)
group = together.group
models = group.gather(erased.model.weights)  # for this example to look at: each process's own result

assert len(models) == group.size == 2
assert (models[0] == models[1]).all()  # one key, one noise, one model
assert 17 not in curator.records
assert learned.model.certified
assert erased.model.accuracy(curator.records) > 0.8
if group.rank == 0:
    print(f"{group.size} processes, one model: {erased.steps} steps to forget two records")
    if picture := os.environ.get("PICTURE"):
        from matplotlib import pyplot

        _, axes = pyplot.subplots(figsize=(7, 3), layout="constrained")
        for rank, weights in enumerate(models):
            axes.plot(weights, "o" if rank else "s", markersize=5 if rank else 10, label=f"process {rank}")
        axes.set(xlabel="weight", ylabel="value after the deletion")
        axes.set_title("Each process holds half of the rows and the whole model", loc="left")
        axes.legend()
        pyplot.savefig(picture)
