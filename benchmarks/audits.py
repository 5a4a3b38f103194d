"""Every method of the catalogue under its audits: what the product's own releases give away, beside what is certified, and beside two faults.

python -m benchmarks audits [--runs N] [--part methods|maps|requester]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from noisygd_delete_lab.maps import OrientedGradients, Scattering

from benchmarks import report
from noisygd_delete import Budget, Records, losses, make_plan, maps
from noisygd_delete.accountant import Accountant
from noisygd_delete.audit import AuditResult, World, audit_one_run, audit_releases
from noisygd_delete.audit.counts import Counts
from noisygd_delete.audit.releases import Publish, Weights, erase_records, longest_rows, measure_climb, publish_twice
from noisygd_delete.curator import learn, resume
from noisygd_delete.methods import Plan, Stage, method_variants

# all of this was fixed before the table was made
LINEAR = losses.Linear(radius=1.0)  # the worst case: every record's gradient is L, whatever the weights are
NETWORK = losses.MultilayerPerceptron(radius=1.0, hidden=2, clip=1e-3)
METHODS_THAT_RUN = tuple(
    name for name in method_variants() if name != "noisy-gd:analysis=theorem-5-2"
)  # hundreds of thousands of steps a release
SIZES = {"regularization": 0.25, "dtype": "float64"}


def plan_of(
    method: str, *, records: int, features: int, dp: float = 2.0, deletion: float = 0.3, head: bool = False
) -> Plan:
    """Steps of half the way, so that noise of a few of them is all there is, and what is left of a record is no accident.

    A method without settings of its own here is planned for the linear loss by its defaults.
    """
    own: dict[str, dict[str, Any]] = {
        "noisy-gd:analysis=paper": {
            "budget": Budget(order=10, dp=20 * dp**2, deletion=5 * deletion**2),
            "utility": False,
        },
        "noisy-gd": {"step_size": 2.0, "utility": False},
        "output-perturbation": {"step_size": 2.0},
        "noisy-gd:analysis=composition": {
            "loss": losses.Sigmoid(radius=1.0),
            "budget": Budget.from_gdp(dp=dp, deletion=dp),
            **{"learn_steps": 6, "delete_steps": 2, "requests_per_learn": 2, "step_size": 2.0, "regularization": 0.05},
        },
        "staged": {
            "loss": NETWORK,
            "stages": (Stage("network", 2), Stage("head", 2) if head else Stage("network", 3)),
            **{"adjacency": "zero-out", "regularization": 1e-3},
        },
        "sufficient-statistics": {"loss": losses.Logistic(radius=1.0), "releases": 2},
        "noisy-gd:analysis=theorem-5-2": {
            "loss": losses.TanhNetwork(radius=1.0, outer_weights=(1.0, -1.0)),
            "budget": Budget(order=2, dp=1.9, deletion=0.5),
            **{"noise_variance": "cheapest", "regularization": 0.5},
        },
    }
    usual = {"loss": LINEAR, "budget": Budget.from_gdp(dp=dp, deletion=deletion), **SIZES}
    return make_plan(**usual | own.get(method, {}), method=method, records=records, features=features)


def quieter(plan: Plan, factor: float) -> Plan:
    """The same plan with a `factor` of its noise: what a wrong constant would run."""
    numbers = plan.calibration
    return plan.changed(
        noise_variance=numbers.noise_variance * factor**2,
        linear_term=numbers.linear_term * factor,
        output_noise=numbers.output_noise * factor,
        stages=tuple(quieter(stage, factor) for stage in numbers.stages),
    )


# ---------------------------------------------------------------- faults


def rows_left_in(plan: Plan, world: World, generator: np.random.Generator) -> tuple[Weights, ...]:
    """The release that serves the deletion is made on the table before it."""
    return publish_twice(plan, World(world.before, world.before), generator)


def half_the_noise(plan: Plan, world: World, generator: np.random.Generator) -> tuple[Weights, ...]:
    return publish_twice(quieter(plan, 0.5), world, generator)


FAULTS: tuple[Publish, ...] = (publish_twice, half_the_noise, rows_left_in)


# ---------------------------------------------------------------- maps


class ByTheLargest(maps.Chain):
    """A map that peeks: numbers over the largest one of the table, as a scaler that was fitted to it would have them."""

    kind: ClassVar[str] = "by-the-largest"

    def features(self, inputs: Any) -> np.ndarray:
        return super().features(inputs) / np.abs(inputs).max()


def through(map: maps.PublicMap) -> Publish:
    """The product on mapped rows: tables of raw records are mapped once, when their rows come, and an erased one's row is erased."""

    def publish(plan: Plan, world: World, generator: np.random.Generator) -> tuple[Weights, ...]:
        before = world.before
        rows = map.rows(before.features) * before.occupied[:, None]  # a free slot is the null row
        mapped = Records.from_slots(rows, before.labels, before.names, before.owners, before.next_id)
        return publish_twice(
            plan, World(mapped, erase_records(mapped, before.occupied & ~world.after.occupied)), generator
        )

    return publish


