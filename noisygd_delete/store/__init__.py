"""The on-disk curator: layout, journal, recovery, erasure, lock, verification.

A store is a folder with a training set, its model and its ledger:

    >>> import tempfile
    >>> import numpy as np
    >>> from noisygd_delete import Budget, EditRequest, Records, Schema, losses, make_plan
    >>> from noisygd_delete.store import Store, status, verify
    >>> rows = np.random.default_rng(0).standard_normal((3_000, 2))
    >>> rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    >>> table = Records(rows, np.sign(rows[:, 0]), ids=[f"person-{i}" for i in range(3_000)])
    >>> schema = Schema.from_dict({
    ...     "id": "id", "intercept": False, "label": {"column": "y", "classes": ["no", "yes"]},
    ...     "columns": {name: {"bounds": [-1, 1]} for name in "ab"},
    ... })
    >>> budget = Budget(order=10, dp=1.0, deletion=0.1)
    >>> plan = make_plan(losses.Logistic(radius=1.0), records=3_000, features=2, regularization=1e-2, budget=budget)
    >>> path = tempfile.mkdtemp() + "/store"
    >>> with Store.create(path, table, schema, plan) as store:
    ...     _ = store.learn()
    ...     release = store.serve(EditRequest.delete(["person-17"], request_id="f3b1c0"))
    >>> release.release, status(path)["records"], verify(path).passed
    (2, 2999, True)

Modules that run the curator are imported on first use: `status` and `budget` need no engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy_imports import on_first_use
from .status import budget, status

if TYPE_CHECKING:
    from .group import follow_group, lead_group
    from .prediction import Predictions, predict
    from .store import Store
    from .tombstones import Tombstones
    from .verification import Soundness, tokens, verify, verify_absence

__all__ = [
    "Predictions",
    "Soundness",
    "Store",
    "Tombstones",
    "budget",
    "follow_group",
    "lead_group",
    "predict",
    "status",
    "tokens",
    "verify",
    "verify_absence",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Store": "store",
        **dict.fromkeys(("Predictions", "predict"), "prediction"),
        "Tombstones": "tombstones",
        **dict.fromkeys(("follow_group", "lead_group"), "group"),
        **dict.fromkeys(("Soundness", "verify_absence", "tokens", "verify"), "verification"),
    },
)
