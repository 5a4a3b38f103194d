"""All groups of statements, in the order of the table. Importing this fills the registry."""

from __future__ import annotations

from importlib import import_module

from .framework import REGISTRY

GROUPS = (
    "divergences",
    "conversions",
    "membership",
    "counterexamples",
    "adaptive",
    "definitions",
    "histories",
    "observers",
    "answers",
    "stopping",
    "planning",
    "clipping",
    "isoperimetry",
    "convex",
    "convex_lemmas",
    "theorem_convex",
    "savings",
    "gibbs",
    "nonconvex_lemmas",
    "theorem_nonconvex",
    "sharp",
    "exact_steps",
    "sharp_utility",
    "objective_perturbation",
    "objective_perturbation_gdp",
    "ridge",
    "perturbed_releases",
    "ladder",
    "stages",
    "markov_sums",
    "waiting",
    "networks",
    "accounting",
    "losses",
    "certified_removal",
    "lectures",
)

for group in GROUPS:
    import_module(f"{__package__}.{group}")

__all__ = ["GROUPS", "REGISTRY"]
