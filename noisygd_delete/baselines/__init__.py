"""Other deletion methods behind the same two calls, for comparison. Each says what it does and does not guarantee."""

from __future__ import annotations

from .accelerated import NoisyAcceleratedSGD
from .ascent import GradientAscent
from .base import Baseline, Certificate, Erased, Held, erasure
from .certified_removal import CertifiedRemoval
from .dp_sgd import DPSGD
from .langevin import LangevinUnlearning, NoisySGDUnlearning
from .local_randomisation import LocalRandomisation
from .noisy_gd import NoisyGD, PerturbedSolve, PrivateRetraining, SolveThenDiffuse
from .objective_perturbation import ObjectivePerturbation
from .output_perturbation import OutputPerturbation
from .perturbed_gd import PerturbedGD, PublishedPerturbedGD
from .retraining import Retraining
from .sisa import SISA

__all__ = [
    "DPSGD",
    "SISA",
    "Baseline",
    "Certificate",
    "CertifiedRemoval",
    "Erased",
    "GradientAscent",
    "Held",
    "LangevinUnlearning",
    "LocalRandomisation",
    "NoisyAcceleratedSGD",
    "NoisyGD",
    "NoisySGDUnlearning",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "PerturbedGD",
    "PerturbedSolve",
    "PrivateRetraining",
    "PublishedPerturbedGD",
    "Retraining",
    "SolveThenDiffuse",
    "erasure",
]
