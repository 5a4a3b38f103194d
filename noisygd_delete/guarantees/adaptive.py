"""What deletion privacy means for an adversary: Theorems 4.1 and 4.5 of Chourasia & Shah (ICML 2023).

Theorem 4.3 as a general statement is false, so there is no function for it: the adaptive guarantees of this package
condition on the *observed models* (see `accountant.py`).
"""

from __future__ import annotations

import math


def membership_advantage(*, order: float, renyi: float) -> float:
    """Theorem 4.1: advantage of any membership test on post-deletion releases under (q, ε_dd)-data deletion.

    The least of √(2ε), the printed second term, and the smaller e^{ε(q−1)/q} 2^{1/q} − 1, which is valid too; at most 1.
    """
    if renyi == math.inf:
        return 1.0
    exponent = renyi * (order - 1) / order
    growth = math.exp(exponent) if exponent < 700 else math.inf
    printed: float = order * growth / (order - 1) * (2 * (order - 1)) ** (1 / order) - 1
    sharper: float = growth * 2 ** (1 / order) - 1
    return min(1.0, math.sqrt(2 * renyi), printed, sharper)


def deletion_lower_bound(*, order: float, advantage: float) -> float:
    """Theorem 4.5: no pair whose records can be told apart with advantage > δ is (q, ε)-deleting for a smaller ε.

    Under 1-adaptive requesters: max{δ⁴/2, log(q−1) + (q/(q−1)) log((1+δ²)/(q 2^{1/q}))}, clamped at 0.
    """
    second = math.log(order - 1) + order / (order - 1) * math.log((1 + advantage**2) / (order * 2 ** (1 / order)))
    return max(0.0, advantage**4 / 2, second)
