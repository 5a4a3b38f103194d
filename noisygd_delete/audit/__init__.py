"""What an adversary can do: attacks on releases, confidence bounds, and claimed-against-measured reports."""

from .attacks import LinearLikelihoodRatio, ShadowLikelihoodRatio
from .bounds import Counts
from .membership import audit, audit_loss
from .reconstruction import Reconstruction, reconstruct
from .simulation import SimulatedNoisyGD, World
from .verdict import AuditResult, AuditRow

__all__ = [
    "AuditResult",
    "AuditRow",
    "Counts",
    "LinearLikelihoodRatio",
    "Reconstruction",
    "ShadowLikelihoodRatio",
    "SimulatedNoisyGD",
    "World",
    "audit",
    "audit_loss",
    "reconstruct",
]
