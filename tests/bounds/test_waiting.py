"""The barrier between two wells, against the loss that attains it."""

import numpy as np
import pytest

from noisygd_delete.bounds import forgetting_limits


def test_the_barrier_between_the_wells_of_the_worst_loss():
    """Slope L beyond ±L/β₋, curvature −β₋ between: (λ/2)x² on top has its wells at ±L/λ."""
    lipschitz, weak, lam, noise = 1.3, 0.9, 0.25, 0.07
    x = np.linspace(0, 2 * lipschitz / lam, 200_001)
    potential = (
        np.where(x < lipschitz / weak, -weak * x**2 / 2, -lipschitz * x + lipschitz**2 / (2 * weak)) + lam * x**2 / 2
    )
    facts = {"lipschitz": lipschitz, "weak_convexity": weak, "noise_variance": noise}
    assert -potential.min() / noise == pytest.approx(
        forgetting_limits.barrier_exponent(regularization=lam, **facts), rel=1e-6
    )
