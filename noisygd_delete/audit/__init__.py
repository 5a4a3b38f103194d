"""What an adversary can do: attacks on releases, confidence bounds, and claimed-against-measured reports."""

from .attacks import LinearLikelihoodRatio, ShadowLikelihoodRatio
from .bounds import Counts
from .membership import audit, audit_loss
from .reconstruction import Reconstruction, reconstruct
from .simulation import NoisyGD, World
from .verdict import AuditReport, Row

__all__ = [
    "AuditReport",
    "Counts",
    "LinearLikelihoodRatio",
    "NoisyGD",
    "Reconstruction",
    "Row",
    "ShadowLikelihoodRatio",
    "World",
    "audit",
    "audit_loss",
    "reconstruct",
]
