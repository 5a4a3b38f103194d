"""Theorem 3.1: a pair that satisfies (0, 0)-adaptive unlearning, and a 1-adaptive requester that defeats it.

The curator publishes the median of the current records, always recomputed from scratch. The requester sees the first
median, the record of its victim, and writes copies of it over random other records. When the victim is deleted at step i,
its value is still the median, with probability at least 1 − (1/2)^(i−3).
"""

import os

import numpy as np

from noisygd_delete.audit.bounds import lower_rate, upper_rate


def survives(step: int, records: int, rng: np.random.Generator) -> bool:
    """Whether the release at `step` still equals the deleted record."""
    table = rng.normal(size=records)
    first = np.median(table)
    victim = int(np.flatnonzero(table == first)[0])
    for slot in rng.permutation(records)[: step - 1]:  # one edit per request, chosen with p = 1
        table[slot] = first
    table[victim] = rng.normal() + 10  # the victim's own request, at step i
    return bool(np.median(table) == first)


def measured(step: int, *, records: int = 101, runs: int = 4000, seed: int = 0) -> int:
    rng = np.random.default_rng(seed)
    return sum(survives(step, records, rng) for _ in range(runs))


def main() -> None:
    runs, rates = 4000, {}
    print(" step   published the deleted record   Theorem 3.1 promises")
    for step in (4, 5, 6, 8, 12):
        promised = 1 - 0.5 ** (step - 3)
        found = measured(step, runs=runs)
        rates[step] = found / runs
        print(f"{step:5d} {found / runs:30.4f} {promised:22.4f}")
        assert upper_rate(found, runs, 1e-6) >= promised  # the theorem's bound is not contradicted
    assert lower_rate(measured(12, runs=runs), runs, 1e-6) > 0.98
    print("Every release is the exact median of the current records, and yet the deleted value is on the table.")
    if picture := os.environ.get("PICTURE"):
        from matplotlib import pyplot

        _, axes = pyplot.subplots(figsize=(7, 3), layout="constrained")
        axes.plot(list(rates), list(rates.values()), "o-", label="measured", color="tab:red")
        axes.plot(
            list(rates), [1 - 0.5 ** (step - 3) for step in rates], "--", label="Theorem 3.1, at least", color="0.4"
        )
        axes.set(ylim=(0, 1.05), xlabel="step at which the victim is deleted", ylabel="chance")
        axes.set_title("A fresh median is still the deleted value", loc="left")
        axes.legend(loc="lower right")
        pyplot.savefig(picture)


if __name__ == "__main__":
    main()
