"""Incompleteness: a mechanism that says nothing about anybody fails the older definitions of unlearning.

Ā publishes the same constant after every request. It cannot reveal a deleted record, so it deserves to pass; by
Definition 4.1 it does, with ε_dd = 0. The older definitions compare it with retraining, and every sensible learner publishes
something else: the distance to retraining is the largest possible.
"""

import os

import numpy as np

from noisygd_delete.audit import Counts

FIXED = 0.0


def learner(records, rng):
    """A noisy mean: any learner that learns something will do."""
    return records.mean() + 0.01 * rng.normal()


def unlearner(records, index, model):
    return FIXED


def compare(test, *, runs: int = 2000, seed: int = 0) -> tuple[Counts, Counts]:
    """The test on Ā in two worlds that differ in the deleted record; and on Ā against retraining."""
    rng = np.random.default_rng(seed)
    answers = {"erased": 0, "never": 0, "retrained": 0}
    for _ in range(runs):
        others = rng.uniform(0.5, 1.0, size=20)
        for name, own in (("erased", 1.0), ("never", 0.0)):
            table = np.append(others, own)
            answers[name] += test(unlearner(table, 20, learner(table, rng)))
        answers["retrained"] += test(learner(others, rng))
    return (
        Counts(answers["erased"], runs, answers["never"], runs, error=1e-6),
        Counts(answers["retrained"], runs, answers["erased"], runs, error=1e-6),
    )


def main() -> None:
    deletion, imitation = compare(lambda published: published > 0.1)
    print(f"advantage about the deleted record: {deletion.estimate:.3f} (any test: the output is one constant)")
    print(f"advantage against retraining:       {imitation.estimate:.3f}, at least {imitation.advantage:.3f}")
    assert deletion.estimate == 0
    assert imitation.advantage > 0.98
    if picture := os.environ.get("PICTURE"):
        from matplotlib import pyplot

        _, axes = pyplot.subplots(figsize=(7, 2.6), layout="constrained")
        bars = {"about the deleted record": deletion.estimate, "against retraining": imitation.estimate}
        axes.barh(list(bars), list(bars.values()), color=["tab:green", "tab:orange"])
        axes.set(xlim=(0, 1), xlabel="measured advantage over guessing")
        axes.set_title("A constant fails the older definitions", loc="left")
        pyplot.savefig(picture)


if __name__ == "__main__":
    main()
