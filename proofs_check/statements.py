"""All groups of statements, in the order of the paper. Importing this fills the registry."""

from __future__ import annotations

from .framework import REGISTRY
from . import (  # isort: skip  # the order is the order of the table
    divergences,
    counterexamples,
    adaptive,
    clipping,
    isoperimetry,
    convex,
    convex_lemmas,
    nonconvex,
    nonconvex_lemmas,
    sharp,
    losses,
    certified_removal,
)

__all__ = [
    "REGISTRY",
    "adaptive",
    "certified_removal",
    "clipping",
    "convex",
    "convex_lemmas",
    "counterexamples",
    "divergences",
    "isoperimetry",
    "losses",
    "nonconvex",
    "nonconvex_lemmas",
    "sharp",
]
