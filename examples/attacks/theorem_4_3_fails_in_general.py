"""Theorem 4.3 as stated is false for general pairs: ε_dd + p ε_dp does not bound adaptive deletion.

A publishes a uniform bit r, a one-time pad. Ā publishes (previous pad bit ⊕ every bit it erases) together with randomised
response of the records that remain. Without adaptivity the pad bit is uniform whatever was deleted: ε_dd = 0. Randomised
response makes the pair (q, ε_dp)-Rényi DP. A 1-adaptive requester sees r and writes it into the other n − 1 records; the last
release then carries r ⊕ (deleted bit) and, in its n − 1 noisy bits, r.

Noisy-GD is not refuted by this: its adaptive bound conditions on the observed *models* (see `accountant.py`).
"""

import math
import os

import numpy as np
from scipy.optimize import brentq

from noisygd_delete.audit import Counts
from noisygd_delete.bounds.adaptive import membership_advantage

ORDER, DP, RECORDS = 10.0, 0.01, 10_000


def renyi_of_response(keep: float, order: float) -> float:
    """Rényi divergence between the answers of two opposite bits, each kept with probability `keep`."""
    flip = 1 - keep
    return math.log(keep**order * flip ** (1 - order) + flip**order * keep ** (1 - order)) / (order - 1)


KEEP = brentq(lambda keep: renyi_of_response(keep, ORDER) - DP, 0.5 + 1e-9, 0.9)


def respond(bits, rng):
    """Randomised response: (q, ε_dp)-Rényi DP in each bit."""
    return bits ^ (rng.random(len(bits)) > KEEP)


def last_release(bit: int, adaptive: bool, rng) -> tuple[int, int]:
    """(pad bit, majority of the noisy bits) after the victim's bit has been deleted. The other records begin as 0."""
    pad = int(rng.integers(2))  # A(D): independent of D
    seen = pad if adaptive else 0
    others = np.full(RECORDS - 1, seen, dtype=np.int64)  # one request: n − 1 replacements; the erased bits are all 0
    noisy = respond(others, rng)
    return pad ^ bit, int(noisy.sum() * 2 > len(noisy))


def attack(adaptive: bool, *, runs: int = 1500, seed: int = 0) -> Counts:
    """Says "the bit was 1" when the pad bit and the majority disagree."""
    rng = np.random.default_rng(seed)
    hits, alarms = (
        sum(cipher != majority for cipher, majority in (last_release(bit, adaptive, rng) for _ in range(runs)))
        for bit in (1, 0)
    )
    return Counts(hits, runs, alarms, runs, error=1e-4)


def main() -> None:
    claimed = membership_advantage(order=ORDER, renyi=0.0 + 1 * DP)
    fixed, adaptive = attack(adaptive=False), attack(adaptive=True)
    print(f"Theorem 4.3 would bound the advantage by {claimed:.3f} (ε_dd = 0, p = 1, ε_dp = {DP:g} at order {ORDER:g})")
    print(f"non-adaptive requester: measured {fixed.estimate:+.3f}")
    print(f"1-adaptive requester:   measured {adaptive.estimate:+.3f}, at least {adaptive.advantage:.3f}")
    assert fixed.advantage < 0.05
    assert claimed < 0.15
    assert adaptive.advantage > 0.9
    if picture := os.environ.get("PICTURE"):
        from matplotlib import pyplot

        _, axes = pyplot.subplots(figsize=(7, 2.6), layout="constrained")
        bars = {"requests fixed beforehand": max(fixed.estimate, 0.0), "one adaptive request": adaptive.estimate}
        axes.barh(list(bars), list(bars.values()), color=["tab:green", "tab:red"])
        axes.axvline(claimed, color="0.4", linestyle="--", label="what Theorem 4.3 would allow")
        axes.set(xlim=(0, 1), xlabel="measured advantage about the deleted bit")
        axes.set_title("A one-time pad breaks the theorem as stated", loc="left")
        axes.legend(loc="lower right")
        pyplot.savefig(picture)


if __name__ == "__main__":
    main()
