"""Perfect retraining does not protect a deleted record when requests depend on what was published: (7) and (8).

The curator publishes the sum of its records, and after a deletion the sum of what is left: exactly what retraining gives,
with no state. People react to the first sum by the rule (8). An adversary who knows the rule and sees only the second sum
names the deleted record.
"""

import os

ALICE_IS_MINUS_ONE = frozenset({-2, -1, 2})
ALICE_IS_PLUS_ONE = frozenset({-2, 1, 2})


def learn(records: frozenset[int]) -> int:
    return sum(records)


def unlearn(records: frozenset[int], deleted: frozenset[int]) -> int:
    return sum(records - deleted)


def reaction(published: int) -> frozenset[int]:
    """(8): the negative ones ask for deletion if the sum is negative, the others if it is not."""
    return frozenset({-2, -1}) if published < 0 else frozenset({1, 2})


def second_release(records: frozenset[int]) -> int:
    deleted = reaction(learn(records)) & records
    assert unlearn(records, deleted) == learn(records - deleted)  # it imitates retraining exactly
    return unlearn(records, deleted)


def main() -> None:
    releases = {
        name: second_release(records) for name, records in (("-1", ALICE_IS_MINUS_ONE), ("+1", ALICE_IS_PLUS_ONE))
    }
    for bit, published in releases.items():
        print(f"Alice was {bit}: she and everyone of her sign left, and the new sum is {published:+d}")
    assert releases == {"-1": 2, "+1": -2}  # one look at the second release: advantage 1
    print("The second release alone tells who Alice was, though it is the exact sum of the others.")
    if picture := os.environ.get("PICTURE"):
        from matplotlib import pyplot

        _, axes = pyplot.subplots(figsize=(7, 3), layout="constrained")
        for line, (bit, records) in enumerate((("-1", ALICE_IS_MINUS_ONE), ("+1", ALICE_IS_PLUS_ONE))):
            axes.annotate(
                "", (releases[bit], line), (learn(records), line), arrowprops={"arrowstyle": "->", "linewidth": 2}
            )
            axes.plot(learn(records), line, "o", color="0.4", markersize=10)
            axes.plot(releases[bit], line, "s", color="tab:red", markersize=10)
        axes.set(yticks=[0, 1], yticklabels=["Alice was -1", "Alice was +1"], ylim=(-0.6, 1.6), xlim=(-3, 3))
        axes.set(xlabel="published sum: first (circle), then after the deletions (square)")
        axes.set_title("One look at the second sum names Alice", loc="left")
        pyplot.savefig(picture)


if __name__ == "__main__":
    main()
