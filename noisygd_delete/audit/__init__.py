"""What an adversary can do: attacks on releases, confidence bounds, and claimed-against-measured reports."""

from .canaries import audit_one_run
from .membership import audit
from .releases import audit_releases
from .simulation import Counts, LinearLikelihoodRatio, ShadowLikelihoodRatio, SimulatedNoisyGD, World
from .three_samples import KernelWitness, ThreeSamples, three_samples
from .verdict import AuditResult, AuditRow, OneRun

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