IMAGES = 100  # zeros and ones of the digits; one more is the target
MAPS: tuple[maps.PublicMap, ...] = (
    OrientedGradients(shape=(8, 8), cell=2, orientations=4),
    maps.RandomFourier(reads=64, size=50, bandwidth=1.0, centred=True),
    Scattering(shape=(8, 8), scales=1),
)


def digits() -> tuple[Records, Records]:
    """The target, a bright image with the wrong label, and the others. Raw pixels in [0, 1], the target's up to 16."""
    from sklearn.datasets import load_digits

    data = load_digits()
    first = np.flatnonzero(data.target < 2)[: IMAGES + 1]
    rows, labels = data.data[first] / 16, np.where(data.target[first] == 1, 1.0, -1.0)
    return Records(rows[:1] * 16, [-labels[0]]), Records(rows[1:], labels[1:])


def mapped_plan(map: maps.PublicMap) -> Plan:
    return make_plan(
        losses.Logistic(radius=1.0),
        records=IMAGES + 5,
        features=map.width + 1,
        regularization=0.1,
        budget=Budget.from_gdp(dp=1.0, deletion=0.3),
        adjacency="zero-out",
        method="output-perturbation",
    )


# ---------------------------------------------------------------- the adaptive requester


def requester(plan: Plan, *, seen: int, writers: int, runs: int, rng: np.random.Generator) -> tuple[Counts, Accountant]:
    """Somebody looks at `seen` releases with a record, writes what they showed of it into the labels of rows that stay, and then has it
    erased; the observer sees the release after that, and nothing else. How often he is right, and the account of those releases.

    The record lies on the first axis and the rows that stay on the second. Half of the runs calibrate both thresholds.
    """
    axes = longest_rows(plan, 2)

    def table(there: bool, label: float) -> Records:
        rows = np.concatenate([axes[:1] * there, np.repeat(axes[1:], writers, axis=0)])
        full = Records(rows, np.append(1.0, np.full(writers, label)), slots=plan.problem.records)
        return full

    def shown(weights: Weights, axis: int) -> float:
        return float(measure_climb(plan, weights, axes)[axis])

    def looked(there: bool) -> tuple[Any, float]:
        model, total = learn(table(there, 1.0), plan, rng), 0.0
        for number in range(seen):
            model = resume(table(there, 1.0), model, plan, rng) if number else model
            total += shown(model.weights, 0)
        return model, total

    half = runs // 2
    middle = np.mean([[looked(there)[1] for there in (False, True)] for _ in range(half)])
    scores = {}
    for there in (False, True):
        scores[there] = np.empty(2 * half)
        for run in range(2 * half):
            model, total = looked(there)
            after = resume(table(False, 1.0 if total > middle else -1.0), model, plan, rng)
            scores[there][run] = shown(after.weights, 1)
    level = (scores[False][:half].mean() + scores[True][:half].mean()) / 2
    hits, alarms = (int((scores[there][half:] > level).sum()) for there in (True, False))
    account = Accountant(plan)
    account.record(account.planned_event())
    account.record(account.planned_event("unlearn"), seen)
    return Counts(hits, half, alarms, half), account


# ---------------------------------------------------------------- tables


def shown(value: float) -> str:
    return f"{math.ceil(value * 1000) / 1000:.3f}"


def below(value: float) -> str:
    return f"{math.floor(value * 1000) / 1000:.3f}"


def lines(results: list[AuditResult]) -> Iterator[list[str]]:
    """For each question of these audits, honest first: the highest bound of each, the claim, and what three samples say."""
    for question in dict.fromkeys(row.question for row in results[0].rows):
        rows = [[row for row in result.rows if row.question == question] for result in results]
        bounds = [below(max(row.measured.advantage for row in each)) for each in rows]
        refuted = ["**" if any(row.verdict == "fail" for row in each) else "" for each in rows]
        marked = [f"{mark}{bound}{mark}" for bound, mark in zip(bounds, refuted, strict=True)]
        yield [
            rows[0][0].attack if len(rows[0]) == 1 else "releases",
            question,
            shown(rows[0][0].claimed.with_slack().advantage),
            *marked,
        ]
    if results[0].three is not None:
        told = [f"{each.three.left:.0%}: {each.three.verdict}" for each in results if each.three is not None]
        yield ["three samples", "erased record, the release that erased it: what is left", "", *told]


