"""Theorems 4.1 and 4.5 of Chourasia & Shah (ICML 2023): the meaning of deletion privacy for an adversary.

Theorem 4.3 as a general statement is false, so there is no function for it: the adaptive guarantees of this package
condition on the *observed models* (see `accountant.py`).

Definition 4.1 compares the released model with one law that never saw the record, in one direction. Whether the record
was x or x′, the model is within ε of that law, so a test that distinguishes x from x′ has to do so through that law.

Theorem 4.1 concerns "post-deletion releases". It holds for one release, Θ_i alone, and for several whose *joint* law
is within ε of one that never saw the record (which this package's accountant bounds). For a sequence of releases each
of which satisfies Definition 4.1 it is false under adaptive requests: a request derived from a model that saw the
record carries it into present records, and two later releases together can identify it with certainty at ε = 0 (the
pair is in `proofs_check/RESULTS.md`, 4.1).

Example:
    >>> from noisygd_delete.bounds.adaptive import membership_advantage, theorem_4_1
    >>> round(theorem_4_1(order=2, renyi=0.01), 3), round(membership_advantage(order=2, renyi=0.01), 3)
    (0.141, 0.1)
"""

from __future__ import annotations

import math

from .arithmetic import MARGIN, UNIT, first_safe


def theorem_4_1(*, order: float, renyi: float) -> float:
    """Return the bound of Theorem 4.1 as printed, at most 1.

    The advantage is at most min{√(2ε), (q e^{ε(q−1)/q}/(q−1)) [2(q−1)]^{1/q} − 1}. It holds for a test that sees the
    single release Θ_i, or releases whose joint law satisfies (q, ε). It is false for a sequence of releases that
    satisfy it individually, if requests were adaptive (see the module docstring).
    """
    if renyi >= 1:
        return 1.0  # both terms exceed 1 from ε = log 2 on
    growth = math.exp(renyi * (order - 1) / order)
    printed: float = order * growth / (order - 1) * (2 * (order - 1)) ** (1 / order) - 1
    return min(1.0, math.sqrt(2 * renyi) * (1 + MARGIN), printed + MARGIN)


def membership_advantage(*, order: float, renyi: float) -> float:
    """Return the advantage of any test "was it x or x′?" on a post-deletion release, rounded up.

    The release satisfies (q, ε_dd)-data deletion. `renyi` bounds everything the test sees: the single release Θ_i, or
    several of them *jointly*. A sequence of releases that satisfy the definition individually has no such bound under
    adaptive requests (see the module docstring).

    The result is the largest t that the definition allows. With S the event "the test answers x", p = P(S | x) and
    1 − p′ = P(not S | x′), both coins are within ε of the coin of the third law. Averaging the pair with its mirror
    image makes that coin fair and p = 1 − p′ = (1+t)/2, so ((1+t)^q + (1−t)^q)/2 ≤ e^{(q−1)ε}. It never exceeds the
    printed bound of Theorem 4.1.
    """
    if renyi == 0:
        return 0.0
    printed = theorem_4_1(order=order, renyi=renyi)
    if renyi >= 1:
        return printed

    def beyond(t: float) -> bool:
        return _log_mean_power(order, t) > (order - 1) * renyi + 8 * UNIT * order

    return min(printed, first_safe(beyond, 0.0, 1.0) * (1 + MARGIN)) if beyond(1.0) else printed


def _log_mean_power(order: float, t: float) -> float:
    """Return log(((1+t)^q + (1−t)^q)/2)."""
    other = math.exp(order * (math.log1p(-t) - math.log1p(t))) if t < 1 else 0.0
    return order * math.log1p(t) + math.log1p(other) - math.log(2)


def deletion_lower_bound(*, order: float, advantage: float) -> float:
    """Return the smallest ε of (q, ε)-deletion that tests with this advantage leave possible (Theorem 4.5 as printed).

    Tests on A and Ā with advantage > δ rule out (q, ε)-deletion for every smaller ε, under 1-adaptive requesters, if
    the test on Ā works for any model it started from. The bound is max{δ⁴/2, log(q−1) + (q/(q−1)) log((1+δ²)/(q
    2^{1/q}))}, clamped at 0 and rounded down.
    """
    squared = advantage**2
    second = math.log(order - 1) + order / (order - 1) * math.log((1 + squared) / (order * 2 ** (1 / order)))
    return max(0.0, squared**2 / 2 * (1 - MARGIN), second - MARGIN)


def deletion_lower_bound_sharp(*, order: float, advantage: float) -> float:
    """Return the lower bound of Theorem 4.5 with `membership_advantage` instead of Theorem 4.1.

    It is log(((1+δ²)^q + (1−δ²)^q)/2)/(q−1), never smaller than the printed bound.
    """
    sharp = (_log_mean_power(order, advantage**2) - 8 * UNIT * order) / (order - 1)
    return max(deletion_lower_bound(order=order, advantage=advantage), sharp * (1 - MARGIN))
