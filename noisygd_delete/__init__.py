"""Machine unlearning with a certificate: stateless Noisy-GD data deletion (Chourasia & Shah, ICML 2023).

Public names load on first use, so planning and accounting never import torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "losses": None,
    "errors": None,
    "Budget": "budget",
    "Plan": "plan",
    "make_plan": "planner",
    "compare_plans": "planner.comparison",
    "Records": "records",
    "EditRequest": "records",
    "Model": "curator",
    "Release": "curator",
    "learn": "curator",
    "unlearn": "curator",
    "resume": "curator",
    "Curator": "curator",
    "Accountant": "accountant",
    "Guarantee": "guarantee",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    if home is None:
        return import_module(f".{name}", __name__)
    return getattr(import_module(f".{home}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*_HOMES, "__version__"])
