"""Theorem 5.1 of Chourasia & Shah, typed from the paper in 50-digit arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

import mpmath


@dataclass(frozen=True)
class Printed:
    step_size: mpmath.mpf
    noise_variance: mpmath.mpf
    init_variance: mpmath.mpf
    learn_steps: mpmath.mpf
    deletion_steps: mpmath.mpf
    utility_steps: mpmath.mpf


def theorem_5_1(*, q, eps_dp, eps_dd, n, d, lam, beta, L, r) -> Printed:
    with mpmath.workdps(50):
        q, eps_dp, eps_dd, lam, beta, L = map(mpmath.mpf, (q, eps_dp, eps_dd, lam, beta, L))
        kappa = (lam + beta) / lam
        eta = 1 / (2 * (lam + beta))
        sigma2 = 4 * q * L**2 / (lam * eps_dp * n**2)
        return Printed(
            eta,
            sigma2,
            sigma2 / (lam * (1 - eta * lam / 2)),
            4 * kappa * mpmath.log(eps_dp * n**2 / (4 * q * d)),
            4 * kappa * mpmath.log(eps_dp / eps_dd),
            4 * kappa * mpmath.log(max(5 * kappa, 8 * eps_dp * r**2 / (q * d))),
        )
