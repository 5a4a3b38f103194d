"""What deletion privacy means for an adversary: Theorems 4.1 and 4.5 of Chourasia & Shah (ICML 2023).

Theorem 4.3 as a general statement is false, so there is no function for it: the adaptive guarantees of this package
condition on the *observed models* (see `accountant.py`).

Definition 4.1 compares the released model with one law that never saw the record, in one direction. Whether the record
was x or x′, the model lies within ε of that law; a test that tells x from x′ has to step over it.

Theorem 4.1 says this of "post-deletion releases". It holds for one release, Θ_i alone, and for several whose *joint* law
lies within ε of one that never saw the record (what this package's accountant bounds). For a sequence of releases each
of which satisfies Definition 4.1 it is false under adaptive requests: a request written from a model that saw the record
carries it into present records, and two later releases together can name it with certainty at ε = 0 (the pair is in
`proofs_check/RESULTS.md`, 4.1).
"""

from __future__ import annotations

import math

from .arithmetic import MARGIN, UNIT, first_safe


def theorem_4_1(*, order: float, renyi: float) -> float:
    """Theorem 4.1 as printed: advantage ≤ min{√(2ε), (q e^{ε(q−1)/q}/(q−1)) [2(q−1)]^{1/q} − 1}, at most 1.

    Holds for a test that sees the single release Θ_i, or releases whose joint law satisfies (q, ε). False for a sequence of
    releases that satisfy it one by one, if requests were adaptive (see above).
    """
    if renyi >= 1:
        return 1.0  # both terms exceed 1 from ε = log 2 on
    growth = math.exp(renyi * (order - 1) / order)
    printed: float = order * growth / (order - 1) * (2 * (order - 1)) ** (1 / order) - 1
    return min(1.0, math.sqrt(2 * renyi) * (1 + MARGIN), printed + MARGIN)


def membership_advantage(*, order: float, renyi: float) -> float:
    """Advantage of any test "was it x or x′?" on a post-deletion release under (q, ε_dd)-data deletion; rounded up.

    `renyi` bounds what the test sees: the single release Θ_i, or several of them *jointly*. A sequence of releases that
    satisfy the definition one by one has no such bound under adaptive requests (see above).

    The largest t that the definition allows: with S the event "the test says x", p = P(S | x) and 1 − p′ = P(not S | x′),
    both coins lie within ε of the coin of the third law; averaging the pair with its mirror image makes that coin fair and
    p = 1 − p′ = (1+t)/2, so ((1+t)^q + (1−t)^q)/2 ≤ e^{(q−1)ε}. Never above Theorem 4.1's printed bound.
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
    """log(((1+t)^q + (1−t)^q)/2)."""
    other = math.exp(order * (math.log1p(-t) - math.log1p(t))) if t < 1 else 0.0
    return order * math.log1p(t) + math.log1p(other) - math.log(2)


def deletion_lower_bound(*, order: float, advantage: float) -> float:
    """Theorem 4.5 as printed: tests on A and Ā with advantage > δ rule out (q, ε)-deletion for every smaller ε.

    Under 1-adaptive requesters, for a test on Ā that works whatever model it started from:
    max{δ⁴/2, log(q−1) + (q/(q−1)) log((1+δ²)/(q 2^{1/q}))}, clamped at 0; rounded down.
    """
    squared = advantage**2
    second = math.log(order - 1) + order / (order - 1) * math.log((1 + squared) / (order * 2 ** (1 / order)))
    return max(0.0, squared**2 / 2 * (1 - MARGIN), second - MARGIN)


def deletion_lower_bound_sharp(*, order: float, advantage: float) -> float:
    """The same with `membership_advantage` in place of Theorem 4.1: log(((1+δ²)^q + (1−δ²)^q)/2)/(q−1); never smaller."""
    sharp = (_log_mean_power(order, advantage**2) - 8 * UNIT * order) / (order - 1)
    return max(deletion_lower_bound(order=order, advantage=advantage), sharp * (1 - MARGIN))
