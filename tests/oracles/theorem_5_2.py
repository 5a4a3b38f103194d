"""Theorem 5.2's printed conditions in 50 digits, written from the paper and not from the package."""

from mpmath import exp, log, mp, mpf

mp.dps = 50


def printed(*, noise_variance, q, dp, deletion, omega, lipschitz, beta, lam, d, n, r):
    """(η, K_A, K_Ā, ε of (18)) with equality in (19), no rounding of K."""
    s, q, deletion, omega, beta, lam = map(mpf, (noise_variance, q, deletion, omega, beta, lam))
    big = exp(4 * (omega / 2) / s)
    eta = min(lam * deletion / (64 * d * q * big * (beta + lam) ** 2), lam / (64 * big * q**2 * (beta + lam) ** 2))
    unit = 2 * big / (lam * eta)
    learn = max(mpf(0), unit * log(q * log(big) / deletion))
    delete = learn - unit * log(log(big) / (2 * (deletion + mpf(r) / n * log(big))))
    return eta, learn, delete, q * mpf(lipschitz) ** 2 * eta * max(learn, delete) / (s * n**2)


def g22(*, noise_variance, q, omega, beta, lam, d, eta, steps, start):
    """The printed line (139)."""
    big = exp(2 * mpf(omega) / mpf(noise_variance))
    bias = 32 * d * mpf(eta) * q * big * (mpf(beta) + lam) ** 2 / lam
    return q * exp(-lam * mpf(eta) * steps / (2 * big)) * start + bias
