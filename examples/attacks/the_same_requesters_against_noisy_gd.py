"""The requesters of `counterexamples.py` against the engine: what they learn stays under the certified bound.

The worst case of the certificate: linear loss, one feature, a victim at +1 or −1 among null records. Each requester sees what
it saw there, writes its finding into other records, and an adversary reads the releases from the deletion on. The bound comes
from the accountant, told only which releases were shown: the requester's and the adversary's.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from noisygd_delete import Budget, Curator, EditRequest, Model, Records, losses, make_plan
from noisygd_delete.audit import Counts
from noisygd_delete.curator.stream import Adaptive, interact

SLOTS, VICTIM, COPIES, REQUESTS = 41, 0, 8, 3
PLAN = make_plan(
    losses.Linear(radius=1.0),
    records=SLOTS,
    features=1,
    regularization=0.1,
    budget=Budget.from_gdp(dp=1.0, deletion=0.25),
    method="noisy-gd",
    deletion_notion="pairwise",
    step_size=5.0,
    utility=False,
)
DELETE = EditRequest.delete([VICTIM])

Choice = Callable[[int, Mapping[int, Model]], EditRequest | None]


@cache
def write(value: float) -> EditRequest:
    """Put `value` into every other record."""
    return EditRequest.replace({slot: ([value], 0.0) for slot in range(1, COPIES + 1)})


def sign_of_first(seen: Mapping[int, Model]) -> float:
    return float(np.sign(-seen[1].weights[0]))  # a record at +1 pushes the weights down


def plant_then_delete(number: int, seen: Mapping[int, Model]) -> EditRequest | None:
    """Examples 21, 24, 25: request 1 copies what the first model shows into the other records; request 2 is the victim's."""
    return (write(sign_of_first(seen)), DELETE)[number] if number < 2 else None


def react_and_delete(number: int, seen: Mapping[int, Model]) -> EditRequest | None:
    """Example 20: one request, the victim's deletion and the reaction to the first model together."""
    if number:
        return None
    return EditRequest(deletions=(VICTIM,), replacements=write(sign_of_first(seen)).replacements)


def delete_and_wait(number: int, seen: Mapping[int, Model]) -> EditRequest | None:
    """Example 22: the victim's deletion, then requests fixed beforehand; the adversary collects releases."""
    return (DELETE, *[write(0.0)] * (REQUESTS - 1))[number] if number < REQUESTS else None


@dataclass(frozen=True)
class Finding:
    name: str
    measured: Counts
    certified: float


def attack(name: str, choose: Choice, *, shown: tuple[int, ...], erased_at: int, runs: int, seed: int = 0) -> Finding:
    """Many interactions in both worlds; the adversary sums the releases from the deletion on and takes the sign."""
    rng = np.random.default_rng(seed)
    positive = {}
    certified = 1.0
    for victim in (1.0, -1.0):
        positive[victim] = 0
        for _ in range(runs):
            curator = Curator(Records([[victim], *[[0.0]] * COPIES], [0.0] * (1 + COPIES), slots=SLOTS), PLAN)
            curator.learn(rng)
            published: list[float] = []
            number = iter(range(REQUESTS + 1))
            requester = Adaptive(lambda seen, number=number: choose(next(number), seen), observable=shown)
            interact(
                curator,
                requester,
                rng=rng,
                progress=lambda _, curator=curator, published=published: published.append(curator.model.weights[0]),
            )
            positive[victim] += sum(published[erased_at - 2 :]) < 0
        accountant = curator.accountant
        seen = [*shown, *range(erased_at, len(accountant.events) + 1)]
        certified = accountant.deletion(1, erased_at, seen, notion="pairwise").advantage
    return Finding(name, Counts(positive[1.0], runs, positive[-1.0], runs, error=1e-4), certified)


def main(runs: int = 700) -> None:
    findings = [
        attack("reacts to the first model (20)", react_and_delete, shown=(1,), erased_at=2, runs=runs),
        attack("plants what it saw (21, 24, 25)", plant_then_delete, shown=(1,), erased_at=3, runs=runs),
        attack("waits for many releases (22)", delete_and_wait, shown=(), erased_at=2, runs=runs),
    ]
    print(f"{'requester':<34} {'measured':>9} {'at least':>9} {'certified':>10}")
    for finding in findings:
        print(
            f"{finding.name:<34} {finding.measured.estimate:9.3f} {finding.measured.advantage:9.3f} {finding.certified:10.3f}"
        )
        assert finding.measured.advantage <= finding.certified
    # the attacks are real: they find most of what the certificate allows
    assert findings[1].measured.estimate > 0.7 * findings[1].certified
    assert findings[2].certified < 0.11  # any number of later releases costs no more than the first
    if picture := os.environ.get("PICTURE"):
        from matplotlib import pyplot

        _, axes = pyplot.subplots(figsize=(7, 3), layout="constrained")
        for line, finding in enumerate(findings):
            axes.barh(line, finding.certified, color="0.85", label="certified" if line == 0 else None)
            axes.barh(
                line, finding.measured.estimate, height=0.4, color="tab:red", label="measured" if line == 0 else None
            )
        axes.set(yticks=range(len(findings)), yticklabels=[finding.name for finding in findings], xlim=(0, 1))
        axes.set(xlabel="advantage over guessing")
        axes.set_title("Attacks find most of what is certified, and no more", loc="left")
        axes.legend()
        pyplot.savefig(picture)


if __name__ == "__main__":
    main()
