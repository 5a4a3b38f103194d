"""Other deletion methods behind a common interface, for comparison; each states what it does and does not guarantee.

Example:
    Compare all methods on scikit-learn's digits::

        noisygd-delete-lab compare --regularization 1e-2 --no-attack
"""

from __future__ import annotations

from .accelerated import NoisyAcceleratedSGD
from .ascent import GradientAscent
from .base import Baseline, Certificate, Erased, Held, erasure
from .certified_removal import CertifiedRemoval
from .dp_sgd import DPSGD
from .langevin import LangevinUnlearning, NoisySGDUnlearning
from .local_randomisation import LocalRandomisation
from .networks import LadderReleases, NetworkRetraining, NetworkTraining, NoisyFineTuning, PrivateBaseThenTuning
from .noisy_gd import NoisyGD, PerturbedSolve, PrivateRetraining, SolveThenDiffuse
from .objective_perturbation import ObjectivePerturbation
from .output_perturbation import OutputPerturbation
from .perturbed_gd import PerturbedGD, PublishedPerturbedGD
from .retraining import Retraining
from .rewinding import FixedTopNetwork, RewindToDelete
from .sisa import SISA

__all__ = [
    "DPSGD",
    "SISA",
    "Baseline",
    "Certificate",
    "CertifiedRemoval",
    "Erased",
    "FixedTopNetwork",
    "GradientAscent",
    "Held",
    "LadderReleases",
    "LangevinUnlearning",
    "LocalRandomisation",
    "NetworkRetraining",
    "NetworkTraining",
    "NoisyAcceleratedSGD",
    "NoisyFineTuning",
    "NoisyGD",
    "NoisySGDUnlearning",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "PerturbedGD",
    "PerturbedSolve",
    "PrivateBaseThenTuning",
    "PrivateRetraining",
    "PublishedPerturbedGD",
    "Retraining",
    "RewindToDelete",
    "SolveThenDiffuse",
    "erasure",
]
