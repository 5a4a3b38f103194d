"""Theorem 3.2: every single release is (ε, 0)-close to retraining, and the stream of releases tells who was deleted.

The curator counts records with h(x) = 1 and publishes the count with Laplace noise of scale 1/ε, plus a term in [0, 1] from
a secret state. One release may move by at most 1, so each satisfies (ε, 0)-unlearning.

The printed state is (deleted records with h = 1)/(step): the two worlds differ by 1/j at release j. That makes the
*largest* likelihood ratio grow without bound, as the proof says, but Σ (1/j)² is finite: the two streams never
separate (Kakutani), and at ε = 1 no test ever passes advantage 0.54. The statement needs a stronger secret: let the releases
take turns, each carrying the h of one deleted record, so that every deleted record comes up again and again.
"""

import math
import os

import numpy as np
from numpy.typing import NDArray

from noisygd_delete.audit import Counts


def printed_shifts(releases: int, step: int = 1) -> NDArray[np.float64]:
    """How far apart the worlds are at releases `step`, `step`+1, …: 1/j."""
    return 1 / np.arange(step, step + releases)


def turn_taking_shifts(releases: int) -> NDArray[np.float64]:
    """Releases 1; 1 2; 1 2 3; … carry the bit of the record deleted at that step: 1 whenever it is step 1's turn."""
    shifts = np.zeros(releases)
    position = block = 0
    while position < releases:
        shifts[position] = 1
        block += 1
        position += block
    return shifts


def log_ratio(noise: NDArray[np.float64], shifts: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """log p(stream | h = 1)/p(stream | h = 0) after each release, from the streams minus the public count."""
    return np.cumsum(epsilon * (np.abs(noise) - np.abs(noise - shifts)), axis=1)


def measured(shifts: NDArray[np.float64], *, epsilon: float, runs: int = 4000, seed: int = 0) -> list[Counts]:
    """The likelihood-ratio test after each release."""
    rng = np.random.default_rng(seed)
    absent, present = (
        log_ratio(rng.laplace(scale=1 / epsilon, size=(runs, len(shifts))) + world * shifts, shifts, epsilon) > 0
        for world in (0, 1)
    )
    return [
        Counts(int(hits), runs, int(alarms), runs, error=1e-3)
        for hits, alarms in zip(present.sum(axis=0), absent.sum(axis=0), strict=True)
    ]


def ceiling(shifts: NDArray[np.float64], epsilon: float) -> float:
    """No test has a larger advantage: √(1 − affinity²), affinity of two Laplace laws at distance s: (1 + εs/2) e^{−εs/2}."""
    halves = epsilon * shifts / 2
    return math.sqrt(1 - math.exp(2 * float(np.sum(np.log1p(halves) - halves))))


def main() -> None:
    epsilon, releases = 1.0, 1500
    printed, repaired = printed_shifts(releases), turn_taking_shifts(releases)
    assert max(printed.max(), repaired.max()) <= 1  # each release moves by at most 1: (ε, 0)-unlearning holds
    weak, strong = measured(printed, epsilon=epsilon), measured(repaired, epsilon=epsilon)
    print(" releases   printed state   turn-taking state   (measured advantage)")
    for number in (1, 10, 100, 1500):
        print(f"{number:9d} {weak[number - 1].estimate:15.3f} {strong[number - 1].estimate:19.3f}")
    limit = ceiling(printed_shifts(10**6), epsilon)
    print(
        f"The printed state never gets past {limit:.3f}; the largest log ratio after {releases} releases: {epsilon * printed.sum():.1f}"
    )
    assert weak[-1].advantage > weak[0].estimate  # later releases do leak: the point of the theorem
    assert weak[-1].advantage < limit < 0.54
    assert strong[-1].advantage > 0.98  # and with the repaired state they leak everything
    if picture := os.environ.get("PICTURE"):
        from matplotlib import pyplot

        _, axes = pyplot.subplots(figsize=(7, 3), layout="constrained")
        steps = np.arange(1, releases + 1)
        axes.plot(steps, [counts.estimate for counts in strong], label="state that takes turns", color="tab:red")
        axes.plot(steps, [counts.estimate for counts in weak], label="state as printed", color="tab:blue")
        axes.axhline(limit, color="tab:blue", linestyle="--", label="no test passes this for the printed state")
        axes.set(xscale="log", ylim=(0, 1), xlabel="releases seen", ylabel="advantage about a deleted record")
        axes.set_title("Each release is close to retraining; the stream is not", loc="left")
        axes.legend()
        pyplot.savefig(picture)


if __name__ == "__main__":
    main()
