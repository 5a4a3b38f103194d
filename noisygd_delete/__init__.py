"""Machine unlearning with a certificate: stateless Noisy-GD data deletion (Chourasia & Shah, ICML 2023).

Public names are loaded on first use, so planning and accounting never import torch.

Example:
    >>> import numpy as np
    >>> from noisygd_delete import Budget, Curator, Records, losses, make_plan
    >>> rng = np.random.default_rng(0)
    >>> rows = np.hstack([np.ones((5_000, 1)), rng.normal(size=(5_000, 9))])
    >>> rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    >>> labels = np.where(rows[:, 1] > 0, 1.0, -1.0)
    >>> plan = make_plan(losses.Logistic(radius=1.0), records=5_000, features=10, regularization=1e-2,
    ...                  budget=Budget(order=10, dp=1.0, deletion=0.1))
    >>> curator = Curator(Records(rows, labels), plan)
    >>> str(curator.learn().status)
    'published'
    >>> release = curator.delete([17, 42])  # erase two records and publish a model without them
    >>> release.counts.deleted
    2
    >>> release.model.weights.shape
    (10,)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__ as __version__

if TYPE_CHECKING:
    from . import errors, losses, methods
    from .accountant import Accountant
    from .curator.curator import Curator
    from .curator.learning import learn, resume, unlearn
    from .curator.model import Model
    from .curator.release import Release
    from .engine import Execution
    from .estimators import NoisyGDClassifier as NoisyGDClassifier  # not in __all__: these need scikit-learn
    from .estimators import NoisyGDRegressor as NoisyGDRegressor
    from .estimators import RecordWisePipeline as RecordWisePipeline
    from .features import maps
    from .features.schema import Schema
    from .methods.plan import Plan
    from .planner import make_plan
    from .planner.comparison import compare_plans
    from .privacy.budget import Budget
    from .privacy.guarantee import Guarantee
    from .records import EditRequest, Records
    from .store import Store

__all__ = [
    "Accountant",
    "Budget",
    "Curator",
    "EditRequest",
    "Execution",
    "Guarantee",
    "Model",
    "Plan",
    "Records",
    "Release",
    "Schema",
    "Store",
    "compare_plans",
    "errors",
    "learn",
    "losses",
    "make_plan",
    "maps",
    "methods",
    "resume",
    "unlearn",
]

_HOMES = {
    "Accountant": "accountant",
    "Budget": "privacy",
    "Curator": "curator",
    "EditRequest": "records",
    "Execution": "engine",
    "Guarantee": "privacy",
    "Model": "curator",
    "NoisyGDClassifier": "estimators",
    "NoisyGDRegressor": "estimators",
    "Plan": "methods.plan",
    "RecordWisePipeline": "estimators",
    "Records": "records",
    "Release": "curator",
    "compare_plans": "planner.comparison",
    "learn": "curator",
    "make_plan": "planner",
    "resume": "curator",
    "Schema": "features.schema",
    "Store": "store",
    "unlearn": "curator",
}

_MODULES = {"maps": "features.maps"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    if name in __all__:
        return import_module(f".{_MODULES.get(name, name)}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_HOMES})