def methods_part(runs: int) -> str:
    rows = []
    for number, method in enumerate(METHODS_THAT_RUN):
        small, wide = plan_of(method, records=10, features=2), plan_of(method, records=800, features=800)
        found = [
            audit_releases(small, runs=runs, publish=publish, rng=np.random.default_rng(number)) for publish in FAULTS
        ]
        once = [audit_one_run(wide, publish=publish, rng=np.random.default_rng(number)) for publish in FAULTS]
        for line in (*lines(found), *lines(once)):
            rows.append([method, *line])
            print(*rows[-1], sep="  ", flush=True)
    header = ["method", "audit", "question", "certified", "at least", "half the noise", "rows left in"]
    return report.table(header, rows)


def maps_part(runs: int) -> str:
    (target, others), rows = digits(), []
    for number, map in enumerate(MAPS):
        plan = mapped_plan(map)
        found = [
            audit_releases(
                plan, target=target, others=others, runs=runs, publish=through(each), rng=np.random.default_rng(number)
            )
            for each in (map, ByTheLargest((map,)))
        ]
        for line in lines(found):
            rows.append([map.kind, *line])
            print(*rows[-1], sep="  ", flush=True)
    return report.table(["map", "audit", "question", "certified", "at least", "the same map, peeking"], rows)


def requester_part(runs: int) -> str:
    rows = []
    for seen, writers in ((1, 1), (3, 5)):
        plan = plan_of("staged", records=writers + 2, features=3, dp=1.0, deletion=0.1)
        found, account = requester(plan, seen=seen, writers=writers, runs=2 * runs, rng=np.random.default_rng(seen))
        last = seen + 1
        alone, everything = account.deletion(1, last, [last]), account.deletion(1, last)
        rows.append(
            [
                f"{seen}",
                f"{writers}",
                shown(alone.with_slack().advantage),
                shown(everything.with_slack().advantage),
                below(found.advantage),
            ]
        )
        print(*rows[-1], sep="  ", flush=True)
    header = [
        "releases seen",
        "rows written",
        "certified, if requests were fixed",
        "certified, every release observed",
        "at least",
    ]
    return report.table(header, rows)


PARTS = {"methods": methods_part, "maps": maps_part, "requester": requester_part}
WORDS = {
    "methods": """\
Advantages over guessing. *releases*: learn and delete themselves, {double} histories in each world, on 10 slots, half to fit a shadow model
and a kernel witness to, half to count (the higher bound of the two). *one run*: 800 canaries by fair coins in one learn and, on other coins,
one learn and one deletion of all of them (Steinke, Nasr & Jagielski 2023; the bound through the trade-off curve as Mahloujifar, Melis &
Chaudhuri 2025, told as the advantage at that μ). *three samples*: of what tells models with the record from models that never had it, the
share that the unlearned ones still show, as counted, and whether they are nearer to the one or the other (Ribero, Schrab & Gretton 2026). Each
report's bounds are wrong with probability at most 0.01 together. **Bold**: above what is certified, which refutes it. Losses are linear, the worst
case, but for composition (sigmoid), the ladder (a network) and sums (the label's sign). near-gibbs is not
run: on 60 records it takes 588,000 steps a release, and what is certified of a record that is still there, .0062 at order 2, is less than any
of these audits could tell from nothing.""",
    "maps": """\
Digits of scikit-learn, zeros and ones, {images} images and a target sixteen times as bright with the wrong label; the map is public code, the
plan solves and diffuses. Rows are mapped once, when they come, and erased with their record. The same map over the largest number of the table is refused by
`maps.check` on these records; here it is run all the same.""",
    "requester": """\
The requester of the ladder: he looks at releases with a record, writes the sign of what they showed into the labels of rows that stay, and has it
erased; the observer sees the next release alone. The figure for fixed requests is false then, the one for every release is not.""",
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks audits", description=__doc__)
    parser.add_argument("--runs", type=int, default=150, help="histories to fit to, and as many to count")
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS))
    options = parser.parse_args(arguments)
    at, parts = report.commit(), []
    for name in options.part:
        words = WORDS[name].format(double=2 * options.runs, images=IMAGES)
        parts.append(f"## {name}\n\n{words}\n\n{PARTS[name](options.runs)}")
    print(
        report.write(
            "audits", "Audits of the product's own releases", "python -m benchmarks audits", "\n\n".join(parts), at
        )
    )
