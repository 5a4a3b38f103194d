"""Train a torch module of your own, delete records from it, and account for both.

    module = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10))
    loss = NetworkLoss(radius=1.0, classes=10, module=module)
    plan = make_plan(loss, records=n, features=64, regularization=1e-3, budget=budget, method="staged")
    curator = Curator(Records(rows, labels), plan)
    curator.learn()
    curator.delete([3])

Every record's gradient is clipped by itself, which is all that the methods `noisy-gd:analysis=composition` (every noisy step is charged) and `staged` (a base and
later stages that a deletion runs again) rest on. Neither convexity nor smoothness of the network is used.

Requires `pip install 'noisygd-delete[torch]'`.
"""

from __future__ import annotations

from .description import build_module, describe_module, load_module
from .loss import NetworkLoss

__all__ = ["NetworkLoss", "build_module", "describe_module", "load_module"]
