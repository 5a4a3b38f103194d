"""Machine unlearning with a certificate: stateless Noisy-GD data deletion (Chourasia & Shah, ICML 2023).

Public names load on first use, so planning and accounting never import torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import errors, losses
    from .accountant import Accountant
    from .budget import Budget
    from .curator import Curator, Release
    from .estimators import NoisyGDClassifier as NoisyGDClassifier  # not in __all__: they need scikit-learn
    from .estimators import NoisyGDRegressor as NoisyGDRegressor
    from .estimators import RecordWisePipeline as RecordWisePipeline
    from .features import Schema
    from .guarantee import Guarantee
    from .learning import Model, learn, resume, unlearn
    from .plan import Plan
    from .planner import cheapest_plan, make_plan
    from .planner.comparison import compare_plans
    from .records import EditRequest, Records
    from .store import Store

__version__ = "0.1.0"

__all__ = [
    "Accountant",
    "Budget",
    "Curator",
    "EditRequest",
    "Guarantee",
    "Model",
    "Plan",
    "Records",
    "Release",
    "Schema",
    "Store",
    "cheapest_plan",
    "compare_plans",
    "errors",
    "learn",
    "losses",
    "make_plan",
    "resume",
    "unlearn",
]

_HOMES = {
    "Accountant": "accountant",
    "Budget": "budget",
    "Curator": "curator",
    "EditRequest": "records",
    "Guarantee": "guarantee",
    "Model": "learning",
    "NoisyGDClassifier": "estimators",
    "NoisyGDRegressor": "estimators",
    "Plan": "plan",
    "RecordWisePipeline": "estimators",
    "Records": "records",
    "Release": "curator",
    "cheapest_plan": "planner",
    "compare_plans": "planner.comparison",
    "learn": "learning",
    "make_plan": "planner",
    "resume": "learning",
    "Schema": "features",
    "Store": "store",
    "unlearn": "learning",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    if name in __all__:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_HOMES})
