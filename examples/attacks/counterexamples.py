"""The paper's counter-examples: deletions that look perfect, and requesters who defeat them.

    python examples/attacks/counterexamples.py [NAME ...]

* `a_sum`: (7) and (8). An exact sum of what is left names the erased record, because people left in answer to the first sum.
* `a_median`: Theorem 3.1. A fresh median of the current records is still the erased value, once copies of it were planted.
* `a_count`: Theorem 3.2. Each release is close to retraining, and the stream of them tells who was erased.
* `a_constant`: incompleteness. A mechanism that says nothing about anybody fails the older definitions.
* `the_living`: Theorem 4.5. What is known of records that stay is known of erased ones.
* `a_pad`: Theorem 4.3 as stated is false for general pairs: ε_dd + p ε_dp does not bound adaptive deletion.
"""

import math
import os
import sys
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from noisygd_delete.audit import Counts
from noisygd_delete.audit.counts import lower_rate, upper_rate
from noisygd_delete.bounds.adaptive import deletion_lower_bound, membership_advantage

# -- (7) and (8) -----------------------------------------------------------------------------------------------------


ALICE_IS_MINUS_ONE = frozenset({-2, -1, 2})
ALICE_IS_PLUS_ONE = frozenset({-2, 1, 2})


def sum_of(records: frozenset[int]) -> int:
    return sum(records)


def sum_without(records: frozenset[int], deleted: frozenset[int]) -> int:
    return sum(records - deleted)


def reaction(published: int) -> frozenset[int]:
    """(8): the negative ones ask for deletion if the sum is negative, the others if it is not."""
    return frozenset({-2, -1}) if published < 0 else frozenset({1, 2})


def second_release(records: frozenset[int]) -> int:
    deleted = reaction(sum_of(records)) & records
    assert sum_without(records, deleted) == sum_of(records - deleted)  # it imitates retraining exactly
    return sum_without(records, deleted)


def a_sum() -> float:
    """The exact sum after people reacted to the first one."""
    releases = {
        name: second_release(records) for name, records in (("-1", ALICE_IS_MINUS_ONE), ("+1", ALICE_IS_PLUS_ONE))
    }
    for bit, published in releases.items():
        print(f"Alice was {bit}: she and everyone of her sign left, and the new sum is {published:+d}")
    assert releases == {"-1": 2, "+1": -2}  # one look at the second release: advantage 1
    print("The second release alone tells who Alice was, though it is the exact sum of the others.")
    return float(releases["-1"] != releases["+1"])


# -- Theorem 3.1 -----------------------------------------------------------------------------------------------------


def median_survives(step: int, records: int, rng: np.random.Generator) -> bool:
    """Whether the release at `step` still equals the deleted record."""
    table = rng.normal(size=records)
    first = np.median(table)
    victim = int(np.flatnonzero(table == first)[0])
    for slot in rng.permutation(records)[: step - 1]:  # one edit per request, chosen with p = 1
        table[slot] = first
    table[victim] = rng.normal() + 10  # the victim's own request, at step i
    return bool(np.median(table) == first)


def medians_survived(step: int, *, records: int = 101, runs: int = 4000, seed: int = 0) -> int:
    rng = np.random.default_rng(seed)
    return sum(median_survives(step, records, rng) for _ in range(runs))


def a_median() -> float:
    """At step i the erased value is published with chance at least 1 − (1/2)^(i−3)."""
    runs, rates = 4000, {}
    print(" step   published the deleted record   Theorem 3.1 promises")
    for step in (4, 5, 6, 8, 12):
        promised = 1 - 0.5 ** (step - 3)
        found = medians_survived(step, runs=runs)
        rates[step] = found / runs
        print(f"{step:5d} {found / runs:30.4f} {promised:22.4f}")
        assert upper_rate(found, runs, 1e-6) >= promised  # the theorem's bound is not contradicted
    assert lower_rate(medians_survived(12, runs=runs), runs, 1e-6) > 0.98
    print("Every release is the exact median of the current records, and yet the deleted value is on the table.")
    return rates[12]


# -- Theorem 3.2 -----------------------------------------------------------------------------------------------------


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


def a_count() -> float:
    """As printed the shifts never add up to a sure test; by turns they do."""
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
    return strong[-1].estimate


# -- Incompleteness --------------------------------------------------------------------------------------------------


FIXED = 0.0


def noisy_mean(records, rng):
    """A noisy mean: any noisy_mean that learns something will do."""
    return records.mean() + 0.01 * rng.normal()


def constant(records, index, model):
    return FIXED


