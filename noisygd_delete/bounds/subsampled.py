"""Rényi DP of DP-SGD: noisy sums of clipped gradients over Poisson samples (Mironov, Talwar & Zhang 2019).

For an integer order α, sampling rate p and noise multiplier z, one step against the null record costs at most

    (1/(α−1)) log Σ_k C(α,k) (1−p)^{α−k} p^k e^{(k²−k)/(2z²)}

in both directions; steps add. Replacing one record by another steps over the null record: for laws P, M, Q (Mironov 2017)

    R_α(P ‖ Q) ≤ ((α − ½)/(α − 1)) R_{2α}(P ‖ M) + R_{2α−1}(M ‖ Q)
"""

from __future__ import annotations

from .rounding import MARGIN


def zero_out_renyi(*, order: int, sampling_rate: float, noise_multiplier: float, steps: float) -> float:
    """ε_α of `steps` steps, a record against the null record, both directions; rounded up."""
    import numpy as np  # loaded where it is used: an account of models alone never is here

    k = np.arange(order + 1)
    growth = (k * k - k) / (2 * noise_multiplier**2)
    if sampling_rate == 1:
        return float(steps * growth[-1] / (order - 1) * (1 + MARGIN))
    from scipy.special import gammaln, logsumexp  # loaded where it is used: most commands never are here

    choose = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    terms = choose + (order - k) * np.log1p(-sampling_rate) + k * np.log(sampling_rate) + growth
    # the sum is 1 plus what the record adds; an absolute 1e-13 per order covers the rounding of terms near log 1
    return max(0.0, steps * (float(logsumexp(terms)) * (1 + MARGIN) + 1e-13 * order) / (order - 1))


def replace_renyi(*, order: int, sampling_rate: float, noise_multiplier: float, steps: float) -> float:
    """ε_α of `steps` steps, record x against record x′, over the null record; rounded up."""
    sampling = {"sampling_rate": sampling_rate, "noise_multiplier": noise_multiplier, "steps": steps}
    towards = zero_out_renyi(order=2 * order, **sampling)
    away = zero_out_renyi(order=2 * order - 1, **sampling)
    return (order - 0.5) / (order - 1) * towards + away
