"""Theorem 4.5: whoever does not protect the records that stay cannot protect deleted ones from adaptive requests.

Test tells D from D′ by a model of A with advantage δ; the other test tells two tables D̄, D̄′ by a model of Ā with advantage δ̄.
The requester of the proof sees the first model, runs Test on it, and rewrites the remaining records into D̄ or D̄′. The last
release then tells D from D′ with advantage δ·δ̄: what was known of the living is known of the dead.
"""

import os
from statistics import NormalDist

import numpy as np

from noisygd_delete.audit import Counts
from noisygd_delete.bounds.adaptive import deletion_lower_bound

RECORDS = 5
VICTIM = RECORDS - 1


def model(table, noise, rng):
    """A and Ā: the exact sum plus Gaussian noise; Ā retrains, so it keeps no state."""
    return table.sum() + noise * rng.normal()


def interaction(own: float, noise: float, rng) -> tuple[bool, bool]:
    """(what Test says of the first model, what the other test says of the last one) when the victim's record is `own`."""
    table = np.zeros(RECORDS)
    table[VICTIM] = own
    seen = model(table, noise, rng) > 0.5
    table[0] = float(seen)  # D̄ and D̄′ differ in one record; requests 1 … n−1 of (50) write the rest, here already 0
    table[VICTIM] = 0.0  # the request ū that deletes the victim
    return seen, model(table, noise, rng) > 0.5


def main() -> None:
    runs, noise, order = 20_000, 0.6, 10
    rng = np.random.default_rng(0)
    answers = {own: np.array([interaction(own, noise, rng) for _ in range(runs)]) for own in (1.0, 0.0)}
    first, last = (
        Counts(int(answers[1.0][:, k].sum()), runs, int(answers[0.0][:, k].sum()), runs, error=1e-4) for k in (0, 1)
    )
    exact = 2 * NormalDist().cdf(0.5 / noise) - 1  # advantage of either test
    refuted = deletion_lower_bound(order=order, advantage=exact)
    print(f"advantage of Test on A: {first.estimate:.3f} (exact {exact:.3f})")
    print(f"advantage on the record deleted from Ā's input: {last.estimate:.3f} (exact {exact**2:.3f})")
    print(
        f"so no (q={order}, ε)-data-deletion under 1-adaptive requesters for ε < {refuted:.4f}; non-adaptively it is ε = 0"
    )
    assert last.advantage < exact**2 < last.estimate + 0.03
    assert last.advantage > 0.25
    assert refuted > 0.05
    if picture := os.environ.get("PICTURE"):
        from matplotlib import pyplot

        _, axes = pyplot.subplots(figsize=(7, 3), layout="constrained")
        noises = np.linspace(0.2, 3, 100)
        living = np.array([2 * NormalDist().cdf(0.5 / level) - 1 for level in noises])
        axes.plot(noises, living, label="about records that stay (A)", color="tab:blue")
        axes.plot(noises, living**2, label="about the deleted one, adaptive requester (Ā)", color="tab:red")
        axes.plot([noise], [first.estimate], "o", color="tab:blue")
        axes.plot([noise], [last.estimate], "o", color="tab:red", label="measured")
        axes.set(ylim=(0, 1), xlabel="noise on each release", ylabel="advantage over guessing")
        axes.set_title("What is known of the living is known of the dead", loc="left")
        axes.legend()
        pyplot.savefig(picture)


if __name__ == "__main__":
    main()