def compare_constant(test, *, runs: int = 2000, seed: int = 0) -> tuple[Counts, Counts]:
    """The test on Ā in two worlds that differ in the deleted record; and on Ā against retraining."""
    rng = np.random.default_rng(seed)
    answers = {"erased": 0, "never": 0, "retrained": 0}
    for _ in range(runs):
        others = rng.uniform(0.5, 1.0, size=20)
        for name, own in (("erased", 1.0), ("never", 0.0)):
            table = np.append(others, own)
            answers[name] += test(constant(table, 20, noisy_mean(table, rng)))
        answers["retrained"] += test(noisy_mean(others, rng))
    return (
        Counts(answers["erased"], runs, answers["never"], runs, error=1e-6),
        Counts(answers["retrained"], runs, answers["erased"], runs, error=1e-6),
    )


def a_constant() -> float:
    """By Definition 4.1 it passes, with ε_dd = 0."""
    deletion, imitation = compare_constant(lambda published: published > 0.1)
    print(f"advantage about the deleted record: {deletion.estimate:.3f} (any test: the output is one constant)")
    print(f"advantage against retraining:       {imitation.estimate:.3f}, at least {imitation.advantage:.3f}")
    assert deletion.estimate == 0
    assert imitation.advantage > 0.98
    return deletion.estimate


# -- Theorem 4.5 -----------------------------------------------------------------------------------------------------


SMALL = 5
VICTIM = SMALL - 1


def noisy_sum(table, noise, rng):
    """A and Ā: the exact sum plus Gaussian noise; Ā retrains, so it keeps no state."""
    return table.sum() + noise * rng.normal()


def interaction(own: float, noise: float, rng) -> tuple[bool, bool]:
    """(what Test says of the first model, what the other test says of the last one) when the victim's record is `own`."""
    table = np.zeros(SMALL)
    table[VICTIM] = own
    seen = noisy_sum(table, noise, rng) > 0.5
    table[0] = float(seen)  # D̄ and D̄′ differ in one record; requests 1 … n−1 of (50) write the rest, here already 0
    table[VICTIM] = 0.0  # the request ū that deletes the victim
    return seen, noisy_sum(table, noise, rng) > 0.5


def the_living() -> float:
    """The requester runs its test on the first model, and writes the answer into records that stay."""
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
    return last.estimate


# -- Theorem 4.3 -----------------------------------------------------------------------------------------------------


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


def attack_pad(adaptive: bool, *, runs: int = 1500, seed: int = 0) -> Counts:
    """Says "the bit was 1" when the pad bit and the majority disagree."""
    rng = np.random.default_rng(seed)
    hits, alarms = (
        sum(cipher != majority for cipher, majority in (last_release(bit, adaptive, rng) for _ in range(runs)))
        for bit in (1, 0)
    )
    return Counts(hits, runs, alarms, runs, error=1e-4)


def a_pad() -> float:
    """The requester writes the pad that it sees into the other records."""
    claimed = membership_advantage(order=ORDER, renyi=0.0 + 1 * DP)
    fixed, adaptive = attack_pad(adaptive=False), attack_pad(adaptive=True)
    print(f"Theorem 4.3 would bound the advantage by {claimed:.3f} (ε_dd = 0, p = 1, ε_dp = {DP:g} at order {ORDER:g})")
    print(f"non-adaptive requester: measured {fixed.estimate:+.3f}")
    print(f"1-adaptive requester:   measured {adaptive.estimate:+.3f}, at least {adaptive.advantage:.3f}")
    assert fixed.advantage < 0.05
    assert claimed < 0.15
    assert adaptive.advantage > 0.9
    return adaptive.estimate


EXAMPLES = (a_sum, a_median, a_count, a_constant, the_living, a_pad)


def main() -> None:
    gains = {}
    for example in EXAMPLES:
        if not sys.argv[1:] or example.__name__ in sys.argv[1:]:
            print(f"\n{example.__name__}: {example.__doc__}")
            gains[example.__name__.replace("_", " ")] = example()
    if picture := os.environ.get("PICTURE"):
        from matplotlib import pyplot

        _, axes = pyplot.subplots(figsize=(7, 3), layout="constrained")
        axes.barh(list(gains), list(gains.values()), color="tab:red")
        axes.invert_yaxis()
        axes.set(xlim=(0, 1), xlabel="measured: how surely the erased record is told")
        axes.set_title("Six deletions that older definitions misjudge", loc="left")
        pyplot.savefig(picture)


if __name__ == "__main__":
    main()
