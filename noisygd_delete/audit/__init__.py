"""Audit plans and releases by attack: membership tests, confidence bounds, and reports of claimed against measured.

Example:
    >>> from noisygd_delete.audit import OneRun
    >>> result = OneRun(canaries=1000, guesses=100, correct=75)
    >>> result.estimate, round(result.gdp, 3)
    (0.5, 0.2)
"""

from .attacks import LinearLikelihoodRatio, ShadowLikelihoodRatio
from .canaries import audit_one_run
from .counts import Counts
from .membership import audit
from .one_run import OneRun
from .releases import audit_releases
from .simulation import SimulatedNoisyGD, World
from .three_samples import KernelWitness, ThreeSamples, three_samples
from .verdict import AuditResult, AuditRow

__all__ = [
    "AuditResult",
    "AuditRow",
    "Counts",
    "KernelWitness",
    "LinearLikelihoodRatio",
    "OneRun",
    "ShadowLikelihoodRatio",
    "SimulatedNoisyGD",
    "ThreeSamples",
    "World",
    "audit",
    "audit_one_run",
    "audit_releases",
    "three_samples",
]
